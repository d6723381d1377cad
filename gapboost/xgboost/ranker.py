"""XGBoost ranker with the interface of `xgboost.XGBRanker`."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy, deepcopy
from typing import Any, Self

import numpy as np
import xgboost
from sklearn.utils.validation import check_is_fitted
from xgboost.callback import EarlyStopping

from gapboost._boosters.evaluation_sets import check_stopping, evaluation_data, evaluation_sets
from gapboost._boosters.gradients import Gradients
from gapboost._boosters.migration import check_parameters, note_names
from gapboost._boosters.positions import PENALTY, PositionFactors
from gapboost._boosters.ranker import OWN_NAMES, GAPRanker, Plan, ranking_objective
from gapboost._kernels.threads import is_forked
from gapboost.data import Array, ArrayLike, QueryIds, RankingDataset
from gapboost.data.features import check_columns
from gapboost.measures import Measure
from gapboost.objectives import Objective
from gapboost.validation import PathLike
from gapboost.xgboost import _compat
from gapboost.xgboost.callbacks import (
    ExactValues,
    XGBoostMetric,
    XGBoostObjective,
    booster_scale,
    gradients_on,
    training_callbacks,
    with_functions,
)
from gapboost.xgboost.migration import REPLACEMENTS, parameter_names
from gapboost.xgboost.models import checked_copy, read_objective, to_continue, up_to_best_round

# XGBoost's names of what is an argument of `RankingDataset.of`.
NAMES = {"init_score": "base_margin"}
# Up to so many training documents, trees are less deep (benchmarks/protocols/scaling.md).
FEW_DOCUMENTS, DEPTH = 15_000, 5
# Parameters of the ranker that are none of XGBoost's booster.
OURS = frozenset((*OWN_NAMES, PENALTY, "eval_metric"))

# A saved model names this objective: XGBRanker().load_model() takes it, and predicts raw scores.
SAVED_AS = "rank:ndcg"


class XGBGAPRanker(GAPRanker, xgboost.XGBRanker):  # type: ignore[misc]
    """XGBoost trained for graded average precision or another measure.

    Parameters
    ----------
    measure : str or Measure, default="gap"
        Measure to train for, to report on evaluation sets and to score by: a name such as ``"ap"``
        or ``"ndcg@10"``, or a value.
    g : sequence of float, optional
        Threshold probabilities of a named graded measure, one for each positive grade: g_k is the
        share of users who accept grade k and higher, and nothing lower. None is uniform over the
        grades that occur in the training labels.
    objective : {"lambdarank", "ranknet", "softrank", "approxrank"} or Objective, optional
        Objective by which to train for the measure. None is "lambdarank", which by name needs a
        measure or `g`: LightGBM's trains for nDCG. A value brings its measure, without `g` then.
    stopping_metric : str, Measure or callable, optional
        The reported metric that stops training early. None is the measure that is trained for.
    **kwargs
        Parameters of `xgboost.XGBRanker`. ``reg_lambda=None`` is 5 for trees, in place of
        XGBoost's 1: it ranks better with some hundred training queries and noisy labels, and
        changes little with more (benchmarks/EFFECTIVENESS.md). ``max_depth=None`` is 5 with up to
        15,000 training documents, unless `max_leaves` is given, and XGBoost's 6 with more: fits
        take less time, and rank better. Pass it if the number of trees was chosen on fewer
        documents. Parameters of XGBoost's own ranking objectives and metrics are an error in
        `fit`. `eval_metric` takes names, measures and callables, or a list of them. XGBoost calls a
        callable for each query, as `xgboost.XGBRanker` does: ``f(y_true, y_score)`` returns a
        number, the mean weighs queries by size, and lower is better unless its ``__name__`` begins
        with ``auc``, ``pre``, ``map`` or ``ndcg``. Fits with `position` take
        `lambdarank_position_bias_regularization`.

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
        the model has categories of data frames; `predict` does not use them then. Only trees of a
        gbtree are the model with the best value: later rounds of dart change the weights of
        earlier trees, and a gblinear has one linear model.

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
        objective: str | Objective | None = None,
        stopping_metric: str | Measure | Callable[..., object] | None = None,
        **kwargs: object,
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
        y: ArrayLike,
        qid: QueryIds = None,
        sample_weight: ArrayLike | None = None,
        *,
        group: ArrayLike | None = None,
        position: ArrayLike | None = None,
        base_margin: ArrayLike | None = None,
        eval_set: Sequence[tuple[Any, ArrayLike]] | None = None,
        eval_qid: Sequence[QueryIds] | None = None,
        eval_group: Sequence[ArrayLike | None] | None = None,
        sample_weight_eval_set: Sequence[ArrayLike | None] | None = None,
        base_margin_eval_set: Sequence[ArrayLike | None] | None = None,
        verbose: bool | int | None = False,
        xgb_model: PathLike | xgboost.Booster | xgboost.XGBModel | None = None,
        feature_weights: ArrayLike | None = None,
        **others: object,
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
            One weight for each query, or one for each row. A Series of pandas whose index has
            exactly the query ids is aligned by it. Other weights of queries come in the order in
            which the queries first occur. The weight of a document multiplies its gradient and
            hessian. The weight of a query in metrics, and in XGBoost's histograms, is the mean of
            its documents' weights.
        group : array-like of shape (Q,), optional
            Sizes of the queries, instead of `qid`, if the rows come query by query. A Series whose
            index has the ids of the rows' index is aligned by it.
        position : array-like of shape (N,), optional
            Position at which each document was shown when `y` was observed: any hashable values. A
            factor of each is learned along with the trees, as in `LGBMGAPRanker.fit`.
        eval_set : list of (X, y), optional
            The last one stops training early. A pair of the objects `X` and `y` themselves is the
            training set: it is reported, and stops training only if there is no other set.
        eval_qid, eval_group : list of array-like, optional
            Query ids, or sizes of the queries, of each evaluation set.
        sample_weight_eval_set : list of array-like, optional
            Weights of each evaluation set, as `sample_weight`.
        base_margin, base_margin_eval_set, verbose, xgb_model
            As in `xgboost.XGBRanker.fit`. `early_stopping_rounds` is a parameter of the ranker.
        feature_weights : array-like of shape (n_features,), optional
            As the parameter of the ranker; pass one of both.
        **others
            An error, which says where they belong.

        Raises
        ------
        ValueError, TypeError
            If an argument or parameter is unusable.
        """
        plan = self._plan(others)
        arguments = {
            "X": X,
            "y": y,
            "qid": qid,
            "group": group,
            "sample_weight": sample_weight,
            "init_score": base_margin,
        }
        data = RankingDataset.of(
            **arguments, position=position, limit=plan.limit, names=NAMES
        ).grouped()
        plan = plan.resolved(data.query_data.occurring)
        metadata = {
            "qid": ("eval_qid", eval_qid),
            "group": ("eval_group", eval_group),
            "sample_weight": ("sample_weight_eval_set", sample_weight_eval_set),
            "init_score": ("base_margin_eval_set", base_margin_eval_set),
        }
        given_sets = evaluation_sets(eval_set, metadata)
        sets = evaluation_data(given_sets, data, arguments, plan.limit)
        rounds = self.early_stopping_rounds
        check_stopping(self.callbacks, EarlyStopping, rounds, sets)
        check_columns(data.X, "X", self.enable_categorical)
        for each, s in zip(given_sets, sets, strict=True):
            check_columns(s.X, each.names["X"], self.enable_categorical)
        before = None if xgb_model is None else checked_copy(xgb_model, data.X, self.missing)
        types = _compat.types_to_continue(self, data.X, before)
        before = None if before is None else to_continue(before, categories=False)
        weights = self._feature_weights(feature_weights, data.n_features)
        gradients = self._gradients(plan, data, xgb_model)
        summary = data.query_data.summary
        parameters = self._train_parameters(self.get_xgb_params(), summary.n_rows)
        evals_result: dict[str, dict[str, list[float]]] = {}
        with xgboost.config_context(verbosity=self.verbosity):
            train = _compat.ranking_matrix(self, data, types, weights=weights)
            train.feature_names = train.feature_names or (before.feature_names if before else None)
            objective = XGBoostObjective(plan.objective, plan.n_jobs)
            objective.bind(train, gradients_on(self.device, gradients))
            metric = XGBoostMetric(plan.measures, plan.n_jobs, self.device)
            evals, held_out = [], []
            means, exact = {}, {}
            for i, (each, s) in enumerate(zip(given_sets, sets, strict=True)):
                matrix, name = train, f"validation_{i}"
                if s is not data:
                    matrix = _compat.ranking_matrix(self, s, types, train, name=each.names["X"])
                if s not in means:
                    means[s] = metric.means(plan.measures, s.query_data)
                    metric.bind(matrix, means[s])
                evals.append((matrix, name))
                exact[name] = means[s]
                if not each.has_rows_of(X, y):
                    held_out.append(name)
            callbacks = training_callbacks(self.callbacks, rounds, plan, metric.names, held_out)
            try:
                with _compat.usable_values(data.X, "eval_set"):
                    booster = xgboost.train(
                        parameters,
                        train,
                        num_boost_round=self.get_num_boosting_rounds(),
                        evals=evals,
                        obj=objective,
                        custom_metric=with_functions(metric, plan.functions, plan.n_jobs),
                        evals_result=evals_result,
                        verbose_eval=verbose,
                        xgb_model=before,
                        callbacks=[ExactValues(exact), *callbacks],
                    )
            except KeyError as error:
                names = [*metric.names, *(function.__name__ for function in plan.functions)]
                note_names(error, exact, [f"{s}-{name}" for s in exact for name in names])
                raise
        best, begin = booster.attr("best_iteration"), before.num_boosted_rounds() if before else 0
        best_round = None if best is None else int(best) + 1 - begin
        bias = gradients.factors_after(best_round)
        _compat.set_fitted(self, booster, evals_result)
        self._set_fitted(plan.objective, summary, data.frame_columns, bias)
        return self

    def _plan(self, others: Mapping[str, Any] | None = None) -> Plan:
        """Return the plan of the parameters, after a check of all of them."""
        given, known = self.get_params(deep=False), parameter_names() | OURS
        check_parameters(self, others or {}, known, REPLACEMENTS, REPLACEMENTS)
        seed = given.get("seed") if self.random_state is None else self.random_state
        n_jobs = given.get("nthread") if self.n_jobs is None else self.n_jobs
        return Plan.of(self, self.eval_metric, seed, n_jobs)

    def _feature_weights(self, of_fit: Any, n_features: int) -> Any:
        """Return the weights of the features: those of `fit`, or of the parameter."""
        if of_fit is not None and self.feature_weights is not None:
            raise ValueError("feature_weights is given to the ranker and to fit; expected one")
        weights = self.feature_weights if of_fit is None else of_fit
        if hasattr(weights, "compute"):
            weights = weights.compute()  # of Dask, which may not know the length before
        shape = np.shape(weights)
        if weights is not None and shape != (n_features,):
            raise ValueError(f"feature_weights has shape {shape}; expected ({n_features},)")
        return weights

    def _train_parameters(self, given: Mapping[str, object], n_documents: int) -> dict[str, object]:
        """Return parameters of XGBoost for `xgboost.train`, with our defaults of trees."""
        known = {n: value for n, value in given.items() if value is not None and n not in OURS}
        own: dict[str, object] = {}
        # XGBoost's default for linear models is 0, and their penalty is in other units.
        if self.booster != "gblinear":
            own = {} if "lambda" in known else {"reg_lambda": 5.0}
            if n_documents <= FEW_DOCUMENTS and "max_leaves" not in known:
                own["max_depth"] = DEPTH
        required = {"objective": SAVED_AS, "disable_default_eval_metric": 1}
        return {"base_score": 0.0, **own, **known, **required}

    def _gradients(self, plan: Plan, data: RankingDataset, continued: object = None) -> Gradients:
        """Return the gradients of a resolved plan."""
        summary = data.query_data.summary
        summary.check_mixed_grades("y")
        given, factors = self.get_params(deep=False), None
        is_linear = self.booster == "gblinear"
        scale = booster_scale(plan.objective, summary)
        if data.positions is not None:
            rate = self.learning_rate
            if rate is None:
                rate = given.get("eta", 0.5 if is_linear else 0.3)
            factors = PositionFactors(data.positions, float(rate), given, scale, continued)
        least_hessian = 1.0 if self.min_child_weight is None else float(self.min_child_weight)
        return Gradients(
            plan.objective,
            data.query_data,
            scale,
            plan.n_jobs,
            _compat.TEAM,
            factors,
            least_hessian=None if continued else 0.0 if is_linear else least_hessian,
        )

    def predict(self, X: Any, *, validate_features: bool = True, **kwargs: object) -> Array:
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
        ranker = self
        if is_forked():
            ranker = copy(self)
            ranker.n_jobs = 1
            ranker.get_booster().set_param({"nthread": 1})
        X = self._features(X, validate_features)
        check_columns(X, "X", self.enable_categorical)
        if validate_features and X.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {X.shape[1]} columns; expected {self.n_features_in_}")
        # Names are checked: XGBoost would ask for some also where X has none.
        kwargs["validate_features"] = False
        trained = ranker.get_booster() if self.enable_categorical else None
        with _compat.usable_values(X, "X", trained):
            scores: Array = super(XGBGAPRanker, ranker).predict(X, **kwargs)
        return scores

    def to_vendor(self) -> xgboost.XGBRanker:
        """Return `xgboost.XGBRanker`, fitted, with the same parameters and predictions.

        It needs no gapboost, in pickles either. Fitted again, it trains for its own objective.
        """
        check_is_fitted(self)
        given = {n: v for n, v in self.get_params().items() if n not in OURS}
        vendor = xgboost.XGBRanker(**{**given, "objective": SAVED_AS})
        evals_result = deepcopy(getattr(self, "evals_result_", None))
        _compat.set_fitted(vendor, self.get_booster().copy(), evals_result)
        return vendor

    def load_model(self, fname: PathLike | bytearray) -> None:
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
        _compat.set_fitted(self, booster, None)
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
