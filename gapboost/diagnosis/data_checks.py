"""Checks of the queries, grades and features of the test data."""

import numpy as np

from gapboost.analysis.estimates import independent
from gapboost.diagnosis.finding import Finding, counted, listed, not_applicable, status
from gapboost.diagnosis.subject import Subject

# The guide gives the reason of each threshold: docs/guide/report.md.
FEW_QUERIES = 20
UNJUDGED_TOP = 10
JUDGED_SHARE = 0.9
CONTRAST_SHARE = 0.5
DUPLICATE_SHARE = 0.1
LEAK = 0.95


def unjudged(subject: Subject) -> Finding:
    """Find a small share of judged documents among the first ten of each query."""
    test = subject.test
    if test.has_grade.all():
        return not_applicable(
            "Every document has a grade; y holds NaN for documents that nobody judged."
        )
    top = test.ranks <= UNJUDGED_TOP
    share = float((test.total(top & test.has_grade) / test.total(top)).mean())
    message = (
        f"{share:.0%} of the first {UNJUDGED_TOP} documents of a query are judged, and "
        f"{test.has_grade.mean():.0%} of all. The others count as not relevant."
    )
    return Finding(status(share < JUDGED_SHARE), message, share, JUDGED_SHARE)


def no_contrast(subject: Subject) -> Finding:
    """Find many queries whose documents all have one grade."""
    test = subject.test
    share = float(test.contrasts.mean())
    same = ~test.contrasts
    single, none = test.queries.sizes == 1, test.relevant == 0
    message = (
        f"{counted(int(same.sum()), 'query', 'queries')} of {len(same):,} hold one grade alone"
    )
    if same.any():
        message += (
            f": {(same & single).sum():,} with one document, {(same & ~single & none).sum():,} "
            f"with several and none relevant, {(same & ~single & ~none).sum():,} with several of "
            "one positive grade"
        )
    return Finding(status(share < CONTRAST_SHARE), f"{message}.", share, CONTRAST_SHARE)


def duplicate_documents(subject: Subject) -> Finding:
    """Find documents of a query with the same values of all features."""
    test = subject.test
    order = np.lexsort((test.digests, test.numbers))
    digests, numbers, grades = test.digests[order], test.numbers[order], test.data.grades[order]
    first = np.append(True, (digests[1:] != digests[:-1]) | (numbers[1:] != numbers[:-1]))
    group = np.cumsum(first) - 1
    copies = np.bincount(group)[group] > 1
    begins = np.flatnonzero(first)
    differ = (np.maximum.reduceat(grades, begins) != np.minimum.reduceat(grades, begins))[group]
    share = float(copies.mean())
    message = (
        f"{share:.1%} of the documents have the same values of all features as another document of "
        "their query"
    )
    message += f"; {differ.mean():.1%} of all as one with another grade." if copies.any() else "."
    return Finding(status(share > DUPLICATE_SHARE), message, share, DUPLICATE_SHARE)


def label_leak(subject: Subject) -> Finding:
    """Find a feature that alone ranks nearly all documents of a grade, and higher ones, first."""
    test = subject.test
    grades, sizes = test.data.grades, test.queries.sizes
    tested = []
    for number, threshold in enumerate(subject.thresholds):
        above = test.total(grades >= threshold)
        mixed = (above > 0) & (above < sizes)
        if mixed.sum() >= FEW_QUERIES:
            tested.append((number, threshold, mixed))
    if not tested:
        return not_applicable(
            f"Fewer than {FEW_QUERIES} test queries hold documents of different grades."
        )
    if not subject.alone:
        return not_applicable("No feature has an order and varies within a query.")
    limits: dict[str, tuple[float, float]] = {}
    for alone in subject.alone:
        for number, threshold, mixed in tested:
            low = independent(alone.precisions[number][mixed]).interval(family=len(subject.alone))[
                0
            ]
            limits[alone.feature] = max(limits.get(alone.feature, (0.0, 0.0)), (low, threshold))
    ranked = sorted(limits, key=lambda feature: -limits[feature][0])
    leaks = [feature for feature in ranked if limits[feature][0] > LEAK]
    best, threshold = limits[ranked[0]]
    about = (
        f"average precision for grades from {threshold:g} on: {best:.3f} at least, by its interval"
    )
    if leaks:
        message = (
            f"{listed(leaks)} alone rank{'s' if len(leaks) == 1 else ''} like the grades. "
            f"{leaks[0]} has the {about}."
        )
    else:
        message = (
            f"No feature alone ranks like the grades. The best one, {ranked[0]}, has the {about}."
        )
    return Finding(status(bool(leaks)), message, best, LEAK)


def constant_features(subject: Subject) -> Finding:
    """Find features that are constant within all test queries, though not by their nature."""
    test, training = subject.test, subject.training
    if (test.queries.sizes > 1).sum() < FEW_QUERIES:
        return not_applicable(f"Fewer than {FEW_QUERIES} test queries have two documents.")
    names = test.features.names
    constant = [place for place in range(len(names)) if not test.varies(place).any()]
    empty = [place for place in constant if len(np.unique(test.column(place))) == 1]
    broken = [
        place
        for place in constant
        if training is not None and _varies_mostly(training.varies(place))
    ]
    of_query = [names[place] for place in constant if place not in {*empty, *broken}]
    parts = []
    if broken:
        parts.append(
            "Constant within each test query, and not in training: "
            f"{listed([names[p] for p in broken])}."
        )
    if left := [names[place] for place in empty if place not in broken]:
        parts.append(f"One value in all test documents: {listed(left)}.")
    if of_query:
        parts.append(
            "Features of the query, which order documents only together with others: "
            f"{listed(of_query)}."
        )
    found = {*empty, *broken}
    return Finding(
        status(bool(found)), " ".join(parts) or "All features vary within queries.", len(found), 0
    )


def _varies_mostly(varies: np.ndarray) -> bool:
    return bool(varies.mean() >= CONTRAST_SHARE)
