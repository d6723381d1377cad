"""Spark ranker with the interface of `xgboost.spark.SparkXGBRanker`."""

from collections.abc import Sequence
from typing import Any

from pyspark import keyword_only
from pyspark.ml.param import Param, Params
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from xgboost.spark import SparkXGBRanker, SparkXGBRankerModel
from xgboost.spark.core import (
    _get_unwrapped_vec_cols,
    _validate_and_convert_feature_col_as_array_col,
)
from xgboost.spark.core import _validate_and_convert_feature_col_as_float_col_list as _float_columns
from xgboost.spark.estimator import _set_pyspark_xgb_cls_param_attrs
from xgboost.spark.summary import XGBoostTrainingSummary

from gapboost._boosters.described import described
from gapboost._boosters.eval_metric import refuse_functions
from gapboost._boosters.one_label import check_one_label
from gapboost._boosters.own_parameters import OWN_PARAMETERS
from gapboost._boosters.request import TrainingRequest
from gapboost._boosters.signature import taking
from gapboost._boosters.task import Task, make_task
from gapboost._data.grades import check_highest
from gapboost._data.summary import DataSummary
from gapboost._data.warned import warn_caller
from gapboost.measures import Measure
from gapboost.objectives import Objective
from gapboost.spark.columns import QID, ROW, Roles, check_columns, check_features
from gapboost.spark.evaluator import RankingMeasureEvaluator
from gapboost.spark.folds import query_folds, refuse_random_folds
from gapboost.spark.params import VALUES, GAPParams, as_text
from gapboost.spark.stage import check_slots, run_stage
from gapboost.spark.summaries import positions_of, summaries
from gapboost.spark.training import FeatureColumns, Fitted, WorkerJob, from_pieces
from gapboost.xgboost import XGBGAPRanker
from gapboost.xgboost.parameter_table import spelled
from gapboost.xgboost.ranker import NOT_OF_XGBOOST

# Arguments of `xgboost.train` that would take the place of the ranker's own.
OWN_ARGUMENTS = ("obj", "custom_metric", "maximize", "num_boost_round")


@described
class SparkXGBGAPRanker(GAPParams, SparkXGBRanker):
    """XGBoost trained for graded average precision or another measure, on Spark.

    Parameters
    ----------
    {own_parameters}
    qid_col : str
        Column of query ids: numbers, strings, times.
    position_col : str, optional
        Column of the positions at which documents were shown, as `position` of `XGBGAPRanker.fit`.
    validation_indicator_col : str, optional
        Column of booleans: True in the rows of validation queries, which are not trained on. Early
        stopping uses the mean of the measure over them.
    label_col : str, default="label"
        Grades: whole numbers, or fractions.
    weight_col : str, optional
        Weights of queries, or of documents where they differ within a query, as `sample_weight` of
        `XGBGAPRanker.fit`.
    num_workers : int, default=1
        Tasks that train; all of them run at once, each with ``spark.task.cpus`` threads.
    **kwargs
        Every other parameter of `xgboost.spark.SparkXGBRanker`. `force_repartition` and
        `repartition_random_shuffle` change nothing: rows are always brought together by query.

    Notes
    -----
    Measures and objectives are names, or values of gapboost, which Spark keeps as the text that
    they print.

    Rows come in any order and any partitions. The model is that of the local ranker on the rows in
    the order of the data frame where one worker trains, and apart from rounding, the order of ties
    and the bounds of bins where several do. `fit` reads the data frame four times: cache one that
    is dear to compute. Metrics are exact means over the queries of all workers.
    """

    # The documentation is built without pyspark: the signature is made before its decorator sees
    # the function.
    @keyword_only
    @taking(None, first=OWN_PARAMETERS)
    def __init__(self, *, position_col: str | None = None, **kwargs: Any) -> None:
        super().__init__(**self._input_kwargs)

    @classmethod
    def _pyspark_model_cls(cls) -> "type[SparkXGBGAPRankerModel]":
        return SparkXGBGAPRankerModel

    def setParams(self, **kwargs: Any) -> None:  # noqa: D102, Spark's name
        if kwargs.get("position_col") is None:
            kwargs.pop("position_col", None)
        super().setParams(**kwargs)

    def _validate_params(self) -> None:
        refuse_functions(self.getOrDefault(self.eval_metric))
        super()._validate_params()
        if self.getOrDefault(self.device) != "cpu":
            raise ValueError(
                f"device is {self.getOrDefault(self.device)!r}; expected 'cpu': XGBGAPRanker "
                "trains on a GPU"
            )
        if self.isSet(self.coll_cfg) and self.getOrDefault(self.coll_cfg) is not None:
            raise ValueError("coll_cfg is set; remove it: the first task starts the tracker")
        for name in OWN_ARGUMENTS:
            if name in self.getOrDefault(self.arbitrary_params_dict):
                raise ValueError(
                    f"{name} is set; remove it, and use measure, objective, eval_metric and "
                    "n_estimators"
                )

    def evaluator(
        self, measure: str | Measure = "gap", g: Sequence[float] | None = None
    ) -> RankingMeasureEvaluator:
        """Return an evaluator of the ranker's columns of queries, grades, weights and predictions.

        Parameters
        ----------
        measure, g
            As in `RankingMeasureEvaluator`.
        """
        roles = self._roles()
        return RankingMeasureEvaluator(  # type: ignore[no-any-return]
            measure=measure,
            g=g,
            qid_col=roles.qid,
            label_col=roles.label,
            prediction_col=self.getOrDefault(self.predictionCol),
            weight_col=roles.weight,
        )

    def query_folds(
        self, dataset: DataFrame, n_folds: int, *, fold_col: str = "fold", random_state: int = 0
    ) -> DataFrame:
        """Return `gapboost.spark.query_folds` of the data frame, by the ranker's query ids."""
        qid = self._roles().qid
        return query_folds(
            dataset, n_folds, qid_col=qid, fold_col=fold_col, random_state=random_state
        )

    def _fit(self, dataset: DataFrame) -> "SparkXGBGAPRankerModel":
        self._validate_params()
        refuse_random_folds(dataset)
        session = dataset.sparkSession
        n_workers = self.getOrDefault(self.num_workers)
        check_slots(session, n_workers)
        ranker, roles = self._ranker(), self._roles()
        request = ranker._request(eval_metric=spelled(ranker.eval_metric), position=roles.position)
        check_one_label(
            [request.objective.measure, *request.metrics], "measure", "label_col on Spark"
        )
        ranker._check_stopping({})
        features, feature_columns = self._features(dataset)
        selected = dataset.select(*roles.selected(dataset))
        train, valid = summaries(selected, roles)
        job = WorkerJob(
            ranker=ranker,
            task=_task(request, train, valid, f"label_col {roles.label!r}"),
            features=features,
            positions=None if roles.position is None else positions_of(selected),
            validated=valid is not None,
            of_booster={
                "verbose": self.getOrDefault("verbose"),
                "xgb_model": self.getOrDefault("xgb_model"),
                "feature_weights": ranker.feature_weights,
            },
            n_workers=n_workers,
        )
        # A repartition by QID alone is left out by Spark if a window or an earlier repartition
        # divides the rows alike, and adaptive execution may merge the partitions of that one. The
        # workers that are then missing would be waited for. The null keeps this repartition, and
        # changes no hash.
        rows = dataset.select(
            *roles.selected(dataset), *feature_columns, F.monotonically_increasing_id().alias(ROW)
        ).repartition(n_workers, QID, F.lit(None))
        fitted = from_pieces(run_stage(rows, job))
        if fitted.warning is not None:
            warn_caller(fitted.warning)
        return self._model(fitted)

    def _model(self, fitted: Fitted) -> "SparkXGBGAPRankerModel":
        ranker = self._ranker()
        ranker.load_model(bytearray(fitted.booster))
        ranker._remember({"evals_result_": fitted.history}, fitted.result)
        history = dict(zip(("training", "validation"), fitted.history.values(), strict=False))
        model = self._create_pyspark_model(ranker, XGBoostTrainingSummary.from_metrics(history))
        model._resetUid(self.uid)
        return self._copyValues(model)  # type: ignore[no-any-return]

    def _ranker(self) -> XGBGAPRanker:
        """The local ranker with these parameters, not fitted, as a task trains it."""
        parameters = self._gen_xgb_params_dict(gen_xgb_sklearn_estimator_param=True)
        conf = self._spark_conf()
        categorical = parameters.get("feature_types") is not None
        return XGBGAPRanker(
            **parameters,
            n_jobs=int(conf.get("spark.task.cpus", "1")),
            enable_categorical=categorical,
        )

    def _spark_conf(self) -> Any:
        from pyspark.sql import SparkSession

        return SparkSession.builder.getOrCreate().sparkContext.getConf()

    def _roles(self) -> Roles:
        def name(param: Any) -> str | None:
            return self.getOrDefault(param) if self._col_is_defined_not_empty(param) else None

        label, qid = name(self.labelCol), name(self.qid_col)
        assert label is not None
        if qid is None:
            raise ValueError("qid_col is missing; expected the name of the column of query ids")
        weight, validation = name(self.weightCol), name(self.validationIndicatorCol)
        start, position = name(self.base_margin_col), name(self.position_col)
        return Roles(qid, label, weight, validation, start, position)

    def _features(self, dataset: DataFrame) -> tuple[FeatureColumns, list[Any]]:
        """Return the format of the features and their columns."""
        names = self.getOrDefault("feature_names")
        columns = self.getOrDefault(self.features_cols)
        if columns:
            check_features(dataset, columns)
            if names is not None:
                raise ValueError(
                    "feature_names is set; remove it: features_col names a column for each feature"
                )
            return FeatureColumns(list(columns), False, None), _float_columns(dataset, columns)
        column = self.getOrDefault(self.featuresCol)
        check_columns(dataset, {"features": column})
        if self.getOrDefault(self.enable_sparse_data_optim):
            if names is not None:
                raise ValueError(
                    "feature_names is set; remove it: enable_sparse_data_optim takes no names"
                )
            return FeatureColumns(None, True, None), _get_unwrapped_vec_cols(F.col(column))
        return FeatureColumns(None, False, names), [
            _validate_and_convert_feature_col_as_array_col(dataset, column)
        ]


def _task(
    request: TrainingRequest, train: DataSummary, valid: DataSummary | None, label: str
) -> Task:
    """Check the grades of training and validation rows; resolve the request by the first."""
    train.check_grades(label, request.limit)
    task = make_task(request, train, label)
    check_highest(train.grades[-1], label, task.limit)
    if valid is not None:
        valid.check_grades(f"{label} of the validation rows", task.limit)
    return task


class SparkXGBGAPRankerModel(GAPParams, SparkXGBRankerModel):
    """Model that `SparkXGBGAPRanker.fit` returns; `transform` adds the scores of rows.

    Attributes
    ----------
    measure_, objective_, g_, best_iteration_, position_bias_
        As in `gapboost.xgboost.XGBGAPRanker`. A loaded model has no factors of positions.
    training_summary : XGBoostTrainingSummary
        Metrics of training and validation set, one value a round; a loaded model has none.
    """

    @property
    def objective_(self) -> Objective:  # noqa: D102
        return self.to_local().objective_

    @property
    def measure_(self) -> Measure:  # noqa: D102
        return self.to_local().measure_

    @property
    def g_(self) -> tuple[float, ...] | None:  # noqa: D102
        return self.to_local().g_

    @property
    def best_iteration_(self) -> int:  # noqa: D102
        return self.to_local().best_iteration_

    @property
    def position_bias_(self) -> dict[Any, float] | None:  # noqa: D102
        return self.to_local().position_bias_

    def _transform(self, dataset: DataFrame) -> DataFrame:
        columns, column = self.getOrDefault(self.features_cols), self.getOrDefault(self.featuresCol)
        # XGBoost takes it where the data frame lacks some of the others.
        if column not in dataset.columns:
            if columns:
                check_features(dataset, columns)
            else:
                check_columns(dataset, {"features": column})
        return super()._transform(dataset)

    def to_local(self) -> XGBGAPRanker:
        """Return the fitted local ranker, for `save_model`, `exportable` and all else.

        `exportable` is `gapboost.xgboost.exportable`.
        """
        assert self._xgb_sklearn_model is not None
        return self._xgb_sklearn_model  # type: ignore[no-any-return]

    def to_vendor(self) -> SparkXGBRankerModel:
        """Return XGBoost's own model on Spark, with the same predictions and without gapboost."""
        vendor = SparkXGBRankerModel(self.to_local().to_vendor(), self.training_summary)
        for param, given in self._paramMap.items():
            if vendor.hasParam(param.name) and param.name not in (*NOT_OF_XGBOOST, *VALUES):
                vendor._set(**{param.name: given})
        defaults = {
            param.name: given
            for param, given in self._defaultParamMap.items()
            if vendor.hasParam(param.name)
        }
        vendor._setDefault(**{**defaults, "objective": "rank:ndcg", "eval_metric": None})
        return vendor


_set_pyspark_xgb_cls_param_attrs(SparkXGBGAPRanker, SparkXGBGAPRankerModel)
for _name in VALUES:
    _doc = f"{_name} of gapboost.xgboost.XGBGAPRanker: a name, or the text of a value."
    for _cls in (SparkXGBGAPRanker, SparkXGBGAPRankerModel):
        setattr(_cls, _name, Param(Params._dummy(), _name, _doc, typeConverter=as_text))
