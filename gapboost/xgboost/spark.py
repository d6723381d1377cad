"""XGBoost ranker on Spark: a subclass of `xgboost.spark.SparkXGBRanker`."""

from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from gapboost._boosters.migration import refuse
from gapboost.data import group_by_query
from gapboost.measures import Measure
from gapboost.optional import imported
from gapboost.xgboost import XGBGAPRanker, _compat
from gapboost.xgboost.callbacks import XGBoostMetric, XGBoostObjective, training_callbacks
from gapboost.xgboost.models import checked_copy, to_continue

imported("pyspark", "spark", "by gapboost.xgboost.spark")

import pandas as pd  # noqa: E402
import pyspark.sql.functions as F  # noqa: E402
from pyspark.sql import DataFrame  # noqa: E402
from xgboost.spark import SparkXGBRanker, SparkXGBRankerModel  # noqa: E402

# Not part of XGBoost's interface, checked with 3.2.0, as are the methods with an underscore that
# the classes override.
from xgboost.spark.core import alias  # noqa: E402

__all__ = ["SparkXGBGAPRanker", "SparkXGBGAPRankerModel"]

NO_WEIGHTS = "XGBoost has no weights of queries and positions on Spark"


class SparkXGBGAPRankerModel(SparkXGBRankerModel):
    """Model of `SparkXGBGAPRanker`: adds the column of predictions to a data frame.

    Its methods are those of `xgboost.spark.SparkXGBRankerModel`, and `to_local`, which returns a
    ranker that knows its measure.
    """

    @classmethod
    def _xgb_cls(cls) -> type[XGBGAPRanker]:
        return XGBGAPRanker

    def to_local(self) -> XGBGAPRanker:
        """Return the local ranker with the same booster."""
        local: XGBGAPRanker = deepcopy(self._xgb_sklearn_model)
        return local


class SparkXGBGAPRanker(SparkXGBRanker):
    """`XGBGAPRanker` trained by XGBoost on Spark.

    It promises that ``g=None`` is that of all training rows, that no query is cut, and that metrics
    are exact means over all queries: early stopping ends on all workers in the same round. It does
    not promise the model of one machine: ties, for one, are ordered within each worker.

    It has no weights and no positions.

    Parameters
    ----------
    measure, g, objective, stopping_metric
        As in `XGBGAPRanker`, with the name of an objective. Spark keeps a measure as its text.
    eval_metric : str or list of str, optional
        Names of measures to report besides.
    qid_col : str
        Column of query ids: anything that Spark can sort. Rows may come in any order.
    validation_indicator_col : str, optional
        Column of booleans: True in the rows of validation queries, which are not trained on. Use
        one column of arrays or vectors as `features_col` then, no list.
    **kwargs
        Parameters of `xgboost.spark.SparkXGBRanker`, such as `num_workers`. `force_repartition`
        changes nothing, as rows are always brought together by query.

    Examples
    --------
    With a data frame of the columns features, label and qid::

        model = SparkXGBGAPRanker(measure="gap", qid_col="qid", num_workers=2).fit(frame)
        model.transform(test)
    """

    @classmethod
    def _xgb_cls(cls) -> type[XGBGAPRanker]:
        return XGBGAPRanker

    @classmethod
    def _pyspark_model_cls(cls) -> type[SparkXGBGAPRankerModel]:
        return SparkXGBGAPRankerModel

    def setParams(self, **kwargs: object) -> None:
        """Set parameters; measures are kept as text, and a model to continue as a booster."""
        given = {n: str(v) if isinstance(v, Measure) else v for n, v in kwargs.items()}
        if given.get("xgb_model") is not None:
            given["xgb_model"] = to_continue(checked_copy(given["xgb_model"]))
        super().setParams(**given)

    def _validate_params(self) -> None:
        super()._validate_params()
        weight = self._col_is_defined_not_empty(self.weightCol)
        given = {"weight_col": weight or None, "position": self.getOrDefault("position")}
        refuse(given, NO_WEIGHTS)

    def _repartition_needed(self, dataset: DataFrame) -> bool:
        return False  # `_prepare_input` does

    def _prepare_input(self, dataset: DataFrame) -> tuple["_WholeQueries", object]:
        # By a hash: ranges of ids may leave a worker without training rows.
        n_workers, qid = self.getOrDefault(self.num_workers), self.getOrDefault(self.qid_col)
        dataset, features = super()._prepare_input(dataset.repartition(n_workers, qid))
        return _WholeQueries(dataset), features

    def _get_xgb_parameters(self, dataset: DataFrame) -> tuple[dict[str, object], ...]:
        booster, train, matrix = super()._get_xgb_parameters(dataset)
        ranker = XGBGAPRanker(**self._gen_xgb_params_dict(gen_xgb_sklearn_estimator_param=True))
        plan = ranker._plan()
        trained = dataset.where(~F.col(alias.valid)) if alias.valid in dataset.columns else dataset
        counts = dict(trained.groupBy(alias.label).count().collect())
        grades = list(counts)
        # One query of all grades: it is checked as labels are, and has what all rows have.
        names = (self.getOrDefault(self.labelCol), "qid", "weight")
        data = group_by_query(
            grades, np.zeros(len(grades)), limit=plan.limit, names=names, real=True
        )
        data.summary.check_mixed_grades(names[0])
        plan = plan.resolved(data.occurring)
        self._objective = plan.objective
        if "xgb_model" in train:
            train["xgb_model"] = to_continue(checked_copy(train["xgb_model"]))
        n_jobs, rounds = booster["nthread"], train.pop("early_stopping_rounds", None)
        metric = XGBoostMetric(plan.measures, n_jobs)
        train["obj"], train["custom_metric"] = XGBoostObjective(plan.objective, n_jobs), metric
        train["callbacks"] = training_callbacks(train.get("callbacks"), rounds, plan, metric.names)
        return ranker._train_parameters(booster, sum(counts.values())), train, matrix

    def _convert_to_sklearn_model(self, booster: bytearray, config: str) -> XGBGAPRanker:
        ranker: XGBGAPRanker = super()._convert_to_sklearn_model(booster, config)
        ranker._trained_objective = self._objective
        return ranker


_compat.register_on_spark(SparkXGBGAPRanker, SparkXGBGAPRankerModel)


class _WholeQueries:
    """A data frame, sorted by query, whose partitions are read in batches of whole queries.

    XGBoost begins a new query with each batch, which Spark cuts anywhere.
    """

    def __init__(self, dataset: DataFrame) -> None:
        self._dataset = dataset

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dataset, name)

    def mapInPandas(self, function: object, schema: object) -> DataFrame:
        """Call `function` with the batches of each partition."""
        return self._dataset.mapInPandas(partial(_with_whole_queries, function), schema)


def _with_whole_queries(function: Any, batches: Iterator[pd.DataFrame]) -> Any:
    return function(_whole_queries(batches))


def _whole_queries(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Yield the rows of `batches` with whole queries in each.

    Query ids are numbered from 1, because XGBoost keeps 32 bits of an id.
    """
    number, rest = 0, None
    for batch in chain(batches, [None]):
        rows = rest if batch is None else pd.concat([rest, batch], ignore_index=True)
        if rows is None or not len(rows):
            continue
        ids = rows[alias.qid]
        end = len(rows) if batch is None else int((ids != ids.iloc[-1]).sum())
        numbers = number + ids.ne(ids.shift()).cumsum()[:end]
        rest = rows.iloc[end:]
        if end:
            number = int(numbers.iloc[-1])
            yield rows.iloc[:end].assign(**{alias.qid: numbers})
