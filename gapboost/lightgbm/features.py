"""Tables of features as LightGBM reads them, and positions of their columns."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import narwhals as nw
import numpy as np

from gapboost.data import column_names
from gapboost.data.features import QID, check_columns, is_pandas
from gapboost.lightgbm import _compat
from gapboost.validation import short_repr


def read_exactly(X: Any, name: str) -> Any:
    """Return a table of `features` that LightGBM reads without rounding or a crash."""
    if not isinstance(X, np.ndarray):
        check_columns(X, name, categories=is_pandas(X))
        if not _compat.READS_TABLES and not is_pandas(X) and column_names(X):
            return nw.from_native(X, eager_only=True).to_pandas()
        return X
    # LightGBM makes float32 of every array that is not float64: integers above 2**24 would run
    # together.
    return X if np.can_cast(X.dtype, np.float32) else X.astype(np.float64, copy=False)


def check_positions(
    X: object, parameters: Mapping[str, object], categorical_feature: object = "auto"
) -> None:
    """Check positions of columns in parameters and arguments of a fit.

    Parameters
    ----------
    X : array-like of shape (N, n_features), or data frame
        With its column ``qid``, which the features do not have.
    parameters : mapping
        Of the ranker.
    categorical_feature : str or sequence
        Of `fit`, in place of that of the ranker unless it is text.

    Raises
    ------
    ValueError
        If there is no such column; LightGBM ignores its number. If a column ``qid`` precedes it:
        LightGBM would count without it.
    """
    names = column_names(X)
    # NumPy would ask containers of a type of their own for their shape by `__array_function__`.
    shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
    n_features = (len(names) or shape[1]) - (QID in names)
    unmoved = names.index(QID) if QID in names else n_features
    names_of_columns = {*_compat.aliases("categorical_feature"), "interaction_constraints"}
    if not isinstance(categorical_feature, str):
        parameters = {**parameters, "categorical_feature": categorical_feature}
    for name in names_of_columns.intersection(parameters):
        for position in _positions(parameters[name]):
            if not 0 <= position < n_features:
                raise ValueError(
                    f"{name} is {short_repr(parameters[name])}, but X has {n_features} features; "
                    f"expected positions from 0 to {n_features - 1}"
                )
            if position >= unmoved:
                raise ValueError(
                    f"{name} is {short_repr(parameters[name])}, and {position} is behind the "
                    f"column {QID!r}, which is no feature; expected names of columns, or {QID!r} "
                    "as the last column of X"
                )


def _positions(value: object) -> Iterator[int]:
    """Yield the whole numbers in a parameter, in lists of lists or text."""
    if isinstance(value, str):
        yield from map(int, re.findall(r"(?<![\w:.])-?\d+(?![\w.])", value))
    elif isinstance(value, int | np.integer):
        yield int(value)
    elif isinstance(value, list | tuple | set | np.ndarray):
        for entry in value:
            if not isinstance(entry, str):
                yield from _positions(entry)
