"""Base classes of measures: frozen values with a name, that evaluate and can be added.

>>> import gapboost as gb
>>> gb.evaluate([gb.AP(), gb.RR()], y_true=[0, 1, 2], y_score=[3.0, 2.0, 1.0])
{'ap': 0.5833333333333333, 'rr': 0.5}
"""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import ClassVar, Self

import numpy as np

from gapboost._kernels.expected_value import Ranked, evaluate_form
from gapboost.data import Array, RecallBase
from gapboost.measures.discounts import Discount, checked_arrays, weights_at
from gapboost.validation import Value, as_integer, as_number, label_of_value, parameter

Evaluator = Callable[[Ranked], Array]


@dataclass(frozen=True, repr=False)
class Measure(Value, ABC):
    """A measure of rankings.

    Subclasses are frozen dataclasses: hashable, picklable, and printed as they are written.
    ``0.7 * one + 0.3 * another`` is a measure too (`WeightedSum`).

    Derive a measure of the form ``M = sum_n discount[n] (own[i_n] + sum_{m<n} pair[i_m, i_n])``
    from `gapboost.measures.QuadraticForm`: every objective trains for it. Any other measure derives
    from this class and defines `evaluator`. It overrides `relevant` if the one of this class does
    not fit.

    Parameters
    ----------
    k : int, optional, keyword-only
        Cutoff: only ranks 1 to k count; the recall base keeps all documents. None: the whole list.

    Examples
    --------
    >>> import gapboost as gb
    >>> isinstance(gb.AP(), gb.Measure), gb.nDCG(k=10).name, gb.nDCG(k=10).label
    (True, 'ndcg@10', 'nDCG_at_10')
    """

    # Numpy's numbers leave ``number * measure`` to the measure.
    __array_ufunc__: ClassVar[None] = None

    # True if the value never falls when a higher grade moves above a lower one.
    monotone: ClassVar[bool] = True

    # True if `LambdaRank` can train for it.
    trains: ClassVar[bool] = False

    # Column of several labels that the measure reads (`OfLabel`); None for one label.
    label_column: ClassVar[int | str | None] = None

    # Highest grade that the measure is defined for.
    highest_grade: ClassVar[float] = math.inf

    k: int | None = parameter(None, as_integer, kw_only=True)

    @property
    def short_name(self) -> str:
        """Name for rankers and boosters; by default the name of the class in lower case.

        Boosters report it with ``_`` in place of blanks and colons.
        """
        return type(self).__name__.lower()

    @property
    def name(self) -> str:
        """Name that functions take for the measure: ``ndcg@10`` or ``gap(g=(0.5, 0.5))``.

        Results of `gapboost.evaluate` have it as key.
        """
        given = [
            f"{f.name}={value!r}"
            for f in fields(self)
            if f.init and f.name != "k" and (value := getattr(self, f.name)) != f.default
        ]
        parameters = f"({', '.join(given)})" if given else ""
        cutoff = "" if self.k is None else f"@{self.k}"
        return f"{type(self).__name__.lower()}{parameters}{cutoff}"

    @property
    def label(self) -> str:
        """Name for files, columns and logs, such as ``nDCG_at_10`` or ``GAP_g_0.5_0.5``.

        It is what the measure prints as, with ``_`` in place of all characters other than letters,
        digits, ``.`` and ``-``, and "at" in place of "k". Labels of different measures differ,
        unless names of columns differ in other characters only.
        """
        return label_of_value(re.sub(r"\bk=", "at ", repr(self)))

    @property
    def terms(self) -> "tuple[tuple[float, Measure], ...]":
        """Weights and measures whose sum this measure is, each with one discount or none."""
        return ((1.0, self),)

    def resolved(self, occurring: Array) -> Self:
        """Return the measure with open parameters (``g=None``) set from the grades that occur.

        `occurring` are the distinct grades, ascending.
        """
        return self

    @property
    def discount_at(self) -> Discount | None:
        """Return weights at real ranks without the cutoff, for the discount and smooth measures.

        Define a method ``discount_at(self, ranks)``, or set a value of
        `gapboost.measures.discounts`. `WeightedSum` merges measures with equal values and equal
        cutoffs into one. It does not merge methods. None means that no discount holds for all
        queries.

        Parameters
        ----------
        ranks : float64 ndarray of any shape
            Ranks >= 1, not necessarily whole.

        Returns
        -------
        weight, slope : float64 ndarrays of the shape of `ranks`
            The weight and its derivative.
        """
        return None

    def depth(self, n: int) -> int:
        """Number of ranks down to the cutoff in a list of `n` documents."""
        return n if self.k is None else min(n, self.k)

    def discount(self, n: int) -> Array:
        """Weights of ranks ``1..n``, float64 of shape (n,), 0 beyond the cutoff."""
        weights, _ = weights_at(self, np.arange(1.0, n + 1))
        return np.where(np.arange(n) < self.depth(n), weights, 0.0)

    @abstractmethod
    def evaluator(self, base: RecallBase, sizes: Array) -> Evaluator:
        """Return a function of rankings of these queries, with what no ranking changes made once.

        Parameters
        ----------
        base : RecallBase
            Of Q queries.
        sizes : int64 ndarray of shape (Q,)
            Lengths of their lists.

        Returns
        -------
        function of a `Ranked`
            It returns the value of each query, its mean over all orders of tied documents: float64
            of shape (Q,). Several threads may call it at once.
        """

    def relevant(self, base: RecallBase) -> Array:
        """Return True for each query with a relevant document: bool of shape (Q,).

        Relevant is any grade above 0 by default.
        """
        return np.asarray(np.any((base.counts > 0) & (base.levels > 0), axis=1))

    def __mul__(self, weight: float) -> "Measure":
        """The measure times a finite number above 0."""
        return WeightedSum(((weight, self),))

    __rmul__ = __mul__

    def __add__(self, other: object) -> "Measure":
        """The sum of two measures."""
        if not isinstance(other, Measure):
            return NotImplemented
        return WeightedSum(((1.0, self), (1.0, other)))


class QuadraticForm(Measure):
    """Measure ``M = sum_n discount[n] (own[i_n] + sum_{m<n} pair[i_m, i_n])`` up to rank `k`.

    Such a measure is data: evaluation, objectives and analyses read `discount` and `tables` and
    never branch on which measure it is. A subclass defines `discount_at` and `tables`.

    Examples
    --------
    >>> import gapboost as gb
    >>> [isinstance(measure, gb.measures.QuadraticForm) for measure in (gb.AP(), gb.RR())]
    [True, False]
    """

    trains = True

    @abstractmethod
    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """Return the worth of pairs and of single documents.

        Parameters
        ----------
        base : RecallBase
            Documents of each grade in each query: ``base.counts``, int64 of shape (Q, L), of the L
            grades ``base.levels``, of shape (L,) or (Q, L).

        Returns
        -------
        pair : float64 ndarray of shape (Q, L, L)
            ``[q, i, j]``: what a document of the grade ``levels[j]`` is worth below one of
            ``levels[i]``.
        own : float64 ndarray of shape (Q, L)
            ``[q, j]``: what a document of the grade ``levels[j]`` is worth by itself. Both arrays
            are 0 for every grade of a query in which nothing is relevant.
        """

    def discounts(self, base: RecallBase, sizes: Array) -> tuple[Array, Array]:
        """Weights of the ranks of several queries with lists of these `sizes`, 0 beyond the cutoff.

        Returns
        -------
        weights : float64 ndarray
        begins : int64 ndarray of shape (Q,)
            Rank n of query q weighs ``weights[begins[q] + n - 1]``. All queries begin at 0, unless
            the discount depends on the query (`DiscountOfQuery`).
        """
        return self.discount(int(sizes.max())), np.zeros(len(sizes), dtype=np.int64)

    def evaluator(self, base: RecallBase, sizes: Array) -> Evaluator:
        """See `Measure.evaluator`."""
        weights, begins = self.discounts(base, sizes)
        pair, own = tables_of(self, base)
        depth = self.depth(int(sizes.max()))

        def evaluated(ranked: Ranked) -> Array:
            values, scratch = np.empty(len(own)), np.empty((2, own.shape[1]))
            evaluate_form(ranked, weights, begins, depth, pair, own, scratch, values)
            return values

        return evaluated

    def relevant(self, base: RecallBase) -> Array:
        """Return True for each query with a document of some worth: bool of shape (Q,)."""
        occurs = base.counts > 0
        pair, own = tables_of(self, base)
        together = occurs[:, :, None] & occurs[:, None, :]
        alone = np.any((own > 0) & occurs, axis=1)
        return np.asarray(alone | np.any((pair > 0) & together, axis=(1, 2)))


class DiscountOfQuery(QuadraticForm):
    """Measure of the form whose discount depends on the query: evaluated, not trained for."""

    trains = False

    @abstractmethod
    def weights_of(self, base: RecallBase, query: Array, ranks: Array) -> Array:
        """Weights at ranks 1, 2, ... of queries, given by their numbers in `base`, uncut."""

    def discounts(self, base: RecallBase, sizes: Array) -> tuple[Array, Array]:
        """See `QuadraticForm.discounts`; the weights of one query follow those of another."""
        ends = np.cumsum(sizes, dtype=np.int64)
        begins = ends - sizes
        ranks = np.arange(1.0, ends[-1] + 1) - np.repeat(begins, sizes)
        weights = self.weights_of(base, np.repeat(np.arange(len(sizes)), sizes), ranks)
        return np.where(ranks <= (np.inf if self.k is None else self.k), weights, 0.0), begins


def tables_of(measure: Measure, base: RecallBase) -> tuple[Array, Array]:
    """Return ``pair`` and ``own`` of `QuadraticForm.tables`; raise ValueError if unusable."""
    if not isinstance(measure, QuadraticForm):
        raise ValueError(
            f"measure is {measure!r}, which is no sum over pairs of documents; expected one such "
            "as nDCG(k=10)"
        )
    shape = base.counts.shape
    found = measure.tables(base)
    return checked_arrays(measure, "tables", found, (*shape, shape[1]), shape)


def without_pairs(own: Array, base: RecallBase) -> tuple[Array, Array]:
    """Return the tables of a measure without pairs from the worth of levels, (L,) or (Q, L)."""
    shape = base.counts.shape
    return np.zeros((*shape, shape[1])), np.broadcast_to(own, shape).astype(np.float64)


def with_diagonal(pair: Array) -> tuple[Array, Array]:
    """Return ``pair``, and its diagonal as ``own``: a document counts its own relevance too."""
    return pair, np.diagonal(pair, axis1=1, axis2=2)


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
        names = [
            f"{weight:g}*{part.short_name}{f'@{part.k}' if part.k != self.k else ''}"
            for weight, part in self.parts
        ]
        return "+".join(names)

    def resolved(self, occurring: Array) -> Self:
        """Return the sum with all parts resolved."""
        return type(self)(tuple((weight, part.resolved(occurring)) for weight, part in self.parts))

    @property
    def terms(self) -> tuple[tuple[float, Measure], ...]:
        """Weighted parts; those with the same discount and cutoff are merged into one."""
        sums: dict[object, list[tuple[float, Measure]]] = {}
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
