"""Kernels for a GPU against the processor's gradients and values.

On a machine without one: ``NUMBA_ENABLE_CUDASIM=1 pytest tests/boosters/test_gpu.py`` runs the
same kernels in numba-cuda's simulator, document by document: lists are short here.
"""

import numpy as np
import pytest
from numba import config

import gapboost as gb
from gapboost._boosters.gradients import Gradients
from gapboost.data.query_data import group_by_query
from gapboost.evaluation import QueryValues

xgboost = pytest.importorskip("xgboost")
cuda = pytest.importorskip("numba.cuda", reason="numba-cuda is not installed")
if not config.ENABLE_CUDASIM:
    pytest.importorskip("cupy", reason="neither CuPy nor numba-cuda's simulator is at hand")
if not cuda.is_available():
    pytest.skip("there is no GPU", allow_module_level=True)

ours = pytest.importorskip("gapboost.xgboost")
on_gpu = pytest.importorskip("gapboost.xgboost.cuda", exc_type=ImportError)

SIZES = [2, 6, 9, 1]
QID = np.repeat(np.arange(len(SIZES)), SIZES)
WEIGHTS = np.linspace(0.5, 1.5, len(SIZES))
G = (0.2, 0.3, 0.5)
MEASURES = [
    gb.GAP(g=G),
    gb.xGAP(g=G),
    gb.eGAP(g=G),
    gb.AP(rel=2),
    gb.nDCG(),
    gb.nDCG(k=3),
    gb.Precision(k=5),
    gb.RBP(),
    gb.Recall(k=4),
    gb.KendallTau(),
    gb.SpearmanRho(),
    gb.grAP(top=3),
    0.5 * gb.AP() + 0.5 * gb.nDCG(k=4),
]
OPTIONS = [
    {},
    {"score_distance": None, "normalize": False, "sigma": 2.0, "truncation": 3},
    {"score_distance": 0.1, "truncation": 4, "random_state": 3},
]
OF_TILES = [{"score_distance": None}, {"sigma": 2.0, "normalize": False}]


def host(array):
    return array.get() if hasattr(array, "get") else np.asarray(array)


def rows(fractional=False):
    """Grades and scores with ties, float32 as XGBoost passes them."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 7, len(QID)) / 2 if fractional else rng.integers(0, 4, len(QID))
    return y, rng.normal(size=len(QID)).round(1).astype(np.float32)


def check_gradients(objective, y, scores, weights=None):
    """Compare gradients with the processor's: pairs are float32."""
    wanted = objective.gradients(y, scores.astype(np.float64), QID, sample_weight=weights)
    data = group_by_query(y, QID, sample_weight=weights, real=True)
    compute = on_gpu.DeviceGradients(Gradients(objective, data))
    for found, expected in zip(compute(scores), wanted, strict=True):
        np.testing.assert_allclose(host(found), expected, rtol=0, atol=1e-6 * abs(expected).max())


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_gradients(measure, options):
    check_gradients(gb.LambdaRank(measure, **options), *rows(), WEIGHTS)


@pytest.fixture
def tiles(monkeypatch):
    """Lists of more than 4 documents are long, with several tiles."""
    monkeypatch.setattr(on_gpu, "LONGEST_BY_PAIRS", 4)
    monkeypatch.setattr(on_gpu, "TILE", 2)


@pytest.mark.parametrize("options", OF_TILES, ids=str)
@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_sums_over_tiles(measure, options, tiles):
    test_gradients(measure, options)


OF_FRACTIONS = gb.GAP(g=G, levels=(1, 2, 3))
OF_ROWS = np.linspace(0.5, 2.0, len(QID))


@pytest.mark.parametrize("distance", [None, 0.1, 0.001])
@pytest.mark.parametrize("stretch", [0.0, 40.0])
def test_sums_over_tiles_of_equal_and_distant_scores(stretch, distance, tiles):
    """Scores that the fitted sums do not reach go pair by pair."""
    y, scores = rows(fractional=True)
    objective = gb.LambdaRank(OF_FRACTIONS, score_distance=distance)
    check_gradients(objective, y, np.float32(stretch) * scores, OF_ROWS)


@pytest.mark.parametrize("zero", [np.float32(0.0), np.float32(-0.0)])
def test_ties_have_the_processors_order(zero):
    objective = gb.LambdaRank(gb.GAP(g=G), score_distance=0.1, random_state=7)
    check_gradients(objective, rows()[0], np.full(len(QID), zero))


def test_fractional_grades_and_weights_of_rows():
    check_gradients(gb.LambdaRank(OF_FRACTIONS), *rows(fractional=True), OF_ROWS)


@pytest.mark.parametrize("fractional", [False, True])
def test_values(fractional):
    y, scores = rows(fractional)
    measures = [gb.GAP(g=G, levels=(1, 2, 3)), gb.nDCG(gains="linear", k=3)]
    measures = measures if fractional else MEASURES
    data = group_by_query(y, QID, real=True)
    found = on_gpu.DeviceValues(measures, data)(scores)
    expected = QueryValues(measures, data)(scores.astype(np.float64))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def small_task():
    rng = np.random.default_rng(1)
    qid = np.repeat(np.arange(8), 6)
    X = rng.normal(size=(len(qid), 3)).astype(np.float32)
    return X, np.clip(np.rint(X[:, 0] + 1), 0, 2).astype(int), qid


@pytest.mark.filterwarnings("ignore:.*(GPU|CUDA|gpu|cuda)")  # XGBoost without one
def test_fits():
    """A ranker and the native callbacks train on the device what they train on the processor."""
    X, y, qid = small_task()
    evaluation = {"eval_set": [(X, y)], "eval_qid": [qid]}
    parameters = {"n_estimators": 3, "max_depth": 2, "min_child_weight": 0.1}
    local, device = (
        ours.XGBGAPRanker(device=name, **parameters).fit(X, y, qid, **evaluation)
        for name in ("cpu", "cuda")
    )
    np.testing.assert_allclose(device.predict(X), local.predict(X), atol=1e-5)
    values = [one.evals_result_["validation_0"]["gap"] for one in (local, device)]
    np.testing.assert_allclose(*values, atol=1e-5)
    native = xgboost.train(
        {**local._train_parameters(local.get_xgb_params(), len(y)), "device": "cpu"},
        matrix := xgboost.DMatrix(X, y, qid=qid),
        3,
        obj=ours.objective(device="cuda"),
        custom_metric=ours.eval_metric(device="cuda"),
        evals=[(matrix, "train")],
        evals_result=(log := {}),
        verbose_eval=False,
    )
    np.testing.assert_allclose(native.predict(matrix), local.predict(X), atol=1e-5)
    np.testing.assert_allclose(log["train"]["map-gap"], values[0], atol=1e-5)
