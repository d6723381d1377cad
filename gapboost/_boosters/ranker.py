"""Rankers of both boosters: plans of their trainings, fitted attributes and score."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from sklearn.utils.validation import check_is_fitted

from gapboost._boosters.callbacks import MetricCallback
from gapboost.data.features import check_names, feature_names, features, pop_query_ids, without_qid
from gapboost.data.grades import GradeLimit
from gapboost.data.query_data import DataSummary
from gapboost.evaluation import evaluate
from gapboost.measures import Measure, as_measure, as_measures
from gapboost.measures.labels import grade_limit
from gapboost.objectives import Objective, as_objective
from gapboost.validation import seed

Function = Callable[..., Any]

# The parameters that our rankers add to those of the boosters.
OWN_NAMES = ("measure", "g", "objective", "stopping_metric")

# Parameters that ask for early stopping: XGBoost's, LightGBM's and its aliases.
EARLY_STOPPING = (
    "early_stopping_rounds",
    "early_stopping_round",
    "early_stopping",
    "n_iter_no_change",
)


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
    def of(cls, ranker: Any, eval_metric: Any, random_state: Any, n_jobs: int | None) -> Self:
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
        several = eval_metric if isinstance(eval_metric, list | tuple) else [eval_metric]
        given: list[Any] = []
        for one in several:
            given += one.measures if isinstance(one, MetricCallback) else [one]
        functions = [m for m in given if callable(m) and not isinstance(m, type | Measure)]
        measures = [m for m in given if m is not None and m not in functions]
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
        """
        objective = self.objective.resolved(occurring)
        reported = [objective.measure, *(metric.resolved(occurring) for metric in self.measures)]
        metrics: list[Any] = [*dict.fromkeys(reported), *self.functions]
        stopping = objective.measure if self.stopping is None else self.stopping
        if isinstance(stopping, str):
            stopping = as_measure(stopping, None, "stopping_metric")
        if isinstance(stopping, Measure):
            stopping = stopping.resolved(occurring)
        if stopping not in metrics:
            raise ValueError(
                f"stopping_metric is {self.stopping!r}, which is not reported; expected one of "
                f"{metrics}, or that eval_metric names it too"
            )
        metrics.sort(key=lambda metric: metric != stopping)
        return replace(
            self,
            objective=objective,
            measures=tuple(metric for metric in metrics if isinstance(metric, Measure)),
            functions=tuple(metric for metric in metrics if not isinstance(metric, Measure)),
            stopping=stopping,
        )


def ranking_objective(ranker: Any, random_state: Any) -> Objective:
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
    return as_objective(objective, as_measure(ranker.measure, ranker.g), seed(random_state) or 0)


def refuse(arguments: Mapping[str, Any], reason: str) -> None:
    """Raise ValueError if one of the arguments is not None."""
    given = sorted(name for name, value in arguments.items() if value is not None)
    if given:
        raise ValueError(f"{', '.join(given)}: expected None, because {reason}")


class GAPRanker:
    """Fitted attributes and `score` of `LGBMGAPRanker` and `XGBGAPRanker`."""

    _estimator_type = "ranker"
    # With scikit-learn's metadata routing on, these reach fit and score without set_fit_request.
    __metadata_request__fit: ClassVar = dict.fromkeys(("qid", "sample_weight", "position"), True)
    __metadata_request__score: ClassVar = dict.fromkeys(("qid", "sample_weight"), True)

    # Set by `fit` and `load_model`.
    _trained_objective: Objective
    position_bias_: dict[Any, float] | None
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
        self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None, *, group: Any = None
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

    def _features(self, X: Any, validate: bool = True) -> Any:
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
        position_bias: dict[Any, float] | None = None,
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
