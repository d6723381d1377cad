"""Analyses of measures and rankings, one module for each question.

=================  =============================================================================
`trec`             judgments and runs of TREC: rankings, ``trec.evaluate``
`files`            files of judgments and runs, read and written
`compared_systems` tests of all pairs of several systems, and their table for a paper
`systems`          values of measures for several systems; bpref
`significance`     whether one ranker is better than another; how many pairs a measure tells apart
`correlation`      whether measures rank systems alike, also with fewer judgments; ``tau_ap``
`curve`            the graded precision-recall curve, whose area is the measure
`entropy`          the distribution of grades over ranks that a measure's value implies
`informativeness`  how much of the precision-recall curve a measure's value tells, by g too
`optimality`       whether small changes of a linear model improve a measure
`standard_errors`  means with standard errors, of clusters too; power; values that rounding ties
`leaks`            whether a feature alone ranks like the grades
`result`           what every analysis returns: a data frame, a plot, and arrays; processes
=================  =============================================================================
"""

from gapboost.analysis import trec
from gapboost.analysis.compared_systems import ComparedSystems, compare_systems
from gapboost.analysis.correlation import correlation, robustness, tau_ap
from gapboost.analysis.curve import mean_curve, precision_recall
from gapboost.analysis.entropy import expected_value, maximum_entropy
from gapboost.analysis.informativeness import (
    RankedList,
    informativeness,
    most_informative_g,
    ranked_lists,
    threshold_sweep,
)
from gapboost.analysis.optimality import local_optimality
from gapboost.analysis.result import Result
from gapboost.analysis.significance import discriminative_power, significance
from gapboost.analysis.systems import SystemValues, bpref, system_values

__all__ = [
    "ComparedSystems",
    "RankedList",
    "Result",
    "SystemValues",
    "bpref",
    "compare_systems",
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
    "trec",
]
