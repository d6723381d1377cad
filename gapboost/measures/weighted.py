"""Weighted sums of measures.

>>> import gapboost as gb
>>> measure = 0.7 * gb.GAP(g=(0.5, 0.5)) + 0.3 * gb.nDCG(k=10)
>>> gb.evaluate([measure], y_true=[1, 2, 0], y_score=[3.0, 2.0, 1.0])
{0.7 * GAP(g=(0.5, 0.5)) + 0.3 * nDCG(k=10): 0.8223456076304853}
"""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from gapboost._data.arguments import positive
from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array
from gapboost.measures.form import QuadraticForm, tables_of, without_pairs
from gapboost.measures.measure import Measure, label_of_value, shortened


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
        If a weight is not a finite number above 0, there are no parts, or some parts, and not all,
        are `OfLabel`.
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
                raise TypeError(
                    f"parts holds {measure!r}; expected measures such as GAP(g=(0.5, 0.5))"
                )
            inside = measure.parts if isinstance(measure, WeightedSum) else ((1.0, measure),)
            for inner, part in inside:
                weights[part] = weights.get(part, 0.0) + positive(weight, "weight") * inner
        if not weights:
            raise ValueError("parts is empty; expected at least one measure")
        of_one = [part for part in weights if part.label_column is None]
        if 0 < len(of_one) < len(weights):
            raise ValueError(
                f"parts holds {of_one[0]!r}, and measures of several labels too; expected OfLabel "
                "around each part"
            )
        object.__setattr__(self, "parts", tuple((weight, part) for part, weight in weights.items()))
        cutoffs = {part.k for part in weights}
        object.__setattr__(self, "k", cutoffs.pop() if len(cutoffs) == 1 else None)

    def __repr__(self) -> str:
        return " + ".join(f"{weight!r} * {part!r}" for weight, part in self.parts)

    @property
    def short_name(self) -> str:
        """Name such as ``0.7*gap+0.3*ndcg@10``; a cutoff that all parts share is left out."""
        shown = [
            f"{weight:g}*{part.short_name}{f'@{part.k}' if part.k != self.k else ''}"
            for weight, part in self.parts
        ]
        return "+".join(shown)

    @property
    def label(self) -> str:
        """Label such as ``0.7_gap_g_0.5_0.5_plus_0.3_ndcg_at_10``; see `Measure.label`."""
        labels = [f"{label_of_value(weight)}_{part.label}" for weight, part in self.parts]
        return shortened("_plus_".join(labels))

    @property
    def monotone(self) -> bool:
        """True if all parts are monotone."""
        return all(part.monotone for _, part in self.parts)

    @property
    def trains(self) -> bool:
        """True if `LambdaRank` can train for all parts."""
        return all(part.trains for _, part in self.parts)

    @property
    def highest_grade(self) -> float:
        """Lowest `highest_grade` of the parts."""
        return min(part.highest_grade for _, part in self.parts)

    def resolved(self, occurring: Array) -> Self:
        """Return the sum with all parts resolved."""
        return type(self)(tuple((weight, part.resolved(occurring)) for weight, part in self.parts))

    @property
    def terms(self) -> tuple[tuple[float, Measure], ...]:
        """Weighted parts; those with the same discount and cutoff are merged into one."""
        sums: dict[Any, list[tuple[float, Measure]]] = {}
        for weight, part in self.parts:
            sums.setdefault(part.merge_key, []).append((weight, part))
        if len(sums) == 1 and self.parts[0][1] not in sums:
            return ((1.0, self),)
        return tuple(
            each[0] if len(each) == 1 else (1.0, WeightedSum(tuple(each))) for each in sums.values()
        )

    def discount_at(self, ranks: Array) -> tuple[Array, Array]:
        """Return weight and slope of the discount, which all parts share."""
        discount = self._parts_of_one_discount()[0][1].discount_at
        assert discount is not None
        return discount(ranks)

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """Return the weighted sums of the tables of the parts."""
        pair, own = without_pairs(np.zeros(1), base)
        for weight, part in self._parts_of_one_discount():
            of_part = tables_of(part, base)
            pair += weight * of_part[0]
            own += weight * of_part[1]
        return pair, own

    def _parts_of_one_discount(self) -> tuple[tuple[float, Measure], ...]:
        if len(self.terms) > 1 or self.terms[0][1] is not self:
            raise ValueError(
                f"measure is {self!r}, which has several discounts; expected a measure with one, "
                "such as GAP()"
            )
        return self.parts
