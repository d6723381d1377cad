"""LightGBM ranker with the interface of `lightgbm.LGBMRanker`."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Self

import lightgbm
import numpy as np
from sklearn.utils.validation import check_is_fitted

from gapboost._boosters.data_set import ArgumentNames, DataSet
from gapboost._boosters.described import described
from gapboost._boosters.fit_arguments import FitArguments
from gapboost._boosters.own_parameters import OWN_NAMES, OWN_PARAMETERS, taken_from
from gapboost._boosters.ranker import GAPRanker
from gapboost._boosters.rows import RankingRows
from gapboost._boosters.signature import also_in_order_of, taking
from gapboost._boosters.training import Training, Watch
from gapboost._kernels import Array
from gapboost.lightgbm.inputs import read_exactly
from gapboost.lightgbm.library import LIBRARY
from gapboost.lightgbm.model_text import VENDOR_OBJECTIVE, labelled
from gapboost.lightgbm.parameter_table import LIGHTGBM
from gapboost.lightgbm.training import Bins, Trained, binned, boost, boost_on_bins, check_stopping
from gapboost.lightgbm.versions import BEFORE_4_7, names_of_frame
from gapboost.measures import Measure
from gapboost.objectives import Objective


@described
class LGBMGAPRanker(GAPRanker, lightgbm.LGBMRanker):  # type: ignore[misc]
    """LightGBM trained for graded average precision or another measure.

    Parameters
    ----------
    {own_parameters}
    extra_trees : bool, default=True
        Draw one threshold of each feature at random in every leaf, and split by the best of them.
        This gave better rankings on all validation queries, also with LightGBM's own objectives
        (benchmarks/EFFECTIVENESS.md). Pass False for the trees of `lightgbm.LGBMRanker`.
    **kwargs
        Every parameter and alias of the installed LightGBM, also
        `lambdarank_position_bias_regularization` for fits with `position`. Unknown names, and
        parameters of LightGBM's own ranking objectives and metrics, are one error in `fit`, which
        says what to write instead. ``first_metric_only=False`` lets every reported measure stop
        training, as in LightGBM, and not only the one that is trained for.

    Attributes
    ----------
    {fitted}
    booster_ : lightgbm.Booster
    best_iteration_ : int
        Rounds of the best model by early stopping, 0 without it.
    best_score_ : dict {set: {metric: float}}
    evals_result_ : dict {set: {metric: list of float}}
        Reported values of each round.
    feature_importances_ : ndarray of shape (n_features,)
    feature_name_ : list of str
    feature_names_in_ : ndarray of str
    n_estimators_ : int
        Number of trained rounds; `n_iter_` is the same.
    n_features_in_ : int
        Number of features of the training set; `n_features_` is the same.

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

    _library = LIBRARY
    _parameter_table = LIGHTGBM

    if BEFORE_4_7:
        feature_names_in_ = property(names_of_frame)

    # For type checkers. At run time the parameters are those of the installed LightGBM.
    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            measure: str | Measure = "gap",
            g: Sequence[float] | None = None,
            objective: str | Objective = "lambdarank",
            stopping_metric: str | Measure | None = None,
            extra_trees: bool = True,
            boosting_type: str = "gbdt",
            num_leaves: int = 31,
            max_depth: int = -1,
            learning_rate: float = 0.1,
            n_estimators: int = 100,
            subsample_for_bin: int = 200000,
            class_weight: None = None,
            min_split_gain: float = 0.0,
            min_child_weight: float = 0.001,
            min_child_samples: int = 20,
            subsample: float = 1.0,
            subsample_freq: int = 0,
            colsample_bytree: float = 1.0,
            reg_alpha: float = 0.0,
            reg_lambda: float = 0.0,
            random_state: int | np.random.RandomState | np.random.Generator | None = None,
            n_jobs: int | None = None,
            importance_type: str = "split",
            **kwargs: Any,
        ) -> None: ...

    else:

        @taking(lightgbm.LGBMRanker, first=OWN_PARAMETERS)
        def __init__(self, *, extra_trees: bool = True, **kwargs: Any) -> None:
            own = taken_from(kwargs)
            super().__init__(objective=own["objective"], **kwargs)
            vars(self).update(own, extra_trees=extra_trees)

    @also_in_order_of(lightgbm.LGBMRanker.fit)
    @described
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
        eval_at: Any = None,
        eval_names: list[str] | None = None,
        eval_sample_weight: Any = None,
        eval_init_score: Any = None,
        eval_metric: Any = None,
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        callbacks: list[Callable[..., Any]] | None = None,
        init_model: Any = None,
    ) -> Self:
        """Train.

        Parameters
        ----------
        {rows}
        {evaluation_sets}
        eval_X, eval_y : tuple of array-like, or one array-like, optional
            Same as ``eval_set=list(zip(eval_X, eval_y))``. A set of the objects `X` and `y`
            themselves is the training set, unless its queries, weights or initial scores differ. It
            uses the weights and initial scores of training, is reported as ``"training"``, and does
            not stop training.
        eval_at : sequence of int, optional
            Ranks of nDCG and AP in `eval_metric`, or of nDCG if that is left out: ``(5, 10)``
            reports ``ndcg@5`` and ``ndcg@10``. AP is then LightGBM's. It divides by the number of
            relevant documents or by the rank, whichever is smaller.
        eval_metric : str, Measure, callable or list of them, optional
            Metrics to report after the measure that is trained for. A callable is as in
            `lightgbm.LGBMRanker`: ``f(y_true, y_pred)``, ``f(y_true, y_pred, weight)`` or
            ``f(y_true, y_pred, weight, group)`` returns ``(name, value, is_higher_better)`` or a
            list of such tuples. Its arrays have the rows of the evaluation set in your order; a
            callable with `group` needs rows that come query by query. On a cluster a callable is an
            error. The trained measure alone decides early stopping, or `stopping_metric` of the
            ranker. With ``first_metric_only=False`` of the ranker all metrics do, as in LightGBM.
        init_score, eval_names, eval_sample_weight, eval_init_score, feature_name
            As in `lightgbm.LGBMRanker.fit`.
        categorical_feature, callbacks, init_model
            As in `lightgbm.LGBMRanker.fit`. ``callbacks=[lightgbm.early_stopping(...)]`` stops
            early, and the fit uses a copy of it. ``callbacks=[progress()]`` shows a progress bar.
            Each worker of a cluster calls its own copy of the callbacks.

        Raises
        ------
        {errors}

        Warns
        -----
        {warnings}

        Notes
        -----
        {on_a_cluster}
        """
        names = ArgumentNames(start="init_score")
        arguments = FitArguments(
            train=DataSet(X, y, qid, sample_weight, init_score, position, group, names),
            eval_set=eval_set,
            eval_X=eval_X,
            eval_y=eval_y,
            eval_qid=eval_qid,
            eval_group=eval_group,
            eval_weight=eval_sample_weight,
            eval_start=eval_init_score,
            eval_metric=eval_metric,
            eval_at=eval_at,
            terms=LIBRARY.terms,
            of_booster={
                "eval_names": eval_names,
                "feature_name": feature_name,
                "categorical_feature": categorical_feature,
                "callbacks": callbacks,
                "init_model": init_model,
            },
        )
        return self._fit(arguments)

    def _boost(self, training: Training, **of_booster: Any) -> Trained:
        return boost(training, self._n_rounds, **of_booster)

    def _bins(self, train: RankingRows, held_out: RankingRows) -> Bins:
        return binned(train, held_out)

    def _boost_on_bins(self, training: Training, bins: Bins, watch: Watch) -> None:
        boost_on_bins(training, self._n_rounds, bins, watch)

    def _check_stopping(self, of_booster: dict[str, Any]) -> None:
        if self.stopping_metric is not None:
            parameters = self._booster_parameters()
            check_stopping(self.stopping_metric, parameters, of_booster["callbacks"])

    def predict(
        self,
        X: Any,
        raw_score: bool = False,
        start_iteration: int = 0,
        num_iteration: int | None = None,
        pred_leaf: bool = False,
        pred_contrib: bool = False,
        validate_features: bool | None = None,
        **kwargs: Any,
    ) -> Array:
        """Scores of rows, higher is better.

        Parameters
        ----------
        X : array-like of shape (N, n_features)
            Columns as in training; a column ``qid`` of a data frame is left out.
        raw_score, start_iteration, num_iteration, pred_leaf, pred_contrib, **kwargs
            As in `lightgbm.LGBMRanker.predict`.
        validate_features : bool, optional
            None refuses other columns than in training. True does too, for pandas with LightGBM's
            own error. False takes columns by position, as LightGBM does by default.

        Returns
        -------
        float64 ndarray of shape (N,)
            With `pred_leaf` the leaves, with `pred_contrib` the contributions of features as
            LightGBM gives them: for a sparse `X` a sparse matrix.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If the columns are not those of the training data.
        """
        # LightGBM's own check is for pandas alone.
        theirs = bool(validate_features) and hasattr(X, "iloc")
        # LightGBM ignores it for custom objectives.
        early = kwargs.get("pred_early_stop", self._other_params.get("pred_early_stop"))
        predict = self.to_vendor().predict if early else super().predict
        scores: Array = predict(
            read_exactly(self._features(X, validate_features is not False and not theirs), "X"),
            raw_score=raw_score,
            start_iteration=start_iteration,
            num_iteration=num_iteration,
            pred_leaf=pred_leaf,
            pred_contrib=pred_contrib,
            validate_features=theirs,
            **kwargs,
        )
        return scores

    def to_vendor(self) -> lightgbm.LGBMRanker:  # noqa: D102, the docstring is inherited
        check_is_fitted(self)
        vendor = lightgbm.LGBMRanker(**self._booster_parameters(), objective=VENDOR_OBJECTIVE)
        trained = self.booster_
        booster = labelled(trained, num_iteration=-1)
        booster.best_iteration = trained.best_iteration
        booster.best_score = trained.best_score
        learned = self._learned_by_booster()
        del learned["_Booster"]
        vars(vendor).update(deepcopy(learned), _Booster=booster)
        return vendor

    def set_params(self, **params: Any) -> Self:  # noqa: D102, the docstring is inherited
        # LightGBM sets `_<name>` too where there is such an attribute: "boost" would replace our
        # method `_boost`.
        kind, theirs = type(self), lightgbm.LGBMRanker
        ours = [n for n in params if hasattr(kind, f"_{n}") and not hasattr(theirs, f"_{n}")]
        super().set_params(**{name: value for name, value in params.items() if name not in ours})
        for name in ours:
            setattr(self, name, params[name])
            self._other_params[name] = params[name]
        return self

    def _booster_parameters(self) -> dict[str, Any]:
        """Return the parameters for LGBMRanker."""
        parameters = self._parameter_table.passed_on(self._named_params())
        for name in {*OWN_NAMES, "objective"}:
            parameters.pop(name)
        return parameters

    def _with_seed(self, parameters: dict[str, Any]) -> dict[str, Any]:
        # As LGBMRanker draws it in `fit`.
        state, most = parameters["random_state"], np.iinfo(np.int32).max
        if isinstance(state, np.random.RandomState):
            return {**parameters, "random_state": state.randint(most)}
        if isinstance(state, np.random.Generator):
            return {**parameters, "random_state": int(state.integers(most))}
        return parameters

    def _process_params(self, stage: str) -> dict[str, Any]:
        # LightGBM passes every parameter on to the booster, which warns of unknown ones. It also
        # warns of its own parameters for objectives and cut-offs.
        plain = object.__new__(type(self))
        others = self._parameter_table.passed_on(self._other_params)
        plain.__dict__.update(vars(self), _other_params=others)
        parameters: dict[str, Any] = dict(super(LGBMGAPRanker, plain)._process_params(stage))
        for name in OWN_NAMES:
            parameters.pop(name, None)
        return {**parameters, "objective": "None"}
