"""Loss of a measure without a feature's contribution."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gapboost._data.features import split
from gapboost._data.queries import Queries, grouped_rows
from gapboost._kernels import Array
from gapboost._optional import imported
from gapboost.analysis.ties import settled
from gapboost.evaluation import evaluate
from gapboost.explain.model import feature_contributions, table_of
from gapboost.explain.pictures import POSITIVE_NEGATIVE, axes_of_height, number, short, top_features
from gapboost.measures import Measure, as_measure


@dataclass(frozen=True, eq=False)
class MeasureContributions:
    """Loss of a measure, by query, if the contribution of a feature is left out of the scores.

    Attributes
    ----------
    measure : Measure
    feature_names : tuple of str
    contributions : float64 ndarray of shape (Q, n_features)
        Value with all contributions minus the value without that of the feature. They do not sum to
        the value of the measure.
    values : float64 ndarray of shape (Q,)
        Value of the measure with all contributions.
    qid : ndarray of shape (Q,)
        The query ids in the order in which they first occur.

    Examples
    --------
    >>> from gapboost import explain
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.lightgbm import LGBMGAPRanker
    >>> train, vali, test = load_digits_ranking((60, 20, 40), 20)
    >>> ranker = LGBMGAPRanker(n_estimators=20, n_jobs=1, verbose=-1)
    >>> ranker = ranker.fit(train.X, train.y, qid=train.qid)
    >>> found = explain.measure(ranker, test.X, test.y, test.qid)
    >>> found.measure
    nDCG(k=10)
    >>> found.values.shape
    (40,)
    """

    measure: Measure
    feature_names: tuple[str, ...]
    contributions: Array
    values: Array
    qid: Array

    def to_pandas(self) -> Any:
        """Return a frame with one row a query, indexed by ``qid``, and one column a feature."""
        pandas = imported("pandas", "analysis", "for a pandas view")
        index = pandas.Index(self.qid, name="qid", tupleize_cols=False)
        return pandas.DataFrame(self.contributions, index=index, columns=list(self.feature_names))

    def plot(self, ax: Any = None, *, max_display: int = 10) -> Any:
        """Draw one bar for each feature, its mean loss over the queries, the largest first.

        The axes are returned.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            None makes a figure.
        max_display : int, default=10
            Number of features with a bar. Losses of several features do not add up, so that the
            others have no bar.
        """
        means = self.contributions.mean(axis=0)
        chosen, others = top_features(means, max_display)
        bars = means[chosen]
        ax = axes_of_height(ax, len(bars))
        for place, bar in enumerate(bars):
            ax.barh(place, bar, height=0.7, edgecolor="0.25", **POSITIVE_NEGATIVE[int(bar < 0)])
            ax.annotate(
                number(bar, bars),
                (max(bar, 0.0), place),
                (4, 0),
                textcoords="offset points",
                va="center",
            )
        low, high = min(0.0, *bars), max(0.0, *bars)
        room = (high - low) or 1.0
        ax.set_xlim(low - 0.04 * room, high + 0.25 * room)
        ax.axvline(0, color="0.25", linewidth=0.8)
        ax.set_ylim(len(bars) - 0.4, -0.6)
        ax.set_yticks(range(len(bars)), [short(self.feature_names[feature]) for feature in chosen])
        ax.set_xlabel(f"{self.measure} minus {self.measure} without the contribution")
        features = (
            f"{len(bars)} features" if not len(others) else f"{len(bars)} of {len(means)} features"
        )
        ax.set_title(
            f"Loss of {self.measure} without a feature's contribution\n"
            f"mean of {len(self.values)} quer{'ies' if len(self.values) > 1 else 'y'}; {features}",
            fontsize="medium",
            loc="right",  # long names of features leave room on that side
        )
        return ax


def measure(
    ranker: Any, X: Any, y: Any, qid: Any = None, measure: str | Measure = "ndcg@10"
) -> MeasureContributions:
    """Return the loss of a measure, by query, without the contribution of a feature.

    Parameters
    ----------
    ranker, X
        As in `pair`.
    y : array-like of shape (N,)
        Grades, as in `gapboost.evaluate`.
    qid : array-like of shape (N,), optional
        Query id of each row, in any order of rows; or the column ``qid`` of a data frame `X`.
        Without either, all rows are one query.
    measure : str or Measure, optional
        By default ``"ndcg@10"``. With ``g=None`` a graded measure is uniform over the grades that
        occur in `y`.

    Returns
    -------
    MeasureContributions

    Raises
    ------
    ValueError, TypeError
        If an argument is unusable; the message names it, what was found and what is expected.
    NotFittedError
        Before `fit`.

    Notes
    -----
    The model is not trained again. A feature whose content other features share may have a small
    loss here, and so may each of them. Documents whose scores are equal are tied, as in
    `gapboost.evaluate`. Sums without a contribution are tied if they differ by rounding alone:
    by 1e-12 of the largest in the query with LightGBM and 1e-6 with XGBoost, which computes
    contributions in float32.

    Examples
    --------
    >>> from gapboost import explain
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.lightgbm import LGBMGAPRanker
    >>> train, vali, test = load_digits_ranking((60, 20, 40), 20)
    >>> ranker = LGBMGAPRanker(n_estimators=20, n_jobs=1, verbose=-1)
    >>> ranker = ranker.fit(train.X, train.y, qid=train.qid)
    >>> explain.measure(ranker, test.X, test.y, test.qid, "gap").to_pandas().shape
    (40, 23)
    """
    wanted = as_measure(measure)
    _, qid = split(X, qid)
    ranker, X, names = table_of(ranker, X, qid)
    queries = grouped_rows(qid, X.shape[0], rows_of="X")
    found = feature_contributions(ranker, X, names)
    # The numbers of the queries stand for their ids, which need no second check.
    codes = queries.codes
    full = evaluate(wanted, y, found.scores, codes, per_query=True)[wanted]
    losses = np.zeros((len(queries), len(names)))
    total = found.values.sum(axis=1)
    for feature, values in enumerate(found.values.T):
        grouped = queries.grouped(values)
        begins = queries.offsets[:-1]
        moved = np.minimum.reduceat(grouped, begins) < np.maximum.reduceat(grouped, begins)
        if moved.any():
            left = _with_ties(total - values, queries, moved, found.rounding)
            without = evaluate(wanted, y, left, codes, per_query=True)[wanted]
            losses[:, feature] = np.where(moved, full - without, 0.0)
    return MeasureContributions(wanted, names, losses, full, queries.ids)


def _with_ties(scores: Array, queries: Queries, chosen: Array, rounding: float) -> Array:
    """Return the scores of a query, equal if they differ by rounding alone."""
    grouped = queries.grouped(scores).copy()
    for one in np.flatnonzero(chosen):
        rows = slice(queries.offsets[one], queries.offsets[one + 1])
        grouped[rows] = settled(grouped[rows], rounding * np.abs(grouped[rows]).max())
    return queries.ungrouped(grouped)
