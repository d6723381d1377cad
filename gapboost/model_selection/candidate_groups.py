"""The work of a search on one fold: data binned once, and one training for all numbers of trees.

A candidate group holds the candidates that differ only in the number of trees. One training, with
the largest number of trees, scores all of them.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from gapboost._boosters.ranker import GAPRanker
from gapboost._boosters.rows import RankingRows
from gapboost._boosters.training import Training
from gapboost._data.features import features
from gapboost._data.judged import Judged
from gapboost._data.weights import check_total_weight
from gapboost._kernels import Array
from gapboost.evaluation import mean, query_values
from gapboost.measures import Measure
from gapboost.preprocessing.pipeline import fit_transformers, last_step, prefix, transform

Params = dict[str, Any]

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
    # Number of trees: the candidates with that many, more than one where grids overlap.
    trees: dict[int, list[int]]
    transformers: str  # equal for groups that share the fitted steps before the ranker
    bins: str  # equal for groups that can share binned data, if they share these steps


def candidate_groups(candidates: list[Params], begins: str) -> list[CandidateGroup]:
    """Group `candidates` by all parameters but the number of trees.

    Groups that can share fitted steps, and among them those that can share binned data, follow each
    other.

    Parameters
    ----------
    candidates : list of dict
    begins : str
        `prefix` of the estimator.
    """
    # Values need not be hashable, nor equal only where they mean the same: repr tells tuples,
    # floats and objectives apart.
    found: dict[str, CandidateGroup] = {}
    for number, candidate in enumerate(candidates):
        params = {
            name: value for name, value in candidate.items() if name != f"{begins}n_estimators"
        }
        others = {name: value for name, value in params.items() if not name.startswith(begins)}
        own = {
            name.removeprefix(begins): value for name, value in params.items() if name not in others
        }
        bins = repr({name: value for name, value in own.items() if name not in SHARE_BINS})
        group = found.setdefault(repr(params), CandidateGroup(params, {}, repr(others), bins))
        group.trees.setdefault(int(candidate[f"{begins}n_estimators"]), []).append(number)
    return sorted(found.values(), key=lambda group: (group.transformers, group.bins))


def with_params(estimator: Any, params: Params) -> Any:
    """Return a clone of `estimator` with copies of these parameters, as scikit-learn does."""
    return clone(estimator).set_params(**clone(params, safe=False))


@dataclass(frozen=True, eq=False)
class FoldWork:
    """Training and scoring of candidate groups on one fold.

    Attributes
    ----------
    estimator : GAPRanker, or Pipeline that ends with one
    rows : RankingRows
        All data, as they are before the first step of a pipeline.
    fold : tuple of ndarray
        The numbers of the training and of the test queries.
    groups : list of CandidateGroup
    targets : list of Measure
    """

    estimator: Any
    rows: RankingRows
    fold: tuple[Array, Array]
    groups: list[CandidateGroup]
    targets: list[Measure]

    def __call__(
        self, advance: Callable[[int], None]
    ) -> tuple[list[tuple[int, list[float], float]], list[str]]:
        """``[(candidate, values of the targets, seconds)]``, and the warnings about trainings."""
        raw = [self.rows.subset(queries) for queries in self.fold]
        for part in raw:
            check_total_weight(part.data.weights, "sample_weight")
        held_out = [raw[1].data.up_to_grade(target.n_grades) for target in self.targets]
        found, warnings = [], []
        transformers, bins, binned = None, None, None
        for group in self.groups:
            n_estimators = f"{prefix(self.estimator)}n_estimators"
            model = with_params(self.estimator, {**group.params, n_estimators: max(group.trees)})
            if group.transformers != transformers:
                transformers, bins = group.transformers, None
                train, test = _transformed(model, *raw)
            ranker = last_step(model)
            training = ranker._prepared(train)
            if group.bins != bins:
                bins, binned = group.bins, ranker._bins(training.rows, test)
            found += self._run(ranker, training, group, binned, held_out)
            warnings += [] if training.warning is None else [training.warning]
            advance(1)
        return found, warnings

    def _run(
        self,
        ranker: GAPRanker,
        training: Training,
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

        ranker._boost_on_bins(training, binned, watch)
        if trees != max(group.trees):
            raise ValueError(
                f"training with {group.params} ended after {trees} of {max(group.trees)} trees; "
                "expected an estimator without early stopping: the search chooses the number of "
                "trees"
            )
        return found


def _transformed(
    model: Any, train: RankingRows, test: RankingRows
) -> tuple[RankingRows, RankingRows]:
    """Return both parts after the steps before the ranker, fitted on the training part."""
    if not isinstance(model, Pipeline):
        return train, test
    qid, of_test = (np.repeat(part.data.queries.ids, part.sizes) for part in (train, test))
    transformers, X = fit_transformers(model, train.X, train.y, qid)
    return replace(train, X=features(X)), replace(
        test, X=features(transform(transformers, test.X, of_test))
    )


def mean_value(target: Measure, data: Judged, scores: Array) -> float:
    """Mean of `target` over the queries of `data`."""
    (values,) = query_values([target], data, np.ascontiguousarray(scores), n_jobs=1)
    return mean(values, data.weights)
