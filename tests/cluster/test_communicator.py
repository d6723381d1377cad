"""Metrics and g wherever XGBoost's workers talk to each other: what one process on all data has."""

import numpy as np
import numpy.testing as npt
import pytest
import xgboost
from communicator import queries, ranking, trained, trained_by

import gapboost as gb
import gapboost.xgboost

MEASURES = ["ndcg@5", gb.GAP()]  # early stopping goes by the last
ROUNDS = 40


def predictions(model, X):
    return xgboost.Booster(model_file=bytearray(model)).predict(xgboost.DMatrix(X, nthread=1))


def of_highest_grade(found, n_queries):
    y, sizes = found[1], found[2]
    return np.maximum.reduceat(y, np.cumsum(sizes) - sizes) == 2


VALID_OF = ["both", "one", "one weighs nothing"]


def halves(valid_of):
    """Return the parts of two workers, and the arguments of one process that trains on all data.

    The second worker lacks the highest grade.
    """
    train, valid = ranking(80, 8), ranking(20, 9)
    seconds = np.flatnonzero(~of_highest_grade(train, 80))[:20]
    firsts = np.setdiff1d(np.arange(80), seconds)
    assert len(seconds) >= 3
    half = np.arange(0 if valid_of == "one" else 4)
    if valid_of == "one weighs nothing":
        valid[3][half] = 0.0
    others = np.setdiff1d(np.arange(20), half)
    parts = [
        (queries(train, firsts), queries(valid, others), MEASURES, "gap", ROUNDS),
        (queries(train, seconds), queries(valid, half), MEASURES, "gap", ROUNDS),
    ]
    return parts, (train, valid, MEASURES, "gap", ROUNDS)


# Ties are ordered by random keys of each worker.
HOW = {"smooth": (gb.SoftRank(gb.GAP()), 4.0), "pairs": (gb.LambdaRank(gb.GAP()), 4.0)}


def by_length(how, spread):
    """Return what `halves` returns; the first worker has the short queries.

    Weights of documents vary within a query only if their initial scores do.
    """
    X, y, sizes, weight, start = ranking(60, 8, longest=20)
    data = X, y, sizes, weight, spread * start
    order = np.argsort(sizes, kind="stable")
    parts = [queries(data, np.sort(order[:30])), queries(data, np.sort(order[30:]))]
    whole = [np.concatenate(columns) for columns in zip(*parts, strict=True)]
    return [(part, part, MEASURES, how, 5) for part in parts], (whole, whole, MEASURES, how, 5)


@pytest.fixture(scope="module")
def trainings(tmp_path_factory):
    """By case: the data of one process, its report, and the reports of two workers."""
    cases = {name: halves(name) for name in VALID_OF} | {
        name: by_length(*how) for name, how in HOW.items()
    }
    # First in this process, so that its kernels are not compiled in two others.
    alone = [trained(*whole) for _, whole in cases.values()]
    together = trained_by(
        [parts for parts, _ in cases.values()], tmp_path_factory.mktemp("communicator")
    )
    wholes = [whole for _, whole in cases.values()]
    return dict(zip(cases, zip(wholes, alone, together, strict=True), strict=True))


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.parametrize("valid_of", VALID_OF)
def test_two_workers_report_what_one_process_does(valid_of, trainings):
    """The second worker lacks the highest grade: g=None is that of all labels."""
    (_, valid, *_), (alone, best, model), reports = trainings[valid_of]
    assert 0 < best < ROUNDS - 4  # it does stop early
    for history, best_here, model_here in reports:
        assert best_here == best
        for name, of_set in alone.items():
            for metric, course in of_set.items():
                npt.assert_allclose(history[name][metric], course, atol=2e-6)
        npt.assert_allclose(
            predictions(model_here, valid[0]), predictions(model, valid[0]), atol=1e-4
        )


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.parametrize("how", HOW)
def test_gradients_are_those_of_the_whole(how, trainings):
    """Gradients of two workers equal those of one: the first worker has the short queries."""
    (whole, *_), (_, _, model), reports = trainings[how]
    for _, _, model_here in reports:
        npt.assert_allclose(
            predictions(model_here, whole[0]), predictions(model, whole[0]), atol=1e-4
        )
