"""Reader of LETOR (SVMlight) files."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from gapboost._data.arguments import one_of, whole
from gapboost._data.text import MAX_LINE_BYTES, UNDERSCORE, LongLine, OtherEncoding, checked_number, lines
from gapboost.datasets.data import RankingData, RankingSplit, checked_names

PathLike: TypeAlias = str | os.PathLike[str]

_EXPECTED = "grade qid:QUERY index:value index:value ... # docid = DOCUMENT"
_DOCID = re.compile(rb"\bdoc_?id\s*[=:]\s*(\S+)", re.IGNORECASE)
_WHOLE = re.compile(rb"[+-]?[0-9]{1,19}")
_INT64 = np.iinfo(np.int64)
MAX_INT32 = np.iinfo(np.int32).max

# Dense columns that no file asks for by itself: one wrong index would otherwise take all the memory.
MAX_DENSE_FEATURES = 1 << 20


class _RowTap:
    """Binary stream that passes lines through, and notes the query, the document and the line number of each row.

    ``load_svmlight_file(query_id=True)`` is not used for the queries: it knows whole numbers only, and takes time that
    grows with the square of the number of rows (it appends each to a NumPy array).
    """

    def __init__(self, stream: BinaryIO, max_line_bytes: int) -> None:
        self._stream = stream
        self._limit = max_line_bytes
        self.line = b""
        self.line_number = 0
        self.line_numbers = array("q")
        self.keys: dict[bytes, int] = {}  # spelling of a query -> its code
        self.codes = array("q")  # of each row; -1: no query given
        self.docids: list[str] | None = []

    def read(self, size: int = -1) -> bytes:
        return self._stream.read(size)

    def __iter__(self) -> Iterator[bytes]:
        for line in lines(self._stream, self._limit):
            self.line, self.line_number = line, self.line_number + 1
            row, hash_sign, comment = line.partition(b"#")
            words = row.split(None, 2)
            if words:
                self.line_numbers.append(self.line_number)
                named = len(words) > 1 and words[1].startswith(b"qid")
                if named and not words[1].startswith(b"qid:"):
                    # scikit-learn takes whatever begins so for a query, and drops it.
                    raise ValueError(f"the query {words[1].decode(errors='replace')!r} does not begin with 'qid:'")
                if named and hash_sign and row.endswith(words[1]):
                    raise ValueError(
                        f"the query {words[1][4:].decode(errors='replace')!r} ends at '#', where a comment begins; "
                        "expected a blank before '#', and queries without it"
                    )
                key = words[1][4:] if named else b""
                if key and key not in self.keys:
                    _name(key, "query")
                    self.keys[key] = len(self.keys)
                self.codes.append(self.keys[key] if key else -1)
                if UNDERSCORE in row:
                    _check_numbers(row)
                self._note_docid(comment)
            yield line

    def _note_docid(self, comment: bytes) -> None:
        if self.docids is None:
            return
        named = _DOCID.search(comment)
        docid = named.group(1) if named else next(iter(comment.split(None, 1)), b"")
        if docid:
            self.docids.append(_name(docid, "document"))
        else:
            self.docids = None


def _check_numbers(row: bytes) -> None:
    for word in row.split():
        if not word.startswith(b"qid:"):
            for number in word.split(b":"):
                checked_number(number)


def _name(word: bytes, kind: str) -> str:
    """A query or a document as a string; what would lose letters as one is an error."""
    try:
        name = word.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{kind} {word!r} is not UTF-8") from None
    if "\0" in name:
        raise ValueError(f"{kind} {word!r} has a NUL byte, where numpy's strings end")
    return name


@dataclass(frozen=True)
class _Part:
    """What one file holds; the columns of ``X`` are the indices as written, so column 0 of a 1-based file is empty."""

    path: Path
    X: Any
    y: npt.NDArray[np.int32] | npt.NDArray[np.float64]
    keys: list[bytes] | None  # the queries as spelled; None: group sizes were given, the queries have no names
    codes: npt.NDArray[np.int64]  # of each row: position in keys, or number of the group
    docids: list[str] | None

    @property
    def has_index_zero(self) -> bool:
        return bool((self.X.indices == 0).any())

    @property
    def n_columns(self) -> int:
        return int(self.X.indices.max()) + 1 if self.X.nnz else 0


def _open(path: Path) -> BinaryIO:
    with path.open("rb") as stream:
        compressed = stream.read(2) == b"\x1f\x8b"
    return cast(BinaryIO, gzip.open(path, "rb")) if compressed else path.open("rb")


def _read(path: Path, max_line_bytes: int) -> _Part:
    with _open(path) as stream:
        tap = _RowTap(stream, max_line_bytes)
        try:
            matrix, target = load_svmlight_file(tap, zero_based=True)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{path}: broken gzip file after line {tap.line_number}: {error}") from error
        except (LongLine, OtherEncoding) as error:
            raise ValueError(f"{path}, {error}") from None
        except (ValueError, OverflowError) as error:
            start = tap.line[:80].decode("utf-8", errors="replace").rstrip()
            raise ValueError(
                f"{path}, line {tap.line_number}: cannot be read as '{_EXPECTED}' ({error}); found {start!r}"
            ) from error
    if not tap.line_numbers:
        raise ValueError(f"{path}: holds no rows, expected rows '{_EXPECTED}'")
    wrong = np.flatnonzero(~((target >= 0) & (target <= MAX_INT32)))
    if len(wrong):
        raise ValueError(
            f"{path}, line {tap.line_numbers[wrong[0]]}: found grade {target[wrong[0]]:g}, expected a number"
            f" from 0 to {MAX_INT32}; so in {len(wrong)} of {len(target)} rows"
        )
    codes = np.frombuffer(tap.codes, dtype=np.int64)
    missing = np.flatnonzero(codes < 0)
    if len(missing) == len(codes):
        keys, codes = None, _read_groups(path, len(codes), max_line_bytes)
    elif len(missing):
        raise ValueError(
            f"{path}, line {tap.line_numbers[missing[0]]}: found no query, expected '{_EXPECTED}';"
            f" so in {len(missing)} of {len(codes)} rows"
        )
    else:
        keys = list(tap.keys)
    whole_grades = bool((target == np.floor(target)).all())
    y = target.astype(np.int32 if whole_grades else np.float64)
    return _Part(path, sparse.csr_matrix(matrix), y, keys, codes, tap.docids)


def _read_groups(path: Path, n_rows: int, max_line_bytes: int) -> npt.NDArray[np.int64]:
    """Read the group sizes beside a file without queries; return the number of the group of each row."""
    groups = path.with_name(path.name.removesuffix(".gz") + ".query")
    if not groups.is_file():
        raise ValueError(
            f"{path}: found no queries, expected 'qid:' in each row, or group sizes in {groups.name} beside it"
        )
    with groups.open("rb") as stream:
        try:
            words = [word for line in lines(stream, max_line_bytes) for word in line.split()]
        except (LongLine, OtherEncoding) as error:
            raise ValueError(f"{groups}, {error}") from None
    for word in words:
        if not _WHOLE.fullmatch(word) or int(word) < 1:
            raise ValueError(
                f"{groups}: found group size {word.decode(errors='replace')!r}, expected whole numbers from 1"
            )
    sizes = [int(word) for word in words]
    if sum(sizes) != n_rows:
        raise ValueError(
            f"{groups}: the group sizes add up to {sum(sizes)}, expected {n_rows}, the number of rows of {path.name}"
        )
    return np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)


def _layout(parts: Sequence[_Part], zero_based: bool | None, n_features: int | None, dense: bool) -> tuple[int, int]:
    """Return the index of the first column and the number of columns, the same for all the parts."""
    zero = next((part for part in parts if part.has_index_zero), None)
    if zero is not None and zero_based is False:
        raise ValueError(f"{zero.path}: found feature index 0, expected indices from 1 because of zero_based=False")
    first = 0 if zero_based or zero is not None else 1
    widest = max(parts, key=lambda part: part.n_columns)
    found = widest.n_columns - first
    if n_features is None and dense and found > MAX_DENSE_FEATURES:
        raise ValueError(
            f"{widest.path}: found feature index {widest.n_columns - 1}, expected at most {MAX_DENSE_FEATURES - 1 + first} with"
            " dense=True; give n_features to allow more, or dense=False"
        )
    if n_features is None:
        n_features = found
    elif found > n_features:
        raise ValueError(
            f"{widest.path}: found feature index {widest.n_columns - 1}, expected at most {n_features - 1 + first}:"
            f" {n_features} features, counted from {first}"
        )
    if n_features < 1:
        raise ValueError(f"{widest.path}: found no features, expected rows '{_EXPECTED}'")
    return first, n_features


def _query_ids(parts: Sequence[_Part]) -> npt.NDArray[Any]:
    if all(part.keys is None for part in parts):
        counts = [int(part.codes[-1]) + 1 for part in parts]
        offsets = np.cumsum([0, *counts[:-1]])
        return np.concatenate([part.codes + offset for part, offset in zip(parts, offsets, strict=True)])
    for part in parts:
        if part.keys is None:
            raise ValueError(
                f"{part.path}: found group sizes in place of queries, expected 'qid:' as in the other files"
            )
    spelled = [part.keys or [] for part in parts]
    every = {key for keys in spelled for key in keys}
    integral = all(_WHOLE.fullmatch(key) and _INT64.min <= int(key) <= _INT64.max for key in every)
    # "01" and "1" are different queries: as numbers they would be one.
    integral = integral and len({int(key) for key in every}) == len(every)
    names: list[npt.NDArray[Any]] = [
        np.array([int(key) for key in keys], dtype=np.int64)
        if integral
        else np.array([_name(key, "query") for key in keys], dtype=np.str_)
        for keys in spelled
    ]
    owner: dict[int | str, Path] = {}
    for part, ids in zip(parts, names, strict=True):
        for query in set(ids.tolist()):
            if query in owner:
                raise ValueError(
                    f"{part.path}: found query {query!r}, which is in {owner[query]} too; expected different queries"
                )
            owner[query] = part.path
    return np.concatenate([ids[part.codes] for part, ids in zip(parts, names, strict=True)])


def _assemble(
    parts: Sequence[_Part], first: int, n_features: int, feature_names: Sequence[str] | None, dense: bool
) -> RankingData:
    matrix = sparse.vstack(
        [
            sparse.csr_matrix((part.X.data, part.X.indices - first, part.X.indptr), shape=(len(part.y), n_features))
            for part in parts
        ],
        format="csr",
    )
    docids: list[str] | None = []
    for part in parts:
        docids = None if docids is None or part.docids is None else docids + part.docids
    return RankingData(
        X=matrix.toarray() if dense else matrix,
        y=np.concatenate([part.y for part in parts]),
        qid=_query_ids(parts),
        docid=None if docids is None else np.array(docids, dtype=np.str_),
        feature_names=None if feature_names is None else list(feature_names),
    )


def _options(n_features: int | None, feature_names: Sequence[str] | None, zero_based: bool | None) -> int | None:
    """Number of columns, where it is given, after checking what is given."""
    one_of(zero_based, "zero_based", (True, False, None))
    names = checked_names(feature_names)
    if n_features is not None:
        n_features = whole(n_features, "n_features")
    if names is None:
        return n_features
    if n_features not in (None, len(names)):
        raise ValueError(f"n_features is {n_features}, but {len(names)} feature_names are given; expected as many")
    return len(names)


def load_letor(
    path: PathLike | Sequence[PathLike],
    *,
    n_features: int | None = None,
    feature_names: Sequence[str] | None = None,
    zero_based: bool | None = None,
    dense: bool = True,
    max_line_bytes: int = MAX_LINE_BYTES,
) -> RankingData:
    r"""Read graded ranking data from one or more files in LETOR (SVMlight) format.

    A row is ``grade qid:QUERY index:value index:value ... # comment``.  Plain and gzip files are told apart by their
    content.  The rows keep their order; the rows of a query need not be neighbours.  Empty lines and lines that hold
    only a comment are skipped.

    Parameters
    ----------
    path : path or sequence of paths
        File to read, or files whose rows are put one after the other.  A query must not be in two of the files.
    n_features : int, optional
        Number of columns.  By default, the highest index in the files: give it where a file may lack the last
        features of its training data.
    feature_names : sequence of str, optional
        Names of the columns; their number stands for ``n_features``.
    zero_based : bool, optional
        Whether the indices in the files count from 0.  By default they count from 1, as in LETOR, unless an index 0
        occurs in one of the files: column 0 is then the feature with index 0.  Training and test files that count
        from 0 and are read in two calls should be read with ``zero_based=True``, as index 0 may be absent from one of
        them; :func:`load_letor_fold` decides once for all its files.
    dense : bool, default=True
        Whether ``X`` is an ndarray, with 0 where a feature is not given, or a sparse matrix.  Mind that XGBoost takes
        what is absent from a sparse matrix as missing, not as 0. A dense one has at most 1048576 columns, unless
        ``n_features`` or ``feature_names`` say more.
    max_line_bytes : int, default=67108864
        Length of the longest line that is read, in bytes after decompression.

    Returns
    -------
    RankingData
        ``X`` : ndarray or scipy.sparse.csr_matrix of shape (n_rows, n_features), dtype float64.
        ``y`` : ndarray of shape (n_rows,), dtype int32, or float64 where some grades are fractional.
        ``qid`` : ndarray of shape (n_rows,); int64 where all the queries are whole numbers, each spelled in one way,
        otherwise str. ``qid:01`` and ``qid:1`` are different queries.
        ``docid`` : ndarray of shape (n_rows,), dtype str, if each row names its document; otherwise None.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If a file holds no rows, is broken, has a row that is not in this format (feature indices must increase), a
        grade that is negative or no number, a query or a document that is not UTF-8, a line or a dense feature index beyond
        its limit, rows with and rows without a query, more features than ``n_features``, or a query that is in another
        file too; if no file is given.

    Notes
    -----
    Numbers are those that C and Python read alike: ``1_5``, 15 to Python alone, is an error.

    A document is named by ``docid = D`` in the comment (LETOR), or else by the first word of the comment (RankLib).

    A file without queries may have the layout of LightGBM: the sizes of the groups of rows in ``rank.train.query``
    beside ``rank.train`` or ``rank.train.gz``.  The queries are then numbered from 0, on through all the files.
    In a file that has queries, group sizes beside it are not read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "train.txt"
    >>> _ = path.write_text("2 qid:7 1:0.5 3:1 # docid = a\n0 qid:7 2:0.25 # docid = b\n")
    >>> data = load_letor(path)
    >>> data
    RankingData(1 queries, 2 rows, 3 features, grades {0: 1, 2: 1})
    >>> data.docid.tolist()
    ['a', 'b']
    """
    paths = [path] if isinstance(path, str | os.PathLike) else path
    if not isinstance(paths, list | tuple) or not all(isinstance(each, str | os.PathLike) for each in paths):
        raise TypeError(f"path is {path!r}; expected a path, or a list of them")
    if not paths:
        raise ValueError("path is empty; expected one or more")
    width = _options(n_features, feature_names, zero_based)
    limit = whole(max_line_bytes, "max_line_bytes")
    parts = [_read(Path(each), limit) for each in paths]
    first, width = _layout(parts, zero_based, width, dense)
    return _assemble(parts, first, width, feature_names, dense)


def load_letor_fold(
    directory: PathLike | Sequence[PathLike],
    *,
    n_features: int | None = None,
    feature_names: Sequence[str] | None = None,
    zero_based: bool | None = None,
    dense: bool = True,
    max_line_bytes: int = MAX_LINE_BYTES,
) -> RankingSplit:
    r"""Read ``train.txt``, ``vali.txt`` and ``test.txt`` of a directory, each plain or with ``.gz`` added.

    The three get the same columns: the number of features and the index of the first one are found over all of them.
    If a file is there both plain and with ``.gz``, the plain one is read.

    Parameters
    ----------
    directory : path, or sequence of three paths
        Directory of the files, such as ``Fold1`` of a LETOR collection; or the three files, of any names, in this order.
    n_features, feature_names, zero_based, dense, max_line_bytes
        As in :func:`load_letor`.

    Returns
    -------
    RankingSplit
        ``train``, ``vali`` and ``test``, each as returned by :func:`load_letor`, all with the same number of columns.

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
    files = _files(directory)
    width = _options(n_features, feature_names, zero_based)
    limit = whole(max_line_bytes, "max_line_bytes")
    parts: Mapping[str, _Part] = {name: _read(file, limit) for name, file in files.items()}
    first, width = _layout(list(parts.values()), zero_based, width, dense)
    return RankingSplit(**{name: _assemble([part], first, width, feature_names, dense) for name, part in parts.items()})


def _files(directory: PathLike | Sequence[PathLike]) -> dict[str, Path]:
    """Where the training, validation and test rows are."""
    if isinstance(directory, str | os.PathLike):
        return {name: _find(Path(directory), name) for name in RankingSplit._fields}
    listed = isinstance(directory, list | tuple) and len(directory) == 3
    if not listed or not all(isinstance(each, str | os.PathLike) for each in directory):
        raise TypeError(f"directory is {directory!r}; expected a path, or a list of three")
    return {name: Path(each) for name, each in zip(RankingSplit._fields, directory, strict=True)}


def _find(directory: Path, name: str) -> Path:
    for candidate in (directory / f"{name}.txt", directory / f"{name}.txt.gz"):
        if candidate.is_file():
            return candidate
    raise FileNotFoundError(f"{directory}: found neither {name}.txt nor {name}.txt.gz")
