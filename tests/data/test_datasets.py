"""Readers of ranking files, on collections and on what people have; the task of digits."""

import bz2
import gzip
import lzma
import tempfile
from pathlib import Path

import numpy as np
import numpy.testing as npt
import pytest
from collections_on_disk import FOLDS, made, real
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

import gapboost
from gapboost.datasets import (
    load_digits_ranking,
    load_letor,
    load_letor_fold,
    load_letor_folds,
)

COMPRESS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def grades(data):
    return np.bincount(data.y).tolist()


@pytest.fixture
def write(tmp_path):
    def write(text, name="data.txt"):
        path = tmp_path / name
        content = text.encode() if isinstance(text, str) else text
        path.write_bytes(COMPRESS.get(path.suffix, bytes)(content))
        return path

    return write


# --- collections on disk --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("folder", "shape", "counts", "sizes", "without_relevant"),
    [made("letor", (60, 8), [2357, 642, 285], (40, 69), 60),
     real("ohsumed", (106, 25), [11303, 2585, 2252], (35, 320), 8)],
)  # fmt: skip
def test_all_parts_together(folder, shape, counts, sizes, without_relevant):
    data = load_letor([folder / f"Fold{fold}" / "test.txt.gz" for fold in range(1, 6)])
    assert (data.n_queries, data.n_features) == shape
    assert data.X.shape[0] == len(data) == sum(counts)
    assert grades(data) == counts
    found = np.unique(data.qid, return_counts=True)[1]
    assert (found.min(), found.max()) == sizes
    assert data.y[data.qid == without_relevant].max() == 0
    assert (data.X.dtype, data.y.dtype, data.qid.dtype) == (np.float64, np.int32, np.int64)
    assert len(set(zip(data.qid.tolist(), data.docid.tolist(), strict=True))) == len(data)


@pytest.mark.parametrize("folder", FOLDS)
def test_a_fold(folder):
    fold = load_letor_fold(folder / "Fold1")
    assert len({part.n_features for part in fold}) == 1
    train, vali, test = (set(part.qid.tolist()) for part in fold)
    assert not train & vali | train & test | vali & test
    files = [folder / "Fold1" / f"{name}.txt.gz" for name in ("train", "vali", "test")]
    for part, again, path in zip(fold, load_letor_fold(files), files, strict=True):
        npt.assert_array_equal(part.X, again.X)
        npt.assert_array_equal(part.docid, load_letor(path).docid)


@pytest.mark.parametrize(
    ("folder", "first"), [made("lightgbm", 0.95), real("lightgbm-lambdarank", 0.74)]
)
def test_sizes_of_queries_beside_the_file(folder, first):
    dense, thin = (load_letor(folder / "rank.test.gz", dense=dense) for dense in (True, False))
    npt.assert_array_equal(dense.X, thin.X.toarray())
    assert dense.X[0, 0] == first  # as it is written
    assert dense.docid is None
    sizes = (folder / "rank.test.query").read_text().split()
    assert np.bincount(dense.qid).tolist() == list(map(int, sizes))
    # Queries of several files are numbered on.
    train = load_letor(folder / "rank.train.gz")
    both = load_letor([folder / "rank.train.gz", folder / "rank.test.gz"])
    expected = [*train.qid, *(dense.qid + train.n_queries)]
    npt.assert_array_equal(both.qid, expected)
    fold = load_letor_fold([folder / f"rank.{name}.gz" for name in ("train", "test", "test")])
    npt.assert_array_equal(fold.test.qid, dense.qid)


# --- rows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("mark", ["", "\ufeff", "\ufeff# by hand\n"])
def test_compression_line_ends_and_byte_order_marks(write, ending, end, mark):
    rows = "2 qid:é 3:1 1:0.5 # docid = a\n\n0 qid:é 2:-2.5e-1 #docid=b \n1 qid:9\t # é c"
    data = load_letor(str(write((mark + rows).replace("\n", end), f"data.txt{ending}")))
    npt.assert_array_equal(data.X, [[0.5, 0, 1], [0, -0.25, 0], [0, 0, 0]])
    assert data.y.tolist() == [2, 0, 1]
    assert data.qid.tolist() == ["é", "é", "9"]
    assert data.docid.tolist() == ["a", "b", "é"]


@pytest.mark.parametrize("dense", [True, False])
def test_missing_values(write, dense):
    """LETOR 4.0 has NULL for the logarithm of 0, Istella the largest number of float64."""
    largest, single = np.finfo(np.float64).max, float(np.finfo(np.float32).max)
    rows = [f"1 qid:1 1:{largest} 2:{-largest} 3:{single}", f"0 qid:1 1:NULL 2:nan 3:-{single}"]
    data = load_letor(write("\n".join([*rows, "1 qid:1 1:-inf 3:1e39\n"])), dense=dense)
    expected = [[np.nan, np.nan, single], [np.nan, np.nan, -single], [-np.inf, 0, np.nan]]
    npt.assert_array_equal(data.X if dense else data.X.toarray(), expected)


def test_rows_without_a_judgment_are_dropped_on_request(write):
    path = write("# x\n0 qid:1 1:4\n-1 qid:1 1:5\n2 qid:2 1:6\n-1 qid:3 1:7\n")
    with pytest.raises(ValueError, match=r"data\.txt, line 3: .*-1.*drop_unlabelled=True"):
        load_letor(path)
    data = load_letor(path, drop_unlabelled=True)
    assert (data.y.tolist(), data.qid.tolist(), data.X[:, 0].tolist()) == ([0, 2], [1, 2], [4, 6])
    write("2\n1\n2\n", "r.query")  # of all rows
    data = load_letor(write("1 1:1\n-1 1:2\n-1 1:3\n0 1:4\n2 1:5\n", "r"), drop_unlabelled=True)
    assert (data.X[:, 0].tolist(), data.qid.tolist()) == ([1, 4, 5], [0, 2, 2])
    with pytest.raises(ValueError, match="no rows"):
        load_letor(write("-1 qid:1 1:4\n"), drop_unlabelled=True)
    with pytest.raises(ValueError, match="drop_unlabelled=True of load_letor"):
        gapboost.evaluate("gap", [1, -1], [2, 1])


def test_large_and_fractional_grades(write):
    for y, dtype in (["1330", "0"], np.int32), (["0.5", "2", "1e-1"], float), (["1.0"], np.int32):
        found = load_letor(write("".join(f"{grade} qid:4 1:1\n" for grade in y))).y
        assert (found.dtype, found.tolist()) == (dtype, [float(grade) for grade in y])


STRINGS = [["MB-12", "4"], ["01", "1"], ["+1", "1"], ["1_0", "10"], ["a:b"], [str(2**64)]]


@pytest.mark.parametrize("ids", [*STRINGS, [2**63 - 1, -3, 2**63 - 2]])
def test_queries_that_are_not_plain_integers_are_strings(write, ids):
    """Rows need not be grouped."""
    rows = [f"1 qid:{query} 1:1\n" for query in ids]
    assert load_letor(write("".join(rows * 2))).qid.tolist() == ids * 2
    files = [write(row, str(number)) for number, row in enumerate(rows)]
    assert load_letor(files).qid.tolist() == ids


@pytest.mark.parametrize(
    ("comment", "docid"),
    [
        ("#docid = 40626", "40626"),
        ("#docid = GX008-86-4444840 inc = 1 prob = 0.086622", "GX008-86-4444840"),
        ("# inc = 1 docid = GX1", "GX1"),
        ("# DOCID: x7", "x7"),
        ("#\tLA040190-0178 some words", "LA040190-0178"),
    ],
)
def test_documents(write, comment, docid):
    path = write(f"1 qid:1 1:1 {comment}\n")
    assert load_letor(path).docid.tolist() == [docid]
    some = write(f"1 qid:2 1:1 {comment}\n1 qid:2 1:1\n", "some")
    assert load_letor([path, some]).docid is None


# --- columns and several files --------------------------------------------------------------------


def test_columns_are_the_indices_of_the_file(write):
    data = load_letor(write("1 qid:1 15:5\n"))
    assert data.X.tolist() == [[0] * 14 + [5]]
    assert data.feature_names[14] == "x15"
    zero = load_letor(write("1 qid:1 0:4 2:5\n0 qid:1 2:6\n"))
    assert zero.X.tolist() == [[4, 0, 5], [0, 0, 6]]
    assert zero.feature_names == ["x0", "x1", "x2"]
    one = write("1 qid:1 1:4\n")
    assert load_letor(one, zero_based=True).X.tolist() == [[0, 4]]
    assert load_letor(one, n_features=3).X.tolist() == [[4, 0, 0]]
    for content, options, message in (
        ("1 qid:1 0:4\n", dict(zero_based=False), "^zero_based "),
        ("1 qid:1 2:4\n", dict(n_features=1), "^n_features "),
        ("1 qid:1\n", {}, r"data\.txt"),
    ):
        with pytest.raises(ValueError, match=message):
            load_letor(write(content), **options)


def test_several_files_are_one_data_set(write):
    paths = [write("1 qid:5 1:1 # docid = a\n", "a"), write("2 qid:x 3:1 # docid = b\n", "b.xz")]
    data = load_letor(paths)
    assert data.X.tolist() == [[1, 0, 0], [0, 0, 1]]
    assert data.y.tolist() == [1, 2]
    assert (data.qid.tolist(), data.docid.tolist()) == (["5", "x"], ["a", "b"])
    assert load_letor([paths[0], write("1 qid:6 0:7\n", "c")]).X.tolist() == [[0, 1], [7, 0]]
    with pytest.raises(ValueError, match=r"d: found query '5'"):
        load_letor([paths[0], write("1 qid:4 1:1\n2 qid:5 1:1\n", "d")])
    with pytest.raises(ValueError, match=r"^path "):
        load_letor([])


def test_parts_of_a_fold_have_the_same_columns(write, tmp_path):
    write("1 qid:1 1:1 4:1\n", "train.txt.gz")
    write("1 qid:2 0:1\n", "vali.txt.bz2")
    with pytest.raises(FileNotFoundError, match=r"test\.txt"):
        load_letor_fold(tmp_path)
    write("1 qid:3 3:1\n", "test.txt")
    fold = load_letor_fold(str(tmp_path), dense=False, n_features=6)
    assert [part.X.indices.tolist() for part in fold] == [[1, 4], [0], [3]]
    assert {part.X.shape for part in fold} == {(1, 6)}
    assert fold.test.feature_names == [f"x{i}" for i in range(6)]


def test_all_folds_of_a_collection(tmp_path):
    """The rows of each are those of its three files."""
    rng = np.random.default_rng(0)
    row = "{0} qid:{1} {2}:{3:g}\n".format
    parts = [
        "".join(row(rng.integers(3), q, part, rng.random()) for q in (part, part, -part))
        for part in range(1, 6)
    ]
    for fold in range(5):
        (folder := tmp_path / f"Fold{fold + 1}").mkdir()
        (folder / "test.txt").write_text(parts[fold])
        (folder / "vali.txt").write_text(parts[fold - 1])
        (folder / "train.txt").write_text(parts[fold - 4] + parts[fold - 3] + parts[fold - 2])
    found = load_letor_folds(tmp_path, n_features=12)
    for number, split in enumerate(found, start=1):
        expected = load_letor_fold(tmp_path / f"Fold{number}", n_features=12)
        for a, b in zip(split, expected, strict=True):
            # Training rows come in another order.
            rows = [np.lexsort((part.X.sum(axis=1), part.y, part.qid)) for part in (a, b)]
            for one in ("X", "y", "qid"):
                npt.assert_array_equal(getattr(a, one)[rows[0]], getattr(b, one)[rows[1]])
        for rows, part in zip(found.cv[number - 1], (split.train, split.test), strict=True):
            npt.assert_array_equal(found.data.X[rows], part.X)
    assert str(found).startswith("RankingFolds(5 folds of RankingDataset(10 queries, 15 rows")
    (tmp_path / "Fold3" / "vali.txt").write_text(parts[3])
    with pytest.raises(ValueError, match=r"Fold3.vali\.txt: found other queries than in .*Fold2"):
        load_letor_folds(tmp_path)


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("name", ["weight", "position", "init"])
def test_files_of_lightgbm_that_are_not_read_are_named(write, name, ending):
    write("2\n1\n", "r.query")
    beside = write("1\n1\n1\n", f"r.{name}")
    path = write("1 1:1\n0 1:2\n2 1:3\n", f"r{ending}")
    with pytest.raises(ValueError, match=rf"r\.{name}, .*expected"):
        load_letor(path)
    beside.unlink()
    assert load_letor(path).qid.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    "sizes", ["1\n1\n1\n", "0\n1\n2\n", "1\n1\n", "2\n2\n", "1.5\n1.5\n", "4\n-1\n", "a\n", None]
)
def test_wrong_group_sizes(write, sizes):
    if sizes is not None:
        write(sizes, "r.query")
    path = write("1 1:1\n0 1:2\n2 1:3\n", "r")
    with pytest.raises(ValueError, match=r"r\.query|r: found no queries|negative"):
        load_letor(path)
    write("\ufeff1\n2\n", "r.query")
    assert load_letor(path).qid.tolist() == [0, 1, 1]
    with pytest.raises(ValueError, match="a: found query '1'"):
        load_letor([path, write("1 qid:1 1:1\n", "a")])


# --- files that cannot be read --------------------------------------------------------------------

GOOD = "1 qid:1 1:1\n"
UNREADABLE = {
    "line 2": [
        *("-0.5 qid:1 1:1", "nan qid:1 1:1", "inf qid:1 1:1", "3000000000 qid:1 1:1", "good qid:1"),
        *("1,2 qid:1 1:1", "1 qid:1 1:high", "1 qid:1 1:1 name"),
        *("1 1:1 qid:1", "1 qid 1:1", "1 qid5:7 1:1", "1 qid: 1:1", "1 1:1", "1 qid:1 1:1:1"),
        *("1 qid:1 1: 2:1", "1 qid:1 :1", "1 qid:1 1:1 1:2", "1 qid:1 -1:1", "1 qid:1 1.5:1"),
        *("1 qid:1 99999999999999999999:1", "1 qid:1 1:0x10", "1 qid:1 1:1e"),
    ],
    "data.txt": [
        *(b"", b"\n\n", b"# only a comment\n", GOOD.encode("utf-16"), bytes(range(256))),
        *(b"1 qid:1\n0 qid:1\n", b"\x00\x00 qid:1 1:1\n", b"1 qid:caf\xe9 1:1\n"),
    ],
}


@pytest.mark.parametrize(
    ("where", "text"), [(w, t) for w, texts in UNREADABLE.items() for t in texts]
)
def test_unreadable(write, where, text):
    content = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(ValueError, match=rf"data\.txt.*{where}|{where}") as caught:
        load_letor(write((GOOD.encode() if where == "line 2" else b"") + content))
    assert "expected" in str(caught.value)


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_damaged_and_missing_files(tmp_path, ending):
    path = tmp_path / f"cut{ending}"
    content = COMPRESS[ending]((GOOD * 20_000).encode())
    for damaged in (content[:-12], content[:6] + b" rubbish", COMPRESS[ending](b"")):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="cut"):
            load_letor(path)
    with pytest.raises(FileNotFoundError, match=r"absent\.txt"):
        load_letor(tmp_path / "absent.txt")
    with pytest.raises(IsADirectoryError, match="load_letor_fold reads"):
        load_letor(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"Fold1: found no test\.txt"):
        load_letor_folds(tmp_path)


WORDS = "0 1 2 qid:1 qid:2 qid: qid:a 1:1 1:0.5 2:-3e2 3:nan 0:1 1: :1 1:1:1 x -1 0.5 nan inf 1e400"
ODD = [*WORDS.split(), "1_0", "+1", "²", "4:1e-400", "9:inf", "2:NULL", "\x00", "\u00a0", "\x85"]
ENDS = ["\n\n", " # docid = d7\n", "#x\n", "# \u2028 y\n", "\x0c", "\x1c", "\r", "\r\n", ""]
ROW = st.tuples(st.sampled_from("012"), st.sampled_from("12"), st.floats(-9, 9)).map(
    "{0[0]} qid:{0[1]} 1:{0[2]} 3:1".format
)
LINE = st.sampled_from([ROW] * 9 + [st.lists(st.sampled_from(ODD), max_size=5).map(" ".join)])
TEXT = st.lists(
    st.tuples(LINE.flatmap(lambda line: line), st.sampled_from(["\n"] * 12 + ENDS)).map("".join),
    max_size=5,
).map("".join)


@pytest.mark.slow
@settings(max_examples=500)
@given(text=TEXT)
def test_files_are_read_as_a_naive_parser_reads_them_or_refused(text):
    """Nothing is lost, shifted or merged without an error that names the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "data.txt")
        path.write_bytes(text.encode())
        try:
            data = load_letor(path)
        except ValueError:
            reject()
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    rows = [words for line in lines if (words := line.partition("#")[0].split())]
    assert len(data) == len(rows)
    zero = any(word.startswith("0:") for words in rows for word in words[2:])
    for i, words in enumerate(rows):
        assert data.y[i] == float(words[0])
        assert str(data.qid[i]) == words[1][4:]
        expected = np.zeros(data.n_features)
        for word in words[2:]:
            index, _, value = word.replace("NULL", "nan").partition(":")
            expected[int(index) - (not zero)] = float(value)
        npt.assert_array_equal(data.X[i], expected)


# --- digits ---------------------------------------------------------------------------------------


def test_digits():
    images, digits = [], load_digits_ranking()
    for part, n_queries in zip(digits, (240, 60, 100), strict=True):
        assert (part.n_queries, part.X.shape) == (n_queries, (n_queries * 40, 23))
        assert (part.X.dtype, part.y.dtype, part.qid.dtype) == (np.float64, np.int32, np.int64)
        assert len(set(part.feature_names)) == 23
        documents = part.docid.astype(np.int64)
        assert (documents != part.qid).all()
        assert len(set(zip(part.qid.tolist(), documents.tolist(), strict=True))) == len(part)
        images.append(set(documents.tolist()) | set(part.qid.tolist()))
    assert len(set.union(*images)) == sum(map(len, images))  # no image is in two parts
    assert grades(digits.train) == [6687, 1940, 973]  # the same on every machine
    again = load_digits_ranking(random_state=np.random.RandomState(0))
    npt.assert_array_equal(digits.test.X, again.test.X)
    assert not np.array_equal(digits.train.qid, load_digits_ranking(random_state=1).train.qid)
    source, part = load_digits(), digits.test
    means = np.array([source.data[source.target == digit].mean(axis=0) for digit in range(10)])
    nearest = [
        sorted(set(range(10)) - {a}, key=lambda b: np.linalg.norm(means[a] - means[b]))[:2]
        for a in range(10)
    ]
    pairs = zip(source.target[part.qid], source.target[part.docid.astype(np.int64)], strict=True)
    assert part.y.tolist() == [2 if a == b else int(b in nearest[a]) for a, b in pairs]
    small = load_digits_ranking((5, 1, 2), 7, random_state=3)
    assert [(one.n_queries, len(one)) for one in small] == [(5, 35), (1, 7), (2, 14)]
    with pytest.raises(ValueError, match="n_queries"):
        load_digits_ranking((1000, 500, 500), 5)
