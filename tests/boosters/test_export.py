"""Models that other libraries and processes explain, export and load without gapboost."""

import json
import pickle
import subprocess
import sys

import joblib
import lightgbm
import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
import xgboost
from sklearn.exceptions import NotFittedError
from twins import LIGHTGBM, TEST, TRAIN, VALI, XGBOOST, twins

# ONNX models take float32.
X, V, T = (data.X.astype(np.float32) for data in (TRAIN, VALI, TEST))
# Like XGBoost's, in another order.
NAMES = [f"f{(i + 7) % TRAIN.n_features}" for i in range(TRAIN.n_features)]


def with_gaps(X):
    return np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.float32(np.nan), X)


def booster_of(ranker):
    return ranker.booster_ if isinstance(ranker, lightgbm.LGBMModel) else ranker.get_booster()


def scores_of(booster, X):
    return (
        booster.predict(X)
        if isinstance(booster, lightgbm.Booster)
        else booster.inplace_predict(X, missing=np.nan)
    )


def for_onnx(twin, model):
    """Return the exportable model for an ONNX converter, for XGBoost without names of features."""
    return twin.module.exportable(model, **({"feature_names": None} if twin is XGBOOST else {}))


def onnx_scores(booster, X):
    """Return the scores of onnxruntime for the booster, converted by onnxmltools."""
    import onnxmltools
    import onnxruntime
    from onnxmltools.convert.common.data_types import FloatTensorType

    convert = (
        onnxmltools.convert_lightgbm
        if isinstance(booster, lightgbm.Booster)
        else onnxmltools.convert_xgboost
    )
    model = convert(booster, initial_types=[("X", FloatTensorType([None, X.shape[1]]))])
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (scores,) = session.run(None, {"X": X})
    return scores.ravel()


def plain(twin):
    return twin.ranker(n_estimators=20).fit(X, TRAIN.y, TRAIN.qid), T


def named_features(twin):
    return twin.ranker(n_estimators=20).fit(pd.DataFrame(X, columns=NAMES), TRAIN.y, TRAIN.qid), T


def missing_values(twin):
    return twin.ranker(n_estimators=20).fit(with_gaps(X), TRAIN.y, TRAIN.qid), with_gaps(T)


def early_stopping(twin):
    parameters, fit = twin.stopping(5)
    ranker = twin.ranker(n_estimators=100, learning_rate=0.3, **parameters).fit(
        X, TRAIN.y, TRAIN.qid, eval_set=(V, VALI.y), eval_qid=VALI.qid, **fit
    )
    assert 0 < ranker.best_iteration_ < 100
    return ranker, T


def dart(twin):
    parameters = (
        {"boosting_type": "dart"} if twin is LIGHTGBM else {"booster": "dart", "rate_drop": 0.3}
    )
    return twin.ranker(n_estimators=20, **parameters).fit(X, TRAIN.y, TRAIN.qid), T


def base_score_or_start(twin):
    parameters = {} if twin is LIGHTGBM else {"base_score": 2.0}
    start = {twin.start: np.sin(np.arange(len(TRAIN)))}
    return twin.ranker(n_estimators=5, **parameters).fit(X, TRAIN.y, TRAIN.qid, **start), T


@twins
@pytest.mark.parametrize(
    "model",
    [plain, named_features, missing_values, early_stopping, dart, base_score_or_start],
    ids=lambda f: f.__name__,
)
def test_onnx(twin, model):
    ranker, rows = model(twin)
    expected = ranker.predict(
        pd.DataFrame(rows, columns=NAMES) if model is named_features else rows
    )
    exported = for_onnx(twin, ranker)
    npt.assert_allclose(scores_of(exported, rows), expected, rtol=0, atol=1e-6)
    npt.assert_allclose(onnx_scores(exported, rows), expected, rtol=0, atol=1e-6)
    assert np.ptp(expected) > 0.1


@twins
def test_onnx_takes_categories_by_code(twin):
    letters = np.array(list("hbfdaecg"))

    def frame(data):
        chosen = np.random.default_rng(0).choice([1, 4, 6], len(data)) + data.y % 2
        return pd.DataFrame(
            {
                "x": data.X[:, 0],
                "letter": pd.Categorical(letters[chosen], categories=sorted(letters)),
            }
        )

    parameters = {} if twin is LIGHTGBM else {"enable_categorical": True}
    ranker = twin.ranker(n_estimators=20, **parameters).fit(frame(TRAIN), TRAIN.y, TRAIN.qid)
    rows = frame(TEST)
    codes = np.column_stack([rows["x"], rows["letter"].cat.codes]).astype(np.float32)
    found = onnx_scores(for_onnx(twin, ranker), codes)
    npt.assert_allclose(found, ranker.predict(rows.astype({"x": np.float32})), rtol=0, atol=1e-6)
    assert ranker.feature_importances_[1] > 0


@twins
def test_exportable_takes_the_boosters_own_training(twin):
    """And leaves the booster as it was."""
    dataset = twin.dataset(X, TRAIN.y, np.full(TRAIN.n_queries, 20))
    objective = twin.module.objective("gap")
    if twin is LIGHTGBM:
        booster = lightgbm.train({**twin.native, "objective": objective}, dataset, 10)
    else:
        booster = xgboost.train(twin.native, dataset, 10, obj=objective)
    before = scores_of(booster, T)
    npt.assert_allclose(onnx_scores(twin.module.exportable(booster), T), before, rtol=0, atol=1e-6)
    npt.assert_array_equal(scores_of(booster, T), before)


@twins
def test_an_exportable_model_saves_and_exports_again(twin, tmp_path):
    exported = twin.module.exportable(plain(twin)[0])
    exported.save_model(tmp_path / "model.json")
    loaded = type(exported)(model_file=str(tmp_path / "model.json"))
    for booster in (loaded, twin.module.exportable(loaded)):
        npt.assert_array_equal(scores_of(booster, T), scores_of(exported, T))
    npt.assert_array_equal(onnx_scores(loaded, T), onnx_scores(exported, T))


def test_lightgbm_exporter_refuses_models_with_an_objective_from_python():
    """The reason for `exportable`; should this fail, so may the surgery on the text."""
    with pytest.raises(NotImplementedError, match="Unsupported LightGbm objective"):
        onnx_scores(LIGHTGBM.fitted().booster_, T)


@pytest.mark.parametrize(
    ("twin", "parameters", "message"),
    [
        (
            LIGHTGBM,
            {"linear_tree": True},
            "linear_tree is True in model; expected a model without linear trees",
        ),
        (
            LIGHTGBM,
            {"zero_as_missing": True},
            "zero_as_missing is True in model; expected a model in which NaN alone",
        ),
        (
            XGBOOST,
            {"booster": "gblinear", "max_depth": None},
            "booster is 'gblinear' in model; expected trees",
        ),
        (XGBOOST, {"missing": 0.0}, r"missing is 0\.0 in model; expected NaN"),
        (XGBOOST, {"missing": -999}, r"missing is -999\.0 in model; expected NaN"),
    ],
    ids=["linear_tree", "zero_as_missing", "gblinear", "missing=0", "missing=-999"],
)
def test_what_exporters_write_wrongly_is_refused(twin, parameters, message, tmp_path):
    """A ranker, its booster, and the booster that is loaded from its file are refused."""
    ranker = twin.fitted(**parameters)
    booster = booster_of(ranker)
    booster.save_model(tmp_path / "model.json")
    for model in (ranker, booster, type(booster)(model_file=str(tmp_path / "model.json"))):
        with pytest.raises(ValueError, match=message):
            twin.module.exportable(model)


def test_exportable_refuses_lightgbms_random_forests():
    """Exporters sum their trees."""
    dataset = LIGHTGBM.dataset(X, TRAIN.y, np.full(TRAIN.n_queries, 20))
    forest = {
        "objective": "lambdarank",
        "boosting": "rf",
        "bagging_freq": 1,
        "bagging_fraction": 0.5,
    }
    with pytest.raises(ValueError, match="boosting is 'rf' in model; expected"):
        LIGHTGBM.module.exportable(lightgbm.train({**LIGHTGBM.native, **forest}, dataset, 3))


@pytest.mark.parametrize(
    ("parameters", "trained_on"),
    [
        ({}, X),
        ({"use_missing": False}, with_gaps(X)),
    ],
    ids=["no gaps in training", "use_missing=False"],
)
def test_exported_lightgbm_sends_zeros_and_gaps_as_the_ranker_does(parameters, trained_on):
    ranker = LIGHTGBM.ranker(n_estimators=20, **parameters).fit(trained_on, TRAIN.y, TRAIN.qid)
    exported = LIGHTGBM.module.exportable(ranker)
    for rows in (T, with_gaps(T), with_gaps(T - np.float32(2))):
        npt.assert_allclose(onnx_scores(exported, rows), ranker.predict(rows), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    "objective", ["binary:logistic", "count:poisson", "rank:pairwise", "reg:squarederror"]
)
def test_exportable_predicts_as_xgboosts_own_objective_does(objective):
    data = XGBOOST.dataset(X, (TRAIN.y > 0).astype(float), np.full(TRAIN.n_queries, 20))
    booster = xgboost.train({"objective": objective, "max_depth": 3, "nthread": 1}, data, 5)
    npt.assert_array_equal(scores_of(XGBOOST.module.exportable(booster), T), scores_of(booster, T))


def splits_of(dump):
    """Return the features that the trees of a dump split by."""
    found = set()

    def visit(node):
        if "split" in node:
            found.add(node["split"])
        for child in node.get("children", ()):
            visit(child)

    for tree in dump:
        visit(json.loads(tree))
    return found


@twins
def test_exportable_keeps_the_names_of_features(twin):
    names = [f"feature_{i}" for i in range(TRAIN.n_features)]
    ranker = twin.ranker().fit(pd.DataFrame(X, columns=names), TRAIN.y, TRAIN.qid)
    exported = twin.module.exportable(ranker)
    assert (exported.feature_name() if twin is LIGHTGBM else exported.feature_names) == names
    if twin is XGBOOST:
        splits = splits_of(exported.get_dump(dump_format="json"))
        assert splits == splits_of(ranker.get_booster().get_dump(dump_format="json")) <= set(names)
        # They are written into the file too, and no error comes from rows without names.
        again = xgboost.Booster(model_file=exported.save_raw("ubj"))
        assert again.feature_names == names
        npt.assert_array_equal(
            again.inplace_predict(T), ranker.predict(pd.DataFrame(T, columns=names))
        )


def test_exportable_takes_and_leaves_out_names_of_xgboosts_features():
    plain, named = (
        XGBOOST.ranker().fit(rows, TRAIN.y, TRAIN.qid)
        for rows in (X, pd.DataFrame(X, columns=NAMES))
    )
    positions = {f"f{i}" for i in range(TRAIN.n_features)}
    exportable = XGBOOST.module.exportable
    for exported in (exportable(plain), exportable(named, feature_names=None)):
        assert exported.feature_names is None
        assert splits_of(exported.get_dump(dump_format="json")) <= positions
    titles = [f"title {i}" for i in range(TRAIN.n_features)]
    for names in (titles, np.array(titles), tuple(titles)):
        assert exportable(named, feature_names=names).feature_names == titles
    assert exportable(named, feature_names=NAMES).feature_names == NAMES
    assert named.get_booster().feature_names == NAMES


@pytest.mark.parametrize(
    "names",
    [
        NAMES,
        [f"f{i + 1}" for i in range(TRAIN.n_features)],
        [f"{i + 1}" for i in range(TRAIN.n_features)],
    ],
    ids=["f7", "f1", "1"],
)
def test_exportable_refuses_names_that_read_as_other_positions(names):
    """An ONNX converter would split by another feature without an error.

    A search engine reads names.
    """
    ranker = XGBOOST.ranker().fit(pd.DataFrame(X, columns=names), TRAIN.y, TRAIN.qid)
    with pytest.raises(
        ValueError, match=f"feature_names is 'auto', but column 0 .* is named '{names[0]}'"
    ):
        XGBOOST.module.exportable(ranker)
    positions = [f"f{i}" for i in range(TRAIN.n_features)]
    ranker = XGBOOST.ranker().fit(pd.DataFrame(X, columns=positions), TRAIN.y, TRAIN.qid)
    exported = XGBOOST.module.exportable(ranker)
    assert exported.feature_names == positions
    npt.assert_allclose(
        onnx_scores(exported, T), ranker.predict(pd.DataFrame(T, columns=positions)), atol=1e-6
    )


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (
            ["a", "b"],
            "feature_names has 2 names, 2 of them different; expected one different name for each "
            "of the 23",
        ),
        (["a"] * 23, "feature_names has 23 names, 1 of them different; expected"),
        ("names", "feature_names is 'names'; expected 'auto', None or a sequence of names"),
    ],
)
def test_exportable_refuses_other_names(names, message):
    with pytest.raises(ValueError, match=message):
        XGBOOST.module.exportable(XGBOOST.fitted(), feature_names=names)


@pytest.mark.parametrize(
    ("library", "model", "message"),
    [
        (
            LIGHTGBM,
            XGBOOST,
            "model is a XGBGAPRanker; .*gapboost.xgboost.exportable takes XGBoost's models",
        ),
        (
            XGBOOST,
            LIGHTGBM,
            "model is a LGBMGAPRanker; .*gapboost.lightgbm.exportable takes LightGBM's models",
        ),
    ],
    ids=["lightgbm", "xgboost"],
)
def test_exportable_of_one_library_refuses_models_of_the_other(library, model, message):
    ranker = model.fitted()
    with pytest.raises(TypeError, match=message):
        library.module.exportable(ranker)
    for other in (booster_of(ranker), "model.json", None):
        with pytest.raises(TypeError, match=f"model is a {type(other).__name__}; expected an"):
            library.module.exportable(other)


@twins
def test_exportable_before_fit(twin):
    with pytest.raises(NotFittedError):
        twin.module.exportable(twin.ranker())


@twins
@pytest.mark.parametrize("model", [plain, missing_values, dart], ids=lambda f: f.__name__)
def test_treelite(twin, model):
    import treelite

    ranker, rows = model(twin)
    load = treelite.frontend.from_lightgbm if twin is LIGHTGBM else treelite.frontend.from_xgboost
    for booster in (booster_of(ranker), twin.module.exportable(ranker)):
        found = treelite.gtil.predict(
            load(booster), rows.astype(np.float64) if twin is LIGHTGBM else rows
        )
        npt.assert_allclose(found.ravel(), ranker.predict(rows), rtol=0, atol=1e-6)


# Its plots call methods that matplotlib is about to rename.
@pytest.mark.filterwarnings(
    "ignore:The set_(bad|over|under) function will be deprecated:PendingDeprecationWarning"
)
@twins
def test_shap_explains_the_score(twin):
    import shap

    ranker, rows = plain(twin)
    expected = ranker.predict(rows)
    for model in (ranker, booster_of(ranker)):
        explainer = shap.TreeExplainer(model)
        values = explainer.shap_values(rows)
        assert values.shape == rows.shape
        npt.assert_allclose(
            values.sum(axis=1) + explainer.expected_value, expected, rtol=0, atol=1e-5
        )
        npt.assert_allclose(values, contributions(twin, ranker, rows)[:, :-1], rtol=0, atol=1e-5)


def contributions(twin, ranker, rows):
    if twin is LIGHTGBM:
        return ranker.predict(rows, pred_contrib=True)
    return ranker.get_booster().predict(xgboost.DMatrix(rows), pred_contribs=True)


@twins
def test_pred_contrib_adds_up_to_the_score(twin):
    ranker, rows = plain(twin)
    found = contributions(twin, ranker, rows)
    assert found.shape == (len(rows), rows.shape[1] + 1)  # the last is the expected score
    npt.assert_allclose(found.sum(axis=1), ranker.predict(rows), rtol=0, atol=1e-5)
    assert (np.ptp(found[:, :-1], axis=0) > 0.01).any()


LOAD = """
import sys, pickle, joblib, numpy as np
rows, *paths = sys.argv[1:]
test, scores = np.load(rows), []
for path in paths:
    ranker = joblib.load(path) if path.endswith("joblib") else pickle.load(open(path, "rb"))
    scores.append(ranker.predict(test["X"]))
    value = ranker.score(test["X"], test["y"], test["qid"])
    print(repr(ranker.measure_), value, ranker.get_params()["learning_rate"])
np.save(rows, scores)
"""


@pytest.mark.slow
def test_pickle_and_joblib_in_another_process(tmp_path):
    fitted = [
        twin.fitted(measure="egap", g=(0.2, 0.8), learning_rate=0.25)
        for twin in (LIGHTGBM, XGBOOST)
    ]
    rows, paths, expected = tmp_path / "rows.npz", [], []
    for number, ranker in enumerate(fitted):
        paths += [tmp_path / f"{number}.pickle", tmp_path / f"{number}.joblib"]
        paths[-2].write_bytes(pickle.dumps(ranker))
        joblib.dump(ranker, paths[-1])
        expected += [f"{ranker.measure_!r} {ranker.score(TEST.X, TEST.y, TEST.qid)} 0.25"] * 2
    np.savez(rows, X=TEST.X, y=TEST.y, qid=TEST.qid)
    done = subprocess.run(
        [sys.executable, "-c", LOAD, rows, *paths], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == expected
    npt.assert_array_equal(
        np.load(f"{rows}.npy"), np.repeat([ranker.predict(TEST.X) for ranker in fitted], 2, axis=0)
    )
