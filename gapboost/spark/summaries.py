"""Summaries of a whole data frame by aggregation, before any worker trains."""

from typing import Any

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from gapboost._data.grades import MAX_GRADE, check_highest, occurring_grades
from gapboost._data.ids import missing_ids
from gapboost._data.summary import DataSummary
from gapboost._data.weights import LEAST_WEIGHT, MOST_WEIGHT
from gapboost.spark.columns import LABEL, POSITION, PREDICTION, QID, START, VALID, WEIGHT, Roles

# Columns of scores, which are to be finite.
SCORES = (START, PREDICTION)


def summaries(columns: DataFrame, roles: Roles) -> tuple[DataSummary, DataSummary | None]:
    """Summarize the training set and the validation set, after checks of their values.

    Raises
    ------
    ValueError
        If a value is missing or unusable, or the indicator cuts a query.
    """
    _check_values(columns, roles)
    valid = F.col(VALID) if roles.valid is not None else F.lit(False)
    weight = F.col(WEIGHT) if roles.weight is not None else F.lit(1.0)
    columns = columns.select(QID, LABEL, weight.alias(WEIGHT), valid.alias(VALID))
    by_query = columns.groupBy(QID).agg(
        F.count(F.lit(1)).alias("size"),
        (F.min(LABEL) < F.max(LABEL)).alias("contrast"),
        F.avg(WEIGHT).alias("weight"),
        F.max(VALID).alias("valid"),
        (F.min(VALID) != F.max(VALID)).alias("cut"),
    )
    sets = by_query.groupBy("valid").agg(
        F.count(F.lit(1)).alias("n_queries"),
        F.sum("size").alias("n_rows"),
        _count(F.col("contrast")).alias("n_contrasts"),
        F.sum("weight").alias("weight"),
        F.sum(F.col("weight") * F.col("size")).alias("weighted_rows"),
        _count(F.col("cut")).alias("n_cut"),
        F.first(F.when(F.col("cut"), F.col(QID)), ignorenulls=True).alias("one_cut"),
    )
    found = {row["valid"]: row for row in sets.collect()}
    for row in found.values():
        _check_set(row, roles)
    if False not in found:
        raise ValueError(
            "the data frame has no training rows; expected at least one"
            + (f", where {roles.valid} is false" if roles.valid else "")
        )
    if roles.valid is not None and True not in found:
        raise ValueError(
            f"validation_indicator_col {roles.valid!r} is false in every row; expected true for "
            "some queries"
        )
    grades = _grades(columns)
    sets_of = {
        valid: DataSummary(
            int(row["n_rows"]),
            int(row["n_queries"]),
            int(row["n_contrasts"]),
            float(row["weighted_rows"] / row["weight"]),
            *grades[valid],
        )
        for valid, row in found.items()
    }
    return sets_of[False], sets_of.get(True)


def positions_of(columns: DataFrame) -> list[Any]:
    """The distinct positions, ascending: the factors of all workers have this order."""
    return [row[0] for row in columns.select(POSITION).distinct().orderBy(POSITION).collect()]


def _grades(columns: DataFrame) -> dict[bool, tuple[tuple[float, ...], int]]:
    """Return the grades and the number of grades of each set.

    Fractional grades are counted by Spark and not collected: there may be as many as rows.
    """
    label = F.col(LABEL)
    is_whole = label == F.floor(label)
    sets = columns.groupBy(VALID).agg(
        F.collect_set(F.when(is_whole, label)).alias("whole"),
        F.max(F.when(~is_whole, label)).alias("fraction"),
        F.count_distinct(F.when(~is_whole, label)).alias("n_fractions"),
        F.max(label).alias("highest"),
    )
    return {
        row[VALID]: (
            tuple(
                occurring_grades(
                    np.array(sorted(row["whole"])), row["fraction"], row["highest"]
                ).tolist()
            ),
            len(row["whole"]) + row["n_fractions"],
        )
        for row in sets.collect()
    }


def _count(condition: Column) -> Column:
    return F.sum(condition.cast("long"))


def _check_values(columns: DataFrame, roles: Roles) -> None:
    """Raise ValueError for missing values, unusable grades, weights and scores."""
    names = {
        LABEL: f"label_col {roles.label!r}",
        WEIGHT: f"weight_col {roles.weight!r}",
        VALID: f"validation_indicator_col {roles.valid!r}",
        START: f"base_margin_col {roles.start!r}",
        POSITION: f"position_col {roles.position!r}",
        PREDICTION: f"prediction_col {roles.prediction!r}",
    }
    names = {name: own for name, own in names.items() if name in columns.columns}
    found = columns.agg(*_counts(columns)).collect()[0]
    if not found["rows"]:
        raise ValueError("the data frame has no rows; expected at least one query")
    if found[QID]:
        raise missing_ids(found[QID], f"qid_col {roles.qid!r}", "query id")
    for name, own in names.items():
        if found[name]:
            raise ValueError(
                f"{own} holds {found[name]} missing values (null, NaN); expected one in every row"
            )
    if found["highest"] == float("inf") or found["lowest"] == float("-inf"):
        raise ValueError(f"{names[LABEL]} holds infinite values; expected grades >= 0")
    if found["lowest"] < 0:
        raise ValueError(
            f"{names[LABEL]} holds the negative grade {found['lowest']:g}; expected grades >= 0"
        )
    if found["highest"] > MAX_GRADE:
        check_highest(found["highest"], names[LABEL], None)
    if WEIGHT in names and found["weights"]:
        raise ValueError(
            f"{names[WEIGHT]} holds a negative or infinite value; expected finite weights >= 0"
        )
    for name in SCORES:
        if name in names and found[f"infinite {name}"]:
            raise ValueError(f"{names[name]} holds infinite values; expected finite scores")


def _counts(columns: DataFrame) -> list[Column]:
    """Return counts of rows, of missing values by column, and of unusable weights and scores."""
    types = dict(columns.dtypes)

    def missing(name: str) -> Column:
        null = F.col(name).isNull()
        return null | F.isnan(name) if types[name] in ("double", "float") else null

    def infinite(name: str) -> Column:
        return F.col(name).isin(float("inf"), float("-inf"))

    counts = [_count(missing(name)).alias(name) for name in types]
    counts += [
        F.min(LABEL).alias("lowest"),
        F.max(LABEL).alias("highest"),
        F.count(F.lit(1)).alias("rows"),
    ]
    if WEIGHT in types:
        counts.append(_count((F.col(WEIGHT) < 0) | infinite(WEIGHT)).alias("weights"))
    return counts + [
        _count(infinite(name)).alias(f"infinite {name}") for name in SCORES if name in types
    ]


def _check_set(row: Any, roles: Roles) -> None:
    if row["n_cut"]:
        raise ValueError(
            f"validation_indicator_col {roles.valid!r} varies within {row['n_cut']} queries, such "
            f"as {row['one_cut']!r}; expected whole queries, in either the training or the "
            "validation rows"
        )
    if not LEAST_WEIGHT <= row["weight"] <= MOST_WEIGHT:
        raise ValueError(
            f"weight_col {roles.weight!r} has the sum {row['weight']:g} over the queries; expected "
            f"one from {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}: multiply all weights by the same number"
        )
