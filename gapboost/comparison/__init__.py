"""Compare rankers of any library on the same folds of your data.

==========  ==============================================================================
`compare`   `compare_rankers`
`data`      documents, query by query, the queries of each fold, and leaked features
`rankers`   the standard rankers; checks, untrained copies, seeds, descriptions
`spaces`    candidates for tuning, and the spaces they are drawn from
`training`  trainings: fit a ranker, choose its number of trees, evaluate it
`result`    the result: values, means, differences with verdicts, the best ranker
`report`    the result as sentences, plots and a page
==========  ==============================================================================
"""

from gapboost.comparison.compare import compare_rankers
from gapboost.comparison.rankers import standard_rankers
from gapboost.comparison.result import Comparison

__all__ = ["Comparison", "compare_rankers", "standard_rankers"]
