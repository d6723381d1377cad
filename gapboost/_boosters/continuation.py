"""A model that training continues."""

from collections.abc import Sequence
from typing import Any

from gapboost.data.features import check_names, feature_names


def check_continued(X: Any, n_columns: int, names: Sequence[str] = ()) -> None:
    """Raise ValueError if `X` lacks the columns of a model whose training continues."""
    if X.shape[1] != n_columns:
        raise ValueError(
            f"X has {X.shape[1]} columns, but the model to continue has {n_columns}; expected the "
            "same number"
        )
    check_names(feature_names(X), names, "X")
