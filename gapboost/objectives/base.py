"""Base classes of objectives, which compute gradients of a measure from scores, query by query."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from gapboost.data import Array, ArrayLike, QueryData, QueryIds, group_by_query
from gapboost.measures import Measure, as_measure
from gapboost.measures.labels import grade_limit
from gapboost.validation import Value, checked_scores


class Pass(ABC):
    """One objective on one data set, with all that stays the same between iterations.

    Several threads may call one pass at once: calls only read what it holds, and write to memory of
    their own.

    Examples
    --------
    >>> import numpy as np
    >>> import gapboost as gb
    >>> class Zeros(gb.objectives.Pass):
    ...     def __call__(self, scores, grad, hess):
    ...         grad[:], hess[:] = 0.0, 1.0
    ...
    >>> grad, hess = np.empty(2), np.empty(2)
    >>> Zeros()(np.zeros(2), grad, hess)
    >>> grad.tolist(), hess.tolist()
    ([0.0, 0.0], [1.0, 1.0])
    """

    @abstractmethod
    def __call__(self, scores: Array, grad: Array, hess: Array) -> None:
        """Write the gradients at `scores` to `grad` and `hess`, in place.

        All are float64 of shape (N,), in grouped order: the documents of query q are rows
        ``data.queries.offsets[q]:data.queries.offsets[q + 1]``. Gradients are to be minimized,
        hessians above 0, and both times the weight of the query, ``data.weights[q]``.
        """


class CheckedPass:
    """Gradients of an objective by its pass, with a check that it writes finite numbers to all.

    Users can define objectives, and an unwritten gradient would otherwise be trained on. If weights
    differ within a query, each document's gradient and hessian are multiplied by its factor.

    Raises
    ------
    ValueError
        If a call leaves gradients or hessians that are not finite.
    """

    def __init__(self, objective: "Objective", data: QueryData, n_jobs: int | None = None) -> None:
        self.objective = objective
        self.row_factors = data.row_factors
        self.inner = objective.prepared(data, n_jobs)

    def __call__(self, scores: Array) -> tuple[Array, Array]:
        """Return gradient and hessian at `scores`, float64 of shape (N,)."""
        grad, hess = np.full((2, len(scores)), np.nan)
        # Compiled code takes no others.
        self.inner(np.require(scores, np.float64, ["C", "W"]), grad, hess)
        for name, array in (("grad", grad), ("hess", hess)):
            if not np.isfinite(array).all():
                raise ValueError(
                    f"the pass of {self.objective!r} leaves NaN or infinite values in {name}; "
                    "expected that it writes a finite value for each document"
                )
        if self.row_factors is not None:
            grad *= self.row_factors
            hess *= self.row_factors
        return grad, hess


@dataclass(frozen=True, repr=False)
class Objective(Value, ABC):
    """A way to train for a measure.

    Parameters
    ----------
    measure : Measure
        What to train for; a name becomes the measure.

    Examples
    --------
    >>> import gapboost as gb
    >>> isinstance(gb.LambdaRank(gb.GAP(g=(0.5, 0.5))), gb.objectives.Objective)
    True
    """

    # Whether a document weighs about as much as a row of regression; otherwise a query weighs so,
    # however long it is.
    scales_with_list_size: ClassVar[bool] = False

    measure: Measure

    def __post_init__(self) -> None:
        super().__post_init__()
        given: Any = self.measure
        if not isinstance(given, Measure):
            self._set(measure=as_measure(given))
        if not self.measure.trains:
            raise ValueError(
                f"measure is {self.measure!r}, which gapboost can evaluate but not train for; "
                "expected a measure such as GAP(g=(0.5, 0.5)) or nDCG(k=10)"
            )

    @abstractmethod
    def prepared(self, data: QueryData, n_jobs: int | None = None) -> Pass:
        """Return the pass over `data`: everything that does not change between iterations."""

    def resolved(self, occurring: Array) -> Self:
        """Return the objective, its measure resolved with the grades that occur."""
        return replace(self, measure=self.measure.resolved(occurring))

    def step_for(self, n_documents: int) -> float:
        """Return the factor on gradients, not on hessians, for so many training documents."""
        return 1.0

    def gradients(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        qid: QueryIds = None,
        *,
        sample_weight: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> tuple[Array, Array]:
        """Return gradient and hessian of the objective, to be minimized, for each document.

        Parameters
        ----------
        y_true : array-like of shape (N,), or (N, L)
            Grades, whole numbers ``0..c`` or fractional; several labels for measures of them
            (`OfLabel`).
        y_score : array-like of shape (N,)
            Finite scores.
        qid : array-like of shape (N,), optional
            Query id of each row, in any order of rows; None: one query.
        sample_weight : array-like of shape (Q,) or (N,), optional
            Weights of the queries, or of the documents: they multiply the gradients, after whatever
            is done for a whole query.
        n_jobs : int, optional
            Threads; the result is the same for every number.

        Returns
        -------
        grad, hess : float64 ndarrays of shape (N,)
            In the order of the rows.

        Raises
        ------
        ValueError
            If an argument is unusable; the message names it, what was found and what is
            expected.
        """
        data, scores, resolved = self.checked(y_true, y_score, qid, sample_weight)
        grad, hess = CheckedPass(resolved, data, n_jobs)(scores)
        return data.queries.ungrouped(grad), data.queries.ungrouped(hess)

    def checked(
        self, y_true: ArrayLike, y_score: ArrayLike, qid: QueryIds, sample_weight: Any = None
    ) -> tuple[QueryData, Array, Self]:
        """Return checked judgments and scores in grouped order, and the resolved objective."""
        limit = grade_limit([self.measure])
        data = group_by_query(
            y_true,
            qid,
            sample_weight=sample_weight,
            limit=limit,
            real=True,
            beside={"y_score": y_score},
        )
        scores = data.queries.grouped(checked_scores(y_score, data.queries.n_rows))
        return data, scores, self.resolved(data.occurring)
