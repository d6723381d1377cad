"""Docstring entries of the parameters that several methods share."""

import inspect
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, metadata
from typing import Any, TypeVar

from gapboost._boosters.own_parameters import docstring_entries

Documented = TypeVar("Documented", bound=Callable[..., Any])

ROWS = """\
X : array-like of shape (N, n_features)
y : array-like of shape (N,)
    Grades ``0..c``. `LGBMGAPRanker` and `XGBGAPRanker` also take several labels, for measures of
    them (`gapboost.OfLabel`): the columns of an array or data frame of shape (N, L).
qid : array-like of shape (N,)
    Query id of each row, in any order of rows. A data frame `X` may hold it as the column ``qid``.
sample_weight : array-like of shape (Q,) or (N,), optional
    One weight for each query, in the order in which queries first occur, or one for each row. As in
    LightGBM's own objectives, the weight of a document multiplies its gradient and hessian, after
    all scaling of its query. The weight of a query in metrics is the mean of its documents'
    weights. XGBoost's histograms use these means.
group : array-like of shape (Q,), optional
    Sizes of the queries, instead of `qid`, if the rows come query by query.
position : array-like of shape (N,), optional
    Position at which each document was shown when `y` was observed, such as its rank in a click
    log. Numbers, strings, or any other hashable values. As in LightGBM's own objectives, an
    additive factor of each position is learned along with the trees, which then learn only what the
    factors do not explain. The factors use the ranker's learning rate and
    `lambdarank_position_bias_regularization` (default 0). `position_bias_` holds them after
    training. Evaluation sets and predictions have no positions. Training that continues a ranker
    starts from its factors; training that continues a booster or a file starts from 0."""

FITTED = """\
measure_ : Measure
    Measure that was trained for, with `g` resolved.
objective_ : Objective
    Objective of the fitted model, with `g` resolved.
g_ : tuple of float or None
    Threshold probabilities of a graded measure.
n_queries_in_ : int
    Number of training queries.
position_bias_ : dict {position: float} or None
    What each position adds to the scores of the training set, if `fit` was given `position`."""

EVALUATION_SETS = """\
eval_set : list of (X, y), or one such tuple, optional
eval_qid : list of array-like, optional
    Query ids of each pair in `eval_set`.
eval_group : list of array-like, optional
    Sizes of the queries of each pair, instead of `eval_qid`."""

ERRORS = """\
ValueError, TypeError
    Before any training, if an argument or parameter is unusable. The message names it, what was
    found and what is expected."""

WARNINGS = """\
UserWarning
    If `min_child_weight`, which is compared with sums of hessians, allows fewer than 8 leaves for
    1000 rows or more."""

ON_A_CLUSTER = """\
The rankers of `gapboost.dask` take everything with one entry for each row, weights too, as Dask
arrays, data frames or series. Rows may have any order, and any partitions that `X` has too; `group`
holds the sizes of the queries in each partition. Queries that partitions cut are brought together
on one worker. Metrics are exact means over the queries of all workers, so early stopping is the
same decision on each of them. If a worker or its training process dies, RuntimeError is raised.
Nothing is left running then, and the ranker is unchanged."""


def documentation_url(kind: type[Any]) -> str:
    """Return the address of the reference page of a class of gapboost; empty if not installed."""
    try:
        package = metadata("gapboost")
    except PackageNotFoundError:
        return ""
    urls = dict(entry.split(", ", 1) for entry in package.get_all("Project-URL", []))
    if "Source" not in urls:
        return ""
    # GitHub publishes the pages of a repository at this address.
    owner, repository = urls["Source"].split("/")[-2:]
    module = kind.__module__.rpartition(".")[0]
    return f"https://{owner}.github.io/{repository}/api/generated/{module}.{kind.__name__}.html"


TEXTS = {
    "own_parameters": docstring_entries(),
    "fitted": FITTED,
    "rows": ROWS,
    "evaluation_sets": EVALUATION_SETS,
    "errors": ERRORS,
    "warnings": WARNINGS,
    "on_a_cluster": ON_A_CLUSTER,
}


def described(documented: Documented) -> Documented:
    """Put these texts into the docstring of a method or class, for their names in braces."""
    # Python -OO drops docstrings.
    if documented.__doc__:
        text = inspect.cleandoc(documented.__doc__)
        for name, shared in TEXTS.items():
            text = text.replace(f"{{{name}}}", shared)
        documented.__doc__ = text
    return documented
