"""`random_state`: equal ones draw the same, of whatever kind, and others draw something else."""

import numpy as np
import pytest
from bad_input import X
from good_calls import FUNCTIONS
from twins import LIGHTGBM, TRAIN, VALI, twins

# What is drawn by a function of `good_calls`.
DRAWN = {
    "g_from_clicks": lambda found: found.low,
    "GSearchCV": lambda found: found.cv_results_["split0_test_score"],
    "load_digits_ranking": lambda found: found.train.qid,
    "local_optimality": lambda found: found.changes,
    "significance": lambda found: found.randomization,
    "discriminative_power": lambda found: found.asl,
    "LGBMGAPRanker": lambda found: found.predict(X),
    "XGBGAPRanker": lambda found: found.predict(X),
}


KINDS = [int, np.random.RandomState, np.random.default_rng]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", DRAWN)
def test_what_is_drawn_follows_it(function, kind):
    call, good = FUNCTIONS[function]

    def drawn(seed):
        return DRAWN[function](call(**{**good, "random_state": kind(seed)}))

    first = drawn(0)
    np.testing.assert_array_equal(first, drawn(0))
    assert any(not np.array_equal(first, drawn(seed)) for seed in range(1, 6))


@twins
@pytest.mark.parametrize("kind", KINDS)
def test_an_evaluation_set_changes_no_draw(twin, kind):
    options = {"subsample_freq": 1} if twin is LIGHTGBM else {}
    found = [
        twin.fitted(evals=evals, random_state=kind(0), subsample=0.5, **options)
        for evals in ([], [VALI])
    ]
    np.testing.assert_array_equal(*(ranker.predict(TRAIN.X) for ranker in found))
