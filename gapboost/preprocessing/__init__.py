"""Features relative to the query: z-scores and percentile ranks of the raw columns.

A raw value such as a BM25 score has another scale in each query. Boosters compare it with one
threshold for all queries. A z-score or percentile rank says where the value lies among the
documents of its own query.

================  ======================================================================
`query_relative`  `QueryRelativeFeatures` for pipelines, `query_relative_features` for a table
`pipeline`        last step of a pipeline, and the steps before it
================  ======================================================================
"""

from gapboost.preprocessing.query_relative import QueryRelativeFeatures, query_relative_features

__all__ = ["QueryRelativeFeatures", "query_relative_features"]
