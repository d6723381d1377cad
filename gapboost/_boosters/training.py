"""One training: its gradients, prepared and checked to teach something, before any booster begins."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gapboost._boosters.callbacks import gradients_at
from gapboost._boosters.callers import booster_in_training
from gapboost._boosters.eval_metric import MetricFunction
from gapboost._boosters.library import Library
from gapboost._boosters.positions import PositionPass
from gapboost._boosters.rows import RankingRows
from gapboost._kernels import Array
from gapboost._kernels.parallel.chunks import working_on
from gapboost.measures import Measure
from gapboost.objectives import Objective, Pass

# Mean absolute gradient of a document, for weights of 1: the least of any task is that of one query of millions, 1e-7;
# rounding is 1e-14.
LEAST_PUSH = 1e-11

# Where the hessians suffice for fewer leaves than this, trees of that many rows stay blunt. On XGBoost those of one list are some
# units in all, however long it is: with its default floor of 1, 40 000 rows grow five leaves.
FEW_LEAVES, MANY_ROWS = 8, 1000

# Sums of an array over the workers of a cluster.
Total = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Task:
    """What to train for, and on what: the arguments of `fit`, checked.

    Attributes
    ----------
    objective : Objective
        With g filled in.
    rows : RankingRows
    evals : list of RankingRows
        `rows` itself stands for an evaluation set that is the training set.
    others : list of Measure
        What to report beside the measure that is trained for.
    functions : sequence of MetricFunction
        Functions that `eval_metric` holds.
    """

    objective: Objective
    rows: RankingRows
    evals: list[RankingRows]
    others: list[Measure]
    functions: Sequence[MetricFunction] = ()


class Settings(NamedTuple):
    """What the parameters of a ranker say of its gradients.

    Attributes
    ----------
    n_jobs : int or None
        Threads.
    penalty : float
        On factors of positions.
    least_hessian : float
        The sum of hessians that the booster wants in a leaf.
    """

    n_jobs: int | None
    penalty: float
    least_hessian: float


@dataclass(frozen=True, eq=False)
class Training:
    """A task and its gradients.

    Attributes
    ----------
    library : Library
    task : Task
    prepared : Pass
        The objective on the training rows, in the units of the library.
    biased : PositionPass or None
        `prepared` with factors of positions, where these are given.
    total : callable or None
        On a cluster, where the rows are one worker's: sums of an array over the workers.
    doubt : str or None
        What the user is to be warned of.
    """

    library: Library
    task: Task
    prepared: Pass
    biased: PositionPass | None
    total: Total | None = None
    doubt: str | None = None

    def gradients(self, scores: Array) -> tuple[Array, Array]:
        """Gradient and hessian of the training rows, float32, in one round after the other."""
        with working_on(self.library.team):
            return gradients_at(self.prepared if self.biased is None else self.biased, scores)


def prepare(library: Library, task: Task, settings: Settings, total: Total | None = None) -> Training:
    """The training of a task.

    Raises
    ------
    ValueError
        Where the booster would answer its first gradients with a constant model.
    """
    rows = task.rows
    prepared = library.scaled(task.objective, rows.data, settings.n_jobs)
    biased = None
    if rows.positions is not None:
        units = library.units(task.objective, rows.data.mean_size)
        # Only a booster that is in training knows its learning rate for certain.
        biased = PositionPass(
            prepared,
            rows.positions,
            units,
            lambda: library.beginning(booster_in_training(library.booster)),
            settings.penalty,
            total,
        )
    doubt = _check_learnable(library, task, prepared, settings.least_hessian, total)
    return Training(library, task, prepared, biased, total, doubt)


def _check_learnable(
    library: Library, task: Task, prepared: Pass, least_hessian: float, total: Total | None
) -> str | None:
    """One gradient pass at the first scores: refuse what a booster would answer with a constant model.

    Returns the doubt about what it would answer with blunt trees.
    """
    rows = task.rows
    grad, hess = gradients_at(prepared, np.zeros(len(rows.y)) if rows.start is None else rows.start)
    weight = rows.data.weights @ rows.sizes
    sums = np.array([np.abs(grad).sum(dtype=np.float64), weight, hess.sum(dtype=np.float64), len(grad)])
    push, weight, curvature, n_rows = sums if total is None else total(sums)
    # Sums that ought to cancel leave rounding behind.
    if push / weight < LEAST_PUSH:
        saturated = "" if rows.start is None else f", and a {library.words.start} whose scores are not as far apart"
        raise ValueError(
            f"measure is {task.objective.measure!r}, and no swap of two documents of y changes it; expected a measure "
            f"that tells some of the grades in y apart{saturated}"
        )
    larger = ", or larger weights" if rows.weighted else ""
    if curvature < 2 * least_hessian:
        raise ValueError(
            f"min_child_weight is {least_hessian:g}, but the hessians of all rows sum to {curvature:.3g}; expected at "
            f"most {curvature / 2:.3g}{larger}: with less in each leaf no split is possible and the model would be constant"
        )
    if curvature >= FEW_LEAVES * least_hessian or n_rows < MANY_ROWS:
        return None
    return (
        f"min_child_weight is {least_hessian:g}, but the hessians of all rows sum to {curvature:.3g}, so that a leaf must "
        f"hold {least_hessian / curvature:.0%} of them; expected at most {curvature / FEW_LEAVES:.3g}{larger}, unless trees of "
        f"fewer than {FEW_LEAVES} leaves are meant for these {n_rows:.0f} rows"
    )
