"""Objective and metrics of a training, from checked parameters of a ranker."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Self

from gapboost._data.arguments import seed
from gapboost._data.grades import GradeLimit
from gapboost.measures import Measure, as_measure, as_measures
from gapboost.measures.base import check_distinct
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

# XGBoost guesses the direction of a metric from its name and minimizes every other one. The names
# are the same for both boosters.
MAXIMIZED_PREFIXES = ("auc", "pre", "map", "ndcg")

MIGRATION = "https://OWNER.github.io/gapboost/migration.html"


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
        measures = list(dict.fromkeys(reported))
        metrics = [*measures, *self.functions]
        names = [*metric_names(measures), *(getattr(f, "__name__", "") for f in self.functions)]
        wanted = objective.measure if self.stopping is None else self.stopping
        with suppress(TypeError, ValueError):
            wanted = as_measure(wanted).resolved(occurring)
        stopping = [
            metric
            for metric, name in zip(metrics, names, strict=True)
            if metric == wanted or self.stopping in (name, name.removeprefix("map-"))
        ]
        if not stopping:
            raise ValueError(
                f"stopping_metric is {self.stopping!r}, which is not reported; expected one of "
                f"{', '.join(names)}, or that eval_metric names it too"
            )
        return replace(
            self,
            objective=objective,
            measures=tuple(sorted(measures, key=lambda metric: metric is not stopping[0])),
            functions=tuple(sorted(self.functions, key=lambda metric: metric is not stopping[0])),
            stopping=stopping[0],
        )


def metric_names(measures: Sequence[Measure]) -> list[str]:
    """Return the names under which boosters report measures: short, distinct, without blanks.

    A cutoff follows an ``@``. Measures that would share a name have their labels. XGBoost decides
    by the beginning of a name whether to minimize: names that it would minimize get the prefix
    ``map-``.
    """
    short = [measure.short_name + (f"@{measure.k}" if measure.k else "") for measure in measures]
    names = [
        measure.label if short.count(name) > 1 else name
        for name, measure in zip(short, measures, strict=True)
    ]
    check_distinct(names)
    return [name if name.startswith(MAXIMIZED_PREFIXES) else f"map-{name}" for name in names]


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
