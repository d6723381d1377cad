"""Parameters that would be ignored: typos, and the boosters' own ranking objectives and metrics."""

import inspect
import json
import pickle
import re

import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold
from twins import LIGHTGBM, SIZES, TEST, TRAIN, VALI, XGBOOST, sizes_of, twins

import gapboost
import gapboost as gb
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.lightgbm.parameter_table import LIGHTGBM as LIGHTGBMS
from gapboost.model_selection import GSearchCV
from gapboost.xgboost import XGBGAPRanker
from gapboost.xgboost.parameter_table import XGBOOST as XGBOOSTS

X, Y, QID = TRAIN.X, TRAIN.y, TRAIN.qid
VOCABULARIES = {"lightgbm": LIGHTGBMS, "xgboost": XGBOOSTS}


def message(call, *arguments, **more):
    with pytest.raises(ValueError) as caught:
        call(*arguments, **more)
    return str(caught.value)


def refused(twin, fit=None, **parameters):
    """Return the message of the error about these parameters."""
    ranker = twin.ranker(**parameters)
    text = message(ranker.fit, X, Y, QID, **(fit or {}))
    assert not ranker.__sklearn_is_fitted__()
    return text


# --- names that nobody knows ----------------------------------------------------------------------

TYPOS = {
    "mesure": "measure",
    "n_estimator": "n_estimators",
    "gg": "g",
    "G": "g",
    "learning_rat": "learning_rate",
    "max_dept": "max_depth",
    "Objective": "objective",
    "reg_lamda": "reg_lambda",
    "subsampel": "subsample",
}


@twins
@pytest.mark.parametrize("typo", TYPOS)
def test_a_typo_is_an_error_that_proposes_the_nearest_name(twin, typo):
    library = VOCABULARIES[twin.name].library
    assert re.match(
        rf"{typo} is 0\.5, which neither gapboost nor {library} knows; expected {TYPOS[typo]}( "
        r"\(|$)",
        refused(twin, **{typo: 0.5}),
    )


@twins
def test_all_typos_come_in_one_error_by_every_way_of_setting_them(twin):
    expected = refused(twin, mesure="ap", n_estimator=10, zzz=1)
    assert len(expected.splitlines()) == 3
    assert "zzz is 1, which neither" in expected
    for ranker in (
        clone(twin.ranker(mesure="ap", n_estimator=10, zzz=1)),
        twin.ranker().set_params(mesure="ap", n_estimator=10, zzz=1),
    ):
        assert message(ranker.fit, X, Y, QID) == expected
    unset = twin.ranker(mesure="ap").set_params(mesure=None)
    assert unset.fit(X, Y, QID).measure_.short_name == "gap"


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("n_jobs", [None, 2])
@twins
def test_a_search_over_a_name_that_nobody_knows(twin, n_jobs):
    grid = {"gg": [(0.5, 0.5), (0.9, 0.1)]}
    search = GSearchCV(twin.ranker(), grid, scoring=gb.AP(), cv=2, n_jobs=n_jobs)
    assert message(search.fit, X, Y, QID).startswith(
        "gg is (0.5, 0.5), which neither gapboost nor "
    )
    assert not hasattr(search, "best_params_")
    theirs = GridSearchCV(
        twin.ranker(), grid, cv=GroupKFold(2), scoring=lambda *_: 0.0, n_jobs=n_jobs
    )
    assert "gg is (0.5, 0.5), which neither gapboost nor " in message(
        theirs.fit, X, Y, qid=QID, groups=QID
    )


@twins
def test_arguments_of_fit_are_no_parameters(twin):
    lines = refused(twin, qid=QID, eval_group=[SIZES], sample_weight=np.ones(3)).splitlines()
    assert len(lines) == 3
    assert all(line.endswith("; expected it in fit") for line in lines)


def test_lightgbm_takes_every_name_that_it_knows():
    aliases = {
        name
        for names in lightgbm.basic._ConfigAliases._get_all_param_aliases().values()
        for name in names
    }
    assert LIGHTGBMS.known() == aliases > {"num_leaves", "mc_method", "extra_tree", "reg_alpha"}
    taken = {
        "max_leaf": 5,
        "sub_row": 0.9,
        "bagging_freq": 1,
        "cegb_tradeoff": 1.0,
        "mc_penalty": 0.0,
        "seed": 3,
    }
    LGBMGAPRanker(n_estimators=2, n_jobs=1, verbose=-1, **taken).fit(X, Y, QID)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize(
    "taken",
    [
        {"eta": 0.1, "lambda": 2.0, "alpha": 0.1, "min_split_loss": 0.0, "nthread": 1, "seed": 3},
        {
            "booster": "dart",
            "rate_drop": 0.1,
            "skip_drop": 0.5,
            "sample_type": "weighted",
            "one_drop": 1,
        },
        {
            "booster": "gblinear",
            "updater": "coord_descent",
            "feature_selector": "greedy",
            "top_k": 3,
        },
        {"tree_method": "exact", "seed_per_iteration": True, "max_delta_step": 1.0},
        {"tree_method": "hist", "max_cached_hist_node": 1000, "refresh_leaf": 1, "use_rmm": False},
    ],
    ids=lambda taken: next(iter(taken)),
)
@pytest.mark.filterwarnings("ignore:(?s).*(are not used|manually specified the `updater`)")
def test_xgboost_takes_every_name_that_it_knows(taken):
    assert taken.keys() <= XGBOOSTS.known() | inspect.signature(xgboost.XGBModel).parameters.keys()
    XGBOOST.fitted(**taken)


def test_names_that_xgboost_checks_itself_are_the_same():
    """XGBoost warns of each name that its configuration lacks.

    It warns of none that `known` holds, and of one that it does not hold.
    """
    data = XGBOOST.dataset(X, Y, SIZES)
    known = {
        "rate_drop",
        "feature_selector",
        "ndcg_exp_gain",
        "opt_dense_col",
        "max_cached_hist_node",
        "eta",
        "top_k",
    }
    assert known <= XGBOOSTS.known()
    with pytest.warns(UserWarning, match=r'\{ "max_dept" \} are not used'):
        xgboost.Booster({"eta": 0.1, "max_dept": 3, "nthread": 1}, [data]).update(data, 0)
    assert "max_dept" not in XGBOOSTS.known()


@pytest.mark.filterwarnings("ignore:(?s).*brand_new.*are not used")
def test_a_newer_xgboost_gets_names_that_are_not_checked():
    text = refused(XGBOOST, brand_new=3)
    assert text == (
        "brand_new is 3, which neither gapboost nor XGBoost knows; remove it "
        "(validate_parameters=False passes it on)"
    )
    XGBOOST.fitted(brand_new=3, validate_parameters=False)
    assert "lambdarank_unbiased" in refused(
        XGBOOST, lambdarank_unbiased=True, validate_parameters=False
    )


@twins
@pytest.mark.filterwarnings("ignore:(?s).*own.*are not used")  # what XGBoost says of it
def test_parameters_of_a_subclass_are_no_typos(twin):
    class Mine(twin.ranker_class):
        def __init__(self, *, own=3, **kwargs):
            super().__init__(**kwargs)
            self.own = own

    Mine(n_estimators=2, own=4, **twin.parameters).fit(X, Y, QID)
    text = message(Mine(own=4, owm=5).fit, X, Y, QID)
    assert text.startswith("owm is 5, ")
    assert "expected own" in text


# --- words that mean something else here ----------------------------------------------------------

# Parameters and arguments of fit in the booster's words, and the same in ours.
EQUAL = {
    "lightgbm": [
        (
            {"measure": "ndcg", "label_gain": [0, 1, 3]},
            {},
            {"measure": gb.nDCG(gains=(0, 1, 3))},
            {},
        ),
        (
            {"measure": "dcg@5", "label_gain": "0,1,3"},
            {},
            {"measure": gb.DCG(k=5, gains=(0, 1, 3))},
            {},
        ),
        (
            {"lambdarank_truncation_level": 4},
            {},
            {"objective": gb.LambdaRank(gb.GAP(), truncation=4)},
            {},
        ),
        (
            {
                "objective": gb.LambdaRank(gb.nDCG(), sigma=2.0),
                "lambdarank_truncation_level": 7,
                "sigmoid": 2.0,
            },
            {},
            {"objective": gb.LambdaRank(gb.nDCG(), sigma=2.0, truncation=7)},
            {},
        ),
        (
            {"sigmoid": 2.0, "lambdarank_norm": False, "g": (0.25, 0.75), "random_state": 3},
            {},
            {
                "objective": gb.LambdaRank(
                    gb.GAP(g=(0.25, 0.75)), sigma=2.0, normalize=False, random_state=3
                ),
                "random_state": 3,
            },
            {},
        ),
        ({"application": "lambdarank"}, {}, {}, {}),
        ({"metric": "ndcg"}, {}, {}, {"eval_metric": ["ndcg"]}),
        ({"metrics": "map,ndcg"}, {}, {}, {"eval_metric": ["ap", "ndcg"]}),
        (
            {"metric": ["p@3", "map"]},
            {"eval_metric": "ndcg"},
            {},
            {"eval_metric": ["p@3", "ap", "ndcg"]},
        ),
        ({"metric": "None"}, {}, {}, {}),
        ({"metric": None, "sigmoid": None}, {}, {}, {}),
        ({}, {"eval_at": [2, 5]}, {}, {"eval_metric": ["ndcg@2", "ndcg@5"]}),
        (
            {"map_at": "2,5", "metric": "map"},
            {},
            {},
            {"eval_metric": [gb.AP(k=2, ideal_at_k=True), gb.AP(k=5, ideal_at_k=True)]},
        ),
        (
            {},
            {"eval_at": [3], "eval_metric": "map"},
            {},
            {"eval_metric": gb.AP(k=3, ideal_at_k=True)},
        ),
        (
            {"measure": "dcg", "label_gain": (0, 2, 3)},
            {"eval_metric": ["dcg@3", "ndcg@3"]},
            {"measure": gb.DCG(gains=(0, 2, 3))},
            {"eval_metric": [gb.DCG(k=3, gains=(0, 2, 3)), gb.nDCG(k=3, gains=(0, 2, 3))]},
        ),
        (
            {},
            {"eval_at": (2, 5), "eval_metric": ["ndcg", "p@3"]},
            {},
            {"eval_metric": ["ndcg@2", "ndcg@5", "p@3"]},
        ),
        (
            {"measure": "ndcg", "label_gain": (0, 2, 3)},
            {"eval_at": [2]},
            {"measure": gb.nDCG(gains=(0, 2, 3))},
            {"eval_metric": gb.nDCG(k=2, gains=(0, 2, 3))},
        ),
    ],
    "xgboost": [
        ({"objective": "rank:ndcg"}, {}, {"measure": "ndcg"}, {}),
        ({"objective": "rank:ndcg", "measure": "ndcg@4"}, {}, {"measure": "ndcg@4"}, {}),
        ({"objective": "rank:map"}, {}, {"measure": "ap"}, {}),
        ({"objective": "rank:pairwise"}, {}, {"objective": gb.RankNet(gb.nDCG())}, {}),
        (
            {"objective": "rank:pairwise", "measure": "ap", "lambdarank_num_pair_per_sample": 4},
            {},
            {"objective": gb.RankNet(gb.AP(), truncation=4)},
            {},
        ),
        (
            {"lambdarank_num_pair_per_sample": 4},
            {},
            {"objective": gb.LambdaRank(gb.GAP(), truncation=4)},
            {},
        ),
        (
            {
                "objective": "rank:map",
                "lambdarank_num_pair_per_sample": 4,
                "lambdarank_pair_method": "topk",
                "lambdarank_normalization": False,
                "random_state": 3,
            },
            {},
            {
                "objective": gb.LambdaRank(gb.AP(), truncation=4, normalize=False, random_state=3),
                "random_state": 3,
            },
            {},
        ),
        (
            {"lambdarank_score_normalization": False, "lambdarank_unbiased": False},
            {},
            {},
            {},
        ),
        (
            {"objective": "rank:ndcg", "ndcg_exp_gain": False},
            {},
            {"measure": gb.nDCG(gains="linear")},
            {},
        ),
        (
            {"objective": "rank:ndcg", "ndcg_exp_gain": False, "eval_metric": ["ndcg@5", "dcg@3"]},
            {},
            {
                "measure": gb.nDCG(gains="linear"),
                "eval_metric": ["ndcg(gains=linear)@5", "dcg(gains=linear)@3"],
            },
            {},
        ),
        ({"objective": "rank:ndcg", "ndcg_exp_gain": True}, {}, {"measure": gb.nDCG()}, {}),
        ({"disable_default_eval_metric": True}, {}, {}, {}),
        (
            {"eval_metric": ["ndcg@5-", "pre@3", "map"]},
            {},
            {"eval_metric": ["ndcg@5", "precision@3", "ap"]},
            {},
        ),
        (
            {"eval_metric": ["map@3-", "ap@5"]},
            {},
            {"eval_metric": [gb.AP(k=3, ideal_at_k=True), "ap@5"]},
            {},
        ),
    ],
}

# Parameters and arguments of fit, and for each of them what the error says after "expected".
TRANSLATIONS = {
    "lightgbm": [
        ({"label_gain": [0, 1, 3]}, {}, {"label_gain": 'measure="nDCG(gains=(0.0, 1.0, 3.0))"'}),
        ({"label_gain": "0,1,3"}, {}, {"label_gain": 'measure="nDCG(gains=(0.0, 1.0, 3.0))"'}),
        ({"objective": "rank_xendcg"}, {}, {"objective": 'measure="ndcg"'}),
        ({"loss": "xendcg"}, {}, {"loss": 'measure="ndcg"'}),
    ],
    "xgboost": [
        ({"ndcg_exp_gain": False}, {}, {"ndcg_exp_gain": "measure=\"nDCG(gains='linear')\""}),
    ],
}

# Parameters that nothing is to be written for: the error says why.
WITHOUT = {
    "lightgbm": [
        {"label_gain": [0, 1, 3], "measure": "ap"},
        {"label_gain": [0, 1, 3], "measure": gb.nDCG(gains=(0, 1, 2))},
        {"lambdarank_truncation_level": 20, "objective": gb.LambdaRank(gb.nDCG(), truncation=5)},
        {"lambdarank_truncation_level": 0},
        {"lambdarank_norm": True},
        {"metric": "auc"},
        {"metric_types": "auc"},
        {"boosting_type": "rf"},
        {"boost": "random_forest"},
        {"objective_seed": 3},
        {"eval_at": [0]},
        {"eval_at": []},
        {"eval_at": "2,x"},
        {"sigmoid": 2.0, "objective": "softrank"},
        {"sigmoid": -1.0},
        {"class_weight": "balanced", "boosting": "rf", "bagging_by_query": True},
        {"is_unbalance": True},
        {"unbalanced_sets": True, "scale_pos_weight": 3.0},
    ],
    "xgboost": [
        {"lambdarank_pair_method": "topk"},
        {"lambdarank_pair_method": "mean", "lambdarank_num_pair_per_sample": 4},
        {"lambdarank_num_pair_per_sample": 0},
        {"lambdarank_unbiased": True, "lambdarank_bias_norm": 2.0},
        {"lambdarank_score_normalization": True},
        {"lambdarank_normalization": True},
        {"lambdarank_normalization": False, "objective": "approxrank"},
        {"ndcg_exp_gain": True, "measure": gb.nDCG(gains="linear")},
        {"scale_pos_weight": 3.0},
    ],
}
OWN = ("measure", "objective", "g")


def of_both(table):
    """One test a row."""
    rows = [
        (twin, i, row) for twin in (LIGHTGBM, XGBOOST) for i, row in enumerate(table[twin.name])
    ]
    return [pytest.param(twin, row, id=f"{twin.name}-{i}") for twin, i, row in rows]


@pytest.mark.slow(keep=6)
@pytest.mark.parametrize(("twin", "case"), of_both(EQUAL))
def test_a_word_with_an_equal_is_taken(twin, case):
    """The trained model is identical, also after `clone`, `set_params` and pickling.

    The parameters stay as they were given.
    """
    parameters, fit, own, own_fit = case
    watched = {"eval_set": [(VALI.X, VALI.y)], "eval_qid": [VALI.qid]}
    expected = twin.ranker(**own).fit(X, Y, QID, **watched, **own_fit)
    base = twin.ranker(**parameters)
    for ranker in (
        base,
        clone(base),
        twin.ranker().set_params(**parameters),
        pickle.loads(pickle.dumps(base)),
    ):
        ranker.fit(X, Y, QID, **watched, **fit)
        assert ranker.objective_ == expected.objective_
        assert ranker.evals_result_ == expected.evals_result_
        np.testing.assert_array_equal(ranker.predict(TEST.X), expected.predict(TEST.X))
        assert parameters.items() <= ranker.get_params().items()
    assert base.to_vendor().predict(TEST.X).shape == TEST.y.shape


def test_a_search_over_words_of_the_booster():
    """Each candidate trains what its words say."""
    grid = {"sigmoid": [0.5, 2.0], "lambdarank_truncation_level": [3, None]}
    theirs = GSearchCV(LIGHTGBM.ranker(), grid, scoring=gb.AP(), cv=2).fit(X, Y, QID)
    own = [gb.LambdaRank(gb.GAP(), sigma=s, truncation=k) for k in (3, None) for s in (0.5, 2.0)]
    ours = GSearchCV(LIGHTGBM.ranker(), {"objective": own}, scoring=gb.AP(), cv=2).fit(X, Y, QID)
    values = [search.cv_results_["mean_test_score"] for search in (theirs, ours)]
    np.testing.assert_array_equal(np.sort(values[0]), np.sort(values[1]))
    assert len(set(values[0])) == 4 * 5


def test_an_objective_of_the_booster_beside_another_measure():
    assert refused(XGBOOST, objective="rank:map", measure="ndcg") == (
        "objective is 'rank:map'; remove it: measure says what to train for"
    )


def test_a_loaded_model_goes_by_the_words_too(tmp_path):
    ranker = XGBOOST.fitted(objective="rank:ndcg", ndcg_exp_gain=False)
    ranker.save_model(tmp_path / "model.json")
    for parameters in ({}, {"objective": "rank:ndcg", "ndcg_exp_gain": False}):
        loaded = XGBGAPRanker(**parameters)
        loaded.load_model(tmp_path / "model.json")
        assert loaded.measure_ == gb.nDCG(gains="linear")


@pytest.mark.slow(keep=3)
@pytest.mark.parametrize(("twin", "case"), of_both(TRANSLATIONS))
def test_what_a_word_of_the_booster_means_here(twin, case):
    parameters, fit, expected = case
    lines = refused(twin, fit, **parameters).splitlines()
    assert len(lines) == len(expected)
    given = {**parameters, **fit}
    for line in lines:
        name = line.partition(" is ")[0]
        instead = "expected " if expected[name].startswith(f"{name}=") else "remove it, and write "
        assert line == f"{name} is {given[name]!r}; {instead}{expected[name]}"
    after_one_edit(twin, parameters, fit, lines)


@pytest.mark.slow(keep=3)
@pytest.mark.parametrize(("twin", "parameters"), of_both(WITHOUT))
def test_what_has_no_meaning_here(twin, parameters):
    text = refused(twin, **parameters)
    lines = text.splitlines()
    assert {line.partition(" is ")[0] for line in lines} == parameters.keys() - set(OWN)
    for line in lines:
        assert re.search(r"; remove it: \w.{10,}", line)
    after_one_edit(twin, parameters, {}, lines)


# A parameter and its value, whether that is one of fit, and what it replaces.
ASSIGNMENT = re.compile(
    r"""(\w+)=(\[.*?\]|"[^"]*"|\w[\w.]*\(.*\))( in fit)?(?: instead of ([\w ]+))?(?= and |$)""",
)


def test_own_words_that_are_unusable_do_not_hide_the_others():
    assert refused(LIGHTGBM, measure="ndcg", g=(0.5, 0.5), label_gain=[0, 1, 3]).startswith(
        "label_gain is [0, 1, 3]; "
    )
    assert refused(LIGHTGBM, measure=3, g="x", objective=print, lambdarank_norm=True).startswith(
        "lambdarank_norm is True; "
    )
    assert refused(LIGHTGBM, metric="auc", fit={"eval_metric": print}).startswith(
        "metric is 'auc'; "
    )


def edited(parameters, fit, lines):
    """Parameters and arguments of fit after what the lines of the error dictate, word by word."""
    parameters, fit = dict(parameters), dict(fit)
    for line in lines:
        name, told = re.fullmatch(r"(\w+) is .*; (?:expected |remove it)(.*)", line).groups()
        parameters.pop(name, None)
        fit.pop(name, None)
        for parameter, code, in_fit, replaced in ASSIGNMENT.findall(told.partition(": ")[0]):
            for other in replaced.split(" and "):
                parameters.pop(other, None)
            (fit if in_fit else parameters)[parameter] = eval(code, {"gapboost": gapboost})
    return parameters, fit


def after_one_edit(twin, parameters, fit, lines):
    """The ranker trains."""
    parameters, fit = edited(parameters, fit, lines)
    return twin.fitted(evals=[VALI], fit=fit, **parameters)


# --- scripts of other rankers ---------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
def test_a_script_for_LGBMRanker_runs_with_its_measure():
    parameters = {
        "objective": "lambdarank",
        "metric": "ndcg",
        "label_gain": [0, 1, 3, 7],
        "lambdarank_truncation_level": 20,
        "n_estimators": 30,
        "verbose": -1,
        "n_jobs": 1,
    }
    fit = {
        "group": SIZES,
        "eval_set": [(VALI.X, VALI.y)],
        "eval_group": [sizes_of(VALI.qid)],
        "eval_at": [5, 10],
        "callbacks": [lightgbm.early_stopping(5, verbose=False)],
    }
    theirs = lightgbm.LGBMRanker(**parameters).fit(X, Y, **fit)
    assert message(LGBMGAPRanker(**parameters).fit, X, Y, **fit) == (
        'label_gain is [0, 1, 3, 7]; remove it, and write measure="nDCG(gains=(0.0, 1.0, 3.0, '
        '7.0))"'
    )
    ours = LGBMGAPRanker(**parameters, measure="ndcg").fit(X, Y, **fit)
    assert ours.objective_ == gb.LambdaRank(gb.nDCG(gains=(0, 1, 3, 7)), truncation=20)
    gains = (0.0, 1.0, 3.0, 7.0)
    own = LGBMGAPRanker(
        objective=gb.LambdaRank(gb.nDCG(gains=gains), truncation=20),
        n_estimators=30,
        verbose=-1,
        n_jobs=1,
    ).fit(
        X,
        Y,
        QID,
        eval_set=fit["eval_set"],
        eval_qid=[VALI.qid],
        eval_metric=[gb.nDCG(gains=gains, k=5), gb.nDCG(gains=gains, k=10)],
        callbacks=fit["callbacks"],
    )
    assert ours.evals_result_ == own.evals_result_
    np.testing.assert_array_equal(ours.predict(TEST.X), own.predict(TEST.X))
    (values,) = ours.evals_result_.values()
    assert len(values) == len(theirs.evals_result_["valid_0"]) + 1 == 3
    scores = [
        gb.evaluate("ndcg@10", TEST.y, one.predict(TEST.X), TEST.qid)[gb.nDCG(k=10)]
        for one in (ours, theirs)
    ]
    assert scores[0] == pytest.approx(scores[1], abs=0.1)


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
def test_a_script_for_LGBMRanker_runs_as_it_is_where_every_word_has_an_equal():
    parameters = {
        "objective": "lambdarank",
        "metric": ["ndcg", "map"],
        "ndcg_eval_at": [5, 10],
        "lambdarank_truncation_level": 20,
        "sigmoid": 2.0,
        "n_estimators": 30,
        "random_state": 3,
        "verbose": -1,
        "n_jobs": 1,
    }
    fit = {
        "group": SIZES,
        "eval_set": [(VALI.X, VALI.y)],
        "callbacks": [lightgbm.early_stopping(5, verbose=False)],
    }
    best_is_one = [gb.AP(k=k, ideal_at_k=True) for k in (5, 10)]
    script = LGBMGAPRanker(**parameters).fit(X, Y, eval_group=[sizes_of(VALI.qid)], **fit)
    own = LGBMGAPRanker(
        objective=gb.LambdaRank(gb.GAP(), truncation=20, sigma=2.0, random_state=3),
        n_estimators=30,
        random_state=3,
        verbose=-1,
        n_jobs=1,
    ).fit(X, Y, eval_qid=[VALI.qid], eval_metric=["ndcg@5", "ndcg@10", *best_is_one], **fit)
    assert script.evals_result_ == own.evals_result_
    assert list(script.evals_result_["valid_0"]) == [
        "map-gap",
        "ndcg@5",
        "ndcg@10",
        "map-ap@5",
        "map-ap@10",
    ]
    np.testing.assert_array_equal(script.predict(TEST.X), own.predict(TEST.X))


def test_a_script_for_XGBRanker_runs_as_it_is():
    parameters = {
        "objective": "rank:ndcg",
        "lambdarank_num_pair_per_sample": 8,
        "lambdarank_pair_method": "topk",
        "eval_metric": ["ndcg@5", "ndcg@10-"],
        "n_estimators": 30,
        "early_stopping_rounds": 5,
        "n_jobs": 1,
    }
    fit = {"qid": QID, "eval_set": [(VALI.X, VALI.y)], "eval_qid": [VALI.qid]}
    theirs = xgboost.XGBRanker(**parameters).fit(X, Y, **fit)
    ours = XGBGAPRanker(**parameters).fit(X, Y, **fit)
    assert ours.objective_ == gb.LambdaRank(gb.nDCG(), truncation=8)
    own = XGBGAPRanker(
        objective=gb.LambdaRank(gb.nDCG(), truncation=8),
        eval_metric=["ndcg@5", "ndcg@10"],
        n_estimators=30,
        early_stopping_rounds=5,
        n_jobs=1,
    ).fit(X, Y, **fit)
    assert ours.evals_result_ == own.evals_result_
    np.testing.assert_array_equal(ours.predict(TEST.X), own.predict(TEST.X))
    assert list(ours.evals_result_["validation_0"]) == ["ndcg@5", "ndcg@10", "ndcg"]
    scores = [
        gb.evaluate("ndcg@10", TEST.y, one.predict(TEST.X), TEST.qid)[gb.nDCG(k=10)]
        for one in (ours, theirs)
    ]
    assert scores[0] == pytest.approx(scores[1], abs=0.1)


# --- cv, native training, and words to come -------------------------------------------------------


# Parameters and arguments of cv in the booster's words, and the arguments in ours.
WORDS_OF_CV = {
    "lightgbm": [
        (
            {
                "lambdarank_truncation_level": 4,
                "metric": "ndcg",
                "eval_at": [5],
                "label_gain": [0, 1, 3],
            },
            {"measure": "ndcg"},
            {
                "measure": gb.LambdaRank(gb.nDCG(gains=(0, 1, 3)), truncation=4),
                "eval_metric": gb.nDCG(gains=(0, 1, 3), k=5),
            },
        ),
        (
            {"objective": "lambdarank", "sigmoid": 2.0},
            {},
            {"measure": gb.LambdaRank(gb.GAP(), sigma=2.0)},
        ),
        ({"loss": "lambdarank", "metric": "None"}, {"measure": "ap"}, {"measure": "ap"}),
    ],
    "xgboost": [
        (
            {"lambdarank_num_pair_per_sample": 4, "lambdarank_normalization": False},
            {"measure": "ap"},
            {"measure": gb.LambdaRank(gb.AP(), truncation=4, normalize=False)},
        ),
        (
            {"objective": "rank:ndcg", "ndcg_exp_gain": False, "eval_metric": ["ndcg@3-", "map"]},
            {},
            {"measure": gb.nDCG(gains="linear"), "eval_metric": ["ndcg(gains=linear)@3", "ap"]},
        ),
        (
            {"eval_metric": "ap", "disable_default_eval_metric": 1},
            {"eval_metric": "p@3"},
            {"eval_metric": ["ap", "p@3"]},
        ),
        (
            {},
            {"eval_metric": ["map@3", "pre@3"]},
            {"eval_metric": [gb.AP(k=3, ideal_at_k=True), "p@3"]},
        ),
    ],
}


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize(("twin", "case"), of_both(WORDS_OF_CV))
def test_cv_takes_words_with_an_equal(twin, case):
    """Every course to the bit what our own words give."""
    words, arguments, own = case
    found, expected = (
        twin.module.cv({**twin.native, **params}, twin.dataset(X, Y, SIZES), 3, n_folds=2, **more)
        for params, more in ((words, arguments), ({}, own))
    )
    assert list(found) == list(expected)
    for measure, curve in found.items():
        np.testing.assert_array_equal(curve, expected[measure])


@pytest.mark.parametrize(
    "params",
    [{"lambdarank_truncation_level": 20}, {"lambdarank_norm": False}, {"sigmoid": 2.0}],
    ids=str,
)
def test_native_training_refuses_what_lightgbm_would_ignore(params):
    (name,) = params
    data = lightgbm.Dataset(X, Y, group=SIZES, params={"verbose": -1})
    beside = {**LIGHTGBM.native, **params, "objective": gapboost.lightgbm.objective("ap")}
    text = message(lightgbm.train, beside, data, 2)
    assert text.startswith(
        f"params holds {name}={params[name]!r}; remove it, and write measure=gapboost.LambdaRank("
    )


@twins
def test_every_word_of_the_table_is_one_of_the_installed_booster(twin):
    """The lowest supported version has them all, so nothing has to say since which version."""
    words = VOCABULARIES[twin.name]
    assert words.names <= words.known() | twin.vendor().get_params().keys()


def test_every_ranking_parameter_of_the_installed_boosters_is_in_the_table():
    """A new one is met here before a user meets it."""
    ranking = {
        n for n in LIGHTGBMS.known() if re.search("lambdarank|ndcg|map_|label_gain|eval_at", n)
    }
    assert ranking - LIGHTGBMS.names == {"lambdarank_position_bias_regularization"}
    data = XGBOOST.dataset(X, Y, SIZES)
    config = json.loads(
        xgboost.Booster({"objective": "rank:ndcg", "nthread": 1}, [data]).save_config()
    )
    groups = config["learner"]["objective"].items()
    of_objective = {name for key, group in groups if key.endswith("_param") for name in group}
    assert of_objective > {"lambdarank_pair_method"}
    assert of_objective <= XGBOOSTS.names
