"""Trainings: fit a ranker on the training queries of a fold, and evaluate it."""

import random
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import joblib
import numpy as np
from sklearn.pipeline import Pipeline

from gapboost._described import LIBRARIES, libraries, versions
from gapboost._kernels import Array
from gapboost.comparison.data import Documents, Split
from gapboost.comparison.estimators import configured, few_trees, fit_arguments, has_early_stopping
from gapboost.evaluation import evaluate
from gapboost.measures import Measure
from gapboost.preprocessing.pipeline import fit_transformers, last_step, library_of, transform

CHOSEN_BY = "choose_by"
# `choose_trees` tries every fifth number of trees.
STEP = 5


@dataclass(frozen=True)
class Task:
    """One training of a ranker.

    Attributes
    ----------
    ranker : str
    split : int
        Number of the split, from 0.
    repeat : int
        Number of the repeat, from 1; also the seed.
    candidate : int or None
        Number of the candidate if parameters are tuned.
    search : bool
        True if it is evaluated on the validation queries, not on the test queries.
    """

    ranker: str
    split: int
    repeat: int
    candidate: int | None = None
    search: bool = False


@dataclass(frozen=True)
class Result:
    """Values and time of a training.

    Attributes
    ----------
    task : Task
    values : dict {measure: float64 ndarray of shape (Q,)}
        One value for each test query, in the order of their numbers. A search has one value for
        each validation query, by the measure that chooses candidates.
    fit_seconds : float
        Time of `fit`, of a pipeline with all its steps.
    predict_seconds : float
        Time of `predict` for one document, within one call for all test queries.
    trees : float
        Number of trees that `predict` uses; NaN for rankers of other libraries.
    """

    task: Task
    values: dict[str, Array]
    fit_seconds: float
    predict_seconds: float
    trees: float


@dataclass(frozen=True, eq=False)
class Trainer:
    """Data, folds, rankers and measures that all trainings of a comparison share.

    Attributes
    ----------
    documents : Documents
    ids : ndarray of shape (Q,)
        Ids of the queries.
    splits : list of Split
    rankers : dict {name: ranker}
    candidates : dict {name: list of parameters}
        Empty without tuning.
    measures : dict {name: Measure}
        An open g is resolved with the grades of all rows.
    choose_by : Measure
    choose_trees : bool
        True if `choose_by` also chooses the number of trees of each model.
    """

    documents: Documents
    ids: Array
    splits: Sequence[Split]
    rankers: Mapping[str, Any]
    candidates: Mapping[str, Sequence[Mapping[str, Any]]]
    measures: Mapping[str, Measure]
    choose_by: Measure
    choose_trees: bool

    def run(
        self, tasks: Sequence[Task], memory: Any, n_jobs: int | None, advance: Callable[[int], Any]
    ) -> list[Result]:
        """Train, in processes of joblib; return the results in the order of the tasks."""
        order, key = list(range(len(tasks))), None
        if memory.location is not None:
            key = joblib.hash((self.documents.X, self.documents.y, self.documents.sizes))
            # Processes that share the cache seldom train the same at the same time.
            random.SystemRandom().shuffle(order)
        if joblib.effective_n_jobs(n_jobs) > 1:
            # Raised as an error, in the thread that hands out the work, it would stop us for ever.
            warnings.filterwarnings("ignore", "A worker stopped while some jobs were", UserWarning)
        work = joblib.Parallel(n_jobs, return_as="generator_unordered")(
            joblib.delayed(self._finish)(number, tasks[number], memory, key) for number in order
        )
        results: dict[int, Result] = {}
        for number, result in work:
            results[number] = result
            advance(1)
        return [results[number] for number in range(len(tasks))]

    def _finish(self, number: int, task: Task, memory: Any, key: Any) -> tuple[int, Result]:
        """Return the number and the result of a task, from the cache if it is there.

        A candidate of a search that cannot be trained is worse than all others, with a warning: its
        parameters may not suit so few rows.
        """
        split = self.splits[task.split]
        measures = {CHOSEN_BY: self.choose_by} if task.search else dict(self.measures)
        ranker = self.ranker(task)
        try:
            found = memory.cache(train_and_test, ignore=["documents"])(
                ranker,
                (split.train, split.vali, split.vali if task.search else split.test),
                measures,
                self.choose_by if self.choose_trees else None,
                (key, versions([*LIBRARIES, *libraries(ranker)])),
                documents=self.documents,
            )
        except Exception as error:
            if not task.search:
                error.add_note(f"in the training of {task}")
                raise
            warnings.warn(
                f"{task} cannot be trained ({error}): it is not chosen", UserWarning, stacklevel=2
            )
            found = {CHOSEN_BY: np.array([-np.inf])}, 0.0, 0.0, np.nan
        return number, Result(task, *found)

    def ranker(self, task: Task) -> Any:
        """Return the untrained ranker of a task, with its parameters and its seed."""
        params = {} if task.candidate is None else self.candidates[task.ranker][task.candidate]
        return configured(self.rankers[task.ranker], dict(params), task.repeat)

    def needs_validation(self, ranker: str) -> bool:
        """Return True if the trainings of this ranker choose or stop by validation queries."""
        return self.choose_trees or has_early_stopping(self.rankers[ranker])

    def fit(self, task: Task, train: Array, vali: Array) -> Any:
        """Return the ranker of a task, trained on some queries."""
        part = self.documents.select(vali)
        fitted, _ = fit(self.ranker(task), self.documents.select(train), part)
        if self.choose_trees:
            keep_best_trees(fitted, part, self.choose_by)
        return fitted

    def try_rankers(self) -> None:
        """Refuse rankers that cannot take these data, before the first training.

        Each is trained on the first split, with two trees if it grows trees, together with a query
        of the highest grade and one of a fractional grade.

        Raises
        ------
        ValueError
            With the names of all such rankers and their errors.
        """
        split, numbers = self.splits[0], self.documents.numbers
        special = [
            numbers[place]
            for y in self.documents.labels
            for place in (np.argmax(y), np.argmax(y != np.floor(y)))
        ]
        parts = np.union1d(split.train, special), split.vali, split.test
        failed = {}
        for name in self.rankers:
            ranker = self.ranker(Task(name, 0, 1, 0 if name in self.candidates else None))
            ranker.set_params(**few_trees(ranker))
            try:
                train_and_test(ranker, parts, dict(self.measures), None, None, self.documents)
            except Exception as error:
                # XGBoost's message ends with a stack of calls.
                failed[name] = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        if failed:
            errors = ", and ".join(
                f"{name!r}, which fails on these data ({e})" for name, e in failed.items()
            )
            raise ValueError(
                f"rankers holds {errors}; expected rankers that take these features and grades. "
                f"leave_out={list(failed)} compares the others"
            )


def train_and_test(
    ranker: Any,
    parts: tuple[Array, Array, Array],
    measures: Mapping[str, Measure],
    choose_trees_by: Measure | None,
    key: Any,
    documents: Documents,
) -> tuple[dict[str, Array], float, float, float]:
    """Train a ranker, and test it; joblib caches the result by all arguments but `documents`.

    Parameters
    ----------
    ranker : estimator
        Untrained, with its seed.
    parts : tuple of int ndarray
        Numbers of the queries to train, to validate and to test on.
    measures : mapping {name: Measure}
    choose_trees_by : Measure or None
        Measure that chooses the number of trees on the validation queries.
    key : hashable
        What else the result depends on: the hash of the documents, versions of libraries.
    documents : Documents

    Returns
    -------
    tuple of (dict {name: float64 ndarray of shape (Q,)}, float, float, float)
        Values, seconds of `fit` and of `predict`, and trees, as in `Result`.
    """
    train, vali, test = map(documents.select, parts)
    fitted, seconds = fit(ranker, train, vali)
    if choose_trees_by is not None:
        keep_best_trees(fitted, vali, choose_trees_by)
    scores, predict_seconds = timed_scores(fitted, test)
    trees = _used_trees(last_step(fitted))
    return values_by_query(scores, test, measures), seconds, predict_seconds, trees


def fit(ranker: Any, train: Documents, vali: Documents) -> tuple[Any, float]:
    """Fit a ranker of any library; return it, and the seconds.

    A `fit` with `qid` gets ascending numbers of queries, one with `group` their sizes, and
    CatBoost's, with `group_id`, the numbers. Any other gets features and grades alone. Early
    stopping uses `vali`. All this is for the last step of a pipeline. The other steps transform the
    documents first. Steps that request ``qid`` get it.
    """
    watched = has_early_stopping(ranker)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # each training would repeat them
        start = time.perf_counter()
        if isinstance(ranker, Pipeline):
            steps, X = fit_transformers(ranker, train.X, train.labels[0], train.numbers)
            ranker.set_params(steps=[*steps.steps, ranker.steps[-1]])
            train = _with_features(train, X)
        last = last_step(ranker)
        takes = fit_arguments(last)
        given: dict[str, Any] = {}
        for name in ("qid", "group", "group_id"):
            if name in takes:
                given[name] = train.sizes if name == "group" else train.numbers
                break
        if watched:
            given |= _evaluation_set(last, transformed(ranker, vali))
        last.fit(train.X, _grades_for(last, train), **given)
        return ranker, time.perf_counter() - start


def _evaluation_set(ranker: Any, vali: Documents) -> dict[str, Any]:
    takes, y = fit_arguments(ranker), _grades_for(ranker, vali)
    if "group_id" in takes:
        from catboost import Pool

        names = ("cat_features", "text_features", "embedding_features")
        kinds = {name: ranker.get_params().get(name) for name in names}
        return {"eval_set": Pool(vali.X, y, group_id=vali.numbers, **kinds)}
    # LightGBM deprecates `eval_set` from 4.7 on.
    given: dict[str, Any] = {"eval_set": [(vali.X, y)]}
    if "eval_X" in takes:
        given = {"eval_X": (vali.X,), "eval_y": (y,)}
    if "eval_qid" in takes:
        given["eval_qid"] = [vali.numbers]
    elif "eval_group" in takes:
        given["eval_group"] = [vali.sizes]
    return given


def _grades_for(ranker: Any, part: Documents) -> Any:
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


def transformed(ranker: Any, part: Documents) -> Documents:
    """Return documents as the last step gets them, by the fitted steps before it.

    Raises
    ------
    ValueError
        If the steps change the number of rows.
    """
    if not isinstance(ranker, Pipeline):
        return part
    return _with_features(part, transform(ranker[:-1], part.X, part.numbers))


def _with_features(part: Documents, X: Any) -> Documents:
    found, expected = X.shape[0], part.X.shape[0]
    if found != expected:
        raise ValueError(
            f"the steps before the last one make {found} rows of {expected}; expected one row a "
            "document"
        )
    return replace(part, X=X)


def timed_scores(model: Any, part: Documents, **trees: Any) -> tuple[Array, float]:
    """Return scores of the documents, and seconds for one; `trees` go to `predict`."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = np.asarray(last_step(model).predict(transformed(model, part).X, **trees))
    return scores, (time.perf_counter() - start) / len(part.y)


def values_by_query(
    scores: Array, part: Documents, measures: Mapping[str, Measure]
) -> dict[str, Array]:
    """Return the value of each measure for each query."""
    found = evaluate(
        list(measures.values()), part.y, scores, part.numbers, per_query=True, n_jobs=1
    )
    return {name: found[measure] for name, measure in measures.items()}


def keep_best_trees(ranker: Any, vali: Documents, measure: Measure) -> None:
    """Cut a fitted ranker to the number of trees with the best mean, the smallest of equal ones.

    It stays an estimator of its library: `predict` uses these trees, as after early stopping.
    """
    last, part, library = last_step(ranker), transformed(ranker, vali), library_of(ranker)

    def value(n: int) -> float:
        first: dict[str, dict[str, Any]] = {
            "lightgbm": {"num_iteration": n},
            "xgboost": {"iteration_range": (0, n)},
            "catboost": {"ntree_end": n},
        }
        scores, _ = timed_scores(last, part, **first[library])
        return float(values_by_query(scores, part, {CHOSEN_BY: measure})[CHOSEN_BY].mean())

    if library == "lightgbm":
        most = int(last.booster_.current_iteration())
    elif library == "xgboost":
        most = int(last.get_booster().num_boosted_rounds())
    else:
        most = int(last.tree_count_)
    best = max([*range(STEP, most, STEP), most], key=value)
    if library == "lightgbm":
        last.booster_.best_iteration = best
    elif library == "xgboost":
        last.get_booster().set_attr(best_iteration=str(best - 1))
    else:
        last.shrink(best)


def _used_trees(ranker: Any) -> float:
    """Return the number of rounds of trees that `predict` uses; NaN for other libraries."""
    library = library_of(ranker)
    if library == "lightgbm":
        trees = ranker.booster_.current_iteration()
        # Rounds that find no split add no tree, but count in `best_iteration`.
        return float(min(max(ranker.booster_.best_iteration, 0) or trees, trees))
    if library == "xgboost":
        booster = ranker.get_booster()
        best = booster.attr("best_iteration")
        return float(booster.num_boosted_rounds() if best is None else int(best) + 1)
    return float(ranker.tree_count_) if library == "catboost" else np.nan
