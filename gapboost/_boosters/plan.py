"""Objective and metrics of a training, from the parameters of a ranker."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Self

from gapboost._boosters.metrics import Metrics, metric_names
from gapboost._data.arguments import seed
from gapboost._data.grades import GradeLimit, check_label_columns
from gapboost._data.judged import Judged
from gapboost.measures import Measure, as_measure, as_measures
from gapboost.measures.sums import grade_limit
from gapboost.objectives import Objective, as_objective

Function = Callable[..., Any]


@dataclass(frozen=True)
class Plan:
    """Objective and metrics of a training.

    Attributes
    ----------
    objective : Objective
        `resolved` fills in its g.
    extra : tuple of Measure
        Metrics to report besides the trained measure.
    functions : tuple of callable
        Metrics that the booster calls as they are.
    stopping : str, Measure, callable or None
        The metric that stops training; None is the trained measure.
    n_jobs : int or None
        Threads.
    """

    objective: Objective
    extra: tuple[Measure, ...] = ()
    functions: tuple[Function, ...] = ()
    stopping: Any = None
    n_jobs: int | None = None

    @classmethod
    def of(cls, ranker: Any, random_state: Any, n_jobs: Any, eval_metric: Any = None) -> Self:
        """Return the plan of a ranker's parameters.

        Raises
        ------
        ValueError, TypeError
            If one of them is unusable.
        """
        extra, functions = split_metrics(eval_metric)
        objective = ranking_objective(ranker, random_state)
        return cls(objective, extra, functions, ranker.stopping_metric, n_jobs)

    @property
    def objective_limit(self) -> GradeLimit:
        """Grades for which the trained measure is defined."""
        return grade_limit([self.objective.measure])

    @property
    def limit(self) -> GradeLimit:
        """Grades for which all measures are defined."""
        return grade_limit([self.objective.measure, *self.extra])

    def resolved(self, data: Judged, name: str = "y", *, part: bool = False) -> Self:
        """Set every ``g=None`` from the training grades.

        Raises
        ------
        ValueError
            If a measure reads no label of the data, or if there is nothing to learn. Only some
            rows of all may hold nothing to learn: `part` skips this check.
        """
        check_label_columns(tuple(data.labels), self.limit, name)
        if not part:
            data.summary.check_contrasts(name)
        objective = self.objective.resolved(data.occurring)
        extra = dict.fromkeys(metric.resolved(data.occurring) for metric in self.extra)
        extra.pop(objective.measure, None)
        return replace(self, objective=objective, extra=tuple(extra))

    @property
    def metrics(self) -> list[Measure | Function]:
        """Metrics to report; the one that stops training is first.

        Raises
        ------
        ValueError
            If `stopping` is not reported.
        """
        measures = [self.objective.measure, *self.extra]
        first = _stopping_metric(self.stopping, measures, self.functions)
        others: list[Measure | Function] = [*measures, *self.functions]
        return [first, *(metric for metric in others if metric is not first)]


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
    if not isinstance(objective, str):
        raise TypeError(
            f"objective is {objective!r}; expected a name such as 'lambdarank' or an objective"
        )
    return as_objective(objective, as_measure(ranker.measure, ranker.g), seed(random_state) or 0)


def split_metrics(eval_metric: Any) -> tuple[tuple[Measure, ...], tuple[Function, ...]]:
    """Split `eval_metric` of a ranker into measures and functions."""
    given = eval_metric if isinstance(eval_metric, list | tuple) else [eval_metric]
    measures: list[Any] = []
    functions = []
    for metric in given:
        if isinstance(metric, Metrics):
            measures += metric.measures
        elif callable(metric) and not isinstance(metric, type | Measure):
            functions.append(metric)
        elif metric is not None or given is eval_metric:
            measures.append(metric)
    return tuple(dict.fromkeys(as_measures(measures, "eval_metric"))), tuple(functions)


def _stopping_metric(
    stopping: Any, measures: Sequence[Measure], functions: Sequence[Function]
) -> Measure | Function:
    """Return the measure or function that `stopping_metric` of a ranker names."""
    if stopping is None:
        return measures[0]
    for function in functions:
        if stopping is function or stopping == getattr(function, "__name__", None):
            return function
    names = metric_names(measures)
    for name in (stopping, f"map-{stopping}"):
        if name in names:
            return measures[names.index(name)]
    with suppress(TypeError, ValueError):
        found = as_measure(stopping)
        for measure in measures:
            # A graded measure without g stands for the reported one, whichever its g.
            is_open = hasattr(measure, "g") and getattr(found, "g", ()) is None
            if found == (replace(measure, **{"g": None}) if is_open else measure):
                return measure
    raise ValueError(
        f"stopping_metric is {stopping!r}, which is not reported; expected one of "
        f"{', '.join(names)}, or that eval_metric names it too"
    )
