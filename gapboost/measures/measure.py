"""What a measure is: a frozen value of the form of `gapboost.measures.form` with a name, and weighted sums of measures.

>>> import gapboost as gb
>>> measure = 0.7 * gb.GAP(g=(0.5, 0.5)) + 0.3 * gb.nDCG(k=10)
>>> gb.evaluate([measure], y_true=[1, 2, 0], y_score=[3.0, 2.0, 1.0])
{0.7 * GAP(g=(0.5, 0.5)) + 0.3 * nDCG(k=10): 0.8223456076304853}
"""

import math
import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np

from gapboost._data.arguments import positive
from gapboost._data.grades import GradeLimit
from gapboost._data.judged import judged
from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array
from gapboost.measures.arrays import no_pairs
from gapboost.measures.form import QuadraticForm, tables_of
from gapboost.measures.labels import plain, shortened
from gapboost.measures.worth import Stated

# Methods that follow from `discount_at`, unless a measure overrides them.
DISCOUNTS = ("depth", "discount", "discounts")

SHORT_NAME = re.compile(r"[a-zA-Z0-9_.-]+")


@dataclass(frozen=True, repr=False)
class Measure(QuadraticForm):
    """A measure of the form ``M = sum_n discount[n] (own[i_n] + sum_{m<n} pair[i_m, i_n])``.

    A measure is data: evaluation, swap changes, objectives and analyses all read `discounts` and `tables` and never
    branch on which measure it is. Subclasses are frozen dataclasses; they are hashable, picklable and print as they
    are written. ``0.7 * one + 0.3 * another`` is a measure too (`WeightedSum`).

    What does not fit the form overrides `evaluated`, `relevant` and `changes`, and says so by `has_tables`.

    Parameters
    ----------
    k : int, optional, keyword-only
        Cut-off: ranks beyond it contribute nothing; the recall base stays complete. None is the whole list.

    Examples
    --------
    >>> import gapboost as gb
    >>> isinstance(gb.AP(), gb.Measure), gb.nDCG(k=10).short_name, gb.nDCG(k=10).label
    (True, 'ndcg', 'ndcg_at_10')
    """

    # Numpy's numbers leave ``number * measure`` to the measure.
    __array_ufunc__: ClassVar[None] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        name = self.short_name
        if not isinstance(name, str) or not SHORT_NAME.fullmatch(name):
            raise ValueError(
                f"short_name of {type(self).__name__} is {name!r}; expected letters, digits, '_', '.' and '-', such as 'ndcg'"
            )

    def __repr__(self) -> str:
        shown = []
        # Inherited fields come first in a dataclass; people write the cut-off last.
        for f in sorted(fields(self), key=lambda f: f.name == "k"):
            value = getattr(self, f.name)
            if f.default is MISSING or value != f.default or f.metadata.get("always_shown"):
                shown.append(f"{f.name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"

    @property
    @abstractmethod
    def short_name(self) -> str:
        """Lower-case name by which rankers take the measure and boosters report it: letters, digits, ``_``, ``.`` and ``-``.

        It is read when the measure is made. XGBoost parts what it reports at blanks and colons.
        """

    @property
    def monotone(self) -> bool:
        """Whether the value never falls when a higher grade moves above a lower one."""
        return True

    @property
    def terms(self) -> "tuple[tuple[float, Measure], ...]":
        """Weights and measures, each with one discount or with none, whose weighted sum this measure is."""
        return ((1.0, self),)

    @property
    def trains(self) -> bool:
        """Whether `LambdaRank` can train for it."""
        return self.has_tables

    @property
    def label(self) -> str:
        """A name for files, columns and logs, of letters, digits, ``_``, ``.`` and ``-``: ``ndcg_at_10``, ``gap_g_0.5_0.5``.

        The short name comes first, the cut-off last, and every other parameter that is not at its default in between. Different
        measures of the library have different ones, and so have those of a class of your own whose parameters are numbers,
        words and tuples of numbers.
        """
        words = [self.short_name]
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name != "k" and value != f.default:
                words += [f.name, plain(value)]
        words += [] if self.k is None else ["at", str(self.k)]
        return shortened("_".join(words))

    def resolved(self, occurring: Array) -> Self:
        """The same measure with what it leaves to the data (``g=None``) taken from the grades that occur, ascending."""
        return self

    def __mul__(self, weight: Any) -> "Measure":
        """The measure times a finite number above 0."""
        return WeightedSum(((positive(weight, "weight"), self),))

    __rmul__ = __mul__

    def __add__(self, other: Any) -> "Measure":
        """The sum of two measures."""
        return WeightedSum(((1.0, self), (1.0, other))) if isinstance(other, Measure) else NotImplemented

    def swap_changes(self, ranked: Any, recall_base: Any = None) -> Array:
        """What the measure gains when two documents of a ranking change places, for all pairs of ranks.

        With a the grade at rank p, b the grade at rank q > p, and the prefix sums ``C_g[r] = sum_{m<=r} pair[i_m, g]``
        and ``E_g[r] = sum_{n<=r} discount[n] pair[g, i_n]``, the change is the sum of a number known at p and one
        known at q::

            Delta(p, q) = upper[p, b] + lower[q, a]
            upper[p, g] = discount[p] (own[g] + C_g[p-1] - own[a] - C_a[p-1]) - (E_g[p] - E_a[p])
            lower[q, g] = discount[q] (own[g] + C_g[q-1] + pair[b, g] - pair[g, g] - own[b] - C_b[q-1]) - (E_g[q-1] - E_b[q-1])

        `LambdaRank` weighs its pairs by it.

        Parameters
        ----------
        ranked : array-like of shape (n,)
            Grades, best rank first.
        recall_base : array-like of shape (c + 1,), optional
            Documents of grade 0, 1, ... of the query, where judged documents are missing from the ranking.

        Returns
        -------
        changes : float64 ndarray of shape (n, n)
            ``[p - 1, q - 1]``: the value after ranks p and q changed places minus the value before. Symmetric, and 0
            where the grades are equal.

        Raises
        ------
        ValueError
            Where an argument is unusable; the message names it, what was found and what is expected.

        Examples
        --------
        >>> import gapboost as gb
        >>> gb.AP().swap_changes([1, 0])
        array([[ 0. , -0.5],
               [-0.5,  0. ]])
        """
        data = judged(
            ranked,
            None,
            recall_base=None if recall_base is None else [recall_base],
            limit=grade_limit([self]),
            names=("ranked", "qid", "sample_weight"),
            real=True,
        )
        terms = self.resolved(data.graded).terms
        changes: Array = np.sum([weight * part.changes(data.codes, data.base[:]) for weight, part in terms], axis=0)
        return changes + changes.T


@dataclass(frozen=True, repr=False)
class WeightedSum(Measure):
    """A sum of measures, each times a number above 0: what ``0.7 * one + 0.3 * another`` makes.

    Measures with the same discount and cut-off are one measure of the form, whose tables are the sum of theirs: together
    they cost what one of them costs, and every objective trains for them. Discounts are the same where they are equal as
    values (`Measure.discount_at`): nothing depends on the data or on the order of the parts.

    Parameters
    ----------
    parts : sequence of (float, Measure)
        Weights and measures. Sums among them are dissolved, and the weights of equal measures added.

    Raises
    ------
    ValueError
        Where a weight is not a finite number above 0, there are no parts, or `k` is not that of all parts.
    TypeError
        Where a part is no measure.

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

    def __post_init__(self) -> None:
        weights: dict[Measure, float] = {}
        for weight, measure in self.parts:
            if not isinstance(measure, Measure):
                raise TypeError(f"parts holds {measure!r}; expected measures such as GAP(g=(0.5, 0.5))")
            inside = measure.parts if isinstance(measure, WeightedSum) else ((1.0, measure),)
            for inner, part in inside:
                weights[part] = weights.get(part, 0.0) + positive(weight, "weight") * inner
        if not weights:
            raise ValueError("parts is empty; expected at least one measure")
        object.__setattr__(self, "parts", tuple((weight, part) for part, weight in weights.items()))
        cutoffs = {part.k for part in weights}
        common = cutoffs.pop() if len(cutoffs) == 1 else None
        if self.k not in (None, common):
            raise ValueError(f"k is {self.k!r} for {self!r}; expected the cut-offs inside the measures")
        object.__setattr__(self, "k", common)

    def __repr__(self) -> str:
        return " + ".join(f"{weight!r} * {part!r}" for weight, part in self.parts)

    @property
    def short_name(self) -> str:
        """Such as ``0.7*gap+0.3*ndcg@10``; a cut-off of all parts is not in it."""
        shown = [
            f"{weight:g}*{part.short_name}{f'@{part.k}' if part.k != self.k else ''}" for weight, part in self.parts
        ]
        return "+".join(shown)

    @property
    def label(self) -> str:
        """Such as ``0.7_gap_g_0.5_0.5_plus_0.3_ndcg_at_10``; see `Measure.label`."""
        return shortened("_plus_".join(f"{plain(weight)}_{part.label}" for weight, part in self.parts))

    @property
    def monotone(self) -> bool:
        """Whether all parts are."""
        return all(part.monotone for _, part in self.parts)

    @property
    def trains(self) -> bool:
        """Whether `LambdaRank` can train for all parts."""
        return all(part.trains for _, part in self.parts)

    @property
    def n_grades(self) -> int | None:
        """The least number that a part is defined for."""
        return min((part.n_grades for _, part in self.parts if part.n_grades is not None), default=None)

    @property
    def highest_grade(self) -> float:
        """The lowest of those of the parts."""
        return min(part.highest_grade for _, part in self.parts)

    @property
    def between_whole_grades(self) -> bool:
        """Whether some part is."""
        return any(part.between_whole_grades for _, part in self.parts)

    def resolved(self, occurring: Array) -> Self:
        """With all parts resolved."""
        return type(self)(parts=tuple((weight, part.resolved(occurring)) for weight, part in self.parts))

    @property
    def terms(self) -> tuple[tuple[float, Measure], ...]:
        """The parts, those of one discount and cut-off together."""
        sums: dict[Any, list[tuple[float, Measure]]] = {}
        for weight, part in self.parts:
            shared = (part.k, part.discount_at) if _has_form(part) else part
            sums.setdefault(shared, []).append((weight, part))
        if len(sums) == 1 and _has_form(self.parts[0][1]):
            return ((1.0, self),)
        return tuple(each[0] if len(each) == 1 else (1.0, WeightedSum(tuple(each))) for each in sums.values())

    def discount_at(self, ranks: Array) -> tuple[Array, Array]:
        """That of every part."""
        self._of_one_discount()
        return self.parts[0][1].discount_at(ranks)

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """The weighted sums of those of the parts."""
        self._of_one_discount()
        pair, own = no_pairs(base), np.zeros(base.counts.shape)
        for weight, part in self.parts:
            of_part = tables_of(part, base)
            pair += weight * of_part[0]
            own += weight * of_part[1]
        return pair, own

    def worth(self, base: RecallBase) -> Stated:
        """The terms of all parts, each times its weight."""
        self._of_one_discount()
        own, terms = np.zeros(base.counts.shape), []
        for weight, part in self.parts:
            alone, pairs = part.worth(base)
            own += weight * alone
            terms += [term._replace(factor=weight * term.factor) for term in pairs]
        return own, tuple(terms)

    def _of_one_discount(self) -> None:
        if len(self.terms) > 1 or self.terms[0][1] is not self:
            raise ValueError(
                f"measure is {self!r}, which has several discounts; expected a measure with one, such as GAP()"
            )


def _has_form(part: Measure) -> bool:
    """True if a measure is tables and one `discount_at` for all queries, so that others with an equal one may join it."""
    own_discount = any(getattr(type(part), name) is not getattr(Measure, name) for name in DISCOUNTS)
    return part.has_tables and part.has_one_discount and not own_discount


def grade_limit(measures: Sequence[Measure]) -> GradeLimit:
    """The grades that all of `measures` know."""
    highest, measure = min(((m.highest_grade, repr(m)) for m in measures), default=(math.inf, ""))
    between = next((repr(m) for m in measures if m.between_whole_grades), "")
    return GradeLimit(highest, measure, between)
