"""Models written for search engines, read again as the engines read them."""

import functools
import json
import operator
import re

import engines as engines_as_documented
import lightgbm
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
from twins import LIGHTGBM, SIZES, TEST, TRAIN, VALI, XGBOOST, booster_of, twins

from gapboost.export import verify, write_ltr_plugin, write_solr, write_vespa
from gapboost.preprocessing import query_relative_features

# How to write files and to read them, and a wrong comparison to replace the engine's.
ENGINES = {
    "ltr_plugin": (write_ltr_plugin, ltr_plugin_scores, "PLUGIN_LEFT", operator.ge),
    "solr": (write_solr, solr_scores, "SOLR_LEFT", operator.lt),
    "vespa": (write_vespa, vespa_scores, "VESPA_LEFT", operator.le),
}
engines = pytest.mark.parametrize("engine", ENGINES)

N = TRAIN.n_features
NAMES = [f"field{(i + 7) % N}" for i in range(N)]
X, V, T = (data.X.astype(np.float32) for data in (TRAIN, VALI, TEST))
SCALES = np.float32(10.0) ** np.linspace(-3, 12, N).astype(np.float32)


def with_gaps(rows):
    return np.where(np.random.default_rng(1).random(rows.shape) < 0.3, np.nan, rows)


def missing_by_grade(data):
    """Return small whole numbers, of which more are missing in relevant documents."""
    gaps = np.random.default_rng(2).random(data.X.shape) < 0.1 + 0.2 * data.y[:, None]
    return np.where(gaps, np.nan, np.round(data.X / 3))


def time_stamps(data):
    """Return seconds and milliseconds, which round to every 128th and every 131072nd in float32."""
    return (1.7e9 + 1e3 * data.X) * np.where(np.arange(N) % 2, 1, 1000)


def largest(data):
    """Return numbers of which XGBoost makes thresholds beyond float32, some of them missing."""
    return np.clip(missing_by_grade(data), -3, 3) * 1e38


def fit(twin, rows=X, **parameters):
    return twin.ranker(**{"n_estimators": 10, **parameters}).fit(rows, TRAIN.y, TRAIN.qid)


def stopped(twin):
    parameters, arguments = twin.stopping(3)
    ranker = twin.ranker(n_estimators=100, learning_rate=0.3, **parameters).fit(
        X, TRAIN.y, TRAIN.qid, eval_set=[(V, VALI.y)], eval_qid=[VALI.qid], **arguments
    )
    assert 0 < ranker.best_iteration_ < 90
    return ranker


def started(twin):
    start = {twin.start: np.sin(np.arange(len(TRAIN)))}
    parameters = {} if twin is LIGHTGBM else {"base_score": 0.25}
    return twin.ranker(**parameters).fit(X, TRAIN.y, TRAIN.qid, **start)


def booster(twin, rows=X):
    return booster_of(fit(twin, rows))


def vendor(twin):
    ranker = twin.vendor(n_estimators=5, n_jobs=1, **twin.parameters)
    return ranker.fit(X, TRAIN.y.astype(int), group=SIZES)


def either(lightgbm, xgboost):
    """Return a training with parameters by booster."""
    return lambda twin: fit(twin, with_gaps(X), **(lightgbm if twin is LIGHTGBM else xgboost))


# One row a model: how it is trained, and rows to score.
MODELS = {
    "plain": (fit, T),
    "float64": (lambda twin: fit(twin, TRAIN.X), TEST.X),
    "missing later": (fit, with_gaps(T)),
    "stopped": (stopped, T),
    "started": (started, T),
    "stumps": (either({"num_leaves": 2}, {"max_depth": 1}), T),
    "deep": (either({"num_leaves": 63}, {"max_depth": 8}), with_gaps(T)),
    "scales": (lambda twin: fit(twin, X * SCALES), T * SCALES),
    "time stamps": (lambda twin: fit(twin, time_stamps(TRAIN)), with_gaps(time_stamps(TEST))),
    "integers": (lambda twin: fit(twin, np.round(X - 5)), np.round(T - 5)),
    "largest numbers": (lambda twin: fit(twin, largest(TRAIN)), largest(TEST)),
    "missing or not": (lambda twin: fit(twin, missing_by_grade(TRAIN)), missing_by_grade(TEST)),
    "dart": (either({"boosting_type": "dart"}, {"booster": "dart", "rate_drop": 0.5}), T),
    "several trees": (either({"data_sample_strategy": "goss"}, {"num_parallel_tree": 3}), T),
    "booster": (booster, T),
    "vendor": (vendor, T),
}


@functools.cache
def trained(library, name):
    return MODELS[name][0](LIGHTGBM if library == "lightgbm" else XGBOOST)


def exported(engine, model, rows, folder, feature_names=NAMES, **options):
    """Content of the two files."""
    verification = ENGINES[engine][0](
        model, rows, folder / "gap.json", feature_names=feature_names, **options
    )
    assert verification == folder / "gap.verification.json"
    return json.loads((folder / "gap.json").read_text()), json.loads(verification.read_text())


def listed(rows):
    return [[None if np.isnan(value) else float(value) for value in row] for row in rows]


def check(engine, content, checks, names=NAMES, atol=1e-6):
    """The engine computes the scores of the file; return them."""
    found = ENGINES[engine][1](content, names, checks["rows"])
    npt.assert_allclose(found, checks["scores"], rtol=0, atol=atol)
    return found


@pytest.mark.slow(keep=2 * len(MODELS))  # one engine
@pytest.mark.parametrize("name", MODELS)
@twins
@engines
def test_engines_predict_the_same(engine, twin, name, tmp_path):
    model, rows = trained(twin.name, name), MODELS[name][1]
    content, checks = exported(engine, model, rows[:40], tmp_path)
    found = check(engine, content, checks)
    assert np.ptp(found) > 0.05
    assert verify(tmp_path / "gap.verification.json", found).empty
    others = rows[40:140].astype(np.float32)
    own = model.inplace_predict if isinstance(model, xgboost.Booster) else model.predict
    scores = ENGINES[engine][1](content, NAMES, listed(others))
    npt.assert_allclose(scores, own(others), rtol=0, atol=1e-6)


def test_solr_reads_the_example_of_its_guide():
    """Holds the reader itself: "Managing features' null values" of Solr's reference guide."""

    def split(*values):
        return dict(zip(("feature", "threshold", "missing", "left", "right"), values, strict=True))

    product = split("product", "0", "left", {"value": "50"}, {"value": "65"})
    root = split("title", "0.5", "right", {"value": "-100"}, product)
    content = {
        "class": "org.apache.solr.ltr.model.MultipleAdditiveTreesModel",
        "name": "model",
        "features": [{"name": "title"}, {"name": "product"}],
        "params": {"isNullSameAsZero": False, "trees": [{"weight": "1", "root": root}]},
    }
    found = solr_scores(content, ["title", "product"], [[0, 9], [1, 9], [1, 0], [1, None]])
    assert found == [-100, 65, 50, 50]


# --- values at thresholds -------------------------------------------------------------------------


@twins
@engines
def test_small_scores_are_verified_as_large_ones_are(twin, engine, tmp_path):
    model = fit(twin, learning_rate=1e-8)
    content, checks = exported(engine, model, T[:20], tmp_path)
    file, scores = tmp_path / "gap.verification.json", np.array(checks["scores"])
    assert 0 < np.ptp(scores) < 1e-6
    assert verify(file, check(engine, content, checks)).empty
    shifted = scores + 0.01 * np.ptp(scores)
    assert len(verify(file, shifted)) == len(scores)


@pytest.mark.slow
@twins
def test_many_trees_may_round_more(twin, tmp_path):
    model = fit(twin, n_estimators=3000, learning_rate=0.001)
    content, checks = exported("ltr_plugin", model, T[:20], tmp_path)
    scores = ltr_plugin_scores(content, NAMES, checks["rows"])
    assert verify(tmp_path / "gap.verification.json", scores).empty


def test_scores_that_rounding_makes_equal_are_refused(tmp_path):
    model = fit(XGBOOST, base_score=1e6, learning_rate=0.01)
    for engine in ENGINES:
        with pytest.raises(ValueError, match=r"^ranker has scores of 99999.*rounding"):
            exported(engine, model, T[:20], tmp_path)


@pytest.mark.parametrize("threshold", [1e300, 3.5e38, 1e-35, 1e-36, 0.0, None])
@engines
def test_thresholds_at_the_ends_and_near_0(engine, threshold, tmp_path):
    """LightGBM writes 1e300 for infinity, where a split asks whether a value is missing.

    Its own threshold between negative numbers and 0 is a value that it takes for 0.
    """
    values = np.repeat([-1.0, 0.0, 1.0, np.nan], 75)
    ranker = LIGHTGBM.ranker(n_estimators=1, min_child_samples=1).fit(
        values[:, None], np.repeat([0, 1, 2, 3], 75), np.arange(300) % 10
    )
    text = ranker.booster_.model_to_string()
    if threshold is not None:
        pair = f"{threshold} {-threshold}"
        text, n = re.subn(r"(?<=\nthreshold=)\S+ \S+", pair, text)
        assert n == 1
    # Solr does not separate positive numbers below 1e-13 from 0.
    tiny = [] if engine == "solr" else [1e-36]
    rows = np.array([-3e38, -1.0, -9e-36, -1e-36, 0.0, *tiny, 1.0, 3e38, np.nan])[:, None]
    content, checks = exported(engine, lightgbm.Booster(model_str=text), rows, tmp_path, ["a"])
    assert np.ptp(check(engine, content, checks, ["a"], atol=1e-7)) > 0


@twins
@engines
def test_shifted_scores(twin, engine, tmp_path):
    model = either({"n_estimators": 1}, {"n_estimators": 1})(twin)
    plain = np.array(exported(engine, model, T[:200], tmp_path)[1]["scores"])
    assert plain.min() < 0
    content, checks = exported(engine, model, T[:200], tmp_path, shift="auto")
    found = check(engine, content, checks)
    np.testing.assert_allclose(np.subtract(found, plain), found[0] - plain[0], atol=1e-6)
    assert 0 <= min(found) < 1e-5  # some document has the lowest leaf of the only tree
    # Nor below 0 in an engine that rounds the last digit the other way.
    assert min(checks["scores"]) > -plain.min() * np.finfo(np.float32).eps
    shifted = exported(engine, model, T[:200], tmp_path, shift=-2.5)
    npt.assert_allclose(check(engine, *shifted), plain - 2.5, atol=1e-6)
    for shift in ("more", np.nan, None, True):
        with pytest.raises(ValueError, match=r"^shift "):
            exported(engine, model, T[:20], tmp_path, shift=shift)


@twins
def test_solr_refuses_values_close_to_a_threshold(twin, tmp_path):
    """Solr adds 1e-6, so it cannot separate thresholds of 1e-20. The plugins and Vespa can."""
    tiny = X * np.float32(1e-20)
    model = fit(twin, tiny)
    with pytest.raises(ValueError, match=r"^ranker predicts .*Solr computes"):
        exported("solr", model, tiny, tmp_path)
    for engine in ("ltr_plugin", "vespa"):
        check(engine, *exported(engine, model, tiny[:20], tmp_path))


# --- names, constants -----------------------------------------------------------------------------


@twins
@engines
def test_names_come_from_the_data_frame(twin, engine, tmp_path):
    table = pd.DataFrame(X[:, :3], columns=["a b", "bm25(title)", "f0"])
    model = fit(twin, table)
    content, checks = exported(engine, model, table[:10], tmp_path, None)
    assert checks["feature_names"] == list(table)
    # The engine may hold more features, in another order.
    rows = [[1e9, *reversed(row)] for row in checks["rows"]]
    check(engine, content, {**checks, "rows": rows}, ["more", *reversed(table.columns)])
    with pytest.raises(ValueError, match=r"^X "):
        exported(engine, model, table.rename(columns={"f0": "f1"}), tmp_path, None)
    known = exported(engine, booster(twin, table), X[:10, :3], tmp_path, None)[1]["feature_names"]
    assert known == (["a_b", "bm25(title)", "f0"] if twin is LIGHTGBM else list(table))


# --- what verification files detect ---------------------------------------------------------------


@twins
@engines
def test_faults_of_an_engine_are_detected(twin, engine, tmp_path, monkeypatch):
    content, checks = exported(engine, fit(twin, with_gaps(X) - 5), T[:20] - 5, tmp_path)
    file, read = tmp_path / "gap.verification.json", ENGINES[engine][1]
    filled = [[0.0 if value is None else value for value in row] for row in checks["rows"]]
    missing = verify(file, read(content, NAMES, filled))
    assert set(missing["content"]) == {"missing value"}
    shifted = verify(file, read(content, NAMES[1:] + NAMES[:1], checks["rows"]))
    assert "sample" in set(shifted["content"])
    row = shifted.index[0]
    assert shifted["expected"][row] == checks["scores"][row]
    monkeypatch.setattr(engines_as_documented, *ENGINES[engine][2:])
    other_side = verify(file, read(content, NAMES, checks["rows"]))
    assert "threshold" in set(other_side["content"])
    unknown = [np.nan, *checks["scores"][1:]]
    assert verify(file, unknown).index.tolist() == [0]
    for given in ((file, [1.0]), (file.with_name("gap.json"), unknown), (unknown, file)):
        with pytest.raises((TypeError, ValueError), match=r"^scores |holds no|^verification is"):
            verify(*given)


# --- refusals -------------------------------------------------------------------------------------


def vendor_model(model):
    """Return the training of a model of another kind, three trees."""
    quiet = {"verbose": -1} if isinstance(model, lightgbm.LGBMModel) else {}
    return lambda: model.set_params(n_estimators=3, **quiet).fit(X, TRAIN.y > 0)


def categories(twin):
    codes = np.random.default_rng(0).integers(0, 4, len(TRAIN)) + 2 * (TRAIN.y > 0)
    table = pd.DataFrame(X).add_prefix("x").assign(x0=pd.Categorical(codes.astype(int)))
    parameters = (
        {"min_data_per_group": 5, "cat_smooth": 1.0}
        if twin is LIGHTGBM
        else {"enable_categorical": True, "max_depth": 5}
    )
    return twin.ranker(**parameters).fit(table, TRAIN.y, TRAIN.qid)


UNUSABLE = {
    "pipeline": lambda: make_pipeline(StandardScaler(), fit(LIGHTGBM)),
    "text": lambda: "model.txt",
    "unfitted": LIGHTGBM.ranker_class,
    "linear trees": lambda: fit(LIGHTGBM, linear_tree=True, extra_trees=False),
    "zeros for missing": lambda: fit(LIGHTGBM, X * (X > 5), zero_as_missing=True),
    "gblinear": lambda: fit(XGBOOST, booster="gblinear", max_depth=None),
    "missing": lambda: fit(XGBOOST, missing=-1.0),
    "classifier": vendor_model(lightgbm.LGBMClassifier()),
    "classifier of XGBoost": vendor_model(xgboost.XGBClassifier()),
    # Predictions that are not the sum of the trees.
    "poisson": vendor_model(lightgbm.LGBMRegressor(objective="poisson")),
    "rf": vendor_model(lightgbm.LGBMRegressor(boosting_type="rf", subsample=0.5, subsample_freq=1)),
    "count:poisson": vendor_model(xgboost.XGBRegressor(objective="count:poisson")),
    "logistic": vendor_model(xgboost.XGBRegressor(objective="binary:logistic")),
}
ERRORS = {"pipeline": TypeError, "text": TypeError, "unfitted": NotFittedError}  # else ValueError


@pytest.mark.filterwarnings("ignore:.*gblinear.*:UserWarning", "ignore:.*gblinear.*:FutureWarning")
@pytest.mark.parametrize("name", UNUSABLE)
def test_models_that_no_engine_can_score(name, tmp_path):
    model = UNUSABLE[name]()
    for engine in ENGINES:
        with pytest.raises(ERRORS.get(name, ValueError), match="ranker|model|fit"):  # noqa: RUF043
            exported(engine, model, T, tmp_path)
    assert not list(tmp_path.iterdir())


ARGUMENTS = {
    "sparse": ({"X": sparse.csr_matrix(T)}, TypeError, "Sparse"),
    "no rows": ({"X": T[:0]}, ValueError, "0 sample"),
    "moved": ({"X": pd.DataFrame(T, columns=[*NAMES[1:], NAMES[0]])}, ValueError, "other places"),
    "infinite": ({"X": np.where(T > 5, np.inf, T)}, ValueError, "X"),
    "no names": ({"feature_names": None}, ValueError, "feature_names"),
    "one name twice": ({"feature_names": [*NAMES[1:], NAMES[1]]}, ValueError, "feature_names"),
    "a text": ({"feature_names": "abc"}, ValueError, "feature_names"),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_unusable_arguments(name, tmp_path):
    given, error, argument = ARGUMENTS[name]
    arguments = {"X": T, "path": tmp_path / "gap.json", "feature_names": NAMES, **given}
    for write, *_ in ENGINES.values():
        with pytest.raises(error, match=argument):
            write(trained("lightgbm", "plain"), **arguments)
    assert not list(tmp_path.iterdir())


@twins
@engines
def test_unusable_columns_are_named(twin, engine, tmp_path):
    with pytest.raises(ValueError, match=r"column 'x0' by category"):
        exported(engine, categories(twin), T, tmp_path)
    table = pd.DataFrame(T, columns=NAMES).assign(**{NAMES[1]: "text"})
    table[NAMES[0]] = pd.Categorical(np.resize(["a", "b"], len(table)))
    with pytest.raises(ValueError, match=rf"^X has the columns \['{NAMES[0]}', '{NAMES[1]}'\]"):
        ENGINES[engine][0](fit(twin), table, tmp_path / "gap.json")
    numbers = pd.get_dummies(table)
    ranker = twin.ranker(n_estimators=2).fit(numbers, TEST.y, TEST.qid)
    ENGINES[engine][0](ranker, numbers, tmp_path / "gap.json")


@pytest.mark.parametrize("names", [None, list("abcdef")], ids=["no names", "other names"])
@twins
@engines
def test_features_made_within_the_query_are_refused(twin, engine, names, tmp_path):
    """Other names in the engine do not hide them."""
    columns = pd.DataFrame(TRAIN.X[:, :2], columns=["bm25", "age"])
    table = query_relative_features(columns, qid=TRAIN.qid, kinds=("zscore", "rank"))
    with pytest.raises(ValueError, match=r"^ranker reads .*bm25_zscore_in_query"):
        ENGINES[engine][0](
            fit(twin, table), table.to_numpy(), tmp_path / "gap.json", feature_names=names
        )
