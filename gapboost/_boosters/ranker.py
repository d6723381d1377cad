"""What the rankers of both boosters have besides `fit` and `predict`."""

from collections.abc import Sequence
from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from gapboost._data.features import check_names, feature_names, features, split, without_qid
from gapboost._data.judged import DataSummary
from gapboost.evaluation import evaluate
from gapboost.measures import Measure
from gapboost.objectives import Objective


class GAPRanker:
    """Fitted attributes and `score` of `LGBMGAPRanker` and `XGBGAPRanker`."""

    _estimator_type = "ranker"
    # With scikit-learn's metadata routing on, these reach fit and score without set_fit_request.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {
        "qid": True,
        "sample_weight": True,
        "position": True,
    }
    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True, "sample_weight": True}

    # Set by `fit` and `load_model`.
    _trained_objective: Objective
    position_bias_: dict[Any, float] | None
    _trained_names: tuple[str, ...] = ()

    @property
    def objective_(self) -> Objective:
        """Objective of the fitted model, with `g` resolved."""
        check_is_fitted(self)
        return self._trained_objective

    @property
    def measure_(self) -> Measure:
        """Measure that the model was trained for, with `g` resolved."""
        return self.objective_.measure

    @property
    def g_(self) -> tuple[float, ...] | None:
        """Threshold probabilities of `measure_`; None for a measure that has none."""
        return getattr(self.measure_, "g", None)

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
                "the queries. Pipelines and scikit-learn's model selection pass it on after "
                "sklearn.set_config(enable_metadata_routing=True)"
            )
        ranker: Any = self
        found = evaluate(
            measure,
            y,
            ranker.predict(X),
            qid,
            sample_weight=sample_weight,
            n_jobs=ranker.n_jobs,
        )
        return float(found[measure])

    def _features(self, X: Any, validate: bool = True) -> Any:
        """Return the features to predict; if `validate`, they have the columns of training."""
        X = features(without_qid(X)[0])
        if validate:
            check_names(feature_names(X), self._trained_names, "X")
        return X

    def _learn(
        self,
        objective: Objective,
        training: DataSummary,
        names: Sequence[str],
        learned: dict[str, Any],
        position_bias: dict[Any, float] | None = None,
    ) -> None:
        """Set the attributes of a fitted ranker, all at once.

        Parameters
        ----------
        objective : Objective
        training : DataSummary
            Of the training set.
        names : sequence of str
            Of the columns; empty if they have none.
        learned : dict
            Attributes of the booster's own ranker.
        position_bias : dict, optional
        """
        self.__dict__.update(
            learned,
            _trained_objective=objective,
            n_queries_in_=training.n_queries,
            step_=objective.step_for(training.n_rows),
            position_bias_=position_bias,
            _trained_names=tuple(names),
        )
