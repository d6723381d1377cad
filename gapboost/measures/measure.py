"""Base class of all measures: frozen values with a name, that evaluate and can be added.

>>> import gapboost as gb
>>> gb.evaluate([gb.AP(), gb.RR()], y_true=[0, 1, 2], y_score=[3.0, 2.0, 1.0])
{AP(rel=1): 0.5833333333333333, RR(): 0.5}
"""

import hashlib
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, Self

import numpy as np

from gapboost._data.arguments import as_cutoff, as_floats, positive, shown
from gapboost._data.grades import GradeLimit
from gapboost._data.judged import judged
from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array
from gapboost._kernels.expected_value import Ranked
from gapboost.measures.discounts import Discount

SHORT_NAME = re.compile(r"[a-zA-Z0-9_.-]+")
NUMBER = int | float | np.integer | np.floating


def parameter(default: Any, check: Callable[[Any, str], Any], always_shown: bool = False) -> Any:
    """Return a field of a measure, set to ``check(value, name)``; ``repr`` may always show it."""
    return field(default=default, metadata={"check": check, "always_shown": always_shown})


def as_numbers(
    values: Any, name: str, valid: Callable[[tuple[float, ...]], bool], expected: str
) -> tuple[float, ...]:
    """Return values as a tuple of floats; raise ValueError unless they are numbers and `valid`."""
    try:
        numbers = as_floats(values)
    except (TypeError, ValueError):
        numbers = ()
    if not numbers or not valid(numbers):
        raise ValueError(f"{name} is {values!r}; expected {expected}")
    return numbers


@dataclass(frozen=True, repr=False)
class Measure(ABC):
    """A measure of rankings: evaluates a ranking and the effect of swapping two of its documents.

    Subclasses are frozen dataclasses: hashable, picklable, and printed as they are written.
    ``0.7 * one + 0.3 * another`` is a measure too (`WeightedSum`).

    Derive a measure of the form ``M = sum_n discount[n] (own[i_n] + sum_{m<n} pair[i_m, i_n])``
    from `gapboost.measures.QuadraticForm`: every objective trains for it. Any other measure derives
    from this class and defines `evaluated`. It overrides `relevant` and `changes` if the ones of
    this class do not fit.

    Parameters
    ----------
    k : int, optional, keyword-only
        Cutoff: only ranks 1 to k count; the recall base keeps all documents. None: the whole list.

    Examples
    --------
    >>> import gapboost as gb
    >>> isinstance(gb.AP(), gb.Measure), gb.nDCG(k=10).short_name, gb.nDCG(k=10).label
    (True, 'ndcg', 'ndcg_at_10')
    """

    # Numpy's numbers leave ``number * measure`` to the measure.
    __array_ufunc__: ClassVar[None] = None

    k: int | None = field(default=None, kw_only=True, metadata={"check": as_cutoff})

    def __post_init__(self) -> None:
        for f in fields(self):
            if "check" in f.metadata:
                value = f.metadata["check"](getattr(self, f.name), f.name)
                object.__setattr__(self, f.name, value)
        name = self.short_name
        if not isinstance(name, str) or not SHORT_NAME.fullmatch(name):
            raise ValueError(
                f"short_name of {type(self).__name__} is {name!r}; expected letters, digits, '_', "
                "'.' and '-', such as 'ndcg'"
            )

    def __repr__(self) -> str:
        shown = []
        # Inherited fields come first in a dataclass; people write the cutoff last.
        for f in sorted(fields(self), key=lambda f: f.name == "k"):
            value = getattr(self, f.name)
            if f.default is MISSING or value != f.default or f.metadata.get("always_shown"):
                shown.append(f"{f.name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"

    @property
    def short_name(self) -> str:
        """Name for rankers and boosters; by default the name of the class in lower case.

        It has letters, digits, ``_``, ``.`` and ``-``: XGBoost splits its reports at blanks and
        colons.
        """
        return type(self).__name__.lower()

    @property
    def label(self) -> str:
        """Name for files, columns and logs, such as ``ndcg_at_10`` or ``gap_g_0.5_0.5``.

        It has letters, digits, ``_``, ``.`` and ``-``. The short name comes first and the cutoff
        last, with all parameters that are not at their defaults in between. Labels of different
        measures differ if all parameters are numbers, words or tuples of numbers.
        """
        words = [self.short_name]
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name != "k" and value != f.default:
                words += [f.name, label_of_value(value)]
        words += [] if self.k is None else ["at", str(self.k)]
        return shortened("_".join(words))

    @property
    def monotone(self) -> bool:
        """True if the value never falls when a higher grade moves above a lower one."""
        return True

    @property
    def trains(self) -> bool:
        """True if `LambdaRank` can train for it."""
        return False

    @property
    def terms(self) -> "tuple[tuple[float, Measure], ...]":
        """Weights and measures whose sum this measure is, each with one discount or none."""
        return ((1.0, self),)

    @property
    def label_column(self) -> int | str | None:
        """Column of several labels that the measure reads (`OfLabel`); None for one label."""
        return None

    @property
    def highest_grade(self) -> float:
        """Highest grade that the measure is defined for; infinite if there is no limit."""
        return math.inf

    @property
    def n_grades(self) -> int | None:
        """Number of positive whole grades the measure is defined for; None means any."""
        return None if self.highest_grade == math.inf else math.ceil(self.highest_grade)

    def resolved(self, occurring: Array) -> Self:
        """Return the measure with open parameters (``g=None``) set from the grades that occur.

        Parameters
        ----------
        occurring : ndarray
            Distinct grades, ascending.
        """
        return self

    @property
    def discount_at(self) -> Discount | None:
        """Return weights at real ranks without the cutoff, for the discount and smooth measures.

        Define a method ``discount_at(self, ranks)``, or set a value of
        `gapboost.measures.discounts`. `WeightedSum` merges measures with equal values and equal
        cutoffs into one. It does not merge methods, nor measures that override `depth` or
        `discount`. None means that no discount holds for all queries.

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
        """Number of ranks with a discount above 0 in a list of `n` documents."""
        return n if self.k is None else min(n, self.k)

    def discount(self, n: int) -> Array:
        """Weights of ranks ``1..n``, float64 of shape (n,), 0 beyond the cutoff."""
        weights, _ = weights_at(self, np.arange(1.0, n + 1))
        return np.where(np.arange(n) < self.depth(n), weights, 0.0)

    @abstractmethod
    def evaluated(self, ranked: Ranked, base: RecallBase) -> Array:
        """Return the value of each query, its mean over all orders of tied documents.

        Parameters
        ----------
        ranked : Ranked
            Queries in order of rank.
        base : RecallBase
            Of the queries.

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
        changes = np.zeros((n, n))
        for p in range(n):
            m = n - p
            lists = np.tile(grades, (m, 1))
            others = np.arange(m)
            lists[:, p], lists[others, p + others] = grades[p:], grades[p]
            untied = np.tile(np.arange(1, n + 1, dtype=np.int32), m)
            ranked = Ranked(starts=np.arange(m + 1) * n, grades=lists.ravel(), ends=untied)
            values = self.evaluated(ranked, base[np.zeros(m, int)])
            changes[p, p:] = values - values[0]
        return changes

    def swap_changes(self, ranked: Any, recall_base: Any = None) -> Array:
        """Return the change of the value when two documents swap ranks, for all pairs of ranks.

        `LambdaRank` weights its pairs by this change.

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
    def merge_key(self) -> Any:
        """Key that is equal for measures that a `WeightedSum` merges; else the measure itself."""
        return self

    def __mul__(self, weight: Any) -> "Measure":
        """The measure times a finite number above 0."""
        return _sum_of((positive(weight, "weight"), self))

    __rmul__ = __mul__

    def __add__(self, other: Any) -> "Measure":
        """The sum of two measures."""
        return _sum_of((1.0, self), (1.0, other)) if isinstance(other, Measure) else NotImplemented


def _sum_of(*parts: tuple[float, Measure]) -> Measure:
    from gapboost.measures.weighted import WeightedSum  # is a measure too

    return WeightedSum(parts)


def label_of_value(value: Any) -> str:
    """Write a value for a label: numbers as they print, odd characters by their codes."""
    if isinstance(value, tuple) and all(isinstance(each, NUMBER) for each in value):
        return "_".join(map(label_of_value, value))
    if isinstance(value, NUMBER):
        return str(value.item() if isinstance(value, np.generic) else value).replace("e+", "e")
    # A word begins with a letter or a code, and a number with neither.
    return re.sub(r"^[^a-zA-Z]|[^a-zA-Z0-9.]", lambda odd: f"-{ord(odd[0]):x}-", str(value))


def shortened(label: str) -> str:
    """Return a label of at most 200 characters: MLflow takes 250, files 255 with endings."""
    if len(label) <= 200:
        return label
    return f"{label[:150]}-{hashlib.sha256(label.encode()).hexdigest()[:16]}"


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
    return GradeLimit(highest, measure)


def weights_at(measure: Measure, ranks: Array) -> tuple[Array, Array]:
    """Return ``weight`` and ``slope`` of `Measure.discount_at`; raise ValueError if unusable."""
    discount = measure.discount_at
    if discount is None:
        raise ValueError(
            f"measure is {measure!r}, which has no discount that holds for all queries; expected a "
            "measure such as GAP()"
        )
    weight, slope = checked_arrays(measure, "discount_at", discount(ranks), [ranks.shape] * 2)
    return weight, slope


def checked_arrays(
    measure: Measure, method: str, returned: Any, shapes: list[tuple[int, ...]]
) -> list[Array]:
    """Return the arrays of a measure's method as C-contiguous float64.

    Raises
    ------
    ValueError
        If it is not one array of finite numbers for each of `shapes`, as it may be for a measure
        of a user.
    """
    arrays = [np.asarray(each) for each in returned] if isinstance(returned, tuple | list) else []
    numbers = all(each.dtype.kind in "biuf" and np.isfinite(each).all() for each in arrays)
    if not numbers or [each.shape for each in arrays] != shapes:
        raise ValueError(
            f"{method} of {measure!r} returns {shown(returned)}; expected two arrays of finite "
            f"numbers, of shapes {' and '.join(map(str, shapes))}"
        )
    # Code is compiled a second time for arrays that cannot be written.
    return [np.require(array, np.float64, ["C", "W"]) for array in arrays]
