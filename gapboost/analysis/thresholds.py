"""Vectors of threshold probabilities to compare."""

import itertools

from gapboost.arguments import whole


def threshold_grid(c: int, steps: int = 10) -> list[tuple[float, ...]]:
    """Every g over `c` grades whose entries are multiples of ``1 / steps``, from g_1 = 0 to g_1 = 1.

    Parameters
    ----------
    c : int
        Number of positive grades.
    steps : int, default=10
        Each entry is one of ``0, 1 / steps, ..., 1``.

    Examples
    --------
    >>> threshold_grid(2, 2)
    [(0.0, 1.0), (0.5, 0.5), (1.0, 0.0)]
    """
    c, steps = whole(c, "c"), whole(steps, "steps")
    shares = [head for head in itertools.product(range(steps + 1), repeat=c - 1) if sum(head) <= steps]
    return [tuple(part / steps for part in (*head, steps - sum(head))) for head in shares]
