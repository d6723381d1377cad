"""The ranking gradients of LightGBM 4.7.0 and XGBoost 3.2.0 in plain numpy, one list at a time.

Both sum, over pairs of ranks p < q with different grades, ``weight / (1 + exp(s_high - s_low))``, with a minus on the document
of the higher grade and a plus on the other. They differ in their pairs (`top_pairs`, `drawn_pairs`), in whether the weight is
divided by the distance of the scores, and in what the list is multiplied by. The weight of a pair is what a measure changes by
when the two are swapped: a number of the upper rank plus a number of the lower one (`Swaps`).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from gapboost._kernels import Array

# Added to the distance of two scores before a weight is divided by it.
LEAST_DISTANCE = 0.01

# Pairs that are held at once.
BLOCK = 1 << 20

Pairs = Iterable[tuple[Array, Array]]  # blocks of upper and of lower ranks, from 0
Draw = Callable[[int, int], Array]  # a bound and a size -> whole numbers below the bound


@dataclass(frozen=True, eq=False)
class Swaps:
    """What a measure changes by when ranks p < q are swapped, as tables of shape (n, c + 1) by rank and grade.

    With grades low < high at the two ranks it is ``upper[p, high] - upper[p, low] + lower[q, high] - lower[q, low]``,
    whichever of them is above.
    """

    grades: Array
    upper: Array
    lower: Array

    def __call__(self, p: Array, q: Array) -> Array:
        """Changes of pairs, without their sign."""
        low, high = np.minimum(self.grades[p], self.grades[q]), np.maximum(self.grades[p], self.grades[q])
        upper, lower, width = self.upper.ravel(), self.lower.ravel(), self.upper.shape[1]
        p, q = p * width, q * width
        change: Array = upper[p + high] - upper[p + low] + lower[q + high] - lower[q + low]
        return change


def ndcg_swaps(grades: Array, top: int | None = None) -> Swaps:
    """Of nDCG with gains 2^grade - 1; the ideal DCG is that of the `top` best, as in both boosters."""
    discount = 1 / np.log2(np.arange(len(grades)) + 2)
    gains = 2.0 ** np.arange(grades.max() + 1) - 1
    ideal = (gains[-np.sort(-grades)] * discount)[:top].sum() or 1.0
    upper = discount[:, None] * gains / ideal
    return Swaps(grades, upper, -upper)


def gap_swaps(grades: Array, g: tuple[float, ...]) -> Swaps:
    """Of GAP, the mean of the average precisions of thresholds k, weighted by g_k times the documents of grade k or higher.

    AP is GAP with ``g = (1, 0, ...)``. For one threshold these are the changes of XGBoost's `DeltaMAP`.
    """
    ranks = np.arange(1, len(grades) + 1)
    upper, lower = np.zeros((2, len(grades), len(g) + 1))
    relevant = [grades >= k for k in range(1, len(g) + 1)]
    total = sum(share * r.sum() for share, r in zip(g, relevant, strict=True)) or 1.0
    for k, (share, r) in enumerate(zip(g, relevant, strict=True), 1):
        n_relevant, inverse = np.cumsum(r), np.cumsum(r / ranks)
        upper[:, k] = upper[:, k - 1] + share / total * ((1 + n_relevant - r) / ranks - inverse)
        lower[:, k] = lower[:, k - 1] + share / total * (inverse - r / ranks - n_relevant / ranks)
    return Swaps(grades, upper, lower)


def top_pairs(n: int, first: int, last: int) -> Pairs:
    """Every pair of a list of `n` whose upper rank is one of ``first, ..., last - 1``."""
    rows = max(1, BLOCK // n)
    for begin in range(first, min(last, n), rows):
        p, q = np.meshgrid(np.arange(begin, min(begin + rows, last, n)), np.arange(begin + 1, n), indexing="ij")
        yield p[q > p], q[q > p]


def different_pairs(grades: Array) -> Iterator[tuple[Array, Array]]:
    """Every pair of different grades, by its better document."""
    for rank in np.flatnonzero(grades > 0):
        worse = np.flatnonzero(grades < grades[rank])
        yield np.minimum(rank, worse), np.maximum(rank, worse)


def drawn_pairs(grades: Array, k: int, draw: Draw) -> Iterator[tuple[Array, Array]]:
    """XGBoost's `mean`: for every document `k` others of any other grade, in the order in which XGBoost draws them."""
    by_grade = np.argsort(-grades, kind="stable")
    for grade in np.unique(grades)[::-1]:
        inside = np.flatnonzero(grades[by_grade] == grade)
        n_others = len(grades) - len(inside)
        if n_others:
            drawn = draw(n_others, k * len(inside))
            drawn = np.where(drawn >= inside[0], drawn + len(inside), drawn)
            first, second = np.tile(by_grade[inside], k), by_grade[drawn]
            yield np.minimum(first, second), np.maximum(first, second)


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over pairs of one list in order of its scores.

    Attributes
    ----------
    gradient, hessian : float64 ndarrays of shape (n,)
        To be minimised.
    size : float
        Twice the sum of the pairs' gradients without their signs, which both boosters scale a list by.
    """

    gradient: Array
    hessian: Array
    size: float

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(self.gradient + other.gradient, self.hessian + other.hessian, self.size + other.size)

    def times(self, factor: float) -> "Sums":
        """All of it."""
        return Sums(self.gradient * factor, self.hessian * factor, self.size * factor)


def pair_sums(swaps: Swaps, scores: Array, pairs: Pairs) -> tuple[Sums, Sums]:
    """Sums over pairs, plain and with every weight divided by the distance of the scores.

    Nothing is divided where all scores are equal, as in both boosters.

    Parameters
    ----------
    swaps : Swaps
    scores : float64 ndarray of shape (n,)
        In falling order.
    pairs : Pairs
        Those of equal grades are left out.
    """
    n, apart = len(scores), scores[0] != scores[-1]
    gradient, hessian, size = np.zeros((2, n)), np.zeros((2, n)), np.zeros(2)
    for p, q in pairs:
        differ = swaps.grades[p] != swaps.grades[q]
        p, q = p[differ], q[differ]
        falls = swaps.grades[p] > swaps.grades[q]
        better, worse = np.where(falls, p, q), np.where(falls, q, p)
        wrong = 1 / (1 + np.exp(scores[better] - scores[worse]))
        change = swaps(p, q)
        divisors = (1.0, LEAST_DISTANCE + scores[p] - scores[q] if apart else 1.0)
        for row, divisor in enumerate(divisors):
            force = change / divisor * wrong
            bend = force * (1 - wrong)
            gradient[row] += np.bincount(worse, force, n) - np.bincount(better, force, n)
            hessian[row] += np.bincount(worse, bend, n) + np.bincount(better, bend, n)
            size[row] += 2 * force.sum()
    plain, divided = (Sums(gradient[row], hessian[row], float(size[row])) for row in (0, 1))
    return plain, divided


def dampening(size: float) -> float:
    """What `lambdarank_norm` of LightGBM and `lambdarank_normalization` of XGBoost's `topk` multiply a list by."""
    return float(np.log2(1 + size) / size) if size > 0 else 1.0


def lightgbm_lambdarank(grades: Array, scores: Array, truncation: int = 30, norm: bool = True) -> tuple[Array, Array]:
    """Gradient and hessian of the rows of one list by `lambdarank`."""
    order = np.argsort(-scores, kind="stable")
    swaps = ndcg_swaps(grades[order], truncation)
    plain, divided = pair_sums(swaps, scores[order], top_pairs(len(order), 0, truncation))
    return by_row(divided.times(dampening(divided.size)) if norm else plain, order)


def xgboost_lambdarank(
    swaps_of: Callable[[Array], Swaps],
    pairs_of: Callable[[Array], Pairs],
    grades: Array,
    scores: Array,
    mean: int | None = None,
    normalization: bool = True,
    score_normalization: bool = True,
) -> tuple[Array, Array]:
    """Gradient and hessian of the rows of one list by `rank:ndcg` or `rank:map`.

    Parameters
    ----------
    swaps_of, pairs_of : callable
        What ranked grades give: ``ndcg_swaps(ranked, k)`` or ``gap_swaps(ranked, (1.0,))``, `top_pairs` or `drawn_pairs`.
    grades, scores : ndarrays of shape (n,)
    mean : int, optional
        The pairs of a document, for the pair method `mean`.
    normalization, score_normalization : bool
        XGBoost's parameters of these names.
    """
    order = np.argsort(-scores, kind="stable")
    plain, divided = pair_sums(swaps_of(grades[order]), scores[order], pairs_of(grades[order]))
    sums = divided if score_normalization else plain
    if normalization:
        sums = sums.times(dampening(sums.size) if mean is None else 1 / mean)
    grad, hess = by_row(sums, order)
    return grad, 2 * hess


def by_row(sums: Sums, order: Array) -> tuple[Array, Array]:
    """Gradient and hessian in the order of rows; row ``order[r]`` has rank r."""
    grad, hess = np.empty((2, len(order)))
    grad[order], hess[order] = sums.gradient, sums.hessian
    return grad, hess
