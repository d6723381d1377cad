"""Compare rankers of any library on the same folds of your data.

============  ======================================================================
`compare`     `compare_rankers`
`data`        documents, query by query, and the queries of each fold
`leak`        features that alone rank like the grades
`rankers`     the standard rankers; checks of the rankers to compare
`estimators`  untrained copies, seeds and early stopping of any library's rankers
`spaces`      candidates for tuning, and the spaces they are drawn from
`training`    trainings: fit a ranker, choose its number of trees, evaluate it
`statistics`  is one ranker ahead of another?
`result`      the result: values, means, differences, the best ranker
`report`      the result as sentences, pictures and a page
============  ======================================================================
"""

from gapboost.comparison.compare import compare_rankers
from gapboost.comparison.rankers import standard_rankers
from gapboost.comparison.result import Comparison

__all__ = ["Comparison", "compare_rankers", "standard_rankers"]
