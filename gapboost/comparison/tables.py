"""CSV and Parquet files of the command."""

import bz2
import csv
import gzip
import lzma
import re
import shlex
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from gapboost._optional import imported

CSV, PARQUET = "CSV", "Parquet"
UNNAMED = "Unnamed: "  # pandas' name for a column without one, before its number
REFUSED = re.compile(r"[\s\",:\[\]{}<]")  # by LightGBM or XGBoost, in names of features
OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def table_format(path: Path) -> str | None:
    """Return ``"CSV"`` or ``"Parquet"`` by the ending of a file name, None for any other file."""
    endings = [ending.lower() for ending in path.suffixes]
    if endings and endings[-1] in OPENERS:
        endings.pop()
    return {".csv": CSV, ".parquet": PARQUET}.get(endings[-1] if endings else "")


def read_tables(
    paths: Sequence[Path], label: str, qid: str, drop: Sequence[str], categorical: Sequence[str]
) -> tuple[list[Any], list[str]]:
    """Return one pandas.DataFrame for each file, all with the same columns, and the categories.

    Parameters
    ----------
    paths : sequence of Path
    label, qid : str
        Columns of grades and of query ids. The ids of CSV files are text, as they are written.
    drop, categorical : sequence of str
        Columns to leave out, and columns of categories: one name, or several with commas between.

    Returns
    -------
    frames : list of pandas.DataFrame
    categorical : list of str
        Names of the columns of categories.

    Raises
    ------
    ValueError, OSError
        If a file cannot be read, or if files differ in format, columns or the type of their ids.
    """
    first, kind = paths[0], table_format(paths[0])
    for path in paths[1:]:
        if table_format(path) != kind:
            raise ValueError(
                f"FILE names {first}, which is {kind}, and {path}, which is not; expected one "
                "format"
            )
    frames, options = [], {}
    for path in paths:
        frame = _read_csv(path, qid, categorical) if kind == CSV else _read_parquet(path)
        if not len(frame):
            raise ValueError(f"{path} holds no rows; expected a row for each document")
        options = {
            "--label": [label],
            "--qid": [qid],
            "--drop": _names(drop, frame),
            "--categorical": _names(categorical, frame),
        }
        _check_options(options, path, frame)
        frame = frame.drop(columns=options["--drop"])
        _check_named(path, frame)
        frames.append(frame)
    for path, frame in zip(paths, frames, strict=True):
        _check_like_first(path, frame, first, frames[0], qid)
    return frames, options["--categorical"]


def _names(arguments: Sequence[str], columns: Any) -> list[str]:
    """Return the names in arguments that are a column, or names with commas between."""
    names: dict[str, None] = {}
    for argument in arguments:
        parts = [argument] if argument in columns else argument.split(",")
        several = (part if part in columns else part.strip() for part in parts)
        names.update(dict.fromkeys(name for name in several if name))
    return list(names)


def _check_options(options: Mapping[str, Sequence[str]], path: Path, frame: Any) -> None:
    """Check that options name columns of the file, and each column is named by one of them."""
    named: dict[str, str] = {}
    for option, names in options.items():
        for name in names:
            if name not in frame:
                listed = ", ".join(frame.columns)
                raise ValueError(f"{option} is {name!r}; expected a column of {path}: {listed}")
            if name in named:
                raise ValueError(
                    f"{name!r} is named by {named[name]} and by {option}; expected one of them"
                )
            named[name] = option


def _check_named(path: Path, frame: Any) -> None:
    """Refuse columns of a CSV file without a name, such as the index that pandas writes."""
    unnamed = [name for name in frame if re.fullmatch(rf"{UNNAMED}\d+", name)]
    if unnamed:
        numbers = " and ".join(str(int(name.removeprefix(UNNAMED)) + 1) for name in unnamed)
        raise ValueError(
            f"{path} has columns without a name, number {numbers}; expected a name for each. "
            f"pandas writes its index so. {_option('--drop', unnamed)} leaves them out"
        )


def checked_features(features: Any, categorical: Sequence[str], path: Path) -> Any:
    """Return columns of numbers and, with pandas' type "category", of text, for all boosters.

    Missing categories become the category "", as CatBoost refuses them; other missing values become
    NaN. Names that a booster refuses are changed.

    Raises
    ------
    ValueError
        Naming all columns that hold neither numbers nor categories.
    """
    texts = {
        name: features[name].astype(object).where(features[name].notna(), "").astype(str)
        for name in categorical
    }
    features = features.assign(**texts).astype(dict.fromkeys(categorical, "category"))
    others = [name for name in features if name not in texts]
    features = features.assign(**{name: _numbers(features[name]) for name in others})
    wrong = [name for name in others if features[name].dtype.kind not in "biuf"]
    if wrong:
        counted = "1 column that holds" if len(wrong) == 1 else f"{len(wrong)} columns that hold"
        described = "".join(f"\n  {name!r}: {_described(features[name])}" for name in wrong)
        raise ValueError(
            f"{path} has {counted} neither numbers nor categories; expected numbers, or categories "
            f"that are named:{described}\n"
            "Add both lines or one of them to the command, with each of the names in one line:\n"
            f"  {_option('--categorical', wrong)}\n  {_option('--drop', wrong)}"
        )
    return features.set_axis(_booster_names(features), axis=1)


def checked_label_column(column: Any, path: Path) -> Any:
    """Return the grades as an array; raise ValueError if they are text or one is missing."""
    grades = _numbers(column)
    if grades.dtype.kind not in "biuf":
        raise ValueError(
            f"{path} has text in its column of grades, {column.name!r}: {_described(column)}; "
            "expected numbers"
        )
    if missing := int(grades.isna().sum()):
        cells = "1 empty cell" if missing == 1 else f"{missing:,} empty cells"
        raise ValueError(
            f"{path} has {cells} in its column of grades, {column.name!r}; expected a grade in "
            "each row"
        )
    return grades.to_numpy()


def _numbers(column: Any) -> Any:
    """Return truth values, decimals and pandas' nullable numbers as float64 with NaN."""
    types = imported("pandas", "analysis", "to read CSV and Parquet").api.types
    nullable = types.is_extension_array_dtype(column.dtype) and column.dtype.kind in "biuf"
    objects = column.dtype == object and types.infer_dtype(column, skipna=True)
    if nullable or objects in ("boolean", "decimal", "empty"):
        return column.astype(object).where(column.notna(), np.nan).astype(np.float64)
    return column


def _described(column: Any) -> str:
    """Return the number of different values, or of cells that are no numbers, and one of them."""
    pandas = imported("pandas", "analysis", "to read CSV and Parquet")
    values = column.dropna().astype(str)
    words = values[pandas.to_numeric(values, errors="coerce").isna()]
    example = f"such as {(words if len(words) else values).iloc[0][:40]!r}"
    if 0 < len(words) < len(values):
        return f"{len(words):,} of {len(column):,} cells are no numbers, {example}"
    n = values.nunique()
    return f"{n:,} different value{'s' if n > 1 else ''}, {example}"


def _option(option: str, names: Sequence[str]) -> str:
    """Return an option for these columns as a shell takes it; names may begin with a dash."""
    plain = [name for name in names if not name.startswith("-")]
    dashed = [f"{option}={name}" for name in names if name.startswith("-")]
    return shlex.join([*([option, *plain] if plain else []), *dashed])


def _booster_names(columns: Sequence[str]) -> list[str]:
    """Return distinct names without the characters that LightGBM or XGBoost refuses."""
    names: list[str] = []
    kept = {name for name in columns if not REFUSED.search(name)}
    for name in columns:
        safe = REFUSED.sub("_", name)
        while name not in kept and safe in {*kept, *names}:
            safe += "_"
        names.append(safe)
    return names


def categories(features: Any) -> list[str]:
    """Return the names of the columns of categories; none of an array."""
    dtypes = getattr(features, "dtypes", {})
    return [name for name, dtype in dtypes.items() if str(dtype) == "category"]


def _check_like_first(path: Path, frame: Any, first: Path, expected: Any, qid: str) -> None:
    pairs = (frame, path, expected, first), (expected, first, frame, path)
    for names, here, others, there in pairs:
        lacking = [str(name) for name in names if name not in others]
        if lacking:
            raise ValueError(
                f"{here} has columns that {there} lacks: {', '.join(lacking)}; expected the same "
                "columns in all files, or --drop for columns that all of them have"
            )
    if (frame[qid].dtype.kind in "iu") != (expected[qid].dtype.kind in "iu"):
        raise ValueError(
            f"{path} has query ids of type {frame[qid].dtype}, {first} of type "
            f"{expected[qid].dtype}; expected one type"
        )


def _read_parquet(path: Path) -> Any:
    pandas = imported("pandas", "analysis", "to read Parquet")
    try:
        frame = pandas.read_parquet(path).rename(columns=str)
        written = [name for name in _written_as_categories(path) if name in frame]
        return frame.astype(dict.fromkeys(written, "category"))
    except ImportError:
        raise ImportError(f"pyarrow is needed to read {path}: pip install pyarrow") from None
    except FileNotFoundError:
        raise
    except (ValueError, OSError) as error:
        raise ValueError(f"{path} cannot be read as Parquet: {_first_line(error)}") from error


def _written_as_categories(path: Path) -> list[str]:
    """Return columns that were categories in pandas, which restores only those of text."""
    try:
        from pyarrow.parquet import ParquetDataset
    except ImportError:
        return []
    columns = (ParquetDataset(path).schema.pandas_metadata or {"columns": []})["columns"]
    return [str(column["name"]) for column in columns if column["pandas_type"] == "categorical"]


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
            dtype={**dict.fromkeys(_names(categorical, names), str), qid: str},
            encoding="utf-8-sig",
            low_memory=False,  # otherwise pandas guesses the type of each piece of a file
        )
        # pandas takes "NA" and "null" for missing values; as ids they are text.
        return frame.assign(**{qid: ids}) if qid in frame else frame


def _text(path: Path) -> IO[str]:
    opener = OPENERS.get(path.suffix.lower(), open)
    stream: IO[str] = opener(path, "rt", encoding="utf-8-sig", newline="")
    return stream


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Add the path to errors that do not name it."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is not UTF-8 ({error.reason}, byte {error.object[error.start]:#x})"
        ) from error
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
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice:
        raise ValueError(
            f"{path} has the column {twice!r} {names.count(twice)} times; expected distinct names"
        )
    n, place = len(names), names.index(qid) if qid in names else None
    ids = []
    for row in rows:
        if not row:
            continue  # an empty line
        if len(row) < n or any(row[n:]):
            raise ValueError(
                f"{path}, line {rows.line_num}: found {len(row)} cells; expected {n}, as in the "
                "header"
            )
        if place is not None:
            ids.append(row[place])
            if not ids[-1]:
                raise ValueError(
                    f"{path}, line {rows.line_num}: the query id in column {qid!r} is empty; "
                    "expected an id"
                )
    return names, ids


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
