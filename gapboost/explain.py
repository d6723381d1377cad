"""Contributions of the features to score differences, to the scores of a query, and to a measure.

Contributions say how a fitted ranker computes its scores. They do not say why a document is
relevant. `pair` and `query` return `shap.Explanation`, which shap draws; `measure` returns a data
frame.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils import check_consistent_length

from gapboost.data import (
    Array,
    ArrayLike,
    Queries,
    QueryIds,
    column_places,
    feature_names,
    features,
    group_by_query,
    grouped_rows,
    pop_query_ids,
    rows_of,
)
from gapboost.evaluation import PerQuery, QueryValues
from gapboost.measures import Measure, as_measure
from gapboost.measures.labels import grade_limit
from gapboost.optional import DataFrame, imported
from gapboost.preprocessing.pipeline import last_step, library_of, transform
from gapboost.validation import short_repr

__all__ = ["measure", "pair", "query"]

# Largest difference of two sums of contributions that is rounding, relative to the largest sum.
# XGBoost computes contributions in float32.
ROUNDING = {"lightgbm": 1e-12, "xgboost": 1e-6}

# Beyond this share of the largest score, contributions do not explain the scores.
NOT_ROUNDING = 1e-3


def pair(ranker: Any, X: Any, a: int, b: int, qid: QueryIds = None) -> Any:
    """Return the contributions of the features to the score of row `a` minus the score of row `b`.

    Parameters
    ----------
    ranker : fitted ranker, Booster, or Pipeline that ends in one
        Of gapboost, LightGBM or XGBoost.
    X : array-like of shape (N, n_features)
        Columns as in training; a column ``qid`` of a data frame is left out.
    a, b : int
        Rows of `X`, counted from 0.
    qid : array-like of shape (N,), optional
        Query id of each row, or the column ``qid`` of a data frame `X`: for steps of a pipeline
        that request it, such as query-relative features, and to check that the rows are of one
        query.

    Returns
    -------
    shap.Explanation
        ``values``, float64 of shape (n_features,), sum to the score difference. ``base_values`` is
        the score of `b`, so that ``shap.plots.waterfall`` leads from the score of `b` to that of
        `a`. ``data`` has the values of both rows, as text.

    Raises
    ------
    ValueError, TypeError
        If an argument is unusable, the rows are of different queries, or the library has no
        contributions for the model.
    IndexError
        If `X` has no row `a` or `b`.
    NotFittedError
        Before `fit`.
    ImportError
        Without shap.

    Notes
    -----
    The contributions are exact Shapley values of the trees, as ``pred_contrib`` of the libraries
    computes them; for a linear model they are a weight times the difference of two values.
    LightGBM's sums equal the score difference to 1e-12 of the scores. XGBoost adds up trees in
    float32. Of a model with another objective, such as a classifier, the scores are raw: before
    the transformation of the objective.

    Examples
    --------
    >>> from gapboost import explain
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.lightgbm import LGBMGAPRanker
    >>> train, vali, test = load_digits_ranking((60, 20, 40), 20)
    >>> ranker = LGBMGAPRanker(n_estimators=20, n_jobs=1, verbose=-1)
    >>> ranker = ranker.fit(train.X, train.y, qid=train.qid)
    >>> found = explain.pair(ranker, test.X, 0, 1)
    >>> scores = ranker.predict(test.X)
    >>> bool(abs(found.values.sum() - (scores[0] - scores[1])) < 1e-6)
    True
    """
    _, qid = pop_query_ids(X, qid)
    ranker, X, names = model_and_table(ranker, X, qid)
    for name, row in (("a", a), ("b", b)):
        if not isinstance(row, int | np.integer):
            raise TypeError(f"{name} is {row!r}; expected the number of a row, counted from 0")
        if not -X.shape[0] <= row < X.shape[0]:
            raise IndexError(
                f"{name} is {row}, but X has {X.shape[0]} rows; expected the number of a row, "
                "counted from 0, such as X.index.get_loc(label)"
            )
    queries = grouped_rows(qid, X.shape[0], rows_of="X")
    first, second = queries.codes[[a, b]]
    if first != second:
        raise ValueError(
            f"a is a row of query {queries.ids[first]} and b of query {queries.ids[second]}; "
            "expected rows of one query"
        )
    both = rows_of(X, np.array([a, b]))
    values, scores, _ = contributions(ranker, both)
    data = [f"{_shown(one)} | {_shown(other)}" for one, other in zip(*_cells(both), strict=True)]
    return _explanation(values[0] - values[1], scores[1], np.array(data), names)


def query(ranker: Any, X: Any, qid: QueryIds = None) -> Any:
    """Return the contributions of the features to the scores, minus their means in the query.

    Parameters
    ----------
    ranker, X
        As in `pair`.
    qid : array-like of shape (N,), optional
        Query id of each row, in any order of rows; or the column ``qid`` of a data frame `X`.
        Without either, all rows are one query.

    Returns
    -------
    shap.Explanation
        ``values``, float64 of shape (N, n_features), sum in each row to the score minus the mean
        score of the query, which is in ``base_values``. Draw the rows of one query, such as by
        ``shap.plots.heatmap(found[rows])``.

    Raises
    ------
    ValueError, TypeError, NotFittedError, ImportError
        As in `pair`.

    Examples
    --------
    >>> from gapboost import explain
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.lightgbm import LGBMGAPRanker
    >>> train, vali, test = load_digits_ranking((60, 20, 40), 20)
    >>> ranker = LGBMGAPRanker(n_estimators=20, n_jobs=1, verbose=-1)
    >>> ranker = ranker.fit(train.X, train.y, qid=train.qid)
    >>> explain.query(ranker, test.X, test.qid).values.shape
    (800, 23)
    """
    _, qid = pop_query_ids(X, qid)
    ranker, X, names = model_and_table(ranker, X, qid)
    queries = grouped_rows(qid, X.shape[0], rows_of="X")
    values, scores, _ = contributions(ranker, X)
    sums, totals = (
        np.add.reduceat(queries.grouped(rows), queries.offsets[:-1]) for rows in (values, scores)
    )
    means = (sums / queries.sizes[:, None])[queries.codes]
    base = (totals / queries.sizes)[queries.codes]
    return _explanation(values - means, base, _cells(X), names)


def measure(
    ranker: object,
    X: object,
    y: ArrayLike,
    qid: QueryIds = None,
    measure: str | Measure = "ndcg@10",
) -> DataFrame:
    """Return the loss of a measure, by query, without the contribution of a feature.

    Parameters
    ----------
    ranker, X
        As in `pair`.
    y : array-like of shape (N,), or of several labels (N, L)
        Grades, as in `gapboost.evaluate`.
    qid : array-like of shape (N,), optional
        As in `query`.
    measure : str or Measure, optional
        By default ``"ndcg@10"``. With ``g=None`` a graded measure is uniform over the grades that
        occur in `y`.

    Returns
    -------
    pandas.DataFrame of shape (Q, n_features)
        Value with all contributions minus the value without that of the feature. The rows are
        queries in the order in which they first occur. Losses of several features do not add up.

    Raises
    ------
    ValueError, TypeError, NotFittedError
        As in `pair`.

    Notes
    -----
    The model is not trained again. A feature whose content other features share may have a small
    loss, and so may each of them. Documents with equal scores are tied, as in `gapboost.evaluate`.
    Sums without a contribution are tied if they differ by rounding alone: from one to the next by
    1e-12 of the largest in the query with LightGBM, and by 1e-6 with XGBoost.

    Examples
    --------
    >>> from gapboost import explain
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.lightgbm import LGBMGAPRanker
    >>> train, vali, test = load_digits_ranking((60, 20, 40), 20)
    >>> ranker = LGBMGAPRanker(n_estimators=20, n_jobs=1, verbose=-1)
    >>> ranker = ranker.fit(train.X, train.y, qid=train.qid)
    >>> explain.measure(ranker, test.X, test.y, test.qid, "gap").shape
    (40, 23)
    """
    wanted = as_measure(measure)
    _, qid = pop_query_ids(X, qid)
    ranker, X, names = model_and_table(ranker, X, qid)
    check_consistent_length(X, y)
    data = group_by_query(
        y,
        qid,
        limit=grade_limit([wanted]),
        names=("y", "qid", "sample_weight"),
        real=True,
        beside={"X": X},
    )
    queries, resolved = data.queries, wanted.resolved(data.occurring)
    found, scores, rounding = contributions(ranker, X)
    values, begins = queries.grouped(found), queries.offsets[:-1]
    values_of = QueryValues([resolved], data)
    (full,) = values_of(queries.grouped(scores))
    total = values.sum(axis=1)
    losses = []
    for column in values.T:
        moved = np.minimum.reduceat(column, begins) < np.maximum.reduceat(column, begins)
        left = _with_ties(total - column, queries, rounding)
        (without,) = values_of(left)
        losses.append(np.where(moved, full - without, 0.0))
    by_number: dict[object, Array] = dict(enumerate(losses))
    # Names may occur twice.
    return PerQuery(by_number, queries.ids).to_pandas().set_axis(list(names), axis=1)


def _with_ties(scores: Array, queries: Queries, rounding: float) -> Array:
    """Return numbers in the order of the scores, equal where these differ by rounding alone."""
    begins = queries.offsets[:-1]
    order = np.lexsort((scores, queries.numbers))
    allowed = rounding * np.repeat(np.maximum.reduceat(np.abs(scores), begins), queries.sizes)
    # The order of the queries is that of the rows already.
    higher = np.diff(scores[order], prepend=-np.inf) > allowed
    higher[begins] = True
    ranks = np.empty(len(scores))
    ranks[order] = np.cumsum(higher)
    return ranks


def _cells(X: Any) -> Array:
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def _shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)


def _explanation(values: Array, base: float | Array, data: Array, names: Sequence[str]) -> Any:
    shap = imported("shap", "explain", "for explanations")
    return shap.Explanation(values, base_values=base, data=data, feature_names=list(names))


# --- models ---------------------------------------------------------------------------------------


def model_and_table(ranker: Any, X: Any, qid: QueryIds) -> tuple[Any, Any, tuple[str, ...]]:
    """Return the last step of a pipeline, the table that it reads, and the names of its columns."""
    names: tuple[str, ...] = ()
    X = features(transform(ranker, X, qid))
    if isinstance(ranker, Pipeline) and len(ranker) > 1:
        with suppress(AttributeError):  # of a step without names
            names = tuple(map(str, ranker[:-1].get_feature_names_out()))
    found = feature_names(X) or names
    return last_step(ranker), X, found if len(found) == X.shape[1] else column_places(X)


def contributions(ranker: object, X: object) -> tuple[Array, Array, float]:
    """Return the contributions of a fitted model to the scores of the rows of `X`.

    Contributions, float64 of shape (N, n_features), sum in each row to the score, (N,), minus a
    constant. The third value is the relative difference of two such sums that is rounding.

    Raises
    ------
    TypeError
        If the ranker is not one of LightGBM or XGBoost.
    NotFittedError
        Before `fit`.
    ValueError
        If the library has no exact contributions for the model.
    """
    library = library_of(ranker)
    if library not in ROUNDING or not hasattr(ranker, "predict"):
        raise TypeError(
            f"ranker is {short_repr(ranker)}; expected a fitted ranker of gapboost, LightGBM or "
            "XGBoost, a Booster, or a pipeline that ends in one"
        )
    scores, values = (_of_lightgbm if library == "lightgbm" else _of_xgboost)(ranker, X)
    if scores.ndim > 1:
        raise ValueError(f"ranker has {scores.shape[1]} scores a row; expected one score a row")
    # Without the last column, which is the same in each row.
    values = values[:, :-1].astype(np.float64)
    rest = scores - values.sum(axis=1)
    if np.ptp(rest) > NOT_ROUNDING * np.abs(scores).max():
        raise ValueError(
            "ranker has contributions whose sums differ from the scores by up to "
            f"{np.ptp(rest) / 2:.3g}; expected a model for which {library} has exact contributions"
        )
    return values, scores, ROUNDING[library]


def _of_lightgbm(model: Any, X: Any) -> tuple[Array, Array]:
    scores: Array = model.predict(X, raw_score=True)
    values = model.predict(X, pred_contrib=True)
    booster = getattr(model, "booster_", model)
    if "\naverage_output\n" in booster.model_to_string(num_iteration=1):
        # LightGBM predicts the mean of the trees of a random forest, but both of these are sums.
        trees = max(booster.best_iteration, 0) or booster.current_iteration()
        scores, values = scores / trees, values / trees
    return scores, values.toarray() if sparse.issparse(values) else values


def _of_xgboost(model: Any, X: Any) -> tuple[Array, Array]:
    import xgboost

    booster, rounds, options = model, 0, {"enable_categorical": True}
    if isinstance(model, xgboost.XGBModel):
        booster = model.get_booster()
        # As `predict` does. A Booster predicts by all rounds.
        rounds = int(booster.attr("best_iteration") or -1) + 1
        names = ("missing", "feature_types", "enable_categorical")
        options = {name: getattr(model, name) for name in names}
    data, used = xgboost.DMatrix(X, **options), (0, rounds)
    scores = booster.predict(data, iteration_range=used, output_margin=True)
    values = booster.predict(data, iteration_range=used, pred_contribs=True)
    return scores.astype(np.float64), values
