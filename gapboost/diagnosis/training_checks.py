"""Checks that compare test and training data.

The guide gives the meaning of each check and the reason of each threshold: docs/guide/report.md.
"""

from typing import Any

import numpy as np

from gapboost._data.queries import plain_value
from gapboost._kernels import Array
from gapboost.analysis.estimates import independent, unpaired
from gapboost.analysis.leaks import FEW_QUERIES
from gapboost.diagnosis.finding import (
    Finding,
    counted,
    decided,
    listed,
    not_applicable,
)
from gapboost.diagnosis.rows import Rows, Subject

GRADE_RATIO = 1.5
GRADE_CONFIDENCE = 0.999
FEATURE_SHIFT = 0.9
KEPT = 0.5

NO_TRAINING = "No training data: pass X_train, y_train and qid_train."


def overfitted(subject: Subject) -> Finding:
    """Find a ranker that keeps less than half of its gain over a random order on test queries."""
    test, training, name = subject.test, subject.training, subject.measure
    if training is None:
        return not_applicable(NO_TRAINING)
    if min(test.contrasts.sum(), training.contrasts.sum()) < FEW_QUERIES:
        return not_applicable(
            f"Fewer than {FEW_QUERIES} test or training queries hold documents of different grades."
        )
    here, there = (subject.gain(rows)[rows.contrasts] for rows in (test, training))
    if independent(there).interval()[0] <= 0:
        return not_applicable(
            "The ranker is not proven better than a random order on the training queries."
        )
    kept = here.mean() / there.mean()
    message = (
        f"{name} is {subject.there[name].mean():.4f} on training queries and "
        f"{subject.here[name].mean():.4f} on test queries. The gain over a random order is "
        f"{there.mean():.4f} in training; {kept:.0%} of it is left on test queries."
    )
    return decided(unpaired(here, KEPT * there).interval()[1] < 0, message, kept, KEPT)


def shared_queries(subject: Subject) -> Finding:
    """Find test queries that are training queries, by their ids or by all their documents."""
    test, training = subject.test, subject.training
    if training is None:
        return not_applicable(NO_TRAINING)
    known = set(map(_key, training.ids))
    by_id = np.array([_key(query) in known for query in test.ids])
    contents = set(filter(None, _contents(training)))
    by_content = np.array([content in contents for content in _contents(test)])
    shared = by_id | by_content
    message = (
        f"{counted(int(shared.sum()), 'test query', 'test queries')} of {len(shared):,} in the "
        f"training data too: {by_id.sum():,} by the query id, {by_content.sum():,} by the "
        "documents."
    )
    if by_id.any() and not by_content.any():
        message += " If ids number the queries of each part, make them different."
    if shared.any():
        message += f" Such as: {listed(test.ids[shared], 3)}."
    return decided(shared.any(), message, shared.sum(), 0)


def _key(query: Any) -> tuple[type, Any]:
    """Return type and value of an id as Python has them, equal for equal ids."""
    found = plain_value(query)
    return type(found), found


def _contents(rows: Rows) -> list[bytes | None]:
    """Return a key for each query, equal for the same documents, or None if all are equal."""
    order = np.lexsort((rows.digests, rows.numbers))
    lists = np.split(rows.digests[order], rows.data.queries.offsets[1:-1])
    return [one.tobytes() if one[0] != one[-1] else None for one in lists]


def shifted_grades(subject: Subject) -> Finding:
    """Find a share of relevant documents that differs from the one of training."""
    if subject.training is None:
        return not_applicable(NO_TRAINING)
    here, there = map(_relevant_shares, (subject.test, subject.training))
    if min(len(here), len(there)) < FEW_QUERIES:
        return not_applicable(f"Test or training data have fewer than {FEW_QUERIES} queries.")
    low, high = unpaired(here, there).interval(GRADE_CONFIDENCE)
    least, most = sorted((here.mean(), there.mean()))
    ratio = most / least if least > 0 else np.inf if most > 0 else 1.0
    message = (
        f"{here.mean():.1%} of the judged documents of a test query are relevant, and "
        f"{there.mean():.1%} in training."
    )
    return decided(not low <= 0 <= high and ratio > GRADE_RATIO, message, ratio, GRADE_RATIO)


def _relevant_shares(rows: Rows) -> Array:
    """Return the share of relevant documents of each query that has judged ones."""
    n_judged = rows.total(rows.has_grade)
    shares: Array = rows.relevant[n_judged > 0] / n_judged[n_judged > 0]
    return shares


def shifted_features(subject: Subject) -> Finding:
    """Find features whose values in test queries lie above or below those of training."""
    test, training = subject.test, subject.training
    if training is None:
        return not_applicable(NO_TRAINING)
    if min(len(test.sizes), len(training.sizes)) < FEW_QUERIES:
        return not_applicable(f"Test or training data have fewer than {FEW_QUERIES} queries.")
    if not test.numeric:
        return not_applicable("No feature has an order.")
    above = {
        test.names[place]: _share_above(test.medians(place), training.medians(place))
        for place in test.numeric
    }
    ranked = sorted(above, key=lambda name: -abs(above[name] - 0.5))
    shares = {name: 0.5 + abs(above[name] - 0.5) for name in ranked}
    shifted = [name for name in ranked if shares[name] > FEATURE_SHIFT]
    message = (
        f"The largest shift has {ranked[0]}: in {above[ranked[0]]:.0%} of pairs of a test and a "
        "training query, the one of the test has the larger median."
    )
    if shifted:
        verb = "differs" if len(shifted) == 1 else "differ"
        message = f"{listed(shifted)} {verb} from training. {message}"
    return decided(shifted, message, shares[ranked[0]], FEATURE_SHIFT)


def _share_above(here: Array, there: Array) -> float:
    """Return the share of pairs in which the first value is larger; ties count half."""
    there = np.sort(there)
    below, up_to = (np.searchsorted(there, here, side) for side in ("left", "right"))
    return float((below + up_to).mean() / (2 * len(there)))
