"""Compare rankers of any library on the same folds of your data.

=============  =======================================================================
`call`         `compare_rankers`
`settings`     `ComparisonSettings`: the parameters of `compare_rankers`, checked
`rankers`      the rankers to compare; the standard rankers
`spaces`       candidates for tuning, and the spaces they are drawn from
`trees`        the number of trees, chosen on validation queries
`estimators`   untrained copies, seeds and early stopping of any library's rankers
`pipelines`    steps of a pipeline before the ranker
`data`         documents, query by query, and the queries of each fold
`training`     one training: fit a ranker, and evaluate it
`run`          all trainings, in several processes
`checkpoint`   finished trainings in a folder
`digest`       digests of data, folds, measures and rankers, for checkpoints
`values`       one number for each test query, ranker, measure and repeat
`verdicts`     is one ranker ahead of another?
`decision`     which ranker to use, and what the data could show
`comparison`   the result: values, means, verdicts, the best ranker
`picture`      differences with their intervals
`remaining`    progress bar with the time left
`report`       the result as a page
`files`        files of the command: LETOR, and folders of folds
`tables`       files of the command: CSV and Parquet
`__main__`     the command
=============  =======================================================================
"""

from gapboost.comparison.call import compare_rankers
from gapboost.comparison.comparison import Comparison
from gapboost.comparison.rankers import standard_rankers
from gapboost.comparison.values import Values
from gapboost.comparison.verdicts import Verdict

__all__ = ["Comparison", "Values", "Verdict", "compare_rankers", "standard_rankers"]
