"""A search over g and other parameters of a ranker by cross-validation over whole queries."""

import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gapboost._boosters.callbacks import check_one_label, metric_names
from gapboost._boosters.migration import EARLY_STOPPING, ROUNDS, misplaced, refuse_foreign
from gapboost._boosters.ranker import GAPRanker, ranking_objective
from gapboost.data import Array, ArrayLike, QueryIds, RankingDataset, pop_query_ids, rows_of
from gapboost.evaluation import evaluate
from gapboost.measures import Measure, Measures, as_measures
from gapboost.measures.labels import grade_limit
from gapboost.model_selection.cv_results import cv_results
from gapboost.model_selection.folds import query_folds
from gapboost.model_selection.scorers import checked_target
from gapboost.optional import progress_bar
from gapboost.preprocessing.pipeline import (
    fit_transformers,
    last_step,
    library_of,
    prefix,
    transform,
)
from gapboost.validation import Seed, as_integer, random_numbers, short_repr

Params = dict[str, Any]


class GSearchCV(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Choose g, the number of trees and other parameters by cross-validation over queries.

    The results are those of `sklearn.model_selection.GridSearchCV` with the same folds and grid,
    but one training gives every number of trees. They are the same in every run, except with
    LightGBM's ``boosting_type="dart"``, which does not always repeat itself with an objective from
    Python.

    Parameters
    ----------
    estimator : LGBMGAPRanker, XGBGAPRanker, or Pipeline that ends with one of them
        Steps before the ranker are fitted on each training fold. Those that request `qid`, such as
        `gapboost.preprocessing.QueryRelativeFeatures`, need no ``enable_metadata_routing``.
    param_grid : dict {parameter: list of values}, or list of them
        As for `GridSearchCV`, in a pipeline with names such as ``ranker__g``; for g see
        `gapboost.model_selection.simplex_grid`. Without ``n_estimators`` every number of trees up
        to the estimator's is a candidate. With `n_iter` a value may also be a distribution with a
        method ``rvs``, such as those of scipy, as for `RandomizedSearchCV`.
    n_iter : int, optional
        Number of settings to draw from `param_grid`, as `sklearn.model_selection.ParameterSampler`
        does. None tries all of them.
    scoring : str, Measure or sequence of them
        The target that all candidates are judged by, with its g where it has one; the first of
        several chooses the best, the others are reported.
    cv : int, splitter or iterable of (train, test), default=5
        Folds of whole queries: a number as in `sklearn.model_selection.GroupKFold`; a splitter gets
        qid as groups.
    refit : bool, default=True
        Train the best candidate on all data.
    n_jobs : int, optional
        Number of joblib processes, which share the folds; give the estimator ``n_jobs=1`` then.
    progress : bool, optional
        Show a progress bar (needs tqdm). None shows it in a terminal or notebook where tqdm is
        installed, and not in processes of joblib or Dask.
    random_state : int, RandomState or None, default=None
        For the draws of `n_iter`. If `cv` is a number: None balances the folds' documents, else
        queries are assigned randomly.

    Attributes
    ----------
    cv_results_ : dict of arrays
        As in `GridSearchCV`, one entry a candidate, n_estimators included: ``params``, ``param_*``,
        ``split{i}_test_score``, ``mean_``, ``std_``, ``rank_test_score`` (``..._test_ndcg@10``
        with several measures), ``mean_fit_time``, ``std_fit_time``: seconds to train its trees, as
        their share of the rounds of one training.
        ``near_best_test_score`` is True if the mean difference from the best candidate is at most
        its standard error over the folds: noise alone could have put the best one first.
    best_params_, best_score_, best_index_
    best_estimator_ : ranker, or Pipeline
        Trained on all data with `best_params_`, unless ``refit=False``.
    n_splits_ : int
    refit_time_ : float

    Examples
    --------
    >>> import gapboost as gb
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.lightgbm import LGBMGAPRanker
    >>> from gapboost.model_selection import GSearchCV, simplex_grid
    >>> train = load_digits_ranking().train
    >>> ranker = LGBMGAPRanker(n_estimators=20, n_jobs=1, verbose=-1)
    >>> search = GSearchCV(ranker, {"g": simplex_grid(2, 2)}, scoring=gb.nDCG(k=10), cv=3)
    >>> sorted(search.fit(train.X, train.y, qid=train.qid).best_params_)
    ['g', 'n_estimators']
    >>> len(search.cv_results_["params"])
    60
    """

    # With metadata routing on, the search itself can be cross-validated.
    __metadata_request__fit: ClassVar = {"qid": True, "sample_weight": True, "position": True}
    __metadata_request__predict: ClassVar = {"qid": True}
    __metadata_request__score: ClassVar = {"qid": True, "sample_weight": True}

    _estimator_type = "ranker"

    def __init__(
        self,
        estimator: object,
        param_grid: Mapping[str, Sequence[object]] | Sequence[Mapping[str, Sequence[object]]],
        *,
        scoring: Measures,
        cv: object = 5,
        refit: bool = True,
        n_jobs: int | None = None,
        progress: bool | None = None,
        random_state: Seed = None,
        n_iter: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.scoring = scoring
        self.cv = cv
        self.refit = refit
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state
        self.n_iter = n_iter

    def fit(
        self,
        X: object,
        y: ArrayLike,
        qid: QueryIds = None,
        sample_weight: ArrayLike | None = None,
        *,
        group: ArrayLike | None = None,
        position: ArrayLike | None = None,
        **others: object,
    ) -> Self:
        """Search, and train the best.

        Parameters
        ----------
        X : array-like of shape (N, n_features)
        y : array-like of shape (N,)
            Grades ``0..c``.
        qid : array-like of shape (N,)
            Query id of each row, in any order of rows. A data frame `X` may hold it as the column
            ``qid``.
        sample_weight : array-like of shape (Q,) or (N,), optional
            One weight for each query, or for each row. A Series of pandas whose index has exactly
            the query ids is aligned by it. Other weights of queries come in the order in which
            the queries first occur. Weights count in training and in scores.
            Steps of a pipeline before the ranker get none.
        group : array-like of shape (Q,), optional
            Sizes of the queries, instead of `qid`, if the rows come query by query. A Series whose
            index has the ids of the rows' index is aligned by it.
        position : array-like of shape (N,), optional
            As in `fit` of the ranker.
        **others
            An error, which says what to write instead.

        Raises
        ------
        ValueError, TypeError
            If an argument or a candidate is unusable, or a ranker stops early.
        """
        refuse_foreign(misplaced(self, others, (), {}))
        _check_estimator(self.estimator)
        targets, candidates = self._targets(), self._candidates()
        # Candidates that differ only in the number of trees are one training. Values need be
        # neither hashable nor comparable, and different ones may print alike.
        trainings: dict[object, list[int]] = {}
        for number, candidate in enumerate(candidates):
            key = tuple((k, id(value)) for k, value in candidate.items() if k != self._trees)
            trainings.setdefault(key, []).append(number)
        measures = list(targets)
        for numbers in trainings.values():
            model = _with_params(self.estimator, candidates[numbers[0]])
            _check_estimator(model)
            measures.append(ranking_objective(last_step(model), None).measure)
        check_one_label(measures, "GSearchCV")
        limit = grade_limit(measures)
        dataset = RankingDataset.of(X, y, qid, group, sample_weight, position=position, limit=limit)
        data = dataset.query_data
        codes = data.queries.codes
        ids = data.queries.ids[codes]
        if sample_weight is not None and data.row_factors is None:
            sample_weight = data.weights[codes]
        # Steps of a pipeline get the column qid too, if there is one.
        table = X if isinstance(self.estimator, Pipeline) else dataset.X
        columns = {"X": table, "y": y, "qid": ids, "weight": sample_weight, "position": position}
        of_folds = self.n_iter is None or isinstance(self.cv, int)
        random_state = self.random_state if of_folds else None
        folds = query_folds(data.queries, self.cv, random_state, table, y)
        tasks = [(fold, numbers) for fold in range(len(folds)) for numbers in trainings.values()]
        found = Parallel(self.n_jobs, return_as="generator")(
            delayed(_train_on_fold)(
                self.estimator, columns, folds[fold], [candidates[i] for i in numbers], targets
            )
            for fold, numbers in tasks
        )
        scores = np.empty((len(candidates), len(folds), len(targets)))
        times = np.empty((len(candidates), len(folds)))
        with progress_bar(len(tasks), self.progress, "GSearchCV") as advance:
            for (fold, numbers), (values, seconds) in zip(tasks, found, strict=True):
                advance(1)
                scores[numbers, fold], times[numbers, fold] = values, seconds
        names = ["score"] if isinstance(self.scoring, str | Measure) else [t.name for t in targets]
        self.cv_results_ = cv_results(candidates, names, scores, times)
        self.best_index_ = int(self.cv_results_[f"rank_test_{names[0]}"].argmin())
        self.best_params_ = candidates[self.best_index_]
        self.best_score_ = float(self.cv_results_[f"mean_test_{names[0]}"][self.best_index_])
        self.n_splits_ = len(folds)
        if self.refit:
            start = time.perf_counter()
            self.best_estimator_ = _with_params(self.estimator, self.best_params_)
            X = fit_transformers(self.best_estimator_, table, y, ids)
            last_step(self.best_estimator_).fit(
                X, y, qid=ids, sample_weight=sample_weight, position=position
            )
            self.refit_time_ = time.perf_counter() - start
        return self

    @property
    def _trees(self) -> str:
        return f"{prefix(self.estimator)}n_estimators"

    def _targets(self) -> list[Measure]:
        targets = [checked_target(m, "scoring") for m in as_measures(self.scoring, "scoring")]
        if not targets:
            raise ValueError("scoring is empty; expected a measure, or a list of them")
        return list(dict.fromkeys(targets))

    def _candidates(self) -> list[Params]:
        n_trees = last_step(self.estimator).n_estimators
        numbers = range(1, (100 if n_trees is None else n_trees) + 1)
        grids = [self.param_grid] if isinstance(self.param_grid, Mapping) else self.param_grid
        if self.n_iter is None:
            drawn = [name for grid in grids for name, v in grid.items() if hasattr(v, "rvs")]
            if drawn:
                raise ValueError(
                    f"param_grid has distributions of {drawn}, and n_iter is None; expected lists "
                    "of values, or the number of settings to draw"
                )
            candidates = list(ParameterGrid([{self._trees: numbers, **grid} for grid in grids]))
        else:
            n_iter, generator = as_integer(self.n_iter, "n_iter"), random_numbers(self.random_state)
            candidates = [
                {self._trees: n, **setting}
                for setting in ParameterSampler(grids, n_iter, random_state=generator)
                for n in ([setting[self._trees]] if self._trees in setting else numbers)
            ]
        for candidate in candidates:
            as_integer(candidate[self._trees], f"{self._trees} in param_grid")
        return candidates

    @available_if(lambda self: self.refit)  # type: ignore[untyped-decorator]
    def predict(self, X: object, qid: QueryIds = None, *, group: ArrayLike | None = None) -> Array:
        """Return the scores by `best_estimator_`, shape (N,).

        Parameters
        ----------
        X : array-like of shape (N, n_features)
        qid, group : array-like
            As in `fit`. Only steps of a pipeline that request `qid` use them.
        """
        check_is_fitted(self)
        if isinstance(self.best_estimator_, Pipeline):
            X = transform(self.best_estimator_, X, pop_query_ids(X, qid, group)[1])
        scores: Array = last_step(self.best_estimator_).predict(X)
        return scores

    @available_if(lambda self: self.refit)  # type: ignore[untyped-decorator]
    def score(
        self,
        X: object,
        y: ArrayLike,
        qid: QueryIds = None,
        sample_weight: ArrayLike | None = None,
        *,
        group: ArrayLike | None = None,
    ) -> float:
        """Mean of the (first) target measure over the queries of `X`; arguments as in `fit`."""
        _, ids = pop_query_ids(X, qid, group)
        if ids is None:
            raise ValueError("qid is missing in score; expected one query id a row, or group")
        target = self._targets()[0]
        scores = self.predict(X, qid, group=group)
        return float(evaluate(target, y, scores, ids, sample_weight=sample_weight)[target])

    @property
    def n_features_in_(self) -> int:
        """Number of features seen in `fit`."""
        return int(self.best_estimator_.n_features_in_)


def _check_estimator(estimator: object) -> None:
    """Raise unless the estimator is a local ranker, or a pipeline that ends with one."""
    ranker = last_step(estimator)
    name = "estimator" if ranker is estimator else "the last step of estimator"
    if not isinstance(ranker, GAPRanker) or hasattr(ranker, "to_local"):
        raise TypeError(
            f"{name} is {short_repr(ranker)}; expected an LGBMGAPRanker or XGBGAPRanker, not on a "
            "cluster"
        )
    given: dict[str, object] = ranker.get_params()  # type: ignore[attr-defined]
    if others := [other for other in ROUNDS if given.get(other) is not None]:
        raise ValueError(f"{name} has {others[0]}={given[others[0]]!r}; expected n_estimators")
    if stopping := [other for other in EARLY_STOPPING if given.get(other) not in (None, 0, -1)]:
        raise ValueError(
            f"{name} has {stopping[0]}={given[stopping[0]]!r}; expected no early stopping: every "
            "number of trees up to the largest n_estimators of param_grid is scored"
        )


def _with_params(estimator: object, params: Params) -> Any:
    """Return a clone of `estimator` with copies of these parameters, as scikit-learn does."""
    return clone(estimator).set_params(**clone(params, safe=False))


def _train_on_fold(
    estimator: object,
    columns: Params,
    fold: tuple[Array, Array],
    candidates: list[Params],
    targets: list[Measure],
) -> tuple[Array, Array]:
    """Train on one fold, and score its test rows with the trees of each candidate.

    Returns the values, shape (candidates, targets), and the seconds of training, shape
    (candidates,).
    """
    trees = np.array([params[f"{prefix(estimator)}n_estimators"] for params in candidates])
    model = _with_params(estimator, candidates[trees.argmax()])
    train, test = (
        {name: None if c is None else rows_of(c, rows) for name, c in columns.items()}
        for rows in fold
    )
    train["X"] = fit_transformers(model, train["X"], train["y"], train["qid"])
    test["X"] = transform(model, test["X"], test["qid"])
    start = time.perf_counter()
    curves = _curves(last_step(model), train, test, targets)
    seconds = time.perf_counter() - start
    n_trees = int(trees.max())
    if len(curves) != n_trees:
        raise ValueError(
            f"training of {candidates[trees.argmax()]} ended after {len(curves)} of {n_trees} "
            "rounds; expected no early stopping, and n_estimators as the number of trees"
        )
    # Rounds take about the same time each.
    return curves[trees - 1], seconds * trees / n_trees


def _curves(ranker: Any, train: Params, test: Params, targets: list[Measure]) -> Array:
    """Fit a ranker; return the targets on the test rows after each round, (rounds, targets)."""
    given = {"eval_set": [(test["X"], test["y"])], "eval_qid": [test["qid"]]}
    if library_of(ranker) == "lightgbm":
        given |= {"eval_metric": targets, "eval_sample_weight": [test["weight"]]}
    else:
        ranker.set_params(eval_metric=targets)
        given |= {"sample_weight_eval_set": [test["weight"]]}
    ranker.fit(sample_weight=train.pop("weight"), **train, **given)
    reported = list(dict.fromkeys([ranker.measure_, *targets]))
    names = dict(zip(reported, metric_names(reported), strict=True))
    (log,) = ranker.evals_result_.values()
    return np.column_stack([log[names[target]] for target in targets])
