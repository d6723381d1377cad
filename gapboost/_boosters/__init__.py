"""What the twins `gapboost.lightgbm` and `gapboost.xgboost` share; nothing here imports either library.

A fit reads downwards: `ranker` checks what `request` says, `rows` groups each data set, `training` prepares the gradients,
the ranker of the twin trains, and `ranker` remembers.

==============  ================================================================================
`library`       what LightGBM or XGBoost is to this room: one value a library
`request`       what the caller of `fit` asks for
`asked`         what parameters ask a training for
`vocabulary`    what parameters of the boosters mean here
`parameters`    the parameters of a training, checked
`aliases`       aliases of the parameters that a ranker's constructor lists
`rows`          one data set in grouped order
`training`      a task, its gradients, and whether they teach anything
`ranker`        the ranker: arguments of `fit` checked, what was learned, `score`
`callbacks`     gradients and metrics as boosters call them
`eval_metric`   functions that users pass as `eval_metric`
`data_sets`     what callbacks remember of the data sets that a booster passes
`positions`     factors of positions, learnt beside the trees
`folds`         cross-validation by query
`stopping`      the metric that stops training early
`progress`      the bar over the rounds of a fit
`callers`       who called: a booster in training, a search of scikit-learn
`search_guard`  what scikit-learn's searches would do wrongly with a ranker
`model_file`    what a model file says it was trained for
`described`     what `help()` says of the parameters that several methods share
`signature`     what the parameters of a ranker are, and the order of those of `fit`
==============  ================================================================================
"""
