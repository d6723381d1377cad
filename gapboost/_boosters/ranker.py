"""Mixin of both boosters' rankers: parameters, query order, checks before training, score."""

from dataclasses import replace
from typing import Any, ClassVar, Self

from sklearn.utils.validation import check_is_fitted

from gapboost._boosters.data_set import DataSet
from gapboost._boosters.described import documentation_url
from gapboost._boosters.eval_metric import check_grouped
from gapboost._boosters.fit_arguments import FitArguments
from gapboost._boosters.ranker_parameters import RankerParameters
from gapboost._boosters.result import TrainingResult, with_result
from gapboost._boosters.rows import RankingRows, ranking_rows
from gapboost._boosters.task import Task, make_task
from gapboost._boosters.training import Training, Watch, prepare
from gapboost._data.features import check_names, feature_names, features, split, without_qid
from gapboost._data.warned import warn_caller
from gapboost.evaluation import evaluate
from gapboost.measures import Measure
from gapboost.objectives import Objective


class GAPRanker(RankerParameters):
    """Mixin of `LGBMGAPRanker` and `XGBGAPRanker`.

    After `fit`, `measure_` and `objective_` are those of the model, with g resolved. `g_` is the g
    of the measure, `n_queries_in_` the number of training queries, and `position_bias_` holds the
    factors of positions.
    """

    # Result of `fit` or `load_model`, besides the attributes that the booster's own `fit` sets.
    _result: TrainingResult

    _estimator_type = "ranker"
    # The HTML form of scikit-learn links to this address, for classes of this package.
    _doc_link_module = "gapboost"
    _doc_link_template = property(lambda self: documentation_url(type(self)))
    # With scikit-learn's metadata routing on, these reach fit and score without set_fit_request by
    # the user.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {
        "qid": True,
        "sample_weight": True,
        "position": True,
    }
    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True, "sample_weight": True}

    @property
    def objective_(self) -> Objective:
        """Objective of the fitted model, with `g` resolved."""
        check_is_fitted(self)
        return self._result.objective

    @property
    def measure_(self) -> Measure:
        """Measure that the model was trained for, with `g` resolved."""
        return self.objective_.measure

    @property
    def g_(self) -> tuple[float, ...] | None:
        """Threshold probabilities of `measure_`; None for a measure that has none."""
        return getattr(self.measure_, "g", None)

    @property
    def n_queries_in_(self) -> int:
        """Number of training queries; a model that was loaded from a file does not have it."""
        result = vars(self).get("_result")
        if result is None or result.n_queries is None:
            raise AttributeError(
                f"{type(self).__name__} has no n_queries_in_; expected a call of fit before"
            )
        return int(result.n_queries)

    @property
    def position_bias_(self) -> dict[Any, float] | None:
        """``{position: its factor in training}``; None if `fit` got no `position`.

        After early stopping these are the factors of the best iteration. Only their differences
        matter.
        """
        check_is_fitted(self)
        return self._result.position_bias

    def score(
        self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None, *, group: Any = None
    ) -> float:
        """Mean of `measure_` over the queries of `X`, as `gapboost.evaluate` computes it.

        Parameters
        ----------
        X : array-like of shape (N, n_features)
        y : array-like of shape (N,), or (N, L)
            Grades, as in `fit`.
        qid : array-like of shape (N,)
            Query id of each row; or the column ``qid`` of a data frame `X`.
        sample_weight : array-like of shape (Q,) or (N,), optional
            Weights of the queries.
        group : array-like of shape (Q,), optional
            Sizes of the queries, instead of `qid`, if the rows come query by query.

        Raises
        ------
        ValueError
            If `qid` is missing: all rows as one query would be a mistake.
        NotFittedError
            Before `fit`.
        """
        measure = self.measure_
        _, qid = split(X, qid, group)
        if qid is None:
            raise ValueError(
                "qid is missing in score; expected one query id a row, or group with the sizes of "
                "the queries. Inside scikit-learn's model selection turn on "
                "sklearn.set_config(enable_metadata_routing=True) and pass params={'qid': qid}"
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
        """Return the booster's own ranker, fitted, with the same parameters and predictions.

        It needs no gapboost, in pickles either.

        It knows neither `measure` nor the column ``qid`` of a data frame, and LightGBM's rounds
        integers in arrays to float32. Fitted again, it trains for its own objective.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        raise NotImplementedError

    def _learned_by_booster(self) -> dict[str, Any]:
        """Return the attributes that the booster's own `fit` leaves in a ranker."""
        # The last three belong to the parameters of LightGBM and XGBoost.
        not_learned = {"_result", "kwargs", "_objective", "_other_params"}
        not_learned.update(self.get_params(deep=False))  # type: ignore[attr-defined]
        return {name: value for name, value in vars(self).items() if name not in not_learned}

    def _remember(self, learned: dict[str, Any], result: TrainingResult) -> None:
        """Hold what was learned."""
        # In one step, so that fits in other threads leave no mixture: while `update` drops the old
        # booster, others may run.
        self.__dict__ = {**vars(self), **learned, "_result": result}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(with_result(state))  # type: ignore[misc]

    def _fit(self, arguments: FitArguments) -> Self:
        """Train on arrays or tables that this process holds."""
        request = self._request(
            eval_metric=arguments.eval_metric,
            eval_at=arguments.eval_at,
            position=arguments.train.position,
        )
        given = arguments.evaluation_sets()
        rows = ranking_rows(arguments.train, request.limit)
        task = make_task(request, rows.data.summary, arguments.train.names.y)
        self._check_stopping(arguments.of_booster)
        evaluation_sets = [self._evaluation_rows(one, arguments.train, rows, task) for one in given]
        training = prepare(self._library, task, rows, evaluation_sets)
        if training.warning is not None:
            warn_caller(training.warning)
        return self._train(training, arguments.of_booster)

    def _evaluation_rows(
        self, given: DataSet, train: DataSet, rows: RankingRows, task: Task
    ) -> RankingRows:
        """Check an evaluation set; `rows` themselves stand for the training set."""
        names = given.names
        # Both boosters recognize the training set by identity, and then bin and score it once.
        if given.is_training_set(train, inherits=self._library.inherits):
            rows.data.check_known(names.y, task.limit)
            found = rows
        else:
            found = ranking_rows(given, task.limit)
            check_names(feature_names(found.X), feature_names(rows.X), names.X)
        check_grouped(task.request.functions, found, names.X)
        return found

    def _train(self, training: Training, of_booster: dict[str, Any]) -> Self:
        """Train on the rows of this process, and hold what was learned."""
        continued = of_booster[self._library.terms.model]
        if training.biased is not None and isinstance(continued, GAPRanker):
            training.biased.start_from(continued._result.last_position_bias or {})
        learned, booster = self._boost(training, **of_booster)
        self._remember(learned, training.result(booster))
        return self

    def _prepared(self, rows: RankingRows) -> Training:
        """Prepare the training of `fit` on the rows of a fold; `_boost_on_bins` then trains."""
        request = self._request(position=rows.positions)
        rows = replace(rows, data=rows.data.up_to_grade(request.objective.measure.n_grades))
        return prepare(self._library, make_task(request, rows.data.summary, "y"), rows)

    def _features(self, X: Any, validate: bool = True) -> Any:
        """Return the features to predict for, after a check of their columns."""
        X = features(without_qid(X)[0])
        if validate:
            check_names(feature_names(X), self._trained_names, "X")
        return X

    @property
    def _trained_names(self) -> tuple[str, ...]:
        """Column names of the training data; empty if they were an array, and before `fit`."""
        result = vars(self).get("_result")
        return () if result is None else result.feature_names

    # What each booster does in its own way: early stopping, ...
    def _check_stopping(self, of_booster: dict[str, Any]) -> None:
        """Raise ValueError if `stopping_metric` would be ignored."""
        raise NotImplementedError

    # ... a training, ...
    def _boost(self, training: Training, **of_booster: Any) -> tuple[dict[str, Any], Any]:
        """Train; return the attributes of the booster's own fitted ranker, and the booster."""
        raise NotImplementedError

    # ... and what a search over many candidates needs: data that is binned once, and a training on
    # it.
    def _bins(self, train: RankingRows, held_out: RankingRows) -> Any:
        """Return training and held-out rows as the booster keeps them, with the training bins."""
        raise NotImplementedError

    def _boost_on_bins(self, training: Training, bins: Any, watch: Watch) -> None:
        """Train on binned rows; call `watch` with the held-out scores after each round."""
        raise NotImplementedError
