"""XGBoost ranker with the interface of `xgboost.XGBRanker`."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import Any, Self

import xgboost
from sklearn.utils.validation import check_is_fitted

from gapboost._boosters.ranker import OWN_NAMES, GAPRanker, Plan, ranking_objective, refuse_ignored
from gapboost._boosters.rows import RankingRows, evaluation_rows, ranking_rows
from gapboost._boosters.training import PENALTY, Gradients, Metrics, PositionFactors, metric_names
from gapboost._data.features import feature_names
from gapboost._kernels import Array
from gapboost._kernels.threads import is_forked
from gapboost.measures import Measure
from gapboost.objectives import Objective
from gapboost.xgboost import private
from gapboost.xgboost.callbacks import gradients_on, units, values_on
from gapboost.xgboost.models import finished, read_objective, to_continue, up_to_best_round

NAMES = ("X", "y", "qid", "group", "sample_weight", "base_margin", "position")
# Parameters of the ranker that are none of XGBoost's booster.
OURS = frozenset((*OWN_NAMES, PENALTY, "eval_metric"))

# A saved model names this objective: XGBRanker().load_model() takes it, and predicts raw scores.
SAVED_AS = "rank:ndcg"

# Parameters of XGBoost's own ranking objectives and metrics.
IGNORED = frozenset((
    "lambdarank_bias_norm", "lambdarank_normalization", "lambdarank_num_pair_per_sample",
    "lambdarank_pair_method", "lambdarank_score_normalization", "lambdarank_unbiased",
    "ndcg_exp_gain", "scale_pos_weight",
))  # fmt: skip


class XGBGAPRanker(GAPRanker, xgboost.XGBRanker):  # type: ignore[misc]
    """XGBoost trained for graded average precision or another measure.

    Parameters
    ----------
    measure : str or Measure, default="gap"
        Measure to train for, to report on evaluation sets and to score by: a name such as ``"ap"``
        or ``"ndcg@10"``, or a value.
    g : sequence of float, optional
        Threshold probabilities of a named graded measure, one for each positive grade. None is
        uniform over the grades that occur in the training labels.
    objective : {"lambdarank", "ranknet", "softrank", "approxrank"} or Objective
        Objective by which to train for the measure, "lambdarank" by default. A value brings its
        own measure; leave `measure` and `g` at their defaults then.
    stopping_metric : str, Measure or callable, optional
        The reported metric that stops training early. None is the measure that is trained for.
    **kwargs
        Parameters of `xgboost.XGBRanker`. ``reg_lambda=None`` is 5 for trees, in place of
        XGBoost's 1: it ranks better with some hundred training queries and noisy labels, and
        changes little with more (benchmarks/EFFECTIVENESS.md). Parameters of XGBoost's own ranking
        objectives and metrics are an error in `fit`. `eval_metric` takes names, measures and
        callables, or a list of them. XGBoost calls a callable for each query, as
        `xgboost.XGBRanker` does: ``f(y_true, y_score)`` returns a number, the mean weighs queries
        by size, and lower is better unless its ``__name__`` begins with ``auc``, ``pre``, ``map``
        or ``ndcg``. Fits with `position` take `lambdarank_position_bias_regularization`.

    Attributes
    ----------
    measure_ : Measure
        Measure that was trained for, with `g` resolved.
    objective_ : Objective
        Objective of the fitted model, with `g` resolved.
    g_ : tuple of float or None
        Threshold probabilities of a graded measure.
    n_queries_in_ : int
        Number of training queries.
    step_ : float
        Length of the steps: see `LambdaRank`.
    position_bias_ : dict {position: float} or None
        What each position adds to the scores of the training set, if `fit` was given `position`.
    best_iteration_ : int
        Rounds of the best model by early stopping, 0 without it. Later rounds are dropped, unless
        the model has categories of data frames; `predict` does not use them then. A dart changes
        earlier trees in later rounds, and a gblinear keeps its last round: neither has the value
        that was best.

    Examples
    --------
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.xgboost import XGBGAPRanker
    >>> train, vali, test = load_digits_ranking((60, 20, 40), 20)
    >>> ranker = XGBGAPRanker(measure="gap", g=(0.5, 0.5), n_estimators=20, n_jobs=1)
    >>> ranker.fit(train.X, train.y, qid=train.qid).objective_
    LambdaRank(GAP(g=(0.5, 0.5)))
    >>> ranker.score(test.X, test.y, qid=test.qid) > 0.7
    True
    """

    def __init__(
        self,
        *,
        measure: str | Measure = "gap",
        g: Sequence[float] | None = None,
        objective: str | Objective = "lambdarank",
        stopping_metric: str | Measure | Callable[..., Any] | None = None,
        **kwargs: Any,
    ) -> None:
        # XGBRanker takes only its own objectives by name: ours is set afterwards.
        super().__init__(objective=SAVED_AS, **kwargs)
        self.measure = measure
        self.g = g
        self.objective = objective
        self.stopping_metric = stopping_metric

    @property
    def best_iteration_(self) -> int:
        """Rounds of the best model by early stopping, 0 without it; as in `LGBMGAPRanker`."""
        best = self.get_booster().attr("best_iteration")
        return 0 if best is None else int(best) + 1

    def fit(
        self,
        X: Any,
        y: Any,
        qid: Any = None,
        sample_weight: Any = None,
        *,
        group: Any = None,
        position: Any = None,
        base_margin: Any = None,
        eval_set: Any = None,
        eval_qid: Any = None,
        eval_group: Any = None,
        sample_weight_eval_set: Any = None,
        base_margin_eval_set: Any = None,
        verbose: bool | int | None = False,
        xgb_model: Any = None,
    ) -> Self:
        """Train.

        Parameters
        ----------
        X : array-like of shape (N, n_features)
            Positions of columns, in `interaction_constraints`, count the columns without ``qid``.
        y : array-like of shape (N,), or (N, L)
            Grades ``0..c``, or several labels for measures of them (`gapboost.OfLabel`).
        qid : array-like of shape (N,)
            Query id of each row, in any order of rows. A data frame `X` may hold it as the column
            ``qid``.
        sample_weight : array-like of shape (Q,) or (N,), optional
            One weight for each query, in the order in which queries first occur, or one for each
            row. The weight of a document multiplies its gradient and hessian. The weight of a
            query in metrics, and in XGBoost's histograms, is the mean of its documents' weights.
        group : array-like of shape (Q,), optional
            Sizes of the queries, instead of `qid`, if the rows come query by query.
        position : array-like of shape (N,), optional
            Position at which each document was shown when `y` was observed: any hashable values. A
            factor of each is learned along with the trees, as in `LGBMGAPRanker.fit`.
        eval_set : list of (X, y), optional
        eval_qid, eval_group : list of array-like, optional
            Query ids, or sizes of the queries, of each evaluation set.
        base_margin, sample_weight_eval_set, base_margin_eval_set, verbose, xgb_model
            As in `xgboost.XGBRanker.fit`. `early_stopping_rounds` is a parameter of the ranker.

        Raises
        ------
        ValueError, TypeError
            If an argument or parameter is unusable.
        """
        plan = self._plan()
        rows = ranking_rows(
            X, y, qid, group, sample_weight, base_margin, position, limit=plan.limit, names=NAMES
        )
        plan = plan.resolved(rows.data.occurring)
        metadata = {
            "eval_qid": eval_qid,
            "eval_group": eval_group,
            "sample_weight_eval_set": sample_weight_eval_set,
            "base_margin_eval_set": base_margin_eval_set,
        }
        of_training = (X, y, qid, group, sample_weight, base_margin)
        sets = evaluation_rows(eval_set, metadata, rows, of_training, plan.limit)
        before = None if xgb_model is None else to_continue(xgb_model)
        gradients = self._gradients(plan, rows, xgb_model)
        evals_result: dict[str, dict[str, list[float]]] = {}
        booster = self._boost(
            gradients,
            rows,
            sets,
            partial(self._round_metrics, plan),
            evals_result=evals_result,
            verbose_eval=verbose,
            xgb_model=before,
        )
        booster = finished(booster, plan.objective)
        best, begin = booster.attr("best_iteration"), before.num_boosted_rounds() if before else 0
        best_round = None if best is None else int(best) + 1 - begin
        learned = {"_Booster": booster, "evals_result_": evals_result}
        bias = gradients.factors_after(best_round)
        self._learn(plan.objective, rows.data.summary, feature_names(rows.X), learned, bias)
        return self

    def _boost(
        self,
        gradients: Gradients,
        rows: RankingRows,
        sets: list[RankingRows],
        metric_of: Callable[[RankingRows], Callable[..., Any]],
        xgb_model: xgboost.Booster | None = None,
        **others: Any,
    ) -> xgboost.Booster:
        """Train a booster; `others` are arguments of `xgboost.train`.

        Each round calls the metric of each evaluation set with the scores and the matrix.
        """
        # A model to continue brings the codes of its categories: those of another data frame can
        # differ.
        _, feature_types = private.get_model_categories(rows.X, xgb_model, self.feature_types)
        compute = gradients_on(self.device, gradients)
        with xgboost.config_context(verbosity=self.verbosity):
            train = private.ranking_matrix(self, rows, feature_types)
            matrices = [
                train if s is rows else private.ranking_matrix(self, s, feature_types, train)
                for s in sets
            ]
            metrics = {id(m): metric_of(s) for m, s in zip(matrices, sets, strict=True)}
            return xgboost.train(
                self._train_parameters(self.get_xgb_params()),
                train,
                num_boost_round=self.get_num_boosting_rounds(),
                evals=[(matrix, f"validation_{i}") for i, matrix in enumerate(matrices)],
                obj=lambda scores, _: compute(scores),
                custom_metric=lambda scores, matrix: metrics[id(matrix)](scores, matrix),
                early_stopping_rounds=self.early_stopping_rounds,
                xgb_model=xgb_model,
                callbacks=self.callbacks,
                **{"verbose_eval": False, **others},
            )

    def _train_watched(
        self, rows: RankingRows, held_out: RankingRows, watch: Callable[[Array], Any]
    ) -> None:
        """Train as `fit` does; `watch` gets the scores of the held-out rows in each round."""
        gradients = self._gradients(self._plan().resolved(rows.data.occurring), rows)
        self._boost(gradients, rows, [held_out], lambda _: lambda scores, _: watch(scores) or [])

    def _plan(self) -> Plan:
        """Return the plan of the parameters, after a check of all of them."""
        given = self.get_params(deep=False)
        refuse_ignored(given, IGNORED, "XGBoost")
        seed, n_jobs = (
            given.get(alias) if given[name] is None else given[name]
            for name, alias in (("random_state", "seed"), ("n_jobs", "nthread"))
        )
        return Plan.of(self, self.eval_metric, seed, n_jobs)

    def _round_metrics(self, plan: Plan, rows: RankingRows) -> Callable[..., list[Any]]:
        """Return the metrics of a fit for one evaluation set; the last one stops training."""
        measures = plan.measures[::-1]
        on_device = values_on(self.device, measures, rows.data)
        names = metric_names(measures)
        means = Metrics(measures, names, rows.data, plan.n_jobs, private.TEAM, on_device)
        functions = [private.ltr_metric_decorator(f, plan.n_jobs) for f in plan.functions[::-1]]

        def metric(scores: Array, matrix: xgboost.DMatrix) -> list[Any]:
            of_functions = [function(scores, matrix) for function in functions]
            if plan.stopping in plan.functions:
                return [*means(scores), *of_functions]
            return [*of_functions, *means(scores)]

        return metric

    def _train_parameters(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters of XGBoost for `xgboost.train`, with our default of `reg_lambda`."""
        known = {n: value for n, value in given.items() if value is not None and n not in OURS}
        # XGBoost's default for linear models is 0, and their penalty is in other units.
        own = {} if self.booster == "gblinear" or "lambda" in known else {"reg_lambda": 5.0}
        required = {"objective": SAVED_AS, "disable_default_eval_metric": 1}
        return {"base_score": 0.0, **own, **known, **required}

    def _gradients(self, plan: Plan, rows: RankingRows, continued: Any = None) -> Gradients:
        """Return the gradients of a resolved plan, after a check that they teach something."""
        given, factors = self.get_params(deep=False), None
        is_linear = self.booster == "gblinear"
        scale = units(plan.objective, rows.data.queries.n_rows)
        if rows.positions is not None:
            rate = self.learning_rate
            if rate is None:
                rate = given.get("eta", 0.5 if is_linear else 0.3)
            factors = PositionFactors(rows.positions, float(rate), given, scale, continued)
        gradients = Gradients(plan.objective, rows.data, scale, plan.n_jobs, private.TEAM, factors)
        least = 1.0 if self.min_child_weight is None else float(self.min_child_weight)
        gradients.check_learnable(rows, 0.0 if is_linear else least)
        return gradients

    def predict(self, X: Any, *, validate_features: bool = True, **kwargs: Any) -> Array:
        """Scores of rows, higher is better.

        Parameters
        ----------
        X : array-like of shape (N, n_features)
            Columns as in training; a column ``qid`` of a data frame is left out.
        validate_features, **kwargs
            As in `xgboost.XGBRanker.predict`, such as `iteration_range` and `base_margin`.

        Returns
        -------
        float32 ndarray of shape (N,)

        Raises
        ------
        ValueError
            If the columns are not those of the training data.
        """
        check_is_fitted(self)
        if is_forked():
            self.n_jobs = 1
            self.get_booster().set_param({"nthread": 1})
        X = self._features(X, validate_features)
        scores: Array = super().predict(X, validate_features=validate_features, **kwargs)
        return scores

    def to_vendor(self) -> xgboost.XGBRanker:
        """Return `xgboost.XGBRanker`, fitted, with the same parameters and predictions.

        It needs no gapboost, in pickles either. Fitted again, it trains for its own objective.
        """
        check_is_fitted(self)
        given = {n: v for n, v in self.get_params().items() if n not in OURS}
        vendor = xgboost.XGBRanker(**{**given, "objective": SAVED_AS})
        vendor._Booster = self.get_booster().copy()
        if hasattr(self, "evals_result_"):
            vendor.evals_result_ = deepcopy(self.evals_result_)
        return vendor

    def load_model(self, fname: Any) -> None:
        """Load what `save_model` saved; `measure_` and `g_` are then those of the model.

        The parameters stay as they are. They give the measure if the file does not, and `missing`,
        which is not in XGBoost's files. ValueError is raised for a measure of the user's own that
        is not the one of the parameters.
        """
        loaded = xgboost.XGBRanker(n_jobs=self.n_jobs)
        loaded.load_model(fname)
        booster = up_to_best_round(loaded.get_booster())
        state = self.random_state if isinstance(self.random_state, int) else None
        self._trained_objective = read_objective(booster, ranking_objective(self, state))
        self._Booster = booster
        self._trained_names = tuple(booster.feature_names or ())
        self.position_bias_ = None
        for name in ("booster", "feature_types", "enable_categorical"):
            setattr(self, name, getattr(loaded, name))
        for of_fit in ("evals_result_", "n_queries_in_", "step_"):
            self.__dict__.pop(of_fit, None)

    def get_xgb_params(self) -> dict[str, Any]:
        """Return the parameters that XGBoost knows."""
        # `set_params` passes them to the booster of a fitted ranker.
        given = super().get_xgb_params()
        return {**{n: v for n, v in given.items() if n not in OURS}, "objective": SAVED_AS}
