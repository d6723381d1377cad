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

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from gapboost._data.arguments import one_of, whole
from gapboost._data.columns import checked_scores
from gapboost._data.judged import Judged, judged
from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array
from gapboost._optional import axes, frame
from gapboost._pictures import legend
from gapboost._pictures import line as styled
from gapboost.evaluation import TIES, TieRule, query_values
from gapboost.measures import Measure, as_measure
from gapboost.measures.form import QuadraticForm, tables_of
from gapboost.measures.measure import grade_limit, weights_at


@dataclass(frozen=True, eq=False)
class PrecisionRecallCurve:
    """Precision at each recall of one ranking, or the mean of several over recall levels.

    Attributes
    ----------
    measure : Measure
    rank : int64 ndarray of shape (points,)
        Ranks at which recall rises; the numbers of the levels in a mean.
    recall, precision : float64 ndarray of shape (points,)
        Recall after the point, and the precision over the step that leads there.

    Examples
    --------
    >>> import gapboost as gb
    >>> from gapboost import analysis
    >>> curve = analysis.precision_recall(gb.GAP(g=(0.5, 0.5)), [1, 2, 0], [3.0, 2.0, 1.0])
    >>> round(float(curve.area), 3)
    0.833
    """

    measure: Measure
    rank: Array
    recall: Array
    precision: Array

    @property
    def area(self) -> float:
        """Sum of precision times recall step: the value of the measure."""
        return float(np.sum(self.precision * np.diff(self.recall, prepend=0.0)))

    def at(self, recall: Any) -> Array:
        """Precision of the step in which each of `recall` lies; 0 beyond the recall reached."""
        # Recall is a sum of steps: a level that is one of its values must not fall into the next
        # step by rounding.
        step = np.searchsorted(self.recall, np.asarray(recall, dtype=np.float64) - 1e-12)
        return np.append(self.precision, 0.0)[step]

    def to_pandas(self) -> Any:
        """One row a point: rank, recall and precision."""
        return frame(
            {"rank": self.rank, "recall": self.recall, "precision": self.precision}, ["rank"]
        )

    def plot(self, ax: Any = None, **line: Any) -> Any:
        """Draw the curve as steps, whose area is the measure. Return the axes.

        Call with the same `ax` for several systems.
        """
        ax = axes(ax)
        line = {
            "label": f"{self.measure} = {self.area:.3f}",
            **styled(len(ax.get_lines()), marked=False),
            **line,
        }
        recall = np.concatenate([[0.0], self.recall])
        precision = np.concatenate([self.precision[:1], self.precision])
        ax.step(recall, precision, where="pre", **line)
        ax.set(xlabel="recall", ylabel="precision", xlim=(0, 1), ylim=(0, 1.02))
        legend(ax)
        return ax

    @classmethod
    def mean(cls, curves: "list[PrecisionRecallCurve]", levels: int = 100) -> Self:
        """The mean precision of several rankings at `levels` equal steps of recall."""
        if not isinstance(curves, list | tuple) or not all(
            isinstance(c, PrecisionRecallCurve) for c in curves
        ):
            raise TypeError(f"curves is {curves!r}; expected a list of curves")
        if not curves:
            raise ValueError("curves is empty; expected at least one")
        levels = whole(levels, "levels")
        recall = np.arange(1, levels + 1) / levels
        precision = np.mean([curve.at(recall) for curve in curves], axis=0)
        return cls(curves[0].measure, np.arange(1, levels + 1), recall, precision)


@dataclass(frozen=True, repr=False)
class _AtRank(QuadraticForm):
    """Contribution of one rank to the value of a measure, or (``part="own"``) to its recall."""

    measure: Measure | None = None
    rank: int = 1
    part: Literal["value", "own"] = "value"

    @property
    def short_name(self) -> str:
        return "rank"

    def discount_at(self, ranks: Array) -> tuple[Array, Array]:
        assert self.measure is not None
        here = ranks == self.rank
        if self.part == "own":
            return here.astype(np.float64), np.zeros(ranks.shape)
        weight, _ = weights_at(self.measure, ranks)
        within = self.measure.k is None or self.rank <= self.measure.k
        return np.where(here & within, weight, 0.0), np.zeros(ranks.shape)

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        assert self.measure is not None
        pair, own = tables_of(self.measure, base)
        return (pair if self.part == "value" else np.zeros_like(pair)), own


def precision_recall(
    measure: str | Measure,
    y_true: Any,
    y_score: Any,
    *,
    recall_base: Any = None,
    ties: TieRule = "expected",
) -> PrecisionRecallCurve:
    """The (graded) precision-recall curve of one ranking.

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

    Raises
    ------
    ValueError
        If the measure has no recall, as Kendall's tau, RR or ERR, or more than one discount, as
        Q-measure, R-precision and sums such as ``0.5 * ap + 0.5 * ndcg``; where another argument is
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
    data = judged(y_true, None, recall_base=base, limit=grade_limit([measure]))
    return curve(measure, data, checked_scores(y_score, data.queries.n_rows), ties)


def curve(
    measure: Measure, data: Judged, scores: Array, ties: TieRule = "expected"
) -> PrecisionRecallCurve:
    """Compute the curve of `precision_recall` for one query that is already checked."""
    measure = measure.resolved(data.occurring)
    _check_recall(measure, data.base.n_levels)
    ranks = np.arange(1, data.queries.n_rows + 1)
    value = np.concatenate(
        query_values([_AtRank(measure, int(n)) for n in ranks], data, scores, ties=ties, n_jobs=1)
    )
    own = [_AtRank(measure, int(n), "own") for n in ranks]
    step = np.concatenate(query_values(own, data, scores, ties=ties, n_jobs=1))
    rising = step > 0
    return PrecisionRecallCurve(
        measure, ranks[rising], np.cumsum(step[rising]), value[rising] / step[rising]
    )


def _check_recall(measure: Measure, n_grades: int) -> None:
    """Refuse a measure in which a document counts for the value, but not for recall.

    The area would not be the measure.
    """
    # Whatever the list holds: one document of each grade.
    (pair,), (own,) = tables_of(
        measure, RecallBase.of_whole_grades(np.ones((1, max(n_grades, 2)), dtype=np.int64))
    )
    if pair[:, own == 0].any():
        raise ValueError(
            f"measure is {measure!r}, in which some documents count in pairs only, so that there "
            "is no recall; expected a measure such as GAP()"
        )
