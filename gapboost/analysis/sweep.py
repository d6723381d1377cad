"""Informativeness of a graded measure against its threshold probabilities g."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gapboost._data.arguments import ordered, probability
from gapboost._data.warned import warn_caller
from gapboost._kernels import Array
from gapboost._optional import axes
from gapboost._pictures import legend, line
from gapboost.analysis.estimates import clustered
from gapboost.analysis.informativeness import Informativeness, informativeness, top_grade
from gapboost.analysis.lists import RankedList
from gapboost.measures import GAP, Measure, Measures, as_measures
from gapboost.measures.graded import as_thresholds
from gapboost.measures.grids import simplex_grid


@dataclass(frozen=True, eq=False)
class ThresholdSweep:
    """Informativeness of a graded measure for each g of a grid.

    Measures without g are beside it, as in [robertson2010] Figure 2.

    Attributes
    ----------
    grid : tuple of tuple of float
    result : Informativeness
        Its measures: one for each g of `grid`, then the others.

    Examples
    --------
    >>> import numpy as np
    >>> from gapboost import analysis
    >>> rng = np.random.default_rng(0)
    >>> y, qid = rng.integers(0, 3, size=60), np.repeat([0, 1], 30)
    >>> lists = analysis.ranked_lists(y, rng.normal(size=60), qid)
    >>> sweep = analysis.threshold_sweep(lists, grid=[(0.5, 0.5), (1.0, 0.0)], n_jobs=1)
    >>> type(sweep).__name__, len(sweep.best)
    ('ThresholdSweep', 2)
    """

    grid: tuple[tuple[float, ...], ...]
    result: Informativeness

    @property
    def best(self) -> tuple[float, ...]:
        """The g with the smallest RMS error in the mean over all relevance thresholds."""
        return self.grid[int(np.argmin(self.result.mean_rms[: len(self.grid)].mean(axis=1)))]

    def plausible(self, confidence: float = 0.95) -> tuple[tuple[float, ...], ...]:
        """Return each g of `grid`, in its order, that is not shown to be worse than `best`.

        A g is left out if its RMS error, in the mean over all relevance thresholds, is higher than
        that of `best` by more than the interval of their difference over the lists. All intervals
        hold together, by Bonferroni's correction. Lists of the same name, such as those of several
        systems for one topic, are a cluster. With one list or one topic nothing is left out.

        Parameters
        ----------
        confidence : float, default=0.95
            Of all intervals together.
        """
        probability(confidence, "confidence")
        compared = self.result.compared
        errors = self.result.rms[: len(self.grid), compared].mean(axis=2)
        worse = errors - errors[self.grid.index(self.best)]
        names = [name for name, used in zip(self.result.lists, compared, strict=True) if used]
        topics = [
            [place for place, name in enumerate(names) if name == topic]
            for topic in dict.fromkeys(names)
        ]
        if len(topics) < 2:
            return self.grid

        def found_worse(differences: Array) -> bool:
            if np.ptp(differences) == 0:
                return bool(differences[0] > 0)
            estimate = clustered([differences[topic] for topic in topics])
            return estimate.interval(confidence, max(len(self.grid) - 1, 1))[0] > 0

        return tuple(
            g
            for g, differences in zip(self.grid, worse, strict=True)
            if not found_worse(differences)
        )

    def to_pandas(self) -> Any:
        """Return a frame with one row a measure; see `Informativeness.to_pandas`."""
        return self.result.to_pandas()

    def plot(self, ax: Any = None, rel: int = 1) -> Any:
        """Draw the RMS error of each g for relevance from grade `rel` on. Return the axes.

        Other measures are horizontal lines.

        `best`, the g that is best in the mean over all `rel`, is marked.
        """
        ax = axes(ax)
        errors = self.result.mean_rms[:, self.result.rels.index(rel)]
        size = len(self.grid)
        family = type(self.result.measures[0]).__name__
        ax.plot(range(size), errors[:size], label=family, **line(0))
        for number, measure in enumerate(self.result.measures[size:]):
            ax.axhline(errors[size + number], label=str(measure), **line(number + 1, marked=False))
        best = ", ".join(f"{x:.2g}" for x in self.best)
        ax.axvline(
            self.grid.index(self.best),
            color="gray",
            linewidth=1,
            label=f"best in the mean: ({best})",
        )
        shown = range(0, size, max(1, (size - 1) // 10))
        ax.set_xticks(
            list(shown),
            [", ".join(f"{x:.2g}" for x in self.grid[i]) for i in shown],
            rotation=60,
            ha="right",
        )
        ax.set(
            xlabel="g",
            ylabel="mean RMS error (lower is better)",
            title=f"relevant from grade {rel}",
        )
        legend(ax)
        return ax


def threshold_sweep(
    lists: Sequence[RankedList],
    *,
    family: Callable[..., Measure] = GAP,
    grid: Sequence[Sequence[float]] | None = None,
    others: Measures = "ndcg",
    minimum: int = 5,
    n_jobs: int | None = None,
    progress: bool = False,
) -> ThresholdSweep:
    """Informativeness of ``family(g=g)`` for each g.

    Parameters
    ----------
    lists, minimum, n_jobs, progress
        As in `informativeness`.
    family : GAP, xGAP or eGAP
    grid : sequence of g, optional
        By default every g with entries in tenths.
    others : str, Measure or sequence of them
        To compare with.

    Examples
    --------
    >>> import numpy as np
    >>> from gapboost import analysis
    >>> rng = np.random.default_rng(0)
    >>> y, qid = rng.integers(0, 3, size=60), np.repeat([0, 1], 30)
    >>> lists = analysis.ranked_lists(y, rng.normal(size=60), qid)
    >>> sweep = analysis.threshold_sweep(lists, grid=[(0.5, 0.5), (1.0, 0.0)], n_jobs=1)
    >>> sweep.best in [(0.5, 0.5), (1.0, 0.0)]
    True
    """
    top = top_grade(lists)
    given = [tuple(map(float, g)) for g in simplex_grid(max(top, 1), 10)] if grid is None else grid
    if not ordered(given):
        raise TypeError(f"grid is {given!r}; expected a list of g, such as simplex_grid makes")
    thresholds = tuple(g for g in map(as_thresholds, given) if g is not None)
    if not thresholds:
        raise ValueError(f"grid is {given!r}; expected at least one g")
    measures = [*(family(g=g) for g in thresholds), *as_measures(others, "others")]
    return ThresholdSweep(
        thresholds,
        informativeness(measures, lists, minimum=minimum, n_jobs=n_jobs, progress=progress),
    )


def most_informative_g(lists: Sequence[RankedList], **options: Any) -> tuple[float, ...]:
    """Find the g for which a graded measure is most informative about relevance, in the mean.

    Parameters
    ----------
    lists, **options
        As in `threshold_sweep`, which shows what the choice rests on. Its
        `ThresholdSweep.plausible` has each g that the lists do not show to be worse.

    Warns
    -----
    UserWarning
        If the lists show no g of the grid to be worse than another: too few lists, or topics.

    Examples
    --------
    >>> import numpy as np
    >>> from gapboost import analysis
    >>> rng = np.random.default_rng(0)
    >>> y, qid = rng.integers(0, 3, size=60), np.repeat([0, 1], 30)
    >>> lists = analysis.ranked_lists(y, rng.normal(size=60), qid)
    >>> analysis.most_informative_g(lists, grid=[(0.5, 0.5)], n_jobs=1)
    (0.5, 0.5)
    """
    sweep = threshold_sweep(lists, **{"others": (), **options})
    if 1 < len(sweep.grid) == len(sweep.plausible()):
        warn_caller(
            f"g = {sweep.best} is the most informative of {len(sweep.grid)}, but the {len(lists)} "
            "lists do not show any of the others to be worse; expected more topics, or a g chosen "
            "by what users want"
        )
    return sweep.best
