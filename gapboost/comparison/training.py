"""One training: fit a ranker on the training queries of a fold, and evaluate it."""

import shlex
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gapboost._boosters.ranker import GAPRanker
from gapboost._data.features import describe_columns, other_columns
from gapboost._data.grades import checked_grades
from gapboost._kernels import Array
from gapboost.comparison.data import Collection, DataPart, Split
from gapboost.comparison.estimators import configured, few_trees, fit_arguments, has_early_stopping
from gapboost.comparison.pipelines import fit_steps, transformed
from gapboost.comparison.trees import keep_best_trees
from gapboost.evaluation import evaluate
from gapboost.measures import Measure
from gapboost.preprocessing.pipeline import last_step

CHOSEN_BY = "choose_by"


@dataclass(frozen=True)
class RankerTraining:
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
class RankerResult:
    """Values and time of a training.

    Attributes
    ----------
    task : RankerTraining
    values : dict {measure: list of float}
        One value for each test query, in the order of their numbers. A search has one value for
        each validation query, by the measure that chooses candidates.
    fit_seconds : float
        Time of `fit`; of a pipeline with all its steps, on validation queries too.
    predict_seconds : float
        Time of `timed_scores` for one document, within one call for all test queries.
    """

    task: RankerTraining
    values: dict[str, list[float]]
    fit_seconds: float
    predict_seconds: float


@dataclass(frozen=True, eq=False)
class Trainer:
    """Data, folds, rankers and measures that all trainings of a comparison share. Call it to train.

    Attributes
    ----------
    documents : Collection
    splits : list of Split
    rankers : dict {name: ranker}
    measures : dict {name: Measure}
        An open g is resolved with the grades of all rows.
    choose_by : Measure
    candidates : dict {name: list of parameters}
        Empty without tuning.
    source : str
        Sentences about the files that were read; empty for data in memory.
    choose_trees : bool
        True if `choose_by` also chooses the number of trees of each model.
    """

    documents: Collection
    splits: Sequence[Split]
    rankers: Mapping[str, Any]
    measures: Mapping[str, Measure]
    choose_by: Measure
    candidates: Mapping[str, Sequence[Mapping[str, Any]]]
    source: str
    choose_trees: bool = False

    @property
    def best_by(self) -> str:
        """Name of the measure that decides: `choose_by` if tested, else the first."""
        named = {measure: name for name, measure in self.measures.items()}
        return named.get(self.choose_by, next(iter(self.measures)))

    def params(self, ranker: str, candidate: int | None) -> dict[str, Any]:
        """Return the parameters of a candidate; none without tuning."""
        return {} if candidate is None else dict(self.candidates[ranker][candidate])

    def needs_validation(self, ranker: str) -> bool:
        """Return True if the trainings of this ranker choose or stop by validation queries."""
        return self.choose_trees or has_early_stopping(self.rankers[ranker])

    def __call__(self, task: RankerTraining) -> RankerResult:
        """Train on a split; evaluate on its test queries, or on validation queries in a search.

        A candidate of a search that cannot be trained is worse than all others, with a warning: its
        parameters may not suit so few rows.
        """
        split, select = self.splits[task.split], self.documents.select
        tested, measures = (
            (split.vali, {CHOSEN_BY: self.choose_by})
            if task.search
            else (split.test, self.measures)
        )
        try:
            model, fit_seconds = self.train(task, select(split.train), select(split.vali))
            part = select(tested)
            scores, predict_seconds = timed_scores(model, part)
            return RankerResult(
                task, values_by_query(scores, part, measures), fit_seconds, predict_seconds
            )
        except Exception as error:
            if task.search:
                warnings.warn(
                    f"{task} cannot be trained ({error}): it is not chosen",
                    UserWarning,
                    stacklevel=2,
                )
                return RankerResult(task, {CHOSEN_BY: [-np.inf]}, 0.0, 0.0)
            error.add_note(f"in the training of {task}")
            raise

    def train(self, task: RankerTraining, train: DataPart, vali: DataPart) -> tuple[Any, float]:
        """Return a fitted copy of the ranker, and the seconds of its fit."""
        ranker = configured(
            self.rankers[task.ranker], self.params(task.ranker, task.candidate), task.repeat
        )
        evaluation = vali if has_early_stopping(ranker) else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # each training would repeat them
            start = time.perf_counter()
            fitted = fit_ranker(ranker, train, evaluation)
            seconds = time.perf_counter() - start
            if self.choose_trees:
                keep_best_trees(
                    fitted, partial(self._value, last_step(fitted), transformed(fitted, vali))
                )
        return fitted, seconds

    def _value(self, model: Any, part: DataPart, **trees: Any) -> float:
        """Return the mean of the measure that chooses the trees; `model` is no pipeline."""
        scores, _ = timed_scores(model, part, **trees)
        return float(np.mean(values_by_query(scores, part, {CHOSEN_BY: self.choose_by})[CHOSEN_BY]))


def fit_ranker(ranker: Any, train: DataPart, vali: DataPart | None) -> Any:
    """Fit a ranker of any library on some documents; early stopping uses those of `vali`.

    A `fit` with `qid` gets ascending numbers of queries, one with `group` their sizes, and
    CatBoost's, with `group_id`, the numbers. Any other gets features and grades alone. XGBoost's
    ``rank:map`` takes no grades, and gets 1 for every grade above 0. All this is for the last step
    of a pipeline. The other steps transform the documents first, those of `vali` too.
    """
    train = fit_steps(ranker, train)
    last = last_step(ranker)
    takes = fit_arguments(last)
    given: dict[str, Any] = {}
    for name in ("qid", "group", "group_id"):
        if name in takes:
            given[name] = train.sizes if name == "group" else train.numbers
            break
    if vali is not None:
        given |= _evaluation_set(last, transformed(ranker, vali), _grades_for(last, vali))
    last.fit(train.X, _grades_for(last, train), **given)
    return ranker


def _evaluation_set(ranker: Any, vali: DataPart, y: Array) -> dict[str, Any]:
    takes = fit_arguments(ranker)
    if "group_id" in takes:
        from catboost import Pool

        given = ranker.get_params()
        kinds = {
            name: given.get(name)
            for name in ("cat_features", "text_features", "embedding_features")
        }
        return {"eval_set": Pool(vali.X, y, group_id=vali.numbers, **kinds)}
    # LightGBM deprecates `eval_set` from 4.7 on.
    given = (
        {"eval_X": (vali.X,), "eval_y": (y,)} if "eval_X" in takes else {"eval_set": [(vali.X, y)]}
    )
    if "eval_qid" in takes:
        given["eval_qid"] = [vali.numbers]
    elif "eval_group" in takes:
        given["eval_group"] = [vali.sizes]
    return given


def _grades_for(ranker: Any, part: DataPart) -> Array:
    binary = (
        ranker.get_params().get("objective") == "rank:map" and "xgboost" in type(ranker).__module__
    )
    return (part.y > 0).astype(np.int32) if binary and not hasattr(ranker, "measure") else part.y


def timed_scores(model: Any, part: DataPart, **trees: Any) -> tuple[Array, float]:
    """Return scores of the documents, and seconds for one; `trees` go to `timed_scores`."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = np.asarray(last_step(model).predict(transformed(model, part).X, **trees))
    return scores, (time.perf_counter() - start) / len(part.y)


def values_by_query(
    scores: Array, part: DataPart, measures: Mapping[str, Measure]
) -> dict[str, list[float]]:
    """Return the value of each measure for each query."""
    by_measure = evaluate(
        list(measures.values()), part.y, scores, part.numbers, per_query=True, n_jobs=1
    )
    return {name: by_measure[measure].tolist() for name, measure in measures.items()}


def try_rankers(training: Trainer) -> None:
    """Refuse rankers that cannot take these data, before the first training.

    Our rankers check grades themselves, and some of the queries may be too few for their
    parameters. Steps of pipelines before them are fitted. Other rankers are fitted on some queries,
    with two trees if they grow trees, and predict them.

    Raises
    ------
    ValueError
        With the names of all such rankers and their errors.
    """
    sample = _some_queries(training.documents)
    failed = {}
    for name in training.rankers:
        try:
            _try(training, name, sample)
        except Exception as error:
            # XGBoost's message ends with a stack of calls.
            first, *_ = str(error).splitlines() or [""]
            failed[name] = f"{type(error).__name__}: {first[:300].rstrip(' ,')}"
    if failed:
        errors = ", and ".join(
            f"{name!r}, which fails on these data ({error})" for name, error in failed.items()
        )
        raise ValueError(
            f"{_other_columns(sample.X)}rankers holds {errors}; expected rankers that take these "
            f"features and grades. leave_out={list(failed)}, of the command --leave-out "
            f"{shlex.join(failed)}, compares the others"
        )


def _other_columns(X: Any) -> str:
    """Return a sentence about columns of text and how to make categories of them, or ""."""
    others = other_columns(X)
    if not others:
        return ""
    return (
        f"{describe_columns(others, 'X')}; expected numbers or categories: "
        f"X.astype(dict.fromkeys({list(others)}, 'category')), for XGBoost's rankers with "
        f"enable_categorical=True, for CatBoost's with cat_features={list(others)}. "
    )


def _try(training: Trainer, name: str, sample: DataPart) -> None:
    params = training.params(name, 0 if name in training.candidates else None)
    ranker = configured(training.rankers[name], params, 1)
    last = last_step(ranker)
    vali = sample if has_early_stopping(ranker) else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(last, GAPRanker):
            checked_grades(training.documents.all.y, "y", last._request().limit, real=True)
            fit_steps(ranker, sample)
            if other_columns(transformed(ranker, sample).X):
                raise ValueError("expected numbers or categories")
            return
        model = fit_ranker(ranker.set_params(**few_trees(ranker)), sample, vali)
    values_by_query(timed_scores(model, sample)[0], sample, training.measures)


def _some_queries(documents: Collection) -> DataPart:
    """Return 20 queries or 1000 documents, with the highest grade and a fractional grade."""
    y, numbers, sizes = documents.all.y, documents.all.numbers, documents.all.sizes
    special = numbers[[np.argmax(y), np.argmax(y != np.floor(y))]]
    first = max(20, int(np.searchsorted(np.cumsum(sizes), 1000)) + 1)
    return documents.select(np.union1d(special, np.arange(min(first, len(sizes)))))
