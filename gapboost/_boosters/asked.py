"""What a training is asked for by its parameters."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from gapboost.measures import AP, GAP, Measure, as_measure, nDCG
from gapboost.measures.ndcg import CumulatedGain
from gapboost.objectives import LambdaRank, Objective

DEFAULT = LambdaRank(GAP())


@dataclass(frozen=True)
class Asked:
    """What a training is asked for.

    Attributes
    ----------
    objective : Objective
    chosen : bool
        Whether somebody chose its measure. The boosters' parameters are about nDCG where nobody did.
    metrics : tuple of Measure
        Reported beside its measure.
    n_jobs : int or None
    """

    objective: Objective = DEFAULT
    chosen: bool = False
    metrics: tuple[Measure, ...] = ()
    n_jobs: int | None = None

    def measured_by(self, name: str) -> Self:
        """The same for the measure of this name; the chosen one may have parameters of its own.

        Raises
        ------
        ValueError
            Where another one was chosen.
        """
        measure = as_measure(name)
        if not self.chosen:
            return replace(self, objective=replace(self.objective, measure=measure), chosen=True)
        if type(self.objective.measure) is not type(measure):
            raise ValueError(f"{self.objective.measure!r} was chosen")
        return self

    def with_measure(self, **fields: Any) -> Self:
        """The same with other fields of the measure.

        Raises
        ------
        TypeError, ValueError
            Where it has no such field, or one that was chosen otherwise, or there is no such value.
        """
        measure = self.objective.measure if self.chosen else nDCG()
        others = [name for name, value in fields.items() if getattr(measure, name, None) not in (None, value)]
        if others:
            raise ValueError(f"{others[0]} was chosen")
        return replace(self, objective=replace(self.objective, measure=replace(measure, **fields)), chosen=True)

    def with_gains(self, gains: Any) -> Self:
        """Set the gains of the trained measure, and of every reported nDCG and DCG that has none of its own.

        Raises
        ------
        TypeError, ValueError
            If the trained measure has no gains or other ones, or if `gains` are unusable.
        """
        changed = self.with_measure(gains=gains)
        metrics = (
            replace(m, gains=gains) if isinstance(m, CumulatedGain) and m.gains is None else m for m in self.metrics
        )
        return replace(changed, metrics=tuple(dict.fromkeys(metrics)))

    def with_lambdarank(self, **fields: Any) -> Self:
        """The same with other fields of LambdaRank; raises as `with_measure`, and for other objectives."""
        if not isinstance(self.objective, LambdaRank):
            raise TypeError(f"{self.objective!r} is no LambdaRank")
        for name, value in fields.items():
            if getattr(self.objective, name) not in (getattr(LambdaRank, name), value):
                raise ValueError(f"{name} was chosen")
        return replace(self, objective=replace(self.objective, **fields))

    def cut_off(self, ranks: Sequence[int]) -> Self:
        """Report nDCG and AP at each of these ranks, as LightGBM does; nDCG if nothing else is reported.

        LightGBM divides AP at a cutoff by min(k, R), where R is the number of relevant documents.

        Raises
        ------
        ValueError
            Where there is no rank, or neither of the two is reported without a cut-off.
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
