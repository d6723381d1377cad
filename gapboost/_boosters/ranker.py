"""What the rankers of both boosters share: parameters, query order, checks before training, and the score."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gapboost._boosters.asked import Asked
from gapboost._boosters.callbacks import as_metrics, check_contrasts
from gapboost._boosters.described import source_url
from gapboost._boosters.eval_metric import check_grouped, metric_functions, split_metrics
from gapboost._boosters.library import Library
from gapboost._boosters.parameters import Own, arguments_of, check_parameters
from gapboost._boosters.positions import REGULARIZATION, checked_penalty
from gapboost._boosters.request import FitRequest, Given
from gapboost._boosters.rows import RankingRows, ranking_rows
from gapboost._boosters.search_guard import refuse_blind_search
from gapboost._boosters.training import Settings, Task, Training, prepare
from gapboost._boosters.vocabulary import Vocabulary
from gapboost._data.arguments import seed, whole
from gapboost._data.features import check_names, feature_names, features, split, without_qid
from gapboost._data.grades import check_known
from gapboost._data.warned import warn_caller
from gapboost._kernels import Array
from gapboost.evaluation import evaluate
from gapboost.measures import Measure, as_measure
from gapboost.measures.measure import grade_limit
from gapboost.objectives import Objective, as_objective

# Parameters that no booster knows: each twin leaves them out of what it hands its library.
OWN_PARAMETERS = ("measure", "g", "stopping_metric")

# What a fitted ranker holds beside its parameters and what its booster's own `fit` leaves there.
NOT_OF_A_VENDOR = (
    "_trained_by",
    "_position_bias",
    "_last_bias",
    "_feature_names",
    "n_queries_in_",
    "_objective",
    "_other_params",
    "kwargs",
)


class GAPRanker:
    """Mixin of `LGBMGAPRanker` and `XGBGAPRanker`.

    After `fit`: `measure_` and `objective_` are what was trained for, with every choice made; `g_` is the measure's g
    (None for a measure without one); `n_queries_in_` the number of training queries; `position_bias_` the factors of positions.
    """

    measure: str | Measure
    g: Sequence[float] | None
    objective: str | Objective
    stopping_metric: str | Measure | None
    n_jobs: int | None
    random_state: Any
    # Trees where `n_estimators` is None; None if the booster needs a number.
    _default_rounds: ClassVar[int | None] = None

    n_queries_in_: int
    _trained_by: Objective
    _position_bias: dict[Any, float] | None = None
    # Of all rounds that the booster holds: training that continues starts from there. After early stopping these are the best
    # rounds, except for gblinear, whose rounds cannot be dropped.
    _last_bias: dict[Any, float] | None = None
    # Of the training data, where it was a data frame.
    _feature_names: tuple[str, ...] = ()

    _library: ClassVar[Library]
    _vocabulary: ClassVar[Vocabulary]

    _estimator_type = "ranker"
    # The HTML form of scikit-learn links to this address, for classes of this package.
    _doc_link_module = "gapboost"
    _doc_link_template = property(lambda self: source_url(type(self)))
    # With scikit-learn's metadata routing on, these reach fit and score without set_fit_request by the user.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True, "sample_weight": True, "position": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True, "sample_weight": True}

    @property
    def objective_(self) -> Objective:
        """How the model was trained."""
        check_is_fitted(self)
        return self._trained_by

    @property
    def measure_(self) -> Measure:
        """What the model was trained for."""
        return self.objective_.measure

    @property
    def g_(self) -> tuple[float, ...] | None:
        """Threshold probabilities of `measure_`; None for a measure that has none."""
        return getattr(self.measure_, "g", None)

    @property
    def position_bias_(self) -> dict[Any, float] | None:
        """``{position: what it adds to the score of a document in the training set}``; None where `fit` was given no `position`.

        After early stopping those that were learnt by the best iteration. Only their differences mean anything.
        """
        check_is_fitted(self)
        return self._position_bias

    def score(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None, *, group: Any = None) -> float:
        """Mean of `measure_` over the queries of `X`, as `gapboost.evaluate` computes it.

        Parameters
        ----------
        X : array-like of shape (N, n_features)
        y : array-like of shape (N,)
            Integer grades.
        qid : array-like of shape (N,)
            Query id of each row; or the column ``qid`` of a data frame `X`.
        sample_weight : array-like of shape (Q,) or (N,), optional
            Weights of the queries.
        group : array-like of shape (Q,), optional
            Sizes of the queries in place of `qid`, for rows that come query by query.

        Raises
        ------
        ValueError
            Where `qid` is missing: one query of all rows is never what is meant.
        NotFittedError
            Before `fit`.
        """
        measure = self.measure_
        _, qid = split(X, qid, group)
        if qid is None:
            raise ValueError(
                "qid is missing in score; expected one query id a row, or group with the sizes of the queries. Inside "
                "scikit-learn's model selection turn on sklearn.set_config(enable_metadata_routing=True) and pass "
                "params={'qid': qid}"
            )
        values = evaluate(
            measure,
            y,
            self.predict(X),  # type: ignore[attr-defined]
            qid,
            sample_weight=sample_weight,
            n_jobs=self._n_jobs,
        )
        return float(values[measure])

    def to_vendor(self) -> Any:
        """The booster's own ranker, fitted, with the same parameters and predictions; it needs no gapboost, in pickles either.

        It knows neither `measure` nor the column ``qid`` of a data frame, and LightGBM's rounds integers in arrays to float32.
        Fitted again, it trains for its own objective.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        raise NotImplementedError

    def _learned_by_booster(self) -> dict[str, Any]:
        """What the booster's own `fit` leaves in a ranker."""
        own = {*self.get_params(deep=False), *NOT_OF_A_VENDOR}  # type: ignore[attr-defined]
        return {name: value for name, value in vars(self).items() if name not in own}

    def _named_params(self) -> dict[str, Any]:
        """Return the parameters under the names that the constructor lists.

        Raises
        ------
        ValueError
            If two names of one parameter have different values.
        """
        return self._vocabulary.by_constructor_names(self.get_params(deep=False))  # type: ignore[attr-defined]

    @property
    def _n_jobs(self) -> int | None:
        """Threads for the kernels."""
        n_jobs: int | None = self._named_params()["n_jobs"]
        return n_jobs

    @property
    def _n_rounds(self) -> int:
        """Trees to train.

        Raises
        ------
        ValueError
            If it is no whole number >= 1.
        """
        value = self._named_params()["n_estimators"]
        name = self._vocabulary.name_in_use("n_estimators", self.get_params(deep=False))  # type: ignore[attr-defined]
        return whole(self._default_rounds if value is None else value, name)

    def _in_own_words(self, draws: bool = True) -> Objective:
        """The objective as `measure`, `g` and `objective` ask for it."""
        if isinstance(self.objective, Objective):
            if self.measure != "gap" or self.g is not None:
                raise ValueError(
                    f"objective is {self.objective!r}, which brings its measure, but measure is {self.measure!r} and g is "
                    f"{self.g!r}; expected an objective by name, or measure and g left at their defaults"
                )
            return self.objective
        if not isinstance(self.objective, str):
            raise TypeError(
                f"objective is {self.objective!r}; expected a name such as 'lambdarank' or an objective value"
            )
        name = "lambdarank" if self.objective in self._vocabulary.objectives else self.objective
        state = self._named_params()["random_state"]
        if not draws and not isinstance(state, int | np.integer):
            state = None
        return as_objective(name, as_measure(self.measure, self.g), seed(state) or 0)

    def _requested(self, *, draws: bool = True) -> Objective:
        """Return the objective that all parameters ask for; its g may still be None.

        Unless `draws` is False, a `random_state` that is a RandomState or Generator draws the seed that orders ties.
        """
        parameters = self.get_params(deep=False)  # type: ignore[attr-defined]
        asked = replace(self._own().asked, objective=self._in_own_words(draws))
        return self._vocabulary.translated(parameters, asked).objective

    def _own(self, **metrics: Any) -> Own:
        return Own(self.measure, self.g, self.objective, **metrics)

    def _fit(self, X: Any, y: Any, qid: Any, request: FitRequest, arguments: dict[str, Any]) -> Self:
        """Check what `fit` was asked for, and train; `arguments` are those of `fit` that one booster alone knows."""
        requested, others = self._understood(request)
        task, parameters = self._task(X, y, qid, request, requested, others), self._booster_parameters()
        training = prepare(self._library, task, self._settings(parameters))
        if training.doubt is not None:
            warn_caller(training.doubt)
        return self._train(training, parameters, arguments)

    def _understood(self, request: FitRequest) -> tuple[Objective, list[Measure]]:
        """What to train for, and what to report beside its measure; g perhaps still open. Parameters are checked."""
        asked = self._check_parameters(request)
        checked_penalty(self._penalty, request.beside.position)
        refuse_blind_search(self)
        requested = self._requested()
        measures, _ = split_metrics(request.eval_metric)
        if measures is not None:
            as_metrics(measures, name="eval_metric")  # what is unusable there, `asked` has left out
        return requested, list(asked.metrics)

    def _check_parameters(self, request: FitRequest | None = None) -> Asked:
        """What the parameters ask for, those that `fit` has as arguments among them. The rest is refused, all at once."""
        parameters = self.get_params(deep=False)  # type: ignore[attr-defined]
        kind: Any = type(self)
        of_fit = arguments_of(kind, "fit")
        own = self._own()
        if request is not None:
            measures, _ = split_metrics(request.eval_metric)
            own = self._own(metrics=measures, where=" in fit" if "eval_metric" in of_fit else "")
            if request.eval_at is not None:
                parameters = {**parameters, "eval_at": request.eval_at}
        listed = arguments_of(kind, "__init__") | {REGULARIZATION}
        asked = check_parameters(self._vocabulary, parameters, own, listed=listed, of_fit=of_fit)
        self._n_rounds  # noqa: B018, it raises an error for an unusable value
        return asked

    def _task(self, X: Any, y: Any, qid: Any, request: FitRequest, requested: Objective, others: list[Measure]) -> Task:
        """Every argument about data checked, in grouped order."""
        evaluation_sets = request.evaluation_sets()
        functions = metric_functions(request.eval_metric, self._library.metric_by_query)
        rows = ranking_rows(X, y, qid, request.beside, grade_limit([requested.measure]))
        check_contrasts(rows.data, request.beside.names.y)
        objective = requested.resolved(rows.data.occurring)
        others = [m.resolved(rows.data.occurring) for m in others]
        limit = grade_limit([objective.measure, *others])
        train = Given(X, y, qid, request.beside)
        evals: list[RankingRows] = []
        for given in evaluation_sets:
            names = given.beside.names
            # Both boosters recognize the training set by identity, and then bin and score it once.
            if given.is_training_set(train, inherits=self._library.inherits):
                check_known(rows.y, names.y, limit)
                evals.append(rows)
            else:
                evals.append(ranking_rows(given.X, given.y, given.qid, given.beside, limit))
                check_names(feature_names(evals[-1].X), feature_names(rows.X), names.X)
            check_grouped(functions, evals[-1], names.X)
        return Task(objective, rows, evals, [m for m in others if m != objective.measure], functions)

    def _train(self, training: Training, parameters: dict[str, Any], arguments: dict[str, Any]) -> Self:
        """Train, and remember what was learned."""
        continued = arguments[self._library.words.model]
        if training.biased is not None and isinstance(continued, GAPRanker):
            training.biased.start_from(continued._last_bias or {})
        self._remember(training, *self._boost(training, parameters, **arguments))
        return self

    def _train_on_bins(self, rows: RankingRows, bins: Any, watch: Callable[[Array], None]) -> str | None:
        """The training that `fit` would do, on `rows` whose `bins` other candidates of a search share.

        `watch` sees the held-out scores after each iteration. Returns the doubt about the training.
        """
        requested = self._requested()
        rows = replace(rows, data=rows.data.up_to_grade(requested.measure.n_grades))
        check_contrasts(rows.data, "y")
        parameters = self._booster_parameters()
        task = Task(requested.resolved(rows.data.occurring), rows, [], [])
        training = prepare(self._library, task, self._settings(parameters))
        self._boost_on_bins(training, parameters, bins, watch)
        return training.doubt

    def _settings(self, parameters: dict[str, Any]) -> Settings:
        return Settings(self._n_jobs, float(self._penalty or 0.0), self._library.least_hessian(parameters))

    @property
    def _penalty(self) -> Any:
        """On factors of positions, as the parameters have it."""
        return self.get_params().get(REGULARIZATION)  # type: ignore[attr-defined]

    def _remember(self, training: Training, learned: dict[str, Any], booster: Any) -> None:
        """Hold what the booster learned, what it was trained for, and on what."""
        rows, bias, library = training.task.rows, training.biased, self._library
        # In one step, so that fits in other threads leave no mixture: while `update` drops the old booster, others may run.
        self.__dict__ = {
            **vars(self),
            **learned,
            "_trained_by": training.task.objective,
            "_position_bias": None if bias is None else bias.by_position(library.best_round(booster)),
            "_last_bias": None if bias is None else bias.by_position(library.rounds(booster)),
            "_feature_names": feature_names(rows.X),
            "n_queries_in_": len(rows.sizes),
        }

    def _features(self, X: Any, validate: bool = True) -> Any:
        """A table to predict for, whose columns are those of the training data."""
        X = features(without_qid(X)[0])
        if validate:
            check_names(feature_names(X), self._feature_names, "X")
        return X

    # What each twin says in the words of its library: parameters, ...
    def _booster_parameters(self) -> dict[str, Any]:
        """Parameters for the booster."""
        raise NotImplementedError

    # ... a training, ...
    def _boost(self, training: Training, *parameters: Any, **arguments: Any) -> tuple[dict[str, Any], Any]:
        """What a fitted ranker of the booster holds, and the booster, trained with `parameters` and `arguments` of `fit`."""
        raise NotImplementedError

    # ... and what a search over many candidates needs: data that is binned once, and a training on it.
    def _bins(self, train: RankingRows, held_out: RankingRows) -> Any:
        """Training and held-out rows as the booster keeps them, binned by the training rows."""
        raise NotImplementedError

    def _boost_on_bins(
        self, training: Training, parameters: dict[str, Any], bins: Any, watch: Callable[[Array], None]
    ) -> None:
        raise NotImplementedError
