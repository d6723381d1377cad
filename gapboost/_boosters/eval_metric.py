"""Functions that users pass as `eval_metric`, besides measures."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from gapboost._boosters.callbacks import Metrics, is_maximized
from gapboost._boosters.rows import RankingRows
from gapboost._kernels import Array
from gapboost.measures import Measure

# Name, value, and True if higher values are better.
Value = tuple[str, float, bool]

EXPECTED_METRICS = (
    'a name such as "ndcg@10", a measure, or a function of (y_true, y_pred), (y_true, y_pred, '
    "weight) or (y_true, y_pred, weight, group)"
)


@dataclass(frozen=True)
class MetricFunction:
    """A function that a user passes as `eval_metric`.

    Attributes
    ----------
    function : callable
    n_arguments : {2, 3, 4}
        It takes the first of ``y_true, y_pred, weight, group``.
    by_query : bool
        True if it is called once for each query and returns a number, as in `xgboost.XGBRanker`.
        Otherwise it is called once for all rows and returns ``(name, value, is_higher_better)`` or
        a list of such tuples, as in `lightgbm.LGBMRanker`.
    """

    function: Callable[..., Any]
    n_arguments: int
    by_query: bool

    def __call__(self, rows: RankingRows, scores: Array) -> list[Value]:
        """Call the function with an evaluation set in the user's row order.

        It gets the grades, scores, weights and query sizes.
        """
        if self.by_query:
            return [self._mean_over_queries(rows, scores)]
        data, queries = rows.data, rows.data.queries
        columns = [
            queries.ungrouped(data.grades).astype(np.float64),
            # A copy: LightGBM reuses its array of scores.
            np.array(queries.ungrouped(scores)),
            queries.ungrouped(data.row_weights) if rows.weighted else None,
            rows.sizes,
        ]
        result = self.function(*columns[: self.n_arguments])
        values = result if isinstance(result, list) else [result]
        if not values or not all(_is_value(value) for value in values):
            raise TypeError(
                f"eval_metric holds {self.function!r}, which returned {result!r}; expected (name, "
                "value, is_higher_better), or a list of such tuples"
            )
        return [(name, float(value), bool(higher)) for name, value, higher in values]

    def _mean_over_queries(self, rows: RankingRows, scores: Array) -> Value:
        """Return the value that `xgboost.XGBRanker` reports.

        Queries weigh by their size, and those of one document count 1.
        """
        y, cuts = rows.data.grades.astype(np.float64), rows.data.queries.offsets[1:-1]
        values = []
        for y_true, y_score in zip(
            np.split(y, cuts), np.split(np.array(scores), cuts), strict=True
        ):
            value = 1.0 if len(y_true) == 1 else self.function(y_true, y_score)
            if not _is_number(value):
                raise TypeError(
                    f"eval_metric holds {self.function!r}, which returned {value!r}; expected the "
                    "number of one query. A function of (y_true, y_pred, weight) is called once "
                    "for all rows, and returns (name, value, is_higher_better)"
                )
            values.append(float(value))
        name = getattr(self.function, "__name__", type(self.function).__name__)
        # XGBoost's early stopping reads the direction from the name.
        return (
            name,
            float(np.average(values, weights=rows.sizes)),
            is_maximized(name),
        )


def _is_value(value: Any) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) == 3
        and isinstance(value[0], str)
        and _is_number(value[1])
        and isinstance(value[2], bool | np.bool_)
    )


def _is_number(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, Real) or (isinstance(value, np.ndarray) and value.shape == ())


def split_metrics(given: Any) -> tuple[Any, list[Callable[..., Any]]]:
    """Split `eval_metric` into names and measures, None without any, and functions."""
    several = list(given) if isinstance(given, list | tuple) else [given]
    if not any(_is_function(one) or isinstance(one, Metrics) for one in several):
        return given, []
    # `eval_metric(...)` of `gapboost.lightgbm` and `gapboost.xgboost` stands for its measures.
    several = [
        one for item in several for one in (item.measures if isinstance(item, Metrics) else [item])
    ]
    functions = [one for one in several if _is_function(one)]
    return [one for one in several if not _is_function(one)] or None, functions


def _is_function(metric: Any) -> bool:
    """True if an entry of `eval_metric` is to be called; classes and measures are not."""
    return callable(metric) and not isinstance(metric, type | Measure | Metrics)


def refuse_functions(given: Any) -> None:
    """Raise TypeError where `eval_metric` of a ranker on a cluster holds a function."""
    for function in split_metrics(given)[1]:
        raise TypeError(
            f"eval_metric holds {function!r}; expected names and measures: on a cluster a function "
            "would see the rows of one worker only"
        )


def metric_functions(given: Any, by_query: bool) -> list[MetricFunction]:
    """Return the functions of `eval_metric`.

    A function of two arguments is called for each query if `by_query` is true.

    Raises
    ------
    TypeError
        If a function takes other arguments than the boosters pass.
    """
    return [_metric_function(function, by_query) for function in split_metrics(given)[1]]


def _metric_function(function: Callable[..., Any], by_query: bool) -> MetricFunction:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:
        parameters = []
    # XGBoost passes two arguments whatever others have a default; LightGBM counts all of them.
    needed = [
        p
        for p in parameters
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    n = len(needed if by_query else parameters)
    if n not in (2, 3, 4):
        raise TypeError(
            f"eval_metric holds {function!r}, which takes {n} arguments; expected "
            f"{EXPECTED_METRICS}"
        )
    return MetricFunction(function, n, by_query and n == 2)


def check_grouped(functions: Sequence[MetricFunction], rows: RankingRows, name: str) -> None:
    """Raise ValueError if a function takes query sizes, and rows of a query are not adjacent."""
    taking = [one.function for one in functions if one.n_arguments == 4]
    if taking and rows.data.queries.rows is not None:
        raise ValueError(
            f"eval_metric holds {taking[0]!r}, which takes group, but the rows of {name} are not "
            "query by query; expected all rows of a query next to each other, or a function of "
            "(y_true, y_pred, weight)"
        )


def values_of_round(
    measured: Sequence[tuple[str, float]],
    functions: Sequence[MetricFunction],
    rows: RankingRows,
    scores: Array,
) -> list[Value]:
    """Return the values of measures, then those of functions, of an evaluation set after a round.

    Raises
    ------
    ValueError
        If two of them have the same name.
    """
    values: list[Value] = [(name, value, True) for name, value in measured]
    for function in functions:
        values += function(rows, scores)
    names = [name for name, *_ in values]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f"eval_metric reports {name!r} {names.count(name)} times; expected distinct names"
            )
    return values
