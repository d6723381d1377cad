"""Choosing g: grids, scorers, a search, and g from clicks.

`GSearchCV` is the search most people want: one call, folds of whole queries, one target measure,
the number of trees for free. It takes pipelines too. scikit-learn's own tools work with the rankers
too:

* with ``sklearn.set_config(enable_metadata_routing=True)``: `GridSearchCV`, `RandomizedSearchCV`,
  `HalvingGridSearchCV` (with ``resource="n_estimators"``), `cross_validate` and pipelines. Pass
  ``cv=GroupKFold(...)``, ``qid=qid`` and ``groups=qid`` among the parameters, and
  ``scoring=measure_scorer(...)``. No ``set_*_request`` call is needed.
* without routing: `GSearchCV`, and `cross_val_predict` with ``groups=qid, params={"qid": qid}``
  followed by `gapboost.evaluate`. scikit-learn does not pass qid to any scorer then, so the
  scores of its searches and of `cross_validate` are NaN.

scikit-learn's tools cannot see that folds cut queries: give them ``cv=GroupKFold(...)`` and
``groups=qid``, or ``cv=query_folds(qid)``. `GSearchCV` checks its folds.

==================  =========================================
`search`            `GSearchCV`
`folds`             folds of whole queries
`scorers`           measures as scikit-learn scorers
`cv_results`        tables of a search
`clicks`            g from what users clicked
==================  =========================================

A search over g, or over measures, must judge every candidate by the same measure. The rankers' own
`score` is that of the candidate, so scikit-learn's searches need ``scoring=``.
"""

from gapboost.model_selection.clicks import ThresholdEstimate, g_from_clicks
from gapboost.model_selection.folds import query_folds
from gapboost.model_selection.grids import simplex_grid, uniform_g
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
