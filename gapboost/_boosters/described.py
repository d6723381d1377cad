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
    Integer grades ``0..c``. `LGBMGAPRanker` and `XGBGAPRanker` also take several labels, for measures of them
    (`gapboost.OfLabel`): the columns of an array or data frame of shape (N, L).
qid : array-like of shape (N,)
    Query id of each row, in any order of rows; or the column ``qid`` of a data frame `X`.
sample_weight : array-like of shape (Q,) or (N,), optional
    One weight a query in the order in which the queries first occur, or one a row. As in LightGBM's own objectives, the weight of
    a document multiplies its gradient and hessian after whatever is done for its whole query, and metrics weigh a query by the
    mean of its documents' weights. XGBoost's histograms see these means.
group : array-like of shape (Q,), optional
    Sizes of the queries in place of `qid`, for rows that come query by query.
position : array-like of shape (N,), optional
    Where each document was shown when `y` was observed, such as its rank beside the clicks: numbers, strings, anything that
    hashes. As in LightGBM's own objectives, additive factors of the positions are learnt beside the trees, with their learning
    rate and `lambdarank_position_bias_regularization` of the ranker (default 0): the trees learn what the factors do not
    explain. `position_bias_` then has the factors. Evaluation sets and predictions know no positions; training that
    continues a ranker goes on from its factors, and from none where it continues a booster or a file."""

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
    Sizes of the queries of each pair, in place of `eval_qid`."""

ERRORS = """\
ValueError, TypeError
    Before any training, where an argument or parameter is unusable; the message names it, what was found and
    what is expected."""

WARNINGS = """\
UserWarning
    Where `min_child_weight`, which is compared with sums of hessians, leaves 1000 rows or more fewer than 8 leaves."""

ON_A_CLUSTER = """\
The rankers of `gapboost.dask` take everything that has one entry a row, weights too, as Dask arrays, or as data frames and
series: in any order of rows and any partitions, those of `X`; `group` has the sizes of the queries in each of them. Queries are
brought together where partitions cut them. Metrics are exact means over the queries of all workers, so early stopping is the
same decision on each of them. Where a worker or its training process dies, RuntimeError is raised: nothing is left running, and
the ranker is as it was."""


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
