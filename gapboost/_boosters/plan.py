"""Objective and metrics of a training, from checked parameters of a ranker."""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Self

from gapboost._boosters.metrics import metric_names
from gapboost._data.arguments import seed
from gapboost._data.grades import GradeLimit
from gapboost.measures import Measure, as_measure, as_measures
from gapboost.measures.sums import grade_limit
from gapboost.objectives import Objective, as_objective

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

MIGRATION = "https://OWNER.github.io/gapboost/migration.html"


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
        given = eval_metric if isinstance(eval_metric, list | tuple) else [eval_metric]
        functions = [m for m in given if callable(m) and not isinstance(m, type | Measure)]
        measures = [m for m in given if m not in functions]
        return cls(
            ranking_objective(ranker, random_state),
            tuple(as_measures([] if eval_metric is None else measures, "eval_metric")),
            tuple(functions),
            ranker.stopping_metric,
            n_jobs,
        )

    @property
    def limit(self) -> GradeLimit:
        """Grades for which all measures are defined."""
        return grade_limit([self.objective.measure, *self.extra])

    def resolved(self, occurring: Any) -> Self:
        """Set every ``g=None`` from the training grades, and find the metric that stops training.

        Raises
        ------
        ValueError
            If that one is not reported.
        """
        objective = self.objective.resolved(occurring)
        extra = dict.fromkeys(metric.resolved(occurring) for metric in self.extra)
        extra.pop(objective.measure, None)
        plan = replace(self, objective=objective, extra=tuple(extra))
        return replace(plan, stopping=plan._stopping_metric(occurring))

    def _stopping_metric(self, occurring: Any) -> Measure | Function:
        if self.stopping is None:
            return self.objective.measure
        measures = [self.objective.measure, *self.extra]
        metrics: list[Measure | Function] = [*measures, *self.functions]
        names = [getattr(function, "__name__", "") for function in self.functions]
        names = [*metric_names(measures), *names]
        wanted = self.stopping
        with suppress(TypeError, ValueError):
            wanted = as_measure(wanted).resolved(occurring)
        for metric, name in zip(metrics, names, strict=True):
            if metric == wanted or self.stopping in (name, name.removeprefix("map-")):
                return metric
        raise ValueError(
            f"stopping_metric is {self.stopping!r}, which is not reported; expected one of "
            f"{', '.join(names)}, or that eval_metric names it too"
        )

    @property
    def metrics(self) -> list[Measure | Function]:
        """Metrics to report, of a resolved plan; the one that stops training is first."""
        every = (self.objective.measure, *self.extra, *self.functions)
        return [self.stopping, *(metric for metric in every if metric is not self.stopping)]


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


def refuse_ignored(parameters: Mapping[str, Any], ignored: Collection[str], library: str) -> None:
    """Raise ValueError if parameters are set that change nothing beside our objectives.

    A parameter that is None is not set.
    """
    found = sorted(name for name in ignored if parameters.get(name) is not None)
    if found:
        raise ValueError(
            f"{', '.join(found)}: {library} would ignore this here; expected none of the "
            f"parameters of {library}'s own ranking objectives and metrics, and no second name of "
            f"a parameter of its ranker. See {MIGRATION}"
        )


def refuse(arguments: Mapping[str, Any], offered: str) -> None:
    """Raise ValueError if one of the arguments is not None."""
    given = [name for name, value in arguments.items() if value is not None]
    if given:
        raise ValueError(f"{', '.join(given)}: expected None, because {offered}")
