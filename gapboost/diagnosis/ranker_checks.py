"""Checks of the scores of the ranker."""

import numpy as np

from gapboost._kernels import Array
from gapboost._pages.text import signed
from gapboost.analysis.estimates import independent
from gapboost.diagnosis.data_checks import FEW_QUERIES
from gapboost.diagnosis.finding import Finding, counted, listed, not_applicable, status
from gapboost.diagnosis.part import Part
from gapboost.diagnosis.subject import Subject

# The guide gives the reason of each threshold: docs/guide/report.md.
TIE_RANGE = 0.01
LONG_LIST = 5


def ties(subject: Subject) -> Finding:
    """Find ties that move the mean of the first measure by their order."""
    test, measure = subject.test, subject.measures[subject.measure]
    open_queries = ~_constant(test)
    best, worst = (
        float(test.values(measure, _without_ties(test, sign))[open_queries].sum())
        for sign in (1, -1)
    )
    spread = max(best - worst, 0.0) / len(test.queries)
    message = (
        f"{_tied(test).mean():.1%} of the documents have the score of another document of their "
        f"query. Between the worst and the best order of ties, {subject.measure} differs by "
        f"{spread:.4f}."
    )
    return Finding(status(spread > TIE_RANGE), message, spread, TIE_RANGE)


def _without_ties(part: Part, sign: int) -> Array:
    """Return scores in the same order, with ties broken by grade, or against it with sign -1.

    Documents with the same features stay tied: no ranker can order them.
    """
    same = np.unique(
        np.column_stack((part.numbers.astype(np.uint64), part.digests)), axis=0, return_inverse=True
    )[1].ravel()
    means = (np.bincount(same, part.data.grades) / np.bincount(same))[same]
    keys = (part.numbers, -part.scores, -sign * means)
    order = np.lexsort(keys[::-1])
    differs = np.any([np.diff(key[order], prepend=np.nan) != 0 for key in keys], axis=0)
    found = np.empty(len(order))
    found[order] = -np.cumsum(differs)
    return found


def _tied(part: Part) -> Array:
    order = np.lexsort((part.scores, part.numbers))
    same = (np.diff(part.scores[order]) == 0) & (np.diff(part.numbers[order]) == 0)
    tied: Array = np.append(False, same) | np.append(same, False)
    return tied


def constant_scores(subject: Subject) -> Finding:
    """Find long queries of different documents that all have the same score."""
    test = subject.test
    long = _long(test)
    if not long.any():
        return not_applicable(f"No test query has {LONG_LIST} documents that differ.")
    constant = _constant(test)
    message = (
        f"{counted(int(constant.sum()), 'query', 'queries')} of {long.sum():,} with one score for "
        "all documents."
    )
    if constant.any():
        message += f" Such as: {listed([str(query) for query in test.queries.ids[constant]], 3)}."
    return Finding(status(bool(constant.any())), message, int(constant.sum()), 0)


def _long(part: Part) -> Array:
    """Return True for each query with many documents that are not all equal, bool of shape (Q,)."""
    begins = part.queries.offsets[:-1]
    differ = np.maximum.reduceat(part.digests, begins) != np.minimum.reduceat(part.digests, begins)
    found: Array = (part.queries.sizes >= LONG_LIST) & differ
    return found


def _constant(part: Part) -> Array:
    """Return True for each query that `constant_scores` finds."""
    found: Array = _long(part) & (part.span(part.scores) == 0)
    return found


def weak_ranker(subject: Subject) -> Finding:
    """Find a ranker that is not better than a random order, or worse than one feature alone."""
    test, name = subject.test, subject.measure
    if test.contrasts.sum() < FEW_QUERIES:
        return not_applicable(
            f"Fewer than {FEW_QUERIES} test queries hold documents of different grades."
        )
    values = subject.values(test, name)
    over_random = independent(values - subject.random_order(test))
    if over_random.interval()[0] <= 0:
        low, high = over_random.interval()
        message = (
            f"Not proven better than a random order: the difference in {name} is "
            f"{signed(over_random.mean)} ({signed(low)} to {signed(high)})."
        )
        return Finding(status(True), message, over_random.mean, 0)
    if not subject.alone:
        return Finding(
            status(False),
            f"Better than a random order by {signed(over_random.mean)} in {name}.",
            0.0,
            0,
        )
    best = max(subject.alone, key=lambda alone: float(alone.values.mean()))
    ahead = independent(best.values - values)
    low, high = ahead.interval(family=len(subject.alone))
    message = (
        f"Better than a random order by {signed(over_random.mean)} in {name}. The best feature "
        f"alone is {best.feature}, {best.direction}: {signed(ahead.mean)} ({signed(low)} to "
        f"{signed(high)}) from the ranker."
    )
    return Finding(status(low > 0), message, -ahead.mean, 0)
