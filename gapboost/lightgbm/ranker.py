"""LightGBM ranker with the interface of `lightgbm.LGBMRanker`."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any, Self

import lightgbm
import numpy as np
from sklearn.utils.validation import check_is_fitted

from gapboost._boosters.ranker import OWN_NAMES, GAPRanker, Plan, refuse, refuse_ignored
from gapboost._boosters.rows import RankingRows, evaluation_rows, ranking_rows
from gapboost._boosters.training import Gradients, Metrics, PositionFactors, metric_names
from gapboost._data.features import check_columns, check_names, feature_names
from gapboost._kernels import Array
from gapboost._kernels.threads import is_forked
from gapboost.lightgbm import private
from gapboost.lightgbm.callbacks import OF_OBJECTIVES, TreeCounter, by_first_metric, units
from gapboost.lightgbm.models import VENDOR_OBJECTIVE, labelled
from gapboost.measures import Measure
from gapboost.objectives import Objective

# Parameters that change nothing here: those of LightGBM's own objectives and metrics, and second
# names of parameters that its ranker lists.
IGNORED = frozenset().union(
    OF_OBJECTIVES,
    ("class_weight", "scale_pos_weight"),
    private.aliases("objective") - {"objective"},
    *map(private.aliases, ("label_gain", "metric", "eval_at", "objective_seed", "is_unbalance")),
    private.overruled(),
)


class LGBMGAPRanker(GAPRanker, lightgbm.LGBMRanker):  # type: ignore[misc]
    """LightGBM trained for graded average precision or another measure.

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
        `eval_metric` of `fit` reports others.
    path_smooth : float, default=200.0
        Draw the value of a leaf with n rows towards its parent's, by the weight
        ``path_smooth / (n + path_smooth)``. This ranks better with some hundred training queries
        and noisy labels, and changes little with more (benchmarks/EFFECTIVENESS.md). Pass 0 for
        the trees of `lightgbm.LGBMRanker`.
    **kwargs
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
        objective: str | Objective = "lambdarank",
        stopping_metric: str | Measure | Callable[..., Any] | None = None,
        path_smooth: float = 200.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(objective=objective, **kwargs)
        self.measure = measure
        self.g = g
        self.stopping_metric = stopping_metric
        self.path_smooth = path_smooth

    def fit(
        self,
        X: Any,
        y: Any,
        qid: Any = None,
        sample_weight: Any = None,
        *,
        group: Any = None,
        position: Any = None,
        init_score: Any = None,
        eval_set: Any = None,
        eval_X: Any = None,
        eval_y: Any = None,
        eval_qid: Any = None,
        eval_group: Any = None,
        eval_sample_weight: Any = None,
        eval_init_score: Any = None,
        eval_metric: Any = None,
        callbacks: list[Callable[..., Any]] | None = None,
        init_model: Any = None,
        **others: Any,
    ) -> Self:
        """Train.

        Parameters
        ----------
        X : array-like of shape (N, n_features)
            Positions of columns, as in `categorical_feature`, count the columns without ``qid``.
        y : array-like of shape (N,), or (N, L)
            Grades ``0..c``, or several labels for measures of them (`gapboost.OfLabel`).
        qid : array-like of shape (N,)
            Query id of each row, in any order of rows. A data frame `X` may hold it as the column
            ``qid``.
        sample_weight : array-like of shape (Q,) or (N,), optional
            One weight for each query, in the order in which queries first occur, or one for each
            row. The weight of a document multiplies its gradient and hessian. The weight of a
            query in metrics is the mean of its documents' weights.
        group : array-like of shape (Q,), optional
            Sizes of the queries, instead of `qid`, if the rows come query by query.
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
        init_score, eval_sample_weight, eval_init_score, **others
            As in `lightgbm.LGBMRanker.fit`; others are `eval_names`, `feature_name` and
            `categorical_feature`.
        callbacks
            As in `lightgbm.LGBMRanker.fit`. Early stopping uses the measure that is trained for,
            or `stopping_metric` of the ranker.
        init_model
            As in `lightgbm.LGBMRanker.fit`. Factors of positions start from those of a ranker.
            With ``extra_trees=True``, pass another `extra_seed`: LightGBM would draw the same
            thresholds again.

        Raises
        ------
        ValueError, TypeError
            If an argument or parameter is unusable.
        """
        refuse({"eval_at": others.pop("eval_at", None)}, "names of measures have cut-offs: ndcg@5")
        plan = self._plan(eval_metric)
        rows = ranking_rows(X, y, qid, group, sample_weight, init_score, position, limit=plan.limit)
        plan = plan.resolved(rows.data.occurring)
        metadata = {
            "eval_qid": eval_qid,
            "eval_group": eval_group,
            "eval_sample_weight": eval_sample_weight,
            "eval_init_score": eval_init_score,
        }
        pairs = _evaluation_pairs(eval_set, eval_X, eval_y)
        sets = evaluation_rows(pairs, metadata, rows, (X, y), plan.limit)
        before = None if init_model is None else to_continue(init_model, rows.X, others)
        gradients = self._gradients(plan, rows, init_model)
        counter = TreeCounter()
        trained = self._boost(
            gradients,
            rows,
            sets,
            _round_metrics(plan, rows, sets),
            callbacks=[*(callbacks or ()), counter],
            init_model=before,
            **others,
        )
        best_round = None
        if trained.booster_.best_iteration > 0:
            begin = 0 if before is None else before.current_iteration()
            best_round = trained.booster_.best_iteration - begin
            private.set_best_iteration(trained, counter.counts[best_round - 1])
        learned, bias = private.learned(trained), gradients.factors_after(best_round)
        self._learn(plan.objective, rows.data.summary, feature_names(rows.X), learned, bias)
        return self

    def _boost(
        self,
        gradients: Gradients,
        rows: RankingRows,
        sets: list[RankingRows],
        metrics: list[Any],
        callbacks: Sequence[Any] = (),
        **others: Any,
    ) -> lightgbm.LGBMRanker:
        """Train a fresh ranker of LightGBM, so that after an error this one is as it was."""
        vendor = self._vendor(objective=lambda y_true, y_pred: gradients(y_pred), metric="None")
        if self.get_params().get("first_metric_only") is not False:
            vendor.set_params(first_metric_only=True)
            callbacks = [by_first_metric(callback) for callback in callbacks]
        # LightGBM recognizes the training set among the evaluation sets by the same two objects.
        arrays = {id(s): (_read_exactly(s.X, "eval_set X"), s.y) for s in sets}
        arrays[id(rows)] = _read_exactly(rows.X, "X"), rows.y
        try:
            return vendor.fit(
                *arrays[id(rows)],
                sample_weight=rows.row_weights,
                init_score=rows.start,
                group=rows.sizes,
                **private.evaluation_arguments([arrays[id(s)] for s in sets]),
                eval_group=[s.sizes for s in sets] or None,
                eval_sample_weight=[s.row_weights for s in sets],
                eval_init_score=[s.start for s in sets],
                eval_metric=metrics,
                callbacks=list(callbacks),
                **others,
            )
        except private.LightGBMError as error:
            # So LightGBM says it, where an objective is a function.
            if "num_features()" in str(error):
                raise ValueError(
                    f"X has no feature that can split its {len(rows.y)} rows; expected columns "
                    "that vary, and a min_child_samples of at most half of the rows"
                ) from error
            raise

    def _train_watched(
        self, rows: RankingRows, held_out: RankingRows, watch: Callable[[Array], Any]
    ) -> None:
        """Train as `fit` does; `watch` gets the scores of the held-out rows in each round."""
        gradients = self._gradients(self._plan().resolved(rows.data.occurring), rows)
        self._boost(gradients, rows, [held_out], [lambda _, scores: watch(scores) or []])

    def _plan(self, eval_metric: Any = None) -> Plan:
        """Return the plan of the parameters, after a check of all of them."""
        given = self.get_params(deep=False)
        refuse_ignored(given, IGNORED, "LightGBM")
        seed, n_jobs = (private.value_of(name, given) for name in ("seed", "num_threads"))
        return Plan.of(self, eval_metric, seed, n_jobs)

    def _vendor(self, **others: Any) -> lightgbm.LGBMRanker:
        """Return LightGBM's own ranker with the parameters of this one."""
        given = self.get_params(deep=False)
        known = {name: value for name, value in given.items() if name not in OWN_NAMES}
        return lightgbm.LGBMRanker(**known, **others)

    def _process_params(self, stage: str) -> dict[str, Any]:
        # LightGBM passes all of these on to its library.
        parameters = super()._process_params(stage)
        known = {name: value for name, value in parameters.items() if name not in OWN_NAMES}
        return {**known, "objective": "None"}

    def _gradients(self, plan: Plan, rows: RankingRows, continued: Any = None) -> Gradients:
        """Return the gradients of a resolved plan, after a check that they teach something."""
        given, factors = self.get_params(deep=False), None
        scale = units(plan.objective, rows.data.summary)
        if rows.positions is not None:
            rate = self.learning_rate
            factors = PositionFactors(rows.positions, rate, given, scale, continued)
        gradients = Gradients(plan.objective, rows.data, scale, plan.n_jobs, private.TEAM, factors)
        # All names of LightGBM's min_child_weight.
        least = private.value_of("min_sum_hessian_in_leaf", given)
        gradients.check_learnable(rows, float(least))
        return gradients

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
        ValueError
            If the columns are not those of the training data.
        """
        check_is_fitted(self)
        if is_forked():
            kwargs = {"num_threads": 1, **kwargs}
        X = _read_exactly(self._features(X, validate_features), "X")
        scores: Array = super().predict(X, *args, **kwargs)
        return scores

    def to_vendor(self) -> lightgbm.LGBMRanker:
        """Return `lightgbm.LGBMRanker`, fitted, with the same parameters and predictions.

        It needs no gapboost, in pickles either. It knows neither `measure` nor the column ``qid``
        of a data frame, and rounds integers in arrays to float32. Fitted again, it trains for its
        own objective.
        """
        check_is_fitted(self)
        vendor = self._vendor(objective=VENDOR_OBJECTIVE)
        trained = self.booster_
        booster = labelled(trained, num_iteration=-1)
        booster.best_iteration, booster.best_score = trained.best_iteration, trained.best_score
        names = vars(lightgbm.LGBMRanker()).keys() | {"fitted_", "n_features_in_", "_eval_at"}
        found = {n: v for n, v in private.learned(self).items() if n in names and n != "_Booster"}
        vars(vendor).update(deepcopy(found), _Booster=booster)
        return vendor


def _read_exactly(X: Any, name: str) -> Any:
    """Return a table of `features` that LightGBM reads without rounding or a crash."""
    check_columns(X, name, ("number",))
    # LightGBM makes float32 of every array that is not float64: integers above 2**24 would run
    # together.
    exact = not isinstance(X, np.ndarray) or np.can_cast(X.dtype, np.float32)
    return X if exact else X.astype(np.float64, copy=False)


def _evaluation_pairs(eval_set: Any, X: Any, y: Any) -> Any:
    """Return `eval_set`, or `eval_X` and `eval_y` in its form."""
    if X is None and y is None:
        return eval_set
    tables, labels = (given if isinstance(given, tuple) else (given,) for given in (X, y))
    if eval_set is not None or X is None or y is None or len(tables) != len(labels):
        raise ValueError(
            f"eval_X has {len(tables)} entries and eval_y {len(labels)}; expected as many of both "
            "and no eval_set"
        )
    return list(zip(tables, labels, strict=True))


def to_continue(model: Any, X: Any, others: dict[str, Any]) -> lightgbm.Booster:
    """Return the booster of a model, or of its file, if it has the columns of training."""
    if isinstance(model, lightgbm.LGBMModel):
        model = model.booster_
    booster = model if isinstance(model, lightgbm.Booster) else lightgbm.Booster(model_file=model)
    known, names = booster.feature_name(), others.get("feature_name", "auto")
    names = feature_names(X) if isinstance(names, str) else names
    # LightGBM's own names, where there were none.
    if known != [f"Column_{i}" for i in range(len(known))]:
        check_names([name.replace(" ", "_") for name in names], known, "X")
    return booster


def _round_metrics(plan: Plan, rows: RankingRows, sets: list[RankingRows]) -> list[Any]:
    """Return the metrics of a fit as `lightgbm.LGBMRanker` takes them; the first stops training."""
    names = metric_names(plan.measures)
    # LightGBM scores the training set first, and once.
    in_order = iter(sorted(dict.fromkeys(sets), key=lambda s: s is not rows))
    known: dict[int, Metrics] = {}

    def of_round(y_true: Array, y_pred: Array) -> list[tuple[str, float, bool]]:
        # LightGBM passes the same array of labels for an evaluation set in every round, and the
        # sets in the same order.
        if id(y_true) not in known:
            data = next(in_order).data
            known[id(y_true)] = Metrics(plan.measures, names, data, plan.n_jobs, private.TEAM)
        return [(*value, True) for value in known[id(y_true)](y_pred)]

    stops = plan.stopping in plan.functions
    return [*plan.functions, of_round] if stops else [of_round, *plan.functions]
