"""What the rankers of both boosters share: parameters, query order, checks before training, and the score."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gapboost._boosters.functions import as_metrics, check_contrasts, gradients_at
from gapboost._boosters.positions import REGULARIZATION, Beginning, PositionPass, Units, checked_penalty
from gapboost._boosters.request import FitRequest, Given, Words
from gapboost._boosters.search_guard import refuse_blind_search
from gapboost._boosters.vocabulary import Own, Vocabulary, arguments, check_parameters
from gapboost._data.arguments import random_numbers
from gapboost._data.callers import warn_caller
from gapboost._data.features import check_names, feature_names, features, rows_of, split, without_qid
from gapboost._data.positions import Positions, positions
from gapboost._data.queries import Array, GradeLimit, Judged, check_highest, checked_scores, judged
from gapboost.evaluation import evaluate
from gapboost.measures import Measure, as_measure
from gapboost.measures.measure import grade_limit
from gapboost.objectives import Objective, Pass, as_objective


@dataclass(frozen=True, eq=False)
class RankingRows:
    """One data set in grouped order, ready for a booster.

    Attributes
    ----------
    X : array-like of shape (N, n_features)
    data : Judged
    start : float64 ndarray of shape (N,) or None
        Scores that boosting starts from.
    weighted : bool
        Whether weights were given.
    positions : Positions or None
        Where the documents were shown.
    """

    X: Any
    data: Judged
    start: Array | None
    weighted: bool
    positions: Positions | None = None

    @property
    def y(self) -> Array:
        """Grades, int32 of shape (N,)."""
        return self.data.grades

    @property
    def sizes(self) -> Array:
        """Documents of each query, int64 of shape (Q,)."""
        return self.data.queries.sizes


@dataclass(frozen=True, eq=False)
class Training:
    """Everything that a booster is to be handed, checked, for one training.

    Attributes
    ----------
    objective : Objective
        With g filled in.
    prepared : Pass
        The objective on the training rows.
    rows : RankingRows
    evals : list of RankingRows
        `rows` itself stands for an evaluation set that is the training set.
    others : list of Measure
        What to report beside the measure that is trained for.
    total : callable or None
        On a cluster, where the rows are one worker's: sums of an array over the workers.
    biased : PositionPass or None
        `prepared` with factors of positions, where these are given.
    doubt : str or None
        What the user is to be warned of.
    """

    objective: Objective
    prepared: Pass
    rows: RankingRows
    evals: list[RankingRows]
    others: list[Measure]
    total: Callable[[Array], Array] | None = None
    biased: PositionPass | None = None
    doubt: str | None = None

    def gradients(self, scores: Array) -> tuple[Array, Array]:
        """Gradient and hessian of the training rows, float32, in one round after the other."""
        return gradients_at(self.prepared if self.biased is None else self.biased, scores)


# Mean absolute gradient of a document, for weights of 1: the least of any task is that of one query of millions, 1e-7;
# rounding is 1e-14.
LEAST_PUSH = 1e-11


# Where the hessians suffice for fewer leaves than this, trees of that many rows stay blunt. On XGBoost those of one list are some
# units in all, however long it is: with its default floor of 1, 40 000 rows grow five leaves.
FEW_LEAVES, MANY_ROWS = 8, 1000


# What a fitted ranker holds beside its parameters and what its booster's own `fit` leaves there.
NOT_OF_A_VENDOR = (
    "_trained_by",
    "_position_bias",
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
    n_jobs: int | None
    random_state: Any

    n_queries_in_: int
    _trained_by: Objective
    _position_bias: dict[Any, float] | None = None
    # Of the training data, where it was a data frame.
    _feature_names: tuple[str, ...] = ()

    _words: ClassVar[Words]
    _vocabulary: ClassVar[Vocabulary]

    _estimator_type = "ranker"
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
            n_jobs=self.n_jobs,
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

    def _requested(self) -> Objective:
        """The objective as the parameters ask for it, g perhaps still open."""
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
        return as_objective(self.objective, as_measure(self.measure, self.g), _seed(self.random_state))

    def _fit(self, request: FitRequest, arguments: dict[str, Any]) -> Self:
        """Check what `fit` was asked for, and train; `arguments` are those of `fit` that one booster alone knows."""
        training = self._training_for(request)
        if training.doubt is not None:
            warn_caller(training.doubt)
        return self._fit_on(training, **arguments)

    def _fit_on(self, training: Training, *network: Any, **arguments: Any) -> Self:
        """Train on what was checked."""
        raise NotImplementedError

    def _training_for(self, request: FitRequest) -> Training:
        """Every argument of `fit` checked, in grouped order; nothing is trained if one is unusable."""
        self._check_parameters(request)
        least_hessian = self._least_hessian()
        self._penalty(request.position)
        refuse_blind_search(self)
        requested = self._requested()
        others = [] if request.eval_metric is None else as_metrics(request.eval_metric, name="eval_metric")
        train, evaluation_sets = request.train, request.evaluation_sets()
        rows = ranking_rows(train, grade_limit([requested.measure]))
        check_contrasts(rows.data, train.names.y)
        objective = requested.resolved(rows.data.occurring)
        others = [m.resolved(rows.data.occurring) for m in others]
        limit = grade_limit([objective.measure, *others])
        evals: list[RankingRows] = []
        for given in evaluation_sets:
            # Both boosters know the training set again as the same object: nothing is binned or scored twice.
            if given.consists_of(train):
                check_highest(rows.y.max(), given.names.y, limit)
                evals.append(rows)
                continue
            evals.append(ranking_rows(given, limit))
            check_names(feature_names(evals[-1].X), feature_names(rows.X), given.names.X)
        return self._training(objective, rows, evals, [m for m in others if m != objective.measure], least_hessian)

    def _check_parameters(self, request: FitRequest | None = None) -> None:
        """Refuse parameters that would be ignored, those that `fit` has as arguments among them, all at once."""
        given = self.get_params(deep=False)  # type: ignore[attr-defined]
        kind: Any = type(self)
        of_fit = arguments(kind, "fit")
        own = Own(self.measure, self.g, self.objective, None)
        if request is not None and request.eval_at is not None:
            given = {**given, "eval_at": request.eval_at}
        if request is not None and "eval_metric" in of_fit:
            own = own._replace(metrics=request.eval_metric, where=" in fit")
        listed = arguments(kind, "__init__") | {REGULARIZATION}
        check_parameters(self._vocabulary, given, own, listed=listed, of_fit=of_fit)

    def _penalty(self, position: Any) -> float:
        """See `checked_penalty`."""
        return checked_penalty(self.get_params().get(REGULARIZATION), position)  # type: ignore[attr-defined]

    def _continue_bias(self, training: Training, model: Any) -> None:
        """Go on from the factors of the ranker that the training continues."""
        if training.biased is not None and isinstance(model, GAPRanker):
            training.biased.start_from(model._position_bias or {})

    def _learned(self, training: Training, found: dict[str, Any], best: int) -> None:
        """Remember what was found, what it was trained for, and on what; `best` is the best iteration, or 0."""
        # In one step, so that fits in other threads leave no mixture: while `update` drops the old booster, others may run.
        self.__dict__ = {
            **vars(self),
            **found,
            "_trained_by": training.objective,
            "_position_bias": None if training.biased is None else training.biased.by_position(best),
            "_feature_names": feature_names(training.rows.X),
            "n_queries_in_": len(training.rows.sizes),
        }

    def _features(self, X: Any, validate: bool = True) -> Any:
        """A table to predict for, whose columns are those of the training data."""
        X = features(without_qid(X)[0])
        if validate:
            check_names(feature_names(X), self._feature_names, "X")
        return X

    def _training(
        self,
        objective: Objective,
        rows: RankingRows,
        evals: list[RankingRows],
        others: list[Measure],
        least_hessian: float,
        total: Callable[[Array], Array] | None = None,
    ) -> Training:
        prepared = self._suited(objective, rows.data)
        biased = None
        if rows.positions is not None:
            units = self._units(objective, rows.data.mean_size)
            biased = PositionPass(prepared, rows.positions, units, self._beginning, total)
        training = Training(objective, prepared, rows, evals, others, total, biased)
        return replace(training, doubt=self._check_learnable(training, least_hessian))

    def _suited(self, how: Objective, data: Judged) -> Pass:
        """`how` on the data, in the scale that suits the booster."""
        raise NotImplementedError

    def _units(self, how: Objective, mean_size: float) -> Units:
        """Of the gradients of `how` as the booster wants them, on queries of this mean size."""
        raise NotImplementedError

    def _beginning(self) -> Beginning:
        """What the training began with that this call is a part of."""
        raise NotImplementedError

    def _least_hessian(self) -> float:
        """The sum of hessians that the booster wants in a leaf."""
        raise NotImplementedError

    # What a search over many candidates needs of a booster, in each twin's own words: data that is binned once, ...
    def _binned(self, train: RankingRows, held_out: RankingRows) -> Any:
        """Training and held-out rows as the booster keeps them, binned by the training rows."""
        raise NotImplementedError

    # ... and the training that `fit` would do, on such data.
    def _train_binned(self, rows: RankingRows, binned: Any, watch: Callable[[Array], None]) -> str | None:
        """Train on `binned`, whose training part is `rows`; `watch` sees the held-out scores after each iteration.

        Returns the doubt about the training.
        """
        raise NotImplementedError

    @property
    def _n_rounds(self) -> int:
        raise NotImplementedError

    def _training_on(self, rows: RankingRows, least_hessian: float) -> Training:
        """As `_training_for`, for rows that were checked for other candidates too."""
        requested = self._requested()
        rows = replace(rows, data=rows.data.up_to_grade(requested.measure.n_grades))
        check_contrasts(rows.data, "y")
        return self._training(requested.resolved(rows.data.occurring), rows, [], [], least_hessian)

    def _check_learnable(self, training: Training, least_hessian: float) -> str | None:
        """One gradient pass at the first scores: refuse what a booster would answer with a constant model.

        Returns the doubt about what it would answer with blunt trees.
        """
        rows = training.rows
        grad, hess = gradients_at(training.prepared, np.zeros(len(rows.y)) if rows.start is None else rows.start)
        weight = rows.data.weights @ rows.sizes
        sums = np.array([np.abs(grad).sum(dtype=np.float64), weight, hess.sum(dtype=np.float64), len(grad)])
        push, weight, total, n_rows = sums if training.total is None else training.total(sums)
        # Sums that ought to cancel leave rounding behind.
        if push / weight < LEAST_PUSH:
            saturated = "" if rows.start is None else f", and a {self._words.start} whose scores are not as far apart"
            raise ValueError(
                f"measure is {training.objective.measure!r}, and no swap of two documents of y changes it; expected a "
                f"measure that tells some of the grades in y apart{saturated}"
            )
        larger = ", or larger weights" if rows.weighted else ""
        if total < 2 * least_hessian:
            raise ValueError(
                f"min_child_weight is {least_hessian:g}, but the hessians of all rows sum to {total:.3g}; expected at "
                f"most {total / 2:.3g}{larger}: with less in each leaf no split is possible and the model would be constant"
            )
        if total < FEW_LEAVES * least_hessian and n_rows >= MANY_ROWS:
            return (
                f"min_child_weight is {least_hessian:g}, but the hessians of all rows sum to {total:.3g}, so that a leaf must "
                f"hold {least_hessian / total:.0%} of them; expected at most {total / FEW_LEAVES:.3g}{larger}, unless trees of "
                f"fewer than {FEW_LEAVES} leaves are meant for these {n_rows:.0f} rows"
            )
        return None


def ranking_rows(given: Given, limit: GradeLimit | None) -> RankingRows:
    """One data set checked and in grouped order."""
    names = given.names
    X, qid = split(given.X, given.qid, given.group, (names.X, names.qid, names.group))
    if qid is None:
        raise ValueError(
            f"{names.qid} is missing; expected one query id a row, or {names.group} with the sizes of the queries"
        )
    data = judged(given.y, qid, sample_weight=given.weight, limit=limit, names=(names.y, names.qid, names.weight))
    X = features(X, names.X)
    n_rows = X.shape[0]
    if n_rows != data.queries.n_rows:
        raise ValueError(
            f"{names.X} has {n_rows} rows but {names.y} has {data.queries.n_rows}; expected the same number"
        )
    start = given.start
    if start is not None:
        start = data.queries.grouped(checked_scores(start, n_rows, names.start, names.y))
    shown = None
    if given.position is not None:
        found = positions(given.position, n_rows, names.position, names.y)
        shown = replace(found, codes=data.queries.grouped(found.codes))
    if data.queries.rows is not None:
        X = rows_of(X, data.queries.rows)
    return RankingRows(X, data, start, given.weight is not None, shown)


def _seed(random_state: Any) -> int:
    """A seed for the tie keys from any scikit-learn `random_state`; None is 0: training is deterministic by default."""
    if random_state is None:
        return 0
    drawn = random_numbers(random_state)
    return int(random_state) if isinstance(random_state, int | np.integer) else int(drawn.randint(2**31 - 1))
