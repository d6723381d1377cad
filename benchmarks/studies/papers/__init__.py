"""Four papers, claim by claim: what they state, and what gapboost gives. See PAPERS.md.

======================================  ============================================================
`claims.csv`, `facts.csv`, `items.csv`  empirical claims, mathematical claims, and the other items
`claims`                                intervals and verdicts of the empirical claims
`page`, `figures`                       tables and pictures of PAPERS.md
`__main__`                              items that can be computed anew, by the next six modules
`training`, `grid`                      trained rankers; the grid of trainings
`approximation`                         ApproxRank and Algorithm 1 of [qin2008]
`collections`, `topics`, `systems`      comparisons of systems by measures
`informativeness`                       what the value of a measure tells about a ranking
======================================  ============================================================
"""
