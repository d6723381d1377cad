"""Base class of all measures: frozen values with a name, that evaluate and can be added.

>>> import gapboost as gb
>>> gb.evaluate([gb.AP(), gb.RR()], y_true=[0, 1, 2], y_score=[3.0, 2.0, 1.0])
{AP(rel=1): 0.5833333333333333, RR(): 0.5}
"""

import math
import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, Self

import numpy as np

from gapboost._data.arguments import as_cutoff, positive
from gapboost._data.grades import GradeLimit
from gapboost._data.judged import judged
from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array
from gapboost._kernels.expected_value import Ranked
from gapboost.measures.arrays import checked_arrays
from gapboost.measures.discounts import Discount
from gapboost.measures.labels import plain, short_label
from gapboost.measures.metaclass import MeasureType

SHORT_NAME = re.compile(r"[a-zA-Z0-9_.-]+")


@dataclass(frozen=True, repr=False)
class Measure(metaclass=MeasureType):
    """A measure of rankings: evaluates a ranking and the effect of swapping two of its documents.

    Subclasses are frozen dataclasses: hashable, picklable, and printed as they are written.
    ``0.7 * one + 0.3 * another`` is a measure too (`WeightedSum`).

    A measure of the form ``M = sum_n discount[n] (own[i_n] + sum_{m<n} pair[i_m, i_n])`` defines
    `short_name`, `discount_at` and ``tables`` (see `QuadraticForm`). Every
    objective trains for such measures. Any other measure defines `evaluated` instead. It overrides
    `relevant` and `changes` if the ones of this class do not fit.

    Parameters
    ----------
    k : int, optional, keyword-only
        Cut-off: only ranks 1 to k count; the recall base keeps all documents. None: the whole list.

    Examples
    --------
    >>> import gapboost as gb
    >>> isinstance(gb.AP(), gb.Measure), gb.nDCG(k=10).short_name, gb.nDCG(k=10).label
    (True, 'ndcg', 'ndcg_at_10')
    """

    # Numpy's numbers leave ``number * measure`` to the measure.
    __array_ufunc__: ClassVar[None] = None

    k: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", as_cutoff(self.k))
        name = self.short_name
        if not isinstance(name, str) or not SHORT_NAME.fullmatch(name):
            raise ValueError(
                f"short_name of {type(self).__name__} is {name!r}; expected letters, digits, '_', "
                "'.' and '-', such as 'ndcg'"
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
        """Lower-case name for rankers and boosters: letters, digits, ``_``, ``.`` and ``-``.

        XGBoost splits its reports at blanks and colons, so a name cannot contain them.
        """

    @property
    def monotone(self) -> bool:
        """True if the value never falls when a higher grade moves above a lower one."""
        return True

    @property
    def terms(self) -> "tuple[tuple[float, Measure], ...]":
        """Weights and measures whose sum this measure is, each with one discount or none."""
        return ((1.0, self),)

    @property
    def label_column(self) -> int | str | None:
        """Column of several labels that the measure reads (`OfLabel`); None for one label."""
        return None

    @property
    def trains(self) -> bool:
        """True if `LambdaRank` can train for it."""
        return False

    @property
    def label(self) -> str:
        """Name for files, columns and logs, such as ``ndcg_at_10`` or ``gap_g_0.5_0.5``.

        It has letters, digits, ``_``, ``.`` and ``-``. The short name comes first and the cut-off
        last, with all parameters that are not at their defaults in between. Labels of different
        measures differ if all parameters are numbers, words or tuples of numbers.
        """
        words = [self.short_name]
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name != "k" and value != f.default:
                words += [f.name, plain(value)]
        words += [] if self.k is None else ["at", str(self.k)]
        return short_label("_".join(words))

    @property
    def n_grades(self) -> int | None:
        """Number of positive grades the measure is defined for; None means any."""
        return None

    @property
    def highest_grade(self) -> float:
        """Highest grade that the measure is defined for; infinite if there is no limit."""
        return math.inf if self.n_grades is None else self.n_grades

    @property
    def between_whole_grades(self) -> bool:
        """True if parameters given at whole grades are interpolated for fractional ones."""
        return False

    def resolved(self, occurring: Array) -> Self:
        """Return the measure with open parameters (``g=None``) set from the grades that occur.

        Parameters
        ----------
        occurring : ndarray
            Distinct grades, ascending.
        """
        return self

    def depth(self, n: int) -> int:
        """Number of ranks with a discount above 0 in a list of `n` documents."""
        return n if self.k is None else min(n, self.k)

    def discount(self, n: int) -> Array:
        """Weights of ranks ``1..n``, float64 of shape (n,), 0 beyond the cut-off."""
        weights, _ = weights_at(self, np.arange(1.0, n + 1))
        return np.where(np.arange(n) < self.depth(n), weights, 0.0)

    def discounts(self, base: RecallBase, sizes: Array) -> tuple[Array, Array]:
        """Weights of the ranks of several queries, 0 beyond the cut-off.

        Parameters
        ----------
        base : RecallBase
            Of the queries.
        sizes : int ndarray of shape (Q,)
            Documents in the list of each query, at least 1.

        Returns
        -------
        weights : float64 ndarray
        begins : int64 ndarray of shape (Q,)
            Rank n of query q weighs ``weights[begins[q] + n - 1]``. All queries begin at 0, unless
            the discount belongs to the query (`DiscountOfQuery`).
        """
        return self.discount(int(sizes.max())), np.zeros(len(sizes), dtype=np.int64)

    @property
    @abstractmethod
    def discount_at(self) -> Discount | None:
        """Return weights at real ranks without the cutoff, for the discount and smooth measures.

        Define a method ``discount_at(self, ranks)``, or set a value of
        `gapboost.measures.discounts`. `WeightedSum` merges measures with equal values and equal
        cut-offs into one. It does not merge methods, nor measures that override `depth`, `discount`
        or `discounts`. None means that each query has its own discount.

        Parameters
        ----------
        ranks : float64 ndarray of any shape
            Ranks >= 1, not necessarily whole.

        Returns
        -------
        weight, slope : float64 ndarrays of the shape of `ranks`
            The weight and its derivative.
        """

    @abstractmethod
    def evaluated(self, ranked: Ranked, base: RecallBase, weights: Array, begins: Array) -> Array:
        """Return the value of each query, its mean over all orders of tied documents.

        Parameters
        ----------
        ranked : Ranked
            Queries in order of rank.
        base : RecallBase
            Of the queries.
        weights, begins
            Of these queries, as `discounts` returns them.

        Returns
        -------
        float64 ndarray of shape (Q,)
        """

    def relevant(self, base: RecallBase) -> Array:
        """Return True for each query with a relevant document: bool of shape (Q,).

        Relevant is any grade above 0 by default.
        """
        return np.asarray(np.any((base.counts > 0) & (base.levels > 0), axis=1))

    def changes(self, grades: Array, base: RecallBase) -> Array:
        """Return the upper triangle of `swap_changes` for one list, by numbers of levels.

        By default every pair of documents is swapped, and the list evaluated again.
        """
        n = len(grades)
        weights, begins = self.discounts(base, np.array([n]))
        changes = np.zeros((n, n))
        for p in range(n):
            m = n - p
            lists = np.tile(grades, (m, 1))
            others = np.arange(m)
            lists[:, p], lists[others, p + others] = grades[p:], grades[p]
            untied = np.tile(np.arange(1, n + 1, dtype=np.int32), m)
            ranked = Ranked(starts=np.arange(m + 1) * n, grades=lists.ravel(), ends=untied)
            values = self.evaluated(ranked, base[np.zeros(m, int)], weights, np.repeat(begins, m))
            changes[p, p:] = values - values[0]
        return changes

    def swap_changes(self, ranked: Any, recall_base: Any = None) -> Array:
        """Return the change of the value when two documents swap ranks, for all pairs of ranks.

        `LambdaRank` weights its pairs by this change. `gapboost.measures.swaps` has the formula.

        Parameters
        ----------
        ranked : array-like of shape (n,)
            Grades, best rank first.
        recall_base : array-like of shape (c + 1,), optional
            Documents of grade 0, 1, ... in the query, if the ranking lacks some of them.

        Returns
        -------
        changes : float64 ndarray of shape (n, n)
            ``[p - 1, q - 1]`` is the value after ranks p and q are swapped minus the value before.
            The matrix is symmetric, and 0 for equal grades.

        Raises
        ------
        ValueError
            If an argument is unusable.

        Examples
        --------
        >>> import gapboost as gb
        >>> gb.AP().swap_changes([1, 0])
        array([[ 0. , -0.5],
               [-0.5,  0. ]])
        """
        bases = None if recall_base is None else [recall_base]
        names = ("ranked", "qid", "sample_weight")
        data = judged(
            ranked, None, recall_base=bases, limit=grade_limit([self]), names=names, real=True
        )
        terms = self.resolved(data.graded).terms
        parts = [weight * part.changes(data.codes, data.base[:]) for weight, part in terms]
        changes: Array = np.sum(parts, axis=0)
        return changes + changes.T

    @property
    def _addition_key(self) -> Any:
        """Key, equal for measures that a `WeightedSum` merges; else the measure itself."""
        return self

    def __mul__(self, weight: Any) -> "Measure":
        """The measure times a finite number above 0."""
        return _sum_of((positive(weight, "weight"), self))

    __rmul__ = __mul__

    def __add__(self, other: Any) -> "Measure":
        """The sum of two measures."""
        return _sum_of((1.0, self), (1.0, other)) if isinstance(other, Measure) else NotImplemented


def _sum_of(*parts: tuple[float, Measure]) -> Measure:
    assert MeasureType.sum is not None  # `gapboost.measures` imports it
    found: Measure = MeasureType.sum(parts)
    return found


def grade_limit(measures: Sequence[Measure]) -> GradeLimit:
    """Return the limit on grades that all of `measures` accept."""
    parts = [part for measure in measures for _, part in measure.terms]
    columns = dict.fromkeys(part.label_column for part in parts if part.label_column is not None)
    of_columns = {c: [part for part in parts if part.label_column == c] for c in columns}
    return _limit(measures)._replace(
        of_one_label=next((repr(part) for part in parts if part.label_column is None), ""),
        of_labels=tuple((column, _limit(reading)) for column, reading in of_columns.items()),
    )


def _limit(measures: Sequence[Measure]) -> GradeLimit:
    highest, measure = min(((m.highest_grade, repr(m)) for m in measures), default=(math.inf, ""))
    between = next((repr(m) for m in measures if m.between_whole_grades), "")
    return GradeLimit(highest, measure, between)


def weights_at(measure: Measure, ranks: Array) -> tuple[Array, Array]:
    """Return ``weight`` and ``slope`` of `Measure.discount_at`; raise ValueError if unusable."""
    discount = measure.discount_at
    if discount is None:
        raise ValueError(
            f"measure is {measure!r}, whose discount belongs to the query; expected a measure such "
            "as GAP()"
        )
    weight, slope = checked_arrays(measure, "discount_at", discount(ranks), [ranks.shape] * 2)
    return weight, slope
