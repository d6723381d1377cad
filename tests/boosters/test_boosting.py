"""Options of the boosters beyond plain trees take effect with our objectives."""

import lightgbm
import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
import xgboost
from packaging.version import Version
from twins import LIGHTGBM, QID, TEST, TRAIN, VALI, XGBOOST, X, Y, twins

import gapboost as gb

GRADIENT_BASED = {"sampling_method": "gradient_based", "subsample": 0.4}
WEIGHTS = np.repeat([0.0, 1.0], [10, TRAIN.n_features - 10])
OPTIONS = {
    "lightgbm": [
        {"boosting_type": "dart", "drop_rate": 0.5},
        {"boosting_type": "goss"},
        {"data_sample_strategy": "goss", "top_rate": 0.2, "other_rate": 0.2},
        {"linear_tree": True},
        {"subsample": 0.5, "subsample_freq": 1},
        {"extra_trees": False},
        {"num_iterations": 5},
        {"feature_fraction": 0.5},
        {"lambda_l2": 3.0},
        {"min_data": 3},
        {"seed": 4},
    ],
    "xgboost": [
        {"booster": "gblinear", "max_depth": None, "learning_rate": 1.0},
        {"booster": "dart", "rate_drop": 0.5},
        {"tree_method": "exact"},
        {"tree_method": "approx", "max_bin": 8},
        {"grow_policy": "lossguide", "max_leaves": 5, "max_depth": 0},
        {"subsample": 0.5, "colsample_bytree": 0.5},
        {"num_parallel_tree": 2, "subsample": 0.5},
        {"feature_weights": WEIGHTS, "colsample_bynode": 0.5},
        {"eta": 0.5},
        {"seed": 4},
        GRADIENT_BASED,
    ],
}


@pytest.mark.parametrize(
    ("twin", "parameters"),
    [(twin, options) for twin in (LIGHTGBM, XGBOOST) for options in OPTIONS[twin.name]],
    ids=lambda value: getattr(value, "name", "-".join(value) if isinstance(value, dict) else ""),
)
def test_options_take_effect_and_train(twin, parameters):
    if parameters is GRADIENT_BASED and Version(xgboost.__version__) < Version("3.2"):
        pytest.skip("XGBoost samples so on processors from 3.2 on")
    # LightGBM samples from round 1 / learning_rate on.
    shared = {"n_estimators": 10, "learning_rate": 0.3, "random_state": 0}
    if {"num_iterations", "seed", "eta"} & parameters.keys():
        shared = {name: value for name, value in shared.items() if name == "n_estimators"}
    rankers = [twin.fitted(evals=[VALI], **{**shared, **given}) for given in (parameters, {})]
    found, plain = (ranker.predict(VALI.X) for ranker in rankers)
    assert (found != plain).any()
    curve = twin.curve(rankers[0])
    untrained = gb.evaluate("gap", VALI.y, np.zeros(len(VALI)), VALI.qid)[gb.GAP()]
    assert curve[-1] > untrained + 0.05
    if parameters.get("boosting_type") != "dart":  # it does not always repeat itself
        measure = rankers[0].measure_
        value = gb.evaluate(measure, VALI.y, found, VALI.qid)[measure]
        assert curve[-1] == pytest.approx(value, abs=1e-6)
    if "feature_weights" in parameters:
        assert not rankers[0].feature_importances_[:10].any()
    if "num_iterations" in parameters:
        assert rankers[0].booster_.num_trees() == 5


@pytest.mark.parametrize(
    ("n", "leaves", "least", "depth"),
    [(2_000, 12, 40, 5), (3_100, 13, 62, 5), (15_000, 19, 100, 5), (15_001, 19, 100, 6)],
)
def test_defaults_of_trees(n, leaves, least, depth):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 3))
    y, qid = (x @ [1.0, 1.0, 0.5] + rng.normal(size=n) > 1).astype(int), np.arange(n) // 50
    shared = {"n_estimators": 5, "n_jobs": 1}
    ours = LIGHTGBM.ranker_class(**shared, verbose=-1).fit(x, y, qid).predict(x)
    native = {"objective": gb.lightgbm.objective("gap"), "metric": "None", "verbose": -1}
    trees = {"num_leaves": leaves, "min_child_samples": least, "max_bin": 127}
    theirs = lightgbm.LGBMRanker(**shared, **native, **trees).fit(x, y, group=np.bincount(qid))
    npt.assert_allclose(ours, theirs.predict(x), rtol=0, atol=1e-6)
    ours, the_same, leaves, with_depth = (
        XGBOOST.ranker_class(**shared, **given).fit(x, y, qid).predict(x)
        for given in (
            {},
            {"reg_lambda": 5.0, "max_depth": depth},
            {"max_leaves": 99},
            {"max_leaves": 99, "max_depth": 6},
        )
    )
    npt.assert_array_equal(ours, the_same)
    npt.assert_array_equal(leaves, with_depth)
    assert (ours != leaves).any() == (depth == 5)


def test_leaves_are_no_more_than_those_of_lightgbm():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(110_000, 2))
    y = x.sum(axis=1) + rng.normal(size=110_000) > 1
    ranker = LIGHTGBM.ranker_class(n_estimators=1, n_jobs=1, verbose=-1)
    ranker.fit(x, y, np.arange(110_000) // 50)
    assert ranker.booster_.dump_model()["tree_info"][0]["num_leaves"] == 31


@pytest.mark.parametrize("name", ["max_bin", "max_bins"])
def test_a_users_number_of_bins_wins(name):
    options = {"n_estimators": 5, "n_jobs": 1, "verbose": -1}

    def scores(**given):
        return LIGHTGBM.ranker_class(**options, **given).fit(X[:, :1], Y, QID).predict(X[:, :1])

    assert len(np.unique(scores(**{name: 3}))) <= 3
    assert (scores(**{name: 255}) != scores()).any()


@twins
@pytest.mark.parametrize("sign", [1, -1])
def test_monotone_constraints(twin, sign):
    """Relevance falls and then rises in the first feature; later it depends on the second."""
    x = np.random.default_rng(0).uniform(-1, 1, size=(len(TRAIN), 2))
    score = x[:, 0] + 2 * x[:, 0] ** 2 + (x[:, 0] > 0) * x[:, 1]
    y = (score > 0.5).astype(int) + (score > 1.5)
    first, second = np.meshgrid(np.linspace(-1, 1, 50), np.linspace(-1, 1, 5))
    grid = np.column_stack([first.ravel(), second.ravel()])

    def steps(**parameters):
        ranker = twin.ranker(n_estimators=20, **parameters).fit(sign * x, y, QID)
        return np.diff(ranker.predict(sign * grid).reshape(5, 50), axis=1)

    assert (steps() < 0).any()
    limits = [sign, 0] if twin is LIGHTGBM else (sign, 0)
    bound = steps(monotone_constraints=limits)
    assert (bound >= 0).all()
    assert (bound > 0).any()


def test_categories_in_another_order_continue_a_model_of_xgboost():
    letters = np.array(list("abcdef"))

    def frame(y, categories):
        rng = np.random.default_rng(0)
        of_grade = letters[np.array([[2, 3], [0, 5], [1, 4]])[y, rng.integers(2, size=len(y))]]
        chosen = np.where(rng.random(len(y)) < 0.3, rng.choice(letters, len(y)), of_grade)
        letter = pd.Categorical(chosen, categories=list(categories))
        return pd.DataFrame({"letter": letter, "x": rng.normal(size=len(y))})

    def fit(categories, vali_categories, **continued):
        evaluation = {
            "eval_set": [(frame(VALI.y, vali_categories), VALI.y)],
            "eval_qid": [VALI.qid],
        }
        ranker = XGBOOST.ranker(enable_categorical=True)
        return ranker.fit(frame(Y, categories), Y, QID, **evaluation, **continued)

    first = fit("abcdef", "abcdef")
    expected = fit("abcdef", "abcdef", xgb_model=first)
    found = fit("cabfed", "cfbeda", xgb_model=first)
    assert found.evals_result_ == expected.evals_result_
    scores = expected.predict(frame(TEST.y, "abcdef"))
    npt.assert_array_equal(found.predict(frame(TEST.y, "fbdcea")), scores)


@pytest.mark.parametrize("kind", ["ranker", "booster", "file"])
@pytest.mark.parametrize("categories", ["cab", "abcd", "ab"])
@pytest.mark.parametrize("numbers", [False, True])
def test_other_categories_do_not_continue_a_model_of_lightgbm(numbers, categories, kind, tmp_path):
    """Its old trees would split by the new codes."""

    def frame(categories):
        values = np.array(["a", "b", *categories])[np.arange(len(Y)) % 2]
        letter = pd.Categorical(values, categories=list(categories))
        if numbers:
            letter = letter.rename_categories([*map(ord, categories)])
        return pd.DataFrame({"x": X[:, 0], "letter": letter, "z": X[:, 1]})

    first = LIGHTGBM.ranker().fit(frame("abc"), Y, QID)
    path = tmp_path / "model.txt"
    first.booster_.save_model(path)
    model = {"ranker": first, "booster": first.booster_, "file": path}[kind]
    with pytest.raises(ValueError, match=r"^X has other categories in \['letter'\] than the model"):
        LIGHTGBM.ranker().fit(frame(categories), Y, QID, init_model=model)
    again = LIGHTGBM.ranker().fit(frame("abc"), Y, QID, init_model=model)
    assert again.booster_.num_trees() == 2 * first.booster_.num_trees()


def test_numbers_where_training_had_categories_are_an_error_of_types():
    """A file may have them back as numbers."""
    frame = pd.DataFrame({"x": X[:, 0], "shop": pd.Categorical(Y + 10)})
    numbers = frame.astype({"shop": int})
    ranker = LIGHTGBM.ranker().fit(frame, Y, QID)
    with pytest.raises(ValueError, match=r"^X has other columns of categories than training"):
        ranker.predict(numbers)
    with pytest.raises(ValueError, match=r"^X of an evaluation set has other columns of cat"):
        LIGHTGBM.ranker().fit(frame, Y, QID, eval_set=[(numbers, Y)], eval_qid=[QID])
    both = frame.assign(x=pd.Categorical(Y))
    with pytest.raises(ValueError, match=r"^X has other categories in \['x', 'shop'\] than the"):
        LIGHTGBM.ranker().fit(both, Y, QID, init_model=ranker)


@pytest.mark.parametrize("other", [np.nan, 0.0])
def test_a_model_of_xgboost_with_another_missing_value_is_not_continued(other):
    """Its trees would get other values than in its training."""
    rows = np.where(X > 4, X, -1.0)
    first = XGBOOST.ranker(missing=-1.0).fit(rows, Y, QID)
    for model in (first, first.to_vendor()):
        with pytest.raises(ValueError, match=r"^missing is .*, and -1.0 in the model to continue"):
            XGBOOST.ranker(missing=other).fit(rows, Y, QID, xgb_model=model)
    for model in (first, first.get_booster()):
        again = XGBOOST.ranker(missing=-1).fit(rows, Y, QID, xgb_model=model)
        assert again.get_booster().num_boosted_rounds() == 10
