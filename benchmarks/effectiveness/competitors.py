"""What is compared: the boosters' own ranking objectives and ours, trained through one interface.

CatBoost is needed for its three competitors only: ``pip install catboost``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import lightgbm
import numpy as np
import xgboost

import gapboost as gb
import gapboost.lightgbm
import gapboost.xgboost
from benchmarks.effectiveness.data import Part
from gapboost._data.queries import Array
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

Predict = Callable[[Array, int], Array]  # features and a number of trees -> scores
Watch = Callable[[Array], bool]  # scores of the validation rows after one more tree -> whether to go on

LIBRARIES = ("LightGBM", "XGBoost", "CatBoost")


@dataclass(frozen=True)
class Trees:
    """One candidate of the search, in the terms that all three libraries share; `drawn` thresholds are LightGBM's alone."""

    leaves: int
    learning_rate: float
    features: float
    penalty: float
    drawn: bool = False


@dataclass(frozen=True)
class Competitor:
    """A way to train.

    Attributes
    ----------
    name : str
    library : {"LightGBM", "XGBoost", "CatBoost"}
    params : dict
        The library's own parameters.
    measure : str or None
        What ours trains for.
    g : str
        "uniform", or "chosen": every candidate brings its own.
    """

    name: str
    library: str
    params: dict[str, Any] = field(default_factory=dict)
    measure: str | None = None
    g: str = "uniform"

    @property
    def ours(self) -> bool:
        """Whether gapboost computes the gradients."""
        return self.measure is not None


def own(library: str) -> list[Competitor]:
    """Ours on one booster."""
    trained = {"GAP": "gap", "xGAP": "xgap", "eGAP": "egap", "AP": "ap", "nDCG": "ndcg"}
    return [
        *(Competitor(f"{library} {name}", library, measure=measure) for name, measure in trained.items()),
        Competitor(f"{library} GAP, g chosen", library, measure="gap", g="chosen"),
    ]


COMPETITORS = [
    Competitor("LightGBM lambdarank", "LightGBM", {"objective": "lambdarank"}),
    Competitor(
        "LightGBM lambdarank, all pairs",
        "LightGBM",
        {"objective": "lambdarank", "lambdarank_truncation_level": 100_000},
    ),
    Competitor("LightGBM lambdarank, no norm", "LightGBM", {"objective": "lambdarank", "lambdarank_norm": False}),
    Competitor("LightGBM rank_xendcg", "LightGBM", {"objective": "rank_xendcg"}),
    Competitor("XGBoost rank:ndcg", "XGBoost", {"objective": "rank:ndcg"}),
    Competitor("XGBoost rank:map", "XGBoost", {"objective": "rank:map"}),
    Competitor("XGBoost rank:pairwise", "XGBoost", {"objective": "rank:pairwise"}),
    Competitor("CatBoost YetiRank", "CatBoost", {"loss_function": "YetiRank"}),
    Competitor("CatBoost LambdaMart NDCG", "CatBoost", {"loss_function": "LambdaMart:metric=NDCG"}),
    Competitor("CatBoost LambdaMart MAP", "CatBoost", {"loss_function": "LambdaMart:metric=MAP"}),
    *own("LightGBM"),
    *own("XGBoost"),
]


class Fold:
    """Training, validation and test rows of one fold, binned once for each library."""

    def __init__(self, split: Sequence[Any], n_grades: int) -> None:
        self.train, self.vali, self.test = (Part(part.X, part.y, part.qid) for part in split)
        self.n_grades = n_grades

    @cached_property
    def lightgbm_rows(self) -> list[lightgbm.Dataset]:
        """Training and validation rows."""
        quiet = {"verbose": -1, "num_threads": 1}
        train = lightgbm.Dataset(self.train.X, self.train.y, group=self.train.sizes, params=quiet)
        vali = lightgbm.Dataset(self.vali.X, self.vali.y, group=self.vali.sizes, reference=train, params=quiet)
        return [train.construct(), vali.construct()]

    def xgboost_rows(self, binary: bool) -> list[xgboost.DMatrix]:
        """Training and validation rows; `rank:map` takes no grades."""
        return self._binary if binary else self._graded

    @cached_property
    def _graded(self) -> list[xgboost.DMatrix]:
        return self._matrices(lambda y: y)

    @cached_property
    def _binary(self) -> list[xgboost.DMatrix]:
        return self._matrices(lambda y: (y > 0).astype(np.int32))

    def _matrices(self, label: Callable[[Array], Array]) -> list[xgboost.DMatrix]:
        train = xgboost.QuantileDMatrix(self.train.X, label(self.train.y), group=self.train.sizes, nthread=1)
        vali = xgboost.QuantileDMatrix(self.vali.X, label(self.vali.y), group=self.vali.sizes, nthread=1, ref=train)
        return [train, vali]

    @cached_property
    def catboost_rows(self) -> list[Any]:
        """Training and validation rows."""
        from catboost import Pool

        return [
            Pool(part.X, part.y, group_id=np.repeat(np.arange(len(part.sizes)), part.sizes))
            for part in (self.train, self.vali)
        ]


def gradients(competitor: Competitor, fold: Fold, g: Sequence[float] | None) -> gb.LambdaRank:
    """What ours trains by, with g for the grades of the data set where the measure has one."""
    graded = competitor.measure in ("gap", "xgap", "egap")
    uniform = (1 / fold.n_grades,) * fold.n_grades
    return gb.LambdaRank(gb.measures.as_measure(competitor.measure, (g or uniform) if graded else None))


def train(
    competitor: Competitor,
    fold: Fold,
    trees: Trees,
    rounds: int,
    seed: int,
    watch: Watch,
    g: Sequence[float] | None = None,
) -> Predict:
    """Train with at most `rounds` trees; `watch` sees the validation scores after each one."""
    how = gradients(competitor, fold, g) if competitor.ours else None
    return TRAIN[competitor.library](competitor.params, how, fold, trees, rounds, seed, watch)


def train_lightgbm(
    own: dict[str, Any], how: Any, fold: Fold, trees: Trees, rounds: int, seed: int, watch: Watch
) -> Predict:
    """See `train`."""
    params = {
        "num_leaves": trees.leaves,
        "learning_rate": trees.learning_rate,
        "feature_fraction": trees.features,
        "lambda_l2": trees.penalty,
        "extra_trees": trees.drawn,
        "seed": seed,
        "metric": "None",
        "num_threads": 1,
        "verbose": -1,
        **own,
    }
    if how is not None:
        params["objective"] = gapboost.lightgbm.objective(how, n_jobs=1)

    going_on = True

    def feval(preds: Array, _: Any) -> list[Any]:
        nonlocal going_on
        going_on = watch(preds)
        return []

    def stop(env: Any) -> None:
        if not going_on:
            raise lightgbm.callback.EarlyStopException(env.iteration, [])

    train_rows, vali = fold.lightgbm_rows
    model = lightgbm.train(
        params, train_rows, rounds, valid_sets=[vali], feval=feval, callbacks=[stop], keep_training_booster=True
    )
    return lambda X, n: np.asarray(model.predict(X, num_iteration=n, raw_score=True, num_threads=1))


class Stop(xgboost.callback.TrainingCallback):
    """Ends a training when told to."""

    asked = False

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Whether to end."""
        return self.asked


def train_xgboost(
    own: dict[str, Any], how: Any, fold: Fold, trees: Trees, rounds: int, seed: int, watch: Watch
) -> Predict:
    """See `train`."""
    params = {
        "grow_policy": "lossguide",
        "max_depth": 0,
        "max_leaves": trees.leaves,
        "learning_rate": trees.learning_rate,
        "colsample_bytree": trees.features,
        "reg_lambda": trees.penalty,
        "seed": seed,
        "nthread": 1,
        "verbosity": 0,
        "disable_default_eval_metric": 1,
        "base_score": 0.0,
        **own,
    }
    stop = Stop()

    def metric(preds: Array, _: Any) -> list[Any]:
        stop.asked = not watch(preds)
        return []

    train_rows, vali = fold.xgboost_rows(own.get("objective") == "rank:map")
    model = xgboost.train(
        params,
        train_rows,
        rounds,
        evals=[(vali, "vali")],
        obj=None if how is None else gapboost.xgboost.objective(how, n_jobs=1),
        custom_metric=metric,
        callbacks=[stop],
        verbose_eval=False,
    )
    return lambda X, n: np.asarray(model.inplace_predict(X, iteration_range=(0, n), predict_type="margin"))


def train_catboost(
    own: dict[str, Any], how: Any, fold: Fold, trees: Trees, rounds: int, seed: int, watch: Watch
) -> Predict:
    """See `train`; CatBoost shows the stages only after the training."""
    from catboost import CatBoost

    params = {
        "depth": int(np.log2(trees.leaves)),
        "learning_rate": trees.learning_rate,
        "rsm": trees.features,
        "l2_leaf_reg": trees.penalty,
        "iterations": rounds,
        "random_seed": seed,
        "thread_count": 1,
        "verbose": False,
        "allow_writing_files": False,
        **own,
    }
    train_rows, vali = fold.catboost_rows
    model = CatBoost(params).fit(train_rows)
    for scores in model.staged_predict(vali, thread_count=1):
        if not watch(scores):
            break
    return lambda X, n: np.asarray(model.predict(X, ntree_end=n, thread_count=1))


TRAIN = {"LightGBM": train_lightgbm, "XGBoost": train_xgboost, "CatBoost": train_catboost}


def catboost_ranker(**parameters: Any) -> Any:
    """CatBoost's, imported when it is wanted."""
    from catboost import CatBoostRanker

    return CatBoostRanker(**parameters)


UNTUNED: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "LGBMGAPRanker()": (LGBMGAPRanker, {}),
    "LGBMRanker()": (lightgbm.LGBMRanker, {}),
    "LGBMRanker(objective='rank_xendcg')": (lightgbm.LGBMRanker, {"objective": "rank_xendcg"}),
    "LGBMGAPRanker(extra_trees=False)": (LGBMGAPRanker, {"extra_trees": False}),
    "LGBMRanker(extra_trees=True)": (lightgbm.LGBMRanker, {"extra_trees": True}),
    "XGBGAPRanker()": (XGBGAPRanker, {}),
    "XGBRanker()": (xgboost.XGBRanker, {}),
    "XGBRanker(objective='rank:map')": (xgboost.XGBRanker, {"objective": "rank:map"}),
    "XGBRanker(objective='rank:pairwise')": (xgboost.XGBRanker, {"objective": "rank:pairwise"}),
    "CatBoostRanker()": (catboost_ranker, {}),
}


def fit_untuned(name: str, part: Part, seed: int) -> Any:
    """The estimator with nothing else set but the seed and what does not change the model; `rank:map` takes no grades."""
    kind, given = UNTUNED[name]
    y = (part.y > 0).astype(np.int32) if given.get("objective") == "rank:map" else part.y
    qid = np.repeat(np.arange(len(part.sizes)), part.sizes)
    if kind is catboost_ranker:
        quiet = {"verbose": False, "allow_writing_files": False, "thread_count": 1}
        return kind(**quiet, random_seed=seed).fit(part.X, y, group_id=qid)
    quiet = {"verbose": -1} if name.startswith("LGBM") else {}
    rows = {"group": part.sizes} if kind is lightgbm.LGBMRanker else {"qid": qid}
    return kind(**given, **quiet, random_state=seed, n_jobs=1).fit(part.X, y, **rows)
