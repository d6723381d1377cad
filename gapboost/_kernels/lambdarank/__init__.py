"""LambdaRank over all pairs of a ranking, or over those with a document in the top.

For ranks p < q with grades a, b and x = sigma (s_p - s_q), the swap of the two documents changes the measure by
Delta. It pushes the upper one by Delta t where a > b and by Delta (1 - t) where a < b, the lower one as much the
other way, and both get the curvature Delta t (1 - t), where t = u / (1 + u) and u = e^-x.

**Delta is a sum of something known at p and something known at q** (`tables`). With the prefix sums C_i[r] =
sum_{m<=r} pair[i_m, i] and E_i[r] = sum_{n<=r} discount[n] pair[i, i_n],

    phi_i(p) = discount[p] (own[i] + C_i[p-1]) - E_i[p]
    chi_i(q) = discount[q] (own[i] + C_i[q-1] + pair[b, i] - pair[i, i]) - E_i[q-1]
    Delta(p, q) = (phi_b(p) - phi_a(p)) + (chi_a(q) - chi_b(q))

With the sign of a - b in them, these are upper[p, b] = sign(a - b) (phi_b - phi_a) and lower[q, a] = sign(a - b) (chi_a - chi_b).

**t and t (1 - t) are polynomials in u** (`exponents`), and every power of u = e^(sigma s_q) / e^(sigma s_p) splits
over the pair. So what a document receives from all documents below it comes from running sums of powers by grade, and
what it receives from those above from their mirror image (`moments`): O(n c K) for n documents, c grades and K = 16
powers.

============ ====================================================================================================
`lists`      what the functions of this room share: lists, the form of one query, working memory
`tables`     upper and lower, and the prefixes that they need
`exponents`  e^(sigma s) relative to an anchor, and the polynomials
`moments`    the running sums: what a document receives from them and adds to them
`pairs`      the same sums pair by pair, for short lists
`sums`       lam and eta of each document of each list, by pairs or by moments
`gradients`  one chunk of queries: rank, take, sum, scale
`long`       one long list: the same steps by several threads, its sums strip by strip
============ ====================================================================================================
"""
