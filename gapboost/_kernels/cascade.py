"""The value of a cascade for each query: a user goes down the list and stops at a document with a probability by its grade."""

from typing import Any

import numpy as np

from gapboost._kernels.jit import kernel
from gapboost._kernels.value import Ranked

Array = np.ndarray[Any, Any]


@kernel
def cascade(ranked: Ranked, discount: Array, depth: int, stops: Array, reaching: Array, out: Array) -> None:
    """Write ``sum_n discount[n] stops[i_n] prod_{m<n} (1 - stops[i_m])`` of each query, expected over the orders of ties.

    ``reaching`` is room for one more number than there are documents in the longest query. Of a tied group, ``reaching[x]``
    is the mean over its orders of the probability to go on past its first x documents: the elementary symmetric
    polynomial of degree x of the probabilities to go on, over its number of terms. A document that joins s others is
    among the first x with probability x / (s + 1). Documents at which nobody stops join all at once, the others grade by
    grade: in the order of the rows, the last bit would tell that order.
    """
    starts, grades, ends = ranked.starts, ranked.grades, ranked.ends
    for q in range(len(starts) - 1):
        begin = starts[q]
        end = min(starts[q + 1] - begin, depth)
        here = 1.0
        total = 0.0
        r = 0
        while r < end and here > 0.0:
            stop = ends[begin + r]
            if stop == r + 1:
                chance = stops[grades[begin + r]]
                total += discount[r] * here * chance
                here *= 1.0 - chance
                r = stop
                continue
            # Ranks beyond the depth take part in the orders, but nobody asks what happens there.
            wanted = min(stop, end) - r
            joined = 0
            for m in range(r, stop):
                if stops[grades[begin + m]] == 0.0:
                    joined += 1
            for x in range(wanted + 1):
                reaching[x] = 1.0 if x <= joined else 0.0
            for grade in range(len(stops)):
                chance = stops[grade]
                for m in range(r, stop):
                    if chance > 0.0 and grades[begin + m] == grade:
                        joined += 1
                        for x in range(min(joined, wanted), 0, -1):
                            share = x / joined
                            reaching[x] = (1.0 - share) * reaching[x] + share * (1.0 - chance) * reaching[x - 1]
            for x in range(wanted):
                total += discount[r + x] * here * (reaching[x] - reaching[x + 1])
            here *= reaching[wanted]
            r = stop
        out[q] = total
