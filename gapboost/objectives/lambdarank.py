"""LambdaRank over all pairs, for any measure.

For ranks p < q with grades a, b and x = sigma (s_p - s_q), a pair adds its swap change Delta to the gradient of the upper
document as Delta / (1 + e^x) where a > b and as Delta / (1 + e^-x) where a < b, and the opposite to the lower one
[burges2006], [yilmaz2009] eq. 6. The change is signed: for xGAP a pair can push the other way.
"""

from dataclasses import dataclass

import numpy as np

from gapboost.kernels.lambdarank import lambdarank
from gapboost.kernels.threads import chunks, resolve_n_jobs, run, table_bytes
from gapboost.measures.measure import as_cutoff
from gapboost.objectives.objective import Objective, Pass
from gapboost.queries import Array, Judged

# The tables are kept between iterations while they cost less than this many bytes a document.
KEPT_TABLE_BYTES = 32


@dataclass(frozen=True, repr=False)
class LambdaRank(Objective):
    """Pairwise logistic gradients weighted by what a swap of the pair changes in the measure.

    Parameters
    ----------
    measure : Measure
    sigma : float, default=1.0
        Steepness of the logistic function, in 1 / score.
    truncation : int, optional
        Only pairs with at least one document in the top `truncation` by current score; None: all pairs.
    normalize : bool, default=True
        Scale each query's gradients by ``L log2(1 + S) / S``, where S is the sum of their absolute values and L the mean
        number of documents of a query: a query with large changes does not drown the others, one with nothing left to
        gain is not blown up, and a document weighs about as much as a row of binary classification, for which the
        boosters' own defaults (leaf floors, L2 penalty) were made.
    random_state : int, default=0
        Seed of the keys that order documents with equal scores; never the order of the rows, which in a file sorted by
        grade would give the answer away.

    Examples
    --------
    >>> import gapboost as gb
    >>> grad, hess = gb.LambdaRank(gb.AP(), normalize=False).gradients([0, 1], [2.0, 1.0])
    >>> grad.round(4).tolist()
    [0.3655, -0.3655]
    """

    sigma: float = 1.0
    truncation: int | None = None
    normalize: bool = True
    random_state: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (np.isfinite(self.sigma) and self.sigma > 0):
            raise ValueError(f"sigma is {self.sigma!r}; expected a finite number > 0")
        object.__setattr__(self, "truncation", as_cutoff(self.truncation, "truncation"))

    def prepared(self, data: Judged, n_jobs: int | None = None) -> "LambdaRankPass":
        """See `Objective.prepared`."""
        return LambdaRankPass(self, data, resolve_n_jobs(n_jobs))


class LambdaRankPass(Pass):
    """LambdaRank on one data set: tie keys, the last order of the documents, and the tables of the measure."""

    def __init__(self, objective: LambdaRank, data: Judged, threads: int) -> None:
        self.objective = objective
        self.data = data
        self.threads = threads
        offsets, n_rows = data.queries.offsets, data.queries.n_rows
        rng = np.random.default_rng(objective.random_state)
        self.keys = rng.integers(np.iinfo(np.uint32).max, size=n_rows, dtype=np.uint32, endpoint=True)
        self.order = (np.arange(n_rows) - np.repeat(offsets[:-1], data.queries.sizes)).astype(np.int32)
        self.discount = objective.measure.discount(int(data.queries.sizes.max()))
        self.weights = data.weights
        if objective.normalize:
            self.weights = data.weights * (data.weights @ data.queries.sizes / data.weights.sum())
        cost = table_bytes(data.counts.shape[1])
        self.ranges = chunks(offsets, threads, cost)
        keep = cost * len(data.queries) <= KEPT_TABLE_BYTES * n_rows
        self.kept = {r: self._tables(r) for r in self.ranges} if keep else None

    def _tables(self, chunk: tuple[int, int]) -> tuple[Array, Array]:
        return self.objective.measure.tables(self.data.counts[chunk[0] : chunk[1]])

    def __call__(self, scores: Array, grad: Array, hess: Array) -> None:
        """See `Pass`."""
        objective, data = self.objective, self.data

        def task(first: int, last: int) -> None:
            pair, own = self._tables((first, last)) if self.kept is None else self.kept[first, last]
            lambdarank(
                scores,
                data.grades,
                data.queries.offsets,
                self.keys,
                self.order,
                self.discount,
                pair,
                own,
                self.weights,
                objective.sigma,
                objective.truncation or 0,
                objective.normalize,
                grad,
                hess,
                first,
                last,
            )

        run(task, self.ranges, self.threads)
