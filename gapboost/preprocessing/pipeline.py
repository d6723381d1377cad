"""Last step of a pipeline, and the steps before it: fitted and applied, with query ids."""

from typing import Any

import sklearn
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from gapboost._data.features import QID, without_qid


def last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline, or the estimator itself."""
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def prefix(estimator: Any) -> str:
    """Return the prefix of parameters of `last_step`: ``"ranker__"``, or ``""``."""
    return f"{estimator.steps[-1][0]}__" if isinstance(estimator, Pipeline) else ""


def fit_transformers(pipeline: Pipeline, X: Any, y: Any, qid: Any) -> tuple[Pipeline, Any]:
    """Fit copies of all steps but the last one.

    Parameters
    ----------
    pipeline : Pipeline
        Not changed.
    X : array-like of shape (N, n_features), or data frame
    y : array-like of shape (N,)
    qid : array-like of shape (N,)
        Query id of each row, passed to the steps that request it. A column ``qid`` of `X` replaces
        it.

    Returns
    -------
    tuple of (Pipeline, table)
        The fitted steps, and the transformed features without a column ``qid``.

    Raises
    ------
    ValueError
        If `X` has a column ``qid`` and the transformed features do not.
    """
    transformers = clone(pipeline[:-1])
    return transformers, _call(transformers, "fit_transform", X, qid, y)


def transform(transformers: Pipeline, X: Any, qid: Any) -> Any:
    """Return transformed features without a column ``qid``; arguments as in `fit_transformers`."""
    return _call(transformers, "transform", X, qid)


def _call(transformers: Pipeline, method: str, X: Any, qid: Any, *y: Any) -> Any:
    features, column = without_qid(X)
    if not transformers.steps:
        return features
    if method == "transform":
        # `Pipeline.transform` refuses a last step that keeps nothing in `fit`.
        transformers = Pipeline([*transformers.steps, ("unchanged", FunctionTransformer())])
    with sklearn.config_context(enable_metadata_routing=True):
        given = {} if column is not None else {QID: qid}
        requested = transformers.get_metadata_routing().consumes(method, given)
        found = getattr(transformers, method)(X, *y, **{name: given[name] for name in requested})
    found, kept = without_qid(found)
    if column is not None and kept is None:
        raise ValueError(
            f"X has a column {QID!r}, but the steps of the pipeline return none; expected steps that keep it, or qid as an "
            f"argument of its own and X without the column {QID!r}"
        )
    return found
