"""Files of the commands: LETOR files and folders of folds, CSV and Parquet."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from gapboost._kernels import Array
from gapboost._optional import imported
from gapboost.comparison.tables import (
    categories,
    checked_features,
    checked_label_column,
    read_tables,
    table_format,
)
from gapboost.datasets import RankingData, RankingSplit, load_letor, load_letor_fold

FoldFiles = tuple[Array, ...]


@dataclass(frozen=True, eq=False)
class Input:
    """Rows, folds and columns of categories of the files.

    Attributes
    ----------
    X, y, qid : array-like
    folds : list of (train, vali, test) or (train, test) row numbers, or None
    categorical : list of str
        Names in the file. Those in X differ where a booster refuses them.
    """

    X: Any
    y: Any
    qid: Any
    folds: list[FoldFiles] | None
    categorical: Sequence[str] = ()


def add_data_options(add: Callable[..., Any], measures: Sequence[str]) -> None:
    """Add the options for columns and measures to a command, by ``add_argument`` of its parser."""
    add(
        "--label",
        default="label",
        help="column with the grades, in CSV and Parquet (default: %(default)s)",
    )
    add("--qid", default="qid", help="column with the query ids (default: %(default)s)")
    names: dict[str, Any] = {"nargs": "+", "action": "extend", "default": [], "metavar": "NAME"}
    add("--drop", **names, help="columns that are no features, with spaces or commas between")
    add("--categorical", **names, help="columns of categories, with spaces or commas between")
    add(
        "--measures",
        nargs="+",
        default=measures,
        metavar="MEASURE",
        help=f"default: {' '.join(measures)}",
    )


def read_data(
    paths: Sequence[Path],
    label: str,
    qid: str,
    drop: Sequence[str],
    categorical: Sequence[str] = (),
) -> Input:
    """Read one file, train, vali and test files, or a folder.

    Parameters
    ----------
    paths : sequence of Path
        One file; train and test, or train, vali and test files; a folder with train.txt, vali.txt
        and test.txt, or with such folders ``Fold1``, ``Fold2``, ...
    label, qid : str
        Columns of CSV and Parquet files with grades and query ids.
    drop, categorical : sequence of str
        Columns to leave out, and columns of categories: one name, or several with commas between.

    Raises
    ------
    ValueError, OSError
        If a file cannot be read, or folds do not hold the same queries.
    """
    if len(paths) > 3:
        raise ValueError(
            f"FILE is given {len(paths)} times; expected one, train and test, or train, vali and "
            "test"
        )
    if len(paths) == 1 and paths[0].is_dir() and table_format(paths[0]) is None:
        return _folder(paths[0])
    if table_format(paths[0]) is not None:
        return _tables(paths, label, qid, drop, categorical)
    for path in paths[1:]:
        if table_format(path) is not None:
            raise ValueError(
                f"FILE names {paths[0]}, read as LETOR, and {path}; expected files of one format"
            )
    if len(paths) == 3:
        return _fold_of(list(load_letor_fold(list(paths))))
    if len(paths) == 2:
        width = load_letor(paths, dense=False).n_features
        return _fold_of([load_letor(path, n_features=width) for path in paths])
    data = load_letor(paths[0])
    return Input(data.X, data.y, data.qid, None)


def _fold_of(parts: Sequence[RankingData]) -> Input:
    """Concatenate train, vali and test rows to one fold."""
    X, y, qid = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("X", "y", "qid")
    )
    return Input(X, y, qid, [_consecutive(parts)])


def _consecutive(parts: Sequence[Any]) -> FoldFiles:
    """Return the row numbers of each part in their concatenation."""
    ends = np.cumsum([0, *map(len, parts)])
    return tuple(np.arange(begin, end) for begin, end in pairwise(ends))


def _folder(folder: Path) -> Input:
    inside = sorted(
        path for path in folder.iterdir() if path.is_dir() and path.name.lower().startswith("fold")
    )
    first = load_letor_fold(inside[0] if inside else folder)
    data = _fold_of(list(first))
    folds = [
        _rows(data, first, folder),
        *(_rows(data, load_letor_fold(path), path) for path in inside[1:]),
    ]
    return Input(data.X, data.y, data.qid, folds)


def _rows(data: Input, split: RankingSplit, folder: Path) -> FoldFiles:
    """Return the rows of a fold's parts in the first fold, which must hold the same queries."""
    ids, sizes = np.unique(np.concatenate([part.qid for part in split]), return_counts=True)
    there, expected = np.unique(data.qid, return_counts=True)
    if not (np.array_equal(ids, there) and np.array_equal(sizes, expected)):
        raise ValueError(
            f"{folder} holds other queries than the first fold; expected the same ones, as in LETOR"
        )
    return tuple(np.flatnonzero(np.isin(data.qid, part.qid)) for part in split)


def _tables(
    paths: Sequence[Path], label: str, qid: str, drop: Sequence[str], categorical: Sequence[str]
) -> Input:
    frames, named = read_tables(paths, label, qid, drop, categorical)
    whole = imported("pandas", "analysis", "to read CSV and Parquet").concat(
        frames, ignore_index=True
    )
    features = whole.drop(columns=[label, qid])
    named += [name for name in categories(features) if name not in named]
    X = checked_features(features, named, paths[0])
    folds = [_consecutive(frames)] if len(paths) > 1 else None
    return Input(X, checked_label_column(whole[label], paths[0]), whole[qid], folds, named)
