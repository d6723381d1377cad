"""Checks of numbers and choices that callers give.

Every message begins with the argument and what was found, and ends with what is expected. Data by
rows is checked in `gapboost._data.query_data`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

# The largest probability below 1.
BELOW_ONE = 1 - 2.0**-53


def as_integer(value: Any, name: str, low: int = 1, meaning: str = "a whole number") -> int:
    """Return an integer from `low` on; `meaning` is for the message.

    Raises
    ------
    ValueError
        If it is anything else, such as a boolean or a float.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise ValueError(f"{name} is {value!r}; expected {meaning} >= {low}")
    return int(value)


def as_number(value: Any, name: str, low: float = 1e-100, high: float = 1e100) -> float:
    """Return a number from `low` to `high` as float.

    By default it is finite and positive, and so are its square and its inverse.

    Raises
    ------
    ValueError
        If it is anything else, such as a boolean.
    """
    number = value.item() if isinstance(value, np.number) else value
    is_number = isinstance(number, int | float) and not isinstance(number, bool)
    if not is_number or not low <= number <= high:
        raise ValueError(f"{name} is {value!r}; expected a number from {low} to {high}")
    return float(number)


def as_relevant(rel: Any, name: str = "rel") -> float:
    """Return the lowest relevant grade, as an int if it is an integer."""
    number = as_number(rel, name, 1e-300, 1e300)
    return int(number) if number.is_integer() else number


def as_flag(value: Any, name: str) -> bool:
    """Return True or False as a plain bool; raise ValueError for any other value."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} is {value!r}; expected True or False")
    return bool(value)


def one_of(value: Any, name: str, choices: tuple[Any, ...]) -> Any:
    """Return `value`; raise ValueError if it is not one of `choices`."""
    # Comparing an array gives an array, which has no truth value.
    plain = value is None or isinstance(value, str | int | float | np.generic)
    if not plain or value not in choices:
        *first, last = (f'"{c}"' if isinstance(c, str) else repr(c) for c in choices)
        raise ValueError(f"{name} is {value!r}; expected {', '.join(first)} or {last}")
    return value


def mapping(value: Any, name: str, expected: str) -> Mapping[Any, Any]:
    """Return `value`, which must be a mapping like `expected`: ``{topic: {document: grade}}``.

    Raises
    ------
    TypeError
        If it, or a value inside a nested one, is no mapping.
    """
    nested = expected.count("{") > 1
    if not isinstance(value, Mapping) or (
        nested and not all(isinstance(v, Mapping) for v in value.values())
    ):
        raise TypeError(f"{name} is {short_repr(value)}; expected {expected}")
    return value


def ordered(values: Any) -> bool:
    """Return True for iterables with an order; False for text, mappings, sets and scalars."""
    return bool(np.iterable(values)) and not isinstance(
        values, str | bytes | bytearray | Mapping | set | frozenset
    )


def short_repr(value: Any) -> str:
    """Return a value as text for a message; of a long text the beginning."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 100 else f"{text[:100]} ..."


def random_numbers(value: Any, name: str = "random_state") -> np.random.RandomState:
    """Return a RandomState for an int, a Generator, a RandomState or None.

    Raises
    ------
    ValueError
        If it is anything else.
    """
    if isinstance(value, np.random.Generator):
        return np.random.RandomState(int(value.integers(2**31 - 1)))
    try:
        source: np.random.RandomState = check_random_state(value)
    except ValueError as error:
        raise ValueError(
            f"{name} is {value!r} ({error}); expected a whole number >= 0, a Generator, a "
            "RandomState or None"
        ) from None
    return source


def seed(random_state: Any) -> int | None:
    """Return a seed for any `random_state`: an int or None stays, a generator draws one.

    Raises
    ------
    ValueError
        If it is anything else.
    """
    if random_state is None:
        return None
    drawn = random_numbers(random_state)
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(drawn.randint(2**31 - 1))
