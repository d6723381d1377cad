"""Data sets of queries, checked and brought together: what fits, searches and reports work on.

=============  =================================================================
`queries`      rows to queries, by ids or sizes
`features`     tables of features
`grades`       grades, and several labels of each document
`recall_base`  documents of each grade in a query; codes of grades
`query_data`   queries with grades and weights
`dataset`      all of these together: what loaders return and fits work on
`_compat`      names of scikit-learn that are not part of its interface
=============  =================================================================
"""

from gapboost._kernels import Array, ArrayLike
from gapboost.data._compat import num_samples
from gapboost.data.dataset import Positions, RankingDataset
from gapboost.data.features import (
    check_names,
    column_contents,
    column_names,
    column_places,
    feature_names,
    features,
    pop_query_ids,
    rows_of,
    without_qid,
)
from gapboost.data.grades import at_least, checked_grades, label_columns
from gapboost.data.queries import Queries, QueryIds, grouped_rows, is_missing
from gapboost.data.query_data import DataSummary, QueryData, group_by_query
from gapboost.data.recall_base import MOST_DOCUMENTS, RecallBase

__all__ = [
    "MOST_DOCUMENTS",
    "Array",
    "ArrayLike",
    "DataSummary",
    "Positions",
    "Queries",
    "QueryData",
    "QueryIds",
    "RankingDataset",
    "RecallBase",
    "at_least",
    "check_names",
    "checked_grades",
    "column_contents",
    "column_names",
    "column_places",
    "feature_names",
    "features",
    "group_by_query",
    "grouped_rows",
    "is_missing",
    "label_columns",
    "num_samples",
    "pop_query_ids",
    "rows_of",
    "without_qid",
]
