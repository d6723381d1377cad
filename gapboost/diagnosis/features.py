"""Columns of a table, one at a time, as numbers."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from gapboost._data.features import column_names
from gapboost._kernels import Array
from gapboost.preprocessing.tables import column_contents, number_column

# Odd constant of a multiplicative hash: 2**64 over the golden ratio.
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class Features:
    """Columns of a table.

    Attributes
    ----------
    table : table of `gapboost._data.features.features`
    names : tuple of str
    """

    table: Any
    names: tuple[str, ...]

    @property
    def numeric(self) -> list[bool]:
        """True for each column whose values have an order."""
        if not column_names(self.table):
            return [True] * len(self.names)
        return [content == "number" for content in column_contents(self.table).values()]

    def column(self, place: int) -> Array:
        """Return a column as float64 of shape (N,), NaN where a value is missing.

        Text and categories become numbers that are equal for equal values.
        """
        if sparse.issparse(self.table):
            found: Array = self.table[:, [place]].toarray().ravel().astype(np.float64)
            return found
        if isinstance(self.table, np.ndarray):
            return _numbers(self.table[:, place])
        name = column_names(self.table)[place]
        if self.numeric[place]:
            return number_column(self.table[name], str(name), np.dtype(np.float64))
        return _codes(list(self.table[name]))

    def digests(self) -> Array:
        """Return a uint64 of shape (N,), equal for equal rows."""
        digest = np.zeros(self.table.shape[0], np.uint64)
        for place in range(len(self.names)):
            values = self.column(place) + 0.0  # -0.0 becomes 0.0
            values[np.isnan(values)] = np.nan  # there are many NaN
            digest = (digest ^ values.view(np.uint64)) * MULTIPLIER
            digest ^= digest >> np.uint64(29)
        return digest


def _numbers(values: Array) -> Array:
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        return _codes(values.tolist())


def _codes(values: Sequence[Any]) -> Array:
    return np.array([zlib.crc32(str(value).encode()) for value in values], np.float64)
