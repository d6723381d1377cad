"""Compiled loops over plain arrays, independent of measures, boosters and query ids.

Every measure of the library is one quadratic form over the ranked grades of a query,

    M = sum_n discount[n] * (own[i_n] + sum_{m<n} pair[i_m, i_n]),

where ``i_n`` is the grade of the document at rank ``n``. The arrays that carry it, and everything
else that crosses into compiled code, have the same name, dtype and meaning in every kernel:

=========== ========= ============= =============================================================
name        dtype     shape         meaning
=========== ========= ============= =============================================================
offsets     int64     (Q + 1,)      rows ``offsets[q]:offsets[q + 1]`` are documents of query ``q``
starts      int64     (Q + 1,)      the same within a chunk of queries: ``starts[0]`` is 0
grades      int32     (N,)          grade of each document, ``0..c``
scores      float     (N,)          float32 or float64, finite; higher is better
tie_order   int32     (N,)          order of equal scores: per query a permutation of its positions
order       int32     (N,)          per query a permutation of its positions: best first
discount    float64   (>= max n,)   weight of rank ``n`` at index ``begins[q] + n - 1``
pair        float64   (Q, c+1, c+1) ``[q, i, j]``: worth of a grade ``j`` below a grade ``i``
own         float64   (Q, c+1)      ``[q, j]``: worth of a grade ``j`` by itself
weights     float64   (Q,)          weight of each query
lam, eta    float64   (N,)          by rank: gradient and curvature before they are scaled
grad, hess  float     (N,)          float32 or float64 outputs, in the order of the rows
=========== ========= ============= =============================================================

``N`` documents in ``Q`` queries with grades up to ``c``. Arrays are C-contiguous; nothing is
checked here.

A pass of `LambdaRank` or `RankNet` is one compiled call for each thread
(lambdarank/gradients.py). It does for one query after the other::

    scores, tie_order --rank--> order                      order.py   ties are ordered here
    order --take--> s, grade (by rank)                     lambdarank/gradients.py
    discount, pair, own -> upper, lower                    lambdarank/swaps.py    a swap's change
    s, grade, upper, lower --sum--> lam, eta (by rank)
        short list: every pair                             lambdarank/pairs.py
        longer one: running sums, down and up              lambdarank/exponentials.py
    lam, eta --scale, write--> grad, hess (by row)         lambdarank/gradients.py

A pass of `SoftRank` or `ApproxRank` (objectives/smooth.py), over positions x that are scaled scores
or smooth ranks::

    x --compare, as of one grade--> ranks                  smooth/sums.py
    ranks --discount--> share, and its derivative by rank  objectives/smooth.py and its objectives
    x, share --compare--> total                            smooth/sums.py
    share, by_rank --add_gradients--> d_score, pushes      smooth/sums.py
    d_score, pushes --scale--> grad, hess (by row)         smooth/query.py
        short or thinly spread lists: pairs, in windows    smooth/pairs.py
        others: polynomials on cells                       smooth/cells.py (if sums.py says so)
        SoftRank with a cut-off: rank distributions        smooth/distribution.py

Read in this order:

================  ================================================================================
`vectors`         pointers, and vectors of numbers
`order`           ranking, and the one rule for ties
`lambdarank`      LambdaRank over all pairs; its docstring has the formulas
`smooth`          SoftRank and ApproxRank
`expected_value`  counts of grades; values of quadratic form and cascade, expected over ties
`threads`         chunks of work on threads, and the threads that boosters lend
`jit`             how all of this is compiled, and kept on disk
================  ================================================================================

**What a thread may write.** Python hands out chunks of queries (`threads.run`); no query is
shared by threads. A thread writes the rows of its queries in the outputs, and memory that it has
taken from the pass, or made for the call. Everything else is constant.

So results never depend on the number of threads.

What travels together is a NamedTuple, made by keyword. Only arrays, scalars and tuples of them
cross into compiled code: function arguments would miss numba's disk cache. Entry points are few and
take float64, because compiled code is compiled again for every combination of types, and optimized
again for every caller. With ``NUMBA_DISABLE_JIT=1`` everything runs as plain Python, bounds
checked.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike as ArrayLike
else:
    # `help` would print numpy's union of 1,000 characters for each argument.
    ArrayLike = type("ArrayLike", (), {"__module__": "numpy.typing"})

Array = np.ndarray[Any, Any]
