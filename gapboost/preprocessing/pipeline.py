"""Last step of a pipeline, and the steps before it: fitted and applied, with query ids."""

import warnings
from typing import Any, ClassVar

import sklearn
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from gapboost.data import QueryIds
from gapboost.data.features import QID, check_columns, is_pandas, without_qid


def last_step(estimator: object) -> Any:
    """Return the last step of a pipeline, or the estimator itself."""
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def prefix(estimator: object) -> str:
    """Return the prefix of parameters of `last_step`: ``"ranker__"``, or ``""``."""
    return f"{estimator.steps[-1][0]}__" if isinstance(estimator, Pipeline) else ""


def library_of(estimator: object) -> str:
    """Return the library of the last step: "lightgbm", "xgboost", "catboost", or "" for another.

    Classes that derive from a ranker of a library, such as those of gapboost, belong to the
    library.
    """
    modules = {kind.__module__.split(".")[0] for kind in type(last_step(estimator)).__mro__}
    return next(
        (library for library in ("lightgbm", "xgboost", "catboost") if library in modules), ""
    )


def fit_transformers(estimator: object, X: object, y: object, qid: QueryIds) -> Any:
    """Fit all steps of a pipeline but the last one, in place, and return what they make of `X`.

    Parameters
    ----------
    estimator : Pipeline, or estimator of another kind, which has no steps to fit
    X : array-like of shape (N, n_features), or data frame
    y : array-like of shape (N,)
    qid : array-like of shape (N,)
        Query id of each row, passed to the steps that request it. A column ``qid`` of `X` replaces
        it.

    Returns
    -------
    table
        The transformed features without a column ``qid``.

    Raises
    ------
    ValueError
        If `X` has a column ``qid`` and the transformed features do not.
    UnsetMetadataPassedError
        If a step takes `qid` and its metadata request does not say whether it wants it.
    UserWarning
        If a step wants `qid` in `transform`, and its `fit_transform` would not pass it on.
    """
    return _checked(estimator, _through_steps(estimator, "fit_transform", X, qid, y))


def transform(estimator: object, X: object, qid: QueryIds) -> Any:
    """Return the features that the last step gets; arguments as in `fit_transformers`."""
    return _checked(estimator, _through_steps(estimator, "transform", X, qid))


def _checked(estimator: object, X: Any) -> Any:
    """Return the table that the last step gets.

    LightGBM ends the process at some columns of polars or Arrow that hold no numbers.
    """
    library = library_of(estimator)
    if library in ("lightgbm", "xgboost") and not is_pandas(X):
        check_columns(X, "X", categories=library == "xgboost")
    return X


class _RoutesQid(BaseEstimator):  # type: ignore[misc]
    """Step that requests ``qid`` and changes nothing.

    scikit-learn refuses ``qid`` if no step requests it. With this step it passes ``qid`` on, or
    raises its own error for a step that takes ``qid`` without a request.
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {QID: True}
    __metadata_request__transform: ClassVar[dict[str, bool]] = {QID: True}

    def fit_transform(self, X: object, y: object = None, qid: QueryIds = None) -> Any:
        return X

    def fit(self, X: object, y: object = None, qid: QueryIds = None) -> "_RoutesQid":
        return self

    def transform(self, X: object, qid: QueryIds = None) -> Any:
        return X

    def __sklearn_is_fitted__(self) -> bool:
        return True


ROUTES_QID = ("routes_qid", _RoutesQid())


def _through_steps(estimator: object, method: str, X: object, qid: QueryIds, *y: object) -> Any:
    features, column = without_qid(X)
    if not isinstance(estimator, Pipeline) or len(estimator.steps) == 1:
        return features
    transformers = Pipeline([*estimator.steps[:-1], ROUTES_QID], memory=estimator.memory)
    given = {} if column is not None else {QID: qid}
    with sklearn.config_context(enable_metadata_routing=True), warnings.catch_warnings():
        # Training would see other features than prediction.
        warnings.filterwarnings(
            "error", r".* `fit_transform` does not forward metadata to `transform`", UserWarning
        )
        found = getattr(transformers, method)(X, *y, **given)
    if method == "fit_transform":  # with `memory` the fitted steps are copies
        estimator.steps[:-1] = transformers.steps[:-1]
    found, kept = without_qid(found)
    if column is not None and kept is None:
        raise ValueError(
            f"X has a column {QID!r}, but the steps of the pipeline return none; expected steps "
            f"that keep it, or qid as an argument of its own and X without the column {QID!r}"
        )
    return found
