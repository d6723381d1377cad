"""CSV and Parquet files of the command."""

import bz2
import csv
import gzip
import lzma
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from gapboost._optional import imported

CSV, PARQUET = "CSV", "Parquet"
OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def table_format(path: Path) -> str | None:
    """Return ``"CSV"`` or ``"Parquet"`` by the ending of a file name, None for any other file."""
    endings = [ending.lower() for ending in path.suffixes]
    if endings and endings[-1] in OPENERS:
        endings.pop()
    return {".csv": CSV, ".parquet": PARQUET}.get(endings[-1] if endings else "")


def read_tables(
    paths: Sequence[Path], label: str, qid: str, drop: Sequence[str], categorical: Sequence[str]
) -> list[Any]:
    """Return one pandas.DataFrame for each file, all with the same columns.

    Parameters
    ----------
    paths : sequence of Path
    label, qid : str
        Columns of grades and of query ids. The ids of CSV files are text, as they are written.
    drop, categorical : sequence of str
        Columns that are left out, and columns of categories.

    Raises
    ------
    ValueError, OSError
        If a file cannot be read, or if files differ in format, in columns or in the type of their
        ids.
    """
    first, kind = paths[0], table_format(paths[0])
    for path in paths[1:]:
        if table_format(path) != kind:
            raise ValueError(f"FILE names {first}, which is {kind}, and {path}, which is not; expected one format")
    options = (("--label", [label]), ("--qid", [qid]), ("--drop", drop), ("--categorical", categorical))
    frames = []
    for path in paths:
        frame = _read_csv(path, qid, categorical) if kind == CSV else _read_parquet(path)
        if not len(frame):
            raise ValueError(f"{path} holds no rows; expected a row for each document")
        for option, names in options:
            for name in names:
                if name not in frame:
                    listed = ", ".join(map(str, frame.columns))
                    raise ValueError(f"{option} is {name!r}; expected a column of {path}: {listed}")
        frames.append(frame.drop(columns=list(drop)))
    for path, frame in zip(paths, frames, strict=True):
        _check_like_first(path, frame, first, frames[0], qid)
    return frames


def checked_features(features: Any, categorical: Sequence[str], path: Path) -> Any:
    """Return features whose `categorical` columns have pandas' type "category", of text.

    An empty cell is a category too, as CatBoost refuses missing categories.

    Raises
    ------
    ValueError
        Naming all columns that hold neither numbers nor categories.
    """
    texts = {name: features[name].astype(object).where(features[name].notna(), "").astype(str) for name in categorical}
    features = features.assign(**texts).astype(dict.fromkeys(categorical, "category"))
    known = categories(features)
    wrong = [name for name in features if features[name].dtype.kind not in "biuf" and name not in known]
    if wrong:
        found = ", ".join(f"{name!r} (type {features[name].dtype})" for name in wrong)
        raise ValueError(
            f"{path} has columns that do not hold numbers: {found}; expected numbers, or categories that are named. "
            f"--categorical {','.join(map(str, wrong))} trains on them as categories, --drop {' '.join(map(str, wrong))} "
            "leaves them out"
        )
    return features


def categories(features: Any) -> list[str]:
    """Return the names of the columns of categories; none of an array."""
    dtypes = getattr(features, "dtypes", None)
    return [] if dtypes is None else [name for name, dtype in dtypes.items() if str(dtype) == "category"]


def _check_like_first(path: Path, frame: Any, first: Path, expected: Any, qid: str) -> None:
    for names, here, there in ((frame, path, first), (expected, first, path)):
        lacking = [str(name) for name in names if name not in (expected if names is frame else frame)]
        if lacking:
            raise ValueError(
                f"{here} has columns that {there} lacks: {', '.join(lacking)}; expected the same columns in all files, "
                "or --drop for columns that all of them have"
            )
    if (frame[qid].dtype.kind in "iu") != (expected[qid].dtype.kind in "iu"):
        raise ValueError(
            f"{path} has query ids of type {frame[qid].dtype}, {first} of type {expected[qid].dtype}; expected one type"
        )


def _read_parquet(path: Path) -> Any:
    pandas = imported("pandas", "analysis", "to read Parquet")
    try:
        return pandas.read_parquet(path)
    except ImportError:
        raise ImportError(f"pyarrow is needed to read {path}: pip install pyarrow") from None
    except FileNotFoundError:
        raise
    except (ValueError, OSError) as error:
        raise ValueError(f"{path} cannot be read as Parquet: {_first_line(error)}") from error


def _read_csv(path: Path, qid: str, categorical: Sequence[str]) -> Any:
    pandas = imported("pandas", "analysis", "to read CSV")
    with _text(path) as stream, _naming(path):
        names, ids = _checked_rows(path, stream, qid)
        stream.seek(0)
        # Rows may end with commas: the first column is no index, and further cells are empty.
        frame = pandas.read_csv(
            stream,
            index_col=False,
            usecols=range(len(names)),
            dtype={**dict.fromkeys(categorical, str), qid: str},
            encoding="utf-8-sig",
        )
        # pandas takes "NA" and "null" for missing values; as ids they are text.
        return frame.assign(**{qid: ids}) if qid in frame else frame


@contextmanager
def _text(path: Path) -> Iterator[IO[str]]:
    opener = OPENERS.get(path.suffix.lower(), open)
    with opener(path, "rt", encoding="utf-8-sig", newline="") as stream:
        yield stream


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Add the path to errors that do not name it."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 ({error.reason}, byte {error.object[error.start]:#x})") from error
    except (csv.Error, EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        raise ValueError(f"{path} cannot be read as CSV: {_first_line(error)}") from error
    except ValueError as error:
        if str(path) in str(error):
            raise
        raise ValueError(f"{path} cannot be read as CSV: {_first_line(error)}") from error


def _checked_rows(path: Path, stream: IO[str], qid: str) -> tuple[list[str], list[str]]:
    """Return column names and query ids; check that each row has all cells, and an id."""
    rows = csv.reader(stream)
    names = next(rows, [])
    if not names:
        raise ValueError(f"{path} is empty; expected a header with the names of the columns")
    twice = [name for name in names if name and names.count(name) > 1]
    if twice:
        raise ValueError(f"{path} has the column {twice[0]!r} {names.count(twice[0])} times; expected distinct names")
    n, place = len(names), names.index(qid) if qid in names else None
    ids = []
    for row in rows:
        if not row:
            continue  # an empty line
        if len(row) < n or any(row[n:]):
            raise ValueError(f"{path}, line {rows.line_num}: found {len(row)} cells; expected {n}, as in the header")
        if place is not None:
            ids.append(row[place])
            if not ids[-1]:
                raise ValueError(
                    f"{path}, line {rows.line_num}: the query id in column {qid!r} is empty; expected an id"
                )
    return names, ids


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
