"""Readers of LETOR (SVMlight) files."""

import bz2
import gzip
import io
import lzma
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from gapboost._data.arguments import as_integer, one_of
from gapboost.datasets.data import RankingData, RankingSplit

PathLike: TypeAlias = str | os.PathLike[str]

EXPECTED = "grade qid:QUERY index:value index:value ... # docid = DOCUMENT"
DOCID = re.compile(r"\bdoc_?id\s*[=:]\s*(\S+)", re.ASCII | re.IGNORECASE)
OPEN: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
MAX_GRADE = np.iinfo(np.int32).max
MAX_INDEX = 999_999_999


def load_letor(
    path: PathLike | Sequence[PathLike],
    *,
    n_features: int | None = None,
    zero_based: bool | None = None,
    dense: bool = True,
    drop_unlabelled: bool = False,
) -> RankingData:
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
    RankingData
        ``X`` : ndarray or scipy.sparse.csr_matrix of shape (n_rows, n_features), dtype float64;
        NaN where the file has ``NULL``.
        ``y`` : ndarray of shape (n_rows,), dtype int32, or float64 if some grades are fractional.
        ``qid`` : ndarray of shape (n_rows,), dtype int64 if all query ids are integers without
        leading zeros or plus signs, otherwise str.
        ``docid`` : ndarray of shape (n_rows,), dtype str, if each row names its document; otherwise
        None.
        ``feature_names`` : list of str, made of the indices in the files: ``x15`` for index 15.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If a file holds no rows, is damaged, has a row that is not in this format or a query that is
        in another file too; the message has the number of the line.

    Notes
    -----
    A document is named by ``docid = D`` in the comment (LETOR), or else by the first word of the
    comment (RankLib).

    A file without queries may have the layout of LightGBM: the sizes of the groups of rows in
    ``rank.train.query`` beside ``rank.train`` or ``rank.train.gz``. The queries of the file are
    then numbered from 0.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "train.txt"
    >>> _ = path.write_text("2 qid:7 1:0.5 3:NULL # docid = a\n0 qid:7 2:0.25 # docid = b\n")
    >>> data = load_letor(path)
    >>> data
    RankingData(1 queries, 2 rows, 3 features, grades {0: 1, 2: 1})
    >>> data.docid.tolist(), data.feature_names
    (['a', 'b'], ['x1', 'x2', 'x3'])
    """
    files = [_LetorFile(each, drop_unlabelled) for each in _paths(path, "path")]
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
    RankingData(1 queries, 2 rows, 2 features, grades {0: 1, 2: 1})
    """
    paths = _paths(directory, "directory")
    if len(paths) == 1:
        paths = [_existing(paths[0], name) for name in RankingSplit._fields]
    if len(paths) != 3:
        raise ValueError(f"directory is {directory!r}; expected a directory, or three files")
    files = [[_LetorFile(each, drop_unlabelled)] for each in paths]
    return RankingSplit(*_data_sets(files, n_features, zero_based, dense))


def _paths(path: Any, name: str) -> list[Path]:
    paths = path if isinstance(path, list | tuple) else [path]
    if not paths or not all(isinstance(each, str | os.PathLike) for each in paths):
        raise ValueError(f"{name} is {path!r}; expected a path, or a list of them")
    return [Path(each) for each in paths]


def _existing(directory: Path, name: str) -> Path:
    for ending in ("", *OPEN):
        if (found := directory / f"{name}.txt{ending}").is_file():
            return found
    raise FileNotFoundError(f"{directory}: found no {name}.txt, plain or .gz, .bz2, .xz")


class _LetorFile(io.RawIOBase):
    """A file as scikit-learn's reader takes it: rows of a grade and values by ascending index.

    Queries and documents, which that reader does not take as text, are kept row by row. The first
    column of `X` is index 0.
    """

    def __init__(self, path: Path, drop_unlabelled: bool) -> None:
        self.path = path
        self.drop_unlabelled = drop_unlabelled
        self.queries: list[str] = []
        self.docids: list[str] = []
        self.number, self.line = 0, ""
        opened = OPEN.get(path.suffix, open)
        with opened(path, "rt", encoding="utf-8-sig", errors="surrogateescape") as self.stream:
            try:
                self.X, self.y = load_svmlight_file(self, zero_based=True)
            except (ValueError, EOFError, OSError, lzma.LZMAError, zlib.error) as error:
                raise ValueError(
                    f"{path}, line {self.number}: found {self.line[:80].strip()!r} ({error}); "
                    f"expected '{EXPECTED}'"
                ) from error
        if not self.X.nnz:
            raise ValueError(f"{path}: found no rows with features; expected '{EXPECTED}'")
        if not any(self.queries):
            self.queries = _group_numbers(path, len(self.queries))

    def __iter__(self) -> Iterator[bytes]:
        for self.number, self.line in enumerate(self.stream, 1):  # noqa: B020
            text, mark, comment = self.line.partition("#")
            if text.strip():
                yield from self._row(text, mark, comment)

    def _row(self, text: str, mark: str, comment: str) -> Iterator[bytes]:
        # Other blanks than those of ASCII would hide in the name of a query.
        grade, *fields = text.encode(errors="surrogateescape").split()
        query = ""
        if fields and fields[0].startswith(b"qid:"):
            query = fields.pop(0)[4:].decode()
            joined = mark and not fields and not text[-1].isspace()
            if not query or not query.isprintable() or joined:
                raise ValueError("the query is empty, not printable, or holds #")
        if self.queries and bool(query) != bool(self.queries[0]):
            raise ValueError("a query in some rows only")
        if float(grade) < 0 and self.drop_unlabelled:
            return
        if not 0 <= float(grade) <= MAX_GRADE:
            raise ValueError(
                f"grades are numbers from 0 to {MAX_GRADE}; drop_unlabelled=True leaves out rows "
                "with grades below 0"
            )
        fields.sort(key=_index)
        if fields and _index(fields[-1]) > MAX_INDEX:
            raise ValueError(f"an index above {MAX_INDEX}")
        row = b" ".join([grade, *fields])
        if b"_" in row:
            raise ValueError("a number with an underscore, which Python would ignore")
        named = DOCID.search(comment)
        docid = named[1] if named else "".join(comment.split()[:1])
        docid.encode()  # refuses bytes that are not UTF-8
        self.queries.append(query)
        self.docids.append(docid)
        yield row.replace(b"NULL", b"nan")


def _index(field: bytes) -> int:
    return int(field.partition(b":")[0])


def _group_numbers(path: Path, n_rows: int) -> list[str]:
    """Return the number of each row's group, from the file of group sizes beside it."""
    sizes_path = path.with_name(re.sub(r"\.(gz|bz2|xz)$", "", path.name) + ".query")
    if not sizes_path.is_file():
        raise ValueError(
            f"{path}: found no queries; expected 'qid:' in each row, or group sizes in "
            f"{sizes_path.name} beside it"
        )
    words = sizes_path.read_text(encoding="utf-8-sig", errors="replace").split()
    sizes = [int(word) if word.isdecimal() else 0 for word in words]
    if min(sizes, default=0) < 1 or sum(sizes) != n_rows:
        raise ValueError(
            f"{sizes_path}: found the group sizes {words[:5]} ...; expected integers from 1 whose "
            f"sum is {n_rows}, the number of rows of {path.name}"
        )
    return [str(group) for group, size in enumerate(sizes) for _ in range(size)]


def _data_sets(
    groups: Sequence[Sequence[_LetorFile]],
    n_features: int | None,
    zero_based: bool | None,
    dense: bool,
) -> list[RankingData]:
    """Return one data set for each group of files, all with the same columns."""
    one_of(zero_based, "zero_based", (True, False, None))
    tables = [one.X for group in groups for one in group]
    first = 0 if zero_based or min(X.indices.min() for X in tables) == 0 else 1
    if zero_based is False and first == 0:
        raise ValueError("zero_based is False, but path holds index 0; expected indices from 1")
    found = max(X.shape[1] for X in tables) - first
    width = found if n_features is None else as_integer(n_features, "n_features")
    if width < found:
        raise ValueError(f"n_features is {width}, but path has {found}; expected at least these")
    return [_data_set(group, first, width, dense) for group in groups]


def _data_set(files: Sequence[_LetorFile], first: int, width: int, dense: bool) -> RankingData:
    tables = [
        sparse.csr_matrix((one.X.data, one.X.indices - first, one.X.indptr), (len(one.y), width))
        for one in files
    ]
    X = sparse.vstack(tables, format="csr")
    y = np.concatenate([one.y for one in files])
    docids = [docid for one in files for docid in one.docids]
    return RankingData(
        X=X.toarray() if dense else X,
        y=y.astype(np.int32) if (y == np.floor(y)).all() else y,
        qid=_query_ids(files),
        docid=np.array(docids, dtype=np.str_) if all(docids) else None,
        feature_names=[f"x{first + column}" for column in range(width)],
    )


def _query_ids(files: Sequence[_LetorFile]) -> Any:
    """Return the query of each row of several files."""
    owner: dict[str, Path] = {}
    for one in files:
        for query in dict.fromkeys(one.queries):
            if query in owner:
                raise ValueError(
                    f"{one.path}: found query {query!r}, which is in {owner[query]} too; expected "
                    "different queries"
                )
            owner[query] = one.path
    names = np.array([query for one in files for query in one.queries], dtype=np.str_)
    with suppress(ValueError, OverflowError):
        numbers = names.astype(np.int64)
        if (numbers.astype(np.str_) == names).all():  # "01" and "1" are different queries
            return numbers
    return names
