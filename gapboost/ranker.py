"""What the rankers of both boosters share: parameters, query order, checks before training, and the score."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import _safe_indexing, check_random_state

from gapboost.callbacks import Gradients, as_metrics, check_contrasts
from gapboost.evaluation import evaluate
from gapboost.measures import Measure, as_measure
from gapboost.objectives import Objective, as_objective
from gapboost.objectives.objective import known_grades
from gapboost.queries import Array, Judged, judged
from gapboost.search_guard import refuse_blind_search


@dataclass(frozen=True, eq=False)
class RankingRows:
    """Features and judgements in grouped order, ready for a booster."""

    X: Any
    y: Array
    data: Judged

    @property
    def row_weights(self) -> Array:
        """The weight of its query for each row, float64 of shape (N,)."""
        return np.repeat(self.data.weights, self.data.queries.sizes)

    def grouped(self, values: Any, name: str) -> Array | None:
        """One value a row, brought into the same order."""
        if values is None:
            return None
        array = np.asarray(values, dtype=np.float64)
        if array.shape != (len(self.y),):
            raise ValueError(f"{name} has shape {array.shape}; expected one value a row, ({len(self.y)},)")
        return self.data.queries.grouped(array)


class GAPRanker:
    """Mixin of `LGBMGAPRanker` and `XGBGAPRanker`.

    After `fit`: `measure_` and `objective_` are what was trained for, with every choice made; `g_` is the measure's g
    (None for a measure without one); `n_queries_in_` the number of training queries.
    """

    measure: str | Measure
    g: Sequence[float] | None
    objective: str | Objective
    n_jobs: int | None
    random_state: Any

    measure_: Measure
    objective_: Objective
    n_queries_in_: int

    _estimator_type = "ranker"
    # With scikit-learn's metadata routing on, qid and weights reach fit and score without set_fit_request by the user.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True, "sample_weight": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True, "sample_weight": True}

    @property
    def g_(self) -> tuple[float, ...] | None:
        """Threshold probabilities of `measure_`; None for a measure that has none."""
        return getattr(self.measure_, "g", None)

    def score(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> float:
        """Mean of `measure_` over the queries of `X`, as `gapboost.evaluate` computes it.

        Parameters
        ----------
        X : array-like of shape (N, n_features)
        y : array-like of shape (N,)
            Integer grades.
        qid : array-like of shape (N,)
            Query id of each row.
        sample_weight : array-like of shape (Q,) or (N,), optional
            Weights of the queries.

        Raises
        ------
        ValueError
            Where `qid` is missing: one query of all rows is never what is meant.
        """
        if qid is None:
            raise ValueError(
                "qid is missing in score; expected one query id a row. Inside scikit-learn's model selection turn on "
                "sklearn.set_config(enable_metadata_routing=True) and pass params={'qid': qid}"
            )
        values = evaluate(
            self.measure_,
            y,
            self.predict(X),  # type: ignore[attr-defined]
            qid,
            sample_weight=sample_weight,
            n_jobs=self.n_jobs,
        )
        return float(values[self.measure_])

    def _requested(self) -> tuple[Measure, Objective]:
        """Measure and objective as the parameters ask for them, g perhaps still open."""
        if isinstance(self.objective, Objective):
            if self.measure != "gap" or self.g is not None:
                raise ValueError(
                    f"objective is {self.objective!r}, which brings its measure, but measure is {self.measure!r} and g is "
                    f"{self.g!r}; expected an objective by name, or measure and g left at their defaults"
                )
            return self.objective.measure, self.objective
        if not isinstance(self.objective, str):
            raise TypeError(
                f"objective is {self.objective!r}; expected a name such as 'lambdarank' or an objective value"
            )
        measure = as_measure(self.measure, self.g)
        return measure, as_objective(self.objective, measure, _seed(self.random_state))

    def _training_rows(self, X: Any, y: Any, qid: Any, sample_weight: Any, measure: Measure) -> RankingRows:
        refuse_blind_search(self)
        rows = ranking_rows(X, y, qid, sample_weight, measure, ("y", "qid", "sample_weight"))
        check_contrasts(rows.data, "y")
        return rows

    def _eval_rows(
        self, eval_set: Any, eval_qid: Any, eval_weight: Any, weight_name: str, measure: Measure
    ) -> list[RankingRows]:
        if eval_set is None:
            if eval_qid is not None:
                raise ValueError("eval_qid is given without eval_set; expected both or neither")
            return []
        if isinstance(eval_set, tuple) and len(eval_set) == 2 and not isinstance(eval_set[0], tuple):
            eval_set = [eval_set]
            eval_qid = eval_qid if isinstance(eval_qid, list) and _is_nested(eval_qid) else [eval_qid]
        if eval_qid is None:
            raise ValueError("eval_qid is missing; expected a list with the query ids of each pair in eval_set")
        if len(eval_qid) != len(eval_set):
            raise ValueError(
                f"eval_qid has {len(eval_qid)} entries; expected one for each of {len(eval_set)} eval sets"
            )
        weights = [None] * len(eval_set) if eval_weight is None else eval_weight
        if len(weights) != len(eval_set):
            raise ValueError(
                f"{weight_name} has {len(weights)} entries; expected one for each of {len(eval_set)} eval sets"
            )
        return [
            ranking_rows(Xv, yv, qv, wv, measure, (f"eval_set[{i}] y", f"eval_qid[{i}]", f"{weight_name}[{i}]"))
            for i, ((Xv, yv), qv, wv) in enumerate(zip(eval_set, eval_qid, weights, strict=True))
        ]

    # What a search over many candidates needs of a booster, each ranker in its own file: data that is binned once, ...
    def _binned(self, train: RankingRows, held_out: RankingRows, weighted: bool) -> Any:
        """Training and held-out rows as the booster keeps them, binned by the training rows."""
        raise NotImplementedError

    # ... and the training that `fit` would do, on such data.
    def _train_binned(self, rows: RankingRows, binned: Any, watch: Callable[[Array], None]) -> None:
        """Train on `binned`, whose training part is `rows`; `watch` sees the held-out scores after each iteration."""
        raise NotImplementedError

    @property
    def _n_rounds(self) -> int:
        raise NotImplementedError

    def _metrics(self, eval_metric: Any, measure: Measure, occurring: Array, measure_last: bool) -> list[Measure]:
        """The measure trained for, and what else is to be watched."""
        others = [] if eval_metric is None else [m.resolved(occurring) for m in as_metrics(eval_metric)]
        others = [m for m in others if m != measure]
        return [*others, measure] if measure_last else [measure, *others]

    def _check_learnable(
        self, gradients: Gradients, rows: RankingRows, start: Array | None, floor: float, floor_name: str
    ) -> None:
        """One gradient pass at the first scores: refuse what a booster would answer with a constant model."""
        scores = np.zeros(len(rows.y)) if start is None else start
        weights = rows.row_weights
        grad, hess = gradients.gradients(scores, rows.y.astype(np.float32), rows.data.queries.sizes, weights)
        if not np.any(grad):
            raise ValueError(
                f"measure is {gradients.objective.measure!r}, and no swap of two documents of y changes it; expected a "
                "measure that tells some of the grades in y apart"
            )
        total = float(hess.sum(dtype=np.float64))
        if total < 2 * floor:
            raise ValueError(
                f"{floor_name} is {floor:g}, but the hessians of all rows sum to {total:.3g}; expected at most "
                f"{total / 2:.3g}: with less in each leaf no split is possible and the model would be constant"
            )


def ranking_rows(
    X: Any, y: Any, qid: Any, sample_weight: Any, measure: Measure, names: tuple[str, str, str]
) -> RankingRows:
    """Rows checked and brought into grouped order; `names` is what the caller calls `y`, `qid` and the weights."""
    if qid is None:
        raise ValueError(
            f"{names[1]} is missing; expected one query id a row (from group sizes: "
            "numpy.repeat(numpy.arange(len(group)), group))"
        )
    data = judged(y, qid, sample_weight=sample_weight, known=known_grades(measure), names=names)
    if not hasattr(X, "shape") and not hasattr(X, "__len__"):
        X = np.asarray(X)  # something that only knows how to become an array
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if n_rows != data.queries.n_rows:
        raise ValueError(f"X has {n_rows} rows but {names[0]} has {data.queries.n_rows}; expected the same number")
    grouped = X if data.queries.rows is None else _safe_indexing(X, data.queries.rows)
    return RankingRows(grouped, data.grades, data)


def _is_nested(values: list[Any]) -> bool:
    return len(values) == 1 and np.ndim(values[0]) == 1


def _seed(random_state: Any) -> int:
    """A seed for the tie keys from any scikit-learn `random_state`; None is 0: training is deterministic by default."""
    if random_state is None:
        return 0
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    return int(check_random_state(random_state).randint(2**31 - 1))
