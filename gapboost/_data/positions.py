"""Positions at which documents were shown, one for each row, under any name."""

from dataclasses import dataclass
from typing import Any

from gapboost._data.ids import plain_value
from gapboost._data.queries import grouped_rows
from gapboost._kernels import Array


@dataclass(frozen=True, eq=False)
class Positions:
    """The positions of some rows.

    Attributes
    ----------
    ids : list
        The distinct positions, as values of Python; here in the order in which they first occur.
    codes : int64 ndarray of shape (N,)
        The number of its position among `ids` for each row.
    """

    ids: list[Any]
    codes: Array


def positions(position: Any, n_rows: int, name: str = "position", rows_of: str = "y") -> Positions:
    """Check the positions, one for each row: like query ids, any hashable values.

    Raises
    ------
    ValueError
        If there is not one position a row, one is missing or has no hash, or two are equal but
        of different types: factors are kept by position.
    """
    found = grouped_rows(position, n_rows, name, rows_of, "position")
    ids = [plain_value(i) for i in found.ids]
    if len(set(ids)) < len(ids):
        twice = next(one for i, one in enumerate(ids) if one in ids[:i])
        raise ValueError(
            f"{name} holds {ids[ids.index(twice)]!r} and {twice!r}, which are equal but of "
            "different types; expected positions of one type"
        )
    return Positions(ids, found.codes)
