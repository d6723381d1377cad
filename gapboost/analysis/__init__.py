"""Analyses of measures and rankings, one module for each question.

=================  =============================================================================
`trec`             judgments and runs of TREC as rankings; ``trec.evaluate``
`trec_files`       reading and writing their files
`provider`         GAP, xGAP, eGAP inside ir_measures
`curve`            the graded precision-recall curve, whose area is the measure
`entropy`          the distribution of grades over ranks that a measure's value implies
`newton`           Newton's method for it
`informativeness`  how much of the precision-recall curve a measure's value tells
`sweep`            the same for each g of a grid; the most informative g
`lists`            single ranked lists of grades: what informativeness looks at
`systems`          values of measures for several systems: what the next three compare
`discrimination`   how many pairs of systems a measure tells apart
`correlation`      whether measures rank systems alike; ``tau_ap``
`bootstrap`        intervals over topics for any of these
`robustness`       whether they still do so with fewer judgments
`bpref`            binary preference, which looks at judged documents alone
`optimality`       whether small changes of a linear model improve a measure
`significance`     whether one ranker is better than another
`estimates`        means with standard errors, of clusters too; p-values looked at together; power
`ties`             values that differ by rounding alone
`work`             long work over processes, with a progress bar
=================  =============================================================================

Results are frozen values with a pandas view, ``to_pandas()``, and a picture, ``plot(ax=None)``.
"""

from gapboost.analysis import trec
from gapboost.analysis.bootstrap import TopicBootstrap, topic_bootstrap
from gapboost.analysis.bpref import bpref
from gapboost.analysis.correlation import Correlation, correlation, tau_ap
from gapboost.analysis.curve import PrecisionRecallCurve, precision_recall
from gapboost.analysis.discrimination import DiscriminativePower, discriminative_power
from gapboost.analysis.entropy import MaximumEntropy, expected_value, maximum_entropy
from gapboost.analysis.informativeness import Informativeness, informativeness
from gapboost.analysis.lists import RankedList, ranked_lists
from gapboost.analysis.optimality import LocalOptimality, local_optimality
from gapboost.analysis.robustness import Robustness, robustness
from gapboost.analysis.significance import Significance, significance
from gapboost.analysis.sweep import ThresholdSweep, most_informative_g, threshold_sweep
from gapboost.analysis.systems import SystemValues, system_values

__all__ = [
    "Correlation",
    "DiscriminativePower",
    "Informativeness",
    "LocalOptimality",
    "MaximumEntropy",
    "PrecisionRecallCurve",
    "RankedList",
    "Robustness",
    "Significance",
    "SystemValues",
    "ThresholdSweep",
    "TopicBootstrap",
    "bpref",
    "correlation",
    "discriminative_power",
    "expected_value",
    "informativeness",
    "local_optimality",
    "maximum_entropy",
    "most_informative_g",
    "precision_recall",
    "ranked_lists",
    "robustness",
    "significance",
    "system_values",
    "tau_ap",
    "threshold_sweep",
    "topic_bootstrap",
    "trec",
]
