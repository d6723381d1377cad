"""Diagnose a ranker: find faults in it and in its test data.

==================  =====================================================================
`call`              `report`
`report_result`     `Report`: checks, values, queries, slices and documents as data frames
`features`          columns of a table, one at a time, as numbers
`part`              documents of the test or the training data, with scores and values
`subject`           all that a check sees
`finding`           `Finding`: the result of a check
`checks`            the list of checks, and `ignore`
`data_checks`       checks of the queries and grades
`training_checks`   checks that compare test and training data
`ranker_checks`     checks of the scores
`queries`           one row a query; the worst and the best queries with their documents
`slices`            values of groups of queries
`page`              the result as a page
`picture`           pictures of the page
`model_files`       models of the command, by the ending of their file
`__main__`          the command
`mlflow_evaluator`  the report as an evaluator of MLflow
==================  =====================================================================
"""

from gapboost.diagnosis.call import report
from gapboost.diagnosis.report_result import Report

__all__ = ["Report", "report"]
