"""Informativeness of a measure: what its value implies about the list that it summarizes.

The value of a measure implies a maximum-entropy distribution of the grades
(`gapboost.analysis.entropy`), and with it a precision-recall curve. The nearer this curve is to the
real one, the more informative is the measure ([robertson2010] 4.1, [yilmaz2009] 3.3).

Let q_n be the inferred probability of relevance at rank n, and Q_n = q_1 + ... + q_n. The inferred
curve connects the points of recall Q_n / R and precision Q_n / n by straight lines. It is compared
with the real curve where recall changes. At the k-th relevant document, of rank n_k, the real
precision is k / n_k. The inferred precision is that at Q = k.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gapboost.analysis.entropy import solve
from gapboost.analysis.result import Result, draw_columns, over_items, short_labels
from gapboost.data import Array, ArrayLike, QueryIds, group_by_query
from gapboost.data.recall_base import CountsLike
from gapboost.evaluation import QueryValues
from gapboost.measures import GAP, Measure, Measures, as_measures
from gapboost.measures.graded import as_thresholds
from gapboost.model_selection.grids import simplex_grid
from gapboost.optional import Axes
from gapboost.validation import as_integer, checked_scores, ordered, warn

# Expected documents that do not count as missing.
NEGLIGIBLE = 1e-4


@dataclass(frozen=True, eq=False)
class RankedList:
    """The grades of one ranking from the top, and the recall base of its query.

    Attributes
    ----------
    name : object
        The query.
    grades : int32 ndarray of shape (n,)
    recall_base : int64 ndarray of shape (c + 1,)

    Examples
    --------
    >>> import numpy as np
    >>> from gapboost import analysis
    >>> analysis.RankedList("q", np.array([2, 0, 1]), np.array([9, 1, 1])).counts.tolist()
    [1, 1, 1]
    """

    name: object
    grades: Array
    recall_base: Array

    @property
    def counts(self) -> Array:
        """Documents of each grade in the list, int64 of shape (c + 1,)."""
        return np.bincount(self.grades, minlength=len(self.recall_base))


def ranked_lists(
    y_true: ArrayLike, y_score: ArrayLike, qid: QueryIds = None, *, recall_base: CountsLike = None
) -> list[RankedList]:
    """Return one list a query, with arguments as in `gapboost.evaluate`; ties by row.

    Examples
    --------
    >>> found = ranked_lists([0, 2, 1, 1], [0.1, 0.9, 0.4, 0.7], ["a", "a", "a", "b"])
    >>> [one.grades.tolist() for one in found]
    [[2, 1, 0], [1]]
    """
    data = group_by_query(y_true, qid, recall_base=recall_base, beside={"y_score": y_score})
    scores = data.queries.grouped(checked_scores(y_score, data.queries.n_rows))
    order = np.lexsort((-scores, data.queries.numbers))
    grades = np.split(data.grades[order].astype(np.int32), data.queries.offsets[1:-1])
    base = data.base
    counts = np.zeros((len(data.queries), int(base.occurring[-1]) + 1), dtype=np.int64)
    levels = np.broadcast_to(base.levels.astype(np.int64), base.counts.shape)
    query, level = base.counts.nonzero()
    counts[query, levels[query, level]] = base.counts[query, level]
    return [
        RankedList(*of_query)
        for of_query in zip(data.queries.ids.tolist(), grades, counts, strict=True)
    ]


def informativeness(
    measures: Measures,
    lists: Sequence[RankedList],
    *,
    minimum: int = 5,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Result:
    """Infer a precision-recall curve from each measure of each list; compare with the real one.

    Parameters
    ----------
    measures : str, Measure or sequence of them
        With ``g=None`` a graded measure is uniform over the grades up to the highest.
    lists : sequence of RankedList
        As from `ranked_lists`, or from ``trec.rankings(...).lists()``.
    minimum : int, default=5
        Lists with fewer documents of some positive grade are left out: a curve needs points
        ([robertson2010]).
    n_jobs : int, optional
        Processes; None is every core that this process may use.
    progress : bool, optional
        Show a progress bar of the lists; needs tqdm. None shows it in a terminal or notebook if
        tqdm is installed. A measure of a list of 1,000 documents takes some 50 ms.

    Returns
    -------
    Result
        Its table has one row a measure. Attributes:

        * ``measures``; ``lists``: names of the lists; ``rels``: a document is relevant from this
          grade on, for each of the compared curves: every positive grade.
        * ``rms``, ``mae``: root mean square and mean absolute error over the points of a curve,
          float64 of shape (measures, lists, rels).
        * ``converged``: True where the maximum-entropy distribution was found, of shape (measures,
          lists).
        * ``compared``: True for the lists for which every measure converged.
        * ``mean_rms``: mean over the compared lists, of shape (measures, rels); NaN without any.

    Raises
    ------
    ValueError
        If no list has enough documents of every grade, or a grade is beyond those of a measure.

    Warns
    -----
    UserWarning
        If lists are left out for too few documents of a grade.

    Examples
    --------
    >>> import numpy as np
    >>> from gapboost import analysis
    >>> rng = np.random.default_rng(0)
    >>> y, qid = rng.integers(0, 3, size=60), np.repeat([0, 1], 30)
    >>> lists = analysis.ranked_lists(y, rng.normal(size=60), qid)
    >>> result = analysis.informativeness(["ap", "ndcg"], lists, n_jobs=1)
    >>> result.rms.shape  # measures, lists, grades from which documents are relevant
    (2, 2, 2)
    """
    given = as_measures(measures)
    enough, top = _usable_lists(lists, minimum)
    if len(enough) < len(lists):
        warn(
            f"lists has {len(lists) - len(enough)} of {len(lists)} with fewer than {minimum} "
            f"documents of a grade 1..{top}, which are left out; {len(enough)} are used",
        )
    wanted = tuple(measure.resolved(np.arange(top + 1)) for measure in given)
    errors = over_items(partial(_errors, wanted, top), enough, n_jobs, progress, "informativeness")
    rms, mae, converged = (np.array(part).swapaxes(0, 1) for part in zip(*errors, strict=True))
    compared = converged.all(axis=0)
    n_lists = int(compared.sum()) or np.nan
    mean_rms, mean_mae = (errors[:, compared].sum(axis=1) / n_lists for errors in (rms, mae))
    rels = tuple(range(1, rms.shape[2] + 1))
    columns: dict[str, object] = {"measure": short_labels(wanted)}
    for t, rel in enumerate(rels):
        columns |= {f"rms rel={rel}": mean_rms[:, t], f"mae rel={rel}": mean_mae[:, t]}
    columns |= {"lists": int(compared.sum()), "not converged": (~converged).sum(axis=1)}
    return Result(
        columns,
        ["measure"],
        _draw,
        measures=wanted,
        lists=tuple(found.name for found in enough),
        rels=rels,
        rms=rms,
        mae=mae,
        converged=converged,
        compared=compared,
        mean_rms=mean_rms,
    )


def _usable_lists(lists: object, minimum: object) -> tuple[list[RankedList], int]:
    """Return the lists with enough documents of each grade, and the highest grade."""
    if not isinstance(lists, list | tuple) or not all(isinstance(x, RankedList) for x in lists):
        raise TypeError(
            f"lists is a {type(lists).__name__}; expected a list of RankedList, such as "
            "ranked_lists(y_true, y_score, qid) or trec.rankings(qrels, run).lists()"
        )
    minimum = as_integer(minimum, "minimum")
    top = max((len(found.recall_base) for found in lists), default=1) - 1
    enough = [
        found for found in lists if len(found.counts) > top and (found.counts[1:] >= minimum).all()
    ]
    if not enough or top < 1:
        raise ValueError(
            f"lists has none with {minimum} documents of each grade 1..{top}; expected some, or a "
            "smaller minimum"
        )
    return enough, top


def _errors(measures: Sequence[Measure], top: int, found: RankedList) -> tuple[Array, Array, Array]:
    """RMS and MAE of shape (measures, rels), and convergence of shape (measures,), for one list."""
    data = group_by_query(found.grades, None, recall_base=[found.recall_base])
    values = QueryValues(measures, data, n_jobs=1)(-np.arange(len(found.grades), dtype=np.float64))
    rms, mae, converged = [], [], []
    for measure, (value,) in zip(measures, values, strict=True):
        solution = solve(measure, float(value), found.counts, found.recall_base)
        p, rels = solution.probabilities, range(1, top + 1)
        errors = [precision_errors(p, found.grades, rel) for rel in rels]
        rms.append([np.sqrt(np.mean(one**2)) for one in errors])
        mae.append([np.mean(np.abs(one)) for one in errors])
        converged.append(solution.converged)
    return np.array(rms), np.array(mae), np.array(converged)


def precision_errors(probabilities: Array, grades: Array, rel: int) -> Array:
    """Return inferred minus real precision at each document relevant from grade `rel` on."""
    ranks = np.flatnonzero(grades >= rel) + 1
    found = np.arange(1, len(ranks) + 1)
    expected = np.cumsum(probabilities[:, rel:].sum(axis=1))
    # Probabilities never vanish: a count that is all but reached at one rank is met in full only at
    # the last.
    precision = expected / np.arange(1, len(expected) + 1)
    errors: Array = np.interp(found - NEGLIGIBLE, expected, precision) - found / ranks
    return errors


def _draw(result: Result, ax: Axes) -> None:
    """Draw the mean RMS error by measure, a line for each `rel`."""
    draw_columns(result.to_pandas().filter(like="rms"), ax)
    ax.set_ylabel(f"mean RMS error, {result.compared.sum()} lists (lower is better)")


def threshold_sweep(
    lists: Sequence[RankedList],
    *,
    family: Callable[..., Measure] = GAP,
    grid: Sequence[Sequence[float]] | None = None,
    others: Measures = "ndcg",
    minimum: int = 5,
    n_jobs: int | None = None,
    progress: bool | None = None,
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

    Returns
    -------
    Result
        The table and attributes of `informativeness`, for one measure for each g and then the
        others. Also:

        * ``grid``: tuple of g.
        * ``best``: the g with the smallest RMS error in the mean over all relevance thresholds.

        Few topics do not tell one g from another. With one list a topic, compare two of the grid by
        ``significance(sweep.rms[0].mean(axis=1), sweep.rms[1].mean(axis=1))``.

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
    _, top = _usable_lists(lists, minimum)
    given = simplex_grid(top, 10) if grid is None else grid
    thresholds = tuple(as_thresholds(g, "grid") for g in given) if ordered(given) else ()
    if not thresholds:
        raise ValueError(f"grid is {given!r}; expected a list of g, such as simplex_grid makes")
    measures = [*(family(g=g) for g in thresholds), *as_measures(others, "others")]
    found = informativeness(measures, lists, minimum=minimum, n_jobs=n_jobs, progress=progress)
    best = thresholds[int(np.argmin(found.mean_rms[: len(thresholds)].mean(axis=1)))]
    vars(found).update(grid=thresholds, best=best)
    return found


def most_informative_g(lists: Sequence[RankedList], **options: Any) -> tuple[float, ...]:
    """Find the g for which a graded measure is most informative about relevance, in the mean.

    Parameters
    ----------
    lists, **options
        As in `threshold_sweep`, which shows what the choice rests on. Few lists do not tell one g
        from another.

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
    best: tuple[float, ...] = threshold_sweep(lists, **{"others": (), **options}).best
    return best
