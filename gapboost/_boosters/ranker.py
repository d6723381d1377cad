"""What the rankers of both boosters have besides `fit` and `predict`."""

from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from gapboost._boosters.plan import Plan
from gapboost._boosters.positions import PositionFactors
from gapboost._boosters.rows import RankingRows
from gapboost._data.features import check_names, feature_names, features, split, without_qid
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
        plan: Plan,
        rows: RankingRows,
        factors: PositionFactors | None,
        best_round: int | None,
        learned: dict[str, Any],
    ) -> None:
        """Set the attributes of a fitted ranker, all at once.

        Parameters
        ----------
        plan : Plan
        rows : RankingRows
            The training set.
        factors : PositionFactors or None
        best_round : int or None
            Rounds of this training that predictions use; None is all.
        learned : dict
            Attributes of the booster's own ranker.
        """
        self.__dict__.update(
            learned,
            _trained_objective=plan.objective,
            n_queries_in_=len(rows.data.queries),
            step_=plan.objective.step_for(rows.data.queries.n_rows),
            position_bias_=None if factors is None else factors.by_position(best_round),
            _trained_names=feature_names(rows.X),
        )
