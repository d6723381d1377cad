"""Code that `gapboost.lightgbm` and `gapboost.xgboost` share; nothing here imports either library.

`fit` of a ranker and each fit of `GSearchCV` take the same steps.

1. `TrainingRequest`: what parameters and arguments ask for. `RankerParameters._request` makes it.
2. `DataSummary` (`gapboost._data.summary`): what must be known about all rows before training.
3. `Task`: request and summary, with g resolved. `make_task` makes it, and checks both.
4. `Training`: a task on the rows of one worker, with its gradients. `prepare` makes it.
5. `TrainingResult`: what the ranker holds after training.

===================  =====================================================================
`library`            LightGBM or XGBoost as a value: how the shared code reads a booster
`own_parameters`     the parameters that our rankers add, declared once
`data_set`           a data set as a caller gives it
`fit_arguments`      the arguments of `fit`
`request`            what parameters and arguments ask for
`parameter_table`    meaning of the boosters' ranking parameters
`parameters`         check of all parameters, with one error for those that would be ignored
`aliases`            aliases of the parameters that a ranker's constructor lists
`one_label`          refusal of several labels
`rows`               one data set in grouped order
`task`               a request, resolved by the training grades
`training`           a task on some rows, its gradients, and whether they teach anything
`result`             what a fit learned
`ranker`             the ranker: `fit` step by step, fitted attributes, `score`
`ranker_parameters`  parameters of a ranker, and the training request that they make
`callbacks`          gradients and metrics as boosters call them
`measure_arguments`  measures and objectives that users pass, by name or by value
`eval_metric`        functions that users pass as `eval_metric`
`states`             what callbacks remember about each data set
`positions`          factors of positions, learned along with the trees
`trees`              trees of a fitted model as values
`stopping`           the metric that stops training early
`progress`           progress bar of a fit
`callers`            search among the frames of callers
`search_guard`       errors for searches of scikit-learn that would go wrong
`model_file`         the objective as text in model files
`described`          shared parts of docstrings
`signature`          signatures of rankers, and the argument order of `fit`
===================  =====================================================================
"""
