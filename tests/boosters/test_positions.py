"""Factors of positions: equal to LightGBM's, updated by the same rule, useful for clicks."""

import copy
import io
import pickle
from contextlib import redirect_stdout

import lightgbm
import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
import xgboost
from scipy.special import expit
from sklearn.base import clone
from twins import LIGHTGBM, QID, XGBOOST, X, Y, booster_of, shuffled, twins

import gapboost as gb
from gapboost.data import RankingDataset

N = 10  # documents a query
PENALTY = "lambdarank_position_bias_regularization"


def clicks(seed, n_queries=60):
    """Data whose grades are clicks, and where each document was shown.

    What is shown first depends on relevance, but more on a feature that has nothing to do with it.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * N, 5))
    relevance = 1.5 * X[:, 0] + 0.75 * X[:, 1]
    shown_by = X[:, 2] + 0.5 * X[:, 0] + 0.5 * rng.normal(size=len(X))
    position = 1 + np.argsort(np.argsort(-shown_by.reshape(-1, N), axis=1), axis=1).ravel()
    clicked = rng.random(len(X)) < expit(relevance - 0.5 - np.log(position))
    return (X, clicked.astype(int), np.repeat(np.arange(n_queries), N)), position


FEW, FEW_POSITIONS = clicks(0)
(VALI_X, VALI_Y, VALI_QID), _ = clicks(1)


def ranker(twin, **parameters):
    return twin.ranker(**{"n_estimators": 4, "learning_rate": 0.2, **parameters})


def fitted(twin, fit=None, **parameters):
    return ranker(twin, **parameters).fit(*FEW, **{"position": FEW_POSITIONS, **(fit or {})})


def stopped_early(twin, stopping, fit=None, **parameters):
    of_ranker, stops = stopping
    watched = {"eval_set": [(VALI_X, VALI_Y)], "eval_qid": [VALI_QID], **stops, **(fit or {})}
    return fitted(twin, watched, n_estimators=100, **parameters, **of_ranker)


def values(bias):
    return np.array(list(bias.values()))


# --- the rule -------------------------------------------------------------------------------------


def lightgbms_own(parameters, dataset, rounds):
    """Scores and factors of LightGBM's LambdaRank, which only writes them to its log."""
    parameters = {**parameters, "objective": "lambdarank", "verbosity": 2}
    with redirect_stdout(io.StringIO()) as log:
        booster = lightgbm.train(parameters, dataset, rounds)
    lines = [line for line in log.getvalue().splitlines() if line.startswith("[LightGBM] [Debug]")]
    rows = [line.split()[-2:] for line in lines]
    return booster, {int(p): float(b) for p, b in (row for row in rows if row[0].isdigit())}


@pytest.mark.slow
@pytest.mark.parametrize("penalty", [0.0, 0.02])
def test_factors_are_those_of_lightgbm(penalty):
    """Gradients are equal too: all pairs, no normalization, and first scores without ties."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1200, 4))
    position = np.concatenate([rng.permutation(12) + 1 for _ in range(100)])
    seen = (x[:, 0] > -0.3) & (rng.random(1200) < position**-0.5)
    y = np.where(seen, rng.integers(0, 4, 1200), 0)
    start = 0.1 * rng.normal(size=1200)
    fit = {"group": [12] * 100, "position": position, "init_score": start}
    options = {"num_leaves": 7, PENALTY: penalty, "deterministic": True, "force_row_wise": True}
    own = {"lambdarank_truncation_level": 1000, "lambdarank_norm": False, "metric": "None"}
    own |= {"min_data_in_leaf": 5, "min_sum_hessian_in_leaf": 0, "num_threads": 1}
    dataset = lightgbm.Dataset(x, y, **fit, params={"verbosity": -1})
    theirs, expected = lightgbms_own({**options, **own}, dataset, 20)
    ours = gb.lightgbm.LGBMGAPRanker(
        objective=gb.LambdaRank(gb.nDCG(), score_distance=None, normalize=False, step=1.0),
        max_bin=255,
        n_estimators=20,
        min_child_samples=5,
        min_child_weight=0.0,
        n_jobs=1,
        verbose=-1,
        **options,
    ).fit(x, y, **fit)
    found = ours.position_bias_
    assert found.keys() == expected.keys() == set(range(1, 13))
    assert np.ptp(values(expected)) > 1
    npt.assert_allclose([found[p] for p in expected], values(expected), rtol=0, atol=3e-5)
    npt.assert_allclose(ours.predict(x), theirs.predict(x), rtol=0, atol=1e-4)


@pytest.mark.parametrize("penalty", [0.0, 0.02])
@pytest.mark.parametrize("how", [gb.LambdaRank(gb.nDCG()), gb.SoftRank(gb.AP())], ids=repr)
@twins
def test_factors_follow_newton_steps(twin, how, penalty):
    """Gradients are those at scores plus factors, and each factor takes LightGBM's Newton step.

    Documents at position 4 weigh nothing.
    """
    rng = np.random.default_rng(1)
    position, start = rng.integers(0, 5, len(Y)), 0.1 * rng.normal(size=len(Y))
    weights = np.where(position == 4, 0.0, rng.uniform(0.5, 2.0, len(Y)))
    options = {
        **twin.no_draws,
        "objective": how,
        "learning_rate": 0.25,
        PENALTY: penalty,
    }
    factors, scores = np.zeros(5), start
    for rounds in range(1, 4):
        grad, hess = how.gradients(Y, scores + factors[position], QID, sample_weight=weights)
        first, second = (np.bincount(position, column) for column in (grad, hess))
        n = np.bincount(position)
        step = (-first - n * penalty * factors) / (second + n * penalty + 0.001)
        factors = factors + 0.25 * step
        ranker = twin.ranker(n_estimators=rounds, **options)
        ranker.fit(X, Y, QID, weights, position=position, **{twin.start: start})
        found = [ranker.position_bias_[i] for i in range(5)]
        npt.assert_allclose(found, factors, rtol=1e-3, atol=1e-5)
        raw = {"base_margin": start} if twin is XGBOOST else {}
        scores = ranker.predict(X, **raw) + (0 if twin is XGBOOST else start)
    assert np.ptp(factors) > 0.01
    assert found[4] == 0


# --- what a user gives ----------------------------------------------------------------------------


KINDS = {
    "list": list,
    "text": lambda p: [f"slot {i:02}" for i in p],
    "categories": lambda p: pd.Categorical([f"slot {i:02}" for i in p]),
    "tuples": lambda p: [("page", i) for i in p.tolist()],
    "floats": lambda p: 0.5 * p,
}


@pytest.mark.parametrize("kind", KINDS)
@twins
def test_positions_of_any_type(twin, kind):
    named, expected = KINDS[kind](FEW_POSITIONS), fitted(twin)
    found = fitted(twin, {"position": named})
    npt.assert_array_equal(found.predict(FEW[0]), expected.predict(FEW[0]))
    for name, p in zip(list(named)[:20], FEW_POSITIONS[:20].tolist(), strict=True):
        assert found.position_bias_[name] == expected.position_bias_[p]
    assert list(found.position_bias_) == sorted(set(named))


@twins
def test_bad_penalties(twin):
    for penalty in (-1, np.nan, np.inf, "much", True, [1]):
        with pytest.raises(ValueError, match=rf"^{PENALTY} is"):
            fitted(twin, **{PENALTY: penalty})
    assert fitted(twin, {"position": None}, **{PENALTY: 0.5}).position_bias_ is None


# --- a fit and its ranker -------------------------------------------------------------------------


@twins
def test_factors_belong_to_a_fit(twin):
    one = ranker(twin)
    assert not hasattr(one, "position_bias_")
    first = one.fit(*FEW, position=FEW_POSITIONS).position_bias_
    assert one.fit(*FEW, position=FEW_POSITIONS).position_bias_ == first
    assert one.fit(*FEW).position_bias_ is None


@twins
def test_copies_know_the_factors_and_vendors_do_not(twin):
    one = fitted(twin, **{PENALTY: 0.25})
    for again in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
        assert again.position_bias_ == one.position_bias_
    again = clone(one).fit(*FEW, position=FEW_POSITIONS)
    assert again.get_params()[PENALTY] == 0.25
    assert again.position_bias_ == one.position_bias_
    vendor = one.to_vendor()
    npt.assert_array_equal(vendor.predict(FEW[0]), one.predict(FEW[0]))
    assert not [name for name in vars(vendor) if "position" in name and name != PENALTY]
    assert twin is LIGHTGBM or PENALTY not in vendor.get_params()


@twins
def test_rows_in_any_order(twin):
    order, grouped = shuffled(RankingDataset(*FEW))
    X, y, qid = FEW
    found, expected = (
        ranker(twin).fit(X[rows], y[rows], qid[rows], position=FEW_POSITIONS[rows])
        for rows in (order, grouped)
    )
    assert found.position_bias_ == expected.position_bias_


@twins
def test_continued_training_goes_on_from_the_factors(twin):
    """Those of new positions start from 0, and those that are not there any more are gone."""
    parameters = {**twin.no_draws, "objective": gb.LambdaRank(gb.AP())}
    first, whole = (fitted(twin, n_estimators=n, **parameters) for n in (3, 6))
    found, afresh = (
        fitted(twin, {twin.continued: model}, n_estimators=3, **parameters)
        for model in (first, booster_of(first))
    )
    expected = values(whole.position_bias_)
    npt.assert_allclose(values(found.position_bias_), expected, rtol=0, atol=1e-5)
    assert np.abs(values(afresh.position_bias_) - expected).max() > 0.05
    renamed = {twin.continued: first, "position": FEW_POSITIONS + 5}
    found = fitted(twin, renamed, n_estimators=1, **parameters)
    assert list(found.position_bias_) == list(range(6, 16))


def n_rounds(one):
    model = booster_of(one)
    return model.num_trees() if hasattr(model, "num_trees") else model.num_boosted_rounds()


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
def test_continued_training_goes_on_from_the_best_iteration(twin, stopping):
    """The rankers keep no trees after it, nor factors; the continued training stops early too."""
    options = {**twin.no_draws, "objective": gb.LambdaRank(gb.AP())}

    def check(model, more):
        before, n = model.position_bias_, n_rounds(model)
        found = fitted(twin, {twin.continued: model}, n_estimators=more, **options)
        assert model.position_bias_ == before
        whole = fitted(twin, n_estimators=n + more, **options)
        expected = values(whole.position_bias_)
        npt.assert_allclose(values(found.position_bias_), expected, rtol=0, atol=1e-4)
        npt.assert_allclose(found.predict(VALI_X), whole.predict(VALI_X), rtol=0, atol=1e-3)
        return found

    stopped = stopped_early(twin, stopping(), **options)
    assert n_rounds(stopped) == stopped.best_iteration_
    once = check(stopped, 2)
    check(pickle.loads(pickle.dumps(once)), 2)
    check(stopped_early(twin, stopping(), {twin.continued: once}, **options), 2)


@twins
def test_positions_that_no_documents_share(twin):
    with pytest.raises(ValueError, match=r"^position has \d+ different values in \d+ rows"):
        twin.ranker().fit(X, Y, QID, position=np.arange(len(Y)))
