"""Folds of whole queries for Spark's `CrossValidator`, which deals out rows otherwise."""

import re

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from gapboost._data.arguments import whole
from gapboost.spark.columns import check_columns, column

# The column of random numbers by which CrossValidator (without foldCol) and TrainValidationSplit
# divide the rows.
RANDOM_FOLDS = re.compile(r"(\w+)_[0-9a-f]{12}_rand")


def query_folds(
    dataset: DataFrame,
    n_folds: int,
    *,
    qid_col: str = "qid",
    fold_col: str = "fold",
    random_state: int = 0,
) -> DataFrame:
    """Return the data frame with the number of the fold of each query as a column.

    Parameters
    ----------
    dataset : DataFrame
    n_folds : int
    qid_col : str, default="qid"
    fold_col : str, default="fold"
        The new column of ints from 0 on: ``CrossValidator(numFolds=n_folds, foldCol=fold_col)``.
    random_state : int, default=0
        Other numbers deal the queries out otherwise.

    Raises
    ------
    ValueError
        If `n_folds` is below 2, `dataset` has no column `qid_col`, or has a column `fold_col`
        already.
    """
    n_folds = whole(n_folds, "n_folds", 2)
    check_columns(dataset, {"qid": qid_col})
    if fold_col in dataset.columns:
        raise ValueError(f"fold_col is {fold_col!r}, which the data frame has; expected a new name")
    drawn = F.xxhash64(F.lit(whole(random_state, "random_state", 0)), column(qid_col))
    return dataset.withColumn(fold_col, F.pmod(drawn, F.lit(n_folds)).cast("int"))


def refuse_random_folds(dataset: DataFrame) -> None:
    """Raise for a part of a data frame that one of Spark's searches divided row by row.

    Raises
    ------
    ValueError
        If the data frame has the search's column of random numbers.
    """
    for name in dataset.columns:
        match = RANDOM_FOLDS.fullmatch(name)
        if match is not None:
            raise ValueError(
                f"{match[1]} divides the rows at random, and puts documents of one query into both "
                "parts; expected folds of whole queries: CrossValidator(..., foldCol='fold') on "
                "gapboost.spark.query_folds(dataset, n_folds)"
            )
