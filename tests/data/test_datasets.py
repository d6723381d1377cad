from __future__ import annotations

import dataclasses
import gzip
import json
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.testing as npt
import pytest
from collections_on_disk import FOLDS, made, real
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_digits, load_svmlight_file
from sklearn.metrics import ndcg_score

import gapboost as gb
from gapboost.datasets import (
    RankingData,
    RankingSplit,
    load_digits_ranking,
    load_letor,
    load_letor_fold,
)


def grades(data: RankingData) -> list[int]:
    return np.bincount(data.y).tolist()


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write(text: str | bytes, name: str = "data.txt") -> Path:
        path = tmp_path / name
        content = text.encode() if isinstance(text, str) else text
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write


# --- collections on disk --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("folder", "n_queries", "n_features", "counts", "shortest_longest", "without_relevant"),
    [
        made("letor", 60, 8, [2357, 642, 285], (40, 69), 60),
        real("ohsumed", 106, 25, [11303, 2585, 2252], (35, 320), 8),
    ],
)
def test_all_parts_together(
    folder: Path,
    n_queries: int,
    n_features: int,
    counts: list[int],
    shortest_longest: tuple[int, int],
    without_relevant: int,
) -> None:
    data = load_letor([folder / f"Fold{fold}" / "test.txt.gz" for fold in range(1, 6)])
    assert data.n_queries == n_queries
    assert data.X.shape == (sum(counts), n_features)
    assert len(data) == sum(counts)
    assert grades(data) == counts
    sizes = np.unique(data.qid, return_counts=True)[1]
    assert (sizes.min(), sizes.max()) == shortest_longest
    assert data.y[data.qid == without_relevant].max() == 0
    assert (data.X.dtype, data.y.dtype, data.qid.dtype) == (np.float64, np.int32, np.int64)
    assert data.docid is not None
    pairs = set(zip(data.qid.tolist(), data.docid.tolist(), strict=True))
    assert len(pairs) == len(data)


@pytest.mark.parametrize(
    ("folder", "queries", "rows", "first", "grade_and_query", "documents"),
    [
        made("letor", [24, 16, 12], [1319, 858, 655], [1.2, 1.4, 0.32], (1, 1), ["01000", "01001"]),
        real(
            "ohsumed",
            [63, 21, 22],
            [9219, 3538, 3383],
            [3.0, 2.07944154, 0.27272727],
            (2, 1),
            ["40626", "11852"],
        ),
    ],
)
def test_a_fold_rows_and_rule(
    folder: Path,
    queries: list[int],
    rows: list[int],
    first: list[float],
    grade_and_query: tuple[int, int],
    documents: list[str],
) -> None:
    fold = load_letor_fold(folder / "Fold1")
    assert isinstance(fold, RankingSplit)
    assert [part.n_queries for part in fold] == queries
    assert [len(part) for part in fold] == rows
    assert len({part.n_features for part in fold}) == 1
    train, vali, test = (set(part.qid.tolist()) for part in fold)
    assert not train & vali
    assert not train & test
    assert not vali & test
    npt.assert_array_equal(fold.train.X[0, :3], first)
    assert (fold.train.y[0], fold.train.qid[0]) == grade_and_query
    assert fold.train.docid is not None
    assert fold.train.docid[:2].tolist() == documents


@pytest.mark.parametrize("folder", FOLDS)
def test_agrees_with_scikit_learn(folder: Path) -> None:
    path = folder / "Fold3" / "test.txt.gz"
    X, y, qid = load_svmlight_file(path, query_id=True, zero_based=False)
    data = load_letor(path)
    npt.assert_array_equal(data.X, X.toarray())
    npt.assert_array_equal(data.y, y)
    npt.assert_array_equal(data.qid, qid)


@pytest.mark.parametrize(
    ("path", "n_queries", "n_features", "counts"),
    [
        made("lightgbm/rank.train.gz", 12, 8, [47, 13, 8]),
        real("lightgbm-lambdarank/rank.train.gz", 201, 300, [645, 1211, 858, 222, 69]),
        real("lightgbm-lambdarank/rank.test.gz", 50, 300, [206, 256, 252, 44, 10]),
    ],
)
def test_sizes_of_queries_beside_the_file(
    path: Path, n_queries: int, n_features: int, counts: list[int]
) -> None:
    data = load_letor(path)
    assert (data.n_queries, data.X.shape, grades(data)) == (
        n_queries,
        (sum(counts), n_features),
        counts,
    )
    sizes = path.with_suffix(".query").read_text(encoding="utf-8").split()
    assert np.bincount(data.qid).tolist() == [int(size) for size in sizes]
    assert data.docid is None


LIGHTGBM = [
    made("lightgbm", 0.95, [12, 68, 5, 32]),
    real("lightgbm-lambdarank", 0.74, [201, 3005, 50, 768]),
]


@pytest.mark.parametrize(("folder", "first", "numbers"), LIGHTGBM)
def test_sparse_and_dense_agree(folder: Path, first: float, numbers: list[int]) -> None:
    dense, thin = (load_letor(folder / "rank.test.gz", dense=dense) for dense in (True, False))
    assert isinstance(thin.X, sparse.csr_matrix)
    assert thin.X.dtype == np.float64
    npt.assert_array_equal(dense.X, thin.X.toarray())
    assert dense.X[0, 0] == first  # as it is written


@pytest.mark.parametrize(("folder", "first", "numbers"), LIGHTGBM)
def test_two_files_number_queries_on(folder: Path, first: float, numbers: list[int]) -> None:
    data = load_letor([folder / "rank.train.gz", folder / "rank.test.gz"])
    train_queries, train_rows, test_queries, test_rows = numbers
    assert (data.n_queries, len(data)) == (train_queries + test_queries, train_rows + test_rows)
    ends = 0, train_queries - 1, train_queries, train_queries + test_queries - 1
    assert (data.qid[0], data.qid[train_rows - 1], data.qid[train_rows], data.qid[-1]) == ends


@pytest.mark.parametrize("folder", [real("trec-news-2018")])
def test_trec_news(folder: Path) -> None:
    names = list(
        json.loads((folder / "trec_news_2018.features.json").read_text(encoding="utf-8")).values()
    )
    train, test = (
        load_letor(folder / f"trec_news_2018.{part}", feature_names=names)
        for part in ("train", "test")
    )
    assert (train.n_queries, train.X.shape, grades(train)) == (
        45,
        (782, 5),
        [303, 256, 146, 27, 50],
    )
    assert (test.n_queries, test.X.shape) == (5, (41, 5))
    assert train.feature_names == [
        "caption_count",
        "caption_partial",
        "caption_position",
        "pagerank",
        "para-fraction",
    ]
    npt.assert_array_equal(train.X[1, :3], [-1.0, 0.0, -1.0])  # second row gives no feature 2


# --- layout of rows -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["data.txt", "data.txt.gz"])
def test_plain_and_gzip(write: Callable[..., Path], name: str) -> None:
    data = load_letor(write("2 qid:7 1:0.5 3:1\n0 qid:7 2:-0.25\n\n1 qid:9\n", name))
    npt.assert_array_equal(data.X, [[0.5, 0, 1], [0, -0.25, 0], [0, 0, 0]])
    assert data.y.tolist() == [2, 0, 1]
    assert data.qid.tolist() == [7, 7, 9]
    assert (data.docid, data.feature_names, data.n_queries, len(data)) == (None, None, 2, 3)


def test_gzip_is_told_by_content(write: Callable[..., Path], tmp_path: Path) -> None:
    path = write("1 qid:1 1:1\n", "data.gz").rename(tmp_path / "data.letor")
    assert load_letor(str(path)).y.tolist() == [1]


def test_comments_blank_lines_and_line_ends(write: Callable[..., Path]) -> None:
    data = load_letor(
        write("# made by hand\r\n\r\n1 qid:1 1:1 # docid = a\r\n   \r\n0 qid:1 1:2 # docid = b")
    )
    assert data.y.tolist() == [1, 0]
    assert data.docid is not None
    assert data.docid.tolist() == ["a", "b"]


@pytest.mark.parametrize("name", ["data.txt", "data.txt.gz"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_line_ends_and_byte_order_mark(write: Callable[..., Path], name: str, end: str) -> None:
    """A lone carriage return ends a line too: the next row is no part of a comment."""
    for first in ("", "# made by hand\n"):
        text = f"\ufeff{first}2 qid:é 1:1 # docid = a\n1 qid:é 1:2 # docid = b\n"
        data = load_letor(write(text.replace("\n", end), name))
        assert (data.y.tolist(), data.qid.tolist(), data.X.tolist()) == (
            [2, 1],
            ["é", "é"],
            [[1], [2]],
        )
        assert data.docid is not None
        assert data.docid.tolist() == ["a", "b"]


def test_queries_that_are_not_utf8_are_refused_not_merged(write: Callable[..., Path]) -> None:
    with pytest.raises(ValueError, match=r"data\.txt, line 1: .*query b'caf\\xe9' is not UTF-8"):
        load_letor(write(b"1 qid:caf\xe9 1:1\n0 qid:caf\xe8 1:1\n"))
    assert load_letor(write("1 qid:café 1:1\n0 qid:cafè 1:1\n")).qid.tolist() == ["café", "cafè"]


@pytest.mark.parametrize(
    ("comment", "docid"),
    [
        ("#docid = 40626", "40626"),
        ("#docid=244338", "244338"),
        ("#docid = GX008-86-4444840 inc = 1 prob = 0.086622", "GX008-86-4444840"),
        ("# inc = 1 docid = GX1", "GX1"),
        ("# DOCID: x7", "x7"),
        ("# LA040190-0178 some words", "LA040190-0178"),
        ("#\t7555\tRambo", "7555"),
        ("# é", "é"),
    ],
)
def test_docid(write: Callable[..., Path], comment: str, docid: str) -> None:
    data = load_letor(write(f"1 qid:1 1:1 {comment}\n"))
    assert data.docid is not None
    assert data.docid.dtype.kind == "U"
    assert data.docid.tolist() == [docid]


def test_docid_only_where_each_row_has_one(write: Callable[..., Path]) -> None:
    some = write("1 qid:1 1:1 # docid = a\n0 qid:1 1:2 #\n", "some")
    every = write("1 qid:2 1:1 # docid = a\n", "every")
    assert load_letor(some).docid is None
    assert load_letor([every, some]).docid is None
    assert load_letor([every]).docid is not None


def test_rows_of_a_query_need_not_be_neighbors(write: Callable[..., Path]) -> None:
    data = load_letor(write("1 qid:1 1:1\n2 qid:2 1:2\n0 qid:1 1:3\n"))
    assert data.qid.tolist() == [1, 2, 1]
    assert data.n_queries == 2
    assert data.X[:, 0].tolist() == [1, 2, 3]


@pytest.mark.parametrize("query", ["MB-12", "3.5", "99999999999999999999", "1_0"])
def test_queries_that_are_not_int64_are_read_as_str(write: Callable[..., Path], query: str) -> None:
    data = load_letor(write(f"1 qid:{query} 1:1\n0 qid:4 1:1\n"))
    assert data.qid.tolist() == [query, "4"]


@pytest.mark.parametrize("pair", [("01", "1"), ("+1", "1"), ("-0", "0"), ("+0", "-0")])
def test_spellings_of_one_number_are_different_queries(
    write: Callable[..., Path], pair: tuple[str, str]
) -> None:
    rows = [f"{grade} qid:{query} 1:1\n" for grade, query in enumerate(pair)]
    assert load_letor(write("".join(rows))).qid.tolist() == list(pair)
    files = [write(row, str(number)) for number, row in enumerate(rows)]
    assert load_letor(files).qid.tolist() == list(pair)


def test_a_comment_may_follow_a_query_after_a_blank(write: Callable[..., Path]) -> None:
    data = load_letor(write("1 qid:a #b\n0 qid:a 1:1#b\n"))
    assert (data.qid.tolist(), data.X.tolist()) == (["a", "a"], [[0], [1]])


def test_group_sizes_in_another_encoding_are_refused(write: Callable[..., Path]) -> None:
    path = write("1 1:1\n0 1:2\n")
    path.with_name(path.name + ".query").write_bytes("2\n".encode("utf-16"))
    with pytest.raises(ValueError, match=r"\.query, line 1: found the bytes of UTF-16"):
        load_letor(path)


def test_large_and_negative_queries_stay_exact(write: Callable[..., Path]) -> None:
    data = load_letor(write(f"1 qid:{2**63 - 1} 1:1\n0 qid:-3 1:1\n0 qid:007 1:1\n"))
    assert data.qid.dtype == np.int64
    assert data.qid.tolist() == [2**63 - 1, -3, 7]


def test_nan_is_kept_and_absent_is_zero(write: Callable[..., Path]) -> None:
    npt.assert_array_equal(load_letor(write("1 qid:1 1:nan 3:1\n")).X, [[np.nan, 0, 1]])


@pytest.mark.parametrize(
    "row", ["1_0 qid:1 1:1", "1 qid:1 1_0:1", "1 qid:1 1:1_5", "1 qid:q_1 1:2 2:1e1_0", "1_0 1:1"]
)
def test_numbers_that_only_python_reads_are_refused(write: Callable[..., Path], row: str) -> None:
    """``1:1_5`` is not 15."""
    with pytest.raises(
        ValueError,
        match=r"data\.txt, line 2: cannot be read .*the number '[^:]*_[^:]*' has an underscore",
    ):
        load_letor(write(f"0 qid:q_1 1:1 # docid = d_1\n{row}\n"))


def test_a_query_without_its_colon_is_refused(write: Callable[..., Path]) -> None:
    """Sizes of queries lie beside the file, so that a row needs none."""
    path = write("1 qid5:7 1:1\n0 1:2\n")
    path.with_name(path.name + ".query").write_text("2\n")
    with pytest.raises(
        ValueError, match=r"line 1: cannot be read .*'qid5:7' does not begin with 'qid:'"
    ):
        load_letor(path)


def test_names_may_hold_underscores_and_numbers_what_c_reads(write: Callable[..., Path]) -> None:
    data = load_letor(write("+1 qid:q_1 +1:-1.5e+00 02:.5 3:Infinity # docid = d_1\n"))
    assert (data.y.tolist(), data.qid.tolist(), data.X.tolist()) == (
        [1],
        ["q_1"],
        [[-1.5, 0.5, np.inf]],
    )
    assert data.docid is not None
    assert data.docid.tolist() == ["d_1"]


# --- columns --------------------------------------------------------------------------------------


def test_columns_do_not_depend_on_the_first_index_in_the_file(write: Callable[..., Path]) -> None:
    assert load_letor(write("1 qid:1 3:5\n")).X.tolist() == [[0, 0, 5]]


def test_index_zero_is_kept(write: Callable[..., Path]) -> None:
    assert load_letor(write("1 qid:1 0:4 2:5\n0 qid:1 2:6\n")).X.tolist() == [[4, 0, 5], [0, 0, 6]]


def test_index_zero_in_one_file_counts_for_all(write: Callable[..., Path]) -> None:
    paths = [write("1 qid:1 1:4\n", "a"), write("1 qid:2 0:5\n", "b")]
    assert load_letor(paths).X.tolist() == [[0, 4], [5, 0]]


def test_zero_based_given(write: Callable[..., Path]) -> None:
    path = write("1 qid:1 1:4\n")
    assert load_letor(path, zero_based=True).X.tolist() == [[0, 4]]
    assert load_letor(path, zero_based=False).X.tolist() == [[4]]
    with pytest.raises(
        ValueError, match=r"zero\.txt: found feature index 0, expected indices from 1"
    ):
        load_letor(write("1 qid:1 0:4\n", "zero.txt"), zero_based=False)


@pytest.mark.parametrize("zero_based", [True, False])
def test_reads_what_scikit_learn_writes(tmp_path: Path, zero_based: bool) -> None:
    rng = np.random.RandomState(0)
    X = rng.rand(30, 6) * (rng.rand(30, 6) < 0.5)
    y, qid = rng.randint(0, 4, 30), np.repeat(np.arange(6), 5)
    path = tmp_path / "dumped.txt"
    dump_svmlight_file(
        X, y, str(path), query_id=qid, zero_based=zero_based, comment="a comment\nof two lines"
    )
    data = load_letor(path)
    npt.assert_allclose(data.X, X, rtol=1e-12)
    npt.assert_array_equal(data.y, y)
    npt.assert_array_equal(data.qid, qid)


def test_n_features(write: Callable[..., Path]) -> None:
    path = write("1 qid:1 2:5\n")
    assert load_letor(path, n_features=4).X.tolist() == [[0, 5, 0, 0]]
    assert load_letor(path, n_features=4, dense=False).X.shape == (1, 4)
    with pytest.raises(
        ValueError, match=r"data\.txt: found feature index 2, expected at most 1: 1 features"
    ):
        load_letor(path, n_features=1)
    assert load_letor(write("1 qid:1\n", "bare"), n_features=2).X.tolist() == [[0, 0]]
    with pytest.raises(ValueError, match="bare: found no features"):
        load_letor(write("1 qid:1\n", "bare"))


def test_a_dense_feature_index_has_a_limit(write: Callable[..., Path]) -> None:
    """One index of 2147483647 would take 16 GiB a row."""
    path = write("1 qid:1 1:1\n0 qid:1 2147483647:1\n")
    with pytest.raises(
        ValueError,
        match=r"data\.txt: found feature index 2147483647, expected at most 1048576 with "
        r"dense=True; give n_feat",
    ):
        load_letor(path)
    assert load_letor(path, dense=False).X.shape == (2, 2147483647)
    zero = write("1 qid:1 0:1 1048576:1\n", "zero")
    with pytest.raises(
        ValueError, match="zero: found feature index 1048576, expected at most 1048575"
    ):
        load_letor(zero)
    assert load_letor(write("1 qid:1 1048576:1\n", "most")).X.shape == (1, 1048576)
    assert load_letor(zero, n_features=1048577).X[0, -1] == 1


def test_a_dense_feature_index_has_a_limit_in_folds(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    for number, name in enumerate(("train", "vali", "test")):
        write(f"1 qid:{number} {10 ** (3 * number + 1)}:1\n", f"{name}.txt")
    with pytest.raises(
        ValueError, match=r"test\.txt: found feature index 10000000, expected at most 1048576"
    ):
        load_letor_fold(tmp_path)
    assert load_letor_fold(tmp_path, dense=False).train.X.shape == (1, 10**7)


@pytest.mark.slow
def test_a_long_line_is_refused_before_it_is_read(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    row = "1 qid:1 1:1\n"
    long = row.replace("\n", " # " + "x" * 100 + "\n")
    assert len(load_letor(write(row + long), max_line_bytes=len(long))) == 2
    with pytest.raises(
        ValueError,
        match=r"data\.gz, line 2: found more than 99 bytes, expected at most max_line_bytes=99",
    ):
        load_letor(write(row + long, "data.gz"), max_line_bytes=99)
    write("1\n" + " " * 200 + "1\n", "rank.query")
    with pytest.raises(ValueError, match=r"rank\.query, line 2: found more than 99 bytes"):
        load_letor(write("1 1:1\n0 1:1\n", "rank"), max_line_bytes=99)
    huge = write(b"1" * 100_000_000, "huge.gz")
    tracemalloc.start()
    with pytest.raises(
        ValueError, match=r"huge\.gz, line 1: found more than 67108864 bytes, expected at most"
    ):
        load_letor(huge)
    assert tracemalloc.get_traced_memory()[1] < 180e6
    tracemalloc.stop()
    for name in ("train", "vali", "test"):
        write(long, f"{name}.txt")
    with pytest.raises(ValueError, match=r"train\.txt, line 1: found more than 99 bytes"):
        load_letor_fold(tmp_path, max_line_bytes=99)


def test_feature_names(write: Callable[..., Path]) -> None:
    data = load_letor(write("1 qid:1 2:5\n"), feature_names=("a", "b", "c"))
    assert data.feature_names == ["a", "b", "c"]
    assert data.X.shape == (1, 3)
    with pytest.raises(ValueError, match="n_features is 2, but 3 feature_names"):
        load_letor(write("1 qid:1 2:5\n"), feature_names=("a", "b", "c"), n_features=2)


# --- several files and folds ----------------------------------------------------------------------


def test_several_files(write: Callable[..., Path]) -> None:
    paths = [write("1 qid:5 1:1 # docid = a\n", "a"), write("2 qid:3 3:1 # docid = b\n", "b.gz")]
    data = load_letor(paths)
    assert data.X.tolist() == [[1, 0, 0], [0, 0, 1]]
    assert (data.y.tolist(), data.qid.tolist()) == ([1, 2], [5, 3])
    assert data.docid is not None
    assert data.docid.tolist() == ["a", "b"]


def test_query_in_two_files(write: Callable[..., Path]) -> None:
    a, b = write("1 qid:5 1:1\n", "a"), write("1 qid:4 1:1\n2 qid:5 1:1\n", "b")
    with pytest.raises(ValueError, match=r"b: found query 5, which is in .*a too"):
        load_letor([a, b])
    with pytest.raises(ValueError, match=r"a: found query 5, which is in .*a too"):
        load_letor([a, a])
    with pytest.raises(ValueError, match=r"b: found query 'x', which is in .*a too"):
        load_letor([write("1 qid:x 1:1\n", "a"), write("1 qid:x 1:1\n", "b")])


def test_one_file_with_str_queries_makes_all_str(write: Callable[..., Path]) -> None:
    data = load_letor([write("1 qid:5 1:1\n", "a"), write("1 qid:x 1:1\n", "b")])
    assert data.qid.tolist() == ["5", "x"]


def test_no_path() -> None:
    with pytest.raises(ValueError, match="path is empty; expected one or more"):
        load_letor([])


def test_fold_has_the_same_columns(write: Callable[..., Path], tmp_path: Path) -> None:
    write("1 qid:1 1:1 4:1\n", "train.txt.gz")
    write("1 qid:2 2:1\n", "vali.txt")
    write("1 qid:3 3:1\n", "test.txt")
    assert [part.X.tolist() for part in load_letor_fold(tmp_path)] == [
        [[1, 0, 0, 1]],
        [[0, 1, 0, 0]],
        [[0, 0, 1, 0]],
    ]
    write("1 qid:2 0:1\n", "vali.txt")
    fold = load_letor_fold(str(tmp_path), dense=False, feature_names=list("abcdef"))
    assert [part.X.indices.tolist() for part in fold] == [[1, 4], [0], [3]]
    assert {part.X.shape for part in fold} == {(1, 6)}
    assert fold.test.feature_names == list("abcdef")


def test_fold_without_a_file(write: Callable[..., Path], tmp_path: Path) -> None:
    write("1 qid:1 1:1\n", "train.txt")
    with pytest.raises(FileNotFoundError, match=r"neither vali\.txt nor vali\.txt\.gz"):
        load_letor_fold(tmp_path)


# --- group sizes ----------------------------------------------------------------------------------

THREE_ROWS = "1 1:1\n0 1:2\n2 1:3\n"


@pytest.mark.parametrize("name", ["rank.train", "rank.train.gz"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "byte order mark"])
def test_group_sizes(write: Callable[..., Path], name: str, mark: str) -> None:
    write(f"{mark}1\n2\n", "rank.train.query")
    data = load_letor(write(THREE_ROWS, name))
    assert data.qid.tolist() == [0, 1, 1]
    assert data.qid.dtype == np.int64


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ("1\n1\n", r"r\.query: the group sizes add up to 2, expected 3, the number of rows of r"),
        ("2\n2\n", "the group sizes add up to 4, expected 3"),
        ("", "the group sizes add up to 0, expected 3"),
        ("3\n0\n", r"r\.query: found group size '0', expected whole numbers from 1"),
        ("1.5\n1.5\n", r"found group size '1\.5'"),
        ("4\n-1\n", "found group size '-1'"),
        ("three\n", "found group size 'three'"),
    ],
)
def test_wrong_group_sizes(write: Callable[..., Path], sizes: str, message: str) -> None:
    write(sizes, "r.query")
    with pytest.raises(ValueError, match=message):
        load_letor(write(THREE_ROWS, "r"))


def test_neither_queries_nor_group_sizes(write: Callable[..., Path]) -> None:
    with pytest.raises(
        ValueError, match=r"data\.txt: found no queries, expected 'qid:' .* in data\.txt\.query"
    ):
        load_letor(write(THREE_ROWS))


def test_group_sizes_and_queries_do_not_mix(write: Callable[..., Path]) -> None:
    write("3\n", "r.query")
    paths = [write("1 qid:0 1:1\n", "a"), write(THREE_ROWS, "r")]
    with pytest.raises(ValueError, match="r: found group sizes instead of queries"):
        load_letor(paths)


def test_grades_with_a_decimal_point(write: Callable[..., Path], tmp_path: Path) -> None:
    data = load_letor(write("0.5 qid:4 1:1\n2 qid:4 1:2\n1e-1 qid:4 1:3\n"))
    assert data.y.tolist() == [0.5, 2.0, 0.1]
    assert data.y.dtype == np.float64
    assert load_letor(write("1.0 qid:4 1:1\n2 qid:4 1:2\n")).y.dtype == np.int32
    rows = "".join(f"{i / 64} qid:1 1:{i}\n" for i in range(64))
    assert (
        repr(load_letor(write(rows)))
        == "RankingData(1 queries, 64 rows, 1 features, grades 0 to 0.984375, 64 different)"
    )


@pytest.mark.parametrize("folder", [made("letor")])
def test_made_files_with_halves_rank_as_with_whole_grades(folder: Path, tmp_path: Path) -> None:
    """Halved grades, with probabilities of halved thresholds."""
    source = folder / "Fold1" / "test.txt.gz"
    whole = load_letor(source)
    lines = gzip.decompress(source.read_bytes()).decode().splitlines()
    halved = tmp_path / "halved.txt"
    halved.write_text("".join(f"{int(line[0]) / 2}{line[1:]}\n" for line in lines))
    half = load_letor(halved)
    assert half.y.tolist() == (whole.y / 2).tolist()
    assert (half.X == whole.X).all()
    first, second = gb.GAP(g=(0.5, 0.5)), gb.GAP(g=(0.5, 0.5), levels=(0.5, 1.0))
    values = [gb.evaluate(m, d.y, d.X[:, 0], d.qid)[m] for m, d in ((first, whole), (second, half))]
    assert values[0] == values[1]


def test_queries_in_the_rows_come_before_group_sizes(write: Callable[..., Path]) -> None:
    write("999\n", "data.txt.query")
    assert load_letor(write("1 qid:4 1:1\n")).qid.tolist() == [4]


# --- files that cannot be read --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"data\.txt: holds no rows"),
        ("\n# only a comment\n", r"data\.txt: holds no rows"),
        (
            "1 qid:1 1:1\n-0.5 qid:1 1:1\n",
            r"data\.txt, line 2: found grade -0\.5, expected .* \(1 of 2 rows are outside\)",
        ),
        ("# x\n\n-1 qid:1 1:1\n", r"data\.txt, line 3: found grade -1, expected"),
        ("nan qid:1 1:1\n", "found grade nan"),
        ("inf qid:1 1:1\n", "found grade inf"),
        ("3000000000 qid:1 1:1\n", r"found grade 3e\+09, expected a number from 0 to 2147483647"),
        (
            "1 qid:1 1:1\n1 qid:a#b 1:1\n",
            "line 2: cannot be read .*query 'a' ends at '#', where a comment begins",
        ),
        (
            "1 qid:1 1:1\n".encode("utf-16"),
            r"data\.txt, line 1: found the bytes of UTF-16 or UTF-32, expected UTF-8",
        ),
        ("1 qid:1 1:1\n".encode("utf-16-le"), "line 1: found the bytes of UTF-16"),
        ("1 qid:1 1:1\n".encode("utf-16-be"), "line 1: found the bytes of UTF-16"),
        ("1 qid:1 1:1\n".encode("utf-32"), "line 1: found the bytes of UTF-16"),
        (
            "good qid:1 1:1\n",
            r"data\.txt, line 1: cannot be read as 'grade qid:.* found 'good qid:1 1:1'",
        ),
        ("1 qid:1 1:1\n1,2 qid:1 1:1\n", "line 2: cannot be read"),
        ("1 qid:1 1:NULL\n", "line 1: cannot be read"),
        ("1 qid:1 1:1 name\n", "line 1: cannot be read"),
        ("1 1:1 qid:1\n", "line 1: cannot be read"),
        ("1 qid 1:1\n", "line 1: cannot be read"),
        ("1 qid:1 2:1 1:1\n", "line 1: cannot be read .*should be sorted and unique"),
        ("1 qid:1 1:1 1:2\n", "line 1: cannot be read .*should be sorted and unique"),
        ("1 qid:1 -1:1\n", "line 1: cannot be read"),
        ("1 qid:1 99999999999999999999:1\n", "line 1: cannot be read"),
        (
            "1 qid:1 1:1\n1 1:1\n",
            r"data\.txt, line 2: found no query, .* \(1 of 2 rows have none\)",
        ),
        ("1 qid:1 1:1\n1 qid: 1:1\n", "line 2: found no query"),
        (
            "1 qid:1 1:1\n1 qid:a\0 1:1\n",
            r"line 2: cannot be read .*query b'a\\x00' has a NUL byte",
        ),
        (
            "1 qid:1 1:1 # docid = a\n1 qid:1 1:1 # docid = a\0\n",
            r"line 2: cannot .*document b'a\\x00' has a NUL byte",
        ),
        (b"1 qid:caf\xe9 1:1\n", r"line 1: cannot be read .*\(query b'caf\\xe9' is not UTF-8\)"),
        (
            b"1 qid:1 1:1 # docid = a\n1 qid:1 1:1 # docid = caf\xe8\n",
            r"line 2: .*\(document b'caf\\xe8' is not UTF-8\)",
        ),
    ],
)
def test_unreadable(write: Callable[..., Path], text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_letor(write(text))


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"absent\.txt"):
        load_letor(tmp_path / "absent.txt")


def test_broken_gzip(tmp_path: Path) -> None:
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(b"1 qid:1 1:1\n" * 1000)[:-12])
    with pytest.raises(ValueError, match=r"cut\.gz: broken gzip file"):
        load_letor(path)


# --- RankingData ----------------------------------------------------------------------------------


def test_ranking_data_is_frozen_and_checks_shapes() -> None:
    X, y, qid = np.zeros((2, 3)), np.array([0, 1], dtype=np.int32), np.array(["a", "a"])
    data = RankingData(X, y, qid)
    assert (len(data), data.n_queries, data.n_features) == (2, 1, 3)
    assert repr(data) == "RankingData(1 queries, 2 rows, 3 features, grades {0: 1, 1: 1})"
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.y = y  # type: ignore[misc]
    with pytest.raises(ValueError, match=r"y has shape \(1,\); expected \(2,\)"):
        RankingData(X, y[:1], qid)
    with pytest.raises(ValueError, match=r"qid has shape \(3,\)"):
        RankingData(X, y, np.arange(3))
    with pytest.raises(ValueError, match="docid has shape"):
        RankingData(X, y, qid, docid=np.array(["a"]))
    with pytest.raises(
        ValueError, match="feature_names has 2 names; expected one for each of the 3 columns"
    ):
        RankingData(X, y, qid, feature_names=["a", "b"])
    with pytest.raises(ValueError, match="X has shape"):
        RankingData(X[0], y, qid)


# --- digits ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def digits() -> RankingSplit:
    return load_digits_ranking()


def test_digits_shape(digits: RankingSplit) -> None:
    for part, n_queries in zip(digits, (240, 60, 100), strict=True):
        assert (part.n_queries, part.X.shape) == (n_queries, (n_queries * 40, 23))
        assert (part.X.dtype, part.y.dtype, part.qid.dtype) == (np.float64, np.int32, np.int64)
        assert np.isfinite(part.X).all()
        assert (np.diff(part.qid) >= 0).all()
        assert set(np.unique(part.qid, return_counts=True)[1].tolist()) == {40}
        assert part.feature_names is not None
        assert len(set(part.feature_names)) == 23
        share = np.bincount(part.y) / len(part)
        assert share == pytest.approx([0.7, 0.2, 0.1], abs=0.02)


def test_digits_deterministic(digits: RankingSplit) -> None:
    for part, again in zip(
        digits, load_digits_ranking(random_state=np.random.RandomState(0)), strict=True
    ):
        for name in ("X", "y", "qid", "docid"):
            npt.assert_array_equal(getattr(part, name), getattr(again, name))
    assert not np.array_equal(digits.train.qid, load_digits_ranking(random_state=1).train.qid)
    assert grades(digits.train) == [6687, 1940, 973]  # the same on every machine


def test_digits_parts_share_no_image(digits: RankingSplit) -> None:
    images = []
    for part in digits:
        assert part.docid is not None
        documents = part.docid.astype(np.int64)
        assert (documents != part.qid).all()
        pairs = set(zip(part.qid.tolist(), documents.tolist(), strict=True))
        assert len(pairs) == len(part)
        images.append(set(documents.tolist()) | set(part.qid.tolist()))
    assert len(set.union(*images)) == sum(len(each) for each in images)


def test_digits_grades(digits: RankingSplit) -> None:
    source = load_digits()
    means = np.array([source.data[source.target == digit].mean(axis=0) for digit in range(10)])
    nearest = [
        sorted(set(range(10)) - {a}, key=lambda b: np.linalg.norm(means[a] - means[b]))[:2]
        for a in range(10)
    ]
    part = digits.test
    assert part.docid is not None
    pairs = zip(source.target[part.qid], source.target[part.docid.astype(np.int64)], strict=True)
    assert part.y.tolist() == [2 if a == b else int(b in nearest[a]) for a, b in pairs]


def test_digits_sizes_and_errors() -> None:
    small = load_digits_ranking((5, 1, 2), 7, random_state=3)
    assert [(part.n_queries, len(part)) for part in small] == [(5, 35), (1, 7), (2, 14)]
    wrong: list[tuple[Sequence[int], int, str]] = [
        ((10, 10), 5, "expected three numbers from 1"),
        ((10, 0, 10), 5, "n_queries is 0; expected a whole number >= 1"),
        ((10, 10, 10), 0, "n_docs is 0"),
        ((1000, 500, 500), 5, "leave .* of the 1797 images"),
        ((100, 1, 100), 40, "leave .* expected at least 41"),
    ]
    for n_queries, n_docs, message in wrong:
        with pytest.raises(ValueError, match=message):
            load_digits_ranking(n_queries, n_docs)


@pytest.mark.slow
def test_digits_can_be_learned(digits: RankingSplit) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    train, test = digits.train, digits.test

    def ndcg(scores: np.ndarray) -> float:
        gains = 2.0 ** test.y.reshape(100, -1) - 1
        return float(ndcg_score(gains, scores.reshape(100, -1), k=10))

    ranker = lightgbm.LGBMRanker(
        n_estimators=100, n_jobs=1, deterministic=True, force_row_wise=True, verbose=-1
    )
    ranker.fit(train.X, train.y, group=np.full(240, 40))
    learned = ndcg(ranker.predict(test.X))
    single = max(
        ndcg(sign * test.X[:, column]) for column in range(test.n_features) for sign in (1, -1)
    )
    constant = ndcg(np.zeros(len(test)))
    assert constant < 0.35
    assert single > 0.6
    assert single + 0.05 < learned < 0.9
