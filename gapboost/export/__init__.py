"""Models for search engines, with files of checked scores.

=========  ==================================================================================
`trees`    trees of both boosters, with each threshold between two neighboring numbers
`files`    the files of a model and of rows and scores beside it, and `verify`
`engines`  Elasticsearch's and OpenSearch's learning-to-rank plugins, Solr, Vespa
=========  ==================================================================================
"""

from gapboost.export.engines import write_ltr_plugin, write_solr, write_vespa
from gapboost.export.files import verify

__all__ = ["verify", "write_ltr_plugin", "write_solr", "write_vespa"]
