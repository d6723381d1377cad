"""A training request whose open choices are made from the training grades."""

from dataclasses import dataclass

from gapboost._boosters.request import TrainingRequest
from gapboost._boosters.stopping import stopping_name
from gapboost._data.grades import GradeLimit
from gapboost._data.labels import check_label_columns
from gapboost._data.summary import DataSummary
from gapboost.measures import Measure
from gapboost.measures.measure import grade_limit
from gapboost.objectives import Objective


@dataclass(frozen=True, eq=False)
class Task:
    """Training request with every choice resolved, the same for all workers of a cluster.

    Attributes
    ----------
    request : TrainingRequest
    summary : DataSummary
        Of the training set.
    objective : Objective
        With g resolved.
    extra_metrics : tuple of Measure
        Measures to report after the trained one, with g resolved.
    stopping : str
        Name of the metric that stops training early.
    """

    request: TrainingRequest
    summary: DataSummary
    objective: Objective
    extra_metrics: tuple[Measure, ...]
    stopping: str

    @property
    def measures(self) -> list[Measure]:
        """The trained measure, then the extra ones."""
        return [self.objective.measure, *self.extra_metrics]

    @property
    def limit(self) -> GradeLimit:
        """Grades for which all measures are defined."""
        return grade_limit(self.measures)


def make_task(request: TrainingRequest, summary: DataSummary, name: str) -> Task:
    """Resolve what a request leaves to the training grades.

    Parameters
    ----------
    request : TrainingRequest
    summary : DataSummary
        Of the training set, with checked grades.
    name : str
        Name of the argument that holds its grades.

    Raises
    ------
    ValueError
        If there is no order to learn, if `stopping_metric` is not reported, or if a measure reads
        no label of the data.
    """
    columns = tuple(column for column, _ in summary.of_labels)
    check_label_columns(columns, grade_limit([request.objective.measure, *request.metrics]), name)
    summary.check_contrasts(name)
    objective = request.objective.resolved(summary.occurring)
    extra = dict.fromkeys(metric.resolved(summary.occurring) for metric in request.metrics)
    extra.pop(objective.measure, None)
    stopping = stopping_name(
        request.stopping_metric, [objective.measure, *extra], request.functions
    )
    return Task(request, summary, objective, tuple(extra), stopping)
