"""XGBoost ranker with the interface of `xgboost.XGBRanker`."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import xgboost
from sklearn.utils.validation import check_is_fitted
from xgboost.sklearn import DEFAULT_N_ESTIMATORS

from gapboost._boosters.data_set import ArgumentNames, DataSet
from gapboost._boosters.described import described
from gapboost._boosters.fit_arguments import FitArguments
from gapboost._boosters.own_parameters import OWN_NAMES, OWN_PARAMETERS, taken_from
from gapboost._boosters.positions import REGULARIZATION
from gapboost._boosters.ranker import GAPRanker
from gapboost._boosters.rows import RankingRows
from gapboost._boosters.signature import taking
from gapboost._boosters.training import Training, Watch
from gapboost._data.arguments import seed
from gapboost._kernels import Array
from gapboost.measures import Measure, Measures
from gapboost.objectives import Objective
from gapboost.xgboost.inputs import SAVED_AS
from gapboost.xgboost.library import LIBRARY
from gapboost.xgboost.model_file import load_into
from gapboost.xgboost.parameter_table import XGBOOST, spelled
from gapboost.xgboost.training import Bins, Trained, binned, boost, boost_on_bins, check_stopping
from gapboost.xgboost.versions import check_categories

# Parameters that XGBoost does not know: the last is LightGBM's.
NOT_OF_XGBOOST = (*OWN_NAMES, REGULARIZATION)


# One metric or several: names, measures, functions.
Metrics = Measures | Callable[..., Any] | Sequence[str | Measure | Callable[..., Any]]


@described
class XGBGAPRanker(GAPRanker, xgboost.XGBRanker):  # type: ignore[misc]
    """XGBoost trained for graded average precision or another measure.

    Parameters
    ----------
    {own_parameters}
    **kwargs
        Every parameter of the installed XGBoost. Unknown names, and parameters of XGBoost's own
        ranking objectives and metrics, are one error in `fit`, which says what to write instead.
        ``validate_parameters=False`` passes unknown names on. Fits with `position` take
        `lambdarank_position_bias_regularization`, as in LightGBM, and not `lambdarank_unbiased`.
        ``callbacks=[progress()]`` shows a progress bar. `eval_metric` takes names, measures and
        callables, or a list of them. A callable ``f(y_true, y_score)`` returns a number for each
        query, and the mean weighs queries by size. Lower is better unless its ``__name__`` begins
        with ``auc``, ``pre``, ``map`` or ``ndcg``. A callable of three or four arguments is as in
        `gapboost.lightgbm.LGBMGAPRanker.fit`; ``map-`` precedes its name if higher is better.

    Attributes
    ----------
    {fitted}
    best_iteration_ : int
        Rounds of the best model by early stopping, 0 without it. Later rounds are dropped.
    best_iteration, best_score : int, float
        XGBoost's own, after early stopping; the first counts from 0.
    evals_result_ : dict {set: {metric: list of float}}
        Reported values of each round; ``evals_result()`` returns the same.
    feature_importances_ : ndarray of shape (n_features,)
    feature_names_in_ : ndarray of str
        After training on a data frame.
    n_features_in_ : int

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

    _library = LIBRARY
    _parameter_table = XGBOOST
    _default_rounds = DEFAULT_N_ESTIMATORS

    # For type checkers. At run time the parameters are those of the installed XGBoost.
    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            measure: str | Measure = "gap",
            g: Sequence[float] | None = None,
            objective: str | Objective = "lambdarank",
            stopping_metric: str | Measure | None = None,
            max_depth: int | None = None,
            max_leaves: int | None = None,
            max_bin: int | None = None,
            grow_policy: str | None = None,
            learning_rate: float | None = None,
            n_estimators: int | None = None,
            verbosity: int | None = None,
            booster: str | None = None,
            tree_method: str | None = None,
            n_jobs: int | None = None,
            gamma: float | None = None,
            min_child_weight: float | None = None,
            max_delta_step: float | None = None,
            subsample: float | None = None,
            sampling_method: str | None = None,
            colsample_bytree: float | None = None,
            colsample_bylevel: float | None = None,
            colsample_bynode: float | None = None,
            reg_alpha: float | None = None,
            reg_lambda: float | None = None,
            scale_pos_weight: float | None = None,
            base_score: float | list[float] | None = None,
            random_state: int | np.random.RandomState | np.random.Generator | None = None,
            missing: float = float("nan"),
            num_parallel_tree: int | None = None,
            monotone_constraints: dict[str, int] | str | None = None,
            interaction_constraints: str | Sequence[Sequence[str]] | None = None,
            importance_type: str | None = None,
            device: str | None = None,
            validate_parameters: bool | None = None,
            enable_categorical: bool = False,
            feature_types: Sequence[str] | None = None,
            feature_weights: Any = None,
            max_cat_to_onehot: int | None = None,
            max_cat_threshold: int | None = None,
            multi_strategy: str | None = None,
            eval_metric: Metrics | None = None,
            early_stopping_rounds: int | None = None,
            callbacks: list[xgboost.callback.TrainingCallback] | None = None,
            **kwargs: Any,
        ) -> None: ...

    else:

        @taking(xgboost.XGBModel, first=OWN_PARAMETERS)
        def __init__(self, **kwargs: Any) -> None:
            own = taken_from(kwargs)
            # XGBRanker takes only its own objectives by name: ours is set afterwards.
            super().__init__(objective=SAVED_AS, **kwargs)
            vars(self).update(own)

    @property
    def best_iteration_(self) -> int:
        """Rounds of the best model by early stopping, 0 without it; as in `LGBMGAPRanker`."""
        return LIBRARY.best_round(self.get_booster())

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
        {rows}
        {evaluation_sets}
        base_margin, sample_weight_eval_set, base_margin_eval_set, verbose, xgb_model
            As in `xgboost.XGBRanker.fit`. `early_stopping_rounds` is a parameter of the ranker.
        feature_weights : array-like of shape (n_features,), optional
            Same as `feature_weights` of the ranker; give one of them. Prefer the parameter: XGBoost
            removes this argument from its own `fit`.

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
        if feature_weights is None:
            feature_weights = self.feature_weights
        elif self.feature_weights is not None:
            raise ValueError(
                "feature_weights is given in fit, and to the ranker too; expected one of them"
            )
        names = ArgumentNames(start="base_margin")
        arguments = FitArguments(
            train=DataSet(X, y, qid, sample_weight, base_margin, position, group, names),
            eval_set=eval_set,
            eval_qid=eval_qid,
            eval_group=eval_group,
            eval_weight=sample_weight_eval_set,
            eval_start=base_margin_eval_set,
            eval_metric=spelled(self.eval_metric),
            terms=LIBRARY.terms,
            of_booster=dict(verbose=verbose, xgb_model=xgb_model, feature_weights=feature_weights),
        )
        return self._fit(arguments)

    def _boost(self, training: Training, **of_booster: Any) -> Trained:
        return boost(self, training, **of_booster)

    def _bins(self, train: RankingRows, held_out: RankingRows) -> Bins:
        return binned(self, train, held_out)

    def _boost_on_bins(self, training: Training, bins: Bins, watch: Watch) -> None:
        boost_on_bins(self, training, bins, watch)

    def _check_stopping(self, of_booster: dict[str, Any]) -> None:
        check_stopping(self)

    def to_vendor(self) -> xgboost.XGBRanker:  # noqa: D102, the docstring is inherited
        check_is_fitted(self)
        known = {n: v for n, v in self.get_params().items() if n not in NOT_OF_XGBOOST}
        vendor = xgboost.XGBRanker(**{**known, "objective": SAVED_AS, "eval_metric": None})
        vars(vendor).update(deepcopy(self._learned_by_booster()))
        return vendor

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
        NotFittedError
            Before `fit`.
        ValueError
            If the columns are not those of the training data.
        """
        scores: Array = super().predict(
            self._features(X, validate_features),
            output_margin=output_margin,
            validate_features=validate_features,
            base_margin=base_margin,
            iteration_range=iteration_range,
        )
        return scores

    def apply(self, X: Any, iteration_range: tuple[int, int] | None = None) -> Array:
        """Return leaves of rows, float32 of shape (N, n_trees); arguments as in `predict`."""
        leaves: Array = super().apply(self._features(X), iteration_range)
        return leaves

    def _features(self, X: Any, validate: bool = True) -> Any:
        X = super()._features(X, validate)
        if self.enable_categorical:
            check_categories(X, "X")
        return X

    def load_model(self, fname: Any) -> None:
        """Load what `save_model` saved; `measure_` and `g_` are then those of the model.

        The parameters stay as they are. They give the measure if the file does not. Of a model of
        `xgboost.XGBRanker` that stopped early, only the rounds up to the best one are kept.

        Raises
        ------
        ValueError
            If the model was trained with another `missing`, or for a measure or objective of the
            user's own that is not the one of the parameters.
        """
        load_into(self, super().load_model, fname)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters as they were given."""
        # XGBoost's own draws from a generator: printing a ranker would change what it trains.
        drawless = object.__new__(type(self))
        drawless.__dict__.update(vars(self), random_state=None)
        parameters: dict[str, Any] = super(XGBGAPRanker, drawless).get_params(deep)
        return {**parameters, "random_state": self.random_state}

    def get_xgb_params(self) -> dict[str, Any]:
        """Return the parameters that XGBoost knows; `random_state` is drawn if it is no number."""
        # `set_params` hands them to the booster of a fitted ranker.
        return self._with_seed(self._known_parameters())

    def _with_seed(self, parameters: dict[str, Any]) -> dict[str, Any]:
        return {**parameters, "random_state": seed(self._named_params()["random_state"])}

    def _known_parameters(self) -> dict[str, Any]:
        """Return `get_xgb_params` before a seed is drawn."""
        named = self._parameter_table.by_constructor_names(super().get_xgb_params())
        parameters = self._parameter_table.passed_on(named)
        for name in (*NOT_OF_XGBOOST, "eval_metric"):
            parameters.pop(name, None)
        return {**parameters, "objective": SAVED_AS}

    def _booster_parameters(self) -> dict[str, Any]:
        """Return the parameters for `xgboost.train`."""
        given = {n: v for n, v in self._known_parameters().items() if v is not None}
        # XGBoost starts from 0.5 with a custom objective, and reports rmse.
        return {"base_score": 0.0, **given, "disable_default_eval_metric": 1}
