"""One training: its gradients, prepared and checked before any booster begins."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gapboost._boosters.callbacks import Total, gradients_at
from gapboost._boosters.library import Library
from gapboost._boosters.positions import PositionPass
from gapboost._boosters.result import TrainingResult
from gapboost._boosters.rows import RankingRows
from gapboost._boosters.task import Task
from gapboost._data.features import feature_names
from gapboost._kernels import Array
from gapboost._kernels.parallel.chunks import working_on
from gapboost.objectives import Pass

# Takes the held-out scores after each round.
Watch = Callable[[Array], None]

# Mean absolute gradient of a document, for weights of 1: the least of any task is that of one query
# of millions, 1e-7; rounding is 1e-14.
LEAST_PUSH = 1e-11

# Where the hessians suffice for fewer leaves than this, trees of that many rows stay blunt. On
# XGBoost those of one list are some units in all, however long it is: with its default floor of 1,
# 40 000 rows grow five leaves.
FEW_LEAVES, MANY_ROWS = 8, 1000


class BoosterInTraining:
    """Holds the booster from its first round on, when its learning rate is certain."""

    booster: Any = None


@dataclass(frozen=True, eq=False)
class Training:
    """A task on the rows of one worker, or on all rows, and its gradients.

    Attributes
    ----------
    library : Library
    task : Task
    rows : RankingRows
        The training set.
    evaluation_sets : list of RankingRows
        `rows` itself stands for an evaluation set that is the training set.
    prepared : Pass
        The objective on the training rows, in the units of the library.
    biased : PositionPass or None
        `prepared` with factors of positions, if the rows have positions.
    current : BoosterInTraining
        A callback of the ranker sets its booster, if the rows have positions.
    total : callable or None
        On a cluster: returns the sums of an array over the workers.
    warning : str or None
    """

    library: Library
    task: Task
    rows: RankingRows
    evaluation_sets: Sequence[RankingRows]
    prepared: Pass
    biased: PositionPass | None
    current: BoosterInTraining
    total: Total | None = None
    warning: str | None = None

    def gradients(self, scores: Array) -> tuple[Array, Array]:
        """Return gradient and hessian of the training rows, float32, for the next round."""
        with working_on(self.library.team):
            return gradients_at(self.prepared if self.biased is None else self.biased, scores)

    def result(self, booster: Any) -> TrainingResult:
        """Return what was learned once `booster` is trained."""
        bias, library = self.biased, self.library
        return TrainingResult(
            objective=self.task.objective,
            n_queries=self.task.summary.n_queries,
            feature_names=feature_names(self.rows.X),
            position_bias=None if bias is None else bias.by_position(library.best_round(booster)),
            last_position_bias=None if bias is None else bias.by_position(library.rounds(booster)),
        )


def prepare(
    library: Library,
    task: Task,
    rows: RankingRows,
    evaluation_sets: Sequence[RankingRows] = (),
    total: Total | None = None,
) -> Training:
    """Prepare the gradients of a task, and check that a model can learn from them.

    Raises
    ------
    ValueError
        If the booster would answer its first gradients with a constant model.
    """
    request = task.request
    prepared = library.scaled(task.objective, rows.data, request.n_jobs)
    biased, current = None, BoosterInTraining()
    if rows.positions is not None:
        scale = library.scale(task.objective, rows.data.mean_size)
        biased = PositionPass(
            prepared,
            rows.positions,
            scale,
            lambda: library.beginning(current.booster),
            request.penalty,
            total,
        )
    warning = _check_learnable(library, task, rows, prepared, total)
    return Training(library, task, rows, evaluation_sets, prepared, biased, current, total, warning)


def _check_learnable(
    library: Library, task: Task, rows: RankingRows, prepared: Pass, total: Total | None
) -> str | None:
    """Compute the first gradients; raise an error if the model would be constant.

    Returns a warning if it would answer with trees of few leaves.
    """
    least_hessian = task.request.least_hessian
    grad, hess = gradients_at(prepared, np.zeros(len(rows.y)) if rows.start is None else rows.start)
    weight = rows.data.weights @ rows.sizes
    sums = np.array(
        [np.abs(grad).sum(dtype=np.float64), weight, hess.sum(dtype=np.float64), len(grad)]
    )
    push, weight, curvature, n_rows = sums if total is None else total(sums)
    # Sums that ought to cancel leave rounding behind.
    if push / weight < LEAST_PUSH:
        saturated = (
            ""
            if rows.start is None
            else f", and a {library.terms.start} whose scores are not as far apart"
        )
        raise ValueError(
            f"measure is {task.objective.measure!r}, and no swap of two documents of y changes it; "
            f"expected a measure that distinguishes some of the grades in y{saturated}"
        )
    larger = ", or larger weights" if rows.weighted else ""
    if curvature < 2 * least_hessian:
        raise ValueError(
            f"min_child_weight is {least_hessian:g}, but the hessians of all rows sum to "
            f"{curvature:.3g}; expected at most {curvature / 2:.3g}{larger}: with less in each "
            "leaf no split is possible and the model would be constant"
        )
    if curvature >= FEW_LEAVES * least_hessian or n_rows < MANY_ROWS:
        return None
    return (
        f"min_child_weight is {least_hessian:g}, but the hessians of all rows sum to "
        f"{curvature:.3g}, so that a leaf must hold {least_hessian / curvature:.0%} of them; "
        f"expected at most {curvature / FEW_LEAVES:.3g}{larger}, unless trees of fewer than "
        f"{FEW_LEAVES} leaves are meant for these {n_rows:.0f} rows"
    )
