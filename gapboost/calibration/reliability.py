"""Probabilities against grades: observed shares by bin, and how much queries differ."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gapboost._data.arguments import positive, whole
from gapboost._data.columns import numeric_column
from gapboost._data.grades import at_least, checked_grades
from gapboost._data.queries import Queries, grouped_rows
from gapboost._kernels import Array
from gapboost._optional import axes, frame
from gapboost._pictures import COLORS, legend
from gapboost.analysis.estimates import Estimate, clustered, share_interval


@dataclass(frozen=True, eq=False)
class Reliability:
    """Observed shares of relevant documents in bins of the probability.

    Intervals are over queries.

    Attributes
    ----------
    predicted, observed : float64 ndarray of shape (n_bins,)
        Mean probability, and share of relevant documents.
    low, high : float64 ndarray of shape (n_bins,)
        95 % interval of `observed`, over queries. NaN if a bin holds documents of one query only.
    n_documents, n_queries : int64 ndarray of shape (n_bins,)
        Number of documents, and of the queries that they come from.
    bias : Estimate
        Mean of relevant − probability over the documents, with its error over queries.
    spread : float
        Standard deviation over queries of their mean of relevant − probability.
    spread_by_sampling : float
        What `spread` would be if each probability were right and documents independent.

    Examples
    --------
    >>> import numpy as np
    >>> from gapboost.calibration import reliability
    >>> qid, probability = np.repeat(np.arange(50), 20), np.tile(np.linspace(0, 1, 20), 50)
    >>> grades = np.random.default_rng(0).random(1000) < probability
    >>> found = reliability(grades, probability, qid, n_bins=4)
    >>> found.observed.round(2).tolist()
    [0.12, 0.36, 0.63, 0.86]
    >>> round(found.calibration_error, 3)
    0.016
    """

    predicted: Array
    observed: Array
    low: Array
    high: Array
    n_documents: Array
    n_queries: Array
    bias: Estimate
    spread: float
    spread_by_sampling: float

    @property
    def calibration_error(self) -> float:
        """Mean absolute difference of `observed` and `predicted`, weighted by documents.

        Sampling makes it larger than 0 for right probabilities too, most with few queries and many
        bins.
        """
        return float(np.average(np.abs(self.observed - self.predicted), weights=self.n_documents))

    @property
    def spread_of_queries(self) -> float:
        """Part of `spread` that sampling does not explain, at least 0.

        It is the root of the difference of the variances.
        """
        return float(np.sqrt(max(self.spread**2 - self.spread_by_sampling**2, 0.0)))

    def to_pandas(self) -> Any:
        """Return a frame with one row a bin."""
        names = ("predicted", "observed", "low", "high", "n_documents", "n_queries")
        return frame({name: getattr(self, name) for name in names})

    def plot(self, ax: Any = None) -> Any:
        """Draw observed shares over probabilities, with intervals over queries. Return the axes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            None makes a figure.
        """
        ax = axes(ax)
        ax.plot(
            (0, 1), (0, 1), color="gray", linestyle="--", linewidth=1, label="observed = predicted"
        )
        heights = self.observed - self.low, self.high - self.observed
        style = {"color": COLORS[0], "marker": "o", "markersize": 4, "capsize": 2}
        ax.errorbar(
            self.predicted, self.observed, yerr=heights, label="bins, 95 % over queries", **style
        )
        ax.set(
            xlabel="mean probability",
            ylabel="share of relevant documents",
            xlim=(0, 1),
            ylim=(0, 1),
        )
        spreads = (
            f"Queries differ by ±{self.spread:.2g}; sampling explains "
            f"±{self.spread_by_sampling:.2g}"
        )
        ax.set_title(
            f"{self.n_documents.sum():,} documents\n{spreads}", fontsize="medium", loc="left"
        )
        legend(ax)
        return ax


def reliability(
    y_true: Any, y_prob: Any, qid: Any, *, grade: float = 1, n_bins: int = 10
) -> Reliability:
    """Compare probabilities of relevance with grades.

    Use queries on which neither the ranker nor the probabilities were fitted.

    Parameters
    ----------
    y_true : array-like of shape (N,)
        Grades.
    y_prob : array-like of shape (N,)
        Probability that the grade is at least `grade`: one column of
        `CalibratedRanker.predict_proba`.
    qid : array-like of shape (N,)
        Query id of each row, in any order of rows.
    grade : float, default=1
        Lowest relevant grade.
    n_bins : int, default=10
        Bins hold equal numbers of documents, unless probabilities tie. Fewer bins are left if most
        tie.

    Returns
    -------
    Reliability

    Raises
    ------
    ValueError
        If an argument is unusable: a probability outside of 0 to 1, or fewer than two queries.

    Notes
    -----
    Documents of a query are not independent. Intervals are over queries: Korn and Graubard (1998)
    for shares, Bell and McCaffrey (2002) for the bias.

    Examples
    --------
    >>> from gapboost.calibration import reliability
    >>> reliability([1, 0, 2, 0], [0.9, 0.1, 0.8, 0.4], ["a", "a", "b", "b"], n_bins=2).observed
    array([0., 1.])
    """
    labels = checked_grades(y_true, "y_true", real=True)
    relevant = at_least(labels, positive(grade, "grade"))
    probabilities = _checked_probabilities(y_prob, len(labels))
    queries = grouped_rows(qid, len(labels))
    if len(queries) < 2:
        raise ValueError(f"qid holds {len(queries)} query; expected at least two")
    bins = _bins(probabilities, whole(n_bins, "n_bins", 2))
    sizes = np.bincount(bins)
    intervals, n_queries = _intervals(relevant, bins, queries.codes)
    spread, by_sampling = _spreads(relevant, probabilities, queries)
    differences = queries.grouped(relevant - probabilities)
    return Reliability(
        np.bincount(bins, probabilities) / sizes,
        np.bincount(bins, relevant) / sizes,
        intervals[:, 0],
        intervals[:, 1],
        sizes,
        n_queries,
        clustered(np.split(differences, queries.offsets[1:-1])),
        spread,
        by_sampling,
    )


def _checked_probabilities(y_prob: Any, n_rows: int) -> Array:
    found = numeric_column(y_prob, "y_prob", "probabilities from 0 to 1").astype(np.float64)
    if len(found) != n_rows:
        raise ValueError(
            f"y_prob has {len(found)} rows but y_true has {n_rows}; expected one probability a row"
        )
    outside = ~((found >= 0) & (found <= 1))
    if outside.any():
        raise ValueError(
            f"y_prob holds {int(outside.sum())} values outside of 0 to 1, such as "
            f"{found[outside][0]:g}; expected probabilities"
        )
    return found


def _bins(probabilities: Array, n_bins: int) -> Array:
    """Return the number of the bin of each document; equal probabilities share a bin."""
    inner = np.quantile(probabilities, np.arange(1, n_bins) / n_bins)
    found: Array = np.unique(
        np.searchsorted(inner, probabilities, side="left"), return_inverse=True
    )[1]
    return found


def _intervals(relevant: Array, bins: Array, query: Array) -> tuple[Array, Array]:
    """Return the interval of each bin, float64 of shape (n_bins, 2), and its number of queries."""
    intervals, counts = [], []
    for number in range(int(bins.max()) + 1):
        inside = np.flatnonzero(bins == number)
        inside = inside[np.argsort(query[inside], kind="stable")]
        clusters = np.split(relevant[inside], np.flatnonzero(np.diff(query[inside])) + 1)
        counts.append(len(clusters))
        intervals.append(share_interval(clusters) if len(clusters) > 1 else (np.nan, np.nan))
    return np.array(intervals), np.array(counts)


def _spreads(relevant: Array, probabilities: Array, queries: Queries) -> tuple[float, float]:
    """Return the spread of queries, and the spread by sampling."""
    starts = queries.offsets[:-1]
    means = np.add.reduceat(queries.grouped(relevant - probabilities), starts) / queries.sizes
    variances = (
        np.add.reduceat(queries.grouped(probabilities * (1 - probabilities)), starts)
        / queries.sizes**2
    )
    return float(means.std(ddof=1)), float(np.sqrt(variances.mean()))
