"""Files of the command: errors name the file."""

import decimal
import gzip
import re
import shlex

import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
from cheap_rankers import made

from gapboost.comparison import __main__ as command
from gapboost.comparison import compare_rankers
from gapboost.comparison.files import read_data
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

HEAD = "label,qid,a,b\n"
ROWS = "1,1,1,2\n0,1,3,4\n1,2,5,6\n0,2,7,8\n"


def read(paths, drop=(), categorical=()):
    return read_data(paths, "label", "qid", drop, categorical)


@pytest.fixture
def write(tmp_path):
    def written(name, text):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return written


REFUSED = {
    "no bytes": (b"", "is empty; expected a header"),
    "header only": (HEAD, "holds no rows; expected a row for each document"),
    "not UTF-8": (HEAD.encode() + b"1,\xff,1,2\n", "is not UTF-8 (invalid start byte, byte 0xff)"),
    "a long row": (
        HEAD + "1,1,1,2\n0,1,3,4,5\n",
        "line 3: found 5 cells; expected 4, as in the header",
    ),
    "a short row": (HEAD + "1,1,1,2\n0,1,3\n", "line 3: found 3 cells; expected 4"),
    "an open quote": (HEAD + '1,1,"1,2\n', "line 2: found 3 cells; expected 4"),
    "a column twice": (
        "label,qid,a,label\n1,1,1,2\n",
        "has the column 'label' 2 times; expected distinct names",
    ),
    "no id": (
        HEAD + "1,1,1,2\n0,,3,4\n",
        "line 3: the query id in column 'qid' is empty; expected an id",
    ),
    "text": (
        "label,qid,a,brand,shop\n1,1,1,x,u\n0,1,2,y,u\n",
        """has 2 columns that hold neither numbers nor categories; expected numbers, or \
categories that are named:
  'brand': 2 different values, such as 'x'
  'shop': 1 different value, such as 'u'
Add both lines or one of them to the command, with each of the names in one line:
  --categorical brand shop
  --drop brand shop""",
    ),
    "grades of text": (
        "label,qid,a\ngood,1,1\n1,1,2\n",
        "has text in its column of grades, 'label': 1 of 2 cells are no numbers, such as 'good'; "
        "expected numbers",
    ),
    "no grade": (
        "label,qid,a\n,1,1\n1,1,2\n",
        "has 1 empty cell in its column of grades, 'label'; expected a grade in each row",
    ),
    "no name": (
        ",label,qid,a,\n0,1,1,1,\n1,0,1,2,\n",
        "has columns without a name, number 1 and 5; expected a name for each. pandas writes its "
        "index so. --drop 'Unnamed: 0' 'Unnamed: 4' leaves them out",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("name", ["x.csv", "x.CSV"])
def test_a_refused_csv_is_named(case, name, write):
    text, said = REFUSED[case]
    path = write(name, text)
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}") as caught:
        read([path])
    assert str(caught.value).removeprefix(str(path)).lstrip(", ").startswith(said)


def test_every_form_of_the_name_of_a_csv(write):
    expected = read([write("x.csv", HEAD + ROWS)]).X
    for path in (
        write("x.CSV", HEAD + ROWS),
        write("x.csv.gz", gzip.compress((HEAD + ROWS).encode())),
        write("y.csv", "\ufeff" + (HEAD + ROWS).replace("\n", "\r\n")),
    ):
        assert read([path]).X.equals(expected)
    with pytest.raises(ValueError, match=r"cut\.csv\.gz cannot be read as CSV"):
        read([write("cut.csv.gz", gzip.compress((HEAD + ROWS).encode())[:-12])])
    packed = bytearray(gzip.compress((HEAD + ROWS).encode()))
    packed[12] ^= 255
    with pytest.raises(ValueError, match=r"bad\.csv\.gz cannot be read as CSV"):
        read([write("bad.csv.gz", bytes(packed))])
    with pytest.raises(ValueError, match=r"bad\.csv\.xz cannot be read as CSV"):
        read([write("bad.csv.xz", HEAD)])
    with pytest.raises(ValueError, match=r"no\.csv\.gz cannot be read as CSV: Not a gzipped file"):
        read([write("no.csv.gz", HEAD + ROWS)])


@pytest.mark.parametrize(
    "some", [ROWS.replace("\n", ",\n"), ROWS.replace("4\n", "4,\n")], ids=["all", "one"]
)
def test_a_comma_at_the_end_of_rows_moves_no_column(some, write):
    data = read([write("x.csv", HEAD + some)])
    assert data.qid.tolist() == ["1", "1", "2", "2"]
    assert data.y.tolist() == [1, 0, 1, 0]
    assert data.X["a"].tolist() == [1, 3, 5, 7]


def test_ids_that_read_like_missing_values(write):
    data = read([write("x.csv", "label,qid,a\n1,NA,1\n0,NA,\n1,null,NA\n0,null,4\n")])
    assert data.qid.tolist() == ["NA", "NA", "null", "null"]
    assert np.isnan(data.X["a"]).tolist() == [False, True, True, False]


def test_files_do_not_mix(write, tmp_path):
    one = write("one.csv", HEAD + ROWS)
    frame = pd.DataFrame({"label": [1, 0, 1, 0], "qid": [1, 1, 2, 2], "a": 1.0, "b": 2.0})
    frame.to_parquet(tmp_path / "two.parquet")
    frame.assign(qid=frame["qid"].astype(str)).to_parquet(tmp_path / "text.parquet")
    letor = write("three.txt", "1 qid:1 1:1\n0 qid:1 1:2\n")
    other = write("other.csv", "label,qid,a,c\n1,3,1,2\n0,3,3,4\n")
    more = write("more.csv", "label,qid,a,b,c\n1,3,1,2,5\n0,3,3,4,5\n")
    for files, said in {
        (
            one,
            tmp_path / "two.parquet",
        ): "which is CSV, and .*two.parquet, which is not; expected one format",
        (one, letor): "which is CSV, and .*three.txt, which is not",
        (letor, one): "three.txt, read as LETOR, and .*one.csv; expected files of one format",
        (
            one,
            other,
        ): r"other.csv has columns that .*one.csv lacks: c; expected the same columns in all files",
        (one, more): r"more.csv has columns that .*one.csv lacks: c; expected",
        (more, one): r"more.csv has columns that .*one.csv lacks: c; expected",
        (
            tmp_path / "two.parquet",
            tmp_path / "text.parquet",
        ): "text.parquet has query ids of type .*expected one type",
    }.items():
        with pytest.raises(ValueError, match=said):
            read(files)
    swapped = write("swapped.csv", "qid,label,b,a\n9,1,2,1\n")
    assert read([one, swapped]).X.iloc[-1].tolist() == [1, 2]


def test_categories_of_several_files(write):
    one = write("one.csv", "label,qid,a,brand\n1,1,1,x\n0,1,2,7\n")
    two = write("two.csv", "label,qid,a,brand\n1,2,1,07\n0,2,2,\n")
    X = read([one, two], categorical=["brand"]).X
    assert X["brand"].dtype == "category"
    assert X["brand"].tolist() == ["x", "7", "07", ""]
    with pytest.raises(ValueError, match=r"^--categorical is 'none'; expected a column of"):
        read([one], categorical=["none"])


ODD = ["a b", "title, long", "it's", "-dash", "a_b", "price [EUR]", " space", "naïve", "x"]


def odd_names(path, values=("u", "v", "w", "u")):
    frame = pd.DataFrame({name: list(values) for name in ODD[:-1]})
    frame.assign(x=range(4), label=[1, 0, 1, 0], qid=["1", "1", "2", "2"]).to_csv(path, index=False)
    return path


def pasted(line):
    return vars(command._parser().parse_args(["file", *shlex.split(line)]))


@pytest.mark.parametrize("option", ["categorical", "drop"])
def test_the_lines_of_the_error_can_be_pasted(option, tmp_path):
    path = odd_names(tmp_path / "x.csv")
    with pytest.raises(ValueError, match="has 8 columns that hold neither") as caught:
        read([path])
    (line,) = re.findall(rf"^  (--{option} .*)", str(caught.value), re.MULTILINE)
    data = read([path], **{option: pasted(line)[option]})
    assert len(data.X.columns) == (9 if option == "categorical" else 1)
    assert sorted(data.categorical) == (sorted(ODD[:-1]) if option == "categorical" else [])


def test_names_are_repeated_or_have_commas_between(tmp_path):
    path = odd_names(tmp_path / "x.csv")
    line = "--categorical 'a b,it'\\''s' --categorical a_b 'title, long'"
    given = pasted(line + " --drop ' space, naïve' 'price [EUR]' --drop=-dash")
    data = read([path], given["drop"], given["categorical"])
    assert data.categorical == ["a b", "it's", "a_b", "title, long"]
    assert len(data.X.columns) == 5


def test_boosters_get_names_that_they_take(tmp_path):
    """LightGBM refuses commas and brackets, and takes "a b" and "a_b" for one name."""
    X = read([odd_names(tmp_path / "x.csv")], categorical=ODD[:-1]).X
    names = list(X.columns)
    assert len(set(names)) == 9
    assert not re.search(r"""[\s",:\[\]{}<]""", "".join(names))
    assert {"a_b", "it's", "naïve", "x"} <= set(names)


@pytest.mark.parametrize(
    ("drop", "categorical", "said"),
    [
        (["a"], ["a"], "'a' is named by --drop and by --categorical"),
        (["qid"], [], "'qid' is named by --qid and by --drop"),
        ([], ["label"], "'label' is named by --label and by --categorical"),
    ],
)
def test_a_column_has_one_use(drop, categorical, said, write):
    with pytest.raises(ValueError, match=f"^{said}; expected one of them$"):
        read([write("x.csv", HEAD + ROWS)], drop, categorical)


@pytest.mark.filterwarnings("error")
def test_columns_of_numbers_and_text_are_described(write):
    """pandas reads large files in pieces, and would guess the type of each."""
    cells = [*map(str, range(200_000)), "n/a!", "-?", ""]
    rows = "".join(f"{i % 2},{i // 2},{cell}\n" for i, cell in enumerate(cells, 1))
    path = write("x.csv", "label,qid,a\n" + rows)
    with pytest.raises(ValueError, match="has 1 column that holds neither") as caught:
        read([path])
    assert "\n  'a': 2 of 200,003 cells are no numbers, such as 'n/a!'\n" in str(caught.value)
    assert read([path], categorical=["a"]).X["a"].nunique() == 200_003


def test_truth_values_with_missing_ones_are_numbers(write):
    X = read([write("x.csv", "label,qid,a,b\n1,1,True,True\n0,1,False,\n1,1,True,False\n")]).X
    assert X["a"].tolist() == [True, False, True]
    npt.assert_array_equal(X["b"], [1, np.nan, 0])


def test_types_of_parquet(tmp_path):
    columns = {
        "label": [1, 0, 1, 0],
        "qid": [1, 1, 2, 2],
        "whole": pd.array([1, None, 3, 4], dtype="Int64"),
        "true": pd.array([True, None, False, True], dtype="boolean"),
        "true or none": [True, None, False, True],
        "price": [decimal.Decimal("1.5"), None, decimal.Decimal(2), decimal.Decimal(3)],
        "none": [None] * 4,
        "code": pd.Categorical([7, None, 8, 7]),
        "brand": pd.Categorical(["x", None, "y", "x"]),
    }
    path = tmp_path / "x.parquet"
    pd.DataFrame(columns).to_parquet(path)
    data = read([path])
    assert data.categorical == ["code", "brand"]
    assert data.X["brand"].tolist() == ["x", "", "y", "x"]
    assert [value[:1] for value in data.X["code"]] == ["7", "", "8", "7"]
    for name in ("whole", "true", "true_or_none", "price", "none"):
        assert data.X[name].dtype == np.float64
    npt.assert_array_equal(data.X["true_or_none"], [1, np.nan, 0, 1])
    others = {
        "day": pd.to_datetime(["2024-01-01"] * 4),
        "list": [[1, 2]] * 4,
        "text": ["u", None, "v", "v"],
        "b": [b"1"] * 4,
    }
    pd.DataFrame(columns | others).to_parquet(path)
    with pytest.raises(ValueError, match=r"\n  --drop day list text b$") as caught:
        read([path])
    assert "\n  'day': 1 different value, such as '2024-01-01'\n" in str(caught.value)
    assert read([path], categorical=["day,list", "text", "b"]).X["text"].tolist() == [
        "u",
        "",
        "v",
        "v",
    ]


def test_damaged_parquet_is_named(write):
    with pytest.raises(ValueError, match=r"x\.parquet cannot be read as Parquet"):
        read([write("x.parquet", "PAR1 not")])


def test_parquet_in_a_folder(tmp_path):
    """Spark writes folders whose names end with .parquet."""
    frame = pd.DataFrame(
        {"label": [1, 0, 1, 0], "qid": [1, 1, 2, 2], "brand": pd.Categorical([7, 8, 7, 8])}
    )
    folder = tmp_path / "x.parquet"
    folder.mkdir()
    frame[:2].to_parquet(folder / "part-0.parquet")
    frame[2:].to_parquet(folder / "part-1.parquet")
    data = read([folder])
    assert data.X["brand"].tolist() == ["7", "8", "7", "8"]


def test_parquet_without_pyarrow(write, tmp_path, monkeypatch):
    def missing(path):
        raise ImportError("Unable to find a usable engine; tried using: 'pyarrow', 'fastparquet'.")

    monkeypatch.setattr(pd, "read_parquet", missing)
    with pytest.raises(
        ImportError, match=r"^pyarrow is needed to read .*x\.parquet: pip install pyarrow$"
    ):
        read([tmp_path / "x.parquet"])


def with_brands(path):
    X, y, qid = made(24, 8)
    frame = pd.DataFrame(X.round(4), columns=list("abcde")).assign(label=y, qid=qid, document="d")
    frame["brand"] = np.where(X[:, 0] > 0, "x", "y")
    frame["shop_"] = np.where(X[:, 1] > 0, "u", "v")
    frame.to_csv(path, index=False)


def test_the_command_trains_on_categories_and_reports_the_file(tmp_path, monkeypatch, capsys):
    with_brands(tmp_path / "x|y.csv")
    small = {"n_estimators": 2, "n_jobs": 1}
    field = {"_a_|b*": LGBMGAPRanker(**small, verbose=-1), "xgb": XGBGAPRanker(**small)}
    monkeypatch.setattr(command, "standard_rankers", lambda: field)
    monkeypatch.chdir(tmp_path)
    arguments = [
        "x|y.csv",
        "--drop",
        "document",
        "--repeats",
        "1",
        "--cv",
        "3",
        "--n-jobs",
        "1",
        "--measures",
        "map",
    ]
    assert command.main([*arguments, "--report", "answer.md"]) == 2
    assert "\n  --categorical brand shop_\n" in capsys.readouterr().err
    assert command.main([*arguments, "--categorical", "brand,shop_", "--report", "answer.md"]) == 0
    text = (tmp_path / "answer.md").read_text(encoding="utf-8")
    assert (
        r"Read from x\|y.csv. Grades are in the column label, query ids in qid. Dropped columns: "
        r"document. "
        r"Columns of categories: brand, shop\_." in text
    )
    assert r"| \_a\_\|b\* |" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {5, 3, 9}


@pytest.mark.slow
def test_catboost_takes_categories_as_a_list(tmp_path):
    catboost = pytest.importorskip("catboost")
    with_brands(tmp_path / "x.csv")
    data = read([tmp_path / "x.csv"], ["document"], ["brand", "shop_"])
    given = {"iterations": 3, "verbose": False, "allow_writing_files": False}
    rankers = {
        "list": catboost.CatBoostRanker(cat_features=["brand", "shop_"], **given),
        "tuple": catboost.CatBoostRanker(cat_features=("brand", "shop_"), **given),
    }
    found = compare_rankers(
        data.X,
        data.y,
        data.qid,
        rankers,
        cv=3,
        repeats=1,
        measures="map",
        checkpoint=tmp_path / "c",
    )
    assert found.means().loc["list", "map"] == found.means().loc["tuple", "map"]
    command.set_categories(rankers, ["brand"])
    assert rankers["list"].get_params()["cat_features"] == ("brand",)
