"""LambdaRank over all pairs of a ranking, or over those with a document in the top.

For ranks p < q with grades a, b and x = sigma (s_p - s_q) >= 0, let Delta be the measure after the
two documents are swapped minus the measure before, and D = sign(a - b) Delta: negative where the
order is right and a swap would lose. With u = e^-x, t = u / (1 + u) is the probability of the model
that q is above p. The pair adds

    lam_p += Delta t where a > b,  lam_p += Delta (1 - t) where a < b,  lam_q with the other sign,
    eta_p -= D t (1 - t),            eta_q -= D t (1 - t).

lam is to be minimized: a negative one moves its document up.

**Delta is a sum of something known at p and something known at q** (`swaps`). For any grade g, with
the prefix sums C_g[r] = sum_{m<=r} pair[i_m, g] and E_g[r] = sum_{n<=r} discount[n] pair[g, i_n]
over the grades i_n at the ranks n,

    Delta(p, q) = upper[p, b] + lower[q, a]
    upper[p, g] = discount[p] (own[g] + C_g[p-1] - own[a] - C_a[p-1]) - (E_g[p] - E_a[p])
    lower[q, g] = discount[q] (own[g] + C_g[q-1] + pair[b, g] - pair[g, g] - own[b] - C_b[q-1])
                  - (E_g[q-1] - E_b[q-1])
    cross_term[a, g] = pair[a, a] + pair[g, g] - pair[a, g] - pair[g, a]

so that lower[r, g] = upper[r, g] - discount[r] cross_term[a, g] at one document.

**t, 1 - t and t (1 - t) are approximated by sums of exponentials of x**, divided by epsilon + x if
changes are divided by the distance of the scores. Every exponential is a product of something at q
and something at p. So what a document receives from all documents below it comes from running sums
of exponentials by grade, and what it receives from those above from their mirror image
(`exponentials`): O(n c K) for n documents, c grades and K exponentials: 16, or 32
times the number of visits.

**Pairs of a short list are visited by grade** (`pairs`): each document visits those of lower
grades, above it and below it. With x = sigma (s_i - s_j), of any sign, for the document i of the
higher grade, its pair has one factor, 1 / (1 + e^x), and one exponential a document is enough.

==============  ===========================================================================
`swaps`         the quadratic form of one query, and upper and lower of its documents
`pairs`         the sums pair by pair, for short lists and for cascades (ERR, RR)
`exponentials`  sums of exponentials, and the running sums
`gradients`     queries of a thread: rank, take, sum, scale, write
`memory`        what the others work in
==============  ===========================================================================
"""
