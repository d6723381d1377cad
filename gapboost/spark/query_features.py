"""Query-relative features of a Spark data frame."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DoubleType, FloatType, StructField, StructType

from gapboost._data.arguments import ordered, shown
from gapboost.preprocessing import QueryRelativeFeatures
from gapboost.spark.columns import QID, ROW, check_columns, check_features, column

# Names of columns that exist only within the query plan.
ROWS, NEW = "gapboost rows", "gapboost new"


def query_relative_features(
    dataset: DataFrame,
    features_col: Sequence[str],
    *,
    qid_col: str = "qid",
    kinds: Sequence[str] = ("zscore",),
) -> DataFrame:
    """Return the data frame with z-scores or percentile ranks within each query as new columns.

    The new columns are those of `gapboost.preprocessing.query_relative_features`, for any
    partitions and any order of rows. Rows are brought together by query, and other columns of any
    type are kept.

    Parameters
    ----------
    dataset : DataFrame
    features_col : sequence of str
        Columns of integers, floats or doubles that get new columns. A null counts as NaN.
    qid_col : str, default="qid"
        The column of query ids.
    kinds : sequence of {"zscore", "rank"}, default=("zscore",)

    Returns
    -------
    DataFrame
        The columns of `dataset`, followed by ``a_zscore_in_query`` or ``a_rank_in_query`` for each
        kind and column ``a``: floats if all of `features_col` are, doubles otherwise.

    Raises
    ------
    ValueError
        If an argument is unusable. While the result is computed, Spark's error names an infinite
        value or a missing query id.
    """
    names = list(features_col) if ordered(features_col) else []
    if not names or not all(isinstance(name, str) for name in names):
        raise ValueError(
            f"features_col is {shown(features_col)}; expected a list of names of columns"
        )
    check_columns(dataset, {"qid": qid_col})
    check_features(dataset, names)
    transformer = QueryRelativeFeatures(kinds, n_jobs=1).fit(
        pd.DataFrame(0.0, [0], names), group=[1]
    )
    added = transformer.get_feature_names_out()[len(names) :].tolist()
    for name in added:
        if name in dataset.columns:
            raise ValueError(
                f"the data frame has a column {name!r} already; expected no column with the name "
                "of a new one"
            )
    number = (
        FloatType()
        if all(isinstance(dataset.schema[name].dataType, FloatType) for name in names)
        else DoubleType()
    )
    numbers = ArrayType(number)

    @F.pandas_udf(StructType([StructField(f"n{i}", numbers) for i in range(len(added))]))
    def new_columns(missing: pd.Series, rows: pd.Series, *features: pd.Series) -> pd.DataFrame:
        if missing.any():
            raise ValueError(
                f"qid_col {qid_col!r} holds missing values (null, NaN); expected a query id in "
                "every row"
            )
        return _new_columns(transformer, rows, features)

    # A query becomes one row, with its rows as an array. Fields are numbered: names may hold dots.
    fields = [column(name).alias(f"c{i}") for i, name in enumerate(dataset.columns)]
    numbered = dataset.select(
        column(qid_col).alias(QID), *fields, F.monotonically_increasing_id().alias(ROW)
    )
    queries = numbered.groupBy(QID).agg(
        F.collect_list(F.struct(ROW, *(f"c{i}" for i in range(len(fields))))).alias(ROWS)
    )
    arrays = [F.col(ROWS)[f"c{dataset.columns.index(name)}"].cast(numbers) for name in names]
    found = queries.select(
        ROWS, new_columns(_is_missing(dataset, qid_col), F.col(ROWS)[ROW], *arrays).alias(NEW)
    )
    zipped = F.arrays_zip(
        F.col(ROWS), *(F.col(NEW)[f"n{i}"].alias(f"n{i}") for i in range(len(added)))
    )
    each = found.select(F.explode(zipped).alias(NEW)).select(f"`{NEW}`.*")
    return each.select(
        *(F.col(f"`{ROWS}`.c{i}").alias(name) for i, name in enumerate(dataset.columns)),
        *(F.col(f"n{i}").alias(name) for i, name in enumerate(added)),
    )


def _is_missing(dataset: DataFrame, qid_col: str) -> Column:
    """Return a column that is true for a missing query id."""
    number = isinstance(dataset.schema[qid_col].dataType, FloatType | DoubleType)
    return F.col(QID).isNull() | F.isnan(QID) if number else F.col(QID).isNull()


def _new_columns(
    transformer: QueryRelativeFeatures, rows: pd.Series, features: Sequence[pd.Series]
) -> pd.DataFrame:
    """Return the new columns of some queries, an array a query.

    Parameters
    ----------
    transformer : QueryRelativeFeatures
    rows : Series of ndarrays
        Numbers of the rows in the data frame, for each query. They set the order in which a query's
        values are added up.
    features : sequence of Series of ndarrays
    """
    sizes = [len(one) for one in rows]
    order = np.argsort(np.concatenate(rows.tolist()), kind="stable")
    names = transformer.feature_names_in_
    X = pd.DataFrame(
        {
            name: np.concatenate(each.tolist())[order]
            for name, each in zip(names, features, strict=True)
        }
    )
    added = transformer.fit_transform(X, qid=np.repeat(np.arange(len(sizes)), sizes)[order]).iloc[
        :, len(names) :
    ]
    new = np.empty(added.shape, X.dtypes.iloc[0])
    new[order] = added
    ends = np.cumsum(sizes)[:-1]
    return pd.DataFrame({f"n{i}": np.split(values, ends) for i, values in enumerate(new.T)})
