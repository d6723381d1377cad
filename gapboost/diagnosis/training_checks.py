"""Checks that compare test and training data."""

from typing import Any

import numpy as np

from gapboost._data.ids import plain_value
from gapboost._kernels import Array
from gapboost.analysis.estimates import independent, unpaired
from gapboost.diagnosis.data_checks import FEW_QUERIES
from gapboost.diagnosis.finding import Finding, counted, listed, not_applicable, status
from gapboost.diagnosis.part import Part
from gapboost.diagnosis.subject import Subject

# The guide gives the reason of each threshold: docs/guide/report.md.
GRADE_RATIO = 1.5
GRADE_CONFIDENCE = 0.999
FEATURE_SHIFT = 0.9
KEPT = 0.5

NO_TRAINING = "No training data: pass X_train, y_train and qid_train."


def shared_queries(subject: Subject) -> Finding:
    """Find test queries that are training queries, by their ids or by all their documents."""
    if subject.training is None:
        return not_applicable(NO_TRAINING)
    test, training = subject.test, subject.training
    ids = [_key(query) for query in test.queries.ids]
    known = set(map(_key, training.queries.ids))
    by_id = np.array([query in known for query in ids])
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
        message += f" Such as: {listed([str(query) for query in test.queries.ids[shared]], 3)}."
    return Finding(status(bool(shared.any())), message, int(shared.sum()), 0)


def _key(query: Any) -> tuple[type, Any]:
    """Return type and value of an id as Python has them, equal for equal ids."""
    found = plain_value(query)
    return type(found), found


def _contents(part: Part) -> list[bytes | None]:
    """Return for each query a key that is equal for the same documents.

    The key is None if all documents of the query are equal.
    """
    order = np.lexsort((part.digests, part.numbers))
    lists = np.split(part.digests[order], part.queries.offsets[1:-1])
    return [one.tobytes() if one[0] != one[-1] else None for one in lists]


def shifted_grades(subject: Subject) -> Finding:
    """Find a share of relevant documents that differs from the one of training."""
    if subject.training is None:
        return not_applicable(NO_TRAINING)
    here, there = map(_relevant_shares, (subject.test, subject.training))
    if min(len(here), len(there)) < FEW_QUERIES:
        return not_applicable(f"Test or training data have fewer than {FEW_QUERIES} queries.")
    low, high = unpaired(here, there).interval(GRADE_CONFIDENCE)
    means = sorted((float(here.mean()), float(there.mean())))
    ratio = means[1] / means[0] if means[0] > 0 else np.inf if means[1] > 0 else 1.0
    differs = not low <= 0 <= high
    message = (
        f"{here.mean():.1%} of the judged documents of a test query are relevant, and "
        f"{there.mean():.1%} in training."
    )
    return Finding(status(differs and ratio > GRADE_RATIO), message, float(ratio), GRADE_RATIO)


def _relevant_shares(part: Part) -> Array:
    """Return the share of relevant documents of each query that has judged ones."""
    n_judged = part.total(part.has_grade)
    shares: Array = part.relevant[n_judged > 0] / n_judged[n_judged > 0]
    return shares


def shifted_features(subject: Subject) -> Finding:
    """Find features whose values in test queries lie above or below those of training."""
    if subject.training is None:
        return not_applicable(NO_TRAINING)
    test, training = subject.test, subject.training
    if min(len(test.queries), len(training.queries)) < FEW_QUERIES:
        return not_applicable(f"Test or training data have fewer than {FEW_QUERIES} queries.")
    numeric = np.flatnonzero(test.features.numeric).tolist()
    if not numeric:
        return not_applicable("No feature has an order.")
    shares = {
        test.features.names[place]: _share_above(_medians(test, place), _medians(training, place))
        for place in numeric
    }
    ranked = sorted(shares, key=lambda name: -abs(shares[name] - 0.5))
    largest = 0.5 + abs(shares[ranked[0]] - 0.5)
    shifted = [name for name in ranked if 0.5 + abs(shares[name] - 0.5) > FEATURE_SHIFT]
    about = (
        f"{ranked[0]}: in {shares[ranked[0]]:.0%} of pairs of a test and a training query, the one "
        "of the test has the larger median"
    )
    message = (
        f"{listed(shifted)} differ{'s' if len(shifted) == 1 else ''} from training. "
        if shifted
        else ""
    )
    return Finding(
        status(bool(shifted)), f"{message}The largest shift has {about}.", largest, FEATURE_SHIFT
    )


def _medians(part: Part, place: int) -> Array:
    """Return the median of a column in each query; missing values are the smallest."""
    values = np.nan_to_num(part.column(place), nan=-np.finfo(float).max)
    values = values[np.lexsort((values, part.numbers))]
    sizes, begins = part.queries.sizes, part.queries.offsets[:-1]
    found: Array = values[begins + (sizes - 1) // 2] / 2 + values[begins + sizes // 2] / 2
    return found


def _share_above(here: Array, there: Array) -> float:
    """Return the share of pairs in which the first value is larger; ties count half."""
    there = np.sort(there)
    below, up_to = (np.searchsorted(there, here, side) for side in ("left", "right"))
    return float((below + up_to).mean() / (2 * len(there)))


def overfitted(subject: Subject) -> Finding:
    """Find a ranker that keeps less than half of its gain over a random order on test queries."""
    if subject.training is None:
        return not_applicable(NO_TRAINING)
    test, training = subject.test, subject.training
    if min(test.contrasts.sum(), training.contrasts.sum()) < FEW_QUERIES:
        return not_applicable(
            f"Fewer than {FEW_QUERIES} test or training queries hold documents of different grades."
        )
    here, there = (_gain(subject, part) for part in (test, training))
    if independent(there).interval()[0] <= 0:
        return not_applicable(
            "The ranker is not proven better than a random order on the training queries."
        )
    kept = float(here.mean() / there.mean())
    found = unpaired(here, KEPT * there).interval()[1] < 0
    message = (
        f"{subject.measure} is {subject.values(training, subject.measure).mean():.4f} on training "
        f"queries and {subject.values(test, subject.measure).mean():.4f} on test queries. The gain "
        f"over a random order is {there.mean():.4f} in training; {kept:.0%} of it is left on test "
        "queries."
    )
    return Finding(status(found), message, kept, KEPT)


def _gain(subject: Subject, part: Part) -> Array:
    """Return the gain over a random order in each query that holds different grades."""
    gain: Array = subject.values(part, subject.measure) - subject.random_order(part)
    return gain[part.contrasts]
