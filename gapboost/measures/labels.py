"""Measures of one of several labels, and the grades that measures are defined for.

>>> import gapboost as gb
>>> relevance, revenue = gb.OfLabel(gb.nDCG(), 0), gb.OfLabel(gb.nDCG(), 1)
>>> measures = [relevance, revenue, 0.5 * relevance + 0.5 * revenue]
>>> values = gb.evaluate(measures, [[1, 0], [0, 2]], [2.0, 1.0])
>>> [round(value, 3) for value in values.values()]
[1.0, 0.631, 0.815]
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from gapboost.data import Array, QueryData, RecallBase
from gapboost.data.grades import Column, GradeLimit
from gapboost.measures.base import Evaluator, Measure, WeightedSum
from gapboost.validation import as_integer, label_of_value


@dataclass(frozen=True, repr=False)
class OfLabel(Measure):
    """A measure of one column of labels `y` of shape (N, L).

    Rankers train for weighted sums of such measures,
    ``0.7 * OfLabel(nDCG(), "relevance") + 0.3 * OfLabel(nDCG(), "revenue")``. The gradients of the
    parts are those of each measure times its weight. `LambdaRank` scales their sum once for each
    query, so that a weight means the same as in the value of the sum.

    Parameters
    ----------
    measure : Measure
        A measure of one label; a sum is written as a sum of `OfLabel`.
    column : int or str
        The name of the column if `y` is a data frame, its number from 0 on if `y` is an array.

    Raises
    ------
    TypeError, ValueError
        If `measure` or `column` is something else.

    Examples
    --------
    >>> import gapboost as gb
    >>> measure = 0.7 * gb.OfLabel(gb.nDCG(k=10), "relevance") + 0.3 * gb.OfLabel(gb.AP(), "sold")
    >>> measure
    0.7 * OfLabel(nDCG(k=10), 'relevance') + 0.3 * OfLabel(AP(rel=1), 'sold')
    >>> measure.label
    '0.7_OfLabel_nDCG_at_10_relevance_0.3_OfLabel_AP_rel_1_sold'
    """

    measure: Measure
    column: int | str
    k: int | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        made_of_others = isinstance(self.measure, WeightedSum | OfLabel)
        if not isinstance(self.measure, Measure) or made_of_others:
            raise TypeError(
                f"measure is {self.measure!r}; expected a measure of one label such as nDCG(k=10), "
                "and OfLabel around each part of a sum"
            )
        column = self.column
        if not isinstance(column, str):
            column = as_integer(column, "column", 0, "the name of a column of y, or its number")
        self._set(
            column=column,
            label_column=column,
            k=self.measure.k,
            monotone=self.measure.monotone,
            trains=self.measure.trains,
            highest_grade=self.measure.highest_grade,
        )

    @property
    def name(self) -> str:
        """Name such as ``oflabel(ndcg@10, 'revenue')``."""
        return f"oflabel({self.measure.name}, {self.column!r})"

    @property
    def short_name(self) -> str:
        """Name such as ``ndcg_of_revenue``."""
        return f"{self.measure.short_name}_of_{label_of_value(self.column)}"

    def resolved(self, occurring: Any) -> Self:
        """Return the measure with open parameters set from the grades that occur in its column.

        `occurring` are these grades, the same for all labels, or a mapping from columns to them.
        """
        grades = occurring[self.column] if isinstance(occurring, Mapping) else occurring
        return replace(self, measure=self.measure.resolved(grades))

    def evaluator(self, base: RecallBase, sizes: Array) -> Evaluator:
        """Raise ValueError: a list of grades has one label."""
        raise ValueError(f"measure is {self!r}; expected {self.measure!r} for one label")


def with_its_label(measure: Measure, data: QueryData) -> tuple[Measure, QueryData]:
    """Return a measure of one label, and the data with the label that it reads.

    Where the data have one label, both are returned unchanged.
    """
    if isinstance(measure, OfLabel) and data.labels:
        return measure.measure, data.of_label(measure.column)
    return measure, data


def grade_limit(measures: Sequence[Measure]) -> GradeLimit:
    """Return the limit on grades that all of `measures` accept, for each label that they read."""
    limits: dict[Column | None, tuple[float, Measure]] = {}
    for measure in measures:
        for _, part in measure.terms:
            column, highest = part.label_column, part.highest_grade
            if column not in limits or highest < limits[column][0]:
                limits[column] = highest, part
    return limits
