"""RankNet over all pairs: XGBoost's ``rank:pairwise`` without its truncation.

For documents i, j of one query with grades a > b, a pair adds log(1 + e^(-sigma (s_i - s_j))) to
the loss [burges2005]. The measure has no part in it.
"""

from dataclasses import dataclass

import numpy as np

from gapboost._data.judged import Judged
from gapboost._kernels import Array
from gapboost._kernels.lambdarank.equal import sum_equal_pairs
from gapboost._kernels.lambdarank.gradients import Setup
from gapboost._kernels.parallel.chunks import resolve_n_jobs
from gapboost.objectives.lambdarank import LambdaRank
from gapboost.objectives.objective import Pass
from gapboost.objectives.pairs import PairsPass, Ranks
from gapboost.objectives.tie_order import tie_order


@dataclass(frozen=True, repr=False)
class RankNet(LambdaRank):
    """Pairwise logistic loss in which all pairs of different grades count the same [burges2005].

    The gradients do not depend on the measure, which is what evaluation sets report and what stops
    a training early. A query of n documents costs O(n^2). `LambdaRank` weights each pair by its
    change of the measure, and trains for the measure.

    Parameters
    ----------
    measure : Measure
        To report; of one label.
    sigma, truncation, normalize, random_state
        As in `LambdaRank`.

    Examples
    --------
    >>> import gapboost as gb
    >>> grad, hess = gb.RankNet(gb.AP(), normalize=False).gradients([0, 1], [2.0, 1.0])
    >>> grad.round(4).tolist()
    [0.7311, -0.7311]
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if len({part.label_column for _, part in self.measure.terms}) > 1:
            raise ValueError(
                f"measure is {self.measure!r}, which reads several labels, but RankNet takes the "
                "pairs of one; expected a measure of one label, or LambdaRank"
            )

    def prepared(self, data: Judged, n_jobs: int | None = None) -> Pass:
        """See `Objective.prepared`."""
        column = self.measure.terms[0][1].label_column
        return RankNetPass(
            self, data if column is None else data.of_label(column), resolve_n_jobs(n_jobs)
        )


class RankNetPass(PairsPass):
    """RankNet on one data set."""

    def __init__(self, objective: RankNet, data: Judged, threads: int) -> None:
        none = np.empty(0)
        setup = Setup(
            grades=data.codes, turns=tie_order(objective.random_state, data), discount=none,
            begins=none, weights=data.weights, sigma=objective.sigma, normalize=objective.normalize,
            least_curvature=0.0,
        )  # fmt: skip
        longest = int(data.queries.sizes.max())
        super().__init__(
            setup, data, objective.truncation or longest, threads, "RankNet", "a truncation"
        )
        self.levels = data.codes.astype(np.float64)

    def sum(self, ranks: Ranks, lam: Array, eta: Array) -> None:
        """See `PairsPass.sum`."""
        sum_equal_pairs(
            ranks.starts, self.deep[ranks.numbers], ranks.s, self.levels[ranks.rows], lam, eta
        )
