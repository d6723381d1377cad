"""Checks of a ranker and of its test data, and the list of all checks.

The guide gives the meaning of each check and the reason of each threshold: docs/guide/report.md.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from gapboost.analysis.leaks import FEW_QUERIES, orders, rank_alone
from gapboost.analysis.standard_errors import Estimate, independent
from gapboost.data import Array
from gapboost.diagnosis.chance import welch
from gapboost.diagnosis.scored import ScoredDataset
from gapboost.optional import DataFrame, frame
from gapboost.validation import short_repr

FOUND, PASSED, NOT_APPLICABLE, IGNORED = "found", "passed", "not applicable", "ignored"

UNJUDGED_TOP = 10
JUDGED_SHARE = 0.9
CONTRAST_SHARE = 0.5
DUPLICATE_SHARE = 0.1
TIE_RANGE = 0.01
LONG_LIST = 5
GRADE_RATIO = 1.5
CONFIDENCE = 0.999
FEATURE_SHIFT = 0.9
KEPT = 0.5


class Finding(NamedTuple):
    """Result of a check: its status, a message, and the number that decides with its threshold."""

    status: str
    message: str
    value: float = math.nan
    threshold: float = math.nan


class NotApplicableError(Exception):
    """A check cannot be made; the message is the reason."""


# Whether a fault was found, a message, the number that decides, and its threshold.
Outcome = tuple[object, str, float, float]


def check_ignored(ignore: Any, checks: Iterable[str]) -> None:
    """Raise ValueError if `ignore` is no list of ids of checks."""
    if not np.iterable(ignore) or not set(ignore) <= set(checks):
        raise ValueError(f"ignore is {short_repr(ignore)}; expected a list of {', '.join(checks)}")


def run_checks(
    checks: Mapping[str, Callable[..., Outcome]], ignore: Sequence[str], *data: Any
) -> dict[str, Finding]:
    """Return the finding of each check of these data, by its id."""
    ignored = Finding(IGNORED, "Skipped by ignore.")
    return {
        name: ignored if name in ignore else _finding(check, data) for name, check in checks.items()
    }


def _finding(check: Callable[..., Outcome], data: tuple[Any, ...]) -> Finding:
    try:
        found, message, value, threshold = check(*data)
    except NotApplicableError as reason:
        return Finding(NOT_APPLICABLE, str(reason))
    return Finding(FOUND if found else PASSED, message, float(value), threshold)


def table_of_checks(findings: Mapping[str, Finding], guide: str) -> DataFrame:
    """Return a data frame with one row a check; `guide` is the page with a section for each."""
    rows = [
        {"check": name, **finding._asdict(), "link": f"{guide}#{name}"}
        for name, finding in findings.items()
    ]
    return frame(rows, ["check"])


def section_of_findings(checks: DataFrame, guide: str, what: str) -> list[object]:
    """Return the section of a page with what was found; `checks` is a `table_of_checks`."""
    found = checks.loc[checks["status"] == FOUND, ["message"]].reset_index()
    n_made = checks["status"].isin((FOUND, PASSED)).sum()
    summary = f"{len(found)} of {n_made} checks that were made found a {what}."
    tables = [found] if len(found) else []
    return [summary, *tables, f"About the checks: {guide} in the documentation."]


def need(condition: object, reason: str) -> None:
    """Raise NotApplicableError with the reason if the condition is not met."""
    if not condition:
        raise NotApplicableError(reason)


def need_training(training: object) -> None:
    """Raise NotApplicableError if there are no training data."""
    need(training, "No training data: pass X_train, y_train and qid_train.")


def need_queries(*numbers: int, those: str = "allow the check") -> None:
    """Raise NotApplicableError if one of these numbers of queries is too small for statistics."""
    need(min(numbers) >= FEW_QUERIES, f"Fewer than {FEW_QUERIES} queries {those}.")


def need_contrasts(*parts: ScoredDataset) -> None:
    """Raise NotApplicableError if few queries hold documents of different grades."""
    need_queries(*(rows.has_mixed_grades.sum() for rows in parts), those="hold different grades")


def listed(names: Iterable[str], n: int = 8) -> str:
    """Return names with commas between, the first ones of many."""
    names = [str(name) for name in names]
    first = ", ".join(names[:n])
    return f"{first}, and {len(names) - n} more" if len(names) > n else first


def with_interval(estimate: Estimate, family: int = 1) -> str:
    """Return a difference with its interval."""
    low, high = estimate.interval(family=family)
    return f"{estimate.mean:+.4f} ({low:+.4f} to {high:+.4f})".replace("-", "−")


# --- the ranker -----------------------------------------------------------------------------------


def weak_ranker(test: ScoredDataset, training: ScoredDataset | None) -> Outcome:
    """Find a ranker that is not better than a random order, or worse than one feature alone."""
    need_contrasts(test)
    gain = independent(test.gain)
    message = f"In {test.measure}, the difference from a random order is {with_interval(gain)}"
    if gain.interval()[0] <= 0:
        return True, f"{message}.", gain.mean, 0
    alone = {
        f"{feature}, {direction}": test.first(scores)
        for feature, column in test.ordered()
        for direction, scores in orders(column).items()
    }
    if not alone:
        return False, f"{message}.", 0, 0
    best = max(alone, key=lambda one: float(alone[one].mean()))
    ahead = independent(test.values[test.measure] - alone[best])
    message += f", and from the best feature alone ({best}) {with_interval(ahead, len(alone))}."
    return ahead.interval(family=len(alone))[1] < 0, message, ahead.mean, 0


def overfitted(test: ScoredDataset, training: ScoredDataset) -> Outcome:
    """Find a ranker that keeps less than half of its gain on training queries, beyond chance.

    The gain is that over a random order.
    """
    need_training(training)
    need_contrasts(test, training)
    here, there = (rows.gain[rows.has_mixed_grades] for rows in (test, training))
    is_proven = independent(there).interval()[0] > 0
    need(is_proven, "On training queries it is not proven better than a random order.")
    kept = here.mean() / there.mean()
    message = f"{kept:.0%} of the gain over a random order on training queries is left."
    high = welch(here, KEPT * there).confidence_interval().high
    return high < 0, message, kept, KEPT


def ties(test: ScoredDataset, training: ScoredDataset | None) -> Outcome:
    """Find ties that move the mean of the first measure by their order."""
    others = ~_constant(test)
    best, worst = (test.first(_without_ties(test, sign))[others].sum() for sign in (1, -1))
    spread = max(best - worst, 0.0) / len(test.sizes)
    message = f"By the order of tied documents, {test.measure} differs by up to {spread:.4f}."
    return spread > TIE_RANGE, message, spread, TIE_RANGE


def _without_ties(rows: ScoredDataset, sign: int) -> Array:
    """Return scores in the same order, with ties broken by grade, or against it with sign -1.

    Documents with the same features stay tied: no ranker can order them.
    """
    table = frame({"query": rows.numbers, "score": -rows.scores, "grade": -sign * rows.grades})
    table["grade"] = table.groupby(["query", rows.digests])["grade"].transform("mean")
    found: Array = -table.groupby(["query", "score", "grade"]).ngroup().to_numpy(np.float64)
    return found


def constant_scores(test: ScoredDataset, training: ScoredDataset | None) -> Outcome:
    """Find long queries of different documents that all have the same score."""
    long, constant = _long(test), _constant(test)
    need(long.any(), f"No test query has {LONG_LIST} documents that differ.")
    return constant.any(), _some(test, constant, long.sum(), "have one score"), constant.sum(), 0


def _some(rows: ScoredDataset, faulty: Array, among: int, words: str) -> str:
    """Return the number of faulty queries and the ids of the first ones, for a message."""
    ids = f": {listed(rows.ids[faulty], 3)}" if faulty.any() else ""
    return f"{faulty.sum():,} of {among:,} queries {words}{ids}."


def _long(rows: ScoredDataset) -> Array:
    return (rows.sizes >= LONG_LIST) & rows.differ(rows.digests)


def _constant(rows: ScoredDataset) -> Array:
    return _long(rows) & ~rows.differ(rows.scores)


# --- test data ------------------------------------------------------------------------------------


def label_leak(test: ScoredDataset, training: ScoredDataset | None) -> Outcome:
    """Find a feature that alone ranks nearly all documents of a grade, and higher ones, first."""
    need_contrasts(test)
    ranked = rank_alone(test.ordered(), test.grades, test.numbers)
    need(ranked, "No feature has an order and varies within a query.")
    best, leaks = ranked[0], [one.feature for one in ranked if one.low > one.limit]
    message = f"{listed(leaks) or 'No feature'} alone ranks like the grades. The average precision "
    message += f"of {best.feature} is {best.low:.3f} at least, from grade {best.grade:g} on."
    return leaks, message, best.low, best.limit


def constant_features(test: ScoredDataset, training: ScoredDataset) -> Outcome:
    """Find features that are constant within all test queries, though not by their nature."""
    need_training(training)
    need_queries(*((rows.sizes > 1).sum() for rows in (test, training)))
    faulty = training.varies.mean() >= CONTRAST_SHARE
    faulty |= faulty.index.isin(test.constant_beside(training, 1 - CONFIDENCE))
    ids = np.repeat(test.ids, test.sizes)
    faulty |= np.array([np.array_equal(test.features[name], ids) for name in faulty.index])
    constant = test.features.columns[~test.varies.any()]
    found = [name for name in constant if faulty[name]]
    message = f"Constant in test queries, and not features of the query: {listed(found) or 'none'}."
    return found, message, len(found), 0


def unjudged(test: ScoredDataset, training: ScoredDataset | None) -> Outcome:
    """Find a small share of judged documents among the first ten of each query."""
    need(not test.has_grade.all(), "Every document has a grade; NaN in y marks unjudged ones.")
    top = test.ranks <= UNJUDGED_TOP
    share = (test.total(top & test.has_grade) / test.total(top)).mean()
    message = f"{share:.0%} of the first {UNJUDGED_TOP} documents of a query are judged."
    return share < JUDGED_SHARE, message, share, JUDGED_SHARE


def no_contrast(test: ScoredDataset, training: ScoredDataset | None) -> Outcome:
    """Find many queries whose documents all have one grade."""
    share = test.has_mixed_grades.mean()
    message = f"{share:.1%} of the queries hold documents of different grades."
    return share < CONTRAST_SHARE, message, share, CONTRAST_SHARE


def duplicate_documents(test: ScoredDataset, training: ScoredDataset | None) -> Outcome:
    """Find documents of a query with the same values of all features."""
    copies = frame({"query": test.numbers, "digest": test.digests}).duplicated(keep=False)
    message = f"{copies.mean():.1%} of the documents have the features of another of their query."
    return copies.mean() > DUPLICATE_SHARE, message, copies.mean(), DUPLICATE_SHARE


# --- test and training data -----------------------------------------------------------------------


def shared_queries(test: ScoredDataset, training: ScoredDataset) -> Outcome:
    """Find test queries that are training queries, by their ids or by all their documents."""
    need_training(training)
    ids = frame({"id": list(test.ids)})["id"].isin(list(training.ids)).to_numpy()
    # Equal documents alone, such as of zeros, say nothing about the query.
    known = training.contents[training.differ(training.digests)]
    shared = ids | np.isin(test.contents, known)
    message = _some(test, shared, len(shared), "are in the training data, by id or documents")
    return shared.any(), message, shared.sum(), 0


def shifted_grades(test: ScoredDataset, training: ScoredDataset) -> Outcome:
    """Find a share of relevant documents that differs from the one of training."""
    need_training(training)
    shares = []
    for rows in (test, training):
        n_judged = rows.total(rows.has_grade)
        shares.append(rows.relevant[n_judged > 0] / n_judged[n_judged > 0])
    need_queries(*map(len, shares))
    test_of_means = welch(*shares)
    low, high = test_of_means.confidence_interval(CONFIDENCE)
    here, there = (share.mean() for share in shares)
    smaller, larger = sorted((here, there))
    ratio = larger / smaller if smaller > 0 else np.inf if larger > 0 else 1.0
    message = (
        f"{here:.1%} of the judged documents of a test query are relevant, and {there:.1%} in "
        "training."
    )
    return not low <= 0 <= high and ratio > GRADE_RATIO, message, ratio, GRADE_RATIO


def shifted_features(test: ScoredDataset, training: ScoredDataset) -> Outcome:
    """Find features whose values in test queries lie above or below those of training."""
    need_training(training)
    need_queries(len(test.sizes), len(training.sizes))
    need(test.numeric, "No feature has an order.")
    medians = [rows.medians[test.numeric] for rows in (test, training)]
    # Pairs in which the test query has the larger median; ties count half.
    larger = stats.mannwhitneyu(*medians, method="asymptotic").statistic
    above = larger / (len(test.sizes) * len(training.sizes))
    shares = 0.5 + np.abs(above - 0.5)
    order = np.argsort(-shares, kind="stable")
    first = order[0]
    shifted = [test.numeric[place] for place in order if shares[place] > FEATURE_SHIFT]
    message = (
        f"{listed(shifted) or 'No feature'} differ{'s' * (len(shifted) < 2)} from training. "
        f"In {above[first]:.0%} of pairs of a test and a training query, {test.numeric[first]} is "
        "larger in the test query."
    )
    return shifted, message, shares[first], FEATURE_SHIFT


CHECKS: dict[str, Callable[[ScoredDataset, Any], Outcome]] = {
    check.__name__.replace("_", "-"): check
    for check in (
        weak_ranker,
        overfitted,
        shared_queries,
        label_leak,
        shifted_grades,
        shifted_features,
        constant_features,
        unjudged,
        no_contrast,
        duplicate_documents,
        ties,
        constant_scores,
    )
}
