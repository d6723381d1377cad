"""Rows of one data set in grouped order, ready for a booster."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from gapboost._boosters.positions import Positions
from gapboost._data.columns import checked_scores
from gapboost._data.features import check_names, feature_names, features, rows_of, split
from gapboost._data.grades import GradeLimit
from gapboost._data.judged import Judged, judged
from gapboost._data.queries import grouped_rows
from gapboost._kernels import Array


class Names(NamedTuple):
    """Names of the arguments that hold a data set, for error messages."""

    X: str = "X"
    y: str = "y"
    qid: str = "qid"
    group: str = "group"
    weight: str = "sample_weight"
    start: str = "start"
    position: str = "position"


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
        True if weights were given.
    positions : Positions or None
        Position at which each document was shown.
    """

    X: Any
    data: Judged
    start: Array | None = None
    weighted: bool = False
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
        """Return some of the queries, as a mask or numbers, with their documents."""
        rows = np.flatnonzero(np.repeat(self.data.queries.mask(queries), self.sizes))
        start, shown = self.start, self.positions
        return replace(
            self,
            X=rows_of(self.X, rows),
            data=self.data.subset(queries),
            start=None if start is None else start[rows],
            positions=None if shown is None else replace(shown, codes=shown.codes[rows]),
        )


def on_host(values: Any) -> Any:
    """Return an array of CuPy as one of numpy; anything else unchanged."""
    return values.get() if hasattr(values, "__cuda_array_interface__") else values


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
    names: Names | None = None,
) -> RankingRows:
    """Check a data set, and bring its rows together query by query.

    Raises
    ------
    ValueError, TypeError
        If an argument is unusable; `names` are the caller's names of them.
    """
    names = names or Names()
    y, weight, start, position = map(on_host, (y, weight, start, position))
    X, qid = split(X, on_host(qid), group, (names.X, names.qid, names.group))
    if qid is None:
        raise ValueError(
            f"{names.qid} is missing; expected one query id a row, or {names.group} with the sizes "
            "of the queries"
        )
    X = features(X, names.X)
    data = judged(
        y,
        qid,
        sample_weight=weight,
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
    if start is not None:
        start = data.queries.grouped(checked_scores(start, n_rows, names.start, names.y))
    shown = None
    if position is not None:
        found = grouped_rows(position, n_rows, names.position, names.y, "position")
        shown = Positions(found.ids.tolist(), data.queries.grouped(found.codes))
    if data.queries.rows is not None:
        X = rows_of(X, data.queries.rows)
    return RankingRows(X, data, start, weight is not None, shown)


def evaluation_rows(
    eval_set: Any,
    metadata: Mapping[str, Any],
    train: RankingRows,
    limit: GradeLimit,
    is_training_set: Callable[[Any, Sequence[Any]], bool],
) -> list[RankingRows]:
    """Check the evaluation sets; `train` stands for the training set among them.

    Parameters
    ----------
    eval_set : sequence of (X, y), one such tuple, or None
    metadata : mapping {argument of fit: list or None}
        Query ids, group sizes, weights and initial scores, in this order.
    train : RankingRows
    limit : GradeLimit
        Of all metrics.
    is_training_set : callable
        Gets a pair and its entries of `metadata`.

    Raises
    ------
    ValueError
        If an argument is unusable.
    """
    pairs = [] if eval_set is None else eval_set
    if isinstance(pairs, tuple) and len(pairs) == 2 and not isinstance(pairs[0], tuple | list):
        pairs = [pairs]
        metadata = {name: _alone(values) for name, values in metadata.items()}
    for name, values in {"eval_set": pairs, **metadata}.items():
        if values is None:
            continue
        is_list = isinstance(values, list | tuple)
        if not is_list or len(values) != len(pairs):
            found = f"has {len(values)} entries" if is_list else f"is a {type(values).__name__}"
            raise ValueError(
                f"{name} {found}; expected a list with an entry for each of {len(pairs)} "
                "evaluation sets"
            )
    sets = []
    for i, pair in enumerate(pairs):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ValueError(f"eval_set[{i}] is a {type(pair).__name__}; expected a pair (X, y)")
        names = Names(f"eval_set[{i}] X", f"eval_set[{i}] y", *(f"{n}[{i}]" for n in metadata))
        given = [None if values is None else values[i] for values in metadata.values()]
        if is_training_set(pair, given):
            train.data.check_known(names.y, limit)
            sets.append(train)
            continue
        rows = ranking_rows(*pair, *given, limit=limit, names=names)
        check_names(feature_names(rows.X), feature_names(train.X), names.X)
        sets.append(rows)
    return sets


def _alone(values: Any) -> Any:
    """Return metadata of the only evaluation set as a list; it may be one already."""
    is_list = isinstance(values, list | tuple) and len(values) == 1 and np.ndim(values[0]) == 1
    return values if values is None or is_list else [values]
