"""The graded precision-recall curve, whose area is the measure.

At the rank of a document of grade i, graded recall rises by G[i] / E[RB] (the recall step), and
graded precision is 1/n sum_{m<=n} G[min(i_m, i)] / G[i] ([robertson2010], 3.2). GAP is the sum of
precision times recall step: the area.

The same curve is read from the arrays of every measure whose discount is one for all queries and
whose documents, where they are worth anything, are worth something by themselves: the recall step
is that worth, own[i_n], and the precision is the whole contribution divided by it,

    recall_n = sum_{m<=n} own[i_m],
    precision_n = discount[n] (own[i_n] + sum_{m<n} pair[i_m, i_n]) / own[i_n],

with area sum_n precision_n own[i_n] = M. For AP it is the usual precision-recall curve, for xGAP
and eGAP their own graded one; nDCG has its share of the ideal gain for recall and the discount of
the rank for precision. Kendall's tau and pairwise accuracy count pairs and no documents: they have
no recall, and no curve. Nor have RR and ERR, Q-measure and R-precision, and sums of measures with
several discounts.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gapboost.analysis.result import Result
from gapboost.data import Array, ArrayLike, RecallBase, group_by_query
from gapboost.evaluation import TIES, TieRule
from gapboost.measures import Measure, as_measure
from gapboost.measures.base import tables_of
from gapboost.measures.labels import grade_limit
from gapboost.optional import Axes
from gapboost.validation import as_integer, checked_scores, one_of, ordered


def precision_recall(
    measure: str | Measure,
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    recall_base: ArrayLike | None = None,
    ties: TieRule = "expected",
) -> Result:
    """Return the (graded) precision-recall curve of one ranking.

    Parameters
    ----------
    measure : str or Measure
        GAP gives the curve of [robertson2010]; ``g=None`` is uniform over the grades that occur.
    y_true : array-like of shape (n,)
        Integer grades.
    y_score : array-like of shape (n,)
        Scores; higher is better.
    recall_base : array-like of shape (c + 1,), optional
        Documents of each grade in the collection, where the ranking lacks some: the curve then ends
        before recall 1.
    ties : {"expected", "row"}, default="expected"
        As in `gapboost.evaluate`. Under "expected" both recall step and contribution of a rank are
        expected values.

    Returns
    -------
    Result
        ``rank``: the ranks at which recall rises. ``recall`` after each of them, and the
        ``precision`` of the step that leads there. ``area``: the value of the measure. ``measure``.
        ``plot`` draws steps; call it with the same ``ax`` for several systems.

    Raises
    ------
    ValueError
        If the measure has no recall, as Kendall's tau, RR or ERR, or more than one discount, as
        Q-measure, R-precision and sums such as ``0.5 * ap + 0.5 * ndcg``; if another argument is
        unusable.

    Examples
    --------
    >>> import gapboost as gb
    >>> curve = precision_recall(gb.GAP(g=(0.5, 0.5)), y_true=[1, 2, 0], y_score=[3.0, 2.0, 1.0])
    >>> curve.recall.round(3).tolist(), curve.precision.round(3).tolist(), round(curve.area, 3)
    ([0.333, 1.0], [1.0, 0.75], 0.833)
    """
    measure = as_measure(measure)
    one_of(ties, "ties", TIES)
    base = None if recall_base is None else [recall_base]
    limit = grade_limit([measure])
    data = group_by_query(y_true, None, recall_base=base, limit=limit, beside={"y_score": y_score})
    scores = checked_scores(y_score, data.queries.n_rows)
    measure = measure.resolved(data.occurring)
    # Whatever the list holds: one document of each grade.
    one_of_each = np.ones((1, max(data.base.n_levels, 2)), dtype=np.int64)
    (pair,), (own,) = tables_of(measure, RecallBase.of_integer_grades(one_of_each))
    if pair[:, own == 0].any():
        raise ValueError(f"measure is {measure!r}; expected one with a recall, such as GAP()")
    (pair,), (own,) = tables_of(measure, data.base[:])
    order = np.argsort(-scores, kind="stable")
    new = np.diff(scores[order], prepend=np.inf) != 0
    starts = np.flatnonzero(new | (ties == "row"))
    step, contribution = _contributions(pair, own, data.codes[order], starts)
    value = measure.discount(len(order)) * contribution
    rises = step > 0
    recall, precision = np.cumsum(step[rises]), value[rises] / step[rises]
    return _curve(measure, np.flatnonzero(rises) + 1, recall, precision)


def _contributions(pair: Array, own: Array, codes: Array, starts: Array) -> tuple[Array, Array]:
    """Return the expected own worth at each rank, and the expected worth below the ranks above.

    Documents are tied from each of `starts` to the next.
    """
    n = len(codes)
    counts = np.add.reduceat(np.eye(len(own))[codes], starts)
    above = np.cumsum(counts, axis=0) - counts
    size = np.diff(starts, append=n)
    share = counts / size[:, None]
    # Of two documents of a tied group, each pair is equally probable in each order.
    within = ((counts @ pair - np.diag(pair)) * share).sum(axis=1) / np.maximum(size - 1, 1)
    group = np.repeat(np.arange(len(starts)), size)
    place = np.arange(n) - starts[group]
    step = share @ own
    fixed = step + ((above @ pair) * share).sum(axis=1)
    return step[group], fixed[group] + place * within[group]


def mean_curve(curves: Sequence[Result], levels: int = 100) -> Result:
    """Return the mean precision of several rankings at `levels` equal steps of recall.

    Parameters
    ----------
    curves : sequence of Result
        As from `precision_recall`.
    levels : int, default=100

    Returns
    -------
    Result
        As of `precision_recall`; ``rank`` has the numbers of the levels.

    Examples
    --------
    >>> curves = [precision_recall("ap", y, [3.0, 2.0, 1.0]) for y in ([1, 0, 0], [0, 1, 0])]
    >>> mean_curve(curves, levels=2).precision.tolist()
    [0.75, 0.75]
    """
    given = list(curves) if ordered(curves) else []
    if not given or not all(hasattr(curve, "precision") for curve in given):
        raise ValueError(f"curves is {curves!r}; expected a list of curves of precision_recall")
    recall = np.arange(1, as_integer(levels, "levels") + 1) / levels
    # Recall is a sum of steps: a level that is one of its values must not fall into the next step
    # by rounding. Precision is 0 beyond the recall reached.
    found = [
        np.append(curve.precision, 0.0)[np.searchsorted(curve.recall, recall - 1e-12)]
        for curve in given
    ]
    return _curve(given[0].measure, np.arange(1, levels + 1), recall, np.mean(found, axis=0))


def _curve(measure: Measure, rank: Array, recall: Array, precision: Array) -> Result:
    columns = {"rank": rank, "recall": recall, "precision": precision}
    area = float(np.sum(precision * np.diff(recall, prepend=0.0)))
    return Result(columns, ["rank"], _draw, measure=measure, area=area)


def _draw(curve: Result, ax: Axes, **line: Any) -> None:
    line = {"label": f"{curve.measure} = {curve.area:.3f}", "marker": "", **line}
    recall = np.concatenate([[0.0], curve.recall])
    precision = np.concatenate([curve.precision[:1], curve.precision])
    ax.step(recall, precision, where="pre", **line)
    ax.set(xlabel="recall", ylabel="precision", xlim=(0, 1), ylim=(0, 1.02))
