"""SoftRank and ApproxRank: smooth ranks, smooth comparisons, and their exact gradient.

Document m is above n with probability F(x_m - x_n), where F is a smooth step, logistic or Gaussian,
f its derivative, and positions x are scaled scores (or smooth ranks, turned round). With P[i, j] =
pair[i, j] and grades i_m, both objectives are made of four sums,

    rank_n   = 1 + sum_{m != n} F(x_m - x_n)
    total_n  = own[i_n] + sum_{m != n} P[i_m, i_n] F(x_m - x_n)
    turned_n = sum_m f(x_m - x_n) (share_n P[i_m, i_n] - share_m P[i_n, i_m])
    rising_n = sum_m f(x_m - x_n) ((b_m + share_m P[i_n, i_m]) - (b_n + share_n P[i_m, i_n]))

in M = sum_n share_n total_n, where ``share_n`` is the discount at the smooth rank (times the
probability of being within a cut-off) and ``b_n`` the derivative of M by the rank of document n.

==============  ====================================================================================
`query`         what a query brings, and how a derivative becomes a gradient and a hessian
`pairs`         the two smooth steps; the sums pair by pair, for short lists
`cells`         sums of a smooth function over sorted points in linear time, by polynomials on cells
`sums`          the sums by cells; which of the two ways a list goes
`distribution`  the rank distribution of a document, for SoftRank with a cut-off or without pairs
==============  ====================================================================================
"""
