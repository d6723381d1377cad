"""What the twins `gapboost.lightgbm` and `gapboost.xgboost` share; nothing here imports either library.

==============  =================================================================
`functions`     gradients and metrics as boosters call them
`request`       what the caller of `fit` asks for
`ranker`        the ranker: arguments of `fit` checked, what was learned, `score`
`signature`     what a ranker's parameters are: its own and those of the booster
`described`     what `help()` says of the parameters that several methods share
`positions`     additive factors of positions, learnt beside the trees
`folds`         cross-validation by query
`progress`      the bar over the rounds of a fit
`search_guard`  what scikit-learn's searches would do wrongly with a ranker
`model_file`    what a model file says it was trained for
==============  =================================================================
"""
