"""A ranker beside `xgboost.XGBRanker`."""

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
from gapboost._boosters.training import Training
from gapboost._data.arguments import seed
from gapboost._kernels import Array
from gapboost.measures import Measure, Measures
from gapboost.objectives import Objective
from gapboost.xgboost.inputs import SAVED_AS
from gapboost.xgboost.library import LIBRARY
from gapboost.xgboost.model_file import load_into
from gapboost.xgboost.parameter_table import XGBOOST, spelled
from gapboost.xgboost.training import binned, boost, boost_on_bins, check_stopping
from gapboost.xgboost.versions import check_categories

# Parameters that XGBoost does not know: the last is LightGBM's.
NOT_OF_XGBOOST = (*OWN_NAMES, REGULARIZATION)


@described
class XGBGAPRanker(GAPRanker, xgboost.XGBRanker):  # type: ignore[misc]
    """XGBoost trained for graded average precision or another measure.

    Parameters
    ----------
    {own_parameters}
    **kwargs
        Every parameter of `xgboost.XGBRanker` and every other one that the installed XGBoost knows.
        `eval_metric` takes names, measures and callables, or a list of them. A callable
        ``f(y_true, y_score)`` is that of `xgboost.XGBRanker`: it returns a number for each query,
        and the mean weighs queries by their size. Its name is its ``__name__``; lower is better
        unless that begins with ``auc``, ``pre``, ``map`` or ``ndcg``. A callable of three or four
        arguments is that of LightGBM (`gapboost.lightgbm.LGBMGAPRanker.fit`), reported as ``map-``
        and its name if higher is better. ``callbacks=[progress()]`` shows a progress bar. Fits with
        `position` take `lambdarank_position_bias_regularization`, as LightGBM, and not
        `lambdarank_unbiased`. `fit` refuses unknown names, unless ``validate_parameters=False``
        passes them on, and those that steer XGBoost's own ranking objectives and metrics, all in
        one error with what to write instead.

    Attributes
    ----------
    {fitted}
    best_iteration_ : int
        Rounds of the best model by early stopping, 0 without it; `best_iteration` counts from 0.
        The booster holds these rounds and no later ones.
    best_iteration, best_score : int, float
        XGBoost's own, after early stopping; the first counts from 0.
    evals_result_ : dict {set: {metric: list of float}}
        What was reported in each round; by ``evals_result()`` too.
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

    # Type checkers read the first, with the parameters of XGBRanker in full; at run time those of
    # the installed version count.
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
            eval_metric: Measures | Callable[..., Any] | Sequence[str | Measure | Callable[..., Any]] | None = None,
            early_stopping_rounds: int | None = None,
            callbacks: list[xgboost.callback.TrainingCallback] | None = None,
            **kwargs: Any,
        ) -> None: ...

    else:

        @taking(xgboost.XGBModel, first=OWN_PARAMETERS)
        def __init__(self, **kwargs: Any) -> None:
            own = taken_from(kwargs)
            # XGBRanker accepts only its own objectives by name, so it is shown one and the
            # parameter is set afterwards.
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
            As in `xgboost.XGBRanker.fit`; early stopping by ``early_stopping_rounds=`` of the
            ranker.
        feature_weights : array-like of shape (n_features,), optional
            As the parameter of the ranker, which is the better place: XGBoost removes this argument
            from its own `fit`. Not both.

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
            raise ValueError("feature_weights is given in fit, and to the ranker too; expected one of them")
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
            of_booster={"verbose": verbose, "xgb_model": xgb_model, "feature_weights": feature_weights},
        )
        return self._fit(arguments)

    def _boost(self, training: Training, **of_booster: Any) -> tuple[dict[str, Any], xgboost.Booster]:
        return boost(self, training, **of_booster)

    def _bins(self, train: RankingRows, held_out: RankingRows) -> tuple[xgboost.DMatrix, xgboost.DMatrix]:
        return binned(self, train, held_out)

    def _boost_on_bins(
        self, training: Training, bins: tuple[xgboost.DMatrix, xgboost.DMatrix], watch: Callable[[Array], None]
    ) -> None:
        boost_on_bins(self, training, bins, watch)

    def _check_stopping(self, of_booster: dict[str, Any]) -> None:
        check_stopping(self)

    def to_vendor(self) -> xgboost.XGBRanker:  # noqa: D102, the docstring is inherited
        check_is_fitted(self)
        parameters = {**self.get_params(), "objective": SAVED_AS, "eval_metric": None}
        vendor = xgboost.XGBRanker(**{name: v for name, v in parameters.items() if name not in NOT_OF_XGBOOST})
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
            Where the columns are not those of the training data.
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
        """Load what `save_model` saved; `measure_` and `g_` are then those that it was trained for.

        The parameters stay as they are; they tell the measure of a file that does not say it. Of a
        model of `xgboost.XGBRanker` that was stopped early, only the rounds up to the best one are
        kept.

        Raises
        ------
        ValueError
            If the model was trained with another `missing`, or for a measure or objective that is
            not gapboost's own and the parameters say another.
        """
        load_into(self, super().load_model, fname)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters as they were given."""
        # XGBoost's own draws from a RandomState or Generator: printing or copying a ranker would
        # change what it trains.
        drawless = object.__new__(type(self))
        drawless.__dict__.update(vars(self), random_state=None)
        parameters: dict[str, Any] = super(XGBGAPRanker, drawless).get_params(deep)
        return {**parameters, "random_state": self.random_state}

    def get_xgb_params(self) -> dict[str, Any]:
        """Parameters that XGBoost itself knows; a `random_state` that is no number draws one."""
        # `set_params` hands them to the booster of a fitted ranker.
        return self._with_seed(self._known_parameters())

    def _with_seed(self, parameters: dict[str, Any]) -> dict[str, Any]:
        return {**parameters, "random_state": seed(self._named_params()["random_state"])}

    def _known_parameters(self) -> dict[str, Any]:
        """Return `get_xgb_params` before a seed is drawn."""
        parameters = self._parameter_table.passed_on(
            self._parameter_table.by_constructor_names(super().get_xgb_params())
        )
        for name in (*NOT_OF_XGBOOST, "eval_metric"):
            parameters.pop(name, None)
        return {**parameters, "objective": SAVED_AS}

    def _booster_parameters(self) -> dict[str, Any]:
        """Return the parameters for `xgboost.train`."""
        parameters = self._known_parameters()
        # XGBoost starts from 0.5 with a custom objective, and reports rmse.
        base_score = parameters.pop("base_score", None)
        return {
            **{name: value for name, value in parameters.items() if value is not None},
            "base_score": 0.0 if base_score is None else base_score,
            "disable_default_eval_metric": 1,
        }
