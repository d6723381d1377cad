"""Trainings: fit a ranker on the training queries of a fold, and evaluate it."""

import inspect
import random
import time
import warnings
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import joblib
import numpy as np

from gapboost.comparison.data import Split, shuffled
from gapboost.comparison.rankers import SEEDS, TREES, configured, parameter, versions
from gapboost.data import Array, QueryData, RankingDataset, column_contents
from gapboost.evaluation import QueryValues
from gapboost.measures import Measure
from gapboost.preprocessing.pipeline import fit_transformers, last_step, library_of, transform

CHOSEN_BY = "choose_by"
# `choose_trees` tries every fifth number of trees.
STEP = 5


@dataclass(frozen=True)
class Trained:
    """Values and costs of one training.

    Attributes
    ----------
    values : dict {measure: float64 ndarray of shape (Q,)}
        One value for each test query, in the order of their numbers.
    costs : dict {name: float}
        ``"trees"`` that `predict` uses, NaN for rankers of other libraries; ``"fit seconds"``, of a
        pipeline with all its steps; ``"predict ms"`` for 1,000 documents, within one call for all
        test queries.
    """

    values: dict[str, Array]
    costs: dict[str, float]


@dataclass(frozen=True)
class SplitResult:
    """Trainings of one ranker on one split.

    Attributes
    ----------
    repeats : list of Trained
        One for each repeat of the split; one alone if the ranker has no seed.
    searched : list of float64 ndarray
        Values of each candidate on the validation queries; empty without tuning.
    """

    repeats: Sequence[Trained]
    searched: Sequence[Array]


@dataclass(frozen=True, eq=False)
class Trainer:
    """Data, folds, rankers and measures that all trainings of a comparison share.

    Attributes
    ----------
    data : RankingDataset
        Grouped.
    splits : list of Split
    rankers : dict {name: ranker}
    candidates : dict {name: list of parameters}
        Empty without tuning.
    measures : dict {name: Measure}
        An open g is resolved with the grades of all rows.
    choose_by : Measure
    choose_trees : bool
        True if `choose_by` also chooses the number of trees of each model.
    shuffle : bool
        True if repeats of a split train on documents in orders of their own.
    memory : joblib.Memory
    """

    data: RankingDataset
    splits: Sequence[Split]
    rankers: Mapping[str, Any]
    candidates: Mapping[str, Sequence[Mapping[str, object]]]
    measures: Mapping[str, Measure]
    choose_by: Measure
    choose_trees: bool
    shuffle: bool
    memory: joblib.Memory

    @cached_property
    def _data_hash(self) -> str | None:
        """Hash of the data set, if trainings are cached."""
        if self.memory.location is None:
            return None
        data = self.data.query_data
        found: str = joblib.hash((self.data.X, self.data.y, data.queries.sizes, data.row_weights))
        return found

    def run(
        self, n_jobs: int | None, advance: Callable[[int], object]
    ) -> dict[tuple[str, int], SplitResult]:
        """Train in processes of joblib; return the results by ranker and number of the split."""
        tasks = [(name, number) for number in range(len(self.splits)) for name in self.rankers]
        order = list(tasks)
        if self._data_hash is not None:
            # Processes that share the cache seldom train the same at the same time.
            random.SystemRandom().shuffle(order)
        found = {}
        work = joblib.Parallel(n_jobs, return_as="generator")(
            map(joblib.delayed(self._train), order)
        )
        for task, result in zip(order, work, strict=True):
            found[task] = result
            advance(1)
        return {task: found[task] for task in tasks}

    def _train(self, task: tuple[str, int]) -> SplitResult:
        """Return the trainings of a ranker on a split, those in the cache from there."""
        name, split = task[0], self.splits[task[1]]
        ranker, candidates = self.rankers[name], self.candidates.get(name, ())
        params: Mapping[str, object] = {}
        searched = []
        for candidate in candidates:
            model = configured(ranker, candidate, split.repeats[0])
            try:
                found = self._from_cache(model, split, split.vali, {CHOSEN_BY: self.choose_by})
                searched.append(found.values[CHOSEN_BY])
            except Exception as error:  # the parameters may not suit so few rows
                message = f"{candidate} of {name!r} cannot be trained ({error}): it is not chosen"
                warnings.warn(message, UserWarning, stacklevel=2)
                searched.append(np.array([-np.inf]))
        if candidates:
            params = candidates[best_candidate(searched)]
        seeds = split.repeats if parameter(ranker, SEEDS) else split.repeats[:1]
        tested = []
        try:
            for seed in seeds:
                model = configured(ranker, params, seed)
                order = seed if self.shuffle and seed != split.repeats[0] else None
                tested.append(self._from_cache(model, split, split.test, self.measures, order))
        except Exception as error:
            error.add_note(f"in the training of {name!r} on fold {split.fold}")
            raise
        return SplitResult(tested, searched)

    def _from_cache(
        self,
        model: object,
        split: Split,
        queries: Array,
        measures: Mapping[str, Measure],
        order: int | None = None,
    ) -> Trained:
        """Return `train_and_test` of an untrained model, from the cache if it is there."""
        found: Trained = self.memory.cache(train_and_test, ignore=["data"])(
            model,
            (split.train, split.vali, queries),
            measures,
            self.choose_by if self.choose_trees else None,
            order,
            (self._data_hash, versions([model])),
            data=self.data,
        )
        return found

    def fit(self, name: str, params: Mapping[str, object], train: Array, vali: Array) -> Any:
        """Return a ranker that is trained on some queries with seed 1."""
        fitted = fit(configured(self.rankers[name], params, 1), self.data.select(train))
        if self.choose_trees and library_of(fitted):
            keep_best_trees(fitted, self.data.select(vali), self.choose_by)
        return fitted

    def try_rankers(self) -> None:
        """Train each ranker on the first split, with two trees if it grows trees.

        Raises
        ------
        ValueError
            With the names of all rankers that cannot take these data, and their errors.
        """
        split, failed = self.splits[0], []
        for name, ranker in self.rankers.items():
            first = self.candidates[name][0] if name in self.candidates else {}
            model = configured(ranker, first, 1)
            model.set_params(**dict.fromkeys(parameter(model, TREES), 2))
            try:
                parts = split.train, split.vali, split.test
                train_and_test(model, parts, self.measures, None, None, None, self.data)
            except Exception as error:
                # XGBoost's message ends with a stack of calls.
                message = " ".join(str(error).split())[:300]
                failed.append(f"{name!r}, which fails ({type(error).__name__}: {message})")
        if failed:
            message = f"rankers holds {', and '.join(failed)}; expected rankers for X and y"
            if "early stopping" in message:
                message += "; leave early stopping out: choose_trees=True chooses the number"
            raise ValueError(message)


def best_candidate(searched: Sequence[Array]) -> int:
    """Return the number of the candidate with the highest mean, the first of equal ones."""
    return int(np.argmax([values.mean() for values in searched]))


def train_and_test(
    ranker: object,
    parts: tuple[Array, Array, Array],
    measures: Mapping[str, Measure],
    choose_trees_by: Measure | None,
    order: int | None,
    key: object,
    data: RankingDataset,
) -> Trained:
    """Train a ranker, and test it; joblib caches the result by all arguments but `data`.

    Parameters
    ----------
    ranker : estimator
        Untrained, with its seed.
    parts : tuple of int ndarray
        Numbers of the queries to train, to validate and to test on.
    measures : mapping {name: Measure}
    choose_trees_by : Measure or None
        Measure that chooses the number of trees on the validation queries.
    order : int or None
        Seed of another order of the documents to train on.
    key : hashable
        What else the result depends on: the hash of the data set, versions of libraries.
    data : RankingDataset
    """
    train, vali, test = map(data.select, parts)
    train = train if order is None else shuffled(train, order)
    start = time.perf_counter()
    fitted = fit(ranker, train)
    fit_seconds = time.perf_counter() - start
    library, trees = library_of(fitted), np.nan
    if library and choose_trees_by is not None:
        trees = keep_best_trees(fitted, vali, choose_trees_by)
    elif library:
        trees = TREES_OF[library].grown(last_step(fitted))
    start = time.perf_counter()
    scores = scores_of(fitted, test)
    predict_ms = 1e6 * (time.perf_counter() - start) / len(test)
    found = QueryValues(list(measures.values()), test.query_data, n_jobs=1)(scores)
    values = dict(zip(measures, found, strict=True))
    costs = {"trees": trees, "fit seconds": fit_seconds, "predict ms": predict_ms}
    return Trained(values, costs)


def fit(ranker: object, train: RankingDataset) -> Any:
    """Fit a ranker of any library, and return it.

    A `fit` with `qid` gets ascending numbers of queries, one with `group` their sizes, and
    CatBoost's, with `group_id`, the numbers, and columns of categories unless ``cat_features`` is
    set. Any other gets features and grades alone. If weights were given, each gets them that takes
    some. All this is for the last step of a pipeline. The other steps transform the documents
    first. Steps that request ``qid`` get it.
    """
    queries = train.query_data.queries
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # each training would repeat them
        X = fit_transformers(ranker, train.X, train.labels[0], queries.numbers)
        last = last_step(ranker)
        taken = inspect.signature(last.fit).parameters
        given: dict[str, object] = {}
        for name in ("qid", "group", "group_id"):
            if name in taken:
                given[name] = queries.sizes if name == "group" else queries.numbers
                break
        if "cat_features" in taken and "cat_features" not in last.get_params():
            kinds = column_contents(X)
            given["cat_features"] = [column for column, kind in kinds.items() if kind == "category"]
        if train.weights_given:
            given |= _weights_for(last, taken, train.query_data)
        last.fit(X, _grades_for(last, train), **given)
    return ranker


def _weights_for(ranker: Any, taken: Container[str], data: QueryData) -> dict[str, Array]:
    """Return the weights as a `fit` takes them; nothing if it takes none.

    CatBoost's rankers take one weight for all rows of a query, XGBoost's one for the query.
    """
    if "group_weight" in taken:
        return {"group_weight": np.repeat(data.weights, data.queries.sizes)}
    if "sample_weight" not in taken:
        return {}
    by_query = library_of(ranker) == "xgboost" and "qid" in taken and not hasattr(ranker, "measure")
    return {"sample_weight": data.weights if by_query else data.row_weights}


def _grades_for(ranker: Any, part: RankingDataset) -> Any:
    """Return the grades that a ranker takes.

    Of several labels, rankers of gapboost get all, as their measure says which they read, and
    others the first one. XGBoost's own ``rank:map`` takes no grades, and gets 1 for every grade
    above 0.
    """
    if hasattr(ranker, "measure"):
        return part.y
    if ranker.get_params().get("objective") == "rank:map" and library_of(ranker) == "xgboost":
        return (part.labels[0] > 0).astype(np.int32)
    return part.labels[0]


def transformed(ranker: object, part: RankingDataset) -> RankingDataset:
    """Return documents as the last step gets them, by the fitted steps before it."""
    return replace(part, X=transform(ranker, part.X, part.query_data.queries.numbers))


def scores_of(ranker: object, part: RankingDataset, **trees: object) -> Array:
    """Return scores of the documents; `trees` go to `predict` of the last step."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(last_step(ranker).predict(transformed(ranker, part).X, **trees))


# --- numbers of trees -----------------------------------------------------------------------------


class Trees(NamedTuple):
    """Trees of a fitted ranker in one library.

    Attributes
    ----------
    grown : callable
        Number of rounds that were trained.
    first : callable
        Arguments of `predict` for the first n rounds.
    keep : callable
        Make `predict` use the first n rounds.
    """

    grown: Callable[[Any], int]
    first: Callable[[int], dict[str, object]]
    keep: Callable[[Any, int], object]


TREES_OF = {
    "lightgbm": Trees(
        lambda ranker: ranker.booster_.current_iteration(),
        lambda n: {"num_iteration": n},
        lambda ranker, n: setattr(ranker.booster_, "best_iteration", n),
    ),
    "xgboost": Trees(
        lambda ranker: ranker.get_booster().num_boosted_rounds(),
        lambda n: {"iteration_range": (0, n)},
        lambda ranker, n: ranker.get_booster().set_attr(best_iteration=str(n - 1)),
    ),
    "catboost": Trees(
        lambda ranker: ranker.tree_count_,
        lambda n: {"ntree_end": n},
        lambda ranker, n: ranker.shrink(n),
    ),
}


def keep_best_trees(ranker: object, vali: RankingDataset, measure: Measure) -> int:
    """Cut a fitted ranker to the number of trees with the best mean, the smallest of equal ones.

    It stays an estimator of its library: `predict` uses these trees. Returns their number.
    """
    last, part, trees = last_step(ranker), transformed(ranker, vali), TREES_OF[library_of(ranker)]
    values_of = QueryValues([measure], part.query_data, n_jobs=1)

    def value(n: int) -> float:
        (values,) = values_of(scores_of(last, part, **trees.first(n)))
        return float(values.mean())

    grown = int(trees.grown(last))
    best: int = max([*range(STEP, grown, STEP), grown], key=value)
    trees.keep(last, best)
    return best
