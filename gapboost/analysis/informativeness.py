"""Informativeness of a measure: what its value implies about the list that it summarizes.

The value of a measure implies a maximum-entropy distribution of the grades
(`gapboost.analysis.entropy`), and with it a precision-recall curve. The nearer this curve is to the
real one, the more informative is the measure ([robertson2010] 4.1, [yilmaz2009] 3.3).

Let q_n be the inferred probability of relevance at rank n, and Q_n = q_1 + ... + q_n. The inferred
curve connects the points of recall Q_n / R and precision Q_n / n by straight lines. It is compared
with the real curve where recall changes. At the k-th relevant document, of rank n_k, the real
precision is k / n_k. The inferred precision is that at Q = k.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from gapboost._data.arguments import whole
from gapboost._kernels import Array
from gapboost._pictures import line
from gapboost.analysis.entropy import solve
from gapboost.analysis.lists import RankedList, list_values
from gapboost.analysis.result import Result, short_labels
from gapboost.analysis.work import in_order
from gapboost.measures import Measure, Measures, as_measures

# Expected documents that do not count as missing.
NEGLIGIBLE = 1e-4


def informativeness(
    measures: Measures,
    lists: Sequence[RankedList],
    *,
    minimum: int = 5,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Result:
    """Infer a precision-recall curve from each measure of each list; compare with the real one.

    Parameters
    ----------
    measures : str, Measure or sequence of them
        Graded ones with their g.
    lists : sequence of RankedList
        As from `ranked_lists`, or from ``trec.rankings(...).lists()``.
    minimum : int, default=5
        Lists with fewer documents of some positive grade are left out: a curve needs points
        ([robertson2010]).
    n_jobs : int, optional
        Processes; None is every core that this process may use.
    progress : bool, default=False
        Show a progress bar.

    Returns
    -------
    Result
        Its table has one row a measure. Attributes:

        * ``measures``; ``lists``: names of the lists; ``rels``: a document is relevant from this
          grade on, for each of the compared curves: every positive grade.
        * ``rms``, ``mae``: root mean square and mean absolute error over the points of a curve,
          float64 of shape (measures, lists, rels).
        * ``converged``: True where the maximum-entropy distribution was found, of shape (measures,
          lists); ``not_converged``: number of lists where it was not, of shape (measures,).
        * ``compared``: True for the lists for which every measure converged.
        * ``mean_rms``, ``mean_mae``: means over the compared lists, of shape (measures, rels); NaN
          without any.

    Raises
    ------
    ValueError
        If no list has enough documents of every grade.

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
    wanted = tuple(as_measures(measures))
    if not wanted:
        raise ValueError("measures is empty; expected at least one")
    top = top_grade(lists)
    minimum = whole(minimum, "minimum")
    enough = [
        found for found in lists if len(found.counts) > top and (found.counts[1:] >= minimum).all()
    ]
    if not enough or top < 1:
        raise ValueError(
            f"lists holds no list with {minimum} documents of each of the grades 1..{top}, among "
            f"{len(lists)}; expected some: lower minimum, or merge grades"
        )
    values = list_values(wanted, enough, n_jobs)
    items = [(found, values[:, number]) for number, found in enumerate(enough)]
    errors = in_order(partial(_errors, wanted, top), items, n_jobs, progress, "maximum entropy")
    rms, mae, converged = (np.array(part).swapaxes(0, 1) for part in zip(*errors, strict=True))
    return compared_errors(wanted, tuple(found.name for found in enough), rms, mae, converged)


def compared_errors(
    measures: tuple[Measure, ...], names: tuple[Any, ...], rms: Array, mae: Array, converged: Array
) -> Result:
    """Return the result of `informativeness` from the errors of all lists."""
    compared = converged.all(axis=0)
    not_converged = np.count_nonzero(~converged, axis=1)
    missing = np.full((len(measures), rms.shape[2]), np.nan)
    mean_rms, mean_mae = (
        errors[:, compared].mean(axis=1) if compared.any() else missing for errors in (rms, mae)
    )
    rels = tuple(range(1, rms.shape[2] + 1))
    columns: dict[str, Any] = {"measure": short_labels(measures)}
    for t, rel in enumerate(rels):
        columns |= {f"rms rel={rel}": mean_rms[:, t], f"mae rel={rel}": mean_mae[:, t]}
    columns |= {"lists": int(compared.sum()), "not converged": not_converged}
    return Result(
        columns,
        ["measure"],
        _draw,
        measures=measures,
        lists=names,
        rels=rels,
        rms=rms,
        mae=mae,
        converged=converged,
        not_converged=not_converged,
        compared=compared,
        mean_rms=mean_rms,
        mean_mae=mean_mae,
    )


def top_grade(lists: Any) -> int:
    """Return the highest grade of the lists."""
    if not isinstance(lists, list | tuple) or not all(isinstance(x, RankedList) for x in lists):
        raise TypeError(
            f"lists is a {type(lists).__name__}; expected a list of RankedList, as from "
            "ranked_lists"
        )
    return max((len(found.recall_base) for found in lists), default=1) - 1


def _errors(
    measures: Sequence[Measure], top: int, item: tuple[RankedList, Array]
) -> tuple[Array, Array, Array]:
    """RMS and MAE of shape (measures, rels), and convergence of shape (measures,), for one list."""
    found, values = item
    rms, mae = np.empty((2, len(measures), top))
    converged = np.empty(len(measures), dtype=bool)
    for m, measure in enumerate(measures):
        solution = solve(measure, values[m], found.counts, found.recall_base)
        converged[m] = solution.converged
        for rel in range(1, top + 1):
            relevance = solution.probabilities[:, rel:].sum(axis=1)
            inferred = inferred_precision(relevance, found.grades, rel)
            difference = inferred - real_precision(found.grades, rel)
            rms[m, rel - 1] = np.sqrt(np.mean(difference**2))
            mae[m, rel - 1] = np.mean(np.abs(difference))
    return rms, mae, converged


def real_precision(grades: Array, rel: int) -> Array:
    """Precision at the rank of each relevant document."""
    ranks = np.flatnonzero(grades >= rel) + 1
    return np.arange(1, len(ranks) + 1) / ranks


def inferred_precision(relevance: Array, grades: Array, rel: int) -> Array:
    """Return the precision that `relevance` implies, if it expects the real number relevant."""
    found = np.arange(1, np.count_nonzero(grades >= rel) + 1)
    expected = np.cumsum(relevance)
    # Probabilities never vanish: a count that is all but reached at one rank is met in full only at
    # the last.
    return np.asarray(
        np.interp(found - NEGLIGIBLE, expected, expected / np.arange(1, len(relevance) + 1))
    )


def _draw(result: Result, ax: Any) -> None:
    """Draw the mean RMS error of each measure, a mark for each `rel`."""
    for t, rel in enumerate(result.rels):
        style = line(t) | {"linestyle": "", "label": f"relevant from grade {rel}"}
        ax.plot(result.mean_rms[:, t], range(len(result.measures)), **style)
    ax.set_yticks(range(len(result.measures)), short_labels(result.measures))
    lists = int(result.compared.sum())
    ax.set(xlabel=f"mean RMS error of the inferred curve, {lists} lists (lower is better)")
    ax.invert_yaxis()
