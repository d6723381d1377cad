"""Errors during `fit` for scikit-learn searches that would silently score a ranker wrongly.

scikit-learn turns an error in scoring into a NaN and continues the search. Only errors in every fit
end it. So a ranker checks during `fit` how it is going to be scored. The loop of scikit-learn over
folds and candidates has this information, so its frame is looked up among the callers. The frame is
an implementation detail of scikit-learn: if a variable that this file expects is missing, nothing
is checked. `score` itself never takes all rows for one query.

Searches, `cross_validate`, `cross_val_score`, and validation and learning curves use this loop.
`cross_val_predict`, `permutation_test_score` and `RFECV` fit elsewhere, and a scorer that takes no
qid passes none. A fit cannot see whether their folds cut queries.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _num_samples

from gapboost._boosters.callers import search_in_progress
from gapboost._data.features import without_qid
from gapboost._data.queries import grouped_rows

# What a candidate is trained for, and so, by default, what it is scored by.
CHANGES_THE_MEASURE = ("g", "measure")

# What the loop is expected to know when it fits.
SEARCH_VARIABLES = (
    "estimator",
    "X",
    "scorer",
    "parameters",
    "train",
    "test",
    "score_params",
    "score_params_test",
)


def refuse_blind_search(ranker: Any) -> None:
    """Raise if the scikit-learn search around this fit would score the ranker wrongly.

    Raises
    ------
    ValueError
        If scoring will not receive `qid`; if candidates with different g or measure would each be
        scored by their own measure; if a query is in both the training and the test rows; or if
        documents of queries are left out at random.
    """
    found = _search_of(ranker)
    if found is None:
        return
    scorers = _scorers(found["scorer"])
    by_own_score = any(type(scorer).__name__ == "_PassthroughScorer" for scorer in scorers)
    # The column qid of a data frame goes wherever the frame goes.
    _, column = without_qid(found["X"])
    if (
        column is None
        and "qid" not in found["score_params_test"]
        and (by_own_score or any(getattr(s, "needs_qid", False) for s in scorers))
    ):
        raise ValueError(
            "qid reaches fit but not the scorer; expected "
            "sklearn.set_config(enable_metadata_routing=True) before the search, and qid among its "
            "parameters. Without routing use gapboost.model_selection.GSearchCV, or "
            "cross_val_predict and gapboost.evaluate"
        )
    changed = sorted(
        name for name, value in (found["parameters"] or {}).items() if _changes_measure(name, value)
    )
    if by_own_score and changed:
        raise ValueError(
            f"the search varies {', '.join(changed)} and scores each candidate by its own measure: "
            "values of different measures cannot be compared. Expected one target for all, such "
            "as scoring=gapboost.model_selection.measure_scorer(gapboost.nDCG(k=10))"
        )
    qid = found["score_params"].get("qid") if column is None else column
    if qid is not None and _num_samples(qid) == _num_samples(found["X"]):
        _refuse_parts(qid, found["train"], found["test"])


def _search_of(ranker: Any) -> Mapping[str, Any] | None:
    """Return the variables of the scikit-learn loop around this fit, or None without one."""
    frame = search_in_progress()
    if frame is None:
        return None
    found = frame.f_locals
    if any(name not in found for name in SEARCH_VARIABLES) or not _fits(found["estimator"], ranker):
        return None
    mappings = (found["parameters"] or {}, found["score_params"], found["score_params_test"])
    return found if all(isinstance(m, Mapping) for m in mappings) else None


def _fits(estimator: Any, ranker: Any) -> bool:
    """Return True if the loop fits this ranker, alone or as the last step of a pipeline."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return estimator is ranker


def _scorers(scorer: Any) -> list[Any]:
    several = getattr(scorer, "_scorers", scorer)
    return list(several.values()) if isinstance(several, dict) else [several]


def _changes_measure(name: str, value: Any) -> bool:
    own = name.rpartition("__")[2]
    # An objective by name leaves the measure alone, a value brings its own.
    return own in CHANGES_THE_MEASURE or (own == "objective" and not isinstance(value, str))


def _refuse_parts(qid: Any, train: Any, test: Any) -> None:
    """Refuse folds that cut queries, and halving searches over the number of rows.

    Halving draws documents at random.
    """
    queries = grouped_rows(qid, _num_samples(qid))
    codes = queries.codes
    seen, tested = (
        np.bincount(codes[np.asarray(rows)], minlength=len(queries)) for rows in (train, test)
    )
    both = (seen > 0) & (tested > 0)
    if both.any():
        raise ValueError(
            f"{int(both.sum())} queries, such as {queries.ids[both].tolist()[0]!r}, have documents "
            "in both the training and the test rows; expected folds of whole queries: "
            "cv=GroupKFold(...) and groups=qid"
        )
    cut = (seen + tested > 0) & (seen + tested < queries.sizes)
    if cut.any():
        raise ValueError(
            f"{int(cut.sum())} queries, such as {queries.ids[cut].tolist()[0]!r}, lack some of "
            "their documents, as in halving "
            'searches whose resource is "n_samples"; expected whole queries: '
            'resource="n_estimators" (max_resources: the largest '
            "number of trees)"
        )
