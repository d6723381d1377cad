"""Code that `gapboost.lightgbm` and `gapboost.xgboost` share; nothing here imports either library.

A fit takes these steps:

1. `RankingDataset.of` checks a data set; `grouped` brings its rows together, query by query.
2. `Plan` has the objective and the metrics; its g is resolved from the training grades.
3. `Gradients` computes gradients of the objective, in the units of the booster.
4. `Metrics` computes the values to report; the metric that stops training comes first or last.
5. The booster's own ranker or `train` calls both.

The native ``objective(...)`` and ``eval_metric(...)`` make the same for a booster's data set, when
they first see it.

=================  ===============================================================
`evaluation_sets`  evaluation sets of a fit, and early stopping by them
`gradients`        gradients of an objective, in the units of a booster
`positions`        factors of positions, learned along with the trees
`ranker`           what a fit trains for and reports, fitted attributes, models to continue
`migration`        parameters of the boosters' own objectives, and what replaces them
`callbacks`        objective and metrics for a booster's own data sets, and names of metrics
`dask`             checks of partitions
=================  ===============================================================
"""
