"""Rankers of both boosters: their own parameters, the plan of a fit, fitted attributes, score."""

import os
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gapboost._boosters.callbacks import MetricCallback
from gapboost.data import ArrayLike, QueryIds
from gapboost.data.features import check_names, feature_names, features, pop_query_ids, without_qid
from gapboost.data.grades import GradeLimit
from gapboost.data.query_data import DataSummary
from gapboost.evaluation import evaluate
from gapboost.measures import Measure, as_measure, as_measures
from gapboost.measures.labels import grade_limit
from gapboost.objectives import Objective, as_objective
from gapboost.validation import Seed, as_integer, resolve_n_jobs, seed, short_repr, warn

# The parameters that our rankers add to those of the boosters.
OWN_NAMES = ("measure", "g", "objective", "stopping_metric")

Function = Callable[..., Any]
EvalMetric = str | Measure | Function | Sequence[str | Measure | Function] | None


@dataclass(frozen=True)
class Plan:
    """Objective and metrics of a training.

    Attributes
    ----------
    objective : Objective
    measures : tuple of Measure
        Measures to report, from `resolved` on with the trained one.
    functions : tuple of callable
        Metrics that the booster calls as they are.
    stopping : str, Measure, callable or None
        The metric that stops training; None is the trained measure.
    n_jobs : int or None
        Threads.
    """

    objective: Objective
    measures: tuple[Measure, ...]
    functions: tuple[Function, ...]
    stopping: Any
    n_jobs: int | None

    @classmethod
    def of(
        cls, ranker: Any, eval_metric: EvalMetric, random_state: Seed, n_jobs: int | None
    ) -> Self:
        """Return the plan of a ranker's parameters.

        Parameters
        ----------
        ranker : LGBMGAPRanker or XGBGAPRanker
        eval_metric : str, Measure, callable, list of them or None
        random_state, n_jobs
            Parameters of the ranker.

        Raises
        ------
        ValueError, TypeError
            If one of them is unusable.
        """
        if ranker.n_estimators is not None:
            as_integer(ranker.n_estimators, "n_estimators", 0)
        resolve_n_jobs(n_jobs)
        several = eval_metric if isinstance(eval_metric, list | tuple) else [eval_metric]
        functions: list[Function] = []
        measures: list[Any] = []
        for metric in several:
            if isinstance(metric, MetricCallback):
                measures += metric.measures
            elif callable(metric) and not isinstance(metric, type | Measure):
                functions.append(metric)
            elif metric is not None:
                measures.append(metric)
        return cls(
            ranking_objective(ranker, random_state),
            tuple(as_measures(measures, "eval_metric")),
            tuple(functions),
            ranker.stopping_metric,
            n_jobs,
        )

    @property
    def limit(self) -> GradeLimit:
        """Grades for which all measures are defined."""
        return grade_limit([self.objective.measure, *self.measures])

    def resolved(self, occurring: Any) -> Self:
        """Set every ``g=None`` from the training grades, and find the metric that stops training.

        It becomes the first of the measures or functions.

        Raises
        ------
        ValueError
            If it is not reported.

        Warns
        -----
        UserWarning
            If the measure and the grades look as if they began at different grades.
        """
        objective = self.objective.resolved(occurring)
        warn_of_grades(objective.measure, occurring)
        reported = [objective.measure, *[m.resolved(occurring) for m in self.measures]]
        measures, functions = list(dict.fromkeys(reported)), list(self.functions)
        stopping = self.stopping
        if isinstance(stopping, str):
            with suppress(ValueError):
                stopping = as_measure(stopping)
        if stopping is None:
            stopping = objective.measure
        elif isinstance(stopping, Measure):
            stopping = stopping.resolved(occurring)
        metrics: list[Any] = measures if stopping in measures else functions
        if stopping not in metrics:
            raise ValueError(
                f"stopping_metric is {short_repr(self.stopping)}, which is not reported; expected "
                f"one of {[*measures, *functions]}, or that eval_metric names it too"
            )
        metrics.remove(stopping)
        metrics.insert(0, stopping)
        return replace(
            self,
            objective=objective,
            measures=tuple(measures),
            functions=tuple(functions),
            stopping=stopping,
        )


def warn_of_grades(measure: Any, occurring: Any) -> None:
    """Warn of whole grades without 0, and of shares in `g` for grades that do not occur.

    `occurring` is as in `Plan.resolved`; of several labels it is a mapping, which is not looked at.
    """
    if isinstance(occurring, dict) or len(occurring) < 2:
        return
    if (occurring != np.floor(occurring)).any():
        return
    lowest, highest = int(occurring[0]), int(occurring[-1])
    if lowest > 0:
        warn(
            f"y has no grade 0, so that all documents are relevant; expected y - {lowest} if grade "
            f"{lowest} means not relevant",
        )
    g, levels = getattr(measure, "g", None), getattr(measure, "levels", None)
    if levels is None and (beyond := sum((g or ())[highest:])):
        warn(
            f"g is {g}, which gives {beyond:.3g} to grades that y lacks: its highest grade is "
            f"{highest}; expected an entry for each grade from 1 on",
        )


def ranking_objective(ranker: Any, random_state: Seed) -> Objective:
    """Return the objective that `measure`, `g` and `objective` of a ranker ask for."""
    objective = ranker.objective
    if isinstance(objective, Objective):
        if ranker.measure != "gap" or ranker.g is not None:
            raise ValueError(
                f"objective is {objective!r}, which brings its measure, but measure is "
                f"{ranker.measure!r} and g is {ranker.g!r}; expected an objective by name, or "
                "measure and g left at their defaults"
            )
        return objective
    name = "lambdarank" if objective is None else objective
    return as_objective(name, as_measure(ranker.measure, ranker.g), seed(random_state) or 0)


class GAPRanker:
    """Fitted attributes and `score` of `LGBMGAPRanker` and `XGBGAPRanker`."""

    _estimator_type = "ranker"
    # With scikit-learn's metadata routing on, these reach fit and score without set_fit_request.
    __metadata_request__fit: ClassVar = dict.fromkeys(("qid", "sample_weight", "position"), True)
    __metadata_request__score: ClassVar = dict.fromkeys(("qid", "sample_weight"), True)

    # Set by `fit` and `load_model`.
    _trained_objective: Objective
    position_bias_: dict[Hashable, float] | None
    _trained_names: tuple[str, ...] = ()

    @property
    def objective_(self) -> Objective:
        """Objective of the fitted model, with `g` resolved."""
        check_is_fitted(self)
        return self._trained_objective

    @property
    def measure_(self) -> Measure:
        """Measure that the model was trained for, with `g` resolved."""
        return self.objective_.measure

    @property
    def g_(self) -> tuple[float, ...] | None:
        """Threshold probabilities of `measure_`; None for a measure that has none."""
        return getattr(self.measure_, "g", None)

    def score(
        self,
        X: object,
        y: ArrayLike,
        qid: QueryIds = None,
        sample_weight: ArrayLike | None = None,
        *,
        group: ArrayLike | None = None,
    ) -> float:
        """Mean of `measure_` over the queries of `X`, as `gapboost.evaluate` computes it.

        Parameters
        ----------
        X : array-like of shape (N, n_features)
        y : array-like of shape (N,), or (N, L)
            Grades, as in `fit`.
        qid : array-like of shape (N,)
            Query id of each row; or the column ``qid`` of a data frame `X`.
        sample_weight : array-like of shape (Q,) or (N,), optional
            Weights of the queries, or of the rows. A Series of pandas whose index has exactly the
            query ids is aligned by it. Other weights of queries come in the order in which the
            queries first occur.
        group : array-like of shape (Q,), optional
            Sizes of the queries, instead of `qid`, if the rows come query by query. A Series whose
            index has the ids of the rows' index is aligned by it.

        Raises
        ------
        ValueError
            If `qid` is missing: all rows as one query would be a mistake.
        NotFittedError
            Before `fit`.
        """
        measure = self.measure_
        _, qid = pop_query_ids(X, qid, group)
        if qid is None:
            raise ValueError(
                "qid is missing in score; expected one query id a row, or group with the sizes of "
                "the queries. Pipelines and scikit-learn's model selection pass it on after "
                "sklearn.set_config(enable_metadata_routing=True)"
            )
        ranker: Any = self
        scores, n_jobs = ranker.predict(X), ranker.n_jobs
        found = evaluate(measure, y, scores, qid, sample_weight=sample_weight, n_jobs=n_jobs)
        return float(found[measure])

    def _features(self, X: object, validate: bool = True) -> Any:
        """Return the features to predict; if `validate`, they have the columns of training."""
        X = features(without_qid(X)[0])
        if validate:
            check_names(feature_names(X), self._trained_names, "X")
        return X

    def _set_fitted(
        self,
        objective: Objective,
        training: DataSummary,
        names: Sequence[str],
        position_bias: dict[Hashable, float] | None = None,
    ) -> None:
        """Set the attributes of a fitted ranker that are not the booster's.

        Parameters
        ----------
        objective : Objective
        training : DataSummary
            Of the training set.
        names : sequence of str
            Of the columns; empty if they have none.
        position_bias : dict, optional
        """
        self._trained_objective = objective
        self.n_queries_in_ = training.n_queries
        self.step_ = objective.step_for(training.n_rows)
        self.position_bias_ = position_bias
        self._trained_names = tuple(names)


def check_model(model: object, name: str, kinds: tuple[type, ...], booster: str) -> None:
    """Raise TypeError for a model to continue that is none of these kinds and no file."""
    if not isinstance(model, (*kinds, str, os.PathLike)):
        raise TypeError(
            f"{name} is a {type(model).__name__}; expected a ranker or Booster of {booster}, or "
            "the name of its file"
        )


def check_continued(X: Any, n_columns: int, names: Sequence[str] = ()) -> None:
    """Raise ValueError if `X` lacks the columns of a model whose training continues."""
    if X.shape[1] != n_columns:
        raise ValueError(
            f"X has {X.shape[1]} columns, but the model to continue has {n_columns}; expected the "
            "same number"
        )
    check_names(feature_names(X), names, "X")
