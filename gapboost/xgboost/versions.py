"""Workarounds for older versions of XGBoost; delete each with the last version that needs it."""

from typing import Any

import xgboost

from gapboost._data.features import CATEGORIES, arrow_types, column_names

try:
    from xgboost.sklearn import get_model_categories as get_model_categories
except ImportError:  # XGBoost 3.0

    def get_model_categories(X: Any, model: Any, feature_types: Any) -> tuple[Any, Any]:
        """The model to continue, and the categories of its data frames or else the types of features."""
        return model, feature_types


KEEPS_CATEGORIES = hasattr(xgboost.Booster, "get_categories")


def check_categories(X: Any, name: str) -> None:
    """Refuse categories of data frames, where another frame's may have other codes: XGBoost 3.0 goes by the codes.

    Raises
    ------
    TypeError
        Naming the column.
    """
    if KEEPS_CATEGORIES:
        return
    types = arrow_types(X) or zip(column_names(X), map(str, getattr(X, "dtypes", ())), strict=False)
    for column, kind in types:
        if kind.startswith(("category", *CATEGORIES)):
            raise TypeError(
                f"{name} has a column {column!r} of categories, whose codes XGBoost {xgboost.__version__} does not keep in the "
                "model; expected XGBoost 3.1 or later, or the codes as numbers with feature_types=['c', ...]"
            )
