"""The two smooth steps and the sums of `gapboost._kernels.smooth` pair by pair.

Short or thinly spread lists use them.

A step is the probability to be above, by the difference of two positions. Sums leave out m = n.
Positions fall, and each pair is visited once, from its upper document i. Beyond `FAR` a document is
above or below with certainty: so sums run over windows, and over counts of all documents far above.
"""

import math

from gapboost._kernels import Array
from gapboost._kernels.jit import inner_kernel
from gapboost._kernels.smooth.query import Documents

LOGISTIC, GAUSSIAN = 0, 1

# Distance of two positions at which the steps are 0 or 1 to the last digit.
FAR = 40.0


@inner_kernel
def overtaking(step: int, distance: float) -> float:
    """Return the probability to be above a document higher by ``distance`` >= 0, precisely."""
    if step == GAUSSIAN:
        return 0.5 * math.erfc(distance)
    u = math.exp(-distance)
    return u / (1.0 + u)


@inner_kernel
def above(step: int, x: float) -> float:
    """Return ``1 / (1 + e^-x)``, or the Gaussian probability to be below x, precisely.

    The Gaussian has variance 1/2. Small results lose no digits.
    """
    return 1.0 - overtaking(step, x) if x >= 0.0 else overtaking(step, -x)


@inner_kernel
def slope(step: int, x: float) -> float:
    """The derivative of `above`."""
    if step == GAUSSIAN:
        return math.exp(-x * x) / math.sqrt(math.pi)
    u = math.exp(-abs(x))
    return u / ((1.0 + u) * (1.0 + u))


@inner_kernel
def window_end(i: int, x: Array) -> int:
    """The first document behind ``i`` that is far below it."""
    j = i + 1
    while j < len(x) and x[i] - x[j] <= FAR:
        j += 1
    return j


@inner_kernel
def add_far_totals(pair: Array, counts: Array, documents: Documents) -> None:
    """Add ``sum_m P[i_m, i_n]`` over documents far above n to ``total``.

    ``counts`` is scratch by grade.
    """
    grade, x = documents.grade, documents.x
    for g in range(len(counts)):
        counts[g] = 0.0
    first = 0
    for i in range(len(x)):
        while x[first] - x[i] > FAR:
            counts[grade[first]] += 1.0
            first += 1
        if first > 0:
            for g in range(len(counts)):
                documents.total[i] += pair[g, grade[i]] * counts[g]


@inner_kernel
def compare_by_pairs(
    step: int, pair: Array, turning: bool, counts: Array, documents: Documents
) -> None:
    """Add ``sum_m P[i_m, i_n] F(x_m - x_n)`` to ``total``.

    If ``turning``, add ``sum_m f(x_m - x_n) (share_n P[i_m, i_n] - share_m P[i_n, i_m])`` to
    ``d_score``. ``counts`` is scratch by grade.
    """
    grade, x, share, total = documents.grade, documents.x, documents.share, documents.total
    add_far_totals(pair, counts, documents)
    for i in range(len(x)):
        for j in range(i + 1, window_end(i, x)):
            ij, ji = pair[grade[i], grade[j]], pair[grade[j], grade[i]]
            if ij != 0.0 or ji != 0.0:
                distance = x[i] - x[j]
                chance = overtaking(step, distance)
                total[i] += ji * chance
                total[j] += ij * (1.0 - chance)
                if turning:
                    turn = slope(step, distance) * (share[j] * ij - share[i] * ji)
                    documents.d_score[j] += turn
                    documents.d_score[i] -= turn


@inner_kernel
def add_gradients_by_pairs(
    step: int, pair: Array, paired: bool, by_grade: Array, documents: Documents
) -> None:
    """Add to ``d_score`` and ``pushes``; pairs themselves push only if ``paired``.

    ``by_grade``, by document and grade, is scratch.
    """
    grade, x, share, b = documents.grade, documents.x, documents.share, documents.by_rank
    for i in range(len(x)):
        for g in range(by_grade.shape[1]):
            by_grade[i, g] = 0.0
    for i in range(len(x)):
        for j in range(i + 1, window_end(i, x)):
            gain = b[j] - b[i]
            if paired:
                gain += share[j] * pair[grade[i], grade[j]] - share[i] * pair[grade[j], grade[i]]
            if gain != 0.0:
                grad = gain * slope(step, x[i] - x[j])
                by_grade[i, grade[j]] += grad
                by_grade[j, grade[i]] -= grad
    for i in range(len(x)):
        add_pushes(i, by_grade[i], documents)


@inner_kernel
def add_pushes(i: int, by_grade: Array, documents: Documents) -> None:
    """Add the pushes on document ``i``, by grade of the others, to ``d_score`` and ``pushes``."""
    for g in range(len(by_grade)):
        documents.d_score[i] += by_grade[g]
        documents.pushes[i] += abs(by_grade[g])
