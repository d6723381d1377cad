"""Informativeness of a graded measure against its threshold probabilities g."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gapboost._data.arguments import ordered, probability
from gapboost._data.warned import warn_caller
from gapboost._kernels import Array
from gapboost._pictures import line
from gapboost.analysis.estimates import clustered
from gapboost.analysis.informativeness import informativeness, top_grade
from gapboost.analysis.lists import RankedList
from gapboost.analysis.result import Result
from gapboost.analysis.ties import rounding
from gapboost.measures import GAP, Measure, Measures, as_measures
from gapboost.measures.graded import as_thresholds
from gapboost.measures.grids import simplex_grid


def threshold_sweep(
    lists: Sequence[RankedList],
    *,
    family: Callable[..., Measure] = GAP,
    grid: Sequence[Sequence[float]] | None = None,
    others: Measures = "ndcg",
    minimum: int = 5,
    confidence: float = 0.95,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Result:
    """Compute the informativeness of ``family(g=g)`` for each g, as in [robertson2010] Figure 2.

    Parameters
    ----------
    lists, minimum, n_jobs, progress
        As in `informativeness`.
    family : GAP, xGAP or eGAP
    grid : sequence of g, optional
        By default every g with entries in tenths.
    others : str, Measure or sequence of them
        To compare with.
    confidence : float, default=0.95
        Of all intervals that `plausible` rests on, together.

    Returns
    -------
    Result
        The table and attributes of `informativeness`, for one measure for each g and then the
        others. Also:

        * ``grid``: tuple of g.
        * ``best``: the g with the smallest RMS error in the mean over all relevance thresholds.
        * ``plausible``: each g of the grid that is not shown to be worse than `best`: its error is
          not higher by more than the interval of their difference over the lists, with Bonferroni's
          correction. Lists of the same name, such as those of several systems for one topic, are a
          cluster. With one list or one topic nothing is left out.

        ``plot(rel=1)`` draws the error of each g for relevance from grade `rel` on.

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
    top, confidence = top_grade(lists), probability(confidence, "confidence")
    given = [tuple(map(float, g)) for g in simplex_grid(max(top, 1), 10)] if grid is None else grid
    if not ordered(given):
        raise TypeError(f"grid is {given!r}; expected a list of g, such as simplex_grid makes")
    thresholds = tuple(g for g in map(as_thresholds, given) if g is not None)
    if not thresholds:
        raise ValueError(f"grid is {given!r}; expected at least one g")
    measures = [*(family(g=g) for g in thresholds), *as_measures(others, "others")]
    found = informativeness(measures, lists, minimum=minimum, n_jobs=n_jobs, progress=progress)
    best = thresholds[int(np.argmin(found.mean_rms[: len(thresholds)].mean(axis=1)))]
    attributes = {name: value for name, value in vars(found).items() if name[0] != "_"}
    attributes |= {"grid": thresholds, "best": best}
    attributes["plausible"] = plausible(found, thresholds, best, confidence)
    return Result(found._columns, ["measure"], _draw, **attributes)


def plausible(
    found: Result, grid: tuple[Any, ...], best: tuple[float, ...], confidence: float
) -> tuple[tuple[float, ...], ...]:
    """Return each g of `grid` that the result of `informativeness` does not show to be worse."""
    errors = found.rms[: len(grid), found.compared].mean(axis=2)
    worse = errors - errors[grid.index(best)]
    names = [name for name, used in zip(found.lists, found.compared, strict=True) if used]
    topics = [
        [place for place, name in enumerate(names) if name == topic]
        for topic in dict.fromkeys(names)
    ]
    if len(topics) < 2:
        return grid

    def found_worse(differences: Array) -> bool:
        estimate = clustered([differences[topic] for topic in topics])
        # Differences that do not vary are no evidence: there is nothing to test with.
        varies = np.ptp(differences) > rounding(errors)
        return bool(varies and estimate.interval(confidence, max(len(grid) - 1, 1))[0] > 0)

    return tuple(
        g for g, differences in zip(grid, worse, strict=True) if not found_worse(differences)
    )


def most_informative_g(lists: Sequence[RankedList], **options: Any) -> tuple[float, ...]:
    """Find the g for which a graded measure is most informative about relevance, in the mean.

    Parameters
    ----------
    lists, **options
        As in `threshold_sweep`, which shows what the choice rests on: its ``plausible`` has each g
        that the lists do not show to be worse.

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
    if 1 < len(sweep.grid) == len(sweep.plausible):
        warn_caller(
            f"g = {sweep.best} is the most informative of {len(sweep.grid)}, but the {len(lists)} "
            "lists do not show any of the others to be worse; expected more topics, or a g chosen "
            "by what users want"
        )
    best: tuple[float, ...] = sweep.best
    return best


def _draw(sweep: Result, ax: Any, rel: int = 1) -> None:
    """Draw the error of each g; other measures are horizontal lines. `best` is marked."""
    errors = sweep.mean_rms[:, sweep.rels.index(rel)]
    size = len(sweep.grid)
    ax.plot(range(size), errors[:size], label=type(sweep.measures[0]).__name__, **line(0))
    for number, measure in enumerate(sweep.measures[size:]):
        ax.axhline(errors[size + number], label=str(measure), **line(number + 1, marked=False))
    labels = [", ".join(f"{x:.2g}" for x in g) for g in sweep.grid]
    best = sweep.grid.index(sweep.best)
    ax.axvline(best, color="gray", linewidth=1, label=f"best in the mean: ({labels[best]})")
    shown = list(range(0, size, max(1, (size - 1) // 10)))
    ax.set_xticks(shown, [labels[i] for i in shown], rotation=60, ha="right")
    ax.set(xlabel="g", ylabel="mean RMS error (lower is better)")
    ax.set_title(f"relevant from grade {rel}")
