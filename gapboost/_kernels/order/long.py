"""Ranking of one long list by several threads: rows are dealt to parts, which are ranked.

count   rows of each part in each slice of the list    slice by slice
deal    rows to their parts, in their turns            slice by slice
rank    every part by itself                           part by part
"""

import itertools
from collections.abc import Callable

import numpy as np

from gapboost._kernels import Array
from gapboost._kernels.jit import kernel
from gapboost._kernels.order.short import GREATEST_SCALE, LEAST_SCALE, Elements, ranking

Each = Callable[[Callable[[int], None], int], None]

# Parts that a list is dealt to, and slices that its rows are read in.
PARTS = 16
SLICES = 8

# Number of rows from whose scores the range of all scores is estimated.
SAMPLED = 512


@kernel
def part_of(score: float, high: float, scale: float) -> int:
    """The part of a row, which never falls as the score falls; the last one for nan."""
    part = (high - score) * scale
    part = part if part < PARTS - 1.0 else PARTS - 1.0
    return int(part) if part > 0.0 else 0


@kernel
def count_parts(scores: Array, rows: Array, high: float, scale: float, counts: Array) -> None:
    """Number of these rows in each part."""
    for i in range(len(rows)):
        counts[part_of(float(scores[rows[i]]), high, scale)] += 1


@kernel
def deal(
    scores: Array, rows: Array, high: float, scale: float, places: Array, target: Elements
) -> None:
    """Move rows, and their scores, to the next of the ``places`` of their parts."""
    for i in range(len(rows)):
        score = float(scores[rows[i]])
        part = part_of(score, high, scale)
        j = places[part]
        places[part] = j + 1
        target.scores[j] = score
        target.rows[j] = rows[i]


def spread_of(scores: Array) -> tuple[float, float]:
    """Return the score at which the first part begins, and the number of parts per unit of score.

    Both are estimated from a sample of the scores.
    """
    sample = scores[np.arange(SAMPLED) * len(scores) // SAMPLED].astype(np.float64)
    high, low = float(sample.max()), float(sample.min())
    scale = PARTS / (high - low) if high > low else 0.0
    # Where interpolation is not exact enough, all rows are in one part.
    return high, scale if LEAST_SCALE < scale < GREATEST_SCALE else 0.0


def rank_long(scores: Array, turns: Array, target: Elements, order: Array, each: Each) -> None:
    """Write `gapboost._kernels.order.short.ranking` of one list to ``order``.

    ``target`` is scratch.

    ``each(task, n)`` calls ``task(0) ... task(n - 1)`` on threads.
    """
    n = len(scores)
    high, scale = spread_of(scores)
    cuts = np.arange(SLICES + 1) * n // SLICES
    slices = [slice(*ends) for ends in itertools.pairwise(cuts)]
    counts = np.zeros((SLICES, PARTS), np.int64)

    def count_slice(k: int) -> None:
        count_parts(scores, turns[slices[k]], high, scale, counts[k])

    def deal_slice(k: int) -> None:
        deal(scores, turns[slices[k]], high, scale, places[k], target)

    def rank_part(part: int) -> None:
        place = slice(starts[part], starts[part + 1])
        size = place.stop - place.start
        order[place] = target.rows[place][ranking(target.scores[place], np.array([0, size]))]

    each(count_slice, SLICES)
    starts = np.concatenate(([0], np.cumsum(counts.sum(axis=0))))
    places = starts[:-1] + np.cumsum(counts, axis=0) - counts
    each(deal_slice, SLICES)
    each(rank_part, PARTS)
