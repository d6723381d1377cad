"""Checks of numbers and choices that callers give.

Every message begins with the argument and what was found, and ends with what is expected. Data by
rows is checked in `gapboost._data.queries`.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

MOST = 1e100


def whole(
    value: Any, name: str, least: int = 1, meaning: str = "a whole number", otherwise: str = ""
) -> int:
    """Return a whole number from `least` on; `meaning` and `otherwise` are for the message.

    Raises
    ------
    ValueError
        If it is anything else, such as a boolean or a float with a whole value.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} is {value!r}; expected {meaning} >= {least}{otherwise}")
    return int(value)


def ordered(values: Any) -> bool:
    """Return True for iterables with an order; False for text, mappings, sets and scalars."""
    return bool(np.iterable(values)) and not isinstance(
        values, str | bytes | bytearray | Mapping | set | frozenset
    )


def as_floats(values: Iterable[Any]) -> tuple[float, ...]:
    """Each value as a float.

    Raises
    ------
    TypeError, ValueError
        If they have no order, or one is not a number. An array of one element is not a number
        either, although older versions of numpy convert it.
    """
    if not ordered(values):
        raise TypeError("values in no order")
    given = list(values)
    if any(np.ndim(value) for value in given):
        raise TypeError("an array is no number")
    try:
        return tuple(float(value) for value in given)
    except OverflowError:
        raise ValueError("a whole number beyond all floats") from None


def positive(value: Any, name: str) -> float:
    """Return a finite number above 0, whose square and inverse square are finite too.

    Raises
    ------
    ValueError
        If it is anything else.
    """
    if not _is_real(value) or not 1 / MOST <= _plain(value) <= MOST:
        raise ValueError(
            f"{name} is {value!r}; expected a finite number > 0, from {1 / MOST:g} to {MOST:g}"
        )
    return float(value)


def not_negative(value: Any, name: str) -> float:
    """Return a finite number from 0 on.

    Raises
    ------
    ValueError
        If it is anything else.
    """
    if not _is_real(value) or not 0 <= _plain(value) <= MOST:
        raise ValueError(f"{name} is {value!r}; expected a finite number >= 0")
    return float(value)


def probability(value: Any, name: str) -> float:
    """Return a number above 0 and below 1.

    Raises
    ------
    ValueError
        If it is anything else.
    """
    if not _is_real(value) or not 0 < value < 1:
        raise ValueError(f"{name} is {value!r}; expected a number between 0 and 1")
    return float(value)


def _is_real(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float | np.integer | np.floating)


def _plain(value: Any) -> Any:
    """Return numpy's scalars as numbers of Python.

    In a comparison numpy would cast a bound to the type of its scalar; float32 cannot hold 1e100.
    """
    return value.item() if isinstance(value, np.generic) else value


def one_of(value: Any, name: str, choices: tuple[Any, ...]) -> Any:
    """Return `value`, which must be one of `choices`.

    Raises
    ------
    ValueError
        If it is none of them.
    """
    # Comparing an array gives an array, which has no truth value.
    if (
        not (value is None or isinstance(value, str | int | float | np.generic))
        or value not in choices
    ):
        *first, last = [
            f'"{choice}"' if isinstance(choice, str) else repr(choice) for choice in choices
        ]
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
        raise TypeError(f"{name} is {shown(value)}; expected {expected}")
    return value


def shown(value: Any) -> str:
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
    if not isinstance(value, bool):
        try:
            source: np.random.RandomState = check_random_state(value)
            return source
        except ValueError:
            pass
    raise ValueError(
        f"{name} is {value!r}; expected a whole number >= 0, a Generator, a RandomState or None"
    )


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
    return (
        int(random_state)
        if isinstance(random_state, int | np.integer)
        else int(drawn.randint(2**31 - 1))
    )


def as_cutoff(k: Any, name: str = "k") -> int | None:
    """Return a cut-off as int, or None for the whole list.

    Raises
    ------
    ValueError
        If `k` is not a whole number >= 1.
    """
    return (
        None
        if k is None
        else whole(k, name, 1, "a whole number of ranks", ", or None for the whole list")
    )


def as_flag(value: Any, name: str) -> bool:
    """Return True or False as a plain bool; raise ValueError for any other value."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} is {value!r}; expected True or False")
    return bool(value)


def as_relevant(rel: Any) -> float:
    """Return the lowest relevant grade, as an int if it is whole."""
    number = isinstance(rel, int | float | np.integer | np.floating) and not isinstance(rel, bool)
    if not number or not 0 < rel < math.inf:
        raise ValueError(f"rel is {rel!r}; expected the lowest relevant grade, a number > 0")
    return int(rel) if rel == int(rel) else float(rel)
