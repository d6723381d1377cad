"""Factors of positions: equal to LightGBM's, updated by the same rule, useful for clicks."""

import copy
import io
import pickle
from contextlib import redirect_stdout

import joblib
import lightgbm
import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
import xgboost
from scipy.special import expit
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from twins import LIGHTGBM, XGBOOST, shuffled, twins

import gapboost as gb
import gapboost.lightgbm
import gapboost.xgboost
from gapboost.datasets.data import RankingData

N = 10  # documents a query
PENALTY = "lambdarank_position_bias_regularization"


def clicks(seed, n_queries=400, examined=False):
    """Data whose grades are clicks, where each document was shown, and how relevant it is.

    What is shown first depends on relevance, but more on a feature that has nothing to do with it.
    Where documents are `examined`, one at rank r is looked at with probability 1/r, and clicked if
    it is then found relevant.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * N, 5))
    relevance = 1.5 * X[:, 0] + 0.75 * X[:, 1]
    shown_by = X[:, 2] + 0.5 * X[:, 0] + 0.5 * rng.normal(size=len(X))
    position = 1 + np.argsort(np.argsort(-shown_by.reshape(-1, N), axis=1), axis=1).ravel()
    clicked = rng.random(len(X)) < expit(relevance - 0.5 + BIAS[position - 1])
    if examined:
        clicked = (rng.random(len(X)) < 1 / position) & (
            rng.random(len(X)) < expit(relevance - 0.5)
        )
    return (
        (X, clicked.astype(int), np.repeat(np.arange(n_queries), N)),
        position,
        np.digitize(relevance, [0.75, 2]),
    )


BIAS = -np.log(np.arange(1, N + 1))
FEW, FEW_POSITIONS, _ = clicks(0, n_queries=60)
DATA = RankingData(*FEW)


def ranker(twin, **parameters):
    return twin.ranker(**{"n_estimators": 4, "learning_rate": 0.2, **parameters})


def fitted(twin, fit=None, **parameters):
    return ranker(twin, **parameters).fit(*FEW, **{"position": FEW_POSITIONS, **(fit or {})})


def values(bias):
    return np.array(list(bias.values()))


# --- LightGBM's own


def lightgbms_own(parameters, dataset, rounds):
    """Scores and factors of LightGBM's LambdaRank, which only writes them to its log."""
    with redirect_stdout(io.StringIO()) as log:
        booster = lightgbm.train(
            {**parameters, "objective": "lambdarank", "verbosity": 2}, dataset, rounds
        )
    rows = [
        line.split()[-2:]
        for line in log.getvalue().splitlines()
        if line.startswith("[LightGBM] [Debug]")
    ]
    return booster, {int(p): float(b) for p, b in (row for row in rows if row[0].isdigit())}


@pytest.mark.slow
@pytest.mark.parametrize("penalty", [0.0, 0.02])
def test_factors_are_those_of_lightgbm(penalty):
    """Gradients are equal too: all pairs, no normalization, and first scores without ties."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 4))
    position = np.concatenate([rng.permutation(12) + 1 for _ in range(100)])
    y = np.where(
        (X[:, 0] > -0.3) & (rng.random(1200) < position**-0.5), rng.integers(0, 4, 1200), 0
    )
    own = {"lambdarank_truncation_level": 1000, "lambdarank_norm": False, "sigmoid": 1.0}
    parameters = {
        **LIGHTGBM.native,
        "extra_trees": False,
        "min_sum_hessian_in_leaf": 0,
        "metric": "None",
        PENALTY: penalty,
    }

    def dataset():
        start = 0.1 * np.random.default_rng(1).normal(size=1200)
        return lightgbm.Dataset(
            X, y, group=[12] * 100, position=position, init_score=start, params={"verbosity": -1}
        )

    theirs, expected = lightgbms_own({**parameters, **own}, dataset(), 20)
    start = 0.1 * np.random.default_rng(1).normal(size=1200)
    ours = gb.lightgbm.LGBMGAPRanker(
        objective=gb.LambdaRank(gb.nDCG(), normalize=False),
        n_estimators=20,
        **{
            n: v
            for n, v in parameters.items()
            if n not in ("metric", "min_data_in_leaf", "num_threads", "min_sum_hessian_in_leaf")
        },
        min_child_samples=parameters["min_data_in_leaf"],
        min_child_weight=0.0,
        n_jobs=1,
    ).fit(X, y, group=[12] * 100, position=position, init_score=start)
    found = ours.position_bias_
    assert found.keys() == expected.keys() == set(range(1, 13))
    assert max(expected.values()) - min(expected.values()) > 1
    npt.assert_allclose([found[p] for p in expected], values(expected), rtol=0, atol=3e-5)
    npt.assert_allclose(ours.predict(X), theirs.predict(X), rtol=0, atol=1e-4)


# --- the rule


class Recorded:
    """An objective that writes down what it is shown and answers."""

    def __init__(self, objective):
        self.objective = objective
        self.calls = []

    def __call__(self, scores, data):
        grad, hess = self.objective(scores, data)
        self.calls.append((np.array(scores), grad, hess))
        return grad, hess

    def __deepcopy__(self, memo):
        return self  # LightGBM copies what it calls


def native(twin, how, data, position, rounds, penalty=0.0, learning_rate=0.1, **parameters):
    """Recorded objective and booster of the library's own `train`."""
    X, y, qid = data
    sizes = np.unique(qid, return_counts=True)[1]
    rate = {"learning_rate": learning_rate, **parameters}
    if twin is LIGHTGBM:
        recorded = Recorded(gb.lightgbm.objective(how))
        dataset = lightgbm.Dataset(X, y, group=sizes, position=position, params={"verbose": -1})
        booster = lightgbm.train(
            {**twin.native, **rate, PENALTY: penalty, "objective": recorded}, dataset, rounds
        )
    else:
        recorded = Recorded(gb.xgboost.objective(how, position=position, **{PENALTY: penalty}))
        booster = xgboost.train(
            {**twin.native, **rate}, xgboost.DMatrix(X, y, qid=qid), rounds, obj=recorded
        )
    return recorded, booster


@twins
def test_a_penalty_keeps_factors_small(twin):
    free, held = (fitted(twin, **{PENALTY: penalty}).position_bias_ for penalty in (0.0, 1.0))
    assert 0 < np.ptp(values(held)) < 0.5 * np.ptp(values(free))


# --- what they are for

MEASURES = {"gap": gb.GAP(g=(1,)), "ndcg": gb.nDCG()}


@pytest.mark.slow
@twins
@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
@pytest.mark.parametrize("seed", range(3))
def test_the_bias_of_clicks_is_recovered(twin, measure, seed):
    """Clicks are logistic in relevance and bias: LambdaRank's factors are in these units."""
    train, position, _ = clicks(seed)
    (X, _, qid), _, grades = clicks(seed + 100)
    parameters = {"measure": measure, "n_estimators": 60, "learning_rate": 0.1, "max_depth": 3}
    plain = twin.ranker(**parameters).fit(*train)
    aware = twin.ranker(**parameters).fit(*train, position=position)
    found, true = values(aware.position_bias_), BIAS
    assert list(aware.position_bias_) == list(range(1, N + 1))
    assert spearmanr(found, true)[0] > 0.9
    # the slope of found over true factors
    assert 0.75 < np.polyfit(true, found, 1)[0] < 1.4
    better = [
        gb.evaluate(m, grades, aware.predict(X), qid)[m]
        - gb.evaluate(m, grades, plain.predict(X), qid)[m]
        for m in (gb.nDCG(k=5), gb.GAP(g=(0.5, 0.5)))
    ]
    assert min(better) > 0.015


# --- every measure, objective and booster


@twins
def test_an_objective_of_ones_own(twin):
    class Own(gb.LambdaRank):
        def prepared(self, data, n_jobs=None):
            return super().prepared(data, n_jobs)

    found = fitted(twin, objective=Own(gb.AP())).position_bias_
    assert found == fitted(twin, objective=gb.LambdaRank(gb.AP())).position_bias_


# --- what a user gives


@twins
def test_rows_in_any_order(twin):
    order, grouped = shuffled(DATA)
    X, y, qid = FEW
    found, expected = (
        ranker(twin).fit(X[rows], y[rows], qid[rows], position=FEW_POSITIONS[rows])
        for rows in (order, grouped)
    )
    npt.assert_array_equal(found.predict(X), expected.predict(X))
    assert found.position_bias_ == expected.position_bias_


@twins
@pytest.mark.parametrize(
    "given",
    [
        list,
        pd.Series,
        lambda p: [f"slot {i:02}" for i in p],
        lambda p: pd.Categorical([f"slot {i:02}" for i in p]),
        lambda p: np.array([f"slot {i:02}" for i in p], dtype=object),
        lambda p: [("page", i) for i in p.tolist()],
        lambda p: 0.5 * p,
        lambda p: p.astype(np.uint8),
        lambda p: np.datetime64("2026-01-01") + p,
    ],
)
def test_positions_of_any_type(twin, given):
    named, expected = given(FEW_POSITIONS), fitted(twin)
    found = fitted(twin, {"position": named})
    npt.assert_array_equal(found.predict(FEW[0]), expected.predict(FEW[0]))
    npt.assert_array_equal(values(found.position_bias_), values(expected.position_bias_))
    for name, p in zip(list(named)[:20], FEW_POSITIONS[:20].tolist(), strict=True):
        assert found.position_bias_[name] == expected.position_bias_[p]
    assert list(found.position_bias_) == sorted(set(named))


@twins
def test_positions_that_have_no_order(twin):
    named = [i if i % 2 else str(i) for i in FEW_POSITIONS.tolist()]
    found, expected = fitted(twin, {"position": named}).position_bias_, fitted(twin).position_bias_
    assert found == {(p if p % 2 else str(p)): factor for p, factor in expected.items()}
    assert [type(p) for p in list(found)[:3]] == [type(p) for p in list(dict.fromkeys(named))[:3]]


@twins
def test_weights_count(twin):
    weights = np.random.default_rng(0).integers(1, 4, 60)
    X, y, qid = FEW
    times = weights[qid]
    again = np.concatenate([np.flatnonzero(times > i) for i in range(3)])
    copies = np.concatenate([np.full((times > i).sum(), 1000 * i) for i in range(3)])
    parameters = {"n_estimators": 1, PENALTY: 0.0, "objective": gb.LambdaRank(gb.AP())}
    start = np.random.default_rng(1).normal(size=len(X))
    weighted = fitted(twin, {"sample_weight": weights, twin.start: start}, **parameters)
    twice = ranker(twin, **parameters).fit(
        X[again],
        y[again],
        qid[again] + copies,
        position=FEW_POSITIONS[again],
        **{twin.start: start[again]},
    )
    npt.assert_allclose(values(weighted.position_bias_), values(twice.position_bias_), rtol=1e-4)


@twins
@pytest.mark.parametrize("penalty", [-1, np.nan, np.inf, "much", True, [1]])
def test_bad_penalties(twin, penalty):
    with pytest.raises(ValueError, match=rf"^{PENALTY} is .*; expected a finite number >= 0"):
        fitted(twin, **{PENALTY: penalty})


@twins
def test_a_penalty_without_positions_is_refused(twin):
    with pytest.raises(ValueError, match=f"^{PENALTY} is 0.5 but position is None; expected both"):
        fitted(twin, {"position": None}, **{PENALTY: 0.5})
    assert fitted(twin, {"position": None}, **{PENALTY: 0.0}).position_bias_ is None


# --- a fit and its ranker


@twins
def test_factors_belong_to_a_fit(twin):
    one = ranker(twin)
    with pytest.raises(NotFittedError):
        _ = one.position_bias_
    first = one.fit(*FEW, position=FEW_POSITIONS).position_bias_
    assert one.fit(*FEW, position=FEW_POSITIONS).position_bias_ == first
    assert one.fit(*FEW).position_bias_ is None


@twins
def test_copies_know_the_factors(twin, tmp_path):
    one = fitted(twin, **{PENALTY: 0.25})
    joblib.dump(one, tmp_path / "ranker.joblib")
    for again in (
        pickle.loads(pickle.dumps(one)),
        copy.deepcopy(one),
        joblib.load(tmp_path / "ranker.joblib"),
    ):
        assert again.position_bias_ == one.position_bias_
    assert clone(one).get_params()[PENALTY] == 0.25
    assert clone(one).fit(*FEW, position=FEW_POSITIONS).position_bias_ == one.position_bias_
    assert (
        clone(one).set_params(**{PENALTY: 2.0}).fit(*FEW, position=FEW_POSITIONS).position_bias_
        != one.position_bias_
    )


@twins
def test_vendors_know_nothing_of_positions(twin):
    one = fitted(twin, **{PENALTY: 0.25})
    vendor = one.to_vendor()
    npt.assert_array_equal(vendor.predict(FEW[0]), one.predict(FEW[0]))
    assert not [name for name in vars(vendor) if "position" in name and name != PENALTY]
    assert twin is LIGHTGBM or PENALTY not in vendor.get_params()


def test_a_loaded_model_has_no_factors(tmp_path):
    one = fitted(XGBOOST)
    one.save_model(tmp_path / "model.json")
    one.load_model(tmp_path / "model.json")
    assert one.position_bias_ is None


@twins
def test_early_stopping_goes_back_to_the_factors_of_the_best_iteration(twin):
    (X, y, qid), _, _ = clicks(1, n_queries=60)
    parameters, stops = twin.stopping(3)
    watched = {"eval_set": [(X, y)], "eval_qid": [qid], **stops}
    stopped = fitted(twin, watched, n_estimators=100, **parameters)
    assert 1 < stopped.best_iteration_ < 90
    assert (
        stopped.position_bias_ == fitted(twin, n_estimators=stopped.best_iteration_).position_bias_
    )


@twins
def test_continued_training_goes_on_from_the_factors(twin):
    parameters = {**twin.no_draws, "objective": gb.LambdaRank(gb.AP())}
    first, whole = (fitted(twin, n_estimators=n, **parameters) for n in (3, 6))
    # Positions that the first fit did not know start from 0, and those that are not there any more
    # are gone.
    found = fitted(twin, {twin.continued: first}, n_estimators=3, **parameters)
    assert found.position_bias_.keys() == whole.position_bias_.keys()
    npt.assert_allclose(
        values(found.position_bias_), values(whole.position_bias_), rtol=0, atol=1e-5
    )
    booster = first.booster_ if twin is LIGHTGBM else first.get_booster()
    afresh = fitted(twin, {twin.continued: booster}, n_estimators=3, **parameters)
    assert np.abs(values(afresh.position_bias_) - values(whole.position_bias_)).max() > 0.05
    renamed = fitted(
        twin, {twin.continued: first, "position": FEW_POSITIONS + 5}, n_estimators=1, **parameters
    )
    assert list(renamed.position_bias_) == list(range(6, 16))


@twins
def test_continued_training_that_stops_early(twin):
    (X, y, qid), _, _ = clicks(1, n_queries=60)
    first = fitted(twin, n_estimators=5, **twin.no_draws)
    again = {twin.continued: first}
    parameters, stops = twin.stopping(3)
    watched = {"eval_set": [(X, y)], "eval_qid": [qid], **stops, **again}
    stopped = fitted(twin, watched, n_estimators=100, **parameters, **twin.no_draws)
    assert 6 < stopped.best_iteration_ < 90
    expected = fitted(twin, again, n_estimators=stopped.best_iteration_ - 5, **twin.no_draws)
    assert stopped.position_bias_ == expected.position_bias_


def n_rounds(one):
    model = one.booster_ if isinstance(one, lightgbm.LGBMModel) else one.get_booster()
    return model.num_trees() if isinstance(one, lightgbm.LGBMModel) else model.num_boosted_rounds()


def keeping_the_best():
    # Made anew for each training: XGBoost's callback remembers the last one.
    return {"callbacks": [xgboost.callback.EarlyStopping(rounds=3, save_best=True)]}, {}


@pytest.mark.parametrize(
    ("twin", "stopping"),
    [
        (LIGHTGBM, lambda: LIGHTGBM.stopping(3)),
        (XGBOOST, lambda: XGBOOST.stopping(3)),
        (XGBOOST, keeping_the_best),
    ],
    ids=["lightgbm", "xgboost", "xgboost save_best"],
)
def test_continuing_an_early_stopped_model_goes_on_from_the_factors_of_its_best_iteration(
    twin, stopping
):
    """The rankers keep no trees after the best iteration, so that training continues from there."""
    (X, y, qid), _, _ = clicks(1, n_queries=60)
    options = {**twin.no_draws, "objective": gb.LambdaRank(gb.AP())}

    def stopped_early(fit):
        parameters, stops = stopping()
        watched = {"eval_set": [(X, y)], "eval_qid": [qid], **stops, **fit}
        return fitted(twin, watched, n_estimators=100, **parameters, **options)

    stopped = stopped_early({})
    assert n_rounds(stopped) == stopped.best_iteration_
    before = stopped.position_bias_
    once = fitted(twin, {twin.continued: stopped}, n_estimators=2, **options)
    assert stopped.position_bias_ == before
    twice = fitted(
        twin, {twin.continued: pickle.loads(pickle.dumps(once))}, n_estimators=2, **options
    )
    for found, more in ((once, 2), (twice, 4)):
        whole = fitted(twin, n_estimators=n_rounds(stopped) + more, **options)
        npt.assert_allclose(
            values(found.position_bias_), values(whole.position_bias_), rtol=0, atol=1e-5
        )
        npt.assert_allclose(found.predict(X), whole.predict(X), rtol=0, atol=1e-4)
    # And where the continued training stops early in its turn.
    again = stopped_early({twin.continued: once})
    found = fitted(twin, {twin.continued: again}, n_estimators=2, **options)
    whole = fitted(twin, n_estimators=n_rounds(again) + 2, **options)
    npt.assert_allclose(
        values(found.position_bias_), values(whole.position_bias_), rtol=0, atol=1e-4
    )


@twins
def test_every_number_of_threads_gives_the_same_factors(twin):
    train, position, _ = clicks(0)
    found = [ranker(twin, n_jobs=n).fit(*train, position=position).position_bias_ for n in (1, 2)]
    assert found[0] == found[1]


# --- searches


# --- the libraries' own train


def prepared(twin):
    """An objective and a constructed data set with positions."""
    X, y, qid = FEW
    how = gb.LambdaRank(gb.AP())
    if twin is XGBOOST:
        return gb.xgboost.objective(how, position=FEW_POSITIONS), xgboost.DMatrix(X, y, qid=qid)
    dataset = lightgbm.Dataset(X, y, group=[N] * 60, position=FEW_POSITIONS, params=LIGHTGBM.native)
    return gb.lightgbm.objective(how), dataset.construct()


def train(twin, objective, dataset, rounds=4, parameters=None):
    parameters = {**twin.native, **(parameters or {})}
    if twin is LIGHTGBM:
        objective.last = lightgbm.train({**parameters, "objective": objective}, dataset, rounds)
    else:
        objective.last = xgboost.train(parameters, dataset, rounds, obj=objective)
    return objective.last
