"""Analyses of measures and rankings, one module for each question.

=================  =============================================================================
`trec`             judgments and runs of TREC as rankings; ``trec.evaluate``; bpref
`trec_files`       readers and writers of their files
`provider`         GAP, xGAP, eGAP inside ir_measures
`curve`            the graded precision-recall curve, whose area is the measure
`entropy`          the distribution of grades over ranks that a measure's value implies
`informativeness`  how much of the precision-recall curve a measure's value tells, by g too
`lists`            single ranked lists of grades: what informativeness looks at
`systems`          values of measures for several systems: what the next three compare
`discrimination`   how many pairs of systems a measure tells apart
`correlation`      whether measures rank systems alike; ``tau_ap``
`bootstrap`        intervals over topics for any of these
`robustness`       whether they still do so with fewer judgments
`optimality`       whether small changes of a linear model improve a measure
`significance`     whether one ranker is better than another
`estimates`        means with standard errors, of clusters too; p-values looked at together; power
`leaks`            whether a feature alone ranks like the grades
`result`           what every analysis returns: a data frame, a plot, and arrays; long work
`ties`             values that differ by rounding alone
=================  =============================================================================
"""

from gapboost.analysis import trec
from gapboost.analysis.bootstrap import topic_bootstrap
from gapboost.analysis.correlation import correlation, tau_ap
from gapboost.analysis.curve import mean_curve, precision_recall
from gapboost.analysis.discrimination import discriminative_power
from gapboost.analysis.entropy import expected_value, maximum_entropy
from gapboost.analysis.informativeness import (
    informativeness,
    most_informative_g,
    threshold_sweep,
)
from gapboost.analysis.lists import RankedList, ranked_lists
from gapboost.analysis.optimality import local_optimality
from gapboost.analysis.result import Result
from gapboost.analysis.robustness import robustness
from gapboost.analysis.significance import significance
from gapboost.analysis.systems import SystemValues, system_values
from gapboost.analysis.trec import bpref

__all__ = [
    "RankedList",
    "Result",
    "SystemValues",
    "bpref",
    "correlation",
    "discriminative_power",
    "expected_value",
    "informativeness",
    "local_optimality",
    "maximum_entropy",
    "mean_curve",
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
