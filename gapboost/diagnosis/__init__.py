"""Diagnose a ranker: find faults in it and in its test data.

============  ==================================================================
`result`      `report`, the public function, and its result
`checks`      checks of a ranker, of its test data, and of test beside training
`monitoring`  new rows without grades beside those of training
`shifts`      how far a feature moved
`chance`      changes that chance explains
`scored`      documents of the test or the training data, with scores and values
============  ==================================================================
"""

from gapboost.diagnosis.monitoring import Monitoring
from gapboost.diagnosis.result import Report, report

__all__ = ["Monitoring", "Report", "report"]
