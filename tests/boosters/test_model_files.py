"""A model file alone says what the model was trained for."""

import copy
import pickle
import subprocess
import sys
from dataclasses import dataclass

import joblib
import lightgbm
import numpy as np
import numpy.testing as npt
import pytest
import sklearn
import xgboost
from twins import LIGHTGBM, TEST, TRAIN, VALI, XGBOOST, twins

import gapboost as gb
from gapboost._boosters.model_file import read_objective, words
from gapboost.lightgbm import exportable
from gapboost.xgboost import XGBGAPRanker

MEASURES = [
    gb.GAP(g=(0.1, 0.2, 0.7)),
    gb.GAP(g=(1 / 3, 2 / 3), k=7),
    gb.xGAP(g=(0.0, 1.0)),
    gb.eGAP(g=(1e-100, 1.0)),
    gb.AP(),
    gb.AP(rel=2, k=3),
    gb.nDCG(),
    gb.nDCG(k=10, gains=(0, 1, 1e20)),
    gb.Precision(k=5, rel=2),
    gb.DCG(gains="linear", discount_by="letor"),
    gb.nDCG(discount_by=3.5, short_is_zero=True, k=5),
    gb.RBP(p=0.9),
    gb.Recall(k=3),
    gb.KendallTau(),
    gb.SpearmanRho(),
    gb.INSQ(t=2.5),
    0.7 * gb.GAP(g=(1 / 3, 2 / 3)) + 1e-7 * gb.AP() + 2 * gb.xGAP(g=(0.5, 0.5)),
]
# Of these none but LambdaRank trains.
SEVERAL_DISCOUNTS = [
    0.7 * gb.AP() + 0.3 * gb.nDCG(k=10),
]
OBJECTIVES = [
    gb.LambdaRank,
    lambda measure: gb.LambdaRank(measure, random_state=7),
    gb.SoftRank,
    lambda measure: gb.SoftRank(measure, sigma=0.25),
    lambda measure: gb.ApproxRank(measure, alpha=3.5, beta=0.1),
]


@pytest.mark.parametrize("measure", MEASURES, ids=str)
@pytest.mark.parametrize("how", OBJECTIVES)
def test_words_are_read_again(measure, how):
    assert read_objective(words(how(measure)), gb.LambdaRank(gb.AP())) == how(measure)


@pytest.mark.parametrize("measure", SEVERAL_DISCOUNTS, ids=str)
def test_words_of_several_discounts_are_read_again(measure):
    assert read_objective(words(gb.LambdaRank(measure)), gb.LambdaRank(gb.AP())) == gb.LambdaRank(
        measure
    )


@dataclass(frozen=True)
class Named(gb.AP):
    """A measure that is not gapboost's, with a name that no file likes."""

    name: str = 'a: "b" \\ \n [c] é'


@dataclass(frozen=True, repr=False)
class UserMeasure(gb.AP):
    """One that prints as gapboost's do."""

    patience: int = 1


@dataclass(frozen=True, repr=False)
class UserGAP(gb.GAP):
    """One that leaves g to the data."""

    patience: int = 1


@dataclass(frozen=True, repr=False)
class UserObjective(gb.LambdaRank):
    patience: int = 1


# Not gapboost's, in spite of its name.
OtherAP = type("AP", (gb.AP,), {})


def file_of(ranker, path):
    (ranker.booster_ if isinstance(ranker, lightgbm.LGBMModel) else ranker).save_model(path)
    return path


def says(file):
    """Return the objective that the vendor's booster reads from a file."""
    if file.suffix == ".txt":
        return lightgbm.Booster(model_file=file).params["objective"].removeprefix("custom ")
    return xgboost.Booster(model_file=file).attr("gapboost_objective")


SUFFIXES = [(LIGHTGBM, ".txt"), (XGBOOST, ".json"), (XGBOOST, ".ubj")]


@pytest.mark.parametrize(("twin", "suffix"), SUFFIXES)
@pytest.mark.parametrize(
    "trained",
    [
        {},
        {"measure": "xgap", "g": (0.25, 0.75)},
        {"measure": gb.nDCG(k=5)},
        {"objective": "softrank"},
    ],
)
def test_the_file_alone_says_measure_and_g(twin, suffix, trained, tmp_path):
    ranker = twin.fitted(**trained)
    assert says(file_of(ranker, tmp_path / f"model{suffix}")) == repr(ranker.objective_)
    for again in (pickle.loads(pickle.dumps(ranker)), copy.deepcopy(ranker)):
        assert says(file_of(again, tmp_path / f"again{suffix}")) == repr(ranker.objective_)
    joblib.dump(ranker, tmp_path / "ranker.joblib")
    assert says(
        file_of(joblib.load(tmp_path / "ranker.joblib"), tmp_path / f"again{suffix}")
    ) == repr(ranker.objective_)


@pytest.mark.parametrize(("twin", "suffix"), SUFFIXES)
def test_the_file_survives_the_vendors_and_a_model_that_goes_on_says_its_last_objective(
    twin, suffix, tmp_path
):
    ranker = twin.fitted(measure="ap", **twin.no_draws)
    file = file_of(ranker, tmp_path / f"model{suffix}")
    booster = (lightgbm if twin is LIGHTGBM else xgboost).Booster(model_file=file)
    booster.save_model(tmp_path / f"copy{suffix}")
    assert says(tmp_path / f"copy{suffix}") == "LambdaRank(AP(rel=1))"
    on = twin.fitted(measure="ndcg", fit={twin.continued: str(file)})
    assert says(file_of(on, tmp_path / f"on{suffix}")) == "LambdaRank(nDCG())"


LOAD = """
import sys, lightgbm
sys.modules["gapboost"] = None
import numpy
numpy.save(sys.argv[2], lightgbm.Booster(model_file=sys.argv[1]).predict(numpy.load(sys.argv[3])))
"""


@pytest.mark.slow
def test_lightgbm_loads_it_without_a_warning(tmp_path):
    ranker = LIGHTGBM.fitted(measure=Named())
    file = file_of(ranker, tmp_path / "model.txt")
    np.save(tmp_path / "X.npy", TEST.X)
    command = [
        sys.executable,
        "-c",
        LOAD,
        str(file),
        str(tmp_path / "scores.npy"),
        str(tmp_path / "X.npy"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout + done.stderr == ""
    npt.assert_array_equal(np.load(tmp_path / "scores.npy"), ranker.predict(TEST.X))
    assert says(file).startswith("LambdaRank(Named(")


@pytest.mark.parametrize(
    "parameters", [{}, {"linear_tree": True}, {"boosting_type": "dart"}], ids=str
)
def test_lightgbms_model_is_the_one_that_was_trained(parameters):
    parameters = {"n_estimators": 40, "learning_rate": 0.5, **parameters}
    stopping = (
        {}
        if "boosting_type" in parameters
        else {"callbacks": [lightgbm.early_stopping(5, verbose=False)]}
    )
    ranker = LIGHTGBM.fitted(evals=[VALI], fit=stopping, **parameters)
    value = gb.evaluate(ranker.measure_, VALI.y, ranker.predict(VALI.X), VALI.qid)[ranker.measure_]
    best = ranker.best_iteration_ or 40
    assert value == pytest.approx(LIGHTGBM.curve(ranker)[best - 1], rel=1e-12)
    text = ranker.booster_.model_to_string(num_iteration=-1)
    assert text.count("\nTree=") == best  # LightGBM keeps the trees of the best iteration
    assert lightgbm.Booster(model_str=text).model_to_string() == text
    if "linear_tree" not in parameters:
        assert "\n[objective: lambdarank]\n" in exportable(ranker).model_to_string()


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize(
    "trained",
    [{"measure": "egap", "g": (0.25, 0.75)}, {"measure": gb.nDCG(k=5), "objective": "softrank"}],
)
@pytest.mark.parametrize("ranker_class", [XGBGAPRanker])
def test_load_model_restores_measure_and_g(trained, ranker_class, tmp_path):
    ranker = XGBOOST.fitted(**trained)
    ranker.save_model(tmp_path / "model.json")
    loaded = ranker_class()
    loaded.load_model(tmp_path / "model.json")
    assert loaded.objective_ == ranker.objective_
    assert (loaded.measure_, loaded.g_) == (ranker.measure_, ranker.g_)
    assert loaded.get_params()["measure"] == "gap"
    if ranker_class is XGBGAPRanker:
        npt.assert_array_equal(loaded.predict(TEST.X), ranker.predict(TEST.X))
        assert loaded.score(TEST.X, TEST.y, TEST.qid) == ranker.score(TEST.X, TEST.y, TEST.qid)


def test_load_model_of_what_does_not_say_goes_by_the_parameters(tmp_path):
    theirs = xgboost.XGBRanker(n_estimators=2).fit(TRAIN.X, TRAIN.y, qid=np.sort(TRAIN.qid))
    theirs.save_model(tmp_path / "model.json")
    loaded = XGBGAPRanker(measure="ap")
    loaded.load_model(tmp_path / "model.json")
    assert loaded.measure_ == gb.AP()


@pytest.mark.parametrize("source", [np.random.RandomState, np.random.default_rng])
def test_load_model_draws_nothing_from_random_state(source, tmp_path):
    XGBOOST.fitted().save_model(tmp_path / "model.json")
    loaded, untouched = XGBGAPRanker(random_state=source(3)), source(3)
    loaded.load_model(tmp_path / "model.json")
    assert loaded.random_state.random() == untouched.random()


def test_load_model_drops_the_rounds_after_the_best_one(tmp_path):
    """XGBRanker keeps them in its files, and a booster of such a file predicts by all of them."""
    theirs = xgboost.XGBRanker(
        n_estimators=60, learning_rate=0.5, early_stopping_rounds=3, eval_metric="ndcg@5"
    )
    theirs.fit(
        TRAIN.X,
        TRAIN.y,
        qid=np.sort(TRAIN.qid),
        eval_set=[(VALI.X, VALI.y)],
        eval_qid=[np.sort(VALI.qid)],
    )
    theirs.save_model(tmp_path / "theirs.json")
    ours = XGBGAPRanker()
    ours.load_model(tmp_path / "theirs.json")
    assert ours.best_iteration == theirs.best_iteration
    assert (
        ours.get_booster().num_boosted_rounds()
        == ours.best_iteration_
        < theirs.get_booster().num_boosted_rounds()
    )
    ours.save_model(tmp_path / "ours.json")
    found = xgboost.Booster(model_file=tmp_path / "ours.json").inplace_predict(TEST.X)
    npt.assert_array_equal(found, theirs.predict(TEST.X))


def test_load_model_for_a_measure_that_is_not_gapboosts(tmp_path):
    XGBOOST.fitted(measure=Named()).save_model(tmp_path / "model.json")
    loaded = XGBGAPRanker(measure=Named())
    loaded.load_model(tmp_path / "model.json")
    assert loaded.measure_ == Named()
    other = XGBGAPRanker(n_estimators=3)
    with pytest.raises(
        ValueError,
        match=r"the model was trained for LambdaRank\(Named\(.*the ranker has "
        r"LambdaRank\(GAP\(\)\)",
    ):
        other.load_model(tmp_path / "model.json")
    assert not other.__sklearn_is_fitted__()
    assert vars(other) == vars(XGBGAPRanker(n_estimators=3))
    fitted = XGBOOST.fitted(evals=[VALI])
    before, scores = dict(vars(fitted)), fitted.predict(TEST.X)
    with pytest.raises(ValueError, match="the model was trained for"):
        fitted.load_model(tmp_path / "model.json")
    assert vars(fitted) == before
    npt.assert_array_equal(fitted.predict(TEST.X), scores)


@pytest.mark.parametrize(
    ("trained", "requested"),
    [
        (0.5 * gb.AP() + 0.5 * UserMeasure(), 0.5 * gb.AP() + 0.5 * gb.nDCG(k=3)),
        (0.5 * gb.AP() + 0.5 * UserMeasure(), 0.4 * gb.AP() + 0.6 * UserMeasure()),
        (0.5 * gb.AP() + 0.5 * UserMeasure(), UserMeasure()),
        (UserMeasure(patience=2), UserMeasure(patience=300)),
        (UserMeasure(k=5), UserMeasure()),
        (UserGAP(g=(0.2, 0.8)), UserGAP()),
        (UserGAP(g=(0.5, 0.5)), UserGAP(patience=2)),
        (Named(name="é"), Named(name="è")),
        (Named(name="a  b"), Named(name="a b")),
        (Named(name="?"), Named(name='"')),
        (OtherAP(), gb.AP()),
    ],
    ids=str,
)
def test_load_model_takes_no_other_measure_than_the_file_names(trained, requested):
    text = words(gb.LambdaRank(trained))
    with pytest.raises(ValueError, match="the model was trained for"):
        read_objective(text, gb.LambdaRank(requested))
    assert read_objective(text, gb.LambdaRank(trained)) == gb.LambdaRank(trained)


def test_load_model_takes_no_other_objective_than_the_file_names():
    trained = UserObjective(gb.AP(), patience=2)
    for other in (
        UserObjective(gb.AP(), patience=3),
        UserObjective(gb.nDCG(), patience=2),
        gb.LambdaRank(gb.AP()),
    ):
        with pytest.raises(ValueError, match="the model was trained for"):
            read_objective(words(trained), other)
    assert read_objective(words(trained), trained) == trained


@pytest.mark.parametrize(
    "measure", [UserGAP(patience=2), 0.5 * gb.GAP() + 0.5 * UserMeasure(), gb.GAP()], ids=str
)
@pytest.mark.parametrize("how", [gb.LambdaRank, lambda measure: UserObjective(measure, patience=2)])
def test_words_fill_in_the_g_that_the_parameters_leave_open(measure, how):
    trained = how(measure).resolved(np.array([0, 1, 3]))
    assert "(0.5, 0.0, 0.5)" in words(trained)
    assert read_objective(words(trained), how(measure)) == trained


def test_load_model_for_a_sum_with_a_measure_that_is_not_gapboosts(tmp_path):
    XGBOOST.fitted(measure=0.5 * gb.AP() + 0.5 * UserMeasure()).save_model(tmp_path / "model.json")
    loaded = XGBGAPRanker(measure=0.5 * gb.AP() + 0.5 * gb.nDCG(k=3))
    with pytest.raises(ValueError, match="the model was trained for"):
        loaded.load_model(tmp_path / "model.json")
    loaded.set_params(measure=0.5 * gb.AP() + 0.5 * UserMeasure()).load_model(
        tmp_path / "model.json"
    )
    assert loaded.measure_ == 0.5 * gb.AP() + 0.5 * UserMeasure()


def test_load_model_wants_the_missing_value_of_the_training(tmp_path):
    """XGBoost's files do not say which value was missing, and predictions go by the parameter."""
    zeros = XGBOOST.fitted(missing=0)
    zeros.save_model(tmp_path / "zeros.json")
    loaded = XGBGAPRanker()
    with pytest.raises(
        ValueError, match=r"missing is nan, but the model was trained with 0\.0; expected the same"
    ):
        loaded.load_model(tmp_path / "zeros.json")
    loaded.set_params(missing=0.0).load_model(tmp_path / "zeros.json")
    npt.assert_array_equal(loaded.predict(TEST.X), zeros.predict(TEST.X))
    on = XGBOOST.fitted(missing=-1.0, fit={"xgb_model": zeros})
    on.save_model(tmp_path / "on.json")
    XGBGAPRanker(missing=-1).load_model(tmp_path / "on.json")
    XGBOOST.fitted().save_model(tmp_path / "gaps.json")
    with pytest.raises(ValueError, match=r"missing is 0\.0, but the model was trained with nan"):
        loaded.load_model(tmp_path / "gaps.json")
    XGBGAPRanker().load_model(tmp_path / "gaps.json")


def test_load_model_replaces_all_of_a_fit(tmp_path):
    XGBOOST.fitted(measure="ap").save_model(tmp_path / "model.json")
    fitted = XGBOOST.fitted(measure="ndcg", evals=[VALI])
    booster, scores = fitted.get_booster(), fitted.predict(TEST.X)
    fitted.load_model(tmp_path / "model.json")
    assert fitted.measure_ == gb.AP()
    assert not {"evals_result_", "n_queries_in_"} & vars(fitted).keys()
    npt.assert_array_equal(booster.inplace_predict(TEST.X), scores)


def test_load_model_knows_the_columns(tmp_path):
    import polars as pl

    names = [f"column {i}" for i in range(TRAIN.n_features)]
    XGBOOST.ranker().fit(pl.DataFrame(TRAIN.X, schema=names), TRAIN.y, TRAIN.qid).save_model(
        tmp_path / "model.json"
    )
    loaded = XGBGAPRanker()
    loaded.load_model(tmp_path / "model.json")
    with pytest.raises(
        ValueError, match="X has the column 'column 22' where 'column 0' was in training"
    ):
        loaded.predict(pl.DataFrame(TEST.X, schema=names[::-1]))


@twins
def test_words_of_a_g_for_many_grades(twin, tmp_path):
    ranker = twin.ranker().fit(TRAIN.X, TRAIN.y * 127, TRAIN.qid)
    assert len(ranker.g_) == 254
    assert read_objective(
        says(file_of(ranker, tmp_path / f"model{'.txt' if twin is LIGHTGBM else '.json'}")),
        gb.LambdaRank(gb.AP()),
    ) == (ranker.objective_)


@twins
def test_pickles_of_0_1_0rc1_are_read(twin):
    """They hold the parts of the result one by one."""
    ranker = twin.ranker(n_estimators=3)
    ranker.fit(TRAIN.X, TRAIN.y, qid=TRAIN.qid, position=np.arange(len(TRAIN.y)) % 5)
    state = dict(ranker.__getstate__())
    result = state.pop("_result")
    state |= {
        "_trained_by": result.objective,
        "n_queries_in_": result.n_queries,
        "_feature_names": result.feature_names,
        "_position_bias": result.position_bias,
        "_last_bias": result.last_position_bias,
    }
    loaded = object.__new__(type(ranker))
    loaded.__setstate__(state)
    for name in ("measure_", "objective_", "n_queries_in_", "position_bias_"):
        assert getattr(loaded, name) == getattr(ranker, name)
    npt.assert_array_equal(loaded.predict(TEST.X), ranker.predict(TEST.X))


def test_loading_keeps_what_is_not_of_the_model(tmp_path):
    """Such as scikit-learn's metadata requests, and attributes of a subclass."""
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = XGBOOST.ranker(n_estimators=3).set_fit_request(position=False)
    ranker.note = "mine"
    ranker.fit(TRAIN.X, TRAIN.y, qid=TRAIN.qid).save_model(tmp_path / "model.ubj")
    ranker.load_model(tmp_path / "model.ubj")
    assert ranker.note == "mine"
    assert ranker.get_metadata_routing().fit.requests["position"] is False
