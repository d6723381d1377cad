"""XGBoost ranker with the interface of `xgboost.XGBRanker`."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any, Self

import xgboost
from sklearn.utils.validation import check_is_fitted

from gapboost._boosters.gradients import Gradients
from gapboost._boosters.model_file import objective_text
from gapboost._boosters.parameters import refuse_ignored
from gapboost._boosters.plan import Plan
from gapboost._boosters.positions import PENALTY, PositionFactors, checked_penalty
from gapboost._boosters.ranker import (
    OWN_NAMES,
    GAPRanker,
    features_to_predict,
    is_forked,
    learned,
)
from gapboost._boosters.rows import Names, RankingRows, evaluation_rows, ranking_rows
from gapboost._data.features import QID, column_names
from gapboost._kernels import Array
from gapboost.measures import Measure
from gapboost.objectives import Objective
from gapboost.xgboost import private
from gapboost.xgboost.callbacks import units
from gapboost.xgboost.device import gradients_on
from gapboost.xgboost.inputs import (
    MISSING,
    SAVED_AS,
    TRAINED_FOR,
    drop_rounds_after_best,
    missing_text,
    read_model,
    to_continue,
)
from gapboost.xgboost.training import (
    IGNORED,
    check_stopping,
    checked_feature_weights,
    clear_errors,
    learning_rate,
    ranking_matrix,
    round_metrics,
    train_on_bins,
)

# Training and held-out rows.
Bins = tuple[xgboost.DMatrix, xgboost.DMatrix]


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
        The reported metric that decides early stopping. None is the measure that is trained for.
        `eval_metric` reports others.
    **kwargs
        Parameters of `xgboost.XGBRanker`. Those of XGBoost's own ranking objectives and metrics
        are an error in `fit`. `eval_metric` takes names, measures and callables, or a list of
        them. XGBoost calls a callable for each query, as `xgboost.XGBRanker` does: ``f(y_true,
        y_score)`` returns a number, the mean weighs queries by size, and lower is better unless
        its ``__name__`` begins with ``auc``, ``pre``, ``map`` or ``ndcg``. Fits with `position`
        take `lambdarank_position_bias_regularization`, as in LightGBM.

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
    position_bias_ : dict {position: float} or None
        What each position adds to the scores of the training set, if `fit` was given `position`.
    best_iteration_ : int
        Rounds of the best model by early stopping, 0 without it. Later rounds are dropped.

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
        feature_weights: Any = None,
    ) -> Self:
        """Train.

        Parameters
        ----------
        X : array-like of shape (N, n_features)
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
        base_margin, sample_weight_eval_set, base_margin_eval_set, verbose
        xgb_model, feature_weights
            As in `xgboost.XGBRanker.fit`. `early_stopping_rounds` is a parameter of the ranker.

        Raises
        ------
        ValueError, TypeError
            If an argument or parameter is unusable.

        Warns
        -----
        UserWarning
            If `min_child_weight` allows fewer than 8 leaves for 1000 rows or more.
        """
        given = self.get_params(deep=False)
        plan, penalty = self._plan(given, position)
        check_stopping(self)
        rows = ranking_rows(
            X, y, qid, group, sample_weight, base_margin, position,
            limit=plan.objective_limit, names=Names(start="base_margin"),
        )  # fmt: skip
        plan = plan.resolved(rows.data)
        metadata = {
            "eval_qid": eval_qid,
            "eval_group": eval_group,
            "sample_weight_eval_set": sample_weight_eval_set,
            "base_margin_eval_set": base_margin_eval_set,
        }
        of_training = (X, y, qid, group, sample_weight, base_margin)
        sets = evaluation_rows(
            eval_set,
            metadata,
            rows,
            plan.limit,
            lambda pair, given: all(
                a is b for a, b in zip((*pair, *given), of_training, strict=True)
            ),
        )
        weights = checked_feature_weights(self, rows, feature_weights, QID in column_names(X))

        parameters = self._train_parameters(given)
        # A model to continue brings the codes of its categories: those of another data frame can
        # differ.
        model, feature_types = private.get_model_categories(
            rows.X, to_continue(xgb_model), self.feature_types
        )
        begin = 0 if model is None else model.num_boosted_rounds()
        factors = self._position_factors(plan, rows, penalty, xgb_model)
        gradients = self._gradients(plan, rows, factors)
        evals_result: dict[str, dict[str, list[float]]] = {}
        with xgboost.config_context(verbosity=self.verbosity), clear_errors(rows, self.missing):
            train = ranking_matrix(self, rows, feature_types, weights)
            matrices = [
                train if s is rows else ranking_matrix(self, s, feature_types, None, train)
                for s in sets
            ]
            data = {id(matrix): s for matrix, s in zip(matrices, sets, strict=True)}
            booster = xgboost.train(
                parameters,
                train,
                num_boost_round=self.get_num_boosting_rounds(),
                evals=[(matrix, f"validation_{i}") for i, matrix in enumerate(matrices)],
                obj=lambda scores, _: gradients(scores),
                custom_metric=round_metrics(plan, data, self.device),
                early_stopping_rounds=self.early_stopping_rounds,
                evals_result=evals_result,
                verbose_eval=verbose,
                xgb_model=model,
                callbacks=self.callbacks,
            )
        booster = self._inscribed(booster, plan.objective)
        best = booster.attr("best_iteration")
        found = learned(
            plan,
            rows,
            factors,
            None if best is None else int(best) + 1 - begin,
            booster.num_boosted_rounds() - begin,
        )
        # In one step: fits of this ranker in several threads leave no mixture.
        self.__dict__ = {**vars(self), **found, "_Booster": booster, "evals_result_": evals_result}
        return self

    def _inscribed(self, booster: xgboost.Booster, objective: Objective) -> xgboost.Booster:
        """Return a trained booster up to its best round, with its objective as an attribute."""
        booster = drop_rounds_after_best(booster)
        booster.set_attr(
            **{TRAINED_FOR: objective_text(objective), MISSING: missing_text(self.missing)}
        )
        return booster

    def _bins(self, train: RankingRows, held_out: RankingRows) -> Bins:
        """Return training and held-out rows as XGBoost keeps them, binned by the training rows."""
        _, feature_types = private.get_model_categories(train.X, None, self.feature_types)
        first = ranking_matrix(self, train, feature_types, self.feature_weights)
        return first, ranking_matrix(self, held_out, feature_types, None, first)

    def _train_on_bins(self, rows: RankingRows, bins: Bins, watch: Callable[[Array], None]) -> None:
        """Train as `fit` on rows that `_bins` binned; `watch` gets held-out scores each round."""
        train_on_bins(self, rows, bins, watch)

    def _plan(self, given: dict[str, Any], position: Any) -> tuple[Plan, float]:
        """Return the plan, and the penalty on factors of positions; check all parameters."""
        refuse_ignored(given, IGNORED, "XGBoost")
        penalty = checked_penalty(given.get(PENALTY), position)
        n_jobs, random_state = (
            given.get(alias) if given[name] is None else given[name]
            for name, alias in (("n_jobs", "nthread"), ("random_state", "seed"))
        )
        return Plan.of(self, random_state, n_jobs, self.eval_metric), penalty

    def _position_factors(
        self, plan: Plan, rows: RankingRows, penalty: float, continued: Any = None
    ) -> PositionFactors | None:
        if rows.positions is None:
            return None
        before = continued._last_factors if isinstance(continued, GAPRanker) else None
        rate = learning_rate(self)
        return PositionFactors(rows.positions, rate, penalty, units(plan.objective), before)

    def _train_parameters(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters of `xgboost.train`."""
        ours = {*self._wrapper_params(), *OWN_NAMES, PENALTY, "eval_metric"}
        known = {name: value for name, value in given.items() if name not in ours}
        return {
            "base_score": 0.0,
            **{name: value for name, value in known.items() if value is not None},
            "objective": SAVED_AS,
            "disable_default_eval_metric": 1,
        }

    def _gradients(
        self, plan: Plan, rows: RankingRows, factors: PositionFactors | None = None
    ) -> Callable[[Array], Any]:
        """Return the gradients of a resolved plan, after a check that they teach something."""
        gradients = Gradients(
            plan.objective, rows.data, units(plan.objective), plan.n_jobs, private.TEAM, factors
        )
        least = 1.0 if self.min_child_weight is None else float(self.min_child_weight)
        least = 0.0 if self.booster == "gblinear" else least
        gradients.check_learnable(rows, least, "base_margin")
        on_device: Callable[[Array], Any] = gradients_on(
            self.device, gradients, rows.data, units(plan.objective)[0]
        )
        return on_device

    def predict(
        self,
        X: Any,
        *,
        output_margin: bool = False,
        validate_features: bool = True,
        base_margin: Any = None,
        iteration_range: tuple[int, int] | None = None,
    ) -> Array:
        """Scores of rows, higher is better.

        Parameters
        ----------
        X : array-like of shape (N, n_features)
            Columns as in training; a column ``qid`` of a data frame is left out.
        output_margin, validate_features, base_margin, iteration_range
            As in `xgboost.XGBRanker.predict`.

        Returns
        -------
        float32 ndarray of shape (N,)

        Raises
        ------
        ValueError
            If the columns are not those of the training data.
        """
        self._use_one_thread_if_forked()
        scores: Array = super().predict(
            features_to_predict(self, X, validate_features),
            output_margin=output_margin,
            validate_features=validate_features,
            base_margin=base_margin,
            iteration_range=iteration_range,
        )
        return scores

    def apply(self, X: Any, iteration_range: tuple[int, int] | None = None) -> Array:
        """Return leaves of rows, float32 of shape (N, n_trees)."""
        self._use_one_thread_if_forked()
        leaves: Array = super().apply(features_to_predict(self, X, True), iteration_range)
        return leaves

    def _use_one_thread_if_forked(self) -> None:
        check_is_fitted(self)
        if is_forked():
            self.n_jobs = 1
            self.get_booster().set_param({"nthread": 1})

    def to_vendor(self) -> xgboost.XGBRanker:
        """Return `xgboost.XGBRanker`, fitted, with the same parameters and predictions.

        It needs no gapboost, in pickles either. Fitted again, it trains for its own objective.
        """
        check_is_fitted(self)
        given = {n: v for n, v in self.get_params().items() if n not in (*OWN_NAMES, PENALTY)}
        vendor = xgboost.XGBRanker(**{**given, "objective": SAVED_AS, "eval_metric": None})
        vendor._Booster = self.get_booster().copy()
        if hasattr(self, "evals_result_"):
            vendor.evals_result_ = deepcopy(self.evals_result_)
        return vendor

    def load_model(self, fname: Any) -> None:
        """Load what `save_model` saved; `measure_` and `g_` are then those of the model.

        The parameters stay as they are. They give the measure if the file does not. ValueError is
        raised if the model was trained with another `missing`, or for a measure of the user's own
        that is not the one of the parameters.
        """
        loaded, objective = read_model(fname, self)
        booster = loaded.get_booster()
        found = {
            "_Booster": booster,
            "_trained_objective": objective,
            "_n_queries": None,
            "_trained_names": tuple(booster.feature_names or ()),
            "_factors": None,
            "_last_factors": None,
            **{n: getattr(loaded, n) for n in ("booster", "feature_types", "enable_categorical")},
        }
        kept = {name: value for name, value in vars(self).items() if name != "evals_result_"}
        self.__dict__ = {**kept, **found}

    def get_xgb_params(self) -> dict[str, Any]:
        """Return the parameters that XGBoost knows."""
        # `set_params` passes them to the booster of a fitted ranker.
        given = super().get_xgb_params()
        ours = (*OWN_NAMES, PENALTY, "eval_metric")
        return {**{n: v for n, v in given.items() if n not in ours}, "objective": SAVED_AS}
