"""Choosing g: grids, scorers, a search, and g from clicks.

`GSearchCV` is the search most people want: one call, folds of whole queries, one target measure,
the number of trees for free. It takes pipelines too. scikit-learn's own tools work with the rankers
too:

* with ``sklearn.set_config(enable_metadata_routing=True)``: `GridSearchCV`, `RandomizedSearchCV`,
  `HalvingGridSearchCV` (with ``resource="n_estimators"``), `cross_validate` and pipelines. Pass
  ``cv=GroupKFold(...)``, ``qid=qid`` and ``groups=qid`` among the parameters, and
  ``scoring=measure_scorer(...)``. No ``set_*_request`` call is needed.
* without routing: `GSearchCV`, and `cross_val_predict` with ``groups=qid, params={"qid": qid}``
  followed by `gapboost.evaluate`. scikit-learn does not pass qid to any scorer then, so its
  searches and `cross_validate` raise an error that says so.

Searches, `cross_validate` and `cross_val_score` by a measure raise an error where folds cut
queries. From `cross_val_predict`, `permutation_test_score`, `RFECV` and scorers that want no qid,
such as ``"r2"``, a ranker does not learn the folds: give them ``cv=GroupKFold(...)`` and
``groups=qid``.

==================  =========================================
`search`            `GSearchCV`
`fold_search`       training of the candidates on one fold
`folds`             folds of whole queries
`scorers`           measures as scikit-learn scorers
`clicks`            g from what users clicked
==================  =========================================

A search over g, or over measures, must judge every candidate by the same measure. With the rankers'
own `score`, which is that of the candidate, scikit-learn's searches raise an error.
"""

from gapboost.measures.grids import simplex_grid, uniform_g
from gapboost.model_selection.clicks import ThresholdEstimate, g_from_clicks
from gapboost.model_selection.folds import query_folds
from gapboost.model_selection.scorers import MeasureScorer, measure_scorer
from gapboost.model_selection.search import GSearchCV

__all__ = [
    "GSearchCV",
    "MeasureScorer",
    "ThresholdEstimate",
    "g_from_clicks",
    "measure_scorer",
    "query_folds",
    "simplex_grid",
    "uniform_g",
]
