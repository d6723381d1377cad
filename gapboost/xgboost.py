"""XGBoost: a ranker beside `xgboost.XGBRanker`, and callbacks for `xgboost.train`."""

import json
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np
import xgboost
from xgboost.sklearn import get_model_categories

from gapboost.callbacks import Content, Gradients, Metrics, as_gradients, as_metrics
from gapboost.cross_validation import Curve, Fold, check_free, cross_validated, cv_setup
from gapboost.features import features, without_qid
from gapboost.kernels.openmp import openmp_team
from gapboost.kernels.threads import working_on
from gapboost.measures import Measure
from gapboost.objectives import Objective, Pass
from gapboost.queries import Array, Judged
from gapboost.ranker import GAPRanker, RankingRows, Training

__all__ = ["XGBGAPRanker", "cv", "eval_metric", "exportable", "objective"]

# Parameters that steer XGBoost's own ranking objectives start so, or are these. They would be ignored without a word.
OWN_RANKING_PREFIX = "lambdarank_"
OWN_RANKING_PARAMETERS = ("ndcg_exp_gain", "disable_default_eval_metric")

# What a saved model says it was trained with: XGBRanker().load_model() takes it, and predictions are raw scores.
SAVED_AS = "rank:ndcg"

# The threads that XGBoost computes on.
TEAM = openmp_team(getattr(xgboost.core, "_LIB", None))


def objective(
    measure: str | Measure | Objective = "gap", *, g: Any = None, n_jobs: int | None = None
) -> "XGBoostObjective":
    """An objective for ``xgboost.train(..., obj=...)``.

    Parameters
    ----------
    measure : str, Measure or Objective, default="gap"
        Trained for by LambdaRank; an objective value trains its own way.
    g : sequence of float, optional
        Threshold probabilities for a named graded measure; None is uniform over the grades of the training labels.
    n_jobs : int, optional
        Threads for the gradients.

    Notes
    -----
    Set ``{"base_score": 0.0, "disable_default_eval_metric": 1}`` beside it: XGBoost shifts all scores by 0.5 and reports
    rmse otherwise. The weight of a query multiplies its gradients. Those of `LambdaRank` are halved, which makes the steps
    as long as those of XGBoost's own ranking objectives.
    """
    return XGBoostObjective(as_gradients(measure, g), n_jobs)


def eval_metric(measure: Any = "gap", *, g: Any = None, n_jobs: int | None = None) -> "XGBoostMetric":
    """A metric for ``xgboost.train(custom_metric=...)``; early stopping maximises it without being told.

    Parameters
    ----------
    measure : str, Measure or list of them, default="gap"
    g : sequence of float, optional
        Threshold probabilities for a named graded measure; None is uniform over the grades of each data set.
    n_jobs : int, optional
        Threads.
    """
    return XGBoostMetric(as_metrics(measure, g), n_jobs)


def cv(
    params: dict[str, Any],
    dtrain: xgboost.DMatrix,
    num_boost_round: int = 100,
    *,
    measure: str | Measure | Objective = "gap",
    g: Any = None,
    eval_metric: Any = None,
    n_folds: int = 5,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> dict[Measure, Curve]:
    """Cross-validation over folds of whole queries, `gapboost.lightgbm.cv`'s twin; the same folds for the same queries.

    Parameters
    ----------
    params : dict
        As for `xgboost.train`, without objective and metric.
    dtrain : DMatrix
        With groups or qid; not a `QuantileDMatrix`, which XGBoost cannot slice.
    num_boost_round, measure, g, eval_metric, n_folds, random_state, n_jobs
        As in `gapboost.lightgbm.cv`.

    Returns
    -------
    dict {Measure: Curve}
        ``(mean, std)`` over the folds, each of shape (num_boost_round,).

    Raises
    ------
    ValueError
        Where `params` name an objective or metric, the data have no groups, or there are fewer queries than folds.
    TypeError
        Where `dtrain` cannot be sliced.
    """
    check_free(params, ("objective", "eval_metric", "disable_default_eval_metric"), num_boost_round)
    if not isinstance(dtrain, xgboost.DMatrix):
        raise TypeError(f"dtrain is a {type(dtrain).__name__}; expected a DMatrix")
    if isinstance(dtrain, xgboost.QuantileDMatrix):
        raise TypeError("dtrain is a QuantileDMatrix, which XGBoost cannot slice; expected a DMatrix")
    _, _, content = _arguments(np.empty(0), dtrain)
    how, measures, data = cv_setup(measure, g, eval_metric, content)
    weight = content[2]
    metric = XGBoostMetric(measures, n_jobs)

    def part(fold: Fold) -> xgboost.DMatrix:
        rows, queries = fold
        # Slicing forgets the groups and keeps the weights of all of them.
        sliced = dtrain.slice(rows, allow_groups=True)
        sliced.set_group(data.queries.sizes[queries])
        if weight is not None:
            sliced.set_weight(weight[queries])
        return sliced

    def train_fold(train: Fold, test: Fold) -> list[list[float]]:
        history = []

        def custom_metric(preds: Array, held_out: xgboost.DMatrix) -> list[Any]:
            history.append([value for _, value in metric(preds, held_out)])
            return []

        xgboost.train(
            {"base_score": 0.0, **params, "objective": SAVED_AS, "disable_default_eval_metric": 1},
            part(train),
            num_boost_round,
            evals=[(part(test), "held_out")],
            obj=XGBoostObjective(how, n_jobs),
            custom_metric=custom_metric,
            verbose_eval=False,
        )
        return history

    return cross_validated(train_fold, data, measures, n_folds, random_state)


def exportable(model: "XGBGAPRanker | xgboost.Booster") -> xgboost.Booster:
    """The model in the form that exporters take, to ONNX among them; it predicts the same.

    Exporters take a ranker for a classifier, expect features to be called f0, f1, ..., write trees that early stopping does not
    use, and do not know dart. This model says ``reg:squarederror``, whose predictions are raw scores too, names no features,
    and holds the trees that predict with their weights inside.

    Parameters
    ----------
    model : XGBGAPRanker or Booster
        Fitted.

    Returns
    -------
    Booster
        Of trees. Exported models take categories of a data frame by code.

    Raises
    ------
    ValueError
        Where the model is a gblinear: there are no trees to export.
    NotFittedError
        Before `fit`.
    """
    booster = model.get_booster() if isinstance(model, xgboost.XGBModel) else model
    best = booster.attr("best_iteration")
    if best is not None:
        booster = booster[: int(best) + 1]
    content = json.loads(booster.save_raw("json"))
    learner = content["learner"]
    ensemble = learner["gradient_booster"]
    if ensemble["name"] == "gblinear":
        raise ValueError("booster is 'gblinear' in model; expected trees: exporters know no other XGBoost model")
    if ensemble["name"] == "dart":
        learner["gradient_booster"] = _with_weights_inside(ensemble)
    learner["objective"] = {"name": "reg:squarederror", "reg_loss_param": {"scale_pos_weight": "1"}}
    learner["feature_names"] = []
    return xgboost.Booster(model_file=bytearray(json.dumps(content), "ascii"))


def _with_weights_inside(dart: dict[str, Any]) -> dict[str, Any]:
    """The trees of a dart model, as its JSON holds them, with each leaf times the weight of its tree."""
    trees: dict[str, Any] = dart["gbtree"]
    for tree, weight in zip(trees["model"]["trees"], dart["weight_drop"], strict=True):
        # XGBoost keeps the value of a leaf where a split has its threshold.
        tree["split_conditions"] = [
            value * weight if left == -1 else value
            for value, left in zip(tree["split_conditions"], tree["left_children"], strict=True)
        ]
    return trees


class XGBoostObjective(Gradients):
    """Called by `xgboost.train` as ``(preds, dmatrix)``."""

    def __call__(self, preds: Array, dmatrix: xgboost.DMatrix) -> tuple[Array, Array]:
        """Gradient and hessian, float32 of shape (N,)."""
        with working_on(TEAM):
            return self.gradients(*_arguments(preds, dmatrix))

    def suited(self, how: Objective, data: Judged) -> Pass:
        """See `HalfSteps`."""
        return half_steps(how, data, self.n_jobs)


class HalfSteps(Pass):
    """Halves the gradients of another pass.

    A pair moves two documents, and only twice the diagonal of its second derivatives bounds them. XGBoost's own ranking
    objectives double the hessian for that, and its default learning rate of 0.3 overshoots without. Halving the gradient
    takes the same step and leaves the hessians, which `min_child_weight` and `reg_lambda` are compared with, as they are.
    """

    def __init__(self, whole: Pass) -> None:
        self.whole = whole

    def __call__(self, scores: Array, grad: Array, hess: Array) -> None:
        """See `Pass`."""
        self.whole(scores, grad, hess)
        grad *= 0.5


def half_steps(how: Objective, data: Judged, n_jobs: int | None) -> Pass:
    """`how` on the data, in XGBoost's own steps; objectives in units of rows bound their hessians themselves."""
    prepared = how.prepared(data, n_jobs)
    return prepared if how.in_units_of_rows else HalfSteps(prepared)


class XGBoostMetric(Metrics):
    """Called by `xgboost.train` as ``(preds, dmatrix)``."""

    def __call__(self, preds: Array, dmatrix: xgboost.DMatrix) -> list[tuple[str, float]]:
        """``[(name, value)]``."""
        with working_on(TEAM):
            return self.values(*_arguments(preds, dmatrix))


def _arguments(preds: Array, dmatrix: xgboost.DMatrix) -> tuple[Array, xgboost.DMatrix, Content]:
    """Scores, the data set and its content."""
    weight = dmatrix.get_weight()
    sizes = np.diff(dmatrix.get_uint_info("group_ptr").astype(np.int64))
    return preds, dmatrix, (dmatrix.get_label(), sizes, weight if len(weight) else None)


def _gradients_of(training: Training) -> Callable[[Array, xgboost.DMatrix], tuple[Array, Array]]:
    def gradients(preds: Array, _: xgboost.DMatrix) -> tuple[Array, Array]:
        with working_on(TEAM):
            return training.gradients(preds)

    return gradients


class XGBGAPRanker(GAPRanker, xgboost.XGBRanker):  # type: ignore[misc]
    """XGBoost trained for graded average precision or another measure.

    Parameters
    ----------
    measure : {"gap", "xgap", "egap", "ap", "ndcg", "precision"} or Measure, default="gap"
        What to train for, to report on evaluation sets and to score by.
    g : sequence of float, optional
        Threshold probabilities of a named graded measure, one for each positive grade; None is uniform over the grades
        that occur in the training labels.
    objective : {"lambdarank", "softrank", "approxrank"} or Objective, default="lambdarank"
        How to train for it. A value brings its own measure; `measure` and `g` then stay at their defaults.
    **kwargs
        Every parameter of `xgboost.XGBRanker`; `eval_metric` takes names and values of measures.

    Attributes
    ----------
    measure_, objective_ : Measure, Objective
        What was trained for, g filled in.
    g_ : tuple of float or None
    n_queries_in_ : int
    best_iteration_ : int
        Rounds of the best model by early stopping, 0 without it; `best_iteration` counts from 0.
    evals_result_, best_iteration, best_score, feature_importances_, feature_names_in_, n_features_in_
        As in `xgboost.XGBRanker`; the first by ``evals_result()`` too. `best_iteration` and `best_score` are there after early
        stopping, `feature_names_in_` after training on a data frame.
    """

    _start_name = "base_margin"
    _eval_weight_name = "sample_weight_eval_set"
    _eval_start_name = "base_margin_eval_set"

    def __init__(
        self,
        *,
        measure: str | Measure = "gap",
        g: Sequence[float] | None = None,
        objective: str | Objective = "lambdarank",
        **kwargs: Any,
    ) -> None:
        # XGBRanker accepts only its own objectives by name, so it is shown one and the parameter is set afterwards.
        super().__init__(objective=SAVED_AS, **kwargs)
        self.objective = objective
        self.measure = measure
        self.g = g

    @property
    def best_iteration_(self) -> int:
        """Rounds of the best model by early stopping, 0 without it; as in `LGBMGAPRanker`.

        `best_iteration` is XGBoost's own, which counts from 0.
        """
        best = self.get_booster().attr("best_iteration")
        return 0 if best is None else int(best) + 1

    def fit(
        self,
        X: Any,
        y: Any,
        qid: Any = None,
        sample_weight: Any = None,
        *,
        base_margin: Any = None,
        eval_set: Any = None,
        eval_qid: Any = None,
        sample_weight_eval_set: Any = None,
        base_margin_eval_set: Any = None,
        verbose: bool | int | None = False,
        xgb_model: Any = None,
    ) -> "XGBGAPRanker":
        """Train.

        Parameters
        ----------
        X : array-like of shape (N, n_features)
        y : array-like of shape (N,)
            Integer grades ``0..c``.
        qid : array-like of shape (N,)
            Query id of each row, in any order of rows; or the column ``qid`` of a data frame `X`.
        sample_weight : array-like of shape (Q,) or (N,), optional
            One weight a query in the order in which the queries first occur, or one a row, constant in a query.
        eval_set : list of (X, y), or one such tuple, optional
        eval_qid : list of array-like, optional
            Query ids of each pair in `eval_set`.
        base_margin, sample_weight_eval_set, base_margin_eval_set, verbose, xgb_model
            As in `xgboost.XGBRanker.fit`; early stopping by ``early_stopping_rounds=`` of the ranker.

        Raises
        ------
        ValueError, TypeError
            Before any training, where an argument or parameter is unusable; the message names it, what was found and
            what is expected.
        """
        training = self._checked(
            X,
            y,
            qid,
            sample_weight,
            base_margin,
            eval_set,
            eval_qid,
            sample_weight_eval_set,
            base_margin_eval_set,
            self.eval_metric,
            self._least_hessian(),
        )
        return self._fit_on(training, verbose=verbose, xgb_model=xgb_model)

    def _fit_on(self, training: Training, *, verbose: bool | int | None, xgb_model: Any) -> "XGBGAPRanker":
        """Train on what was checked."""
        # A model to continue brings the codes of its categories: those of another data frame can differ.
        model = xgb_model.get_booster() if isinstance(xgb_model, xgboost.XGBModel) else xgb_model
        model, feature_types = get_model_categories(training.rows.X, model, self.feature_types)
        train = self._matrix(training.rows, feature_types, None)
        evals = [
            (train if rows is training.rows else self._matrix(rows, feature_types, train), f"validation_{i}")
            for i, rows in enumerate(training.evals)
        ]
        evals_result: dict[str, dict[str, list[float]]] = {}
        with xgboost.config_context(verbosity=self.verbosity):
            booster = xgboost.train(
                self._vendor_parameters(),
                train,
                num_boost_round=self._n_rounds,
                evals=evals,
                obj=_gradients_of(training),
                # XGBoost's early stopping goes by the last metric of the last evaluation set.
                custom_metric=XGBoostMetric(
                    [*training.others, training.objective.measure], self.n_jobs, training.total
                ),
                early_stopping_rounds=self.early_stopping_rounds,
                evals_result=evals_result,
                verbose_eval=verbose,
                xgb_model=model,
                callbacks=self.callbacks,
            )
        self._Booster = booster
        self.evals_result_ = evals_result
        self._trained_by = training.objective
        self.n_queries_in_ = len(training.rows.sizes)
        return self

    @wraps(xgboost.XGBRanker.predict)
    def predict(self, X: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: D102, the docstring is wrapped
        return super().predict(features(without_qid(X)[0]), *args, **kwargs)

    @wraps(xgboost.XGBRanker.apply)
    def apply(self, X: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: D102, the docstring is wrapped
        return super().apply(features(without_qid(X)[0]), *args, **kwargs)

    def _suited(self, how: Objective, data: Judged) -> Pass:
        return half_steps(how, data, self.n_jobs)

    def _least_hessian(self) -> float:
        parameters = self._vendor_parameters()
        return 0.0 if self.booster == "gblinear" else float(parameters.get("min_child_weight", 1.0))

    def _binned(self, train: RankingRows, held_out: RankingRows) -> tuple[xgboost.DMatrix, xgboost.DMatrix]:
        _, feature_types = get_model_categories(train.X, None, self.feature_types)
        first = self._matrix(train, feature_types, None)
        return first, self._matrix(held_out, feature_types, first)

    def _train_binned(
        self, rows: RankingRows, binned: tuple[xgboost.DMatrix, xgboost.DMatrix], watch: Callable[[Array], None]
    ) -> None:
        def metric(scores: Array, _: xgboost.DMatrix) -> list[Any]:
            watch(scores)
            return []

        training = self._training_on(rows, self._least_hessian())
        with xgboost.config_context(verbosity=self.verbosity):
            xgboost.train(
                self._vendor_parameters(),
                binned[0],
                num_boost_round=self._n_rounds,
                evals=[(binned[1], "held_out")],
                obj=_gradients_of(training),
                custom_metric=metric,
                verbose_eval=False,
                callbacks=self.callbacks,
            )

    @property
    def _n_rounds(self) -> int:
        return int(self.get_num_boosting_rounds())

    def _matrix(self, rows: RankingRows, feature_types: Any, train: xgboost.DMatrix | None) -> xgboost.DMatrix:
        """XGBRanker's own choice of matrix; query codes are small integers, whatever the ids are."""
        return self._create_ltr_dmatrix(
            train,
            rows.X,
            np.repeat(np.arange(len(rows.sizes), dtype=np.uint32), rows.sizes),
            label=rows.y,
            weight=rows.data.weights if rows.weighted else None,
            base_margin=rows.start,
            missing=self.missing,
            feature_types=feature_types,
            feature_weights=self.feature_weights,
            enable_categorical=self.enable_categorical,
        )

    def load_model(self, fname: Any) -> None:
        """Load what `save_model` saved; the parameters say for which measure it was trained."""
        objective, requested = self.objective, self._requested()
        super().load_model(fname)
        self.objective = objective  # XGBoost takes it from the file
        self._trained_by = requested

    def get_xgb_params(self) -> dict[str, Any]:
        """Parameters that XGBoost itself knows."""
        # `set_params` hands them to the booster of a fitted ranker.
        parameters: dict[str, Any] = super().get_xgb_params()
        for name in ("measure", "g", "eval_metric"):
            parameters.pop(name, None)
        return {**parameters, "objective": SAVED_AS}

    def _vendor_parameters(self) -> dict[str, Any]:
        """Parameters for `xgboost.train`, after refusing those that cannot work with a custom objective."""
        parameters = self.get_xgb_params()
        for name, value in parameters.items():
            if value is not None and (name.startswith(OWN_RANKING_PREFIX) or name in OWN_RANKING_PARAMETERS):
                raise ValueError(
                    f"{name} is {value!r}; expected it unset: it steers XGBoost's own objectives and metrics, not this one. "
                    "See measure, objective=LambdaRank(...) and eval_metric"
                )
        # XGBoost starts from 0.5 with a custom objective, and reports rmse.
        base_score = parameters.pop("base_score", None)
        return {
            **{name: value for name, value in parameters.items() if value is not None},
            "base_score": 0.0 if base_score is None else base_score,
            "disable_default_eval_metric": 1,
        }
