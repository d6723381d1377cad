"""Data sets of ranking: what loaders return, and what fits, searches and reports work on."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils import check_consistent_length

from gapboost._kernels import Array, ArrayLike
from gapboost.data.features import column_names, features, pop_query_ids, rows_of
from gapboost.data.grades import GradeLimit, label_columns
from gapboost.data.queries import grouped_rows
from gapboost.data.query_data import QueryData, group_by_query
from gapboost.validation import checked_scores


class Positions(NamedTuple):
    """Positions at which the documents of some rows were shown.

    Attributes
    ----------
    ids : list
        The distinct positions, in the order in which they first occur.
    codes : int64 ndarray of shape (N,)
        The number of its position among `ids` for each row.
    """

    ids: list[Any]
    codes: Array


@dataclass(frozen=True, eq=False, repr=False)
class RankingDataset:
    """Documents of some queries, with features and grades.

    Row i of every member belongs to the same document. `of` checks what a fit is given.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (N, n_features), or data frame
    y : ndarray of shape (N,), int32 or float64; or table of shape (N, L)
        The grade of each document, 0 (not relevant) or more; or several labels.
    qid : ndarray of shape (N,)
        Query id of each row.
    docid : ndarray of shape (N,), dtype str, or None
        The name of each document, where known.
    feature_names : list of str or None
        The names of the columns of an array, where known.
    init_score : float64 ndarray of shape (N,) or None
        Scores that boosting starts from.
    positions : Positions or None
    weights_given : bool
        True if weights were given.
    checked : QueryData or None
        What `query_data` returns; None reads it from `y` and `qid`.

    Raises
    ------
    ValueError
        If the members do not agree on the number of rows.

    Examples
    --------
    >>> from gapboost.datasets import load_digits_ranking
    >>> test = load_digits_ranking().test
    >>> test
    RankingDataset(100 queries, 4000 rows, 23 features, grades {0: 2814, 1: 795, 2: 391})
    >>> test.query_data.queries.sizes[:3].tolist()
    [40, 40, 40]
    """

    X: Any
    y: Any
    qid: Array
    docid: Array | None = None
    feature_names: list[str] | None = None
    init_score: Array | None = None
    positions: Positions | None = None
    weights_given: bool = False
    checked: QueryData | None = None

    def __post_init__(self) -> None:
        check_consistent_length(self.X, self.y, self.qid, self.docid)

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        qid: Any = None,
        group: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        init_score: ArrayLike | None = None,
        position: ArrayLike | None = None,
        *,
        limit: GradeLimit | None = None,
        names: Mapping[str, str] | None = None,
        partial: bool = False,
    ) -> Self:
        """Return a data set of the arguments of a fit, checked.

        Parameters
        ----------
        X, y, qid, group, sample_weight, init_score, position
            As in `LGBMGAPRanker.fit`.
        limit : GradeLimit, optional
            Grades for which measures are defined.
        names : mapping {argument: str}, optional
            Names that errors have for arguments which the caller calls otherwise.
        partial : bool
            As in `group_by_query`.

        Raises
        ------
        ValueError, TypeError
            If an argument is unusable.
        """
        of = dict(zip(ARGUMENTS, ARGUMENTS, strict=True)) | dict(names or {})
        y = y.compute() if hasattr(type(y), "compute") else y  # of Dask, beside a local X
        shape: tuple[Any, ...] = getattr(X, "shape", ())
        shape_of_y: tuple[Any, ...] = getattr(y, "shape", ())
        if len(shape) == 1 and len(shape_of_y) == 2 and shape_of_y[1] > 1:
            raise ValueError(
                f"{of['X']} has shape {shape} and {of['y']} {shape_of_y}; expected them the "
                "other way round: features of shape (n_rows, n_features), then grades"
            )
        X, qid = pop_query_ids(X, qid, group, (of["X"], of["qid"], of["group"]))
        if qid is None:
            # So ColumnTransformer calls what it passes on.
            renamed = [name for name in column_names(X) if str(name).endswith("__qid")]
            hint = f": a step made {renamed[0]!r} of it" if renamed else ""
            raise ValueError(
                f"{of['qid']} is missing; expected one query id a row, or {of['group']} with the "
                f"sizes of the queries{hint}"
            )
        X = features(X, of["X"])
        if not X.shape[1]:
            raise ValueError(f"{of['X']} has no columns; expected at least one feature")
        # Where X and qid agree, the grouping would blame qid.
        if shape_of_y[:1] not in ((), (X.shape[0],)) and np.shape(qid) == X.shape[:1]:
            raise ValueError(
                f"{of['y']} has {shape_of_y[0]} rows but {of['X']} has {X.shape[0]}; expected the "
                "same number"
            )
        data = group_by_query(
            y,
            qid,
            sample_weight=sample_weight,
            limit=limit,
            names=(of["y"], of["qid"], of["sample_weight"]),
            real=True,
            partial=partial,
            beside={of["X"]: X, of["init_score"]: init_score, of["position"]: position},
        )
        n_rows = data.queries.n_rows
        if X.shape[0] != n_rows:
            raise ValueError(
                f"{of['X']} has {X.shape[0]} rows but {of['y']} has {n_rows}; expected the same "
                "number"
            )
        # One query whose id is the float 1.0 is more often weights, which come third in LightGBM.
        ids = data.queries.ids
        if n_rows > 1 and not partial and ids.dtype.kind == "f" and ids.tolist() == [1.0]:
            raise ValueError(
                f"{of['qid']} is 1.0 in every row; expected ids of queries, as integers or "
                "strings; weights are passed as sample_weight=..."
            )
        if init_score is not None:
            init_score = checked_scores(init_score, n_rows, of["init_score"], of["y"])
        positions = None
        if position is not None:
            found = grouped_rows(position, n_rows, of["position"], of["y"], "position")
            if len(found) > max(n_rows / 2, data.queries.sizes.max()):
                raise ValueError(
                    f"{of['position']} has {len(found)} different values in {n_rows} rows; "
                    "expected positions that many documents share, such as ranks in a click log"
                )
            positions = Positions(found.ids.tolist(), found.codes)
        if data.labels:
            y = y if hasattr(y, "shape") else np.asarray(y)
        else:
            y = data.queries.ungrouped(data.first_label)
        return cls(
            X,
            y,
            qid,
            init_score=init_score,
            positions=positions,
            weights_given=sample_weight is not None,
            checked=data,
        )

    @cached_property
    def query_data(self) -> QueryData:
        """Queries, grades and weights, query by query.

        Raises
        ------
        ValueError
            If `y` holds no grades from 0 to 255, or ids could be confused.
        """
        return self.checked or group_by_query(self.y, self.qid, names=NAMES_OF_DATA, real=True)

    @property
    def labels(self) -> list[Array]:
        """Grades by each label, int32 or float64 of shape (N,), query by query."""
        data = self.query_data
        return [each.first_label for each in data.labels.values()] or [data.first_label]

    @cached_property
    def frame_columns(self) -> tuple[str, ...]:
        """Names of the columns of a data frame `X` as text; none of an array."""
        return tuple(map(str, column_names(self.X)))

    @property
    def n_queries(self) -> int:
        """Number of different queries."""
        return len(np.unique(self.qid))

    @property
    def n_features(self) -> int:
        """Number of columns of `X`."""
        return int(self.X.shape[1])

    def grouped(self) -> Self:
        """Return the data set with its rows query by query; itself if they already are."""
        rows = self.query_data.queries.rows
        if rows is None:
            return self
        return self._with_rows(rows, self.query_data.take(np.arange(len(rows))))

    def take(self, rows: Array, numbers: Array | None = None) -> Self:
        """Return a grouped data set with other rows, query by query.

        Parameters
        ----------
        rows : int ndarray of shape (M,)
        numbers : int ndarray of shape (Q,), optional
            Ascending numbers of the queries that the rows belong to; all by default.
        """
        return self._with_rows(rows, self.query_data.take(rows, numbers))

    def select(self, numbers: Array) -> Self:
        """Return the documents of some queries of a grouped data set, by ascending numbers."""
        return self.take(np.flatnonzero(np.isin(self.query_data.queries.numbers, numbers)), numbers)

    def _with_rows(self, rows: Array, data: QueryData) -> Self:
        positions = self.positions
        return replace(
            self,
            X=rows_of(self.X, rows),
            y=rows_of(self.y, rows) if label_columns(self.y) else data.first_label,
            qid=data.queries.ids[data.queries.numbers],
            docid=None if self.docid is None else self.docid[rows],
            init_score=None if self.init_score is None else self.init_score[rows],
            positions=positions and positions._replace(codes=positions.codes[rows]),
            checked=data,
        )

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self.X.shape[0])

    def __repr__(self) -> str:
        grades, counts = np.unique(np.asarray(self.y), return_counts=True)
        found = str(dict(zip(grades.tolist(), counts.tolist(), strict=True)))
        if len(grades) > 20:
            found = f"{grades[0]:g} to {grades[-1]:g}"
        return (
            f"RankingDataset({self.n_queries} queries, {len(self)} rows, {self.n_features} "
            f"features, grades {found})"
        )


# Arguments that hold a data set.
ARGUMENTS = ("X", "y", "qid", "group", "sample_weight", "init_score", "position")
NAMES_OF_DATA = ("y", "qid", "sample_weight")
