"""Probabilities from the scores of a ranker, fitted on held-out queries.

Scores of ranking objectives are identified within a query only. `docs/guide/calibration.md` says
what a probability across queries can and cannot mean.

=============  ==================================================================
`ranker`       `CalibratedRanker`: P(grade >= k), and the chosen document
`increasing`   a probability as a strictly increasing function of the score
`softmax`      choice of one document in each query, and its temperature
`reliability`  `reliability`: observed shares by bin, and how much queries differ
=============  ==================================================================
"""

from gapboost.calibration.ranker import CalibratedRanker
from gapboost.calibration.reliability import Reliability, reliability
from gapboost.calibration.softmax import softmax

__all__ = ["CalibratedRanker", "Reliability", "reliability", "softmax"]
