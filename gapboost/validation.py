"""Checks of what callers give: numbers, choices, columns of one value a row, frozen values.

Every message begins with the argument and what was found, and ends with what is expected. Grades,
query ids and weights are checked in `gapboost.data`.
"""

import inspect
import itertools
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, get_args

import numpy as np
from sklearn.utils import check_random_state, column_or_1d

from gapboost._kernels import Array, ArrayLike
from gapboost._kernels.threads import resolve_n_jobs as resolve_n_jobs  # public here

PathLike = str | os.PathLike[str]
# What `random_state` may be.
Seed = int | np.random.Generator | np.random.RandomState | None

# The largest probability below 1.
BELOW_ONE = 1 - 2.0**-53


def as_integer(value: object, name: str, low: int = 1, meaning: str = "a whole number") -> int:
    """Return an integer from `low` on; `meaning` is for the message.

    Raises
    ------
    ValueError
        If it is anything else, such as a boolean or a float.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise ValueError(f"{name} is {short_repr(value)}; expected {meaning} >= {low}")
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
        start = "above 0" if 0 < low < 1e-9 else f"from {low:g} on"
        end = "" if high > 1e9 else ", below 1" if 0.999 < high < 1 else f", up to {high:g}"
        raise ValueError(f"{name} is {short_repr(value)}; expected a number {start}{end}")
    return float(number)


def as_relevant(rel: float, name: str = "rel") -> float:
    """Return the lowest relevant grade, as an int if it is an integer."""
    number = as_number(rel, name, 1e-300, 1e300)
    return int(number) if number.is_integer() else number


def as_flag(value: object, name: str) -> bool:
    """Return True or False as a plain bool; raise ValueError for any other value."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} is {short_repr(value)}; expected True or False")
    return bool(value)


def one_of(value: object, name: str, choices: tuple[Any, ...]) -> Any:
    """Return `value`; raise ValueError if it is not one of `choices`."""
    # Comparing an array gives an array, which has no truth value.
    plain = value is None or isinstance(value, str | int | float | np.generic)
    if not plain or value not in choices:
        *first, last = (f'"{c}"' if isinstance(c, str) else repr(c) for c in choices)
        raise ValueError(f"{name} is {short_repr(value)}; expected {', '.join(first)} or {last}")
    return value


def check_distinct(labels: Sequence[str]) -> None:
    """Raise ValueError if two measures of one report have the same label."""
    shared = sorted({label for label in labels if labels.count(label) > 1})
    if shared:
        raise ValueError(
            f"several measures are called {shared[0]!r}; expected columns of labels whose names "
            "differ in letters or digits"
        )


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the caller that led into the package, however far down this is."""
    frame, level = inspect.currentframe(), 1
    while frame and frame.f_back and frame.f_globals.get("__name__", "").startswith("gapboost."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def mapping(value: object, name: str, expected: str) -> Mapping[Any, Any]:
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


def ordered(values: object) -> bool:
    """Return True for iterables with an order; False for text, mappings, sets and scalars."""
    # Measures of ir_measures have [], but no order.
    return (
        bool(np.iterable(values))
        and hasattr(values, "__iter__")
        and not isinstance(values, str | bytes | bytearray | Mapping | set | frozenset)
    )


def short_repr(value: Any) -> str:
    """Return a value as text for a message: of a long text the beginning, of an array its shape."""
    text = " ".join(_with_shapes(value).split())
    return text if len(text) <= 100 else f"{text[:100]} ..."


def _with_shapes(value: Any) -> str:
    """Return `repr`, with arrays and tables by their shapes, also inside of containers."""
    if getattr(value, "shape", ()):
        return f"{type(value).__name__} of shape {value.shape}"
    if type(value) in (list, tuple):
        inside = ", ".join(map(_with_shapes, value))
        return f"[{inside}]" if type(value) is list else f"({inside}{',' * (len(value) == 1)})"
    if type(value) is dict:
        return f"{{{', '.join(f'{key!r}: {_with_shapes(each)}' for key, each in value.items())}}}"
    return repr(value)


def label_of_value(value: object) -> str:
    """Write a value for a label, with ``_`` in place of other characters."""
    return re.sub(r"[^a-zA-Z0-9.-]+", "_", str(value)).strip("_")


def without_values(error: Exception) -> str:
    """Return what an error of scikit-learn says, without the values that it prints below."""
    first, *others = str(error).splitlines() or [""]
    advice = [line.rstrip(".") for line in others if line.startswith("Reshape your data")]
    return ". ".join([first.partition("Convert your data")[0].rstrip(".:"), *advice])


def random_numbers(value: Seed, name: str = "random_state") -> np.random.RandomState:
    """Return a RandomState for an int, a Generator, a RandomState or None.

    Raises
    ------
    ValueError
        If it is anything else.
    """
    if isinstance(value, np.random.Generator):
        return np.random.RandomState(int(value.integers(2**31 - 1)))
    try:
        if isinstance(value, bool):
            raise ValueError("a boolean")
        source: np.random.RandomState = check_random_state(value)
    except ValueError as error:
        raise ValueError(
            f"{name} is {value!r} ({error}); expected a whole number >= 0, a Generator, a "
            "RandomState or None"
        ) from None
    return source


def seed(random_state: Seed) -> int | None:
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


# --- columns --------------------------------------------------------------------------------------


def one_dimensional(
    values: Any, name: str, expected: str = "one value a row, shape (n_rows,)", dtype: Any = None
) -> Array:
    """Return `values` as an array of one dimension; `expected` is for the message.

    Shape (N, 1) is flattened, with scikit-learn's warning. Arrays of CuPy are copied to the host.
    """
    if hasattr(values, "__cuda_array_interface__"):
        values = values.get()
    if np.ma.is_masked(values):
        raise ValueError(f"{name} holds masked values; expected a value in every row")
    try:
        # pandas' integers with missing values would become floats in scikit-learn.
        array = np.asarray(values)
        if array.ndim == 0:
            raise ValueError("no list or array")
        if array.ndim == 1 and array.dtype.kind in "biuf":
            return np.ascontiguousarray(array)  # as scikit-learn, in a hundredth of the time
        if array.dtype == object and dtype == "numeric":
            # scikit-learn would make floats of Python's integers.
            plain = np.asarray(array.tolist())
            array = plain if plain.dtype.kind in "iu" else array
        column: Array = column_or_1d(array, dtype=dtype, warn=True)
    except (OverflowError, TypeError, ValueError) as error:
        found = f"{short_repr(values)} ({without_values(error)})"
        raise ValueError(f"{name} is {found}; expected {expected}") from None
    if column.dtype.kind == "f" and all(isinstance(value, int) for value in array.flat):
        as_float64(array, name)  # Python's integers beyond those of numpy
    return column


def numeric_column(values: object, name: str, expected: str) -> Array:
    """Return `values` as an array of one dimension and a boolean, integer or float dtype."""
    column = one_dimensional(values, name, expected, dtype="numeric")
    if column.dtype.kind not in "biuf":
        raise ValueError(f"{name} has dtype {column.dtype}; expected {expected}")
    return column


def finite_column(
    values: object,
    name: str,
    expected: str,
    low: float = -np.inf,
    high: float = np.inf,
    whole: bool = False,
) -> Array:
    """Return finite numbers from `low` to `high`, `whole` ones or any, as `numeric_column`."""
    column = numeric_column(values, name, expected)
    check_range(column, name, expected, low, high, whole)
    return column


def check_range(
    column: Array, name: str, expected: str, low: float, high: float, whole: bool
) -> None:
    """Raise ValueError for a number that is not finite, from `low` to `high`, `whole` if so."""
    usable = np.isfinite(column) & (column >= low) & (column <= high)
    if whole:
        usable &= column == np.floor(column)
    if not usable.all():
        row = int(np.argmin(usable))
        raise ValueError(
            f"{name} holds {column[row]:g} in row {row}, counted from 0; expected {expected}"
        )


def check_row_order(columns: Mapping[str, Any]) -> None:
    """Raise ValueError if pandas' objects have the same row labels in another order.

    Rows are taken by position, so values of different rows would come together. `columns` has them
    by the caller's names; those of another length are not compared.
    """
    labels = {}
    for name, values in columns.items():
        # Indices of Dask cannot be compared; reading the attribute would build a table of labels.
        if hasattr(values, "iloc") and hasattr(type(values.index), "is_unique"):
            labels[name] = values.index
    for (first, expected), (name, found) in itertools.combinations(labels.items(), 2):
        differ = len(found) == len(expected) and not found.equals(expected)
        if differ and found.is_unique and found.isin(expected).all():
            raise ValueError(
                f"{name} has the row labels of {first} in another order, but rows are taken by "
                f"position; expected the same order, as .loc[index of {first}] makes it, or "
                ".to_numpy() if the rows are in order"
            )


def checked_scores(
    y_score: ArrayLike, n_rows: int, name: str = "y_score", rows_of: str = "y_true"
) -> Array:
    """Return scores as finite float32 or float64, one a row."""
    scores = finite_column(y_score, name, "finite scores, one a row")
    if len(scores) != n_rows:
        raise ValueError(
            f"{name} has {len(scores)} rows but {rows_of} has {n_rows}; expected one score a row"
        )
    return scores if scores.dtype in (np.float32, np.float64) else as_float64(scores, name)


def as_float64(column: Array, name: str) -> Array:
    """Return numbers as float64; raise ValueError if different ones would become equal."""
    floats: Array = column.astype(np.float64)
    if column.dtype.kind in "iu":
        rounded = np.abs(floats).max(initial=0) >= 2.0**53
    else:
        rounded = (floats != column).any()
    if rounded and len(np.unique(column)) != len(np.unique(floats)):
        raise ValueError(
            f"{name} has different values that are equal in float64, which rounds whole numbers "
            f"from 2**53 on; expected smaller numbers, such as {name} - {name}.min()"
        )
    return floats


# --- frozen values --------------------------------------------------------------------------------


def parameter(
    default: object, check: Callable[[Any, str], Any], always_shown: bool = False, **options: Any
) -> Any:
    """Return a field of a measure, set to ``check(value, name)``; ``repr`` may always show it.

    None is not checked if the type of the field includes it. `options` are those of
    `dataclasses.field`.
    """
    metadata = {"check": check, "always_shown": always_shown}
    return field(default=default, metadata=metadata, **options)


@dataclass(frozen=True, repr=False)
class Value:
    """Frozen dataclass whose parameters are checked, and which prints as it is written."""

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            may_be_none = type(None) in get_args(f.type)
            if "check" in f.metadata and not (value is None and may_be_none):
                object.__setattr__(self, f.name, f.metadata["check"](value, f.name))

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        printed = []
        # Inherited fields come first in a dataclass; people write the cutoff last.
        for f in sorted(fields(self), key=lambda f: f.name == "k"):
            value = getattr(self, f.name)
            if f.default is MISSING:
                printed.append(repr(value))
            elif f.init and (value != f.default or f.metadata.get("always_shown")):
                printed.append(f"{f.name}={value!r}")
        return f"{type(self).__name__}({', '.join(printed)})"
