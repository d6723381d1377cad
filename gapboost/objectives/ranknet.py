"""RankNet over all pairs: XGBoost's ``rank:pairwise`` without its truncation.

For documents i, j of one query with grades a > b, a pair adds log(1 + e^(-sigma (s_i - s_j))) to
the loss [burges2005]. The measure has no part in it.
"""

from dataclasses import dataclass

import numpy as np

from gapboost._data.judged import Judged
from gapboost._kernels.lambdarank.form import EQUAL
from gapboost._kernels.parallel.chunks import resolve_n_jobs
from gapboost.objectives.lambdarank import LambdaRank, LambdaRankPass, only_own
from gapboost.objectives.objective import Pass


@dataclass(frozen=True, repr=False)
class RankNet(LambdaRank):
    """Pairwise logistic loss in which all pairs of different grades count the same [burges2005].

    The gradients do not depend on the measure, which is what evaluation sets report and what stops
    a training early. `LambdaRank` weights each pair by its
    change of the measure, and trains for the measure.

    Parameters
    ----------
    measure : Measure
        To report; of one label.
    sigma, truncation, score_distance, normalize, random_state
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
        data = data if column is None else data.of_label(column)
        nothing, discount = np.zeros(data.base.counts.shape), np.ones(int(data.queries.sizes.max()))
        return LambdaRankPass(
            self, data, resolve_n_jobs(n_jobs), EQUAL, discount,
            lambda first, last: only_own(nothing[first:last]),
        )  # fmt: skip
