"""Pipelines: steps before the ranker, fitted on training documents and applied to all parts."""

from dataclasses import replace
from typing import Any

from sklearn.pipeline import Pipeline

from gapboost.comparison.data import DataPart
from gapboost.preprocessing.pipeline import fit_transformers, transform


def fit_steps(ranker: Any, part: DataPart) -> DataPart:
    """Fit the steps before the last one, in place; return the documents as the last one gets them.

    Steps that request ``qid`` get it. A ranker that is no pipeline gets `part` unchanged.

    Raises
    ------
    ValueError
        If the steps change the number of rows.
    """
    if not isinstance(ranker, Pipeline):
        return part
    transformers, X = fit_transformers(ranker, part.X, part.y, part.numbers)
    ranker.set_params(steps=[*transformers.steps, ranker.steps[-1]])
    return _with_features(part, X)


def transformed(ranker: Any, part: DataPart) -> DataPart:
    """Return documents as the last step gets them, by the fitted steps before it.

    Raises
    ------
    ValueError
        If the steps change the number of rows.
    """
    if not isinstance(ranker, Pipeline):
        return part
    return _with_features(part, transform(ranker[:-1], part.X, part.numbers))


def _with_features(part: DataPart, X: Any) -> DataPart:
    found, expected = X.shape[0], part.X.shape[0]
    if found != expected:
        raise ValueError(
            f"the steps before the last one make {found} rows of {expected}; expected one row a "
            "document"
        )
    return replace(part, X=X)
