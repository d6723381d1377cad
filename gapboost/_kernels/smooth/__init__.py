"""SoftRank and ApproxRank: smooth ranks, smooth comparisons, and the exact gradient of the measure over them.

    M = sum_n share_n total_n,        total_n = own[i_n] + sum_m above_mn pair[i_m, i_n]

where ``share_n`` is the discount at the smooth rank of document n (times the probability that it is within the cut-off), and
``above_mn`` the smooth comparison. Documents whose grade the measure does not look at only take up ranks.

`query` is what the two share: the arrays of one query, and how a derivative becomes a gradient and a hessian.
"""
