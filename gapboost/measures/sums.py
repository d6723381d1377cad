"""Measures made of others: weighted sums, and a measure of one of several labels.

>>> import gapboost as gb
>>> measure = 0.7 * gb.GAP(g=(0.5, 0.5)) + 0.3 * gb.nDCG(k=10)
>>> gb.evaluate([measure], y_true=[1, 2, 0], y_score=[3.0, 2.0, 1.0])
{'0.7 * gap(g=(0.5, 0.5)) + 0.3 * ndcg@10': 0.8223456076304853}
>>> relevance, revenue = gb.OfLabel(gb.nDCG(), 0), gb.OfLabel(gb.nDCG(), 1)
>>> measures = [relevance, revenue, 0.5 * relevance + 0.5 * revenue]
>>> values = gb.evaluate(measures, [[1, 0], [0, 2]], [2.0, 1.0])
>>> [round(value, 3) for value in values.values()]
[1.0, 0.631, 0.815]
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from gapboost._data.arguments import as_integer, as_number
from gapboost._data.grades import Column, GradeLimit
from gapboost._data.judged import Judged
from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array
from gapboost.measures.base import (
    Evaluator,
    Measure,
    QuadraticForm,
    label_of_value,
    tables_of,
    without_pairs,
)
from gapboost.measures.discounts import Discount


@dataclass(frozen=True, repr=False)
class WeightedSum(QuadraticForm):
    """Weighted sum of measures, with weights above 0, such as ``0.7 * one + 0.3 * another``.

    Measures with the same discount and cutoff are merged into one quadratic form, whose tables are
    the sum of their tables. The merged form costs as much as a single measure, and every objective
    can train for it. Discounts are compared as values (`Measure.discount_at`), so that the result
    depends neither on the data nor on the order of the parts. `k` is the cutoff that all parts
    share, or None.

    Parameters
    ----------
    parts : sequence of (float, Measure)
        Weights and measures. Sums among them are dissolved, and the weights of equal measures
        added.

    Raises
    ------
    ValueError
        If a weight is not a finite number above 0, or there are no parts.
    TypeError
        If a part is no measure.

    Examples
    --------
    >>> import gapboost as gb
    >>> mixed = 0.7 * gb.AP() + 0.3 * gb.nDCG(k=10)
    >>> mixed
    0.7 * AP(rel=1) + 0.3 * nDCG(k=10)
    >>> (value,) = gb.evaluate(mixed, y_true=[1, 0, 2, 0], y_score=[4.0, 3.0, 2.0, 1.0]).values()
    >>> round(value, 3)
    0.79
    """

    parts: tuple[tuple[float, Measure], ...] = ()
    k: int | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        weights: dict[Measure, float] = {}
        for weight, measure in self.parts:
            if not isinstance(measure, Measure):
                raise TypeError(f"parts holds {measure!r}; expected measures such as GAP()")
            inside = measure.parts if isinstance(measure, WeightedSum) else ((1.0, measure),)
            for inner, part in inside:
                weights[part] = weights.get(part, 0.0) + as_number(weight, "weight") * inner
        if not weights:
            raise ValueError("parts is empty; expected at least one measure")
        cutoffs = {part.k for part in weights}
        self._set(
            parts=tuple((weight, part) for part, weight in weights.items()),
            k=cutoffs.pop() if len(cutoffs) == 1 else None,
            monotone=all(part.monotone for part in weights),
            trains=all(part.trains for part in weights),
            highest_grade=min(part.highest_grade for part in weights),
        )

    def __repr__(self) -> str:
        return " + ".join(f"{weight!r} * {part!r}" for weight, part in self.parts)

    @property
    def name(self) -> str:
        """Name such as ``0.7 * gap + 0.3 * ndcg@10``."""
        return " + ".join(f"{weight!r} * {part.name}" for weight, part in self.parts)

    @property
    def short_name(self) -> str:
        """Name such as ``0.7*gap+0.3*ndcg@10``; a cutoff that all parts share is left out."""
        shown = [
            f"{weight:g}*{part.short_name}{f'@{part.k}' if part.k != self.k else ''}"
            for weight, part in self.parts
        ]
        return "+".join(shown)

    def resolved(self, occurring: Array) -> Self:
        """Return the sum with all parts resolved."""
        return type(self)(tuple((weight, part.resolved(occurring)) for weight, part in self.parts))

    @property
    def terms(self) -> tuple[tuple[float, Measure], ...]:
        """Weighted parts; those with the same discount and cutoff are merged into one."""
        sums: dict[Any, list[tuple[float, Measure]]] = {}
        for weight, part in self.parts:
            key = (part.k, part.discount_at) if _is_mergeable(part) else part
            sums.setdefault(key, []).append((weight, part))
        if len(sums) == 1 and self.parts[0][1] not in sums:
            return ((1.0, self),)
        return tuple(
            each[0] if len(each) == 1 else (1.0, WeightedSum(tuple(each))) for each in sums.values()
        )

    @property
    def discount_at(self) -> Discount | None:
        """Discount that all parts share; None if they have several."""
        return self.parts[0][1].discount_at if self.terms == ((1.0, self),) else None

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """Return the weighted sums of the tables of the parts, which share a discount."""
        pair, own = without_pairs(np.zeros(1), base)
        for weight, part in self.parts:
            of_part = tables_of(part, base)
            pair += weight * of_part[0]
            own += weight * of_part[1]
        return pair, own


def _is_mergeable(part: Measure) -> bool:
    """Return True for a form whose weights of ranks are `Measure.discount_at` down to `k`."""
    kind = type(part)
    inherits = kind.discount is Measure.discount and kind.depth is Measure.depth
    return inherits and isinstance(part, QuadraticForm) and part.discount_at is not None


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


def grade_limit(measures: Sequence[Measure]) -> GradeLimit:
    """Return the limit on grades that all of `measures` accept, for each label that they read."""
    limits: dict[Column | None, tuple[float, Measure]] = {}
    for measure in measures:
        for _, part in measure.terms:
            column, highest = part.label_column, part.highest_grade
            if column not in limits or highest < limits[column][0]:
                limits[column] = highest, part
    return limits
