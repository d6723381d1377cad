"""The work of a search on one fold: data binned once, and one training for all numbers of trees.

A candidate group holds the candidates that differ only in the number of trees. One training, with
the largest number of trees, scores all of them.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from warnings import catch_warnings, simplefilter

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
# The number of a grid, and the places of values in it.
Place = tuple[Any, ...]
Grids = Sequence[Mapping[str, Sequence[Any]]]

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
    transformers: Place  # equal for groups that share the fitted steps before the ranker
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
    trees = f"{begins}n_estimators"
    number = 0
    for of_grid, grid in enumerate(grids):
        places = ParameterGrid({name: range(len(values)) for name, values in grid.items()})
        for place, candidate in zip(places, ParameterGrid(grid), strict=True):
            key = [(name, at) for name, at in sorted(place.items()) if name != trees]
            others = [(name, at) for name, at in key if not name.startswith(begins)]
            bins = [
                (name, at)
                for name, at in key
                if name.startswith(begins) and name.removeprefix(begins) not in SHARE_BINS
            ]
            params = {name: value for name, value in candidate.items() if name != trees}
            group = found.setdefault(
                (of_grid, *key),
                CandidateGroup(params, {}, (of_grid, *others), (of_grid, *bins)),
            )
            group.trees.setdefault(int(candidate[trees]), []).append(number)
            number += 1
    return sorted(found.values(), key=lambda group: (group.transformers, group.bins))


def with_params(estimator: Any, params: Params) -> Any:
    """Return a clone of `estimator` with copies of these parameters, as scikit-learn does."""
    return clone(estimator).set_params(**clone(params, safe=False))


@dataclass(frozen=True, eq=False)
class DataSet:
    """Rows in the caller's order, with one query id and at most one weight a row."""

    X: Any
    y: Any
    qid: Any
    weight: Any = None
    position: Any = None

    def ranking_rows(self) -> RankingRows:
        """Return the rows in grouped order."""
        return ranking_rows(self.X, self.y, self.qid, weight=self.weight, position=self.position)


@dataclass(frozen=True, eq=False)
class FoldWork:
    """Training and scoring of candidate groups on one fold.

    Attributes
    ----------
    estimator : GAPRanker, or Pipeline that ends with one
    data : DataSet
        All rows.
    fold : tuple of ndarray
        Training and test rows.
    groups : list of CandidateGroup
    targets : list of Measure
    """

    estimator: Any
    data: DataSet
    fold: tuple[Array, Array]
    groups: list[CandidateGroup]
    targets: list[Measure]

    def __call__(
        self, advance: Callable[[int], None]
    ) -> tuple[list[tuple[int, list[float], float]], list[str]]:
        """``[(candidate, values of the targets, seconds)]``, and the warnings about trainings."""
        raw = [_rows_of(self.data, rows) for rows in self.fold]
        found, warnings = [], []
        transformers: Place | None = None
        bins: Place | None = None
        binned = None
        for group in self.groups:
            n_estimators = f"{prefix(self.estimator)}n_estimators"
            model = with_params(self.estimator, {**group.params, n_estimators: max(group.trees)})
            if group.transformers != transformers:
                transformers, bins = group.transformers, None
                train, test = (part.ranking_rows() for part in _transformed(model, *raw))
                held_out = [test.data.up_to_grade(target.n_grades) for target in self.targets]
            ranker = last_step(model)
            if group.bins != bins:
                bins, binned = group.bins, ranker._bins(train, test)
            with catch_warnings(record=True) as caught:
                simplefilter("always")
                found += self._run(ranker, train, group, binned, held_out)
            warnings += [str(one.message) for one in caught]
            advance(1)
        return found, warnings

    def _run(
        self,
        ranker: Any,
        train: RankingRows,
        group: CandidateGroup,
        binned: Any,
        held_out: list[Judged],
    ) -> list[tuple[int, list[float], float]]:
        found: list[tuple[int, list[float], float]] = []
        trees = 0
        start = time.perf_counter()

        def watch(scores: Array) -> None:
            nonlocal trees
            trees += 1
            if trees in group.trees:
                means = [
                    mean_value(target, data, scores)
                    for target, data in zip(self.targets, held_out, strict=True)
                ]
                seconds = time.perf_counter() - start
                found.extend((candidate, means, seconds) for candidate in group.trees[trees])

        ranker._train_on_bins(train, binned, watch)
        if trees != max(group.trees):
            raise ValueError(
                f"training with {group.params} ended after {trees} of {max(group.trees)} trees; "
                "expected an estimator without early stopping: the search chooses the number of "
                "trees"
            )
        return found


def _rows_of(data: DataSet, rows: Array) -> DataSet:
    """Return some rows of a data set, in the order in which they are given."""
    columns = {"y": data.y, "qid": data.qid, "weight": data.weight, "position": data.position}
    taken: Any = {name: None if c is None else rows_of(c, rows) for name, c in columns.items()}
    return replace(data, X=rows_of(data.X, rows), **taken)


def _transformed(model: Any, train: DataSet, test: DataSet) -> tuple[DataSet, DataSet]:
    """Return both parts after the steps before the ranker, fitted on the training part."""
    if not isinstance(model, Pipeline):
        return train, test
    transformers, X = fit_transformers(model, train.X, train.y, train.qid)
    return replace(train, X=X), replace(test, X=transform(transformers, test.X, test.qid))


def mean_value(target: Measure, data: Judged, scores: Array) -> float:
    """Mean of `target` over the queries of `data`."""
    (values,) = query_values([target], data, np.ascontiguousarray(scores), n_jobs=1)
    return mean(values, data.weights)
