"""Request for a training, from parameters and arguments, before data are read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

from gapboost._boosters.eval_metric import MetricFunction
from gapboost._data.grades import GradeLimit
from gapboost.measures import AP, GAP, Measure, as_measure, nDCG
from gapboost.measures.gains import CumulatedGain
from gapboost.measures.measure import grade_limit
from gapboost.objectives import LambdaRank, Objective, RankNet

DEFAULT = LambdaRank(GAP())


@dataclass(frozen=True)
class TrainingRequest:
    """Training that parameters and arguments request.

    `RankerParameters._request` draws its random numbers, once for all workers.

    Attributes
    ----------
    objective : Objective
        Its measure's g may be left to the data.
    chosen : bool
        True if the user chose its measure. Otherwise the boosters' parameters are about nDCG.
    metrics : tuple of Measure
        Extra metrics to report; their g may be left to the data.
    functions : tuple of MetricFunction
        Extra metrics that are functions.
    stopping_metric : str, Measure or None
    n_jobs : int or None
        Threads.
    penalty : float
        Penalty on factors of positions.
    parameters : dict {name: value}
        Parameters for the booster.
    least_hessian : float
        The sum of hessians that the booster requires in a leaf.
    """

    objective: Objective = DEFAULT
    chosen: bool = False
    metrics: tuple[Measure, ...] = ()
    functions: tuple[MetricFunction, ...] = ()
    stopping_metric: Any = None
    n_jobs: int | None = None
    penalty: float = 0.0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    least_hessian: float = 0.0

    def with_threads(self, n: int) -> Self:
        """Return the request of a worker that trains with `n` threads."""
        return replace(self, n_jobs=n, parameters={**self.parameters, "n_jobs": n})

    @property
    def limit(self) -> GradeLimit:
        """Grades for which the trained measure is defined."""
        return grade_limit([self.objective.measure])

    def measured_by(self, name: str) -> Self:
        """Train for the measure of this name; the chosen one may have parameters of its own.

        Raises
        ------
        ValueError
            If another one was chosen.
        """
        measure = as_measure(name)
        if not self.chosen:
            return replace(self, objective=replace(self.objective, measure=measure), chosen=True)
        if type(self.objective.measure) is not type(measure):
            raise ValueError(f"{self.objective.measure!r} was chosen")
        return self

    def with_measure(self, **fields: Any) -> Self:
        """Set fields of the trained measure.

        Raises
        ------
        TypeError, ValueError
            If it has no such field, or the user chose another value, or there is no such value.
        """
        measure = self.objective.measure if self.chosen else nDCG()
        others = [
            name
            for name, value in fields.items()
            if getattr(measure, name, None) not in (None, value)
        ]
        if others:
            raise ValueError(f"{others[0]} was chosen")
        return replace(
            self, objective=replace(self.objective, measure=replace(measure, **fields)), chosen=True
        )

    def with_gains(self, gains: Any) -> Self:
        """Set the gains of the trained measure, and of reported nDCG and DCG without their own.

        Raises
        ------
        TypeError, ValueError
            If the trained measure has no gains or other ones, or if `gains` are unusable.
        """
        changed = self.with_measure(gains=gains)
        metrics = (
            replace(m, gains=gains) if isinstance(m, CumulatedGain) and m.gains is None else m
            for m in self.metrics
        )
        return replace(changed, metrics=tuple(dict.fromkeys(metrics)))

    def with_lambdarank(self, **fields: Any) -> Self:
        """Set fields of LambdaRank; raises as `with_measure` does, and for other objectives."""
        if not isinstance(self.objective, LambdaRank):
            raise TypeError(f"{self.objective!r} is no LambdaRank")
        for name, value in fields.items():
            if getattr(self.objective, name) not in (getattr(LambdaRank, name), value):
                raise ValueError(f"{name} was chosen")
        return replace(self, objective=replace(self.objective, **fields))

    def with_ranknet(self) -> Self:
        """Train by RankNet in place of LambdaRank; raises TypeError for other objectives."""
        if not isinstance(self.objective, LambdaRank):
            raise TypeError(f"{self.objective!r} is no LambdaRank")
        options = {field.name: getattr(self.objective, field.name) for field in fields(LambdaRank)}
        return replace(self, objective=RankNet(**options))

    def cut_off(self, ranks: Sequence[int]) -> Self:
        """Report nDCG and AP at these ranks, as LightGBM does; nDCG if nothing else is reported.

        LightGBM divides AP at a cutoff by min(k, R), where R is the number of relevant documents.

        Raises
        ------
        ValueError
            If there is no rank, or neither of the two is reported without a cutoff.
        """
        cut: list[Measure] = []
        for measure in self.metrics or (nDCG(),):
            if measure.k is None and isinstance(measure, nDCG):
                cut += [replace(measure, k=k) for k in ranks]
            elif measure.k is None and isinstance(measure, AP):
                cut += [replace(measure, k=k, ideal_at_k=True) for k in ranks]
            else:
                cut.append(measure)
        if tuple(cut) == self.metrics or not ranks:
            raise ValueError(f"{self.metrics} are not cut off")
        return replace(self, metrics=tuple(cut))
