"""`random_state`: equal ones draw the same, of whatever kind, and others draw something else."""

import numpy as np
import pytest
from bad_input import X
from good_calls import FUNCTIONS

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


@pytest.mark.parametrize("kind", [int, np.random.RandomState, np.random.default_rng])
@pytest.mark.parametrize("function", DRAWN)
def test_what_is_drawn_follows_it(function, kind):
    call, good = FUNCTIONS[function]

    def drawn(seed):
        return DRAWN[function](call(**{**good, "random_state": kind(seed)}))

    first = drawn(0)
    np.testing.assert_array_equal(first, drawn(0))
    assert any(not np.array_equal(first, drawn(seed)) for seed in range(1, 6))
