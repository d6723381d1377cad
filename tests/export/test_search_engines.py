"""Models written for search engines, read again as the engines read them."""

import functools
import json
import operator

import engines as engines_as_documented
import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
import xgboost
from engines import ltr_plugin_scores, solr_scores, vespa_scores
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from twins import LIGHTGBM, TEST, TRAIN, VALI, XGBOOST, twins

from gapboost.export import write_ltr_plugin, write_solr, write_vespa
from gapboost.export.verify import differences, main
from gapboost.preprocessing import query_relative_features

ENGINES = {
    "ltr_plugin": (write_ltr_plugin, ltr_plugin_scores),
    "solr": (write_solr, solr_scores),
    "vespa": (write_vespa, vespa_scores),
}
engines = pytest.mark.parametrize("engine", ENGINES)

N = TRAIN.n_features
NAMES = [f"field{(i + 7) % N}" for i in range(N)]
X, V, T = (data.X.astype(np.float32) for data in (TRAIN, VALI, TEST))
SCALES = np.float32(10.0) ** np.linspace(-3, 12, N).astype(np.float32)
LETTERS = np.array(list("hbfdaecg"))


def with_gaps(rows):
    return np.where(np.random.default_rng(1).random(rows.shape) < 0.3, np.nan, rows)


def frame(data):
    """Columns of which the first category has one value, so that LightGBM leaves it out."""
    codes = np.random.default_rng(len(data)).choice([1, 4, 6], len(data)) + data.y % 2
    return pd.DataFrame(
        {
            "x": data.X[:, 0],
            "only": pd.Categorical(["one"] * len(data)),
            "letter": pd.Categorical(LETTERS[codes], categories=sorted(LETTERS)),
            "y": np.where(data.X[:, 1] > 1, np.nan, data.X[:, 1]),
        }
    )


def fit(twin, rows=X, **parameters):
    return twin.ranker(**{"n_estimators": 10, **parameters}).fit(rows, TRAIN.y, TRAIN.qid)


def stopped(twin):
    parameters, arguments = twin.stopping(3)
    ranker = twin.ranker(n_estimators=100, learning_rate=0.3, **parameters).fit(
        X, TRAIN.y, TRAIN.qid, eval_set=(V, VALI.y), eval_qid=VALI.qid, **arguments
    )
    assert 0 < ranker.best_iteration_ < 90
    return ranker


def started(twin):
    start = {twin.start: np.sin(np.arange(len(TRAIN)))}
    parameters = {} if twin is LIGHTGBM else {"base_score": 0.25}
    return twin.ranker(**parameters).fit(X, TRAIN.y, TRAIN.qid, **start)


def booster(twin):
    ranker = fit(twin)
    return ranker.booster_ if twin is LIGHTGBM else ranker.get_booster()


def vendor(twin):
    return twin.vendor(
        n_estimators=5, n_jobs=1, **({"verbose": -1} if twin is LIGHTGBM else {})
    ).fit(X, TRAIN.y.astype(int), **({"group": np.unique(TRAIN.qid, return_counts=True)[1]}))


# One row a model: how it is trained, and rows to score.
BOTH = {
    "plain": (fit, T),
    "float64": (lambda twin: fit(twin, TRAIN.X), TEST.X),
    "missing": (lambda twin: fit(twin, with_gaps(X)), with_gaps(T)),
    "missing later": (fit, with_gaps(T)),
    "stopped": (stopped, T),
    "started": (started, T),
    "stumps": (
        lambda twin: fit(twin, **({"num_leaves": 2} if twin is LIGHTGBM else {"max_depth": 1})),
        T,
    ),
    "deep": (
        lambda twin: fit(
            twin, with_gaps(X), **({"num_leaves": 63} if twin is LIGHTGBM else {"max_depth": 8})
        ),
        with_gaps(T),
    ),
    "scales": (lambda twin: fit(twin, X * SCALES), T * SCALES),
    "integers": (lambda twin: fit(twin, np.round(X - 5)), np.round(T - 5)),
    "negative": (lambda twin: fit(twin, -X), -T),
    "sampled": (
        lambda twin: (
            fit(twin, subsample=0.7, subsample_freq=1, colsample_bytree=0.5)
            if twin is LIGHTGBM
            else fit(twin, subsample=0.7, colsample_bytree=0.5)
        ),
        T,
    ),
    "booster": (booster, T),
    "vendor": (vendor, T),
}
LIGHTGBM_ALONE = {
    "dart": (lambda twin: fit(twin, boosting_type="dart", drop_rate=0.5), T),
    "goss": (lambda twin: fit(twin, data_sample_strategy="goss"), T),
}
XGBOOST_ALONE = {
    "dart": (lambda twin: fit(twin, booster="dart", rate_drop=0.5), T),
    "parallel": (lambda twin: fit(twin, num_parallel_tree=3, subsample=0.7), T),
}
MODELS = [
    *((LIGHTGBM, name, *row) for name, row in {**BOTH, **LIGHTGBM_ALONE}.items()),
    *((XGBOOST, name, *row) for name, row in {**BOTH, **XGBOOST_ALONE}.items()),
]
models = pytest.mark.parametrize(
    "number", range(len(MODELS)), ids=[f"{m[0].name}-{m[1]}" for m in MODELS]
)


@functools.cache
def trained(number):
    twin, _, train, rows = MODELS[number]
    return twin, train(twin), rows


def predicted(model, rows):
    if isinstance(model, xgboost.Booster):
        return model.inplace_predict(rows)
    return model.predict(rows)


def exported(engine, model, rows, folder, feature_names=NAMES):
    """Content of the two files."""
    verification = ENGINES[engine][0](model, rows, folder / "gap.json", feature_names=feature_names)
    assert verification == folder / "gap.verification.json"
    return json.loads((folder / "gap.json").read_text()), json.loads(verification.read_text())


def listed(rows):
    return [[None if np.isnan(value) else float(value) for value in row] for row in rows]


@pytest.mark.slow(keep=6)
@models
@engines
def test_engines_predict_the_same(engine, number, tmp_path):
    assert len(MODELS) >= 30
    _, model, rows = trained(number)
    content, checks = exported(engine, model, rows[:40], tmp_path)
    found = ENGINES[engine][1](content, NAMES, checks["rows"])
    npt.assert_allclose(found, checks["scores"], rtol=0, atol=1e-6)
    assert differences(checks, found) == []
    others = rows[40:140]
    if engine != "vespa":
        others = others.astype(np.float32)
    npt.assert_allclose(
        ENGINES[engine][1](content, NAMES, listed(others)),
        predicted(model, others),
        rtol=0,
        atol=1e-6,
    )
    assert np.ptp(found) > 0.05


def test_solr_reads_the_example_of_its_guide():
    """Holds the reader itself: "Managing features' null values" of Solr's reference guide."""
    product = {
        "feature": "product",
        "threshold": "0",
        "missing": "left",
        "left": {"value": "50"},
        "right": {"value": "65"},
    }
    root = {
        "feature": "title",
        "threshold": "0.5",
        "missing": "right",
        "left": {"value": "-100"},
        "right": product,
    }
    content = {
        "class": "org.apache.solr.ltr.model.MultipleAdditiveTreesModel",
        "name": "model",
        "features": [{"name": "title"}, {"name": "product"}],
        "params": {"isNullSameAsZero": "false", "trees": [{"weight": "1", "root": root}]},
    }
    assert solr_scores(content, ["title", "product"], [[0, 9], [1, 9], [1, 0], [1, None]]) == [
        -100,
        65,
        50,
        50,
    ]


# --- names, categories, constants -----------------------------------------------------------------


@twins
@engines
def test_names_come_from_the_data_frame(twin, engine, tmp_path):
    table = pd.DataFrame(X[:, :3], columns=["a b", "bm25(title)", "f0"])
    model = fit(twin, table)
    content, checks = exported(engine, model, table[:10], tmp_path, None)
    assert checks["feature_names"] == list(table)
    # The engine may hold more features, in another order.
    others = ["more", *reversed(table.columns)]
    rows = [[1e9, *reversed(row)] for row in checks["rows"]]
    npt.assert_allclose(
        ENGINES[engine][1](content, others, rows), checks["scores"], rtol=0, atol=1e-6
    )
    with pytest.raises(ValueError, match=r"X lacks the column 'f0'.* expected a"):
        exported(engine, model, table.rename(columns={"f0": "f1"}), tmp_path, None)
    array = model.booster_ if twin is LIGHTGBM else model.get_booster()
    known = exported(engine, array, X[:10, :3], tmp_path, None)[1]["feature_names"]
    assert known == (["a_b", "bm25(title)", "f0"] if twin is LIGHTGBM else list(table))


@pytest.fixture(scope="module")
def with_categories():
    table = frame(TRAIN)
    model = LIGHTGBM.ranker(n_estimators=10, min_data_per_group=5, cat_smooth=1.0)
    return model.fit(table, TRAIN.y, TRAIN.qid)


def test_vespa_takes_categories_of_lightgbm(with_categories, tmp_path):
    table = frame(TEST)
    table.loc[:10, "letter"] = np.nan
    content, checks = exported("vespa", with_categories, table[:60], tmp_path, None)
    assert content["pandas_categorical"] == [sorted(LETTERS)]
    assert {"a", "g"} <= {row[2] for row in checks["rows"]}
    found = vespa_scores(content, list(table), checks["rows"])
    npt.assert_allclose(found, checks["scores"], rtol=0, atol=1e-6)
    npt.assert_allclose(found[:60], with_categories.predict(table[:60]), rtol=0, atol=1e-6)
    assert len(set(np.round(found, 6))) > 10


@pytest.mark.parametrize("engine", ["ltr_plugin", "solr"])
def test_other_engines_refuse_categories(engine, with_categories, tmp_path):
    with pytest.raises(
        ValueError, match=r"feature 'letter' by category.*one column of 0 and 1 for each category"
    ):
        exported(engine, with_categories, frame(TEST), tmp_path, None)
    assert not list(tmp_path.iterdir())


def test_vespa_refuses_categories_without_text(tmp_path):
    codes = np.random.default_rng(0).integers(0, 4, len(TRAIN)) + 2 * (TRAIN.y > 0)
    for found, categories in (
        ("the category 0", range(6)),
        (r"""the category '"b'""", ["a", '"b', "c", "d", "e", "f"]),
    ):
        table = pd.DataFrame({"c": pd.Categorical.from_codes(codes.astype(int), list(categories))})
        model = LIGHTGBM.ranker(min_data_per_group=5, cat_smooth=1.0).fit(table, TRAIN.y, TRAIN.qid)
        with pytest.raises(
            ValueError, match=rf"feature 'c' by category, which has {found}; expected text"
        ):
            write_vespa(model, table, tmp_path / "gap.json")


@engines
def test_categories_of_xgboost_are_refused(engine, tmp_path):
    model = XGBOOST.ranker(enable_categorical=True, max_depth=5).fit(
        frame(TRAIN), TRAIN.y, TRAIN.qid
    )
    with pytest.raises(
        ValueError, match=r"splits column 2 by category.*one column of 0 and 1 for each category"
    ):
        exported(engine, model, X[:5, :4], tmp_path)


@engines
def test_base_score_is_a_tree(engine, tmp_path):
    found = []
    for base_score in (0.0, 2.5):
        model = fit(XGBOOST, n_estimators=1, base_score=base_score)
        content, checks = exported(engine, model, T[:5], tmp_path)
        found.append(np.array(ENGINES[engine][1](content, NAMES, checks["rows"])))
    npt.assert_allclose(found[1] - found[0], 2.5, rtol=0, atol=1e-6)


def test_values_that_lightgbm_takes_for_zero(tmp_path):
    """The threshold between negative numbers and 0 is such a value."""
    values = np.repeat([-1.0, 0.0, 1.0], 100)
    model = LIGHTGBM.ranker(n_estimators=1, min_child_samples=1).fit(
        values[:, None], (values > -1) * 1, np.arange(300) % 10
    )
    tiny = np.array([[-1e-36], [-9e-36], [0.0], [-1.0]], dtype=np.float32)
    for engine, (_, read) in ENGINES.items():
        content, checks = exported(engine, model, tiny, tmp_path, ["a"])
        npt.assert_allclose(
            read(content, ["a"], checks["rows"]), checks["scores"], rtol=0, atol=1e-7
        )
    assert len(set(checks["scores"])) == 2


# --- what verification files detect ---------------------------------------------------------------

COMPARISONS = {
    "ltr_plugin": ("PLUGIN_LEFT", operator.ge),
    "solr": ("SOLR_LEFT", operator.lt),
    "vespa": ("VESPA_LEFT", operator.le),
}


@twins
@engines
def test_shifted_names_are_detected(twin, engine, tmp_path):
    content, checks = exported(engine, fit(twin), T[:20], tmp_path)
    shifted = NAMES[1:] + NAMES[:1]
    lines = differences(checks, ENGINES[engine][1](content, shifted, checks["rows"]))
    assert "rows of kind 'sample'" in lines[1]
    assert ": 0 of" not in lines[1]


@twins
@engines
def test_the_other_comparison_at_thresholds_is_detected(twin, engine, tmp_path, monkeypatch):
    content, checks = exported(engine, fit(twin), T[:20], tmp_path)
    monkeypatch.setattr(engines_as_documented, *COMPARISONS[engine])
    lines = differences(checks, ENGINES[engine][1](content, NAMES, checks["rows"]))
    assert "threshold" in lines[3]
    assert ": 0 of" not in lines[3]


@twins
@engines
def test_zeros_for_missing_values_are_detected(twin, engine, tmp_path):
    content, checks = exported(engine, fit(twin, with_gaps(X) - 5), T[:20] - 5, tmp_path)
    filled = [[0.0 if value is None else value for value in row] for row in checks["rows"]]
    lines = differences(checks, ENGINES[engine][1](content, NAMES, filled))
    assert lines[1].endswith(": 0 of 20")
    assert "'missing value'" in lines[2]
    assert ": 0 of" not in lines[2]


@twins
def test_xgboost_rounds_what_vespa_does_not(twin, tmp_path):
    """0.1 is less than its float32: the plain threshold of XGBoost would send it the other way."""
    values = np.tile([0.1, 0.2, 0.3, 0.7], 75)
    model = twin.ranker(n_estimators=3).fit(
        values[:, None], (values > 0.1) + (values > 0.3) * 1, np.arange(300) // 20
    )
    content, checks = exported("vespa", model, values[:4, None], tmp_path, ["a"])
    npt.assert_allclose(
        vespa_scores(content, ["a"], checks["rows"]), checks["scores"], rtol=0, atol=1e-6
    )
    assert checks["rows"][0] == [0.1]
    assert len(set(checks["scores"])) > 2


def test_the_command(tmp_path, capsys):
    _, checks = exported("solr", fit(LIGHTGBM), T[:5], tmp_path)
    verification, answers = tmp_path / "gap.verification.json", tmp_path / "answers.json"
    answers.write_text(json.dumps(checks["scores"]))
    assert main([str(verification), str(answers)]) == 0
    assert capsys.readouterr().out == f"all {len(checks['scores'])} scores agree\n"
    answers.write_text(json.dumps([float("nan"), *checks["scores"][1:]]))
    assert main([str(verification), str(answers)]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[:2] == [
        f"1 of {len(checks['scores'])} scores differ",
        "  rows of kind 'sample': 1 of 5",
    ]
    assert f"row 0: expected {checks['scores'][0]:.9g}, found nan, with {NAMES[0]}=" in printed[-1]
    for unusable in ("[1.0]", "{}", '["a"]', "no JSON"):
        answers.write_text(unusable)
        assert main([str(verification), str(answers)]) == 2
        assert capsys.readouterr().err.startswith("error: ")
    assert main([str(verification), str(tmp_path / "nowhere.json")]) == 2


# --- refusals -------------------------------------------------------------------------------------


def gblinear():
    return XGBOOST.ranker_class(n_estimators=2, booster="gblinear").fit(X, TRAIN.y, TRAIN.qid)


UNUSABLE = {
    "pipeline": (
        lambda: make_pipeline(StandardScaler(), fit(LIGHTGBM)),
        TypeError,
        "ranker is a Pipeline; expected its last",
    ),
    "text": (
        lambda: "model.txt",
        TypeError,
        "ranker is 'model.txt'; expected a fitted ranker or Booster",
    ),
    "unfitted": (LIGHTGBM.ranker_class, NotFittedError, "not fitted"),
    "linear trees": (
        lambda: fit(LIGHTGBM, linear_tree=True, extra_trees=False),
        ValueError,
        "linear_tree is True in model",
    ),
    "zeros for missing": (
        lambda: fit(LIGHTGBM, X * (X > 5), zero_as_missing=True),
        ValueError,
        "zero_as_missing is True",
    ),
    "gblinear": (gblinear, ValueError, "booster is 'gblinear' in model"),
    "missing": (lambda: fit(XGBOOST, missing=-1.0), ValueError, r"missing is -1.0 in model"),
}


@pytest.mark.filterwarnings("ignore:.*gblinear.*:UserWarning", "ignore:.*gblinear.*:FutureWarning")
@pytest.mark.parametrize("name", UNUSABLE)
def test_models_that_no_engine_can_score(name, tmp_path):
    make, error, message = UNUSABLE[name]
    model = make()
    for engine in ENGINES:
        with pytest.raises(error, match=message):
            exported(engine, model, T, tmp_path)
    assert not list(tmp_path.iterdir())


ARGUMENTS = {
    "sparse": (
        {"X": sparse.csr_matrix(T)},
        TypeError,
        "X is a sparse matrix; expected a dense array",
    ),
    "no rows": ({"X": T[:0]}, ValueError, r"X has shape \(0, .*; expected at least one row"),
    "fewer columns": (
        {"X": T[:, 1:]},
        ValueError,
        rf"X has shape .*; expected at least one row and the {N} features",
    ),
    "infinite": (
        {"X": np.where(T > 5, np.inf, T)},
        ValueError,
        r"X holds infinite values in column",
    ),
    "no names": (
        {"feature_names": None},
        ValueError,
        "feature_names is None, and neither X nor the model has names",
    ),
    "one name twice": (
        {"feature_names": [*NAMES[1:], NAMES[1]]},
        ValueError,
        rf"expected {N} different names",
    ),
    "a text": (
        {"feature_names": "abc"},
        ValueError,
        rf"feature_names is 'abc'; expected {N} different names",
    ),
    "no JSON": (
        {"path": "gap.txt"},
        ValueError,
        r"path is 'gap.txt'; expected a file name that ends with .json",
    ),
    "a number": ({"path": 3}, TypeError, r"path is 3; expected a file name"),
}


@pytest.mark.parametrize("name", ARGUMENTS)
@engines
def test_unusable_arguments(engine, name, tmp_path):
    given, error, message = ARGUMENTS[name]
    arguments = {"X": T, "path": tmp_path / "gap.json", "feature_names": NAMES, **given}
    with pytest.raises(error, match=message):
        ENGINES[engine][0](trained(0)[1], **arguments)
    assert not list(tmp_path.iterdir())


@twins
@engines
def test_query_relative_features_are_refused(twin, engine, tmp_path):
    columns = pd.DataFrame(TRAIN.X[:, :2], columns=["bm25", "age"])
    table = query_relative_features(columns, qid=TRAIN.qid, kinds=("zscore", "rank"))
    with pytest.raises(
        ValueError,
        match=r"feature_names holds bm25_zscore_in_query.*cannot compare it with the others",
    ):
        ENGINES[engine][0](fit(twin, table), table, tmp_path / "gap.json")


@twins
def test_solr_refuses_values_close_to_a_threshold(twin, tmp_path):
    """Solr adds 1e-6, so it cannot separate thresholds of 1e-20. The plugins and Vespa can."""
    tiny = X * np.float32(1e-20)
    model = fit(twin, tiny)
    with pytest.raises(
        ValueError,
        match=r"X holds .*e-\d+ in the feature 'field\d+', just below the threshold .*multiplied",
    ):
        exported("solr", model, tiny, tmp_path)
    for engine in ("ltr_plugin", "vespa"):
        content, checks = exported(engine, model, tiny[:20], tmp_path)
        npt.assert_allclose(
            ENGINES[engine][1](content, NAMES, checks["rows"]), checks["scores"], rtol=0, atol=1e-6
        )
