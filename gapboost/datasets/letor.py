"""Readers of LETOR (SVMlight) files."""

import bz2
import gzip
import lzma
import os
import re
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from gapboost._data.arguments import as_integer, one_of
from gapboost.datasets.data import RankingData, RankingSplit, checked_names

PathLike: TypeAlias = str | os.PathLike[str]

EXPECTED = "grade qid:QUERY index:value index:value ... # docid = DOCUMENT"
NUMBER = r"[-+]?+(?:\d++\.?+\d*+|\.\d++)(?:[eE][-+]?+\d++)?+"
ROW = re.compile(
    rf"({NUMBER})(?:\s++qid:([^\s#]++)(?=\s|$))?+"
    rf"((?:\s++\d{{1,9}}+:(?:{NUMBER}|NULL|[-+]?(?i:nan|inf(?:inity)?)))*+)(?:\s*+#(.*))?",
    re.ASCII,
)
DOCID = re.compile(r"\bdoc_?id\s*[=:]\s*(\S+)", re.ASCII | re.IGNORECASE)
OPEN: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
    b"": open,
}
ENDINGS = ("", ".gz", ".bz2", ".xz")
MAX_GRADE, MAX_INDEX = np.iinfo(np.int32).max, 10**9 - 1
# Rows whose text is in memory at once.
ROWS_AT_ONCE = 50_000


def load_letor(
    path: PathLike | Sequence[PathLike],
    *,
    n_features: int | None = None,
    feature_names: Sequence[str] | None = None,
    zero_based: bool | None = None,
    dense: bool = True,
    drop_unlabelled: bool = False,
) -> RankingData:
    r"""Read ranking data in LETOR format.

    A line is ``grade qid:QUERY index:value ... # docid = DOCUMENT``.

    Parameters
    ----------
    path : path, or sequence of paths
        Plain text, or compressed by gzip, bzip2 or xz. Several files are read as one data set.
    n_features : int, optional
        Number of columns, if the files do not show it; by default up to the highest index.
    feature_names : sequence of str, optional
        Names of the columns. By default they are made of the indices in the files: ``x15`` for
        index 15.
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
    ``rank.train.query`` beside ``rank.train`` or ``rank.train.gz``. The queries are then numbered
    from 0, on through all the files.

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
    files: list[_File] = []
    for each in _paths(path, "path"):
        known = {query for one in files for query in one.queries}
        files.append(_read(Path(each), drop_unlabelled, len(known)))
    return _assembled([files], n_features, feature_names, zero_based, dense)[0]


def load_letor_fold(
    directory: PathLike | Sequence[PathLike],
    *,
    n_features: int | None = None,
    feature_names: Sequence[str] | None = None,
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
    n_features, feature_names, zero_based, dense, drop_unlabelled
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
    given = _paths(directory, "directory")
    if len(given) == 1:
        given = [_existing(Path(given[0]), name) for name in RankingSplit._fields]
    if len(given) != 3:
        raise ValueError(f"directory is {directory!r}; expected a directory, or three files")
    files = [[_read(Path(each), drop_unlabelled)] for each in given]
    return RankingSplit(*_assembled(files, n_features, feature_names, zero_based, dense))


def _paths(path: Any, name: str) -> list[PathLike]:
    paths = [path] if isinstance(path, str | os.PathLike) else path
    if not isinstance(paths, list | tuple) or not all(
        isinstance(each, str | os.PathLike) for each in paths
    ):
        raise TypeError(f"{name} is {path!r}; expected a path, or a list of them")
    if not paths:
        raise ValueError(f"{name} is empty; expected one or more paths")
    return list(paths)


def _existing(directory: Path, name: str) -> Path:
    for ending in ENDINGS:
        if (found := directory / f"{name}.txt{ending}").is_file():
            return found
    raise FileNotFoundError(f"{directory}: found no {name}.txt, plain or .gz, .bz2, .xz")


class _File(NamedTuple):
    """Rows of one file: columns of X are the indices as written, entries of lists are by row."""

    path: Path
    X: Any
    y: Any
    queries: list[str]
    docids: list[str]


def _read(path: Path, drop_unlabelled: bool, n_before: int = 0) -> _File:
    """Read a file; queries without names get numbers from `n_before` on."""
    with path.open("rb") as stream:
        start = stream.read(6)
    opened = next(way for mark, way in OPEN.items() if start.startswith(mark))
    rows: list[tuple[int, float, str, str]] = []
    blocks: list[Any] = []
    features: list[str] = []
    number, line = 0, ""
    try:
        with opened(path, "rt", encoding="utf-8-sig", errors="surrogateescape") as stream:
            for number, line in enumerate(stream, 1):
                if line.partition("#")[0].strip():
                    grade, query, docid, some = _parsed(line.strip(), drop_unlabelled)
                    if grade >= 0:
                        rows.append((number, grade, query, docid))
                        features.append(some)
                if len(features) == ROWS_AT_ONCE:
                    blocks.append(_matrix(features))
                    features.clear()
    except (ValueError, EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        raise ValueError(
            f"{path}, line {number}: found {line[:80].strip()!r} ({error}); expected '{EXPECTED}'"
        ) from error
    if not rows:
        raise ValueError(f"{path}: found no rows; expected rows '{EXPECTED}'")
    numbers, grades, queries, docids = map(list, zip(*rows, strict=True))
    matrices, twice = zip(*blocks, _matrix(features), strict=True)
    odd, what = np.concatenate(twice), "a feature twice"
    if not any(queries):
        queries = _groups(path, len(queries), n_before)
    elif not all(queries):
        odd, what = np.array(queries) == "", "no query"
    if odd.any():
        at = numbers[int(np.argmax(odd))]
        raise ValueError(f"{path}, line {at}: found {what}; expected '{EXPECTED}'")
    return _File(path, sparse.vstack(matrices, format="csr"), np.array(grades), queries, docids)


def _parsed(line: str, drop_unlabelled: bool) -> tuple[float, str, str, str]:
    """Return grade, query, document and features of a row; "" for no query or document."""
    parts = ROW.fullmatch(line)
    if parts is None:
        raise ValueError("no such row")
    grade, query, features, comment = parts.groups(default="")
    if not 0 <= float(grade) <= MAX_GRADE and not (float(grade) < 0 and drop_unlabelled):
        raise ValueError(
            f"grades are numbers from 0 to {MAX_GRADE}; drop_unlabelled=True leaves out rows with "
            "grades below 0"
        )
    # Blanks of Unicode, without a width even, would make each row a query.
    if not query.isprintable():
        raise ValueError(f"the query {query!r} holds a character that is not printable")
    named = DOCID.search(comment)
    document = named[1] if named else "".join(comment.split()[:1])
    document.encode()  # refuses bytes that are not UTF-8
    return float(grade), query, document, features


def _matrix(features: Sequence[str]) -> tuple[Any, Any]:
    """Return a sparse matrix, and True for each row that gives a feature twice."""
    sizes = np.array([row.count(":") for row in features], dtype=np.int64)
    text = " ".join(features).replace("NULL", "nan").replace(":", " ")
    numbers = np.fromstring(text, sep=" ")[: 2 * sizes.sum()]  # of a blank text numpy makes -1
    indices, offsets = numbers[::2].astype(np.int32), np.append(0, np.cumsum(sizes))
    X = sparse.csr_matrix((numbers[1::2], indices, offsets), shape=(len(sizes), MAX_INDEX + 1))
    X.sum_duplicates()
    return X, np.diff(X.indptr) < sizes


def _groups(path: Path, n_rows: int, n_before: int) -> list[str]:
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
            f"{sizes_path}: found group sizes {words[:5]} ... with the sum {sum(sizes)}; expected "
            f"integers from 1, whose sum is {n_rows}, the number of rows of {path.name}"
        )
    return [str(n_before + group) for group, size in enumerate(sizes) for _ in range(size)]


def _query_ids(files: Sequence[_File]) -> Any:
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


def _assembled(
    groups: Sequence[Sequence[_File]],
    n_features: int | None,
    feature_names: Sequence[str] | None,
    zero_based: bool | None,
    dense: bool,
) -> list[RankingData]:
    """Return one data set for each group of files, all with the same columns."""
    names = checked_names(feature_names)
    one_of(zero_based, "zero_based", (True, False, None))
    matrices = [one.X for files in groups for one in files]
    least = min(int(X.indices.min(initial=1)) for X in matrices)
    first = least if zero_based is None else int(not zero_based)
    found = max(int(X.indices.max(initial=0)) for X in matrices) + 1 - first
    given = found if names is None else len(names)
    width = given if n_features is None else as_integer(n_features, "n_features")
    if not 0 < found <= width or least < first:
        raise ValueError(
            f"{groups[0][0].path}: found {found} features from {least} on; expected at least one, "
            f"and n_features={n_features} and zero_based={zero_based} that go with them"
        )
    names = names or [f"x{first + column}" for column in range(width)]
    return [_data(files, first, width, names, dense) for files in groups]


def _data(
    files: Sequence[_File], first: int, width: int, names: list[str], dense: bool
) -> RankingData:
    parts = [
        sparse.csr_matrix((X.data, X.indices - first, X.indptr), shape=(X.shape[0], width))
        for X in (one.X for one in files)
    ]
    X = sparse.vstack(parts, format="csr")
    y = np.concatenate([one.y for one in files])
    docids = [docid for one in files for docid in one.docids]
    return RankingData(
        X=X.toarray() if dense else X,
        y=y.astype(np.int32) if (y == np.floor(y)).all() else y,
        qid=_query_ids(files),
        docid=np.array(docids, dtype=np.str_) if all(docids) else None,
        feature_names=names,
    )
