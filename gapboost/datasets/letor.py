"""Readers of LETOR (SVMlight) files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from gapboost._data.arguments import one_of, whole
from gapboost._data.text import MAX_LINE_BYTES
from gapboost.datasets.data import RankingData, RankingSplit, checked_names
from gapboost.datasets.svmlight import EXPECTED, WHOLE_NUMBER, ParsedFile, decoded, read_file

PathLike: TypeAlias = str | os.PathLike[str]

_INT64 = np.iinfo(np.int64)

# Dense columns that no file asks for by itself: one wrong index would otherwise take all the
# memory.
MAX_DENSE_FEATURES = 1 << 20


def _layout(
    parts: Sequence[ParsedFile], zero_based: bool | None, n_features: int | None, dense: bool
) -> tuple[int, int]:
    """Return the index of the first column and the number of columns, for all the parts."""
    zero = next((part for part in parts if part.has_index_zero), None)
    if zero is not None and zero_based is False:
        raise ValueError(
            f"{zero.path}: found feature index 0, expected indices from 1 because of "
            "zero_based=False"
        )
    first = 0 if zero_based or zero is not None else 1
    widest = max(parts, key=lambda part: part.n_columns)
    found = widest.n_columns - first
    if n_features is None and dense and found > MAX_DENSE_FEATURES:
        raise ValueError(
            f"{widest.path}: found feature index {widest.n_columns - 1}, expected at most "
            f"{MAX_DENSE_FEATURES - 1 + first} with dense=True; give n_features to allow more, or "
            "dense=False"
        )
    if n_features is None:
        n_features = found
    elif found > n_features:
        raise ValueError(
            f"{widest.path}: found feature index {widest.n_columns - 1}, expected at most "
            f"{n_features - 1 + first}: {n_features} features, counted from {first}"
        )
    if n_features < 1:
        raise ValueError(f"{widest.path}: found no features, expected rows '{EXPECTED}'")
    return first, n_features


def _query_ids(parts: Sequence[ParsedFile]) -> npt.NDArray[Any]:
    if all(part.keys is None for part in parts):
        counts = [int(part.codes[-1]) + 1 for part in parts]
        offsets = np.cumsum([0, *counts[:-1]])
        return np.concatenate(
            [part.codes + offset for part, offset in zip(parts, offsets, strict=True)]
        )
    for part in parts:
        if part.keys is None:
            raise ValueError(
                f"{part.path}: found group sizes instead of queries, expected 'qid:' as in the "
                "other files"
            )
    spelled = [part.keys or [] for part in parts]
    every = {key for keys in spelled for key in keys}
    integral = all(
        WHOLE_NUMBER.fullmatch(key) and _INT64.min <= int(key) <= _INT64.max for key in every
    )
    # "01" and "1" are different queries: as numbers they would be one.
    integral = integral and len({int(key) for key in every}) == len(every)
    names: list[npt.NDArray[Any]] = [
        np.array([int(key) for key in keys], dtype=np.int64)
        if integral
        else np.array([decoded(key, "query") for key in keys], dtype=np.str_)
        for keys in spelled
    ]
    owner: dict[int | str, Path] = {}
    for part, ids in zip(parts, names, strict=True):
        for query in set(ids.tolist()):
            if query in owner:
                raise ValueError(
                    f"{part.path}: found query {query!r}, which is in {owner[query]} too; expected "
                    "different queries"
                )
            owner[query] = part.path
    return np.concatenate([ids[part.codes] for part, ids in zip(parts, names, strict=True)])


def _assemble(
    parts: Sequence[ParsedFile],
    first: int,
    n_features: int,
    feature_names: Sequence[str] | None,
    dense: bool,
) -> RankingData:
    matrix = sparse.vstack(
        [
            sparse.csr_matrix(
                (part.X.data, part.X.indices - first, part.X.indptr),
                shape=(len(part.y), n_features),
            )
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


def _options(
    n_features: int | None, feature_names: Sequence[str] | None, zero_based: bool | None
) -> int | None:
    """Check the options, and return the number of columns if it is given."""
    one_of(zero_based, "zero_based", (True, False, None))
    names = checked_names(feature_names)
    if n_features is not None:
        n_features = whole(n_features, "n_features")
    if names is None:
        return n_features
    if n_features not in (None, len(names)):
        raise ValueError(
            f"n_features is {n_features}, but {len(names)} feature_names are given; expected as "
            "many"
        )
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

    A row is ``grade qid:QUERY index:value index:value ... # comment``.  Gzip files are recognized
    by their content.  The rows keep their order; the rows of a query need not be neighbors.  Empty
    lines and lines that hold only a comment are skipped.

    Parameters
    ----------
    path : path or sequence of paths
        File to read, or files whose rows are put one after the other.  A query must not be in two
        of the files.
    n_features : int, optional
        Number of columns.  By default, the highest index in the files: give it where a file may
        lack the last features of its training data.
    feature_names : sequence of str, optional
        Names of the columns; their number replaces ``n_features``.
    zero_based : bool, optional
        Whether the indices in the files count from 0.  By default they count from 1, as in LETOR,
        unless an index 0 occurs in one of the files: column 0 is then the feature with index 0.
        Training and test files that count from 0 and are read in two calls should be read with
        ``zero_based=True``, as index 0 may be absent from one of them; :func:`load_letor_fold`
        decides once for all its files.
    dense : bool, default=True
        Whether ``X`` is an ndarray, with 0 where a feature is not given, or a sparse matrix.  Mind
        that XGBoost takes what is absent from a sparse matrix as missing, not as 0. A dense one has
        at most 1048576 columns, unless ``n_features`` or ``feature_names`` say more.
    max_line_bytes : int, default=67108864
        Length of the longest line that is read, in bytes after decompression.

    Returns
    -------
    RankingData
        ``X`` : ndarray or scipy.sparse.csr_matrix of shape (n_rows, n_features), dtype float64.
        ``y`` : ndarray of shape (n_rows,), dtype int32, or float64 if some grades are fractional.
        ``qid`` : ndarray of shape (n_rows,), dtype int64 if all query ids are integers that are
        each spelled in one way, otherwise str. ``qid:01`` and ``qid:1`` are different queries.
        ``docid`` : ndarray of shape (n_rows,), dtype str, if each row names its document; otherwise
        None.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If a file holds no rows, is broken, has a row that is not in this format (feature indices
        must increase), a grade that is negative or no number, a query or a document that is not
        UTF-8, a line or a dense feature index beyond its limit, rows with and rows without a query,
        more features than ``n_features``, or a query that is in another file too; if no file is
        given.

    Notes
    -----
    Numbers are those that C and Python read alike: ``1_5``, 15 to Python alone, is an error.

    A document is named by ``docid = D`` in the comment (LETOR), or else by the first word of the
    comment (RankLib).

    A file without queries may have the layout of LightGBM: the sizes of the groups of rows in
    ``rank.train.query`` beside ``rank.train`` or ``rank.train.gz``.  The queries are then numbered
    from 0, on through all the files. In a file that has queries, group sizes beside it are not
    read.

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
    if not isinstance(paths, list | tuple) or not all(
        isinstance(each, str | os.PathLike) for each in paths
    ):
        raise TypeError(f"path is {path!r}; expected a path, or a list of them")
    if not paths:
        raise ValueError("path is empty; expected one or more")
    width = _options(n_features, feature_names, zero_based)
    limit = whole(max_line_bytes, "max_line_bytes")
    parts = [read_file(Path(each), limit) for each in paths]
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
    r"""Read ``train.txt``, ``vali.txt`` and ``test.txt`` of a directory, plain or ``.gz``.

    The three get the same columns: the number of features and the index of the first one are found
    over all of them. If a file is there both plain and with ``.gz``, the plain one is read.

    Parameters
    ----------
    directory : path, or sequence of three paths
        Directory of the files, such as ``Fold1`` of a LETOR collection; or the three files, of any
        names, in this order.
    n_features, feature_names, zero_based, dense, max_line_bytes
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
    files = _files(directory)
    width = _options(n_features, feature_names, zero_based)
    limit = whole(max_line_bytes, "max_line_bytes")
    parts: Mapping[str, ParsedFile] = {name: read_file(file, limit) for name, file in files.items()}
    first, width = _layout(list(parts.values()), zero_based, width, dense)
    return RankingSplit(
        **{
            name: _assemble([part], first, width, feature_names, dense)
            for name, part in parts.items()
        }
    )


def _files(directory: PathLike | Sequence[PathLike]) -> dict[str, Path]:
    """Return the files of the training, validation and test rows."""
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
