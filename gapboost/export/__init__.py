"""Models for search engines, with files of checked scores.

=========  ==================================================================================
`trees`    trees of both boosters, with each threshold between two neighboring numbers
`model`    the model to export and its sample rows, checked
`checks`   the file of rows and scores beside each model, and `verify`
`engines`  Elasticsearch's and OpenSearch's learning-to-rank plugins, Solr, Vespa
=========  ==================================================================================
"""

from gapboost.export.checks import verify
from gapboost.export.engines import write_ltr_plugin, write_solr, write_vespa

__all__ = ["verify", "write_ltr_plugin", "write_solr", "write_vespa"]
