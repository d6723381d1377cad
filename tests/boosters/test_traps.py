"""One test for each trap of LightGBM and XGBoost that a custom objective can lead to.

Most of them are silent: a constant model, a metric that goes the wrong way.
"""

import inspect
from contextlib import suppress

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from packaging.version import Version
from twins import LIGHTGBM, QID, SIZES, TEST, VALI, XGBOOST, X, Y, gradients, sizes_of, twins

import gapboost as gb
import gapboost.lightgbm
import gapboost.xgboost


@twins
def test_rounding_of_long_lists_is_no_gradient(twin):
    """The sums over pairs of long lists leave rounding where they ought to cancel."""
    rng = np.random.default_rng(0)
    y, x, qid = rng.integers(0, 2, 2000), rng.normal(size=(2000, 3)), np.repeat(np.arange(5), 400)
    with pytest.raises(ValueError, match="no swap of two documents of y changes it"):
        twin.ranker(measure=gb.Precision(k=500)).fit(x, y, qid)


@twins
def test_several_scores_a_row(twin):
    with pytest.raises(ValueError, match=r"the booster has 3 scores a row; expected one"):
        twin.ranker(num_class=3).fit(X, Y, QID)


@twins
def test_hessians_too_small_for_the_default_leaf_floors(twin):
    # min_child_weight is 1e-3 in LightGBM and 1 in XGBoost; changes of GAP in lists of 2000 are
    # about 1e-5.
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 2))
    y = (x[:, 0] + rng.normal(size=2000) > 2).astype(int)
    ranker = twin.ranker_class(
        n_estimators=20, n_jobs=1, **({"verbose": -1} if twin is LIGHTGBM else {})
    )
    ranker.fit(x, y, np.zeros(2000))
    assert len(np.unique(ranker.predict(x))) > 10
    assert ranker.score(x, y, np.zeros(2000)) > 2 * gb.evaluate(gb.AP(), y, np.zeros(2000))[gb.AP()]


@twins
def test_a_leaf_floor_that_leaves_no_split(twin):
    objective = twin.module.objective("gap")
    total = gradients(twin, objective, np.zeros(len(Y)), Y, SIZES)[1].sum(dtype=float)
    names = ["min_child_weight"]
    names += ["min_sum_hessian_in_leaf", "min_hessian"] if twin is LIGHTGBM else []
    for name in names:
        with pytest.raises(ValueError, match=r"^min_child_weight is .*hessians of all rows sum to"):
            twin.fitted(**{name: total * 0.501})
    twin.fitted(min_child_weight=total * 0.499)


@twins
def test_more_than_10000_documents_in_a_query(twin):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(10_001, 2))
    y = (x[:, 0] + rng.normal(size=len(x)) > 2).astype(int)
    ranker = twin.ranker(n_estimators=2)
    ranker.fit(x, y, np.zeros(len(x)), eval_set=[(x, y)], eval_qid=[np.zeros(len(x))])
    assert len(twin.curve(ranker)) == 2
    assert ranker.score(x, y, np.zeros(len(x))) > 2 * y.mean()


# --- what docs/traps.md and docs/migration.md say of the boosters, as no error is raised ----------


def trained(dataset, **parameters):
    parameters = {**LIGHTGBM.native, "objective": gb.lightgbm.objective("ndcg"), **parameters}
    return lightgbm.train(parameters, dataset, 3).predict(X)


def test_lightgbm_turns_missing_labels_into_grade_0():
    missing = np.where(np.arange(len(Y)) % 7, Y, np.nan)
    dataset = lightgbm.Dataset(X, missing, group=SIZES)
    as_zeros = trained(lightgbm.Dataset(X, np.nan_to_num(missing), group=SIZES))
    np.testing.assert_array_equal(trained(dataset), as_zeros)
    assert not np.isnan(dataset.get_label()).any()
    with pytest.raises(ValueError, match="y"):
        LIGHTGBM.ranker().fit(X, missing, QID)


def test_lightgbm_forgets_positions(tmp_path):
    def positioned():
        settings = {"free_raw_data": False, "params": LIGHTGBM.native}
        return lightgbm.Dataset(X, Y, group=SIZES, position=np.arange(len(Y)) % 20, **settings)

    def objective(scores, dataset):
        seen.append(dataset.get_position())
        return np.zeros_like(scores), np.ones_like(scores)

    seen, whole = [], positioned().construct()
    assert whole.get_position() is not None
    whole.save_binary(tmp_path / "data.bin")
    copies = [whole.subset(np.arange(400)), lightgbm.Dataset(tmp_path / "data.bin")]
    folds = [(np.arange(400), np.arange(400, len(Y)))]
    parameters = {**LIGHTGBM.native, "objective": objective, "metric": "l2"}
    lightgbm.cv(parameters, positioned(), 1, folds=folds)
    assert [copy.construct().get_position() for copy in copies] + seen == [None] * 3


def test_sizes_in_another_order_than_the_rows():
    """Sizes of a sorted index are one valid way to cut rows: no error, another model."""
    names = np.repeat([f"query {number}" for number in (3, 1, 2)], (200, 100, 100))
    sizes = pd.Series(names).groupby(names).size()
    assert sizes.tolist() == [100, 100, 200]
    for twin in (LIGHTGBM, XGBOOST):
        models = [
            twin.ranker().fit(X[:400], Y[:400], **queries)
            for queries in ({"group": sizes.to_numpy()}, {"qid": names})
        ]
        assert (models[0].predict(X) != models[1].predict(X)).any()


def test_xgboost_scores_a_new_category_as_another_or_raises():
    letters = pd.Categorical(np.array(list("bdf"))[Y])
    ranker = XGBOOST.ranker(n_estimators=5, enable_categorical=True)
    ranker.fit(pd.DataFrame({"letter": letters}), Y, QID)
    known, missing = (
        ranker.predict(pd.DataFrame({"letter": pd.Categorical(rows, categories=list("bdf"))}))
        for rows in (list("bdf"), [None])
    )
    for new in "acegz":
        table = pd.DataFrame({"letter": pd.Categorical([new], categories=sorted({*"bdf", new}))})
        with pytest.raises(ValueError, match="training lacks"):
            ranker.predict(table)
        with suppress(ValueError, xgboost.core.XGBoostError):
            (score,) = ranker.to_vendor().predict(table)
            assert score in known
            assert score not in missing


def test_xgboost_warns_of_names_that_resemble_none_of_its_parameters():
    with pytest.warns(UserWarning, match="xyz.*not used"):
        XGBOOST.fitted(xyz=0.1)


@twins
def test_most_scores_are_negative(twin):
    """A search engine that gives 0 to other documents puts them above these."""
    assert (twin.fitted(n_estimators=60).predict(TEST.X) < 0).mean() > 0.6


@pytest.mark.slow
@twins
def test_the_order_of_rows_changes_a_model_as_another_seed_does(twin):
    def scores(order, seed):
        ranker = twin.ranker(n_estimators=20, random_state=seed)
        return ranker.fit(X[order], Y[order], QID[order]).predict(TEST.X)

    rows = np.arange(len(Y))
    first = scores(rows, 0)
    orders, seeds = (
        np.mean([np.std(scores(*choice) - first) for choice in choices])
        for choices in (
            [(np.random.default_rng(seed).permutation(len(Y)), 0) for seed in range(5)],
            [(rows, seed) for seed in range(1, 6)],
        )
    )
    assert 0.5 < orders / seeds < 2


@pytest.mark.parametrize("first", [0, 2**24])
def test_xgboost_reads_query_ids_of_a_series_as_float32(first):
    def queries(qid):
        return len(xgboost.DMatrix(X, Y, qid=qid).get_uint_info("group_ptr")) - 1

    for refused in (QID[::-1], QID.astype(str)):
        with pytest.raises(xgboost.core.XGBoostError):
            queries(refused)
    ids = first + np.repeat(np.arange(len(SIZES)), SIZES)
    assert queries(ids) == queries(pd.Series(ids).to_numpy()) == len(SIZES)
    # XGBoost 3.1 merges them only if pandas is older than 3.
    if Version(xgboost.__version__) >= Version("3.2"):
        assert (queries(pd.Series(ids)) < len(SIZES)) == (first > 0)
    assert queries(ids * 2**32) == 1


@pytest.mark.parametrize("cut", [400, 407])
def test_a_batch_that_ends_within_a_query_makes_two_of_it(cut):
    class Batches(xgboost.DataIter):
        def __init__(self):
            super().__init__()
            self.reset()

        def reset(self):
            self.left = [slice(cut), slice(cut, None)]

        def next(self, input_data):
            if not self.left:
                return False
            rows = self.left.pop(0)
            input_data(data=X[rows], label=Y[rows], qid=QID[rows])
            return True

    for kind in (xgboost.DMatrix, xgboost.QuantileDMatrix):
        found = len(kind(Batches()).get_uint_info("group_ptr")) - 1
        assert found == len(SIZES) + (cut % SIZES[0] > 0)


@pytest.mark.parametrize("name", ["gap", "map-gap", "ndcg@10-", "pre", "auc"])
def test_xgboost_minimizes_metrics_by_their_names(name):
    """A metric that rises in each round stops the training if XGBoost minimizes it."""
    rounds = iter(range(100))
    booster = xgboost.train(
        XGBOOST.native, xgboost.DMatrix(X, Y, qid=QID), 8, early_stopping_rounds=3,
        evals=[(xgboost.DMatrix(X, Y, qid=QID), "validation")], verbose_eval=False,
        custom_metric=lambda scores, matrix: (name, float(next(rounds))),
    )  # fmt: skip
    assert (booster.best_iteration == 0) == (name == "gap")


def test_xgboosts_own_cross_validation_drops_weights_of_queries():
    matrix = xgboost.DMatrix(X, Y > 0, group=SIZES)
    values = []
    for weight in (np.ones(len(SIZES)), np.linspace(0.01, 100, len(SIZES))):
        matrix.set_weight(weight)
        parameters = {"objective": "rank:map", "eval_metric": "map", "nthread": 1}
        values.append(xgboost.cv(parameters, matrix, 3, nfold=4, as_pandas=False, seed=0))
    assert values[0] == values[1]
    assert len(matrix.slice(np.arange(20), allow_groups=True).get_weight()) == 0


def test_what_migration_says_of_lightgbms_ranker():
    table = pd.DataFrame(X).add_prefix("x")
    own = lightgbm.LGBMRanker(n_estimators=20, verbose=-1, n_jobs=1).fit(table, Y, group=SIZES)
    assert not hasattr(own, "score")
    assert list(inspect.signature(own.fit).parameters)[2] == "sample_weight"
    with pytest.raises(lightgbm.basic.LightGBMError, match="int type"):
        own.fit(table, Y / 2, group=SIZES)
    with pytest.raises(lightgbm.basic.LightGBMError, match="upper limit of 10000"):
        own.fit(np.arange(10_001)[:, None], np.arange(10_001) % 2, group=[10_001])
    own.fit(table, Y, group=SIZES)
    scores = own.predict(table)
    np.testing.assert_array_equal(own.predict(table.add_prefix("other ")), scores)
    forest = {"boosting_type": "rf", "subsample": 0.5, "subsample_freq": 1}
    assert np.ptp(own.set_params(**forest).fit(X, Y, group=SIZES).predict(X)) > 0
    with pytest.raises(lightgbm.basic.LightGBMError, match="custom objective"):
        lightgbm.LGBMRanker(**forest, objective=lambda y, score: (score, score)).fit(
            X, Y, group=SIZES
        )


def test_what_migration_says_of_xgboosts_ranker():
    own = xgboost.XGBRanker(
        n_estimators=60, learning_rate=0.5, eval_metric=["ndcg@5", "map"], early_stopping_rounds=3
    )
    watched = {"eval_set": [(VALI.X, VALI.y > 0)], "eval_qid": [VALI.qid], "verbose": False}
    own.fit(X, Y > 0, qid=QID, **watched)
    log = own.evals_result_["validation_0"]
    assert own.best_iteration == np.argmax(log["map"])
    # A data frame has the queries in its column qid.
    own.set_params(early_stopping_rounds=None).fit(X, Y > 0, qid=QID, **watched)
    found = own.score(pd.DataFrame(VALI.X).assign(qid=VALI.qid), VALI.y > 0)
    assert found == pytest.approx(own.evals_result_["validation_0"]["map"][-1], abs=1e-6)
    assert found != pytest.approx(own.evals_result_["validation_0"]["ndcg@5"][-1], abs=1e-3)
    with pytest.warns(FutureWarning, match="Pass `group`"):
        own.fit(X, Y > 0, SIZES, qid=None)
    with pytest.raises(xgboost.core.XGBoostError, match="weight"):
        own.fit(X, Y > 0, qid=QID, sample_weight=np.ones(len(Y)), **watched)
    with pytest.raises(xgboost.core.XGBoostError, match="binary labels"):
        own.fit(X, Y, qid=QID, **watched | {"eval_set": [(VALI.X, VALI.y)]})


@pytest.mark.filterwarnings("ignore::lightgbm.basic.LGBMDeprecationWarning")
def test_a_metric_that_stalls_stops_lightgbms_ranker():
    """`LGBMRanker` also stops by its own nDCG beside a Python objective."""
    stopping = lightgbm.early_stopping(5, verbose=False)
    watched = {"eval_set": [(VALI.X, VALI.y)], "eval_group": [sizes_of(VALI.qid)]}
    own = lightgbm.LGBMRanker(n_estimators=50, objective=gb.lightgbm.objective("gap"), verbose=-1)
    metric = lambda y, scores: ("constant", 0.0, True)  # noqa: E731
    own.fit(X, Y, group=SIZES, **watched, eval_metric=metric, callbacks=[stopping])
    assert own.best_iteration_ == 1
    assert set(own.evals_result_["valid_0"]) == {*(f"ndcg@{k}" for k in range(1, 6)), "constant"}


def test_what_xgboost_adds_beside_a_python_objective():
    data, log = xgboost.DMatrix(X, Y, qid=QID), {}
    watched = {"evals": [(data, "train")], "evals_result": log, "verbose_eval": False}
    scores = [
        xgboost.train(settings, data, 1, obj=gb.xgboost.objective("gap"), **watched).predict(data)
        for settings in (XGBOOST.native, {**XGBOOST.native, "base_score": None})
    ]
    np.testing.assert_allclose(scores[1] - scores[0], 0.5, atol=1e-6)
    approximate, varying = {**XGBOOST.native, "tree_method": "approx", "max_bin": 16}, []
    for own in ("rank:ndcg", "reg:squarederror"):
        settings = {**approximate, "objective": own}
        booster = xgboost.train(settings, data, 5, obj=gb.xgboost.objective("gap"))
        varying.append(booster.predict(data))
    assert np.abs(varying[0] - varying[1]).max() > 0.01
    settings = {"objective": "rank:ndcg", "base_score": 0.0}
    xgboost.train(settings, data, 1, obj=gb.xgboost.objective("gap"), **watched)
    assert [name.partition("@")[0] for name in log["train"]] == ["ndcg"]


@twins
def test_boosters_keep_labels_as_float32(twin):
    data = twin.dataset(X, np.full(len(Y), 0.7), SIZES)
    assert set(np.asarray(data.get_label(), float)) == {float(np.float32(0.7))}


# --- the boosters' own gradients ------------------------------------------------------------------

ALL_PAIRS = {"lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": 100}
OWN = {
    "lambdarank": (LIGHTGBM, {"lambdarank_truncation_level": 100}, gb.LambdaRank("ndcg")),
    "rank:ndcg": (XGBOOST, ALL_PAIRS, gb.LambdaRank("ndcg")),
    "rank:pairwise": (
        XGBOOST,
        {**ALL_PAIRS, "lambdarank_score_normalization": False},
        gb.RankNet("ndcg"),
    ),
}


@pytest.mark.parametrize("name", OWN)
def test_gradients_are_those_of_the_boosters_up_to_a_factor(name):
    """A leaf of one document is -gradient / (hessian + penalty), here for two penalties.

    XGBoost doubles hessians.
    """
    twin, settings, objective = OWN[name]
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 3, 12), rng.normal(size=12)
    settings = {**settings, "objective": name, "max_depth": 1, "learning_rate": 1}
    bins = {"min_data_in_leaf": 1, "min_data_in_bin": 1, "verbosity": -1}
    settings |= {"min_child_weight": 0, **(bins if twin is LIGHTGBM else {})}

    def leaf(document, penalty):
        x, parameters = np.eye(12)[:, [document]], {**settings, "lambda": penalty}
        if twin is LIGHTGBM:
            data = {"group": [12], "init_score": scores, "params": parameters}
            booster = lightgbm.train(parameters, lightgbm.Dataset(x, y, **data), 1)
            return booster.predict(x)[document]
        data = xgboost.DMatrix(x, y, group=[12], base_margin=scores)
        return xgboost.train(parameters, data, 1).predict(data)[document] - scores[document]

    leaves = np.array([[leaf(i, penalty) for i in range(12)] for penalty in (0.1, 2)], float)
    # LightGBM estimates the size of a leaf by its hessian, and separates not all documents.
    found = leaves[0] != 0
    assert found.sum() > 8
    low, high = leaves[:, found]
    gradients = 1.9 / (1 / low - 1 / high)
    hessians = -gradients / low - 0.1
    ours = [column[found] for column in objective.gradients(y, scores)]
    factor = (gradients / ours[0]).mean()
    # Leaves are float32.
    np.testing.assert_allclose(gradients, factor * ours[0], rtol=1e-3)
    doubled = 1 if twin is LIGHTGBM else 2
    np.testing.assert_allclose(hessians, doubled * factor * ours[1], rtol=5e-3)


@twins
def test_a_metric_with_the_name_of_the_boosters_own_shares_its_list(twin):
    log, metric = {}, twin.module.eval_metric("ndcg@5")
    if twin is LIGHTGBM:
        data = lightgbm.Dataset(X, Y, group=SIZES)
        given = {**LIGHTGBM.native, "objective": "lambdarank", "eval_at": [5]}
        record = [lightgbm.record_evaluation(log)]
        lightgbm.train(given, data, 3, [data], feval=metric, callbacks=record)
    else:
        data = xgboost.DMatrix(X, Y, qid=QID)
        given = {"objective": "rank:ndcg", "eval_metric": "ndcg@5", "nthread": 1}
        evals = {"evals": [(data, "training")], "evals_result": log, "verbose_eval": False}
        xgboost.train(given, data, 3, custom_metric=metric, **evals)
    assert len(log["training"]["ndcg@5"]) == 6
