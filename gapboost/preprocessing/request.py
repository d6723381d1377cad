"""Kinds of features and columns that the caller chooses, checked."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gapboost._data.arguments import ordered, shown
from gapboost._data.features import shortened

KINDS = ("zscore", "rank")


def checked_kinds(kinds: Any) -> tuple[str, ...]:
    """Return the kinds of features as a tuple.

    Raises
    ------
    ValueError
        If they are not a list of distinct kinds.
    """
    found = list(kinds) if ordered(kinds) else []
    known = all(isinstance(kind, str) and kind in KINDS for kind in found)
    if not found or not known or len(set(found)) != len(found):
        raise ValueError(f'kinds is {shown(kinds)}; expected a list with "zscore", "rank" or both')
    return tuple(map(str, found))


def checked_columns(columns: Any) -> list[Any]:
    """Return the chosen columns: names, or positions from 0 on.

    Raises
    ------
    ValueError
        If they are not a list of distinct names or of distinct positions.
    """
    found = list(columns) if ordered(columns) else []
    names = all(isinstance(column, str) for column in found)
    positions = all(
        isinstance(column, int | np.integer) and not isinstance(column, bool) for column in found
    )
    if not found or not (names or positions) or len(set(found)) != len(found):
        raise ValueError(
            f"columns is {shown(columns)}; expected a list of distinct names or of distinct "
            "positions from 0 on, or None for all columns of numbers"
        )
    return found


def column_positions(columns: list[Any], names: Sequence[Any], n_columns: int) -> list[int]:
    """Return the positions of `columns` in a table; `names` is empty for an array.

    Raises
    ------
    ValueError
        If the table has no such column.
    """
    if isinstance(columns[0], str):
        unknown = [column for column in columns if column not in names]
        if unknown:
            there = (
                ", ".join(shortened([repr(name) for name in names]))
                or "positions: X has no column names"
            )
            raise ValueError(
                f"columns holds {unknown[0]!r}, which is no column of X; expected {there}"
            )
        return [names.index(column) for column in columns]
    beyond = [column for column in columns if not 0 <= column < n_columns]
    if beyond:
        raise ValueError(
            f"columns holds {beyond[0]}; expected positions from 0 to {n_columns - 1}, the columns "
            "of X"
        )
    return list(map(int, columns))
