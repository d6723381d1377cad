"""What the twins `gapboost.lightgbm` and `gapboost.xgboost` share; nothing here imports either library.

==============  ================================================================================
`functions`     gradients and metrics as boosters call them
`request`       what the caller of `fit` asks for
`ranker`        the ranker: arguments of `fit` checked, what was learned, `score`
`folds`         cross-validation by query
`search_guard`  what scikit-learn's searches would do wrongly with a ranker
`model_file`    what a model file says it was trained for
`described`     what `help()` says of the parameters that several methods share
==============  ================================================================================
"""
