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


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.parametrize("valid_of", ["both", "one", "one weighs nothing"])
def test_two_workers_report_what_one_process_does(valid_of, tmp_path):
    """The second worker lacks the highest grade: g=None is that of all labels."""
    train, valid = ranking(80, 8), ranking(20, 9)
    seconds = np.flatnonzero(~of_highest_grade(train, 80))[:20]
    firsts = np.setdiff1d(np.arange(80), seconds)
    assert len(seconds) >= 3
    halves = {"both": np.arange(4), "one": np.arange(0), "one weighs nothing": np.arange(4)}[valid_of]
    if valid_of == "one weighs nothing":
        valid[3][halves] = 0.0
    others = np.setdiff1d(np.arange(20), halves)
    reports = trained_by(
        [
            (queries(train, firsts), queries(valid, others), MEASURES, "gap", ROUNDS),
            (queries(train, seconds), queries(valid, halves), MEASURES, "gap", ROUNDS),
        ],
        tmp_path,
    )
    alone, best, model = trained(train, valid, MEASURES, "gap", ROUNDS)
    assert 0 < best < ROUNDS - 4  # it does stop early
    for history, best_here, model_here in reports:
        assert best_here == best
        for name, of_set in alone.items():
            for metric, course in of_set.items():
                npt.assert_allclose(history[name][metric], course, atol=2e-6)
        npt.assert_allclose(predictions(model_here, valid[0]), predictions(model, valid[0]), atol=1e-4)


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    ("how", "spread"), [(gb.SoftRank(gb.GAP()), 4.0), (gb.LambdaRank(gb.GAP()), 0.0)], ids=["smooth", "ties"]
)
def test_gradients_are_those_of_the_whole(how, spread, tmp_path):
    """Gradients of two workers equal those of one: the first worker has the short queries.

    Weights of documents vary within a query only if their initial scores do.
    """
    X, y, sizes, weight, start = ranking(60, 8, longest=20)
    data = X, y, sizes, weight, spread * start
    by_length = np.argsort(sizes, kind="stable")
    parts = [queries(data, np.sort(by_length[:30])), queries(data, np.sort(by_length[30:]))]
    whole = [np.concatenate(columns) for columns in zip(*parts, strict=True)]
    reports = trained_by([(part, part, MEASURES, how, 5) for part in parts], tmp_path)
    _, _, model = trained(whole, whole, MEASURES, how, 5)
    for _, _, model_here in reports:
        npt.assert_allclose(predictions(model_here, X), predictions(model, X), atol=1e-4)


def test_positions_are_refused_where_several_workers_train(monkeypatch):
    monkeypatch.setattr(xgboost.collective, "get_world_size", lambda: 2)
    monkeypatch.setattr(xgboost.collective, "allreduce", lambda values, _: values)
    X, y, sizes, *_ = ranking(4, 0)
    matrix = xgboost.DMatrix(X, label=y, nthread=1)
    matrix.set_group(sizes)
    with pytest.raises(ValueError, match=r"position.*several workers"):
        gb.xgboost.objective(position=np.arange(len(y)))(np.zeros(len(y)), matrix)
