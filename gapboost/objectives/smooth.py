"""Smooth versions of a measure: what SoftRank and ApproxRank share.

With pi_mn a smooth probability that document m is above document n, its derivative by the score of m, and real ranks
``r_n = 1 + sum_m pi_mn``, both train for

    M = sum_n discount(r_n) (own[i_n] + sum_m above_mn pair[i_m, i_n])

and differ in pi and in ``above``. The derivative of M is a sum over pairs of documents of a push that moves one up and the
other down by the same amount, so gradients sum to 0 in each query.

**The smoothing is absolute**, not relative to the spread of a query's scores. A relative one has no gradient to give where
all scores are equal, which is where boosting starts; it also leaves the scale of the scores without any effect, so that
nothing ever settles. Scores that grow while boosting sharpen an absolute smoothing: coarse at first, when the order is
still anyone's guess, close to the measure later. The gradients are therefore the exact derivative of `value`.

**The cost** is near-linear in the length of a list: all sums over documents m are sums of a smooth step, or of its slope,
over sorted positions (`gapboost._kernels.smooth`). Gradients are those of the sums over all pairs to 1e-8 of the largest of
the query, measured to about 1e-11. Documents so far apart that their comparison is certain, to 1e-13, do not push each
other at all. Only rank distributions cost more (see `softrank`).

**The hessian** of a document is the sum over grades of the absolute value of what all documents of that grade push it,
times the steepest slope of pi. The second derivative itself is negative wherever a pair is in the wrong order, and no
booster can use that. This one is positive wherever a document is pushed at all, has the unit 1 / score^2, and sees that no
step is longer than 1 / slope, the width of pi: the distance in scores over which "below" becomes "above". A document that
one grade pushes up and another down takes a shorter step. Absolute values of single pairs would count every disagreement,
but are no sums of a smooth function: they would cost all pairs. Four times as much would bound the curvature of each
pair's logistic pi at any learning rate, were pairs counted singly; but boosters multiply steps by a learning rate of 0.1 or
so, and with that bound they only trained slower (benchmarks/OBJECTIVES.md).
"""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from gapboost._data.queries import Array, Judged, checked_scores, judged, one_dimensional
from gapboost._kernels.order.short import ranking
from gapboost._kernels.parallel.chunks import chunks, run, table_bytes
from gapboost._kernels.smooth.query import Documents, Gradients, Queries, documents_for
from gapboost._kernels.smooth.sums import Room, room_for
from gapboost.measures.measure import tables_of, weights_at
from gapboost.objectives.objective import Objective, Pass


class SmoothPass(Pass):
    """A smooth measure on one data set."""

    def __init__(self, objective: "SmoothObjective", data: Judged, threads: int) -> None:
        self.data = data
        self.measure = objective.measure
        self.threads = threads
        self.weights = data.weights
        if objective.normalize:
            self.weights = data.weights * data.weighted_size
        self.ranges = chunks(data.queries.offsets, threads, table_bytes(data.counts.shape[1]))

    def __call__(self, scores: Array, grad: Array, hess: Array) -> None:
        """See `Pass`."""
        self.values(scores, grad, hess)

    def values(self, scores: Array, grad: Array, hess: Array) -> Array:
        """Write the gradients as `Pass` does and return the smooth measure of each query, float64 of shape (Q,)."""
        values = np.empty(len(self.data.queries))
        offsets = self.data.queries.offsets

        def task(k: int) -> None:
            first, last = self.ranges[k]
            rows = slice(offsets[first], offsets[last])
            pair, own = tables_of(self.measure, self.data.counts[first:last])
            counted = (own != 0) | (pair != 0).any(axis=1) | (pair != 0).any(axis=2)
            queries = self.queries(scores, counted, pair, own, first, last)
            found = Gradients(values[first:last], *np.empty((2, rows.stop - rows.start)))
            self.smooth(queries, slice(first, last), found)
            grad[rows], hess[rows] = found.grad, found.hess

        run(task, len(self.ranges), self.threads)
        return values

    def queries(self, scores: Array, counted: Array, pair: Array, own: Array, first: int, last: int) -> Queries:
        """Queries ``first..last-1`` as kernels read them; all documents share the first rank so far.

        ``counted[q, i]`` says whether the measure looks at documents of grade i at all; it begins at query ``first``, as
        ``pair`` and ``own`` do.
        """
        data = self.data
        starts = data.queries.offsets[first : last + 1]
        rows = slice(starts[0], starts[-1])
        n = rows.stop - rows.start
        exact = scores[rows].astype(np.float64, copy=False)
        return Queries(
            starts - starts[0], ranking(exact, starts - starts[0]), exact, data.grades[rows], counted, pair, own,
            np.ones(n), np.ones(n), np.zeros(n), self.weights[first:last],
        )  # fmt: skip

    def memory(self, queries: Queries) -> tuple[Room, Documents]:
        """Working memory for these queries."""
        longest = int(np.diff(queries.starts).max())
        return room_for(longest, self.data.counts.shape[1]), documents_for(longest)

    def rank(self, queries: Queries) -> None:
        """Bring the ranks of counted documents, and the discount and its derivative at them, up to the scores."""
        self.update_ranks(queries)
        queries.discount[:], queries.slope[:] = weights_at(self.measure, queries.ranks)

    @abstractmethod
    def update_ranks(self, queries: Queries) -> None:
        """Write the smooth ranks of the counted documents."""

    @abstractmethod
    def smooth(self, queries: Queries, numbers: slice, found: Gradients) -> None:
        """Write values and gradients of `queries`, which have these numbers in the data set."""


@dataclass(frozen=True, repr=False)
class SmoothObjective(Objective):
    """A smooth version of a measure, trained for by its exact gradient.

    Parameters
    ----------
    measure : Measure
    normalize : bool, default=True
        Scale each query's gradients by ``L log2(1 + max(S, 0.05)) / S``, where L is the mean number of documents of a
        query and S the sum of the absolute gradients in units of the steepness: a change of the smoothing changes the unit
        of the scores and nothing else. The floor keeps a direction on plateaus. A query whose gradients are
        rounding, 1e-14 of what its documents contribute, gets none. Without L, which `LambdaRank` lacks,
        XGBoost's leaf floor would stop training on them. False: the derivative of `value`, with the sign turned.
    """

    in_units_of_rows: ClassVar[bool] = True

    normalize: bool = field(default=True, kw_only=True)

    @abstractmethod
    def prepared(self, data: Judged, n_jobs: int | None = None) -> SmoothPass:
        """See `Objective.prepared`."""

    def value(
        self,
        y_true: Any,
        y_score: Any,
        qid: Any = None,
        *,
        sample_weight: Any = None,
        per_query: bool = False,
        n_jobs: int | None = None,
    ) -> Any:
        """The smooth measure.

        Parameters
        ----------
        y_true, y_score, qid, sample_weight, n_jobs
            As in `gradients`.
        per_query : bool, default=False
            Return one value a query instead of the mean.

        Returns
        -------
        float, or float64 ndarray of shape (Q,)
            Queries in the order in which they first occur. A query in which nothing is relevant has value 0.

        Notes
        -----
        With ``normalize=False`` the gradients of a query are those of its own value times its weight, not divided by
        the number of queries.
        """
        data, scores, resolved = self._checked(y_true, y_score, qid, sample_weight)
        unused = np.empty((2, len(scores)))
        values = resolved.prepared(data, n_jobs).values(scores, unused[0], unused[1])
        return values if per_query else float(np.average(values, weights=data.weights))

    def ranks(self, y_score: Any, qid: Any = None) -> Array:
        """The smooth rank of each document.

        Parameters
        ----------
        y_score : array-like of shape (N,)
        qid : array-like of shape (N,), optional

        Returns
        -------
        float64 ndarray of shape (N,)
            From 1 to the number of documents of the query.
        """
        grades = np.zeros(len(one_dimensional(y_score, "y_score")))
        data = judged(grades, qid, names=("y_score", "qid", "sample_weight"))
        scores = data.queries.grouped(checked_scores(y_score, len(grades)))
        prepared = self.resolved(np.array([1])).prepared(data)
        tables = tables_of(prepared.measure, data.counts)
        everything = np.ones(data.counts.shape, dtype=bool)
        queries = prepared.queries(scores, everything, *tables, 0, len(data.queries))
        prepared.update_ranks(queries)
        return data.queries.ungrouped(queries.ranks)
