"""Native callbacks where XGBoost's workers communicate: two workers train as one process does."""

from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from multiprocessing import get_context

import numpy.testing as npt
import pandas as pd
import pytest
import xgboost
from on_cluster import features, ranking
from xgboost.collective import CommunicatorContext
from xgboost.tracker import RabitTracker

import gapboost as gb
from gapboost.xgboost import eval_metric, objective

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

PARAMETERS = {"base_score": 0.0, "disable_default_eval_metric": 1, "eta": 0.1, "max_depth": 3}
ROUNDS = 40


def matrix(frame):
    """Return rows of `ranking` as XGBoost's data, with weights of the queries."""
    made = xgboost.DMatrix(features(frame), label=frame.y, nthread=1)
    of_queries = frame.groupby("qid", sort=False)
    made.set_group(of_queries.size())
    if len(frame):
        made.set_weight(of_queries.weight.first())
        made.set_base_margin(frame.start)
    return made


def trained(train, valid, how, rounds, arguments=None):
    """Train one worker; return the metrics by round, the best round, and the model.

    The weight of a document grows with its initial score.
    """
    with CommunicatorContext(**arguments) if arguments else nullcontext():
        history = {}
        data = matrix(train)
        booster = xgboost.train(
            {**PARAMETERS, "nthread": 1},
            data,
            rounds,
            evals=[(data, "train"), (matrix(valid), "valid")],
            obj=objective(how, weight=train.weight * (1.0 + train.start)),
            custom_metric=eval_metric(["ndcg@5", "gap"]),
            early_stopping_rounds=3,
            evals_result=history,
            verbose_eval=False,
        )
        return history, booster.best_iteration, booster.save_raw("json")


@pytest.fixture(scope="module")
def pool():
    # First in this process, so that the kernels are not compiled in two others.
    trained(ranking(20, 0), ranking(20, 1), gb.SoftRank(gb.GAP()), 1)
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
        xgboost.Booster(model_file=bytearray(model)).predict(
            xgboost.DMatrix(features(data), nthread=1)
        )
        for *_, model in (*reports, expected)
    ]
    for found in scores[:-1]:
        npt.assert_allclose(found, scores[-1], atol=1e-4)


def test_two_workers_report_what_one_process_does(pool):
    """The second one has no validation rows and lacks the highest grade: g is that of all."""
    train, valid = ranking(80, 8, longest=9), ranking(20, 9, longest=9)
    low = train.groupby("qid").y.transform("max") < 2
    assert low.any()
    parts = [(train[~low], valid), (train[low], valid[:0])]
    expected = trained(train, valid, "gap", ROUNDS)
    reports = together(pool, parts, "gap", ROUNDS)
    assert 0 < expected[1] < ROUNDS - 4  # it does stop early
    for history, best, _ in reports:
        assert best == expected[1]
        for name, of_set in expected[0].items():
            for metric, values in of_set.items():
                npt.assert_allclose(history[name][metric], values, atol=2e-6)
    check_models(reports, expected, valid)


@pytest.mark.parametrize("share", [1.0, 0.0])
@pytest.mark.parametrize("how", ["gap", gb.SoftRank(gb.GAP())], ids=["LambdaRank", "SoftRank"])
def test_gradients_are_those_of_all_rows(pool, how, share):
    """The first worker has the short queries, which may weigh nothing.

    Weights vary within a query.
    """
    data = ranking(60, 8)
    sizes = data.groupby("qid").qid.transform("size")
    short = sizes <= sizes.median()
    data.loc[short, "weight"] *= share
    parts = [data[short], data[~short]]
    whole = pd.concat(parts)
    expected = trained(whole, whole, how, 5)
    reports = together(pool, [(part, part) for part in parts], how, 5)
    for history, *_ in reports:
        npt.assert_allclose(history["valid"]["map-gap"], expected[0]["valid"]["map-gap"], atol=2e-6)
    check_models(reports, expected, whole)
