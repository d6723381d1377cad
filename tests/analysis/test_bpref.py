"""Binary preference against trec_eval and by hand, and AP correlation against its definition."""

import itertools
import math

import ir_measures
import numpy as np
import pytest
from rankings import judged_run

from gapboost.analysis import bpref, tau_ap


def peer(qrels, run, rel):
    measure = ir_measures.Bpref(rel=rel)
    return {m.query_id: m.value for m in ir_measures.iter_calc([measure], qrels, run)}


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("rel", [1, 2])
def test_as_trec_eval(seed, rel):
    qrels, run = judged_run(seed)
    assert bpref(qrels, run, rel=rel, ties="trec_eval") == pytest.approx(
        peer(qrels, run, rel), abs=1e-12
    )


@pytest.mark.slow
def test_expected_value_over_ties_is_the_mean_over_all_orders():
    rng = np.random.default_rng(0)
    for _ in range(10):
        judgments = dict(zip("abcdefgh", rng.integers(-1, 3, size=8).tolist(), strict=True))
        scores = dict(zip("abcdefxy", rng.integers(0, 3, size=8).tolist(), strict=True))
        groups = [[d for d in scores if scores[d] == s] for s in (2, 1, 0)]
        values = []
        for orders in itertools.product(*(itertools.permutations(group) for group in groups)):
            ranked = list(itertools.chain.from_iterable(orders))
            values.append(
                bpref({"1": judgments}, {"1": {d: -r for r, d in enumerate(ranked)}})["1"]
            )
            if len(values) == 800:
                break
        else:
            assert bpref({"1": judgments}, {"1": scores})["1"] == pytest.approx(
                np.mean(values), abs=1e-12
            )


def test_by_hand():
    qrels = {
        "1": {"a": 1, "b": 0, "c": 0, "d": 1},
        "2": {"a": 0},
        "3": {"a": 1},
        "4": {"a": 1, "b": -1},
    }
    run = {
        "1": {"b": 4.0, "a": 3.0, "c": 2.0, "d": 1.0},
        "2": {"a": 1.0},
        "4": {"b": 2.0, "a": 1.0},
    }
    assert bpref(qrels, run) == {"1": 0.25, "2": 0, "3": 0, "4": 1}


def test_bad_input():
    good = {"1": {"a": 1}}, {"1": {"a": 1.0}}
    for rel in (0, "1"):
        with pytest.raises(ValueError, match="rel is"):
            bpref(*good, rel=rel)
    with pytest.raises(ValueError, match="ties is"):
        bpref(*good, ties="row")
    with pytest.raises(ValueError, match="qrels"):
        bpref({"1": {"a": np.nan}}, good[1])


# --- AP correlation -------------------------------------------------------------------------------


def naive(estimated, truth):
    """The definition, for distinct estimates."""
    ranked = np.argsort(-np.asarray(estimated))
    total = 0.0
    for i in range(1, len(ranked)):
        for m in ranked[:i]:
            total += ((truth[m] > truth[ranked[i]]) + 0.5 * (truth[m] == truth[ranked[i]])) / i
    return 2 * total / (len(ranked) - 1) - 1


def test_tau_ap_is_its_definition():
    rng = np.random.default_rng(1)
    for n in (2, 3, 10, 50):
        for _ in range(20):
            estimated, truth = rng.permutation(n), rng.integers(0, n, size=n)
            assert tau_ap(estimated, truth) == pytest.approx(naive(estimated, truth), abs=1e-12)
    order = np.arange(9)
    assert tau_ap(order, order) == pytest.approx(1)
    assert tau_ap(order, -order) == pytest.approx(-1)
    # a mistake at the top costs more than one at the bottom
    assert tau_ap([3, 4, 2, 1], [4, 3, 2, 1]) < tau_ap([4, 3, 1, 2], [4, 3, 2, 1])


def test_tied_estimates_count_the_mean_over_their_orders():
    rng = np.random.default_rng(2)
    for _ in range(20):
        estimated, truth = rng.integers(0, 3, size=6), rng.integers(0, 6, size=6)
        groups = [np.flatnonzero(estimated == s).tolist() for s in (2, 1, 0)]
        values = []
        for orders in itertools.product(*(itertools.permutations(group) for group in groups)):
            scores = np.empty(6)
            scores[list(itertools.chain.from_iterable(orders))] = -np.arange(6)
            values.append(naive(scores, truth))
        assert tau_ap(estimated, truth) == pytest.approx(math.fsum(values) / len(values), abs=1e-12)


def test_tau_ap_refuses_what_is_no_ranking():
    with pytest.raises(ValueError, match="truth has 1 systems"):
        tau_ap([1.0], [1.0])
    with pytest.raises(ValueError, match="estimated"):
        tau_ap([1.0, 2.0, 3.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="truth"):
        tau_ap([1.0, 2.0], [1.0, math.nan])
