"""A measure of one of several labels, such as nDCG of revenue.

>>> import gapboost as gb
>>> relevance, revenue = gb.OfLabel(gb.nDCG(), 0), gb.OfLabel(gb.nDCG(), 1)
>>> measures = [relevance, revenue, 0.5 * relevance + 0.5 * revenue]
>>> values = gb.evaluate(measures, [[1, 0], [0, 2]], [2.0, 1.0])
>>> [round(value, 3) for value in values.values()]
[1.0, 0.631, 0.815]
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from gapboost._data.judged import Judged
from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array
from gapboost._kernels.expected_value import Ranked
from gapboost.measures.discounts import Discount
from gapboost.measures.measure import Measure, label_of_value, shortened
from gapboost.measures.weighted import WeightedSum


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
    '0.7_ndcg_at_10_of_relevance_plus_0.3_ap_of_sold'
    """

    measure: Measure
    column: int | str
    k: int | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.measure, Measure):
            raise TypeError(f"measure is {self.measure!r}; expected a measure such as nDCG(k=10)")
        if isinstance(self.measure, WeightedSum | OfLabel):
            raise ValueError(
                f"measure is {self.measure!r}; expected a measure of one label, and OfLabel around "
                "each part of a sum"
            )
        number = isinstance(self.column, int | np.integer) and not isinstance(self.column, bool)
        if not isinstance(self.column, str) and not (number and self.column >= 0):
            raise ValueError(
                f"column is {self.column!r}; expected the name of a column of y, or its number "
                "from 0 on"
            )
        if not isinstance(self.column, str):
            object.__setattr__(self, "column", int(self.column))
        object.__setattr__(self, "k", self.measure.k)

    def __repr__(self) -> str:
        return f"OfLabel({self.measure!r}, {self.column!r})"

    @property
    def short_name(self) -> str:
        """Name such as ``ndcg_of_revenue``."""
        return f"{self.measure.short_name}_of_{label_of_value(self.column)}"

    @property
    def label(self) -> str:
        """Label such as ``ndcg_at_10_of_revenue``; see `Measure.label`."""
        return shortened(f"{self.measure.label}_of_{label_of_value(self.column)}")

    @property
    def label_column(self) -> int | str:
        """`column`."""
        return self.column

    @property
    def monotone(self) -> bool:
        """See `Measure.monotone`."""
        return self.measure.monotone

    @property
    def trains(self) -> bool:
        """See `Measure.trains`."""
        return self.measure.trains

    @property
    def highest_grade(self) -> float:
        """See `Measure.highest_grade`."""
        return self.measure.highest_grade

    def resolved(self, occurring: Any) -> Self:
        """Return the measure with open parameters set from the grades that occur in its column.

        Parameters
        ----------
        occurring : mapping {column: ndarray}
            These grades of each column, distinct and ascending.

        Raises
        ------
        ValueError
            If there is one label only, or no such column.
        """
        if not isinstance(occurring, Mapping) or self.column not in occurring:
            raise ValueError(
                f"measure is {self!r}; expected {self.measure!r}, or labels that have this column"
            )
        return replace(self, measure=self.measure.resolved(occurring[self.column]))

    @property
    def discount_at(self) -> Discount | None:
        """See `Measure.discount_at`."""
        return self.measure.discount_at

    def evaluated(self, ranked: Ranked, base: RecallBase) -> Array:
        """Raise ValueError: a list of grades has one label."""
        raise ValueError(f"measure is {self!r}; expected {self.measure!r} for one label")


def grades_of_labels(measure: Measure, occurring: Array) -> Any:
    """Return the argument of `Measure.resolved` if the same grades occur in every label.

    For a measure of one label it is the grades, otherwise ``{column: grades}``.
    """
    columns = [part.label_column for _, part in measure.terms]
    return occurring if None in columns else dict.fromkeys(columns, occurring)


def with_its_label(measure: Measure, data: Judged) -> tuple[Measure, Judged]:
    """Return a measure of one label, and the data with the label that it reads.

    Raises
    ------
    ValueError
        If the data do not have this label, or have several and the measure reads none.
    """
    if isinstance(measure, OfLabel):
        return measure.measure, data.of_label(measure.column)
    if data.labels:
        raise ValueError(
            f"measure is {measure!r}, but there are several labels; expected an OfLabel"
        )
    return measure, data
