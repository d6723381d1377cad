"""Correlation of measures over systems ([ferrante2014], section 6)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import kendalltau

from gapboost._data.columns import checked_scores, one_dimensional
from gapboost._kernels import Array
from gapboost._latex import latex_table
from gapboost._optional import axes, frame
from gapboost.analysis.systems import SystemValues, checked_values
from gapboost.analysis.ties import settled


def kendall_tau(a: Array, b: Array) -> float:
    """Kendall's tau-b of scores of systems, ties settled; NaN if all scores of one are equal."""
    return float(kendalltau(settled(a), settled(b)).statistic)


def tau_ap(estimated: Any, truth: Any) -> float:
    """AP correlation: Kendall's tau with stress on the top of the estimated ranking [yilmaz2008].

    ``2 / (n - 1) sum_{i=2..n} C(i) / (i - 1) - 1``, where C(i) of the systems above rank i are
    truly better than the one at rank i. The mean of ``tau_ap(a, b)`` and ``tau_ap(b, a)`` is its
    symmetric version.

    Parameters
    ----------
    estimated, truth : array-like of shape (n,)
        Scores of systems, n >= 2; higher is better. Equal estimates count the expected value over
        their orders, a system that is truly as good as another counts one half. Scores that differ
        by rounding are equal (`gapboost.analysis.ties`).

    Returns
    -------
    float
        From -1 to 1.

    Raises
    ------
    ValueError
        If there are less than two systems, or a score is not finite.

    Examples
    --------
    >>> tau_ap([4.0, 3.0, 2.0, 1.0], [3.0, 4.0, 2.0, 1.0])
    0.33333333333333326
    """
    y = one_dimensional(truth, "truth")
    x = checked_scores(estimated, len(y), "estimated", "truth").astype(np.float64)
    y = checked_scores(y, len(y), "truth", "truth").astype(np.float64)
    n = len(y)
    if n < 2:
        raise ValueError(f"truth has {n} systems; expected at least two")
    x, y = settled(x), settled(y)
    better = (y > y[:, None]) + 0.5 * (y == y[:, None])  # [i, j]: j is better than i
    above, tied = x > x[:, None], x == x[:, None]
    np.fill_diagonal(tied, False)
    total = 0.0
    for i in range(n):
        fixed, mates = int(above[i].sum()), int(tied[i].sum())
        share = better[i, tied[i]].mean() if mates else 0.0
        # 0, 1, ... of the systems with the same estimate are above it with equal probability.
        higher = np.arange(mates + 1)
        right = better[i, above[i]].sum() + higher * share
        total += np.divide(
            right, fixed + higher, out=np.zeros(mates + 1), where=fixed + higher > 0
        ).mean()
    return float(2 * total / (n - 1) - 1)


@dataclass(frozen=True, eq=False)
class Correlation:
    """Kendall's tau between the rankings of systems by the means of measures.

    Attributes
    ----------
    measures : tuple
    tau : float64 ndarray of shape (measures, measures)
    n_systems, n_topics : int

    Examples
    --------
    >>> from gapboost import analysis
    >>> qrels = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"a": 0, "d": 1, "e": 2}}
    >>> one = {"1": {"a": 2.0, "b": 1.0}, "2": {"d": 2.0, "a": 1.0}}
    >>> two = {"1": {"b": 2.0, "c": 1.0}, "2": {"e": 1.0}}
    >>> runs = {"one": one, "two": two}
    >>> values = analysis.system_values(["gap(g=0.5,0.5)", "ap"], qrels, runs, n_jobs=1)
    >>> result = analysis.correlation(values)
    >>> result.n_systems, result.n_topics, result.tau.shape
    (2, 2, (2, 2))
    """

    measures: tuple[Any, ...]
    tau: Array
    n_systems: int
    n_topics: int

    def __repr__(self) -> str:
        others = self.tau[np.triu_indices(len(self.measures), 1)]
        # fmax and fmin skip NaN, the tau of a measure without differences.
        spread = (
            f"; tau from {np.fmin.reduce(others):.2f} to {np.fmax.reduce(others):.2f}"
            if len(others)
            else ""
        )
        return (
            f"Correlation({len(self.measures)} measures, {self.n_systems} systems, {self.n_topics} "
            f"topics{spread})"
        )

    def to_pandas(self) -> Any:
        """The matrix, with measures as rows and columns."""
        names = [str(m) for m in self.measures]
        return frame({"measure": names, **dict(zip(names, self.tau.T, strict=True))}, ["measure"])

    def to_latex(self, digits: int = 3) -> str:
        r"""Return `to_pandas` as a LaTeX table, which needs ``\usepackage{booktabs}``.

        Text is escaped. Numbers are rounded to `digits` decimals; whole numbers have none.
        """
        return latex_table(self.to_pandas(), digits)

    def plot(self, ax: Any = None) -> Any:
        """The matrix as a map; returns the axes."""
        ax = axes(ax)
        names = [str(m) for m in self.measures]
        ax.imshow(self.tau, vmin=0, vmax=1)
        ax.set_xticks(range(len(names)), names, rotation=60, ha="right")
        ax.set_yticks(range(len(names)), names)
        for row, column in np.ndindex(self.tau.shape):
            tau = self.tau[row, column]
            ax.text(
                column,
                row,
                f"{tau:.2f}",
                ha="center",
                va="center",
                color="black" if tau > 0.5 else "white",
            )
        ax.set_title(f"Kendall's tau, {self.n_systems} systems, {self.n_topics} topics")
        return ax


def correlation(values: SystemValues) -> Correlation:
    """Kendall's tau between all measures of `values`, over systems, by their means over topics.

    Systems whose means differ by rounding are tied (`gapboost.analysis.ties`).

    Examples
    --------
    >>> from gapboost import analysis
    >>> qrels = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"a": 0, "d": 1, "e": 2}}
    >>> one = {"1": {"a": 2.0, "b": 1.0}, "2": {"d": 2.0, "a": 1.0}}
    >>> two = {"1": {"b": 2.0, "c": 1.0}, "2": {"e": 1.0}}
    >>> runs = {"one": one, "two": two}
    >>> values = analysis.system_values(["gap(g=0.5,0.5)", "ap"], qrels, runs, n_jobs=1)
    >>> analysis.correlation(values).tau.round(3).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    if len(checked_values(values).systems) < 2:
        raise ValueError(f"values is {values!r}; expected at least two systems")
    means = values.means
    tau = np.array([[kendall_tau(a, b) for b in means] for a in means])
    return Correlation(values.measures, tau, len(values.systems), len(values.topics))
