"""Contributions of the features to score differences, to the scores of a query, and to a measure.

An account of the model, not of the world: a contribution says how a fitted ranker made its score.
It does not say why a document is relevant.

==========  =======================================================
`pair`      contributions to the score difference of two rows
`query`     contributions centered within each query
`measure`   loss of a measure without a feature's contribution
`model`     scores and contributions of any ranker
`pictures`  parts that the three pictures share
==========  =======================================================

Results are frozen values with a pandas view, ``to_pandas()``, and a picture, ``plot(ax=None)``.
"""

from gapboost.explain.measure import MeasureContributions, measure
from gapboost.explain.pair import PairContributions, pair
from gapboost.explain.query import QueryContributions, query

__all__ = [
    "MeasureContributions",
    "PairContributions",
    "QueryContributions",
    "measure",
    "pair",
    "query",
]
