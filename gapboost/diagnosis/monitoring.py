"""New rows without grades beside those of training: checks, features and scores.

Each check compares shares of rows: the largest difference of two distribution functions, half the
sum of the differences of the shares of categories, or the difference of the shares of rows that are
missing or tied. What chance explains is in `diagnosis.chance`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import stats

from gapboost.data import Array, QueryIds, without_qid
from gapboost.data import features as checked_features
from gapboost.diagnosis.chance import (
    LEVEL,
    largest_of_categories,
    largest_of_shares,
    largest_shift,
    lie_apart,
)
from gapboost.diagnosis.checks import (
    FOUND,
    Finding,
    Outcome,
    check_ignored,
    listed,
    need,
    run_checks,
    section_of_findings,
    table_of_checks,
)
from gapboost.diagnosis.scored import ScoredDataset, all_among, check_columns_alike
from gapboost.diagnosis.shifts import (
    MOVED,
    compared_values,
    medians_by_query,
    shares_of,
    shift_of,
    text_of_shift,
)
from gapboost.optional import DataFrame, frame
from gapboost.page import write_page
from gapboost.validation import PathLike

# Page of the documentation with a section for each check.
GUIDE = "docs/guide/monitor.md"

# Share of rows that must be missing, tied or a copy.
CHANGED = 0.1
# Messages of checks that few queries leave open, in whole or in part, have these words.
FEW = "Too few queries"
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class Monitoring:
    """Result of `gapboost.report` without grades.

    Attributes
    ----------
    new, training : ScoredDataset
    findings : dict {id of a check: Finding}
    features : pandas.DataFrame
        One row a feature, the most shifted first: ``shift``, of its values that are not missing (or
        of those other than a common one, if they moved more): the largest difference of the two
        distribution functions, or for text and categories half the sum of the differences of the
        shares, without their signs; ``median`` and ``95%`` quantile of numbers, and the same ``in
        training``; shares ``missing`` and ``missing in training``; ``constant`` in new rows;
        ``copy of``, the first one with equal values in new rows, unless constant.

    Examples
    --------
    >>> import gapboost as gb
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.lightgbm import LGBMGAPRanker
    >>> train, vali, test = load_digits_ranking((60, 20, 60), 20)
    >>> ranker = LGBMGAPRanker(n_estimators=20, n_jobs=1, verbose=-1)
    >>> ranker = ranker.fit(train.X, train.y, qid=train.qid)
    >>> test.X[:, 3] *= 1000
    >>> found = gb.report(ranker, test.X, qid=test.qid, X_train=train.X, qid_train=train.qid)
    >>> found
    Monitoring(60 new queries; found: shifted-features)
    """

    new: ScoredDataset
    training: ScoredDataset
    findings: dict[str, Finding]
    features: DataFrame

    def __repr__(self) -> str:
        found = [name for name, finding in self.findings.items() if finding.status == FOUND]
        few = [name for name, finding in self.findings.items() if FEW in finding.message]
        ending = f"; too few queries: {', '.join(few)}" if few else ""
        return (
            f"Monitoring({len(self.new.ids)} new queries; found: "
            f"{', '.join(found) or 'nothing'}{ending})"
        )

    @cached_property
    def checks(self) -> DataFrame:
        """Data frame with one row a check, as `Report.checks`."""
        return table_of_checks(self.findings, GUIDE)

    @cached_property
    def scores(self) -> DataFrame:
        """Data frame with quantiles of the scores of new and training rows."""
        columns = {
            name: np.quantile(rows.scores, QUANTILES)
            for name, rows in (("new", self.new), ("training", self.training))
        }
        return frame({"quantile": [f"{q:.0%}" for q in QUANTILES], **columns}, ["quantile"])

    def to_html(self, path: PathLike) -> None:
        """Write one HTML file, readable offline; needs jinja2 and matplotlib."""
        checks = self.checks.drop(columns="link")
        sections = {
            "Findings": section_of_findings(checks, GUIDE, "change"),
            "Scores": [self.scores],
            "Features, the most shifted ones first": [self.features],
            "All checks": [checks],
        }
        write_page(path, "What changed since training?", sections)


def monitor(
    ranker: object,
    X: object,
    qid: QueryIds,
    X_train: object,
    qid_train: QueryIds,
    ignore: Sequence[str],
) -> Monitoring:
    """Compare new rows with those of training; arguments as of `gapboost.report`."""
    if X_train is None:
        raise ValueError("y is None and so is X_train; expected grades, or rows of training")
    check_ignored(ignore, CHECKS)
    new = _without_grades(ranker, X, qid, "")
    training = _without_grades(ranker, X_train, qid_train, "_train")
    check_columns_alike(new, training)
    by_feature = _features(new, training)
    findings = run_checks(CHECKS, ignore, new, training, by_feature)
    by_shift = by_feature.sort_values("shift", ascending=False, kind="stable")
    return Monitoring(new, training, findings, by_shift)


def _without_grades(ranker: object, X: object, qid: QueryIds, suffix: str) -> ScoredDataset:
    name = f"X{suffix}"
    grades = np.zeros(checked_features(without_qid(X, name)[0], name).shape[0])
    names = {"X": name, "y": name, "qid": f"qid{suffix}"}
    # What the ranker does not score in training is an error of the call.
    return ScoredDataset(ranker, X, grades, qid, (), names, may_fail=not suffix)


def _features(new: ScoredDataset, training: ScoredDataset) -> DataFrame:
    parts = (new.features, training.features)
    missing = [table.isna().mean() for table in parts]
    shifts = [shift_of(name, new, training) if has_values else 0.0
              for name, has_values in (np.maximum(*missing) < 1).items()]  # fmt: skip
    quantiles = {
        f"{quantile}{where}": rows.features[rows.numeric].quantile(q).reindex(rows.features.columns)
        for quantile, q in (("median", 0.5), ("95%", 0.95))
        for where, rows in (("", new), (" in training", training))
    }
    constant = new.features.nunique(dropna=False) == 1
    columns = {
        "feature": [*new.features],
        "shift": shifts,
        **quantiles,
        "missing": missing[0],
        "missing in training": missing[1],
        "constant": constant,
        "copy of": np.where(constant, "", _copies(new.features)),
    }
    return frame({name: np.asarray(column) for name, column in columns.items()}, ["feature"])


def _copies(table: DataFrame) -> list[str]:
    """Return the first feature with the same values as each feature; "" if it is the first."""
    first: dict[bytes, str] = {}
    found = [first.setdefault(table[name].to_numpy().tobytes(), name) for name in table]
    return ["" if one == name else one for one, name in zip(found, table, strict=True)]


def _need_queries(possible: object, new: ScoredDataset, training: ScoredDataset) -> None:
    """Raise NotApplicableError if chance explains the largest change that is possible."""
    n, m = len(new.ids), len(training.ids)
    need(possible, f"{FEW}: {n:,} new and {m:,} in training.")


def shifted_features(new: ScoredDataset, training: ScoredDataset, features: DataFrame) -> Outcome:
    """Find features whose values moved: another unit, another default, another source."""
    limits = _limits_of_shift(new, training, features)
    checked = features.assign(limit=np.maximum(limits, MOVED))
    checked = checked[checked["limit"] < 1]
    _need_queries(len(checked), new, training)
    # Where few rows have a value, few tell whether it moved.
    shares = 1 - checked[["missing", "missing in training"]].max(axis=1)
    shift = checked["shift"] * np.sqrt(shares)
    order = (shift - checked["limit"]).sort_values(ascending=False, kind="stable").index
    first = order[0]
    moved = [
        f"{name} ({text_of_shift(name, new, training)})"
        for name in order
        if shift[name] > checked.loc[name, "limit"]
    ]
    limit = checked.loc[first, "limit"]
    message = f"{listed(moved) or 'No feature'} moved. The shift of {first} is {shift[first]:.2f}."
    if not moved and shift[first] > MOVED:
        message += f" {FEW} tell whether it moved: from {limit:.2f} on they do."
    if left_out := [name for name in features.index if name not in checked.index]:
        message += f" {FEW} for the many categories of {listed(left_out)}."
    return len(moved), message, shift[first], limit


def _limits_of_shift(
    new: ScoredDataset, training: ScoredDataset, features: DataFrame
) -> list[float]:
    """Return the largest shift of each feature that chance explains.

    It is 0 if the medians of the queries lie apart, which chance does not explain.
    """
    n_tests = len(features)
    of_numbers, limits = largest_shift(new, training, n_tests), []
    for name, shift in features["shift"].items():
        limit = of_numbers
        if name in new.categories:
            shares = shares_of(name, new, training)
            limit = largest_of_categories(shares, new, training, n_tests)
        elif MOVED < shift <= of_numbers:
            medians = medians_by_query(compared_values(name, new, training)[:2], new, training)
            limit = 0.0 if lie_apart(*medians, n_tests) else of_numbers
        limits.append(limit)
    return limits


def missing_values(new: ScoredDataset, training: ScoredDataset, features: DataFrame) -> Outcome:
    """Find features that are missing more often or less often than in training."""
    _need_queries(largest_shift(new, training, len(features)) < 1, new, training)
    parts = features[["missing", "missing in training"]]
    change = (parts["missing"] - parts["missing in training"]).abs()
    limit = largest_of_shares(parts, new, training).clip(lower=CHANGED)
    for name in change.index[(change > CHANGED) & (change <= limit)]:
        here, there = (
            rows.total(rows.features[name].isna()) / rows.sizes for rows in (new, training)
        )
        if lie_apart(here, there, len(features)):
            limit[name] = CHANGED
    texts = [
        f"{name} ({here:.1%}, in training {there:.1%})" for name, here, there in parts.itertuples()
    ]
    found = [text for text, is_found in zip(texts, change > limit, strict=True) if is_found]
    message = f"Missing more or less often than in training: {listed(found) or 'none'}."
    first = change.where(change > limit, change - 1).idxmax()
    if not found and change[first] > CHANGED:
        text = texts[change.index.get_loc(first)]
        message += f" {FEW} tell whether {text} changed."
    return len(found), message, change[first], limit[first]


def unseen_categories(new: ScoredDataset, training: ScoredDataset, features: DataFrame) -> Outcome:
    """Find categories that many new rows have, and no training row."""
    need(new.categories, "No feature is text or a category.")
    n_tests = sum(len(t) for rows in (new, training) for t in rows.categories.values())
    sizes = len(new.ids), len(training.ids)
    _need_queries(all_among(sizes[0], *sizes) * n_tests < LEVEL, new, training)
    found, shares = [], [0.0]
    for name, texts in new.categories.items():
        queries = frame({"query": new.numbers}).groupby(new.features[name])["query"]
        count = queries.nunique()
        # Probability that by chance all queries with a category are among the new ones.
        chance = all_among(count, *sizes)
        unseen = (chance * n_tests < LEVEL) & ~count.index.isin(training.features[name])
        rows = (queries.size()[unseen] / len(new.numbers)).sort_values(ascending=False)
        shares.append(rows.sum())
        if shares[-1]:
            named = listed([f"{texts[one]} {share:.1%}" for one, share in rows.items()], 3)
            found.append(f"{name} ({named})")
    message = f"Categories that no training row has: {listed(found) or 'none beyond chance'}."
    return max(shares) > CHANGED, message, max(shares), CHANGED


def constant_features(new: ScoredDataset, training: ScoredDataset, features: DataFrame) -> Outcome:
    """Find features with one value in all rows, where that of training varies too often for it."""
    n, m = len(new.ids), len(training.ids)
    _need_queries(all_among(m, m, n - 1) * len(features) < LEVEL, new, training)
    found = new.constant_beside(training, LEVEL)
    message = f"One value in all new rows, and others in training: {listed(found) or 'none'}."
    return len(found), message, len(found), 0


def copied_features(new: ScoredDataset, training: ScoredDataset, features: DataFrame) -> Outcome:
    """Find features that are equal to another one, and not in training."""
    n, m = len(new.ids), len(training.ids)
    # A feature may be a copy of each other one.
    there, level = training.features.fillna(np.inf), LEVEL / len(features) ** 2
    _need_queries(all_among(m, m, n) < level, new, training)
    copies = features["copy of"][features["copy of"] != ""]
    found = [
        name
        for name, other in copies.items()
        if training.would_show(there[name] != there[other], n, level)
    ]
    message = f"Equal to another feature, and not in training: {listed(found) or 'none'}."
    return len(found), message, len(found), 0


def copied_documents(new: ScoredDataset, training: ScoredDataset, features: DataFrame) -> Outcome:
    """Find a larger share of documents with the features of another one of their query."""
    return _more(new, training, "have the features of another of their query", lambda r: r.digests)


def tied_scores(new: ScoredDataset, training: ScoredDataset, features: DataFrame) -> Outcome:
    """Find a larger share of documents with the score of another one of their query."""
    need(not new.unscored, "There are no scores.")
    return _more(new, training, "have the score of another of their query", lambda r: r.scores)


def _more(
    new: ScoredDataset, training: ScoredDataset, what: str, values: Callable[[ScoredDataset], Array]
) -> Outcome:
    limit = max(CHANGED, largest_shift(new, training))
    _need_queries(limit < 1, new, training)
    here, there = (
        frame({"query": rows.numbers, "value": values(rows)}).duplicated(keep=False).mean()
        for rows in (new, training)
    )
    message = f"{here:.1%} of the documents {what}, and {there:.1%} in training."
    return here - there > limit, message, here - there, limit


def shifted_scores(new: ScoredDataset, training: ScoredDataset, features: DataFrame) -> Outcome:
    """Find scores whose distribution moved, or rows that the ranker does not score."""
    if new.unscored:
        return True, f"The ranker does not score the new rows: {new.unscored}", 1, 0
    limit = max(MOVED, largest_shift(new, training))
    _need_queries(limit < 1, new, training)
    shift = stats.ks_2samp(new.scores, training.scores).statistic
    medians = (np.median(rows.scores) for rows in (new, training))
    message = "The median score is {:.3g}, and {:.3g} in training; the shift is {:.2f}."
    return shift > limit, message.format(*medians, shift), shift, limit


CHECKS: dict[str, Callable[[ScoredDataset, ScoredDataset, DataFrame], Outcome]] = {
    check.__name__.replace("_", "-"): check
    for check in (
        shifted_features,
        missing_values,
        unseen_categories,
        constant_features,
        copied_features,
        copied_documents,
        tied_scores,
        shifted_scores,
    )
}
