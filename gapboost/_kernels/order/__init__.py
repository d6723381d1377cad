"""The order of documents: by falling score, equal scores in the order of turns.

Turns are a permutation of the rows of each query, drawn once from a seed; or the order of the rows.
Everything here keeps equal scores in the order in which they come, and rows are visited in their
turns: that is the whole rule.

=======  ===========================================
`short`  one query after the other, in compiled code
`long`   one long list, by several threads
=======  ===========================================
"""
