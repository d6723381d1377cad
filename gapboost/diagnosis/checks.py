"""Checks of a ranker and of its test data, and the list of all checks.

The guide gives the meaning of each check and the reason of each threshold: docs/guide/report.md.
"""

from collections.abc import Callable

import numpy as np

from gapboost._kernels import Array
from gapboost.analysis.estimates import independent
from gapboost.analysis.leaks import FEW_QUERIES, orders, rank_alone
from gapboost.diagnosis import training_checks
from gapboost.diagnosis.finding import (
    Finding,
    counted,
    decided,
    listed,
    not_applicable,
    signed,
)
from gapboost.diagnosis.rows import Rows, Subject

UNJUDGED_TOP = 10
JUDGED_SHARE = 0.9
CONTRAST_SHARE = 0.5
DUPLICATE_SHARE = 0.1
TIE_RANGE = 0.01
LONG_LIST = 5


# --- the ranker -----------------------------------------------------------------------------------


def weak_ranker(subject: Subject) -> Finding:
    """Find a ranker that is not better than a random order, or worse than one feature alone."""
    test, name = subject.test, subject.measure
    if test.contrasts.sum() < FEW_QUERIES:
        return not_applicable(
            f"Fewer than {FEW_QUERIES} test queries hold documents of different grades."
        )
    over_random = independent(subject.gain(test))
    low, high = over_random.interval()
    if low <= 0:
        message = (
            f"Not proven better than a random order: the difference in {name} is "
            f"{signed(over_random.mean)} ({signed(low)} to {signed(high)})."
        )
        return decided(True, message, over_random.mean, 0)
    message = f"Better than a random order by {signed(over_random.mean)} in {name}."
    alone = {
        f"{feature}, {direction}": subject.first(test, scores)
        for feature, column in test.ordered()
        for direction, scores in orders(column).items()
    }
    if not alone:
        return decided(False, message, 0, 0)
    best = max(alone, key=lambda one: float(alone[one].mean()))
    ahead = independent(alone[best] - subject.here[name])
    low, high = ahead.interval(family=len(alone))
    message += (
        f" The best feature alone is {best}: {signed(ahead.mean)} ({signed(low)} to "
        f"{signed(high)}) from the ranker."
    )
    return decided(low > 0, message, -ahead.mean, 0)


def ties(subject: Subject) -> Finding:
    """Find ties that move the mean of the first measure by their order."""
    test = subject.test
    others = ~_constant(test)
    best, worst = (
        float(subject.first(test, _without_ties(test, sign))[others].sum()) for sign in (1, -1)
    )
    spread = max(best - worst, 0.0) / len(test.sizes)
    order = np.lexsort((test.scores, test.numbers))
    same = (np.diff(test.scores[order]) == 0) & (np.diff(test.numbers[order]) == 0)
    share = (np.append(False, same) | np.append(same, False)).mean()
    message = (
        f"{share:.1%} of the documents have the score of another document of their query. Between "
        f"the worst and the best order of ties, {subject.measure} differs by {spread:.4f}."
    )
    return decided(spread > TIE_RANGE, message, spread, TIE_RANGE)


def _without_ties(rows: Rows, sign: int) -> Array:
    """Return scores in the same order, with ties broken by grade, or against it with sign -1.

    Documents with the same features stay tied: no ranker can order them.
    """
    same = np.column_stack((rows.numbers.astype(np.uint64), rows.digests))
    same = np.unique(same, axis=0, return_inverse=True)[1].ravel()
    means = (np.bincount(same, rows.grades) / np.bincount(same))[same]
    keys = (rows.numbers, -rows.scores, -sign * means)
    order = np.lexsort(keys[::-1])
    differs = np.any([np.diff(key[order], prepend=np.nan) != 0 for key in keys], axis=0)
    found = np.empty(len(order))
    found[order] = -np.cumsum(differs)
    return found


def constant_scores(subject: Subject) -> Finding:
    """Find long queries of different documents that all have the same score."""
    test = subject.test
    long, constant = _long(test), _constant(test)
    if not long.any():
        return not_applicable(f"No test query has {LONG_LIST} documents that differ.")
    message = (
        f"{counted(int(constant.sum()), 'query', 'queries')} of {long.sum():,} with one score for "
        "all documents."
    )
    if constant.any():
        message += f" Such as: {listed(test.ids[constant], 3)}."
    return decided(constant.any(), message, constant.sum(), 0)


def _long(rows: Rows) -> Array:
    return (rows.sizes >= LONG_LIST) & rows.differ(rows.digests)


def _constant(rows: Rows) -> Array:
    return _long(rows) & ~rows.differ(rows.scores)


# --- test data ------------------------------------------------------------------------------------


def label_leak(subject: Subject) -> Finding:
    """Find a feature that alone ranks nearly all documents of a grade, and higher ones, first."""
    ranked = rank_alone(subject.test.ordered(), subject.test.grades, subject.test.numbers)
    if not ranked:
        return not_applicable(
            f"Fewer than {FEW_QUERIES} test queries hold documents of different grades, or no "
            "feature has an order and varies within a query."
        )
    best, leaks = ranked[0], [one.feature for one in ranked if one.low > one.least]
    message = (
        f"{listed(leaks) or 'No feature'} alone rank{'s' * (len(leaks) < 2)} like the grades. The "
        f"best one, {best.feature}, has the average precision for grades from {best.grade:g} on: "
        f"{best.low:.3f} at least, by its interval."
    )
    return decided(leaks, message, best.low, best.least)


def constant_features(subject: Subject) -> Finding:
    """Find features that are constant within all test queries, though not by their nature."""
    test, training, names = subject.test, subject.training, subject.test.names
    if (test.sizes > 1).sum() < FEW_QUERIES:
        return not_applicable(f"Fewer than {FEW_QUERIES} test queries have two documents.")
    constant = [place for place in range(len(names)) if not test.varies(place).any()]
    broken, empty, of_query = [], [], []
    for place in constant:
        if training is not None and training.varies(place).mean() >= CONTRAST_SHARE:
            broken.append(names[place])
        elif len(np.unique(test.column(place))) == 1:
            empty.append(names[place])
        else:
            of_query.append(names[place])
    heads = {
        "Constant within each test query, and not in training": broken,
        "One value in all test documents": empty,
        "Features of the query, which order documents only together with others": of_query,
    }
    parts = [f"{head}: {listed(columns)}." for head, columns in heads.items() if columns]
    message = " ".join(parts) or "All features vary within queries."
    return decided(broken or empty, message, len(broken) + len(empty), 0)


def unjudged(subject: Subject) -> Finding:
    """Find a small share of judged documents among the first ten of each query."""
    test = subject.test
    if test.has_grade.all():
        return not_applicable(
            "Every document has a grade; y holds NaN for documents that nobody judged."
        )
    top = test.ranks <= UNJUDGED_TOP
    share = (test.total(top & test.has_grade) / test.total(top)).mean()
    message = (
        f"{share:.0%} of the first {UNJUDGED_TOP} documents of a query are judged, and "
        f"{test.has_grade.mean():.0%} of all. The others count as not relevant."
    )
    return decided(share < JUDGED_SHARE, message, share, JUDGED_SHARE)


def no_contrast(subject: Subject) -> Finding:
    """Find many queries whose documents all have one grade."""
    test = subject.test
    same, single, none = ~test.contrasts, test.sizes == 1, test.relevant == 0
    message = (
        f"{counted(int(same.sum()), 'query', 'queries')} of {len(same):,} hold one grade alone"
    )
    if same.any():
        message += (
            f": {(same & single).sum():,} with one document, {(same & ~single & none).sum():,} "
            f"with several and none relevant, {(same & ~single & ~none).sum():,} with several of "
            "one positive grade"
        )
    share = test.contrasts.mean()
    return decided(share < CONTRAST_SHARE, f"{message}.", share, CONTRAST_SHARE)


def duplicate_documents(subject: Subject) -> Finding:
    """Find documents of a query with the same values of all features."""
    test = subject.test
    order = np.lexsort((test.digests, test.numbers))
    keys = [key[order] for key in (test.digests, test.numbers)]
    first = np.append(True, np.any([key[1:] != key[:-1] for key in keys], axis=0))
    group, begins, grades = np.cumsum(first) - 1, np.flatnonzero(first), test.grades[order]
    copies = np.bincount(group)[group] > 1
    differ = np.maximum.reduceat(grades, begins) != np.minimum.reduceat(grades, begins)
    share = copies.mean()
    message = (
        f"{share:.1%} of the documents have the same values of all features as another document of "
        "their query"
    )
    message += f"; {differ[group].mean():.1%} of all as one with another grade." if share else "."
    return decided(share > DUPLICATE_SHARE, message, share, DUPLICATE_SHARE)


CHECKS: dict[str, Callable[[Subject], Finding]] = {
    check.__name__.replace("_", "-"): check
    for check in (
        weak_ranker,
        training_checks.overfitted,
        training_checks.shared_queries,
        label_leak,
        training_checks.shifted_grades,
        training_checks.shifted_features,
        constant_features,
        unjudged,
        no_contrast,
        duplicate_documents,
        ties,
        constant_scores,
    )
}
