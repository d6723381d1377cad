"""Correlation of measures over systems ([ferrante2014], section 6)."""

from typing import Any

import numpy as np
from scipy.stats import kendalltau

from gapboost._data.arguments import one_of
from gapboost._data.columns import checked_scores, one_dimensional
from gapboost._kernels import Array
from gapboost.analysis.result import Result, short_labels
from gapboost.analysis.systems import SystemValues, checked_values
from gapboost.analysis.ties import settled


def kendall_tau(a: Array, b: Array) -> float:
    """Return Kendall's tau-b of scores of systems, ties settled; NaN if all of one are equal."""
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
    >>> round(tau_ap([4.0, 3.0, 2.0, 1.0], [3.0, 4.0, 2.0, 1.0]), 3)
    0.333
    """
    y = one_dimensional(truth, "truth")
    n = len(y)
    x = settled(checked_scores(estimated, n, "estimated", "truth").astype(np.float64))
    y = settled(checked_scores(y, n, "truth", "truth").astype(np.float64))
    if n < 2:
        raise ValueError(f"truth has {n} systems; expected at least two")
    better = (y > y[:, None]) + 0.5 * (y == y[:, None])  # [i, j]: j is better than i
    above, tied = x > x[:, None], (x == x[:, None]) & ~np.eye(n, dtype=bool)
    fixed, mates = above.sum(axis=1), tied.sum(axis=1)
    share = (better * tied).sum(axis=1) / np.maximum(mates, 1)
    # 0, 1, ... of the systems with the same estimate are above it with equal probability.
    higher = np.arange(n)
    right = (better * above).sum(axis=1)[:, None] + higher * share[:, None]
    part = right / np.maximum(fixed[:, None] + higher, 1)
    total = ((higher <= mates[:, None]) * part).sum(axis=1) / (mates + 1)
    return float(2 * total.sum() / (n - 1) - 1)


KINDS = {"tau": (kendall_tau, "Kendall's tau"), "tau_ap": (tau_ap, "AP correlation")}


def correlation(values: SystemValues, *, kind: str = "tau") -> Result:
    """Correlate all measures of `values`, over systems, by their means over topics.

    Parameters
    ----------
    values : SystemValues
        Of at least two systems. Means that differ by rounding are tied (`gapboost.analysis.ties`).
    kind : {"tau", "tau_ap"}, default="tau"
        Kendall's tau, or `tau_ap`, where rows are the estimates and columns the truth.

    Returns
    -------
    Result
        ``tau``: float64 ndarray of shape (measures, measures), NaN for a measure by which all
        systems are equal. ``measures``, ``n_systems``, ``n_topics``. The table is the matrix.

    Examples
    --------
    >>> from gapboost import analysis
    >>> means = [[[0.3], [0.2], [0.1]], [[0.4], [0.6], [0.2]]]
    >>> values = analysis.SystemValues(["ap", "ndcg"], ["a", "b", "c"], ["1"], means)
    >>> analysis.correlation(values).tau.round(2).tolist()
    [[1.0, 0.33], [0.33, 1.0]]
    """
    if len(checked_values(values).systems) < 2:
        raise ValueError(f"values has {len(values.systems)} systems; expected at least two")
    coefficient, name = KINDS[one_of(kind, "kind", tuple(KINDS))]
    tau = np.array([[coefficient(a, b) for b in values.means] for a in values.means])
    labels = short_labels(values.measures)
    return Result(
        {"measure": labels, **dict(zip(labels, tau.T, strict=True))},
        ["measure"],
        _draw,
        name=name,
        tau=tau,
        measures=values.measures,
        n_systems=len(values.systems),
        n_topics=len(values.topics),
    )


def _draw(result: Result, ax: Any) -> None:
    """Draw the matrix as a map."""
    labels = short_labels(result.measures)
    ax.imshow(result.tau, vmin=0, vmax=1)
    ax.set_xticks(range(len(labels)), labels, rotation=60, ha="right")
    ax.set_yticks(range(len(labels)), labels)
    for (row, column), tau in np.ndenumerate(result.tau):
        color = "black" if tau > 0.5 else "white"
        ax.text(column, row, f"{tau:.2f}", ha="center", va="center", color=color)
    ax.set_title(f"{result.name}, {result.n_systems} systems, {result.n_topics} topics")
