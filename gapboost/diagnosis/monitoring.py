"""New rows without grades beside those of training: checks, features and scores.

Each check compares shares of rows: the largest difference of two distribution functions, or of the
shares of rows that are missing or tied. Chance explains what is below `_by_chance`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import stats

from gapboost.data import Array, QueryIds, check_names, num_samples
from gapboost.diagnosis.checks import FOUND, IGNORED, PASSED, Finding, listed
from gapboost.diagnosis.scored import ScoredDataset
from gapboost.optional import DataFrame, frame
from gapboost.page import write_page
from gapboost.validation import PathLike, short_repr

# Page of the documentation with a section for each check.
GUIDE = "docs/guide/monitor.md"

# Share of rows that must differ: one in five moved, one in ten missing, tied or a copy.
MOVED, CHANGED = 0.2, 0.1
# Probability of an alarm by chance, for all features of a check together.
LEVEL = 0.001
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class Monitoring:
    """Result of `gapboost.report` without grades.

    Attributes
    ----------
    new, training : ScoredDataset
    findings : dict {id of a check: Finding}
    features : pandas.DataFrame
        One row a feature: ``shift``, the largest difference of the two distribution functions of
        its values that are not missing; their ``median`` and ``95%`` quantile, unless it is text or
        a category, and the same ``in training``; shares ``missing`` and ``missing in training``;
        ``constant`` in new rows; ``copy of``, the first one with equal values in new rows, unless
        constant.

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
        return (
            f"Monitoring({len(self.new.ids)} new queries; found: {', '.join(found) or 'nothing'})"
        )

    @cached_property
    def checks(self) -> DataFrame:
        """Data frame with one row a check, as `Report.checks`."""
        rows = [
            {"check": name, **finding._asdict(), "link": f"{GUIDE}#{name}"}
            for name, finding in self.findings.items()
        ]
        return frame(rows, ["check"])

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
        checks = self.checks.reset_index().drop(columns="link")
        found = checks.loc[checks["status"] == FOUND, ["check", "message"]]
        summary = f"{len(found)} of {len(checks)} checks found a change."
        by_shift = self.features.sort_values("shift", ascending=False)
        sections = {
            "Findings": [summary, *([found] if len(found) else []), f"About the checks: {GUIDE}."],
            "Scores": [self.scores],
            "Features, the most shifted ones first": [by_shift],
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
    if not np.iterable(ignore) or not CHECKS.keys() >= set(ignore):
        raise ValueError(f"ignore is {short_repr(ignore)}; expected a list of {', '.join(CHECKS)}")
    new, training = (
        ScoredDataset(ranker, table, np.zeros(num_samples(table)), ids, (), suffix)
        for table, ids, suffix in ((X, qid, ""), (X_train, qid_train, "_train"))
    )
    check_names([*new.features], [*training.features], "X", "X_train")
    features = _features(new, training)
    findings = {
        name: Finding(IGNORED, "Skipped by ignore.")
        if name in ignore
        else check(new, training, features)
        for name, check in CHECKS.items()
    }
    return Monitoring(new, training, findings, features)


def _features(new: ScoredDataset, training: ScoredDataset) -> DataFrame:
    parts = (new.features, training.features)
    missing = [table.isna().mean() for table in parts]
    shifts = [stats.ks_2samp(*(t[n].dropna() for t in parts)).statistic if ok else 0.0
              for n, ok in (np.maximum(*missing) < 1).items()]  # fmt: skip
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


def _by_chance(new: ScoredDataset, training: ScoredDataset, n_tests: int = 1) -> float:
    """Return the largest difference of shares of rows that chance explains.

    The limit of Kolmogorov and Smirnov's test. Rows of a query may be alike: there are no more
    independent rows than queries, and fewer where their sizes differ (Kish).
    """
    n, m = (rows.sizes.sum() ** 2 / (rows.sizes.astype(np.float64) ** 2).sum()
            for rows in (new, training))  # fmt: skip
    return math.sqrt(-math.log(LEVEL / n_tests / 2) / 2 * (1 / n + 1 / m))


def _finding(found: object, message: str, value: float, threshold: float) -> Finding:
    return Finding(FOUND if found else PASSED, message, float(value), threshold)


def shifted_features(new: ScoredDataset, training: ScoredDataset, features: DataFrame) -> Finding:
    """Find features whose values moved: another unit, another default, another source."""
    limit = max(MOVED, _by_chance(new, training, len(features)))
    # Where few rows have a value, few tell whether it moved.
    shares = 1 - features[["missing", "missing in training"]].max(axis=1)
    shift = (features["shift"] * np.sqrt(shares)).sort_values(ascending=False, kind="stable")
    moved = [f"{name} ({_moved(name, new, training)})" for name in shift.index[shift > limit]]
    message = f"{listed(moved) or 'No feature'} moved. The shift of {shift.index[0]} is "
    return _finding(len(moved), f"{message}{shift.iloc[0]:.2f}.", shift.iloc[0], limit)


def _moved(name: str, new: ScoredDataset, training: ScoredDataset) -> str:
    """Return the share of rows that changed most, or the medians if they show the shift."""
    here, there = (rows.features[name].dropna() for rows in (new, training))
    if name in new.categories:
        shares = [values.value_counts(normalize=True) for values in (here, there)]
        most = shares[0].sub(shares[1], fill_value=0).abs().idxmax()
        texts = training.categories.get(name, {}) | new.categories[name]
        now, then = (share.get(most, 0) for share in shares)
        return f"{texts.get(most, most)} {now:.1%}, in training {then:.1%}"
    shift, median = stats.ks_2samp(here, there), here.median()
    if min((there <= median).mean(), (there >= median).mean()) <= (1 - shift.statistic) / 2:
        return f"median {median:.3g}, in training {there.median():.3g}"
    limit = shift.statistic_location
    now, then = ((values <= limit).mean() for values in (here, there))
    return f"at most {limit:.3g} in {now:.1%} of rows, in training {then:.1%}"


def missing_values(new: ScoredDataset, training: ScoredDataset, features: DataFrame) -> Finding:
    """Find features that are missing more often or less often than in training."""
    limit = max(CHANGED, _by_chance(new, training, len(features)))
    change = (features["missing"] - features["missing in training"]).abs()
    shares = features.loc[change > limit, ["missing", "missing in training"]].itertuples()
    found = [f"{name} ({here:.1%}, in training {there:.1%})" for name, here, there in shares]
    message = f"Missing more or less often than in training: {listed(found) or 'none'}."
    return _finding(len(found), message, change.max(), limit)


def unseen_categories(new: ScoredDataset, training: ScoredDataset, features: DataFrame) -> Finding:
    """Find categories that many new rows have, and no training row."""
    n_tests = sum(len(t) for rows in (new, training) for t in rows.categories.values())
    sizes = len(new.ids) + len(training.ids), len(new.ids)
    found, shares = [], [0.0]
    for name, texts in new.categories.items():
        queries = frame({"query": new.numbers}).groupby(new.features[name])["query"]
        count = queries.nunique()
        # Probability that by chance all queries with a category are among the new ones.
        chance = stats.hypergeom.pmf(count, *sizes, count)
        unseen = (chance * n_tests < LEVEL) & ~count.index.isin(training.features[name])
        rows = (queries.size()[unseen] / len(new.numbers)).sort_values(ascending=False)
        shares.append(rows.sum())
        if shares[-1] > CHANGED:
            named = listed([f"{texts[one]} {share:.1%}" for one, share in rows.items()], 3)
            found.append(f"{name} ({named})")
    message = f"Categories that no training row has: {listed(found) or 'none'}."
    return _finding(found, message, max(shares), CHANGED)


def constant_features(new: ScoredDataset, training: ScoredDataset, features: DataFrame) -> Finding:
    """Find features with one value in all rows, where that of training varies too often for it."""
    found = new.constant_beside(training, LEVEL)
    message = f"One value in all new rows, and others in training: {listed(found) or 'none'}."
    return _finding(len(found), message, len(found), 0)


def copied_features(new: ScoredDataset, training: ScoredDataset, features: DataFrame) -> Finding:
    """Find features that are equal to another one, and not in training."""
    there, level = training.features.fillna(np.inf), LEVEL / len(features)
    copies = features["copy of"][features["copy of"] != ""]
    found = [
        name
        for name, other in copies.items()
        if training.would_show(there[name] != there[other], len(new.ids), level)
    ]
    message = f"Equal to another feature, and not in training: {listed(found) or 'none'}."
    return _finding(len(found), message, len(found), 0)


def copied_documents(new: ScoredDataset, training: ScoredDataset, features: DataFrame) -> Finding:
    """Find a larger share of documents with the features of another one of their query."""
    return _more(new, training, "have the features of another of their query", lambda r: r.digests)


def tied_scores(new: ScoredDataset, training: ScoredDataset, features: DataFrame) -> Finding:
    """Find a larger share of documents with the score of another one of their query."""
    return _more(new, training, "have the score of another of their query", lambda r: r.scores)


def _more(
    new: ScoredDataset, training: ScoredDataset, what: str, values: Callable[[ScoredDataset], Array]
) -> Finding:
    here, there = (
        frame({"query": rows.numbers, "value": values(rows)}).duplicated(keep=False).mean()
        for rows in (new, training)
    )
    limit = max(CHANGED, _by_chance(new, training))
    message = f"{here:.1%} of the documents {what}, and {there:.1%} in training."
    return _finding(here - there > limit, message, here - there, limit)


def shifted_scores(new: ScoredDataset, training: ScoredDataset, features: DataFrame) -> Finding:
    """Find scores whose distribution moved."""
    limit = max(MOVED, _by_chance(new, training))
    shift = stats.ks_2samp(new.scores, training.scores).statistic
    medians = (np.median(rows.scores) for rows in (new, training))
    message = "The median score is {:.3g}, and {:.3g} in training; the shift is {:.2f}."
    return _finding(shift > limit, message.format(*medians, shift), shift, limit)


CHECKS: dict[str, Callable[[ScoredDataset, ScoredDataset, DataFrame], Finding]] = {
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
