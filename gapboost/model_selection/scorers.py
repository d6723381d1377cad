"""Measures as scikit-learn scorers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object

from gapboost.data import ArrayLike, QueryIds, pop_query_ids
from gapboost.evaluation import evaluate
from gapboost.measures import Measure, as_measure


def measure_scorer(measure: str | Measure) -> "MeasureScorer":
    """Return a scorer for ``scoring=`` of scikit-learn: the mean of `measure` over the queries.

    Parameters
    ----------
    measure : str or Measure
        With its g: a target that takes its g from the labels would change from fold to fold.

    Returns
    -------
    MeasureScorer
        Receives `qid`, and `sample_weight` where it is passed, by metadata routing.

    Raises
    ------
    TypeError
        If `measure` is neither a name nor a measure.
    ValueError
        If the name is unknown, or its g is open.

    Examples
    --------
    >>> import gapboost as gb
    >>> measure_scorer(gb.nDCG(k=10))
    measure_scorer(nDCG(k=10))
    """
    return MeasureScorer(checked_target(measure, "measure"))


def checked_target(measure: str | Measure, name: str) -> Measure:
    """Return a measure that is the same for every candidate and fold."""
    found = as_measure(measure, None, name)
    fixed = found.resolved(np.array([0.0, 1.0, 2.0]))
    if fixed != found:
        raise ValueError(
            f"{name} is {measure!r}, which takes a parameter from the labels of each fold; "
            f"expected a fixed target, such as {fixed!r}"
        )
    return found


@dataclass(frozen=True, repr=False)
class MeasureScorer:
    """See `measure_scorer`."""

    measure: Measure

    def __repr__(self) -> str:
        return f"measure_scorer({self.measure!r})"

    def __call__(
        self, estimator: Any, X: Any, y: ArrayLike, qid: QueryIds = None, sample_weight: Any = None
    ) -> float:
        """Return the mean of the measure over the queries of `qid`, or of the column ``qid``.

        `qid` has shape (N,); the column is one of `X`.

        Raises
        ------
        ValueError
            If `qid` is missing: one query of all rows is never what is meant.
        """
        routed = {}
        if qid is not None and get_config()["enable_metadata_routing"]:
            # Pipelines with query-relative features need the queries too; a column qid reaches
            # them by itself.
            consumed = get_routing_for_object(estimator).consumes("predict", ["qid"])
            routed = dict.fromkeys(consumed, qid)
        _, qid = pop_query_ids(X, qid)
        if qid is None:
            raise ValueError(
                f"qid did not reach {self!r}; expected "
                "sklearn.set_config(enable_metadata_routing=True), and fit(..., qid=qid) of the "
                "search or cross-validation, without the name of a step"
            )
        # One thread: searches run many folds side by side, and this is a small part of each.
        scores = estimator.predict(X, **routed)
        values = evaluate(self.measure, y, scores, qid, sample_weight=sample_weight, n_jobs=1)
        return float(values[self.measure])

    def get_metadata_routing(self) -> MetadataRequest:
        """Request `qid` and `sample_weight`, the metadata that the scorer takes."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="qid", alias=True)
        request.score.add_request(param="sample_weight", alias=True)
        return request
