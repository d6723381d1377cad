"""Objectives of one's own: what their passes get wrong is an error before training."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.testing as npt
import pytest
from twins import SIZES, TRAIN, gradients, twins

import gapboost as gb
from gapboost.objectives import Objective, Pass


def writes(scores, grad, hess):
    grad[:] = np.tanh(scores + np.linspace(-1, 1, len(scores)))
    hess[:] = 1


def returns(scores, grad, hess):
    return scores + 1, np.ones(len(scores))


def rebinds(scores, grad, hess):
    grad, hess = scores + 1, np.ones(len(scores))  # noqa: F841, the mistake


def forgets_the_last(scores, grad, hess):
    writes(scores[:-1], grad[:-1], hess[:-1])


def forgets_hessians(scores, grad, hess):
    grad[:] = scores + 1


def divides_by_zero(scores, grad, hess):
    writes(scores, grad, hess)
    hess[0] = np.inf


@dataclass(frozen=True, repr=False)
class Own(Objective):
    """Objective whose pass calls a function."""

    how: Callable[..., Any] = field(default=writes, kw_only=True)

    def prepared(self, data, n_jobs=None):
        how = self.how

        class OwnPass(Pass):
            def __call__(self, scores, grad, hess):
                return how(scores, grad, hess)

        return OwnPass()


WRONG = [
    (returns, "grad"),
    (rebinds, "grad"),
    (forgets_the_last, "grad"),
    (forgets_hessians, "hess"),
    (divides_by_zero, "hess"),
]


def fit(twin, how, **more):
    return twin.ranker(objective=Own(gb.AP(), how=how)).fit(TRAIN.X, TRAIN.y, TRAIN.qid, **more)


ENTRIES = {
    "fit": fit,
    "fit with positions": partial(fit, position=np.arange(len(TRAIN)) % 20),
    "train": lambda twin, how: gradients(
        twin, twin.module.objective(Own(gb.AP(), how=how)), np.zeros(len(TRAIN)), TRAIN.y, SIZES
    ),
    "gradients": lambda twin, how: Own(gb.AP(), how=how).gradients(
        TRAIN.y, np.zeros(len(TRAIN)), TRAIN.qid
    ),
}


@pytest.mark.parametrize(("how", "array"), WRONG, ids=[how.__name__ for how, _ in WRONG])
@pytest.mark.parametrize("entry", ENTRIES)
@twins
def test_a_pass_that_leaves_its_arrays_unwritten_trains_nothing(twin, entry, how, array):
    with pytest.raises(ValueError, match=rf"pass of Own.* values in {array}; expected"):
        ENTRIES[entry](twin, how)


@twins
def test_a_pass_that_goes_wrong_in_a_later_round_ends_the_training(twin):
    def overflows(scores, grad, hess):
        writes(scores, grad, hess)
        grad[scores > 0.05] = np.nan

    ranker = twin.ranker(objective=Own(gb.AP(), how=overflows), n_estimators=50)
    with pytest.raises(ValueError, match=r"the pass of Own.* leaves"):
        ranker.fit(TRAIN.X, TRAIN.y, TRAIN.qid)
    assert not ranker.__sklearn_is_fitted__()


@twins
def test_a_pass_that_writes_is_trained_for(twin):
    ranker = twin.ranker(objective=Own(gb.AP())).fit(TRAIN.X, TRAIN.y, TRAIN.qid)
    assert np.ptp(ranker.predict(TRAIN.X)) > 0
    grad, hess = Own(gb.AP()).gradients(TRAIN.y, np.zeros(len(TRAIN)))
    npt.assert_array_equal(grad, np.tanh(np.linspace(-1, 1, len(TRAIN))))
    npt.assert_array_equal(hess, 1)
