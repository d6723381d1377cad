"""Number of trees, chosen on validation queries in the same way for every library.

A ranker that is cut to its first trees stays an estimator of its library: `predict` uses these
trees, as after early stopping.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from gapboost.preprocessing.pipeline import last_step, library_of

# Every fifth number of trees is tried.
STEP = 5


class _Trees(NamedTuple):
    """Number of trees of a fitted ranker, arguments of `predict` for the first n, and a cut."""

    count: Callable[[Any], int]
    first: Callable[[int], dict[str, Any]]
    cut: Callable[[Any, int], object]


TREES = {
    "lightgbm": _Trees(
        lambda ranker: int(ranker.booster_.current_iteration()),
        lambda n: {"num_iteration": n},
        lambda ranker, n: setattr(ranker.booster_, "best_iteration", n),
    ),
    "xgboost": _Trees(
        lambda ranker: int(ranker.get_booster().num_boosted_rounds()),
        lambda n: {"iteration_range": (0, n)},
        lambda ranker, n: ranker.get_booster().set_attr(best_iteration=str(n - 1)),
    ),
    "catboost": _Trees(
        lambda ranker: int(ranker.tree_count_),
        lambda n: {"ntree_end": n},
        lambda ranker, n: ranker.shrink(n),
    ),
}


def check_trees(rankers: Mapping[str, Any]) -> None:
    """Refuse rankers whose number of trees cannot be chosen.

    Raises
    ------
    ValueError
    """
    for name, ranker in rankers.items():
        if library_of(ranker) not in TREES:
            raise ValueError(
                f"choose_trees is True but {name!r} of rankers is a "
                f"{type(last_step(ranker)).__name__}; expected rankers of {', '.join(TREES)}, or "
                f"leave_out=[{name!r}]"
            )


def keep_best_trees(ranker: Any, value: Callable[..., float]) -> None:
    """Cut a fitted ranker to the best number of trees, the smallest of equal ones.

    Parameters
    ----------
    ranker : estimator
    value : callable
        Value of the ranker on validation queries, given the arguments of `predict` for some trees.
    """
    trees, last = TREES[library_of(ranker)], last_step(ranker)
    most = trees.count(last)
    numbers = [*range(STEP, most, STEP), most]
    trees.cut(last, max(numbers, key=lambda n: value(**trees.first(n))))
