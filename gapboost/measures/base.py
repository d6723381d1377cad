"""Base classes of measures: frozen values with a name, that evaluate and can be added.

>>> import gapboost as gb
>>> gb.evaluate([gb.AP(), gb.RR()], y_true=[0, 1, 2], y_score=[3.0, 2.0, 1.0])
{'ap': 0.5833333333333333, 'rr': 0.5}
"""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, Self, get_args

import numpy as np

from gapboost._data.arguments import as_integer
from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array
from gapboost._kernels.expected_value import Ranked, evaluate_form
from gapboost.measures.discounts import Discount, checked_arrays, weights_at

Evaluator = Callable[[Ranked], Array]


def parameter(
    default: Any, check: Callable[[Any, str], Any], always_shown: bool = False, **options: Any
) -> Any:
    """Return a field of a measure, set to ``check(value, name)``; ``repr`` may always show it.

    None is not checked if the type of the field includes it. `options` are those of
    `dataclasses.field`.
    """
    metadata = {"check": check, "always_shown": always_shown}
    return field(default=default, metadata=metadata, **options)


def check_distinct(labels: Sequence[str]) -> None:
    """Raise ValueError if two measures of one report have the same label."""
    shared = sorted({label for label in labels if labels.count(label) > 1})
    if shared:
        raise ValueError(
            f"several measures are called {shared[0]!r}; expected columns of labels whose names "
            "differ in letters or digits"
        )


@dataclass(frozen=True, repr=False)
class Value:
    """Frozen dataclass whose parameters are checked, and which prints as it is written."""

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            may_be_none = type(None) in get_args(f.type)
            if "check" in f.metadata and not (value is None and may_be_none):
                object.__setattr__(self, f.name, f.metadata["check"](value, f.name))

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        shown = []
        # Inherited fields come first in a dataclass; people write the cutoff last.
        for f in sorted(fields(self), key=lambda f: f.name == "k"):
            value = getattr(self, f.name)
            if f.default is MISSING:
                shown.append(repr(value))
            elif f.init and (value != f.default or f.metadata.get("always_shown")):
                shown.append(f"{f.name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"


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

    def __mul__(self, weight: Any) -> "Measure":
        """The measure times a finite number above 0."""
        return _sum_of((weight, self))

    __rmul__ = __mul__

    def __add__(self, other: Any) -> "Measure":
        """The sum of two measures."""
        return _sum_of((1.0, self), (1.0, other)) if isinstance(other, Measure) else NotImplemented


def _sum_of(*parts: tuple[float, Measure]) -> Measure:
    from gapboost.measures.sums import WeightedSum  # which is a measure too

    return WeightedSum(parts)


def label_of_value(value: Any) -> str:
    """Write a value for a label, with ``_`` in place of other characters."""
    return re.sub(r"[^a-zA-Z0-9.-]+", "_", str(value)).strip("_")


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
    return checked_arrays(measure, "tables", found, (*shape, base.n_levels), shape)


def without_pairs(own: Array, base: RecallBase) -> tuple[Array, Array]:
    """Return the tables of a measure without pairs from the worth of levels, (L,) or (Q, L)."""
    by_query = np.broadcast_to(own, base.counts.shape).astype(np.float64)
    return np.zeros((*base.counts.shape, base.n_levels)), by_query


def with_diagonal(pair: Array) -> tuple[Array, Array]:
    """Return ``pair``, and its diagonal as ``own``: a document counts its own relevance too."""
    return pair, np.diagonal(pair, axis1=1, axis2=2)


def lesser(amount: Array) -> Array:
    """Return ``[..., i, j]``: the lesser of the amounts of levels i and j."""
    return np.minimum(amount[..., :, None], amount[..., None, :])


def reciprocal(values: Array) -> Array:
    """``1 / values``, and 0 where the value is 0."""
    return np.divide(1.0, values, out=np.zeros(values.shape), where=values > 0)
