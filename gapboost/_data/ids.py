"""Query ids: equal if they are equal in Python and of one type, without conversion to float."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gapboost._data.arguments import ordered
from gapboost._data.columns import one_dimensional
from gapboost._kernels import Array


def query_ids(qid: Any, name: str) -> Array:
    """Return one id for each row. Ids that numpy would convert stay objects."""
    if hasattr(qid, "__len__") and ordered(qid) and not hasattr(qid, "__array__"):
        return objects(qid)
    ids = one_dimensional(qid, name)
    if ids.dtype.kind == "U" and hasattr(qid, "to_list"):
        # Polars hands numpy strings of a fixed width, which end before trailing NULs.
        return objects(qid.to_list())
    if ids.dtype.kind not in "TV":
        return ids
    # Of numpy's StringDType, and maybe a string itself.
    missing = getattr(ids.dtype, "na_object", None)
    ids = ids.astype(object)
    ids[[i is missing for i in ids]] = None
    return ids


def objects(values: Any) -> Array:
    """Return the values of a sequence, tuples too, as an object ndarray of shape (n,)."""
    return np.fromiter(values, dtype=object, count=len(values))


def as_array(distinct: list[Any]) -> Array:
    """Return `distinct` as numpy's array if this keeps all values and types, else as objects."""
    try:
        array = np.asarray(distinct)
    except (ValueError, OverflowError):
        return objects(distinct)
    same = array.ndim == 1 and all(
        type(a) is type(b) and a == b for a, b in zip(array.tolist(), distinct, strict=True)
    )
    return array if same else objects(distinct)


def run_starts(ids: Array) -> Array:
    """Return the rows where runs of equal ids begin, int64; of objects often all rows."""
    if ids.dtype == object and set(map(type, ids)) not in ({int}, {str}):
        return np.arange(len(ids))
    return np.concatenate(([0], np.flatnonzero(ids[1:] != ids[:-1]) + 1))


def codes_of(ids: Array, name: str) -> Array:
    """Return the number of each id among the distinct ones, by first occurrence.

    The result is int64 of the shape of `ids`.

    Raises
    ------
    ValueError
        If an id has no hash, or is a float that stands for several integers.
    """
    _check_floats(ids, name)
    keys = _keys(ids, name) if ids.dtype == object else ids.tolist()
    try:
        code_of = {key: code for code, key in enumerate(dict.fromkeys(keys))}
    except TypeError as error:
        raise ValueError(
            f"{name} holds an id that has no hash ({error}); expected numbers, strings or tuples "
            "of them, one a row"
        ) from None
    return np.fromiter(map(code_of.__getitem__, keys), dtype=np.int64, count=len(keys))


def _check_floats(ids: Array, name: str) -> None:
    if ids.dtype == object:
        floats = [i for i in ids if isinstance(i, float | np.floating)]
        ids = np.array(floats, dtype=np.float64)
    if ids.dtype.kind == "f":
        large = ids[np.abs(ids) >= 2.0 ** (np.finfo(ids.dtype).nmant + 1)]
        if len(large):
            raise ValueError(
                f"{name} holds the float {large[0]!s}, which stands for several integers; expected "
                "integers or strings"
            )


def _keys(ids: Array, name: str) -> list[Any]:
    """Return the ids, with their types if these differ: True, 1 and 1.0 are equal in Python."""
    kinds = set(map(type, ids))
    masked = type(np.ma.masked)
    for kind in kinds - {masked}:
        # Arrays and tensors have no hash, or one that knows nothing of their value.
        if hasattr(kind, "__array__") and not issubclass(kind, np.generic):
            raise ValueError(
                f"{name} holds a {kind.__name__} among its ids; expected numbers, strings or "
                "tuples of them, one a row"
            )
    if len(kinds) == 1 and masked not in kinds:
        return list(ids)
    plain = [plain_value(i) for i in ids]
    return list(zip(map(type, plain), plain, strict=True))


def plain_value(value: Any) -> Any:
    """Return a scalar of numpy or Arrow as a value of Python; anything else unchanged."""
    if value is np.ma.masked:
        return None
    if isinstance(value, np.str_ | np.bytes_):
        return value[:]  # item() drops trailing NULs
    if hasattr(value, "as_py"):
        return value.as_py()
    # Times of numpy may be finer than any of Python.
    return value.item() if isinstance(value, np.generic) and value.dtype.kind not in "mM" else value


def is_missing(value: Any) -> bool:
    """Return True for None, NaN, NaT and NA, and for tuples that hold one of them."""
    if value is None:
        return True
    if isinstance(value, tuple):
        return any(map(is_missing, value))
    try:
        return bool(value != value)
    except (TypeError, ArithmeticError):
        return True  # pandas.NA has no truth value


def keys_of(mapping: Mapping[Any, Any], ids: Array) -> list[Any]:
    """Return the key of each id in a mapping, None where it has none."""
    spellings = [list(ids), ids.tolist()]
    if ids.dtype.kind in "mM":
        # Times finer than microseconds, which Python does not have, become integers in tolist().
        exact = ids.astype(f"{ids.dtype.kind}8[us]")
        spellings += [exact.tolist()] if (exact == ids).all() else []
    return [
        next((key for key in spelled if key in mapping), None)
        for spelled in zip(*spellings, strict=True)
    ]
