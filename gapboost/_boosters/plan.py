"""What a fit trains for and reports."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from gapboost._boosters.callbacks import MetricCallback
from gapboost.data.grades import GradeLimit
from gapboost.measures import Measure, as_measure, as_measures
from gapboost.measures.labels import grade_limit
from gapboost.objectives import Objective, as_objective
from gapboost.validation import Seed, as_integer, resolve_n_jobs, seed, short_repr, warn

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
