"""Readers of LETOR (SVMlight) files."""

import bz2
import gzip
import io
import lzma
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from gapboost.data import Array, RankingDataset
from gapboost.datasets.split import RankingFolds, RankingSplit
from gapboost.validation import PathLike, one_of

EXPECTED = "grade qid:QUERY index:value index:value ... # docid = DOCUMENT"
DOCID = re.compile(r"\bdoc_?id\s*[=:]\s*(\S+)", re.IGNORECASE)
QUERY = re.compile(r"\bqid:(\S+)")
OPEN: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
MAX_GRADE = np.iinfo(np.int32).max
FLOAT32_MAX = float(np.finfo(np.float32).max)
# Files that LightGBM reads beside the data, and the arguments of `fit` with the same content.
LIGHTGBM_FILES = {"weight": "sample_weight", "position": "position", "init": "init_score"}


def load_letor(
    path: PathLike | Sequence[PathLike],
    *,
    n_features: int | None = None,
    zero_based: bool | None = None,
    dense: bool = True,
    drop_unlabelled: bool = False,
) -> RankingDataset:
    r"""Read ranking data in LETOR format.

    A line is ``grade qid:QUERY index:value ... # docid = DOCUMENT``.

    Parameters
    ----------
    path : path, or sequence of paths
        Plain text, or compressed if the name ends with .gz, .bz2 or .xz. Several files are read as
        one data set.
    n_features : int, optional
        Number of columns, if the files do not show it; by default up to the highest index.
    zero_based : bool, optional
        Index of the first column is 0 (True) or 1 (False); by default 0 if that index occurs.
    dense : bool, default=True
        Make ``X`` an ndarray, with 0 where a feature is not given, or a sparse matrix. XGBoost
        takes what is absent from a sparse matrix as missing, not as 0.
    drop_unlabelled : bool, default=False
        Leave out rows with grades below 0, which mark documents without a judgment. By default they
        are an error.

    Returns
    -------
    RankingDataset
        ``X`` : ndarray or scipy.sparse.csr_matrix of shape (n_rows, n_features), dtype float64;
        NaN where the file has ``NULL``, or a finite number beyond float32, by which Istella marks
        missing values.
        ``y`` : ndarray of shape (n_rows,), dtype int32, or float64 if some grades are fractional.
        ``qid`` : ndarray of shape (n_rows,), dtype int64 if all query ids are integers without
        leading zeros or plus signs, otherwise str.
        ``docid`` : ndarray of shape (n_rows,), dtype str, if each row names its document; otherwise
        None.
        ``feature_names`` : list of str, made of the indices in the files: ``x15`` for index 15.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If there is no such file.
    ValueError
        If a file holds no rows, is damaged, has a row that is not in this format or a query that is
        in another file too; the message has the number of the line.

    Notes
    -----
    A document is named by ``docid = D`` in the comment (LETOR), or else by the first word of the
    comment (RankLib).

    A file without queries may have the layout of LightGBM: the sizes of the groups of rows in
    ``rank.train.query`` beside ``rank.train`` or ``rank.train.gz``. The queries are then numbered
    from 0, over several files in their order. Weights, positions and initial scores beside it, such
    as ``rank.train.weight``, are an error: LightGBM would train with them.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "train.txt"
    >>> _ = path.write_text("2 qid:7 1:0.5 3:NULL # docid = a\n0 qid:7 2:0.25 # docid = b\n")
    >>> data = load_letor(path)
    >>> data
    RankingDataset(1 queries, 2 rows, 3 features, grades {0: 1, 2: 1})
    >>> data.docid.tolist(), data.feature_names
    (['a', 'b'], ['x1', 'x2', 'x3'])
    """
    paths: Any = path if isinstance(path, list | tuple) else [path]
    if not paths:
        raise ValueError("path is empty; expected at least one file")
    for each in paths:
        if Path(each).is_dir():
            raise IsADirectoryError(f"{each}: expected a file; load_letor_fold reads a directory")
    files = [_LetorFile(Path(each), drop_unlabelled) for each in paths]
    return _data_sets([files], n_features, zero_based, dense)[0]


def load_letor_fold(
    directory: PathLike | Sequence[PathLike],
    *,
    n_features: int | None = None,
    zero_based: bool | None = None,
    dense: bool = True,
    drop_unlabelled: bool = False,
) -> RankingSplit:
    r"""Read ``train.txt``, ``vali.txt`` and ``test.txt`` of a directory, plain or compressed.

    The three get the same columns: the number of features and the index of the first one are found
    over all of them.

    Parameters
    ----------
    directory : path, or sequence of three paths
        Directory of the files, such as ``Fold1`` of a LETOR collection; their names may end in
        .gz, .bz2 or .xz. Or the three files, of any names, in this order.
    n_features, zero_based, dense, drop_unlabelled
        As in :func:`load_letor`.

    Returns
    -------
    RankingSplit
        ``train``, ``vali`` and ``test``, each as returned by :func:`load_letor`, all with the same
        number of columns.

    Raises
    ------
    FileNotFoundError
        If one of the three files is missing.
    ValueError
        As in :func:`load_letor`; the same query in two of the files is not an error.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from gapboost.datasets import load_letor_fold
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("train", "vali", "test"):
    ...         _ = Path(folder, f"{name}.txt").write_text("2 qid:1 1:0.5 2:1\n0 qid:1 1:0.1\n")
    ...     load_letor_fold(folder).train
    ...
    RankingDataset(1 queries, 2 rows, 2 features, grades {0: 1, 2: 1})
    """
    paths: Any = directory
    if not isinstance(directory, list | tuple):
        paths = [_existing(Path(paths), name) for name in RankingSplit._fields]
    train, vali, test = ([_LetorFile(Path(each), drop_unlabelled)] for each in paths)
    files = [train, vali, test]
    return RankingSplit(*_data_sets(files, n_features, zero_based, dense))


def _existing(directory: Path, name: str) -> Path:
    for ending in ("", *OPEN):
        if (found := directory / f"{name}.txt{ending}").is_file():
            return found
    raise FileNotFoundError(f"{directory}: found no {name}.txt, plain or .gz, .bz2, .xz")


class _LetorFile(io.RawIOBase):
    """A file as scikit-learn's reader takes it: rows of a grade and values by ascending index.

    Queries and documents, which that reader does not take as text, are kept row by row. The first
    column of `X` is index 0. `n_groups` counts the queries of a file in the layout of LightGBM.
    """

    def __init__(self, path: Path, drop_unlabelled: bool) -> None:
        self.path, self.drop_unlabelled = path, drop_unlabelled
        self.queries: list[str] = []
        self.docids: list[str] = []
        self.kept: list[bool] = []
        self.n_groups = 0
        self.number = 0
        with OPEN.get(path.suffix, open)(path, "rt", encoding="utf-8-sig") as self.lines:
            try:
                self.X, self.y = load_svmlight_file(self, zero_based=True)
            except Exception as error:
                raise ValueError(
                    f"{path}, line {self.number}: {error}; expected '{EXPECTED}'"
                ) from error
        self.X.data[np.isfinite(self.X.data) & (np.abs(self.X.data) > FLOAT32_MAX)] = np.nan
        if not self.X.nnz:
            raise ValueError(f"{path}: found no rows with features; expected '{EXPECTED}'")
        if not any(self.queries):
            self.queries = self._group_numbers()

    def __iter__(self) -> Iterator[bytes]:
        for line in self.lines:
            self.number += 1
            row, _, comment = line.partition("#")
            grade, *fields = row.split() or [""]
            if not grade:
                continue
            query = fields.pop(0)[4:] if fields and fields[0].startswith("qid:") else ""
            if self.queries and bool(query) != bool(self.queries[0]):
                raise ValueError("found a query in some rows only")
            self.kept.append(not self.drop_unlabelled or not float(grade) < 0)
            if not self.kept[-1]:
                continue
            if not 0 <= float(grade) <= MAX_GRADE:
                raise ValueError(
                    f"found the grade {grade}; expected 0 to {MAX_GRADE}, or drop_unlabelled=True, "
                    "which leaves out rows with grades below 0"
                )
            fields.sort(key=lambda field: int(field.partition(":")[0]))
            named = DOCID.search(comment)
            self.queries.append(query)
            self.docids.append(named[1] if named else "".join(comment.split()[:1]))
            yield " ".join([grade, *fields]).replace("NULL", "nan").encode()

    def _group_numbers(self) -> list[str]:
        """Return the number of each row's group, from the file of group sizes beside it."""
        name = re.sub(r"\.(gz|bz2|xz)$", "", self.path.name)
        for ending, argument in LIGHTGBM_FILES.items():
            beside = self.path.with_name(f"{name}.{ending}")
            if beside.exists():
                raise ValueError(
                    f"{self.path}: found {beside.name}, which LightGBM reads; expected no such "
                    f"file: move it, and pass its numbers to fit as {argument}"
                )
        path = self.path.with_name(f"{name}.query")
        if not path.is_file():
            raise ValueError(
                f"{self.path}: found no queries; expected 'qid:' in each row, or group sizes in "
                f"{path.name} beside it"
            )
        n_rows = len(self.kept)
        try:
            sizes = np.loadtxt(path, dtype=np.int64, ndmin=1, encoding="utf-8-sig")
        except ValueError as error:
            raise ValueError(f"{path}: {error}; expected the sizes of the queries") from None
        if len(sizes) == n_rows > 1:
            raise ValueError(
                f"{path}: found {n_rows} numbers for {n_rows} rows; expected the sizes of queries "
                "of several rows, not a query id for each row"
            )
        if sizes.sum() != n_rows:
            raise ValueError(
                f"{path}: found group sizes whose sum is {sizes.sum()}; expected {n_rows}, "
                f"the number of rows of {self.path.name}"
            )
        self.n_groups = len(sizes)
        return [str(group) for group in np.repeat(np.arange(len(sizes)), sizes)[self.kept]]


def _data_sets(
    groups: list[list[_LetorFile]], n_features: int | None, zero_based: bool | None, dense: bool
) -> list[RankingDataset]:
    """Return one data set for each group of files, all with the same columns."""
    one_of(zero_based, "zero_based", (True, False, None))
    tables = [one.X for files in groups for one in files]
    first = 0 if zero_based or min(X.indices.min() for X in tables) == 0 else 1
    if zero_based is False and first == 0:
        raise ValueError("zero_based is False, but path holds index 0; expected indices from 1")
    found = max(X.shape[1] for X in tables) - first
    width = found if n_features is None else n_features
    if width < found:
        raise ValueError(f"n_features is {width}, but path has {found}; expected no fewer")
    names = [f"x{first + column}" for column in range(width)]
    data = []
    for files in groups:
        parts = [(one.X.data, one.X.indices - first, one.X.indptr) for one in files]
        tables = [sparse.csr_matrix(part, (len(part[2]) - 1, width)) for part in parts]
        X = sparse.vstack(tables, format="csr")
        y = np.concatenate([one.y for one in files])
        y = y.astype(np.int32) if (y == np.floor(y)).all() else y
        docids = [docid for one in files for docid in one.docids]
        docid = np.array(docids, dtype=np.str_) if all(docids) else None
        data.append(RankingDataset(X.toarray() if dense else X, y, _query_ids(files), docid, names))
    return data


def _query_ids(files: list[_LetorFile]) -> Array:
    """Return the query of each row of several files."""
    ids: list[str] = []
    earlier: set[str] = set()
    n_groups = 0
    for one in files:
        queries = one.queries
        if one.n_groups:
            queries = [str(n_groups + int(number)) for number in queries]
            n_groups += one.n_groups
        if shared := earlier.intersection(queries):
            raise ValueError(
                f"{one.path}: found query {min(shared)!r}, which is in another file too; expected "
                "different queries"
            )
        earlier.update(queries)
        ids += queries
    names = np.array(ids, dtype=np.str_)
    with suppress(ValueError, OverflowError):
        numbers = names.astype(np.int64)
        if (numbers.astype(np.str_) == names).all():  # "01" and "1" are different queries
            return numbers
    return names


def load_letor_folds(
    directory: PathLike,
    *,
    n_features: int | None = None,
    zero_based: bool | None = None,
    dense: bool = True,
    drop_unlabelled: bool = False,
) -> RankingFolds:
    r"""Read a LETOR collection with its folds: the directories ``Fold1`` to ``Fold5``.

    Each query is in ``test.txt`` of one fold, in ``vali.txt`` of the next one, and in ``train.txt``
    of the other three. So the data are read from the files ``test.txt``. Those called ``vali.txt``
    are read to check that their queries are the ones expected.

    Parameters
    ----------
    directory : path
    n_features, zero_based, dense, drop_unlabelled
        As in :func:`load_letor`.

    Returns
    -------
    RankingFolds
        ``data`` has all queries once, and ``cv`` the rows of training and test in each fold, for
        searches. Iterate over it for training, validation and test data.

    Raises
    ------
    FileNotFoundError
        If ``test.txt`` or ``vali.txt`` of a fold is missing.
    ValueError
        As in :func:`load_letor`; if the folds are others than those of LETOR.

    Examples
    --------
    >>> import tempfile
    >>> from gapboost.datasets import load_letor_folds
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for fold in range(1, 6):
    ...         directory = Path(folder, f"Fold{fold}")
    ...         directory.mkdir()
    ...         for name, query in (("test", fold), ("vali", (fold - 2) % 5 + 1)):
    ...             text = f"2 qid:{query} 1:0.5\n0 qid:{query} 1:0.1\n"
    ...             _ = (directory / f"{name}.txt").write_text(text)
    ...     folds = load_letor_folds(folder)
    ...
    >>> folds.data, [test.tolist() for train, test in folds.cv][:2]
    (RankingDataset(5 queries, 10 rows, 1 features, grades {0: 5, 2: 5}), [[0, 1], [2, 3]])
    >>> train, vali, test = next(iter(folds))
    >>> train.qid.tolist(), vali.qid.tolist(), test.qid.tolist()
    ([2, 2, 3, 3, 4, 4], [5, 5], [1, 1])
    """
    folders = [Path(directory, f"Fold{fold}") for fold in range(1, 6)]
    files = [_LetorFile(_existing(folder, "test"), drop_unlabelled) for folder in folders]
    data = _data_sets([files], n_features, zero_based, dense)[0]
    fold = np.repeat(np.arange(5), [len(one.queries) for one in files])
    for number, folder in enumerate(folders):
        path, tested = _existing(folder, "vali"), files[number - 1]
        with OPEN.get(path.suffix, open)(path, "rt", encoding="utf-8-sig") as lines:
            queries = {query[1] for query in map(QUERY.search, lines) if query}
        if not queries >= set(tested.queries):
            raise ValueError(
                f"{path}: found other queries than in {tested.path}; expected the folds of LETOR: "
                "use load_letor_fold for each directory"
            )
    parts = []
    for number in range(5):
        test, vali = fold == number, fold == (number - 1) % 5
        train = ~(test | vali)
        parts.append((np.flatnonzero(train), np.flatnonzero(vali), np.flatnonzero(test)))
    return RankingFolds(data, parts)
