"""The columns of a data frame that a fit reads, checked before anything runs."""

from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    AtomicType,
    BooleanType,
    DoubleType,
    FloatType,
    IntegralType,
    NumericType,
)

# How the columns are called on the way to a worker; no feature is called so.
QID, LABEL, WEIGHT, VALID = "gapboost qid", "gapboost label", "gapboost weight", "gapboost valid"
START, POSITION, ROW = "gapboost start", "gapboost position", "gapboost row"
PREDICTION = "gapboost prediction"


class Roles(NamedTuple):
    """Names of columns by their contents; None for columns that are not given."""

    qid: str
    label: str
    weight: str | None = None
    valid: str | None = None
    start: str | None = None
    position: str | None = None
    prediction: str | None = None

    def selected(self, dataset: DataFrame) -> list[Column]:
        """The columns, numbers as doubles, under their names on the way.

        Raises
        ------
        ValueError
            If the data frame lacks one, or it is of another type.
        """
        check_columns(dataset, self._asdict())
        _check_types(dataset, self)
        numbers = {
            LABEL: self.label,
            WEIGHT: self.weight,
            START: self.start,
            PREDICTION: self.prediction,
        }
        others = {QID: self.qid, VALID: self.valid, POSITION: self.position}
        return [
            *(
                column(name).cast("double").alias(alias)
                for alias, name in numbers.items()
                if name is not None
            ),
            *(column(name).alias(alias) for alias, name in others.items() if name is not None),
        ]


def column(name: str) -> Column:
    """Return the column of this name: a dot in it means no field of a struct."""
    return F.col("`" + name.replace("`", "``") + "`")


def check_columns(dataset: DataFrame, names: dict[str, str | None]) -> None:
    """Refuse a data frame that lacks one of the columns in ``{role: name}``."""
    for role, name in names.items():
        if name is not None and dataset.columns.count(name) != 1:
            parameter = {"valid": "validation_indicator_col", "start": "base_margin_col"}.get(
                role, f"{role}_col"
            )
            raise ValueError(
                f"{parameter} is {name!r}; expected the name of one column of the data frame, "
                f"which has {', '.join(map(repr, dataset.columns))}"
            )


def check_features(dataset: DataFrame, names: list[str]) -> None:
    """Refuse feature columns that are missing, named twice, or of a type unknown to XGBoost."""
    for name in names:
        check_columns(dataset, {"features": name})
        if names.count(name) > 1:
            raise ValueError(
                f"features_col names {name!r} {names.count(name)} times; expected different columns"
            )
        kind = dataset.schema[name].dataType
        if not isinstance(kind, IntegralType | FloatType | DoubleType):
            raise ValueError(
                f"features_col {name!r} is of type {kind.simpleString()}; expected integers, "
                "floats or doubles"
            )


def _check_types(dataset: DataFrame, roles: Roles) -> None:
    types = dict(
        zip(dataset.columns, (field.dataType for field in dataset.schema.fields), strict=True)
    )
    for parameter, name in (
        ("label_col", roles.label),
        ("weight_col", roles.weight),
        ("base_margin_col", roles.start),
        ("prediction_col", roles.prediction),
    ):
        if name is not None and not isinstance(types[name], NumericType):
            raise ValueError(
                f"{parameter} {name!r} is of type {types[name].simpleString()}; expected numbers"
            )
    if roles.valid is not None and not isinstance(types[roles.valid], BooleanType):
        raise ValueError(
            f"validation_indicator_col {roles.valid!r} is of type "
            f"{types[roles.valid].simpleString()}; expected booleans"
        )
    for parameter, name in (("qid_col", roles.qid), ("position_col", roles.position)):
        if name is not None and not isinstance(types[name], AtomicType):
            raise ValueError(
                f"{parameter} {name!r} is of type {types[name].simpleString()}; expected numbers, "
                "strings or times"
            )
