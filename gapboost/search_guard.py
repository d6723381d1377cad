"""What scikit-learn's searches would do wrongly with a ranker, without a word, is refused while it fits.

An error in scoring becomes a NaN in scikit-learn's results and the search goes on; an error in every fit ends it. So a ranker
asks during `fit` how it is going to be scored. Only scikit-learn's loop over folds and candidates knows: its frame is looked up
among the callers. Should a future scikit-learn keep that loop elsewhere, the tests of this file fail, and what is left
is `score` itself, which never takes all rows for one query.
"""

import sys
from collections import Counter
from types import FrameType
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from gapboost.features import without_qid

# What a candidate is trained for, and so, by default, what it is scored by.
CHANGES_THE_MEASURE = ("g", "measure")


def refuse_blind_search(ranker: Any) -> None:
    """Raise where the scikit-learn search around this fit could not score the ranker rightly.

    Raises
    ------
    ValueError
        Where scoring will not receive `qid`; where candidates with different g or measure would each be scored by their
        own; where a query is in both the training and the test rows; where documents of queries are left out at random.
    """
    frame = _search_frame()
    if frame is None or not _fits(frame.f_locals.get("estimator"), ranker):
        return
    found = frame.f_locals
    scorers = _scorers(found.get("scorer"))
    by_own_score = any(type(scorer).__name__ == "_PassthroughScorer" for scorer in scorers)
    score_params = found.get("score_params_test") or {}
    # The column qid of a data frame goes wherever the frame goes.
    _, column = without_qid(found.get("X"))
    if (
        column is None
        and "qid" not in score_params
        and (by_own_score or any(getattr(s, "needs_qid", False) for s in scorers))
    ):
        raise ValueError(
            "qid reaches fit but not the scorer; expected sklearn.set_config(enable_metadata_routing=True) before the search, "
            "and qid among its parameters. Without routing use gapboost.model_selection.GSearchCV, or cross_val_predict and "
            "gapboost.evaluate"
        )
    changed = sorted(name for name, value in (found.get("parameters") or {}).items() if _changes_measure(name, value))
    if by_own_score and changed:
        raise ValueError(
            f"the search varies {', '.join(changed)} and scores each candidate by its own measure: values of different measures "
            "cannot be compared. Expected one target for all, such as scoring=gapboost.model_selection.measure_scorer("
            "gapboost.nDCG(k=10))"
        )
    fit_params = found.get("fit_params") or {}
    if column is not None:
        _check_whole(*(_safe_indexing(np.asarray(column), found[side]) for side in ("train", "test")))
    elif "qid" in fit_params and "qid" in score_params:
        _check_whole(fit_params["qid"], score_params["qid"])
        _check_complete(fit_params["qid"], score_params["qid"], (found.get("score_params") or {}).get("qid"))


def _search_frame() -> FrameType | None:
    """The nearest call of scikit-learn's loop body among the callers."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "_fit_and_score" and frame.f_globals.get("__name__", "").startswith("sklearn."):
            return frame
        frame = frame.f_back
    return None


def _fits(estimator: Any, ranker: Any) -> bool:
    """Whether the loop fits the ranker itself, or as the last step of a pipeline, and so scores this very fit."""
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


def _check_whole(train: Any, test: Any) -> None:
    both = set(np.asarray(train).tolist()) & set(np.asarray(test).tolist())
    if both:
        raise ValueError(
            f"{len(both)} queries, such as {next(iter(both))!r}, have documents in both the training and the test rows; expected "
            "folds of whole queries: cv=GroupKFold(...) and groups=qid"
        )


def _check_complete(train: Any, test: Any, every: Any) -> None:
    """Halving searches over the number of rows draw documents at random."""
    if every is None:
        return
    seen, whole = Counter(np.asarray(train).tolist() + np.asarray(test).tolist()), Counter(np.asarray(every).tolist())
    cut = [query for query, count in seen.items() if count < whole[query]]
    if cut:
        raise ValueError(
            f"{len(cut)} queries, such as {cut[0]!r}, lack some of their documents, as in halving searches whose resource is "
            '"n_samples"; expected whole queries: resource="n_estimators" (max_resources: the largest number of trees)'
        )
