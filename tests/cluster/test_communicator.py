"""Native callbacks where XGBoost's workers communicate: two workers train as one process does."""

from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np
import numpy.testing as npt
import pytest
import xgboost
from xgboost.collective import CommunicatorContext
from xgboost.tracker import RabitTracker

import gapboost as gb
from gapboost.xgboost import eval_metric, objective

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

PARAMETERS = {"base_score": 0.0, "disable_default_eval_metric": 1, "eta": 0.1, "max_depth": 3}
ROUNDS = 40


class Queries(NamedTuple):
    """Rows of queries, weights of the queries, and initial scores of the rows."""

    X: np.ndarray
    y: np.ndarray
    sizes: np.ndarray
    weight: np.ndarray
    start: np.ndarray

    def choose(self, chosen):
        rows = np.isin(np.repeat(np.arange(len(self.sizes)), self.sizes), chosen)
        of_rows = (column[rows] for column in (self.X, self.y, self.start))
        X, y, start = of_rows
        return Queries(X, y, self.sizes[chosen], self.weight[chosen], start)

    def matrix(self):
        matrix = xgboost.DMatrix(self.X, label=self.y, nthread=1)
        matrix.set_group(self.sizes)
        if len(self.sizes):
            matrix.set_weight(self.weight)
            matrix.set_base_margin(self.start)
        return matrix


def queries(n, seed, longest=9):
    """Return queries whose features have few values, so that workers agree on the bins.

    No two initial scores are equal, as the order of ties would depend on the order of the rows.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, longest, n)
    X = rng.integers(0, 40, (sizes.sum(), 4)).astype(np.float32)
    y = np.digitize(X[:, 0] + X[:, 1] + 12 * rng.standard_normal(len(X)), [45, 60])
    weight = rng.integers(1, 4, n).astype(float)
    return Queries(X, y, sizes, weight, rng.permutation(len(X)) / (4 * len(X)))


def trained(train, valid, how, rounds, arguments=None):
    """Train one worker; return the metrics by round, the best round, and the model.

    The weight of a document grows with its initial score.
    """
    with CommunicatorContext(**arguments) if arguments else nullcontext():
        history = {}
        data = train.matrix()
        booster = xgboost.train(
            {**PARAMETERS, "nthread": 1},
            data,
            rounds,
            evals=[(data, "train"), (valid.matrix(), "valid")],
            obj=objective(how, weight=np.repeat(train.weight, train.sizes) * (1.0 + train.start)),
            custom_metric=eval_metric(["ndcg@5", "gap"]),
            early_stopping_rounds=3,
            evals_result=history,
            verbose_eval=False,
        )
        return history, booster.best_iteration, booster.save_raw("json")


@pytest.fixture(scope="module")
def pool():
    # First in this process, so that the kernels are not compiled in two others.
    trained(queries(20, 0), queries(20, 1), gb.SoftRank(gb.GAP()), 1)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as opened:
        yield opened


def together(pool, parts, *how):
    """Return what each of two workers reports, which trains on its part."""
    tracker = RabitTracker(n_workers=2, host_ip="127.0.0.1", sortby="task")
    tracker.start()
    arguments = tracker.worker_args()
    found = [
        pool.submit(trained, *part, *how, {**arguments, "dmlc_task_id": str(rank)})
        for rank, part in enumerate(parts)
    ]
    reports = [future.result(120) for future in found]
    tracker.wait_for()
    return reports


def check_models(reports, expected, data):
    scores = [
        xgboost.Booster(model_file=bytearray(model)).predict(xgboost.DMatrix(data.X, nthread=1))
        for *_, model in (*reports, expected)
    ]
    for found in scores[:-1]:
        npt.assert_allclose(found, scores[-1], atol=1e-4)


@pytest.mark.parametrize("case", ["a worker has no validation rows", "they weigh nothing"])
def test_two_workers_report_what_one_process_does(case, pool):
    """The second worker lacks the highest grade: g=None is that of all labels."""
    train, valid = queries(80, 8), queries(20, 9)
    highest = np.maximum.reduceat(train.y, np.cumsum(train.sizes) - train.sizes)
    seconds = np.flatnonzero(highest < 2)[:20]
    assert len(seconds) >= 3
    some = np.arange(0 if case == "a worker has no validation rows" else 4)
    valid.weight[some] = 0.0
    parts = [
        (train.choose(np.setdiff1d(np.arange(80), seconds)),
         valid.choose(np.setdiff1d(np.arange(20), some))),
        (train.choose(seconds), valid.choose(some)),
    ]  # fmt: skip
    expected = trained(train, valid, "gap", ROUNDS)
    reports = together(pool, parts, "gap", ROUNDS)
    assert 0 < expected[1] < ROUNDS - 4  # it does stop early
    for history, best, _ in reports:
        assert best == expected[1]
        for name, of_set in expected[0].items():
            for metric, values in of_set.items():
                npt.assert_allclose(history[name][metric], values, atol=2e-6)
    check_models(reports, expected, valid)


def test_gradients_are_those_of_all_rows(pool):
    """The first worker has the short queries; weights vary within a query."""
    data = queries(60, 8, longest=20)
    data = data._replace(start=4.0 * data.start)
    order = np.argsort(data.sizes, kind="stable")
    parts = [data.choose(np.sort(chosen)) for chosen in (order[:30], order[30:])]
    whole = Queries(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    how = gb.SoftRank(gb.GAP()), 5
    expected = trained(whole, whole, *how)
    check_models(together(pool, [(part, part) for part in parts], *how), expected, whole)
