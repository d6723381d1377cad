"""The work of a search on one fold: train the candidates, and watch their scores.

A candidate group holds the candidates that differ only in the number of trees. One training, with
the largest number of trees, scores all of them.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from gapboost._boosters.rows import RankingRows, ranking_rows
from gapboost._data.features import rows_of
from gapboost._data.judged import Judged
from gapboost._kernels import Array
from gapboost.evaluation import mean, query_values
from gapboost.measures import Measure
from gapboost.preprocessing.pipeline import fit_transformers, last_step, prefix, transform

Params = dict[str, Any]
Grids = Sequence[Mapping[str, Sequence[Any]]]
# The number of a grid, and the places of values in it.
Place = tuple[Any, ...]
# The number of a candidate, its values of the targets, and seconds of training.
Scored = tuple[int, list[float], float]


# Parameters that leave the bins alone in both boosters: candidates that differ in nothing else
# share binned data. Any other one costs a binning of its own, as it may change the bins or which
# features are kept.
SHARE_BINS = frozenset(
    (
        "colsample_bylevel",
        "colsample_bynode",
        "colsample_bytree",
        "g",
        "gamma",
        "grow_policy",
        "learning_rate",
        "max_depth",
        "max_leaves",
        "measure",
        "min_child_weight",
        "min_split_gain",
        "n_estimators",
        "num_leaves",
        "objective",
        "reg_alpha",
        "reg_lambda",
        "subsample",
        "subsample_freq",
    )
)


@dataclass(frozen=True)
class CandidateGroup:
    """Candidates that differ only in the number of trees, all scored during one training."""

    params: Params
    # Number of trees: the candidates with that many, more than one where a grid repeats a value.
    trees: dict[int, list[int]]
    steps: Place  # equal for groups that share the fitted steps before the ranker
    bins: Place  # equal for groups that can share binned data, if they share these steps


def candidate_groups(grids: Grids, begins: str) -> list[CandidateGroup]:
    """Group the candidates of `grids` by all parameters but the number of trees.

    Groups that can share fitted steps, and among them those that can share binned data, follow each
    other.

    Parameters
    ----------
    grids : sequence of dict
        As for `ParameterGrid`.
    begins : str
        `prefix` of the estimator.
    """
    # Values are told apart by their places in the grid: they need be neither hashable nor
    # comparable, and a short repr is the same for different ones.
    found: dict[Place, CandidateGroup] = {}
    trees, number = f"{begins}n_estimators", 0
    for of_grid, grid in enumerate(grids):
        places = ParameterGrid({name: range(len(values)) for name, values in grid.items()})
        for place, candidate in zip(places, ParameterGrid(grid), strict=True):
            key = [(name, at) for name, at in sorted(place.items()) if name != trees]
            steps = [(name, at) for name, at in key if not name.startswith(begins)]
            bins = [
                (name, at)
                for name, at in key
                if name.startswith(begins) and name.removeprefix(begins) not in SHARE_BINS
            ]
            params = {name: value for name, value in candidate.items() if name != trees}
            group = CandidateGroup(params, {}, (of_grid, *steps), (of_grid, *bins))
            group = found.setdefault((of_grid, *key), group)
            group.trees.setdefault(int(candidate[trees]), []).append(number)
            number += 1
    return sorted(found.values(), key=lambda group: (group.steps, group.bins))


def with_params(estimator: Any, params: Params) -> Any:
    """Return a clone of `estimator` with copies of these parameters, as scikit-learn does."""
    return clone(estimator).set_params(**clone(params, safe=False))


class SearchData(NamedTuple):
    """All rows of a search, in the caller's order: one query id and at most one weight a row."""

    X: Any
    y: Any
    qid: Any
    weight: Any
    position: Any

    def rows(self, numbers: Array) -> "SearchData":
        """Return some rows, in the order of their numbers."""
        return SearchData(*(None if c is None else rows_of(c, numbers) for c in self))


@dataclass(frozen=True, eq=False)
class FoldSearch:
    """Training and scoring of candidate groups on one fold.

    Attributes
    ----------
    estimator : GAPRanker, or Pipeline that ends with one
    data : SearchData
    fold : tuple of ndarray
        Training and test rows.
    groups : list of CandidateGroup
    targets : list of Measure
    """

    estimator: Any
    data: SearchData
    fold: tuple[Array, Array]
    groups: list[CandidateGroup]
    targets: list[Measure]

    def __call__(self, advance: Callable[[int], None]) -> list[Scored]:
        """Train each group, and return the scores of its candidates on the test rows."""
        train, test = (self.data.rows(numbers) for numbers in self.fold)
        found: list[Scored] = []
        steps = bins = binned = None
        for group in self.groups:
            most = {f"{prefix(self.estimator)}n_estimators": max(group.trees)}
            model = with_params(self.estimator, {**group.params, **most})
            ranker = last_step(model)
            if group.steps != steps:
                steps, bins = group.steps, None
                rows, held_out = _ranking_rows(model, train, test)
                data = [held_out.data.up_to_grade(target.n_grades) for target in self.targets]
            if group.bins != bins:
                bins, binned = group.bins, ranker._bins(rows, held_out)
            found += self._scored(ranker, group, rows, binned, data)
            advance(1)
        return found

    def _scored(
        self,
        ranker: Any,
        group: CandidateGroup,
        rows: RankingRows,
        binned: Any,
        held_out: list[Judged],
    ) -> list[Scored]:
        """Train one group; return the scores of its candidates."""
        found: list[Scored] = []
        n_rounds = 0
        start = time.perf_counter()

        def watch(scores: Array) -> None:
            nonlocal n_rounds
            n_rounds += 1
            if n_rounds in group.trees:
                means = [
                    mean_value(target, data, scores)
                    for target, data in zip(self.targets, held_out, strict=True)
                ]
                seconds = time.perf_counter() - start
                found.extend((number, means, seconds) for number in group.trees[n_rounds])

        ranker._train_on_bins(rows, binned, watch)
        if n_rounds != max(group.trees):
            raise ValueError(
                f"training with {group.params} ended after {n_rounds} of {max(group.trees)} "
                "rounds; expected no early stopping, and n_estimators as the number of trees"
            )
        return found


def _ranking_rows(
    model: Any, train: SearchData, test: SearchData
) -> tuple[RankingRows, RankingRows]:
    """Return the training and test rows after the steps before the ranker."""
    tables = train.X, test.X
    if isinstance(model, Pipeline):
        transformers, X = fit_transformers(model, train.X, train.y, train.qid)
        tables = X, transform(transformers, test.X, test.qid)
    return (
        ranking_rows(tables[0], train.y, train.qid, None, train.weight, position=train.position),
        ranking_rows(tables[1], test.y, test.qid, None, test.weight),
    )


def mean_value(target: Measure, data: Judged, scores: Array) -> float:
    """Mean of `target` over the queries of `data`."""
    (values,) = query_values([target], data, np.ascontiguousarray(scores), n_jobs=1)
    return mean(values, data.weights)
