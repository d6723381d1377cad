"""Columns: one value a row, as arrays."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def one_dimensional(values: Any, name: str, entries: str = "one value a row, shape (n_rows,)") -> Array:
    """`values` as an array of one dimension; `entries` is for the message."""
    if np.ma.is_masked(values):
        raise ValueError(
            f"{name} holds {int(np.ma.getmaskarray(values).sum())} masked values; expected a value in every row"
        )
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} holds sequences of different lengths; expected {entries}") from None
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; expected {entries}")
    return array


def numeric_column(values: Any, name: str, expected: str, entries: str = "one value a row, shape (n_rows,)") -> Array:
    """`values` as an array of one dimension and a boolean, integer or float dtype."""
    array = one_dimensional(values, name, entries)
    if array.dtype == object:
        # astype would parse strings: they are refused here as they are with a string dtype.
        if any(isinstance(v, str | bytes) for v in array):
            raise ValueError(f"{name} holds strings; expected {expected}")
        try:
            # Nor are times of numpy numbers to anybody but astype, which would also drop an imaginary part.
            if any(isinstance(v, np.datetime64 | np.timedelta64 | np.complexfloating) for v in array):
                raise TypeError
            return array.astype(np.float64)
        except OverflowError:
            raise ValueError(f"{name} holds a whole number beyond all floats; expected {expected}") from None
        except (TypeError, ValueError):
            raise ValueError(f"{name} holds values that are not numbers; expected {expected}") from None
    if array.dtype.kind not in "biuf":
        # scikit-learn's words for what its tools pass on
        refused = " (Complex data not supported)" if array.dtype.kind == "c" else ""
        raise ValueError(f"{name} has dtype {array.dtype}{refused}; expected {expected}")
    return array


def check_told_apart(given: Array, scores: Array, name: str) -> None:
    """Refuse numbers that differ where `scores`, the floats made of them, are equal: nobody said that they are tied."""
    order = np.argsort(scores, kind="stable")
    merged = (scores[order[1:]] == scores[order[:-1]]) & (given[order[1:]] != given[order[:-1]]).astype(bool)
    if merged.any():
        first = int(np.argmax(merged))
        one, other = given[order[first : first + 2]].tolist()
        raise ValueError(
            f"{name} holds the different scores {one!s} and {other!s}, which are the same float64; expected scores that "
            "float64 tells apart, as it does whole numbers up to 2**53: subtract the least, or take the ranks of the scores"
        )
