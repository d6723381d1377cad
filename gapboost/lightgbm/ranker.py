"""LightGBM ranker with the interface of `lightgbm.LGBMRanker`."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any, Self

import lightgbm
from sklearn.utils.validation import check_is_fitted

from gapboost._boosters.evaluation_sets import check_stopping, evaluation_data, evaluation_sets
from gapboost._boosters.gradients import Gradients
from gapboost._boosters.migration import check_parameters
from gapboost._boosters.positions import PositionFactors
from gapboost._boosters.ranker import OWN_NAMES, EvalMetric, GAPRanker, Plan
from gapboost._kernels.threads import is_forked
from gapboost.data import Array, ArrayLike, DataSummary, QueryIds, RankingDataset
from gapboost.lightgbm import _compat
from gapboost.lightgbm.callbacks import TreeCounter, booster_scale, metrics_of, train_booster
from gapboost.lightgbm.evaluation_sets import (
    check_set_names,
    check_training_sets,
    evaluation_pairs,
)
from gapboost.lightgbm.features import check_positions, read_exactly
from gapboost.lightgbm.migration import OF_FIT, REPLACEMENTS
from gapboost.lightgbm.models import VENDOR_OBJECTIVE, to_continue, with_objective_name
from gapboost.measures import Measure
from gapboost.objectives import Objective
from gapboost.validation import PathLike, Seed, as_integer


class LGBMGAPRanker(GAPRanker, _compat.Ranker):
    """LightGBM trained for graded average precision or another measure.

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
        The reported metric that decides early stopping. None is the measure that is trained for.
        `eval_metric` of `fit` reports others.
    num_leaves : int, optional
        Leaves of a tree. None grows with the number n of training documents, as 31 (n /
        100,000)^(1/4), up to LightGBM's 31: 15 with 5,000 documents, 20 with 18,000.
    min_child_samples : int, optional
        Least number of documents in a leaf, as LightGBM estimates it from hessians. None is n / 50,
        but at least 20 and at most 100. Fewer leaves of more documents take less time and, with
        few documents, rank better (benchmarks/EFFECTIVENESS.md).
    max_bin : int, optional
        Bins of a feature, which limit its thresholds. None is 127 in place of LightGBM's 255. Pass
        255 if small differences of a time stamp matter.
    boosting_type, max_depth, ..., **kwargs
        Parameters of `lightgbm.LGBMRanker`, also `lambdarank_position_bias_regularization` for
        fits with `position`. Parameters of LightGBM's own ranking objectives and metrics are an
        error in `fit`. ``first_metric_only=False`` lets every reported measure stop training, as
        in LightGBM, and not only the one that is trained for.

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
        Trees of the best model by early stopping, 0 without it. A round that finds no split adds
        no tree.

    Examples
    --------
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.lightgbm import LGBMGAPRanker
    >>> train, vali, test = load_digits_ranking((60, 20, 40), 20)
    >>> ranker = LGBMGAPRanker(measure="gap", g=(0.5, 0.5), n_estimators=20, n_jobs=1, verbose=-1)
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
        num_leaves: int | None = None,
        min_child_samples: int | None = None,
        max_bin: int | None = None,
        boosting_type: str = "gbdt",
        max_depth: int = -1,
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample_for_bin: int = 200000,
        class_weight: Mapping[int, float] | str | None = None,
        min_split_gain: float = 0.0,
        min_child_weight: float = 1e-3,
        subsample: float = 1.0,
        subsample_freq: int = 0,
        colsample_bytree: float = 1.0,
        reg_alpha: float = 0.0,
        reg_lambda: float = 0.0,
        random_state: Seed = None,
        n_jobs: int | None = None,
        importance_type: str = "split",
        **kwargs: object,
    ) -> None:
        super().__init__(
            boosting_type=boosting_type,
            num_leaves=num_leaves,
            max_depth=max_depth,
            learning_rate=learning_rate,
            n_estimators=n_estimators,
            subsample_for_bin=subsample_for_bin,
            objective=objective,
            class_weight=class_weight,
            min_split_gain=min_split_gain,
            min_child_weight=min_child_weight,
            min_child_samples=min_child_samples,
            subsample=subsample,
            subsample_freq=subsample_freq,
            colsample_bytree=colsample_bytree,
            reg_alpha=reg_alpha,
            reg_lambda=reg_lambda,
            random_state=random_state,
            n_jobs=n_jobs,
            importance_type=importance_type,
            **kwargs,
        )
        self.measure = measure
        self.g = g
        self.stopping_metric = stopping_metric
        self.max_bin = max_bin

    def fit(
        self,
        X: object,
        y: ArrayLike,
        qid: QueryIds = None,
        sample_weight: ArrayLike | None = None,
        *,
        group: ArrayLike | None = None,
        position: ArrayLike | None = None,
        init_score: ArrayLike | None = None,
        eval_set: Sequence[tuple[Any, ArrayLike]] | None = None,
        eval_X: object = None,
        eval_y: tuple[ArrayLike, ...] | ArrayLike | None = None,
        eval_qid: Sequence[QueryIds] | None = None,
        eval_group: Sequence[ArrayLike | None] | None = None,
        eval_sample_weight: Sequence[ArrayLike | None] | None = None,
        eval_init_score: Sequence[ArrayLike | None] | None = None,
        eval_metric: EvalMetric = None,
        eval_at: object = None,
        eval_names: list[str] | None = None,
        feature_name: str | Sequence[str] = "auto",
        categorical_feature: str | Sequence[str | int] = "auto",
        callbacks: Sequence[Callable[..., object]] | None = None,
        init_model: PathLike | lightgbm.Booster | lightgbm.LGBMModel | None = None,
        **others: object,
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
            One weight for each query, or one for each row. A Series of pandas whose index has
            exactly the query ids is aligned by it. Other weights of queries come in the order in
            which the queries first occur. The weight of a document multiplies its gradient and
            hessian. The weight of a query in metrics is the mean of its documents' weights.
        group : array-like of shape (Q,), optional
            Sizes of the queries, instead of `qid`, if the rows come query by query. A Series whose
            index has the ids of the rows' index is aligned by it.
        position : array-like of shape (N,), optional
            Position at which each document was shown when `y` was observed, such as its rank in a
            click log: any hashable values. A factor of each is learned along with the trees, by the
            learning rate and `lambdarank_position_bias_regularization` (default 0). Evaluation
            sets and predictions have no positions.
        eval_set : list of (X, y), optional
            A pair of the objects `X` and `y` themselves is the training set. It is reported as
            ``"training"``, and does not stop training.
        eval_X, eval_y : tuple of array-like, or one array-like, optional
            Same as ``eval_set=list(zip(eval_X, eval_y))``.
        eval_qid, eval_group : list of array-like, optional
            Query ids, or sizes of the queries, of each evaluation set.
        eval_metric : str, Measure, callable or list of them, optional
            Metrics to report after the measure that is trained for. LightGBM calls a callable as
            `lightgbm.LGBMRanker` does, with the rows of the evaluation set query by query.
        eval_sample_weight : list of array-like, optional
            Weights of each evaluation set, as `sample_weight`.
        init_score, eval_init_score, eval_names, feature_name
            As in `lightgbm.LGBMRanker.fit`.
        categorical_feature
            As in `lightgbm.LGBMRanker.fit`. Positions are those of `X`: an error if a column
            ``qid`` precedes them.
        eval_at
            An error: pass cutoffs as ``eval_metric=["ndcg@5"]``.
        callbacks
            As in `lightgbm.LGBMRanker.fit`. Early stopping uses the measure that is trained for,
            or `stopping_metric` of the ranker.
        init_model
            As in `lightgbm.LGBMRanker.fit`. Factors of positions start from those of a ranker.
            With ``extra_trees=True``, pass another `extra_seed`: LightGBM would draw the same
            thresholds again.
        **others
            An error, which says where they belong.

        Raises
        ------
        ValueError, TypeError
            If an argument or parameter is unusable.
        """
        if eval_at is not None:
            others["eval_at"] = eval_at
        plan = self._plan(eval_metric, others)
        arguments: dict[str, Any] = {"X": X, "y": y, "qid": qid, "group": group}
        arguments |= {"sample_weight": sample_weight, "init_score": init_score}
        data = RankingDataset.of(**arguments, position=position, limit=plan.limit).grouped()
        plan = plan.resolved(data.query_data.occurring)
        given = self.get_params(deep=False)
        check_positions(X, given, categorical_feature)
        metadata = {
            "qid": ("eval_qid", eval_qid),
            "group": ("eval_group", eval_group),
            "sample_weight": ("eval_sample_weight", eval_sample_weight),
            "init_score": ("eval_init_score", eval_init_score),
        }
        given_sets = evaluation_sets(evaluation_pairs(eval_set, eval_X, eval_y), metadata)
        check_training_sets(given_sets, arguments)
        sets = evaluation_data(given_sets, data, arguments, plan.limit)
        rounds = _compat.value_of("early_stopping_round", given) or 0
        rounds = as_integer(rounds, "early_stopping_round", -1)
        check_stopping(callbacks, _compat.EarlyStopping, max(rounds, 0), sets)
        check_set_names(eval_names, sets, data)
        parameters = self.train_parameters(data.query_data.summary.n_rows)  # which draws a seed
        train = self._data_set(data, parameters, "X", feature_name, categorical_feature)
        valid = [
            train if s is data else self._data_set(s, parameters, f"eval_set[{i}] X")
            for i, s in enumerate(sets)
        ]
        before = None if init_model is None else to_continue(init_model, data.X, feature_name)
        gradients = self._gradients(plan, data, init_model)
        counter = TreeCounter()
        evals_result: dict[str, dict[str, list[float]]] = {}
        booster = train_booster(
            parameters,
            train,
            gradients,
            self.n_estimators,
            callbacks=[*(callbacks or ()), counter, lightgbm.record_evaluation(evals_result)],
            valid_sets=valid,
            valid_names=eval_names,
            feval=metrics_of(plan, valid, sets),
            init_model=before,
        )
        bias = gradients.factors_after(counter.set_best_trees(booster, before))
        # Without later trees, and so that `predict` can stop early.
        booster = with_objective_name(booster)
        _compat.set_fitted(self, booster, evals_result)
        names = data.frame_columns or (() if feature_name == "auto" else feature_name)
        self._set_fitted(plan.objective, data.query_data.summary, names, bias)
        return self

    def _data_set(
        self,
        data: RankingDataset,
        parameters: dict[str, object],
        name: str,
        feature_name: str | Sequence[str] = "auto",
        categorical_feature: str | Sequence[str | int] = "auto",
    ) -> lightgbm.Dataset:
        """Return the data set of LightGBM; `name` is that of its features."""
        return lightgbm.Dataset(
            read_exactly(data.X, name),
            data.query_data.first_label,
            weight=data.query_data.row_weights if data.weights_given else None,
            group=data.query_data.queries.sizes,
            init_score=data.init_score,
            feature_name=feature_name,
            categorical_feature=categorical_feature,
            params=parameters,
        )

    def _plan(
        self, eval_metric: EvalMetric = None, others: Mapping[str, object] | None = None
    ) -> Plan:
        """Return the plan of the parameters, after a check of all of them."""
        known = _compat.parameter_names()
        check_parameters(self, others or {}, known, REPLACEMENTS, OF_FIT, "LightGBM")
        given = self.get_params(deep=False)
        seed, n_jobs = _compat.value_of("seed", given), _compat.value_of("num_threads", given)
        return Plan.of(self, eval_metric, seed, n_jobs)

    def _gradients(
        self,
        plan: Plan,
        data: RankingDataset,
        continued: object = None,
        global_summary: DataSummary | None = None,
    ) -> Gradients:
        """Return the gradients of a resolved plan; `global_summary` is that of all workers."""
        summary = global_summary or data.query_data.summary
        summary.check_mixed_grades("y")
        given, factors = self.get_params(deep=False), None
        scale = booster_scale(plan.objective, summary)
        if data.positions is not None:
            factors = PositionFactors(data.positions, self.learning_rate, given, scale, continued)
        least_hessian = None
        if not continued and global_summary is None:  # of all rows, which one worker does not see
            # All names of LightGBM's min_child_weight.
            least_hessian = float(_compat.value_of("min_sum_hessian_in_leaf", given))
        return Gradients(
            plan.objective,
            data.query_data,
            scale,
            plan.n_jobs,
            _compat.TEAM,
            factors,
            global_summary,
            least_hessian,
        )

    def predict(self, X: Any, *args: Any, validate_features: bool = True, **kwargs: Any) -> Array:
        """Scores of rows, higher is better.

        Parameters
        ----------
        X : array-like of shape (N, n_features)
            Columns as in training; a column ``qid`` of a data frame is left out.
        *args, **kwargs
            As in `lightgbm.LGBMRanker.predict`, such as `raw_score` and `num_iteration`.
        validate_features : bool, default=True
            Refuse other names of columns than in training. False takes columns by position, as
            LightGBM does by default.

        Returns
        -------
        float64 ndarray of shape (N,)
            With `pred_leaf` the leaves, with `pred_contrib` the contributions of features as
            LightGBM gives them: for a sparse `X` a sparse matrix.

        Raises
        ------
        ValueError, TypeError
            If the columns are not those of the training data, or a parameter is unknown.
        """
        check_is_fitted(self)
        _compat.check_of_predict(kwargs)
        kwargs = {"num_threads": 1, **kwargs} if is_forked() else kwargs
        X = read_exactly(self._features(X, validate_features), "X")
        try:
            scores: Array = super().predict(X, *args, **kwargs)
        except ValueError as error:
            _compat.explain_categories(error, "X")
            raise
        return scores

    def to_vendor(self) -> lightgbm.LGBMRanker:
        """Return `lightgbm.LGBMRanker`, fitted, with the same parameters and predictions.

        It needs no gapboost, in pickles either. It knows neither `measure` nor the column ``qid``
        of a data frame, and rounds integers in arrays to float32. Fitted again, it trains for its
        own objective.
        """
        check_is_fitted(self)
        given = self.get_params(deep=False)
        # None stands for a default of ours, which LightGBM's ranker lacks.
        known = {n: v for n, v in given.items() if v is not None and n not in OWN_NAMES}
        vendor = lightgbm.LGBMRanker(**known, objective=VENDOR_OBJECTIVE)
        booster = with_objective_name(self.booster_, num_iteration=-1)
        _compat.set_fitted(vendor, booster, deepcopy(self.evals_result_))
        return vendor
