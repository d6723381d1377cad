"""Diagnose a ranker: find faults in it and in its test data.

=================  ===================================================================
`call`             `report`, the public function
`result`           `Report`: data frames and one HTML page
`rows`             documents of the test or the training data, with scores and values
`finding`          the result of a check
`checks`           checks of the ranker and of the test data, and the list of all
`training_checks`  checks that compare test and training data
=================  ===================================================================
"""

from gapboost.diagnosis.call import report
from gapboost.diagnosis.result import Report

__all__ = ["Report", "report"]
