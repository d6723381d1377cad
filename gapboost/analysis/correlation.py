"""Correlation of measures over systems: whether they rank systems alike ([ferrante2014], section 6)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import kendalltau

from gapboost._data.arguments import whole
from gapboost._data.columns import one_dimensional
from gapboost._data.optional import axes, frame
from gapboost._data.queries import Array, checked_scores
from gapboost.analysis.systems import SystemValues, checked_measures, checked_values, position_of, system_values
from gapboost.analysis.trec import Qrels, Run, Ties, checked_qrels
from gapboost.measures import AP, GAP, Measure, eGAP, nDCG, xGAP
from gapboost.measures.grids import simplex_grid


def kendall_tau(a: Array, b: Array) -> float:
    """Kendall's tau-b of the scores of systems; NaN where one of them makes no difference between systems."""
    return float(kendalltau(a, b).statistic)


def tau_ap(estimated: Any, truth: Any) -> float:
    """AP correlation: Kendall's tau with stress on the top of the estimated ranking [yilmaz2008].

    ``2 / (n - 1) sum_{i=2..n} C(i) / (i - 1) - 1``, where C(i) of the systems above rank i are truly better than the one at rank
    i. The mean of ``tau_ap(a, b)`` and ``tau_ap(b, a)`` is its symmetric version.

    Parameters
    ----------
    estimated, truth : array-like of shape (n,)
        Scores of systems, n >= 2; higher is better. Equal estimates count the expected value over their orders, a system that
        is truly as good as another counts one half.

    Returns
    -------
    float
        From -1 to 1.

    Raises
    ------
    ValueError
        Where there are less than two systems, or a score is not finite.

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
        total += np.divide(right, fixed + higher, out=np.zeros(mates + 1), where=fixed + higher > 0).mean()
    return float(2 * total / (n - 1) - 1)


@dataclass(frozen=True, eq=False)
class Correlation:
    """Kendall's tau between the rankings of systems by the means of measures.

    Attributes
    ----------
    measures : tuple
    tau : float64 ndarray of shape (measures, measures)
    n_systems, n_topics : int
    """

    measures: tuple[Any, ...]
    tau: Array
    n_systems: int
    n_topics: int

    def to_pandas(self) -> Any:
        """The matrix, with measures as rows and columns."""
        names = [str(m) for m in self.measures]
        return frame({"measure": names, **dict(zip(names, self.tau.T, strict=True))}, ["measure"])

    def plot(self, ax: Any = None) -> Any:
        """The matrix as a map; returns the axes."""
        ax = axes(ax)
        names = [str(m) for m in self.measures]
        ax.imshow(self.tau, vmin=0, vmax=1)
        ax.set_xticks(range(len(names)), names, rotation=60, ha="right")
        ax.set_yticks(range(len(names)), names)
        for row, column in np.ndindex(self.tau.shape):
            tau = self.tau[row, column]
            ax.text(column, row, f"{tau:.2f}", ha="center", va="center", color="black" if tau > 0.5 else "white")
        ax.set_title(f"Kendall's tau, {self.n_systems} systems, {self.n_topics} topics")
        return ax


def correlation(values: SystemValues) -> Correlation:
    """Kendall's tau between all measures of `values`, over systems, by their means over topics."""
    if len(checked_values(values).systems) < 2:
        raise ValueError(f"values is {values!r}; expected at least two systems")
    means = values.means
    tau = np.array([[kendall_tau(a, b) for b in means] for a in means])
    return Correlation(values.measures, tau, len(values.systems), len(values.topics))


def few_highly_relevant(qrels: Qrels, grade: int | None = None, factor: int = 10) -> list[str]:
    """Topics with at least `factor` documents of grade 1 for each of a higher grade, of which there are some.

    Parameters
    ----------
    qrels : {topic: {document: grade}}
    grade : int, optional
        The higher grade k in ``R(1) >= factor * R(k) > 0``; by default the highest one.
    factor : int, default=10
    """
    checked_qrels(qrels)
    counts = {topic: np.bincount([max(g, 0) for g in judged.values()] or [0]) for topic, judged in qrels.items()}
    top = max(len(c) for c in counts.values()) - 1 if grade is None else grade
    top, factor = whole(top, "grade", 0), whole(factor, "factor")
    return [topic for topic, c in counts.items() if len(c) > top >= 2 and c[1] >= factor * c[top] > 0]


@dataclass(frozen=True, eq=False)
class ThresholdCorrelation:
    """Kendall's tau of graded measures with others, for each g ([ferrante2014], Tables 2 and 3).

    Attributes
    ----------
    grid : tuple of tuple of float
    families : tuple of str
        The graded measures.
    references : tuple
        The measures they are compared with; the first graded one, with the same g, is the first.
    tau : float64 ndarray of shape (grid, families, references)
    n_systems, n_topics : int
    """

    grid: tuple[tuple[float, ...], ...]
    families: tuple[str, ...]
    references: tuple[Any, ...]
    tau: Array
    n_systems: int
    n_topics: int

    def to_pandas(self) -> Any:
        """One row for each g and graded measure, a column for each measure it is compared with."""
        size = len(self.families)
        columns: dict[str, Any] = {
            "g": [str(g) for g in self.grid for _ in range(size)],
            "measure": list(self.families) * len(self.grid),
        }
        columns |= {str(r): self.tau[:, :, i].ravel() for i, r in enumerate(self.references)}
        return frame(columns, ["g", "measure"])

    def plot(self, ax: Any = None, reference: Any = None) -> Any:
        """Tau with one measure, by default the second reference, against g; a line a family. Returns the axes."""
        ax = axes(ax)
        at = 1 if reference is None else position_of(reference, self.references, "reference")
        for f, family in enumerate(self.families):
            ax.plot(self.tau[:, f, at], "o-", label=family)
        labels = [", ".join(f"{x:.2g}" for x in g) for g in self.grid]
        ax.set_xticks(range(len(self.grid)), labels, rotation=60, ha="right")
        ax.set(xlabel="g", ylabel=f"Kendall's tau with {self.references[at]}")
        ax.set_title(f"{self.n_systems} systems, {self.n_topics} topics")
        ax.legend()
        return ax


def threshold_correlation(
    qrels: Qrels,
    runs: Mapping[str, Run],
    *,
    grid: Sequence[Sequence[float]] | None = None,
    families: Sequence[Callable[..., Measure]] = (GAP, xGAP, eGAP),
    references: Sequence[Any] = (AP(), nDCG()),
    topics: Sequence[str] | None = None,
    ties: Ties = "expected",
    n_jobs: int | None = None,
    progress: bool = False,
) -> ThresholdCorrelation:
    """Correlate graded measures with others for each g.

    Parameters
    ----------
    qrels, runs, ties, n_jobs, progress
        As in `system_values`.
    grid : sequence of g, optional
        By default every g with entries in tenths.
    families : sequence of graded measures
    references : sequence
        Measures of gapboost or of ir_measures.
    topics : sequence of str, optional
        By default all judged ones; see `few_highly_relevant`.
    """
    top = max(max(judged.values(), default=0) for judged in checked_qrels(qrels).values())
    thresholds = tuple(tuple(map(float, g)) for g in (simplex_grid(max(top, 1), 10) if grid is None else grid))
    if not families:
        raise ValueError("families is empty; expected graded measures such as GAP")
    graded = [family(g=g) for g in thresholds for family in families]
    compared = checked_measures([*graded, *references])[len(graded) :]
    values = system_values([*graded, *compared], qrels, runs, ties=ties, n_jobs=n_jobs, progress=progress)
    if topics is not None:
        values = values.on_topics(topics)
    means, size = values.means, len(families)
    tau = np.empty((len(thresholds), size, 1 + len(compared)))
    for i, f in np.ndindex(tau.shape[:2]):
        others = [means[i * size], *means[len(graded) :]]
        tau[i, f] = [kendall_tau(means[i * size + f], other) for other in others]
    names = tuple(family.__name__ for family in families)
    return ThresholdCorrelation(thresholds, names, (names[0], *compared), tau, len(values.systems), len(values.topics))
