"""Workarounds for older versions of XGBoost; delete each with the last version that needs it."""

from typing import Any

import xgboost

from gapboost._data.features import CATEGORIES, arrow_types, column_names

try:
    from xgboost.sklearn import get_model_categories as get_model_categories
except ImportError:  # XGBoost 3.0

    def get_model_categories(X: Any, model: Any, feature_types: Any) -> tuple[Any, Any]:
        """Return the model to continue, and its categories or else the types of features."""
        return model, feature_types


KEEPS_CATEGORIES = hasattr(xgboost.Booster, "get_categories")


def check_categories(X: Any, name: str) -> None:
    """Refuse categories of data frames in XGBoost 3.0, which reads codes of another frame.

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
                f"{name} has a column {column!r} of categories, whose codes XGBoost "
                f"{xgboost.__version__} does not keep in the model; expected XGBoost 3.1 or later, "
                "or the codes as numbers with feature_types=['c', ...]"
            )
