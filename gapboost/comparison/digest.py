"""Digests of values: equal in every process for equal values, else different."""

import hashlib
import inspect
import sys
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from functools import lru_cache
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np
from scipy import sparse, special
from sklearn.base import BaseEstimator

from gapboost._data.arguments import shown
from gapboost._data.features import column_names
from gapboost._kernels import Array

PLAIN = frozenset(
    (type(None), type(...), type(NotImplemented), bool, int, float, complex, str, bytes)
)
TABLES = ("pandas", "polars", "pyarrow")


def digest(value: Any, name: str) -> str:
    """Return the SHA-256 digest of a value, as 64 hexadecimal digits.

    Arrays and tables count with all their elements. Estimators count by class and parameters, and
    other objects by class and state. Classes and functions count by name and by the version of
    their library. If that library has no version, their source text counts.

    Parameters
    ----------
    value : object
    name : str
        Name of the value in error messages.

    Raises
    ------
    TypeError
        If a part of the value has no content that another process can compare: lambdas, local
        functions, open files.
    """
    hasher = hashlib.sha256()
    try:
        _Writer(hasher.update).add(value, name)
    except RecursionError:
        raise _not_comparable(value, name) from None
    return hasher.hexdigest()


class _Writer:
    """Write values as bytes, so that different values give different bytes.

    Parameters
    ----------
    write : callable
    fitted : bool, default=False
        If True, fitted attributes of estimators count too, not only their parameters.
    """

    def __init__(self, write: Callable[[Any], object], fitted: bool = False) -> None:
        self._write = write
        self._fitted = fitted

    def _begin(self, kind: str, *details: object) -> None:
        text = repr((kind, *details)).encode("utf-8", "surrogatepass")
        self._write(b"%d:" % len(text))
        self._write(text)

    def add(self, value: Any, name: str) -> None:
        """Write one value; `name` is its place in the object."""
        kind = type(value)
        if kind in PLAIN:
            self._begin(kind.__name__, value)
        elif kind in (list, tuple):
            self._add_sequence(value, name)
        elif kind is dict:
            pairs = ((digest(key, name), value[key], f"{name}[{key!r}]") for key in value)
            self._begin("dict", len(value))
            for key, item, where in sorted(pairs, key=lambda pair: pair[0]):
                self._begin("key", key)
                self.add(item, where)
        elif kind in (set, frozenset):
            self._begin(kind.__name__, sorted(digest(item, name) for item in value))
        elif isinstance(value, np.ndarray):
            self._add_array(value, name)
        elif isinstance(value, type | FunctionType | BuiltinFunctionType | np.ufunc):
            self._add_named(value, name)
        elif sparse.issparse(value):
            rows = value.tocsr()
            self._begin("sparse", value.shape)
            for array in (rows.indptr, rows.indices, rows.data):
                self._add_array(array, name)
        elif kind.__module__.split(".")[0] in TABLES and hasattr(value, "shape"):
            self._add_table(value, name)
        elif hasattr(value, "get_params") and not self._fitted:
            self._add_estimator(value, name)
        elif is_dataclass(value):
            self._add_named(kind, name)
            self._add_all(((f.name, getattr(value, f.name)) for f in fields(value)), name)
        else:
            self._add_object(value, name)

    def _add_all(self, members: Iterable[tuple[str, Any]], name: str) -> None:
        for member, value in members:
            self._begin("member", member)
            self.add(value, f"{name}.{member}")
        self._begin("end")

    def _add_sequence(self, values: Any, name: str) -> None:
        if PLAIN.issuperset(map(type, values)):
            self._begin(type(values).__name__, values)  # one piece: a list may hold a million ids
            return
        self._begin(type(values).__name__, len(values))
        for place, item in enumerate(values):
            self.add(item, f"{name}[{place}]")

    def _add_array(self, array: Array, name: str) -> None:
        self._begin("array", array.shape, str(array.dtype))
        if isinstance(array, np.ma.MaskedArray):
            self._add_array(np.ma.getmaskarray(array), name)
            array = array.filled(0)
        if array.dtype.hasobject:
            self._add_sequence(np.asarray(array).ravel().tolist(), name)
        else:
            self._write(np.ascontiguousarray(array).reshape(-1).view(np.uint8))

    def _add_table(self, table: Any, name: str) -> None:
        """Write each column by its values, whatever library stores them."""
        self._begin("table", table.shape)
        names = column_names(table)
        for column_name, column in [(n, table[n]) for n in names] if names else [("", table)]:
            self.add(column_name, name)
            self._begin(
                "column", str(getattr(column, "dtype", None) or getattr(column, "type", None))
            )
            if hasattr(getattr(column, "cat", None), "codes"):
                self.add(list(column.cat.categories), name)
            self._add_array(np.asarray(column), name)

    def _add_estimator(self, estimator: Any, name: str) -> None:
        kind = type(estimator)
        if getattr(kind, "__sklearn_clone__", None) not in (None, BaseEstimator.__sklearn_clone__):
            # Its copies keep what it has learned, such as those of scikit-learn's FrozenEstimator.
            _Writer(self._write, fitted=True)._add_object(estimator, name)
            return
        self._add_named(kind, name)
        self._add_all(sorted(estimator.get_params(deep=False).items()), name)

    def _add_object(self, value: Any, name: str) -> None:
        """Write an object by the parts from which pickle would make it again."""
        try:
            parts = value.__reduce_ex__(4)
        except Exception as error:  # objects say in many ways that they cannot be pickled
            raise _not_comparable(value, name) from error
        if isinstance(parts, str):
            self._add_named(type(value), name)
            self._begin("global", parts)
            return
        self._begin("object", len(parts))
        for part in parts[:3]:  # what makes it, its arguments, and its state
            self.add(part, name)
        for items in parts[3:5]:  # iterators over items of lists and dicts
            self.add(None if items is None else list(items), name)

    def _add_named(self, thing: Any, name: str) -> None:
        if isinstance(thing, np.ufunc):
            if thing not in (getattr(library, thing.__name__, None) for library in (np, special)):
                raise _not_comparable(thing, name)
            self._begin("ufunc", thing.__name__, np.__version__)
            return
        if not isinstance(thing, type) and "<" in thing.__qualname__:
            raise _not_comparable(thing, name)
        if isinstance(thing, BuiltinFunctionType) and not isinstance(
            thing.__self__, type(sys) | type(None) | type
        ):
            self._add_object(thing, name)  # a method of an object
            return
        self._begin("name", thing.__module__, thing.__qualname__, _versions_of(thing))


@lru_cache(maxsize=1000)
def _versions_of(thing: Any) -> list[str]:
    """Return versions or source texts of a function, or of a class and its base classes."""
    return [_version_of(each) for each in (thing.__mro__ if isinstance(thing, type) else [thing])]


def _version_of(thing: Any) -> str:
    library = (thing.__module__ or "").split(".")[0]
    if library in sys.stdlib_module_names and library != "__main__":
        return library
    version = getattr(sys.modules.get(library), "__version__", None)
    if version is not None:
        return f"{library} {version}"
    try:
        return inspect.getsource(thing)
    except (OSError, TypeError):
        return library


def _not_comparable(value: Any, name: str) -> TypeError:
    return TypeError(
        f"checkpoint is given, and {name} is {shown(value)}, which cannot be compared with the one "
        "of another run; expected numbers, strings, arrays, estimators, and functions that a "
        "module defines by name; or checkpoint=None"
    )
