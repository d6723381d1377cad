"""Which ranker on my data: rankers of any library, trained and tested on the same folds, and what can be told of them.

============  =======================================================================
`call`        `compare_rankers`: everything is checked, then trained
`field`       the rankers that are compared; the standard field
`handing`     how a ranker of any library is handed its data
`data`        documents, query by query, and the queries of each fold
`spaces`      tuning: from which parameters candidates are drawn
`work`        one training
`run`         all trainings, over processes
`checkpoint`  finished trainings in a folder
`digest`      digest of data, folds, measures and rankers, by which a checkpoint recognizes them
`values`      one number for each test query, ranker, measure, fold and seed
`verdicts`    whether one ranker is ahead of another
`comparison`  the answer
`picture`     differences with their intervals
`report`      the answer as a page, whose frame is ``page.html``
`files`       files as the command reads them
`tables`      CSV and Parquet files
`__main__`    the command
============  =======================================================================
"""

from gapboost.comparison.call import compare_rankers
from gapboost.comparison.comparison import Comparison
from gapboost.comparison.field import standard_rankers
from gapboost.comparison.values import Values
from gapboost.comparison.verdicts import Verdict

__all__ = ["Comparison", "Values", "Verdict", "compare_rankers", "standard_rankers"]
