"""Functions as `eval_metric`: the data they see, what is reported, and where training stops."""

import inspect

import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.base import clone
from twins import LIGHTGBM, QID, SIZES, TEST, TRAIN, VALI, XGBOOST, X, Y, shuffled, sizes_of, twins

import gapboost as gb
from gapboost.model_selection import GSearchCV

EARLY = {"n_estimators": 60, "learning_rate": 0.3}
RNG = np.random.default_rng(0)


def given(twin, metric, fit=None, **parameters):
    """`eval_metric` where the ranker of each booster takes it: parameters, and arguments of fit."""
    fit = dict(fit or {})
    (fit if twin is LIGHTGBM else parameters)["eval_metric"] = metric
    return parameters, fit


def watched(twin, metric, data=VALI, train=TRAIN, fit=None, **parameters):
    parameters, fit = given(twin, metric, fit, **parameters)
    return twin.fitted(data=train, evals=[data], fit=fit, **parameters)


def share_of_first(y_true, y_pred, weight):
    """Return a value that depends on the order of the rows, for all rows."""
    return "first", float(np.mean(y_pred[: len(y_pred) // 3] > np.median(y_pred))), True


def revenue_of(data):
    """Revenue of each row, and its share in the first three documents of each query as a metric."""
    revenue = np.random.default_rng(1).gamma(1.0, size=len(data.y))

    def revenue_at_3(y_true, y_pred, weight):
        return "revenue@3", naive_revenue(data.qid, revenue, y_pred), True

    return revenue, revenue_at_3


def naive_revenue(qid, revenue, scores):
    shares = []
    for q in dict.fromkeys(qid.tolist()):
        rows = np.flatnonzero(qid == q)
        shares.append(
            revenue[rows[np.argsort(-scores[rows], kind="stable")[:3]]].sum() / revenue[rows].sum()
        )
    return float(np.mean(shares))


class Rows:
    """Some rows of a data set, in any order."""

    def __init__(self, data, rows):
        self.X, self.y, self.qid = data.X[rows], data.y[rows], data.qid[rows]


@twins
@pytest.mark.parametrize("interleaved", [False, True], ids=["by query", "interleaved"])
def test_a_function_sees_the_rows_of_the_user(twin, interleaved):
    vali = Rows(VALI, shuffled(VALI)[0]) if interleaved else VALI
    revenue, metric = revenue_of(vali)
    ranker = watched(twin, ["ndcg@5", metric], vali)
    (curves,) = ranker.evals_result_.values()
    name = {"lightgbm": "revenue@3", "xgboost": "map-revenue@3"}[twin.name]
    assert set(curves) == {"map-gap", "ndcg@5", name}
    for n, value in enumerate(curves[name], 1):
        scores = twin.staged(ranker, vali.X, n)
        assert value == pytest.approx(naive_revenue(vali.qid, revenue, scores), abs=1e-6)
    alone = watched(twin, ["ndcg@5"], vali)
    (without,) = alone.evals_result_.values()
    assert {n: curves[n] for n in without} == without
    np.testing.assert_array_equal(ranker.predict(TEST.X), alone.predict(TEST.X))


@twins
def test_what_is_passed(twin):
    seen = {}

    def three(y_true, y_pred, weight):
        seen[3] = (y_true, y_pred, weight)
        return "three", 1.0, True

    def four(y_true, y_pred, weight, group):
        seen[4] = (y_true, y_pred, weight, group)
        y_pred[:] = np.nan  # it is a copy
        return [("four", 1.0, True), ("cost", 2.0, False)]

    weight = RNG.uniform(0.5, 2.0, len(VALI.y))
    ranker = watched(twin, [four, three], fit={twin.eval_weight: [weight]})
    assert {"three", "four", "cost"} <= {
        name.removeprefix("map-") for name in next(iter(ranker.evals_result_.values()))
    }
    for found in seen.values():
        np.testing.assert_array_equal(found[0], VALI.y)
        np.testing.assert_allclose(found[2], weight)
    np.testing.assert_allclose(seen[3][1], ranker.predict(VALI.X), atol=1e-6)
    np.testing.assert_array_equal(seen[4][3], sizes_of(VALI.qid))
    watched(twin, three)
    assert seen[3][2] is None


@twins
def test_sets_with_the_same_labels_keep_their_own_order(twin):
    """Evaluation sets with the grades and queries of the training set, in another order of rows."""
    order, _ = shuffled(TRAIN, 3)
    sets = [TRAIN, Rows(TRAIN, order), Rows(TRAIN, order[::-1])]
    seen = []

    def passed(y_true, y_pred, weight):
        seen.append(y_pred)
        return "seen", 0.0, True

    parameters, fit = given(twin, passed)
    fit["eval_set"] = [(s.X, s.y) for s in [sets[1], sets[0], sets[2]]]
    fit["eval_qid"] = [s.qid for s in [sets[1], sets[0], sets[2]]]
    ranker = twin.ranker(n_estimators=2, **parameters).fit(TRAIN.X, TRAIN.y, TRAIN.qid, **fit)
    last = seen[-3:]
    expected = [ranker.predict(s.X) for s in sets]
    for scores in expected:
        assert sum(np.allclose(scores, found, atol=1e-6) for found in last) == 1


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
def test_the_values_are_those_of_LGBMRanker():
    def spread(y_true, y_pred):
        return "spread", float(np.std(y_pred) + y_true.mean()), True

    def pair(y_true, y_pred, weight, group):
        return [
            ("mean", float(np.mean(y_pred)), True),
            ("sizes", float(np.sum(np.square(group))), False),
        ]

    parameters = {"n_estimators": 5, **LIGHTGBM.parameters, "n_jobs": 1}
    gradients = gb.lightgbm.objective("gap")
    fit = {
        "eval_set": [(VALI.X, VALI.y)],
        "eval_group": [sizes_of(VALI.qid)],
        "eval_metric": [spread, pair],
    }
    theirs = lightgbm.LGBMRanker(**parameters, objective=gradients, metric="None").fit(
        X, Y, group=SIZES, **fit
    )
    ours = LIGHTGBM.ranker(n_estimators=5).fit(X, Y, group=SIZES, **fit)
    found, expected = ours.evals_result_["valid_0"], theirs.evals_result_["valid_0"]
    assert list(found) == ["map-gap", *expected]
    for name in expected:
        assert found[name] == pytest.approx(expected[name], rel=1e-6)


def test_the_values_are_those_of_XGBRanker():
    """Queries of several sizes, one of them with a single document."""

    def top(y_true, y_score):
        assert len(y_true) > 1
        return float(y_true[np.argmax(y_score)] * len(y_true))

    rows = np.concatenate(
        [np.flatnonzero(VALI.qid == q)[: 1 + i] for i, q in enumerate(np.unique(VALI.qid))]
    )
    vali = Rows(VALI, rows)
    fit = {
        "qid": QID,
        "eval_set": [(vali.X, vali.y)],
        "eval_qid": [vali.qid],
        # All scores are these in every round: a learning rate of 0 adds nothing.
        "base_margin_eval_set": [RNG.normal(size=len(rows))],
        "verbose": False,
    }
    for metric in (top, ["ndcg@5", top]):
        parameters = {
            "n_estimators": 2,
            "n_jobs": 1,
            "learning_rate": 0.0,
            "eval_metric": metric,
            "base_score": 0.0,
        }
        ours = XGBOOST.ranker_class(**parameters).fit(X, Y, **fit).evals_result_["validation_0"]
        theirs = xgboost.XGBRanker(**parameters).fit(X, Y, **fit).evals_result_["validation_0"]
        assert ours["top"] == pytest.approx(theirs["top"], abs=1e-5)


@twins
def test_a_function_does_not_stop_training(twin):
    def constant(y_true, y_pred, weight):
        return "constant", 1.0, True

    parameters, fit = twin.stopping(5)
    alone = twin.fitted(evals=[VALI], fit=fit, **EARLY, **parameters)
    other = watched(twin, [constant, "ndcg@5"], fit=fit, **EARLY, **parameters)
    assert 1 < alone.best_iteration_ == other.best_iteration_
    np.testing.assert_array_equal(other.predict(TEST.X), alone.predict(TEST.X))


@twins
def test_metrics_of_the_library_are_their_measures(twin):
    metric = twin.module.eval_metric(["ndcg@5", "ap"])
    (found,) = watched(twin, metric).evals_result_.values()
    (expected,) = watched(twin, ["ndcg@5", "ap"]).evals_result_.values()
    assert found == expected


@twins
def test_a_function_of_group_needs_rows_by_query(twin):
    def sizes(y_true, y_pred, weight, group):
        return "sizes", float(len(group)), True

    with pytest.raises(
        ValueError,
        match=r"eval_metric holds .*sizes.* takes group, but the rows of eval_set\[0\] X",
    ):
        watched(twin, ["ap", sizes], Rows(VALI, shuffled(VALI)[0]))


@twins
@pytest.mark.parametrize(
    "result",
    [1.0, ("a", 1.0), [], [("a", 1.0, True), 3], (1.0, "a", True), ("a", np.ones(2), True)],
    ids=repr,
)
def test_other_results_are_refused(twin, result):
    def metric(y_true, y_pred, weight):
        return result

    with pytest.raises(
        TypeError, match=r"eval_metric holds .*metric.*, which returned .*; expected \(name, value"
    ):
        watched(twin, metric)


@twins
def test_other_numbers_of_arguments_are_refused(twin):
    def one(y_true):
        return 0.0

    def five(y_true, y_pred, weight, group, more):
        return 0.0

    for function in (one, five):
        n = len(inspect.signature(function).parameters)
        with pytest.raises(
            TypeError,
            match=rf"eval_metric holds .*, which takes {n} arguments; expected a name such as",
        ):
            watched(twin, ["ndcg", function])


@twins
def test_names_are_distinct(twin):
    def metric(y_true, y_pred, weight):
        return "ndcg@5", 1.0, True

    with pytest.raises(
        ValueError, match=r"eval_metric reports 'ndcg@5' 2 times; expected distinct names"
    ):
        watched(twin, ["ndcg@5", metric])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (("a b", 1.0, True), "expected a name without blanks"),
        (("a:b", 1.0, True), "expected a name without blanks"),
        (
            ("precision_loss", 1.0, False),
            "XGBoost maximizes metrics whose names begin with auc, pre, map, ndcg",
        ),
    ],
)
def test_names_that_XGBoost_misreads(value, message):
    def metric(y_true, y_pred, weight):
        return value

    with pytest.raises(ValueError, match=message):
        watched(XGBOOST, metric)


def test_a_tuple_from_a_function_of_two_arguments_is_explained():
    def metric(y_true, y_pred):
        return "a", 1.0, True

    with pytest.raises(
        TypeError, match=r"returned \('a', 1.0, True\); expected the number of one query"
    ):
        watched(XGBOOST, metric)


@twins
def test_cv_and_the_callback_refuse_functions(twin):
    def metric(y_true, y_pred, weight):
        return "a", 1.0, True

    data = twin.dataset(X, Y, SIZES)
    with pytest.raises(TypeError, match=r"eval_metric is .*metric.*; expected a measure"):
        twin.module.cv(twin.native, data, 2, eval_metric=metric)
    with pytest.raises(TypeError, match=r"measure is .*metric.*; expected a measure"):
        twin.module.eval_metric(metric)


def n_rounds(ranker):
    return len(next(iter(next(iter(ranker.evals_result_.values())).values())))


@twins
@pytest.mark.parametrize(
    ("stopping", "reported"),
    [
        ("ndcg@10", "ndcg@10"),
        (gb.nDCG(k=10), "ndcg@10"),
        ("ap", "map-ap"),
        ("map-ap", "map-ap"),
        ("gap", "map-gap"),
    ],
    ids=repr,
)
def test_the_named_metric_stops_training(twin, stopping, reported):
    """By its own curve, the last improvement is as many rounds ago as early stopping waits."""
    parameters, fit = twin.stopping(5)
    metrics = ["ndcg@1", "ndcg@10", "ap"]
    ranker = watched(twin, metrics, fit=fit, stopping_metric=stopping, **EARLY, **parameters)
    curve = twin.curve(ranker, metric=reported)
    # XGBoost's log has six decimals.
    best = 1 + int(np.argmax(curve))
    assert ranker.best_iteration_ == best == n_rounds(ranker) - 5
    (names,) = ranker.evals_result_.values()
    assert list(names)[0 if twin is LIGHTGBM else -1] == reported


@twins
@pytest.mark.parametrize("higher", [True, False])
def test_a_function_stops_training(twin, higher):
    """It improves for four rounds in its direction, and then never again."""
    rounds = []

    def metric(y_true, y_pred, weight):
        rounds.append(len(rounds))
        value = float(min(rounds[-1], 3))
        return "mine", value if higher else -value, higher

    parameters, fit = twin.stopping(5)
    fit = dict(fit)
    ranker = watched(
        twin, ["ndcg@5", metric], fit=fit, stopping_metric="mine", **EARLY, **parameters
    )
    assert ranker.best_iteration_ == 4
    assert n_rounds(ranker) == 9


def test_XGBoost_reads_the_direction_of_a_function_of_two_arguments_from_its_name():
    calls = []

    def cost(y_true, y_score):
        calls.append(1)
        return -float(len(calls))

    def precision_of(y_true, y_score):
        return cost(y_true, y_score)

    for metric, best in ((cost, 12), (precision_of, 1)):
        ranker = XGBOOST.fitted(
            evals=[VALI],
            eval_metric=metric,
            stopping_metric=metric.__name__,
            n_estimators=12,
            early_stopping_rounds=3,
        )
        assert ranker.best_iteration_ == best


@twins
def test_a_stopping_metric_that_is_not_reported(twin):
    def metric(y_true, y_pred, weight):
        return "mine", 1.0, True

    parameters, fit = twin.stopping(5)
    known = {"lightgbm": "map-gap, ndcg@5", "xgboost": "map-gap, ndcg@5"}[twin.name]
    with pytest.raises(
        ValueError,
        match=rf"stopping_metric is 'ap', which is not reported; expected one of {known}, or",
    ):
        watched(twin, ["ndcg@5"], fit=fit, stopping_metric="ap", **parameters)
    with pytest.raises(ValueError, match=r"stopping_metric is nDCG\(k=3\), which is not reported"):
        watched(twin, ["ndcg@5", metric], fit=fit, stopping_metric=gb.nDCG(k=3), **parameters)
    with pytest.raises(
        ValueError,
        match=r"stopping_metric is 'yours', which is not reported; expected one of .*mine",
    ):
        watched(twin, ["ndcg@5", metric], fit=fit, stopping_metric="yours", **parameters)


@twins
def test_a_stopping_metric_without_early_stopping(twin):
    with pytest.raises(ValueError, match="stopping_metric is 'gap', but early stopping is off"):
        watched(twin, ["ndcg@5"], stopping_metric="gap")


def test_a_stopping_metric_beside_another_choice():
    parameters = {
        "stopping_metric": "ndcg@5",
        "first_metric_only": False,
        "early_stopping_round": 3,
    }
    with pytest.raises(ValueError, match="but first_metric_only is False"):
        watched(LIGHTGBM, ["ndcg@5"], **parameters)
    callback = xgboost.callback.EarlyStopping(rounds=3, metric_name="map-gap")
    with pytest.raises(
        ValueError, match="but metric_name of the early stopping callback is 'map-gap'"
    ):
        watched(XGBOOST, ["ndcg@5"], stopping_metric="ndcg@5", callbacks=[callback])


@twins
def test_a_stopping_metric_stands_for_the_trained_measure_whatever_its_g(twin):
    parameters, fit = twin.stopping(5)
    parameters |= {"g": (0.3, 0.7), **EARLY}
    first, second = (
        watched(twin, ["ndcg@5"], fit=fit, stopping_metric=stopping, **parameters)
        for stopping in (None, gb.GAP())
    )
    assert first.best_iteration_ == second.best_iteration_


@twins
def test_the_parameter(twin):
    ranker = twin.ranker(stopping_metric="ndcg@5")
    assert clone(ranker).get_params()["stopping_metric"] == "ndcg@5"
    with pytest.raises(
        ValueError, match="stopping_metric is 'ndcg@5'; expected None: the search tries"
    ):
        GSearchCV(ranker, {"n_estimators": [2]}, scoring="ndcg@5").fit(X, Y, QID)
    parameters, fit = twin.stopping(5)
    fitted = watched(twin, ["ndcg@5"], fit=fit, stopping_metric="ndcg@5", **parameters)
    vendor = fitted.to_vendor()
    assert "stopping_metric" not in vendor.get_params()
    np.testing.assert_allclose(vendor.predict(TEST.X), fitted.predict(TEST.X))
