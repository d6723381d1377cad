"""Compiled loops over plain arrays; nothing in this room knows what a measure, a booster or a qid is.

Every measure of the library is one quadratic form over the ranked grades of a query,

    M = sum_n discount[n] * (own[i_n] + sum_{m<n} pair[i_m, i_n]),

where ``i_n`` is the grade of the document at rank ``n``. The arrays that carry it, and everything else that
crosses into compiled code, have the same name, dtype and meaning in every kernel:

=========== ========= ============ ====================================================================
name        dtype     shape        meaning
=========== ========= ============ ====================================================================
offsets     int64     (Q + 1,)     rows ``offsets[q]:offsets[q + 1]`` are the documents of query ``q``
grades      int32     (N,)         grade of each document, ``0..c``
scores      float     (N,)         float32 or float64, finite; higher is better
keys        uint32    (N,)         breaks ties between equal scores: the smaller key ranks first
order       int32     (N,)         per query a permutation of ``0..n-1``: position in the query, best first
discount    float64   (>= max n,)  weight of rank ``n`` (index ``n - 1``), the same for every query
pair        float64   (Q, c+1, c+1) worth of a document of grade ``j`` below one of grade ``i``: ``[q, i, j]``
own         float64   (Q, c+1)     worth of a document of grade ``j`` by itself: ``[q, j]``
weights     float64   (Q,)         weight of each query
grad, hess  float     (N,)         float32 or float64 outputs, in the order of the rows
=========== ========= ============ ====================================================================

``N`` documents in ``Q`` queries with grades up to ``c``. Arrays are C-contiguous; nothing is checked here.
Only arrays, scalars and tuples of them cross into compiled code: function arguments would miss numba's disk cache.
"""
