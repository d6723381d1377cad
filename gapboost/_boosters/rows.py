"""Rows of one data set in grouped order, ready for a booster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from gapboost._kernels import Array
from gapboost.data.features import check_names, feature_names, features, pop_query_ids, rows_of
from gapboost.data.grades import GradeLimit
from gapboost.data.queries import grouped_rows
from gapboost.data.query_data import QueryData, group_by_query
from gapboost.validation import checked_scores, short_repr

# Names of the arguments that hold a data set, for error messages.
NAMES = ("X", "y", "qid", "group", "sample_weight", "init_score", "position")


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


@dataclass(frozen=True, eq=False)
class RankingRows:
    """One data set in grouped order, ready for a booster.

    Attributes
    ----------
    X : array-like of shape (N, n_features)
    data : QueryData
    start : float64 ndarray of shape (N,) or None
        Scores that boosting starts from.
    weighted : bool
        True if weights were given.
    positions : Positions or None
        Position at which each document was shown.
    of_training : bool
        True for the training set, and for an evaluation set of its documents with other weights or
        initial scores.
    """

    X: Any
    data: QueryData
    start: Array | None = None
    weighted: bool = False
    positions: Positions | None = None
    of_training: bool = True

    @property
    def y(self) -> Array:
        """Grades for a booster, int32 of shape (N,), or float64 if some are fractional.

        With several labels these are the grades of the first one.
        """
        return self.data.base.grades_of(self.data.codes, self.sizes)

    @property
    def row_weights(self) -> Array | None:
        """Weight of each document, float64 of shape (N,); None if no weights were given."""
        return self.data.row_weights if self.weighted else None

    @property
    def sizes(self) -> Array:
        """Documents of each query, int64 of shape (Q,)."""
        return self.data.queries.sizes


def ranking_rows(
    X: Any,
    y: Any,
    qid: Any = None,
    group: Any = None,
    weight: Any = None,
    start: Any = None,
    position: Any = None,
    *,
    limit: GradeLimit | None = None,
    names: Sequence[str] = NAMES,
    partial: bool = False,
) -> RankingRows:
    """Check a data set, and bring its rows together query by query.

    `names` are the caller's names of the arguments, and `partial` is that of `group_by_query`.

    Raises
    ------
    ValueError, TypeError
        If an argument is unusable.
    """
    of_X, of_y, of_qid, of_group, of_weight, of_start, of_position = names
    X, qid = pop_query_ids(X, qid, group, (of_X, of_qid, of_group))
    if qid is None:
        raise ValueError(
            f"{of_qid} is missing; expected one query id a row, or {of_group} with the sizes of "
            "the queries"
        )
    X = features(X, of_X)
    if not X.shape[1]:
        raise ValueError(f"{of_X} has no columns; expected at least one feature")
    data = group_by_query(
        y,
        qid,
        sample_weight=weight,
        limit=limit,
        names=(of_y, of_qid, of_weight),
        real=True,
        partial=partial,
    )
    queries, n_rows = data.queries, X.shape[0]
    if n_rows != queries.n_rows:
        raise ValueError(
            f"{of_X} has {n_rows} rows but {of_y} has {queries.n_rows}; expected the same number"
        )
    if start is not None:
        start = queries.grouped(checked_scores(start, n_rows, of_start, of_y))
    shown = None
    if position is not None:
        found = grouped_rows(position, n_rows, of_position, of_y)
        shown = Positions(found.ids.tolist(), queries.grouped(found.codes))
    if queries.rows is not None:
        X = rows_of(X, queries.rows)
    return RankingRows(X, data, start, weight is not None, shown)


def check_continued(X: Any, n_columns: int, names: Sequence[str] = ()) -> None:
    """Raise ValueError if `X` lacks the columns of a model whose training continues."""
    if X.shape[1] != n_columns:
        raise ValueError(
            f"X has {X.shape[1]} columns, but the model to continue has {n_columns}; expected the "
            "same number"
        )
    check_names(feature_names(X), names, "X")


def evaluation_sets(
    eval_set: Any, metadata: Mapping[str, Any]
) -> list[tuple[list[Any], tuple[str, ...]]]:
    """Return X, y and the metadata of each evaluation set, and the caller's names of them.

    Parameters
    ----------
    eval_set : list of (X, y), one (X, y), or None
    metadata : mapping {argument of fit: list or None}

    Raises
    ------
    ValueError
        If an argument has another form.
    """
    pairs = [] if eval_set is None else eval_set
    if isinstance(pairs, tuple) and len(pairs) == 2 and not isinstance(pairs[0], tuple | list):
        pairs = [pairs]
    for name, values in {"eval_set": pairs, **metadata}.items():
        if values is None:
            continue
        if not isinstance(values, list | tuple) or len(values) != len(pairs):
            raise ValueError(
                f"{name} is {short_repr(values)}; expected a list with an entry for each of "
                f"{len(pairs)} evaluation sets"
            )
    sets = []
    for i, pair in enumerate(pairs):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ValueError(f"eval_set[{i}] is a {type(pair).__name__}; expected a pair (X, y)")
        given = [*pair, *(None if values is None else values[i] for values in metadata.values())]
        names = (f"eval_set[{i}] X", f"eval_set[{i}] y", *(f"{name}[{i}]" for name in metadata))
        sets.append((given, names))
    return sets


def evaluation_rows(
    eval_set: Any,
    metadata: Mapping[str, Any],
    train: RankingRows,
    of_training: Sequence[Any],
    limit: GradeLimit,
) -> list[RankingRows]:
    """Check the evaluation sets; `train` stands for the training set among them.

    Parameters
    ----------
    eval_set, metadata
        As in `evaluation_sets`, with query ids, group sizes, weights and initial scores, in this
        order.
    train : RankingRows
    of_training : sequence
        An evaluation set that begins with these objects is the training set: X, y, and metadata as
        far as they count.
    limit : GradeLimit

    Raises
    ------
    ValueError
        If an argument is unusable.
    """
    sets = []
    for given, names in evaluation_sets(eval_set, metadata):
        if all(a is b for a, b in zip(given, of_training, strict=False)):
            sets.append(train)
            continue
        rows = ranking_rows(*given, limit=limit, names=(*names, "position"))
        check_names(feature_names(rows.X), feature_names(train.X), names[0])
        if rows.X.shape[1] != train.X.shape[1]:
            raise ValueError(
                f"{names[0]} has {rows.X.shape[1]} columns but X has {train.X.shape[1]}; expected "
                "the same number"
            )
        same = given[0] is of_training[0] and given[1] is of_training[1]
        sets.append(replace(rows, of_training=same))
    return sets
