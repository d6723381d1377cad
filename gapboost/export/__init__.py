"""Models for search engines, with verification files.

An export is one file in the engine's format and a verification file beside it: rows with missing
values and values at thresholds, and their scores. The command ``python -m gapboost.export.verify``
compares the engine's scores with them.

==============  =============================================================
`model`         a fitted ranker, its feature names and sample rows, checked
`ltr_plugin`    the learning-to-rank plugins of Elasticsearch and OpenSearch
`solr`          Solr's ``MultipleAdditiveTreesModel``
`vespa`         Vespa's ``lightgbm(...)``
`verification`  rows and scores that show whether an engine predicts the same
`verify`        the command
==============  =============================================================
"""

from gapboost.export.ltr_plugin import write_ltr_plugin
from gapboost.export.solr import write_solr
from gapboost.export.vespa import write_vespa

__all__ = ["write_ltr_plugin", "write_solr", "write_vespa"]
