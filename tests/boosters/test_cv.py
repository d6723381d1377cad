"""Cross-validation by query with the boosters' own data sets, against their own `cv`."""

import lightgbm
import numpy as np
import pytest
import xgboost
from ranking_task import task
from sklearn.model_selection import GroupKFold

import gapboost as gb
import gapboost.lightgbm
import gapboost.xgboost
from gapboost._boosters.folds import query_folds
from gapboost._data.queries import grouped_rows

ROUNDS = 5
MEASURES = [gb.eGAP(g=(0.3, 0.7)), gb.nDCG(k=5), gb.AP()]


def grouped(weighted):
    X, y, qid = task()
    order = np.argsort(qid, kind="stable")
    X, y, qid = X[order], y[order], qid[order]
    _, sizes = np.unique(qid, return_counts=True)
    # float32, as boosters keep weights
    return (
        X,
        y,
        sizes,
        np.random.default_rng(3).random(len(sizes)).astype(np.float32) if weighted else None,
    )


def lightgbm_cv(X, y, sizes, weight, params=None, **options):
    rows = None if weight is None else np.repeat(weight, sizes)
    data = lightgbm.Dataset(X, y, group=sizes, weight=rows)
    return gapboost.lightgbm.cv(
        {"num_threads": 1, "verbosity": -1, **(params or {})}, data, ROUNDS, n_jobs=1, **options
    )


def xgboost_cv(X, y, sizes, weight, params=None, **options):
    data = xgboost.DMatrix(X, y, group=sizes, weight=weight)
    return gapboost.xgboost.cv(
        {"nthread": 1, "tree_method": "exact", **(params or {})}, data, ROUNDS, n_jobs=1, **options
    )


def lightgbm_fold(X, y, sizes, weight, train, test, how):
    rows = None if weight is None else np.repeat(weight, sizes)
    data = lightgbm.Dataset(X, y, group=sizes, weight=rows)
    data.construct()  # the bins of cv are those of all rows
    params = {"num_threads": 1, "verbosity": -1, "objective": gapboost.lightgbm.objective(how)}
    booster = lightgbm.train(params, data.subset(train), ROUNDS)
    return [booster.predict(X[test], num_iteration=t + 1) for t in range(ROUNDS)]


def xgboost_fold(X, y, sizes, weight, train, test, how):
    qid = np.repeat(np.arange(len(sizes)), sizes)
    inside = np.unique(qid[train])
    data = xgboost.DMatrix(
        X[train], y[train], qid=qid[train], weight=None if weight is None else weight[inside]
    )
    params = {
        "nthread": 1,
        "tree_method": "exact",
        "base_score": 0.0,
        "disable_default_eval_metric": 1,
    }
    booster = xgboost.train(params, data, ROUNDS, obj=gapboost.xgboost.objective(how))
    return [
        booster.predict(xgboost.DMatrix(X[test]), iteration_range=(0, t + 1)) for t in range(ROUNDS)
    ]


TWINS = pytest.mark.parametrize(
    ("cv", "fold"),
    [(lightgbm_cv, lightgbm_fold), (xgboost_cv, xgboost_fold)],
    ids=["lightgbm", "xgboost"],
)


@TWINS
@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
def test_same_as_training_fold_by_fold(cv, fold, weighted):
    X, y, sizes, weight = grouped(weighted)
    found = cv(X, y, sizes, weight, measure=MEASURES[0], eval_metric=MEASURES[1:], n_folds=3)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    values = np.empty((3, ROUNDS, len(MEASURES)))
    for number, (train, test) in enumerate(GroupKFold(3).split(X, y, qid)):
        assert not set(qid[train]) & set(qid[test])
        inside = None if weight is None else weight[np.unique(qid[test])]
        for t, scores in enumerate(fold(X, y, sizes, weight, train, test, MEASURES[0])):
            by_measure = gb.evaluate(MEASURES, y[test], scores, qid[test], sample_weight=inside)
            values[number, t] = [by_measure[m] for m in MEASURES]
    assert list(found) == MEASURES
    assert (values.std(axis=0) > 0).all()
    for i, measure in enumerate(MEASURES):
        np.testing.assert_allclose(found[measure].mean, values[:, :, i].mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(found[measure].std, values[:, :, i].std(axis=0), rtol=1e-9)


@TWINS
def test_folds_never_cut_a_query(cv, fold, monkeypatch):
    X, y, sizes, _ = grouped(False)
    seen = []
    module = lightgbm if cv is lightgbm_cv else xgboost
    train = module.train

    def spy(params, data, *rest, **options):
        sides = [data, options["valid_sets"][0] if module is lightgbm else options["evals"][0][0]]
        for side in sides:
            if module is lightgbm:
                side.construct()
            group = (
                side.get_group() if module is lightgbm else np.diff(side.get_uint_info("group_ptr"))
            )
            seen.append(np.asarray(group).tolist())
        return train(params, data, *rest, **options)

    monkeypatch.setattr(module, "train", spy)
    cv(X, y, sizes, None, n_folds=4, random_state=1)
    for first, second in zip(seen[0::2], seen[1::2], strict=True):
        assert first == [16] * 27  # every query of the task has 16 documents
        assert second == [16] * 9


@pytest.mark.slow(keep=1)
@TWINS
def test_random_state_deals_the_queries_out(cv, fold):
    X, y, sizes, _ = grouped(False)
    curves = [cv(X, y, sizes, None, n_folds=3, random_state=s) for s in (None, 1, 1, 2)]
    (measure,) = curves[0]
    assert measure == gb.GAP(g=(0.5, 0.5))
    means = [c[measure].mean.tolist() for c in curves]
    assert means[1] == means[2]
    assert means[0] != means[1] != means[3]


@TWINS
def test_refuses_another_objective(cv, fold):
    X, y, sizes, _ = grouped(False)
    with pytest.raises(ValueError, match="params holds objective='regression'; remove it"):
        cv(X, y, sizes, None, params={"objective": "regression"})


@TWINS
def test_refuses_data_without_queries(cv, fold):
    X, y, _, _ = grouped(False)
    with pytest.raises(ValueError, match="no query groups"):
        cv(X, y, None, None)


def test_refuses_quantile_matrix():
    X, y, sizes, _ = grouped(False)
    with pytest.raises(TypeError, match="dtrain is a QuantileDMatrix, which XGBoost cannot slice"):
        gapboost.xgboost.cv({}, xgboost.QuantileDMatrix(X, y, group=sizes))


def test_training_data_for_lightgbm_is_binned_with_params():
    X, y, sizes, _ = grouped(False)
    coarse, fine = (
        lightgbm_cv(X, y, sizes, None, params={"max_bin": b}, measure=gb.AP()) for b in (3, 255)
    )
    assert coarse[gb.AP()].mean[-1] != fine[gb.AP()].mean[-1]


def lightgbms_own_cv(**options):
    X, y, sizes, _ = grouped(False)
    data = lightgbm.Dataset(X, y, group=sizes, free_raw_data=False)
    params = {"num_threads": 1, "verbosity": -1, "metric": "None", **options.pop("params")}
    return lightgbm.cv(params, data, ROUNDS, nfold=3, **options)


ONE_ROW_OFF = [(np.arange(17), np.arange(17, 36 * 16))]  # queries have 16 rows


@pytest.mark.parametrize("options", [{}, {"stratified": False}, {"folds": ONE_ROW_OFF}])
def test_lightgbms_own_cv_is_refused_where_it_cuts_queries(options):
    for given in (
        {"params": {"objective": gapboost.lightgbm.objective("gap")}},
        {"params": {"objective": "regression"}, "feval": gapboost.lightgbm.eval_metric("gap")},
    ):
        refused = (
            r"holds \d+ queries in part; expected whole queries: gapboost.lightgbm.cv, or "
            r".*folds=.*GroupKFold"
        )
        with pytest.raises(ValueError, match=refused):
            lightgbms_own_cv(**given, **options)


@pytest.mark.parametrize("objective", [gapboost.lightgbm.objective("gap"), "lambdarank"])
def test_lightgbms_own_cv_works_with_whole_queries(objective):
    folds = {} if isinstance(objective, str) else {"folds": GroupKFold(3)}
    found = lightgbms_own_cv(
        params={"objective": objective}, feval=gapboost.lightgbm.eval_metric("gap"), **folds
    )
    assert len(found["valid map-gap-mean"]) == ROUNDS
    if folds:
        X, y, sizes, _ = grouped(False)
        ours = lightgbm_cv(X, y, sizes, None, measure="gap", n_folds=3)
        ((_, curve),) = ours.items()
        np.testing.assert_allclose(found["valid map-gap-mean"], curve.mean, rtol=0, atol=1e-12)


def test_a_subset_of_a_subset_is_refused_where_it_cuts_queries():
    X, y, sizes, _ = grouped(False)
    whole = lightgbm.Dataset(X, y, group=sizes).construct()
    for outer, inner, cut in (
        (sizes[:4].sum(), sizes[:2].sum(), False),
        (sizes[:4].sum(), 3, True),
    ):
        part = whole.subset(range(outer)).construct().subset(range(inner)).construct()
        if cut:
            with pytest.raises(ValueError, match="holds 1 queries in part"):
                gapboost.lightgbm.objective("gap")(np.zeros(inner), part)
        else:
            grad, _ = gapboost.lightgbm.objective("gap")(np.zeros(inner), part)
            assert len(grad) == inner


def test_query_folds_are_those_of_scikit_learn_for_any_order_of_rows():
    _, _, qid = task()
    for (train, test), (a, b) in zip(
        query_folds(grouped_rows(qid, len(qid)), 4, None),
        GroupKFold(4).split(qid, groups=qid),
        strict=True,
    ):
        np.testing.assert_array_equal(train, a)
        np.testing.assert_array_equal(test, b)
