"""The sums of `gapboost._kernels.smooth` for many different grades, pair by pair.

They take O(n^2) time and O(n) memory.
"""

from gapboost._kernels import Array
from gapboost._kernels.jit import kernel
from gapboost._kernels.smooth.pairs import overtaking, slope
from gapboost._kernels.smooth.query import Documents
from gapboost._kernels.worth import Worth, pair_worth


@kernel
def compare_levels(
    starts: Array, step: int, worth: Worth, turning: bool, documents: Documents
) -> None:
    """Add the sums of `gapboost._kernels.smooth.sums.compare`; ``worth`` is by document."""
    x, share, total, rising = documents.x, documents.share, documents.total, documents.rising
    for q in range(len(starts) - 1):
        for i in range(starts[q], starts[q + 1]):
            for j in range(i + 1, starts[q + 1]):
                ij, ji = pair_worth(worth, i, j), pair_worth(worth, j, i)
                if ij != 0.0 or ji != 0.0:
                    distance = x[i] - x[j]
                    chance = overtaking(step, distance)
                    total[i] += ji * chance
                    total[j] += ij * (1.0 - chance)
                    if turning:
                        turn = slope(step, distance) * (share[j] * ij - share[i] * ji)
                        rising[j] += turn
                        rising[i] -= turn


@kernel
def push_levels(
    starts: Array, step: int, worth: Worth, paired: bool, by_level: Array, documents: Documents
) -> None:
    """Add the sums of `gapboost._kernels.smooth.sums.push`; ``worth`` is by document.

    ``by_level`` lists the documents of each query, those of the same grade next to each other.
    """
    grade, x, share, b = documents.grade, documents.x, documents.share, documents.by_rank
    for q in range(len(starts) - 1):
        for i in range(starts[q], starts[q + 1]):
            of_grade = 0.0
            for r in range(starts[q], starts[q + 1]):
                j = by_level[r]
                if r > starts[q] and grade[j] != grade[by_level[r - 1]]:
                    documents.rising[i] += of_grade
                    documents.pushes[i] += abs(of_grade)
                    of_grade = 0.0
                if j != i:
                    gain = b[j] - b[i]
                    if paired:
                        gain += share[j] * pair_worth(worth, i, j) - share[i] * pair_worth(
                            worth, j, i
                        )
                    of_grade += gain * slope(step, x[i] - x[j])
            documents.rising[i] += of_grade
            documents.pushes[i] += abs(of_grade)
