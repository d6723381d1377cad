"""Exporters and compilers of trees: their scores beside the ranker's, case by case."""

from functools import cache

import lightgbm
import numpy as np
import pandas as pd
import pytest
from pages import name_of, rows_of_table
from scipy.sparse import csr_matrix
from twins import LIGHTGBM, TEST, TRAIN, VALI, XGBOOST, booster_of, onnx_scores, twins

TWINS = {twin.name: twin for twin in (LIGHTGBM, XGBOOST)}


# --- rankers --------------------------------------------------------------------------------------


def centered(data):
    """Return features on both sides of 0: LightGBM reads a new NaN as 0."""
    return (data.X - TRAIN.X.mean(axis=0)).astype(np.float32)


def with_gaps(X, share=0.25):
    return np.where(np.random.default_rng(0).random(X.shape) < share, np.nan, X)


def table(data):
    """Return a number and a category that tells grades apart."""
    letters = np.array(list("hbfdaecg"))
    chosen = np.random.default_rng(0).choice([1, 4, 6], len(data)) + data.y % 2
    letter = pd.Categorical(letters[chosen], categories=sorted(letters))
    return pd.DataFrame({"x": data.X[:, 0].astype(np.float32), "letter": letter})


def codes(frame):
    return np.column_stack([frame["x"], frame["letter"].cat.codes]).astype(np.float32)


def thresholds(booster):
    """Return the thresholds of each feature."""
    if isinstance(booster, lightgbm.Booster):
        nodes = booster.trees_to_dataframe().dropna(subset="split_feature")
        names, values = nodes.split_feature, nodes.threshold
    else:
        nodes = booster.trees_to_dataframe().query("Feature != 'Leaf'")
        names, values = nodes.Feature, nodes.Split
    found = {}
    for name, value in zip(names, values, strict=True):
        found.setdefault(int(name.rpartition("_")[2].lstrip("f")), []).append(value)
    return found


def at_thresholds(booster, X):
    """Return rows of float32 numbers at thresholds and beside them."""
    rng, rows = np.random.default_rng(0), X.astype(np.float32)
    for feature, values in thresholds(booster).items():
        near = np.float32(rng.choice(values, len(rows)))
        side = np.float32(rng.choice([-np.inf, np.inf], len(rows)))
        rows[:, feature] = np.where(rng.random(len(rows)) < 0.5, near, np.nextafter(near, side))
    return rows


def seconds(n):
    return 1.7e9 + np.arange(n, dtype=float)[:, None] % 20


@cache
def fitted(name, case):
    """Return a ranker, rows as it takes them, and the same rows as numbers."""
    twin, (X, V, T) = TWINS[name], map(centered, (TRAIN, VALI, TEST))
    if case == "categories by code":
        given = {"enable_categorical": True} if twin is XGBOOST else {}
        ranker = twin.ranker(n_estimators=20, **given).fit(table(TRAIN), TRAIN.y, TRAIN.qid)
        return ranker, table(TEST), codes(table(TEST))
    if case == "neighbors in float32":
        ranker = twin.ranker().fit(seconds(len(X)), np.arange(len(X)) % 20 > 9, TRAIN.qid)
        return ranker, seconds(len(T)), seconds(len(T))
    parameters, fit = {"n_estimators": 20}, {}
    if case == "zero_as_missing":
        parameters["zero_as_missing"] = True
        X, T = np.nan_to_num(with_gaps(X)), np.nan_to_num(with_gaps(T))
    if case == "early stopping":
        given, fit = twin.stopping(4)
        parameters = {"n_estimators": 60, "learning_rate": 0.5, **given}
        fit |= {"eval_set": [(V, VALI.y)], "eval_qid": [VALI.qid]}
    train = with_gaps(X) if case == "NaN" else X
    ranker = twin.ranker(**parameters).fit(train, TRAIN.y, TRAIN.qid, **fit)
    if case in ("NaN", "new NaN"):
        T = with_gaps(T)
    elif case == "at thresholds":
        T = at_thresholds(booster_of(ranker), T)
    return ranker, T, T


# --- tools ----------------------------------------------------------------------------------------
# Each takes the ranker, the booster for exporters, rows as numbers, and an empty folder.


def by_onnx(ranker, booster, rows, folder):
    pytest.importorskip("onnxmltools")
    return onnx_scores(booster, rows.astype(np.float32))


def treelite_model(booster):
    treelite = pytest.importorskip("treelite")
    is_lightgbm = isinstance(booster, lightgbm.Booster)
    read = treelite.frontend.from_lightgbm if is_lightgbm else treelite.frontend.from_xgboost
    try:
        return read(booster)
    except treelite.TreeliteError as error:
        raise ValueError("treelite refuses the model") from error


def for_treelite(booster, rows):
    return rows.astype(np.float64 if isinstance(booster, lightgbm.Booster) else np.float32)


def by_treelite(ranker, booster, rows, folder):
    model = treelite_model(booster)
    return pytest.importorskip("treelite").gtil.predict(model, for_treelite(booster, rows))


def by_tl2cgen(ranker, booster, rows, folder):
    tl2cgen = pytest.importorskip("tl2cgen")
    path = folder / "model.so"
    tl2cgen.export_lib(treelite_model(booster), toolchain="gcc", libpath=path)
    matrix = tl2cgen.DMatrix(for_treelite(booster, rows))
    return tl2cgen.Predictor(path, nthread=1).predict(matrix)


def by_lleaves(ranker, booster, rows, folder):
    lleaves = pytest.importorskip("lleaves")
    booster.save_model(folder / "model.txt")
    model = lleaves.Model(model_file=folder / "model.txt")
    model.compile()
    return model.predict(rows.astype(float))


def by_sklearn2pmml(ranker, booster, rows, folder):
    sklearn2pmml = pytest.importorskip("sklearn2pmml")
    evaluators = pytest.importorskip("jpmml_evaluator")
    names = [f"x{i + 1}" for i in range(rows.shape[1])]
    pipeline = sklearn2pmml.PMMLPipeline([("ranker", ranker.to_vendor())])
    pipeline.active_fields, pipeline.target_fields = np.array(names), np.array(["y"])
    sklearn2pmml.sklearn2pmml(pipeline, str(folder / "model.pmml"))
    evaluator = evaluators.make_evaluator(str(folder / "model.pmml")).verify()
    frame = pd.DataFrame(rows.astype(float), columns=names)
    return evaluator.evaluateAll(frame.astype(object).where(frame.notna(), None))["y"].to_numpy(
        float
    )


def by_hummingbird(ranker, booster, rows, folder):
    hummingbird = pytest.importorskip("hummingbird.ml")
    return hummingbird.convert(ranker.to_vendor(), "torch").predict(rows)


def by_timber(ranker, booster, rows, folder):
    predictors = pytest.importorskip("timber.runtime.predictor")
    path = folder / ("model.txt" if isinstance(booster, lightgbm.Booster) else "model.json")
    booster.save_model(path)
    return predictors.TimberPredictor.from_model(str(path)).predict(rows.astype(np.float32))


def by_m2cgen(ranker, booster, rows, folder):
    m2cgen = pytest.importorskip("m2cgen")
    names = {}
    exec(m2cgen.export_to_python(ranker.to_vendor()), names)
    return np.array([names["score"](row) for row in rows.tolist()])


TOOLS = {
    "onnxmltools": by_onnx,
    "treelite": by_treelite,
    "tl2cgen": by_tl2cgen,
    "lleaves": by_lleaves,
    "sklearn2pmml": by_sklearn2pmml,
    "hummingbird": by_hummingbird,
    "timber": by_timber,
    "m2cgen": by_m2cgen,
}
CASES = (
    "numbers",
    "early stopping",
    "NaN",
    "new NaN",
    "at thresholds",
    "neighbors in float32",
    "categories by code",
)
TABLE = {
    (name_of(row["tool"]), row["model"].lower()): row
    for row in rows_of_table("works_with.md", "Exporters and compilers")
}


def test_the_page_has_a_row_for_each_tool():
    assert {tool for tool, _ in TABLE} == set(TOOLS)


@pytest.mark.parametrize(
    ("tool", "name", "case"),
    [(*key, case) for key, row in TABLE.items() for case in CASES if row[case] != "–"],
)
def test_scores_of_exported_models(tool, name, case, tmp_path):
    cell, (ranker, rows, numbers) = TABLE[tool, name][case], fitted(name, case)
    booster = TWINS[name].module.exportable(ranker)
    if cell == "refused":
        with pytest.raises((ValueError, NotImplementedError)):
            TOOLS[tool](ranker, booster, numbers, tmp_path)
    else:
        found = np.ravel(TOOLS[tool](ranker, booster, numbers, tmp_path))
        assert ("differs" if are_wrong(found, ranker.predict(rows)) else "same") == cell


def are_wrong(found, scores):
    """Return True if scores differ by more than sums in float32 do."""
    return np.abs(found - scores).max() > 2e-6


@pytest.mark.parametrize("tool", [tool for tool in TOOLS if tool != "m2cgen"])
def test_zero_as_missing_is_why_exportable_refuses_it(tool, tmp_path):
    """Of lleaves too, as a model says nothing of the tool that will read it."""
    ranker, rows, numbers = fitted("lightgbm", "zero_as_missing")
    with pytest.raises(ValueError, match="zero_as_missing"):
        LIGHTGBM.module.exportable(ranker)
    found = np.ravel(TOOLS[tool](ranker, ranker.to_vendor().booster_, numbers, tmp_path))
    assert are_wrong(found, ranker.predict(rows)) == (tool != "lleaves")


def test_lleaves_and_treelite_compute_in_float64(tmp_path):
    ranker, rows, numbers = fitted("lightgbm", "at thresholds")
    booster = LIGHTGBM.module.exportable(ranker)
    for tool in (by_lleaves, by_treelite):
        found = np.ravel(tool(ranker, booster, numbers, tmp_path))
        np.testing.assert_array_equal(found, ranker.predict(rows))


def test_lightgbm_reads_new_nan_as_0():
    ranker, rows, _ = fitted("lightgbm", "new NaN")
    np.testing.assert_array_equal(ranker.predict(rows), ranker.predict(np.nan_to_num(rows)))


def test_xgboost_computes_in_float32():
    ranker, rows, _ = fitted("xgboost", "at thresholds")
    below = np.nextafter(rows.astype(float), -np.inf)
    np.testing.assert_array_equal(ranker.predict(below), ranker.predict(rows))


@twins
def test_what_a_sparse_matrix_does_not_store_is_missing_in_xgboost(twin):
    ranker, sparse = twin.fitted(), csr_matrix(TEST.X)
    rows = TEST.X if twin is LIGHTGBM else np.where(TEST.X == 0, np.nan, TEST.X)
    np.testing.assert_array_equal(ranker.predict(sparse), ranker.predict(rows))


@twins
def test_missing_categories_are_nan_to_onnx(twin, tmp_path):
    """As pandas' code, -1, XGBoost's model scores them as another category."""
    train, test = (
        frame.assign(letter=frame["letter"].mask(frame.index % 5 == 0))
        for frame in (table(TRAIN), table(TEST))
    )
    given = {"enable_categorical": True} if twin is XGBOOST else {}
    ranker = twin.ranker(n_estimators=20, **given).fit(train, TRAIN.y, TRAIN.qid)
    found = {
        code: by_onnx(
            ranker,
            twin.module.exportable(ranker),
            test.assign(letter=test["letter"].cat.codes.replace(-1, code)).to_numpy(),
            tmp_path,
        )
        for code in (np.nan, -1)
    }
    assert not are_wrong(found[np.nan], ranker.predict(test))
    assert are_wrong(found[-1], ranker.predict(test)) == (twin is XGBOOST)


def test_eland_takes_rankers_of_xgboost_and_adds_one_half():
    """Its base score: eland reads the parameter, and takes .5 for None."""
    transformers = pytest.importorskip("eland.ml.transformers")
    names = {"feature_names": [f"f{i}" for i in range(TEST.n_features)]}
    with pytest.raises(NotImplementedError):
        transformers.get_model_transformer(LIGHTGBM.fitted().to_vendor(), **names)
    ranker = XGBOOST.fitted()
    model = transformers.get_model_transformer(ranker.to_vendor(), **names).transform()
    *trees, last = model.to_dict()["ensemble"]["trained_models"]
    assert len(trees) == ranker.get_booster().num_boosted_rounds()
    assert last["tree"]["tree_structure"] == [{"node_index": 0, "leaf_value": 0.5}]


def test_onnxmltools_reads_rankers_of_xgboost_as_classifiers_without_exportable():
    onnxmltools = pytest.importorskip("onnxmltools")
    booster = XGBOOST.fitted().to_vendor().get_booster()
    inputs = onnxmltools.convert.common.data_types.FloatTensorType([None, TEST.n_features])
    model = onnxmltools.convert_xgboost(booster, initial_types=[("X", inputs)])
    assert "TreeEnsembleClassifier" in {node.op_type for node in model.graph.node}
