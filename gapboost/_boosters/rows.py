"""Rows of one data set in grouped order, ready for a booster."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from gapboost._boosters.data_set import DataSet
from gapboost._data.columns import checked_scores
from gapboost._data.features import features, rows_of, split
from gapboost._data.grades import GradeLimit
from gapboost._data.judged import Judged, judged
from gapboost._data.positions import Positions, positions
from gapboost._kernels import Array


@dataclass(frozen=True, eq=False)
class RankingRows:
    """One data set in grouped order, ready for a booster.

    Attributes
    ----------
    X : array-like of shape (N, n_features)
    data : Judged
    start : float64 ndarray of shape (N,) or None
        Scores that boosting starts from.
    weighted : bool
        Whether weights were given.
    positions : Positions or None
        Where the documents were shown.
    """

    X: Any
    data: Judged
    start: Array | None
    weighted: bool
    positions: Positions | None = None

    @property
    def y(self) -> Array:
        """Grades for a booster, int32 of shape (N,), or float64 if some are fractional.

        With several labels these are the grades of the first one.
        """
        return self.data.base.grades_of(self.data.codes, self.sizes)

    @property
    def sizes(self) -> Array:
        """Documents of each query, int64 of shape (Q,)."""
        return self.data.queries.sizes

    def subset(self, queries: Array) -> Self:
        """Return some of the queries, with their documents.

        Parameters
        ----------
        queries : ndarray
            As in `Queries.mask`.
        """
        rows = np.flatnonzero(np.repeat(self.data.queries.mask(queries), self.sizes))
        start, shown = self.start, self.positions
        return replace(
            self,
            X=rows_of(self.X, rows),
            data=self.data.subset(queries),
            start=None if start is None else start[rows],
            positions=None if shown is None else replace(shown, codes=shown.codes[rows]),
        )


def ranking_rows(given: DataSet, limit: GradeLimit | None = None) -> RankingRows:
    """Check a data set, and bring its rows together query by query."""
    given = given.raveled()
    y, names = given.y, given.names
    X, qid = split(given.X, given.qid, given.group, (names.X, names.qid, names.group))
    if qid is None:
        raise ValueError(
            f"{names.qid} is missing; expected one query id a row, or {names.group} with the sizes "
            "of the queries"
        )
    # First: query ids that are a column of a lazy table would be computed.
    X = features(X, names.X)
    data = judged(
        y,
        qid,
        sample_weight=given.weight,
        limit=limit,
        names=(names.y, names.qid, names.weight),
        real=True,
    )
    n_rows = X.shape[0]
    if n_rows != data.queries.n_rows:
        raise ValueError(
            f"{names.X} has {n_rows} rows but {names.y} has {data.queries.n_rows}; expected the "
            "same number"
        )
    start = given.start
    if start is not None:
        start = data.queries.grouped(checked_scores(start, n_rows, names.start, names.y))
    shown = None
    if given.position is not None:
        shown = positions(given.position, n_rows, names.position, names.y)
        shown = replace(shown, codes=data.queries.grouped(shown.codes))
    if data.queries.rows is not None:
        X = rows_of(X, data.queries.rows)
    return RankingRows(X, data, start, given.weight is not None, shown)


def stand_in(rows: RankingRows) -> RankingRows:
    """Return the shortest query with weight 0, for a worker that has no query of a data set.

    Boosters refuse an empty data set.
    """
    one = rows.subset(np.array([rows.sizes.argmin()]))
    return replace(one, data=replace(one.data, weights=np.zeros(1)), weighted=True, positions=None)
