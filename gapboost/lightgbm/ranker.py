"""A ranker beside `lightgbm.LGBMRanker`."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from copy import copy, deepcopy
from typing import TYPE_CHECKING, Any, Self

import lightgbm
import numpy as np
from sklearn.utils.validation import check_is_fitted

from gapboost._boosters.described import described
from gapboost._boosters.model_file import words
from gapboost._boosters.positions import Beginning, Units, in_training
from gapboost._boosters.progress import following
from gapboost._boosters.ranker import GAPRanker, RankingRows, Training
from gapboost._boosters.request import FitRequest, Words
from gapboost._boosters.signature import also_in_order_of, taking
from gapboost._data.features import check_arrow_numbers, check_names, feature_names
from gapboost._data.queries import Array, Judged
from gapboost._kernels.parallel.chunks import working_on
from gapboost.lightgbm.functions import (
    TEAM,
    LightGBMMetric,
    beginning,
    scale_by_query_length,
    units,
)
from gapboost.lightgbm.versions import BEFORE_4_7, evaluation_sets, names_of_frame, readable
from gapboost.lightgbm.vocabulary import LIGHTGBM
from gapboost.measures import Measure
from gapboost.objectives import Objective, Pass

# LightGBM's order of precedence: the name itself, then the shortest alias. LGBMRanker always sets min_child_weight.
LEAST_HESSIAN_NAMES = ("min_sum_hessian_in_leaf", "min_hessian", "min_sum_hessian", "min_child_weight")
# What the parameters in a model file say of an objective from Python.
CUSTOM = "[objective: custom]"

# The class of `lightgbm.early_stopping(...)`.
EARLY_STOPPING = type(lightgbm.early_stopping(1))

# What models for others say they were trained for.
VENDOR_OBJECTIVE = "lambdarank"


class LGBMGAPRanker(GAPRanker, lightgbm.LGBMRanker):  # type: ignore[misc]
    """LightGBM trained for graded average precision or another measure.

    Parameters
    ----------
    measure : str or Measure, default="gap"
        What to train for, to report on evaluation sets and to score by: a name such as ``"ap"`` or ``"ndcg@10"``, or a value.
    g : sequence of float, optional
        Threshold probabilities of a named graded measure, one for each positive grade; None is uniform over the grades
        that occur in the training labels.
    objective : {"lambdarank", "softrank", "approxrank"} or Objective, default="lambdarank"
        How to train for it. A value brings its own measure; `measure` and `g` then stay at their defaults.
    extra_trees : bool, default=True
        Draw one threshold a feature at random in every leaf, and split by the best of these. LightGBM's own default is False:
        give that for the trees that `lightgbm.LGBMRanker` would grow. With random thresholds rankings were better on all
        the validation queries that defaults were chosen on, LightGBM's own objectives among them
        (benchmarks/EFFECTIVENESS.md).
    **kwargs
        Every parameter and alias that the installed LightGBM knows; `lambdarank_position_bias_regularization` for fits with
        `position`. `fit` refuses names that it does not know, and those that steer its own ranking objectives and metrics, all
        in one error with what to write instead. ``first_metric_only=False`` lets every reported measure stop training, as
        LightGBM does of itself, and not only the one that is trained for.

    Attributes
    ----------
    measure_, objective_ : Measure, Objective
        What was trained for, g filled in.
    g_ : tuple of float or None
    n_queries_in_ : int
    position_bias_ : dict {position: float} or None
        What each position adds to the scores of the training set, where `fit` was given `position`.
    booster_, best_iteration_, best_score_, evals_result_, feature_importances_, feature_name_, feature_names_in_,
    n_estimators_, n_features_, n_features_in_, n_iter_
        As in `lightgbm.LGBMRanker`; `best_iteration_` is 0 without early stopping.
    """

    _words = Words(start="init_score", eval_weight="eval_sample_weight", eval_start="eval_init_score")
    _vocabulary = LIGHTGBM

    if BEFORE_4_7:
        feature_names_in_ = property(names_of_frame)

    # Type checkers read the first, with the parameters of LGBMRanker in full; at run time those of the installed version count.
    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            measure: str | Measure = "gap",
            g: Sequence[float] | None = None,
            objective: str | Objective = "lambdarank",
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

        @taking(lightgbm.LGBMRanker)
        def __init__(
            self,
            *,
            measure: str | Measure = "gap",
            g: Sequence[float] | None = None,
            objective: str | Objective = "lambdarank",
            extra_trees: bool = True,
            **kwargs: Any,
        ) -> None:
            super().__init__(objective=objective, **kwargs)
            self.measure = measure
            self.g = g
            self.extra_trees = extra_trees

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
            The same as ``eval_set=list(zip(eval_X, eval_y))``.
        eval_at : None
            In place of ``eval_at=(5, 10)`` write ``eval_metric=["ndcg@5", "ndcg@10"]``.
        eval_metric : str, Measure or list of them, optional
            Reported beside the measure that is trained for, which comes first. Early stopping goes by that one alone, unless the
            ranker has ``first_metric_only=False``: then by all of them, as LightGBM does of itself.
        init_score, eval_names, eval_sample_weight, eval_init_score, feature_name, categorical_feature, callbacks, init_model
            As in `lightgbm.LGBMRanker.fit`; early stopping by ``callbacks=[lightgbm.early_stopping(...)]``, of which the fit uses
            a copy, a progress bar by ``callbacks=[progress()]``. Each worker of a cluster calls its own copy of the callbacks.

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
        request = FitRequest(
            X=X,
            y=y,
            qid=qid,
            group=group,
            weight=sample_weight,
            start=init_score,
            position=position,
            eval_set=eval_set,
            eval_X=eval_X,
            eval_y=eval_y,
            eval_qid=eval_qid,
            eval_group=eval_group,
            eval_weight=eval_sample_weight,
            eval_start=eval_init_score,
            eval_metric=eval_metric,
            eval_at=eval_at,
            words=self._words,
        )
        arguments = {
            "eval_names": eval_names,
            "feature_name": feature_name,
            "categorical_feature": categorical_feature,
            "callbacks": callbacks,
            "init_model": init_model,
        }
        return self._fit(request, arguments)

    def _fit_on(
        self,
        training: Training,
        network: dict[str, Any] | None = None,
        *,
        eval_names: Any,
        feature_name: Any,
        callbacks: Any,
        init_model: Any,
        **arguments: Any,
    ) -> Self:
        """Train on what was checked; `network` holds LightGBM's parameters where the rows are one worker's of many."""
        self._continue_bias(training, init_model)
        rows, evals = training.rows, training.evals
        if eval_names is not None and (not isinstance(eval_names, list | tuple) or len(eval_names) != len(evals)):
            raise ValueError(f"eval_names is {eval_names!r}; expected a list with a name for each evaluation set")
        X = _read_exactly(rows.X, "X")
        # The training set stays the same object, by which LightGBM knows it among the evaluation sets.
        eval_X = [X if e is rows else _read_exactly(e.X, f"eval_set[{i}] X") for i, e in enumerate(evals)]
        if init_model is not None:
            init_model = _continued(init_model, feature_names(X) if isinstance(feature_name, str) else feature_name)
        # Training happens on a fresh LGBMRanker: an error or an interrupt leaves this one as it was.
        trained = _shell({**self._vendor_parameters(), **(network or {})}, training)
        if trained.get_params()["first_metric_only"]:
            callbacks = _stopping_by_the_first(callbacks)
        with _usable_features(), following(callbacks, self._n_rounds):
            trained.fit(
                X,
                rows.y,
                sample_weight=_row_weights(rows),
                init_score=rows.start,
                group=rows.sizes,
                **evaluation_sets(eval_X, [e.y for e in evals]),
                eval_group=[e.sizes for e in evals] or None,
                eval_sample_weight=[_row_weights(e) for e in evals],
                eval_init_score=[e.start for e in evals],
                # The first one stops training.
                eval_metric=LightGBMMetric([training.objective.measure, *training.others], self.n_jobs, training.total),
                eval_names=eval_names,
                feature_name=feature_name,
                callbacks=callbacks,
                init_model=init_model,
                **arguments,
            )
        _inscribe(trained.booster_, training.objective)
        if network:
            trained.booster_.free_network()
            for name in network:
                trained.booster_.params.pop(name)
        # Its objective holds the training data.
        own = {*trained.get_params(), "_other_params", "_objective"}
        found = {name: value for name, value in vars(trained).items() if name not in own}
        self._learned(training, found, max(trained.best_iteration_, 0))
        return self

    def predict(
        self,
        X: Any,
        raw_score: bool = False,
        start_iteration: int = 0,
        num_iteration: int | None = None,
        pred_leaf: bool = False,
        pred_contrib: bool = False,
        validate_features: bool = False,
        **kwargs: Any,
    ) -> Array:
        """Scores of rows, higher is better.

        Parameters
        ----------
        X : array-like of shape (N, n_features)
            Columns as in training; a column ``qid`` of a data frame is left out.
        raw_score, start_iteration, num_iteration, pred_leaf, pred_contrib, validate_features, **kwargs
            As in `lightgbm.LGBMRanker.predict`.

        Returns
        -------
        float64 ndarray of shape (N,)
            With `pred_leaf` the leaves, with `pred_contrib` the contributions of features as LightGBM gives them: for a sparse
            `X` a sparse matrix.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            Where the columns are not those of the training data.
        """
        scores: Array = super().predict(
            _read_exactly(self._features(X), "X"),
            raw_score=raw_score,
            start_iteration=start_iteration,
            num_iteration=num_iteration,
            pred_leaf=pred_leaf,
            pred_contrib=pred_contrib,
            validate_features=validate_features,
            **kwargs,
        )
        return scores

    def to_vendor(self) -> lightgbm.LGBMRanker:  # noqa: D102, the docstring is inherited
        check_is_fitted(self)
        vendor = lightgbm.LGBMRanker(**self._vendor_parameters(), objective=VENDOR_OBJECTIVE)
        booster = labelled(self.booster_, num_iteration=-1)
        booster.best_iteration, booster.best_score = self.booster_.best_iteration, self.booster_.best_score
        left = {name: value for name, value in self._learned_by_booster().items() if name != "_Booster"}
        vars(vendor).update(deepcopy(left), _Booster=booster)
        return vendor

    def _least_hessian(self) -> float:
        return float(_first(self._vendor_parameters(), LEAST_HESSIAN_NAMES))

    def _suited(self, how: Objective, data: Judged) -> Pass:
        return scale_by_query_length(how, data, self.n_jobs)

    def _units(self, how: Objective, mean_size: float) -> Units:
        return units(how, mean_size)

    def _beginning(self) -> Beginning:
        return beginning(in_training(lightgbm.Booster))

    def _binned(self, train: RankingRows, held_out: RankingRows) -> tuple[lightgbm.Dataset, lightgbm.Dataset]:
        X, held_out_X = _read_exactly(train.X, "X"), _read_exactly(held_out.X, "X")
        # Kept raw: LightGBM bins again by itself should a candidate change how, instead of refusing.
        first = lightgbm.Dataset(X, train.y, weight=_row_weights(train), group=train.sizes, free_raw_data=False)
        second = lightgbm.Dataset(held_out_X, held_out.y, group=held_out.sizes, reference=first, free_raw_data=False)
        return first, second

    def _train_binned(
        self, rows: RankingRows, binned: tuple[lightgbm.Dataset, lightgbm.Dataset], watch: Callable[[Array], None]
    ) -> str | None:
        def feval(scores: Array, _: lightgbm.Dataset) -> list[Any]:
            watch(scores)
            return []

        training = self._training_on(rows, self._least_hessian())
        shell = _shell(self._vendor_parameters(), training)
        with _usable_features():
            lightgbm.train(
                shell._process_params("fit"),  # what `fit` would train with, to the letter
                binned[0],
                num_boost_round=self._n_rounds,
                valid_sets=[binned[1]],
                feval=feval,
                keep_training_booster=True,
            )
        return training.doubt

    @property
    def _n_rounds(self) -> int:
        return int(self.n_estimators)

    def _vendor_parameters(self) -> dict[str, Any]:
        """Parameters for LGBMRanker."""
        parameters: dict[str, Any] = self.get_params()
        for name in ("measure", "g", "objective"):
            parameters.pop(name)
        # LightGBM goes by the name where the alias is given too, and the name always is.
        alias = parameters.pop("extra_tree", None)
        if alias is not None:
            parameters["extra_trees"] = alias
        return parameters

    def _process_params(self, stage: str) -> dict[str, Any]:
        # LightGBM passes every parameter of the estimator on to the booster, which warns about those it does not know.
        parameters: dict[str, Any] = dict(super()._process_params(stage))
        for name in ("measure", "g"):
            parameters.pop(name, None)
        return {**parameters, "objective": "None"}


def _shell(parameters: dict[str, Any], training: Training) -> lightgbm.LGBMRanker:
    """LightGBM's own ranker with our gradients, whose early stopping goes by the first metric unless told otherwise."""

    def gradients(y_true: Array, y_pred: Array) -> tuple[Array, Array]:
        with working_on(TEAM):
            return training.gradients(y_pred)

    if parameters.get("first_metric_only") is None:
        parameters = {**parameters, "first_metric_only": True}
    return lightgbm.LGBMRanker(**parameters, objective=gradients, metric="None")


def _stopping_by_the_first(callbacks: Any) -> Any:
    """The callbacks, those of early stopping as copies that go by the first metric: theirs goes by all of them."""
    if not isinstance(callbacks, Collection):
        return callbacks  # LightGBM refuses what is none
    changed = []
    for callback in callbacks:
        if isinstance(callback, EARLY_STOPPING):
            callback = copy(callback)
            callback.first_metric_only = True
        changed.append(callback)
    return changed


def labelled(booster: lightgbm.Booster, num_iteration: int | None = None) -> lightgbm.Booster:
    """A copy that says it was trained for LightGBM's own objective, whose predictions are raw scores too.

    LightGBM leaves a Python objective out of a model. `num_iteration` is that of `Booster.model_to_string`.
    """
    text = booster.model_to_string(num_iteration=num_iteration)
    if "\nobjective=" not in text:
        text = text.replace("\nfeature_names=", f"\nobjective={VENDOR_OBJECTIVE}\nfeature_names=", 1)
        text = re.sub(r"\n\[objective: custom.*\]\n", f"\n[objective: {VENDOR_OBJECTIVE}]\n", text, count=1)
    return lightgbm.Booster(model_str=text)


def _read_exactly(X: Any, name: str) -> Any:
    """A table of `features` in a form that LightGBM reads without ending the process or rounding."""
    check_arrow_numbers(X, name)
    X = readable(X)
    # LightGBM makes float32 of every array that is not float64: integers above 2**24 would run together.
    exact = not isinstance(X, np.ndarray) or np.can_cast(X.dtype, np.float32)
    return X if exact else X.astype(np.float64, copy=False)


def _continued(model: Any, names: Sequence[str]) -> lightgbm.Booster:
    """The booster to continue from, whose columns are those of the training data."""
    booster = model.booster_ if isinstance(model, lightgbm.LGBMModel) else model
    if not isinstance(booster, lightgbm.Booster):
        booster = lightgbm.Booster(model_file=booster)
    known = booster.feature_name()
    # LightGBM's own names, where there were none.
    if known != [f"Column_{i}" for i in range(len(known))]:
        check_names([name.replace(" ", "_") for name in names], known, "X")
    return booster


def _inscribe(booster: lightgbm.Booster, objective: Objective) -> None:
    """Write into the model what it was trained for: ``lightgbm.Booster(model_file=...).params["objective"]`` says it.

    LightGBM has no attributes that go into its file, and warns of parameters that it does not know. It keeps the parameters of
    a loaded model as they are, though, and of the objective it reads the first word.
    """
    text = booster.model_to_string(num_iteration=-1)
    booster.model_from_string(text.replace(CUSTOM, f"{CUSTOM[:-1]} {words(objective)}]", 1))


@contextmanager
def _usable_features() -> Iterator[None]:
    """Say what LightGBM found: where no feature can be split its own objectives train a constant, ours ends in a failed check."""
    try:
        yield
    except lightgbm.basic.LightGBMError as error:
        if "num_features()" not in str(error):
            raise
        raise ValueError(
            "X holds no feature that LightGBM can split; expected one with different values, each side of a split in at least "
            "min_child_samples rows"
        ) from error


def _first(parameters: dict[str, Any], names: Sequence[str]) -> Any:
    return next((parameters[name] for name in names if parameters.get(name) is not None), None)


def _row_weights(rows: RankingRows) -> Array | None:
    """LightGBM has one weight a row."""
    return np.repeat(rows.data.weights, rows.sizes) if rows.weighted else None
