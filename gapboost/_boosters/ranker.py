"""Rankers of both boosters: fitted attributes and score; models whose training continues."""

import os
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from gapboost.data import ArrayLike, QueryIds
from gapboost.data.features import check_names, feature_names, features, pop_query_ids, without_qid
from gapboost.data.query_data import DataSummary
from gapboost.evaluation import evaluate
from gapboost.measures import Measure
from gapboost.objectives import Objective

# The parameters that our rankers add to those of the boosters.
OWN_NAMES = ("measure", "g", "objective", "stopping_metric")


class GAPRanker:
    """Fitted attributes and `score` of `LGBMGAPRanker` and `XGBGAPRanker`."""

    _estimator_type = "ranker"
    # With scikit-learn's metadata routing on, these reach fit and score without set_fit_request.
    __metadata_request__fit: ClassVar = dict.fromkeys(("qid", "sample_weight", "position"), True)
    __metadata_request__score: ClassVar = dict.fromkeys(("qid", "sample_weight"), True)

    # Set by `fit` and `load_model`.
    _trained_objective: Objective
    position_bias_: dict[Hashable, float] | None
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
        self,
        X: object,
        y: ArrayLike,
        qid: QueryIds = None,
        sample_weight: ArrayLike | None = None,
        *,
        group: ArrayLike | None = None,
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
            Weights of the queries, or of the rows. A Series of pandas whose index has exactly the
            query ids is aligned by it. Other weights of queries come in the order in which the
            queries first occur.
        group : array-like of shape (Q,), optional
            Sizes of the queries, instead of `qid`, if the rows come query by query. A Series whose
            index has the ids of the rows' index is aligned by it.

        Raises
        ------
        ValueError
            If `qid` is missing: all rows as one query would be a mistake.
        NotFittedError
            Before `fit`.
        """
        measure = self.measure_
        _, qid = pop_query_ids(X, qid, group)
        if qid is None:
            raise ValueError(
                "qid is missing in score; expected one query id a row, or group with the sizes of "
                "the queries. Pipelines and scikit-learn's model selection pass it on after "
                "sklearn.set_config(enable_metadata_routing=True)"
            )
        ranker: Any = self
        scores, n_jobs = ranker.predict(X), ranker.n_jobs
        found = evaluate(measure, y, scores, qid, sample_weight=sample_weight, n_jobs=n_jobs)
        return float(found[measure])

    def _features(self, X: object, validate: bool = True) -> Any:
        """Return the features to predict; if `validate`, they have the columns of training."""
        X = features(without_qid(X)[0])
        if validate:
            check_names(feature_names(X), self._trained_names, "X")
        return X

    def _set_fitted(
        self,
        objective: Objective,
        training: DataSummary,
        names: Sequence[str],
        position_bias: dict[Hashable, float] | None = None,
    ) -> None:
        """Set the attributes of a fitted ranker that are not the booster's.

        Parameters
        ----------
        objective : Objective
        training : DataSummary
            Of the training set.
        names : sequence of str
            Of the columns; empty if they have none.
        position_bias : dict, optional
        """
        self._trained_objective = objective
        self.n_queries_in_ = training.n_queries
        self.step_ = objective.step_for(training.n_rows)
        self.position_bias_ = position_bias
        self._trained_names = tuple(names)


def check_model(model: object, name: str, kinds: tuple[type, ...], booster: str) -> None:
    """Raise TypeError for a model to continue that is none of these kinds and no file."""
    if not isinstance(model, (*kinds, str, os.PathLike)):
        raise TypeError(
            f"{name} is a {type(model).__name__}; expected a ranker or Booster of {booster}, or "
            "the name of its file"
        )


def check_continued(X: Any, n_columns: int, names: Sequence[str] = ()) -> None:
    """Raise ValueError if `X` lacks the columns of a model whose training continues."""
    if X.shape[1] != n_columns:
        raise ValueError(
            f"X has {X.shape[1]} columns, but the model to continue has {n_columns}; expected the "
            "same number"
        )
    check_names(feature_names(X), names, "X")
