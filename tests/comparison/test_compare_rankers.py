"""`compare_rankers`: the data that each ranker gets, values, folds, labels and tuning."""

from typing import ClassVar

import lightgbm
import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
from cheap_rankers import Noisy, made
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gapboost as gb
from gapboost.analysis.standard_errors import one_way_clustered
from gapboost.comparison import compare_rankers
from gapboost.comparison.rankers import configured, last_step
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

X, Y, QID = made()
PAIR = {"one": Noisy(0.2, 1), "other": Noisy(0.6, 2)}
SMALL = {"n_estimators": 3, "n_jobs": 1}


@pytest.fixture(scope="module")
def comparison():
    return compare_rankers(X, Y, QID, PAIR, cv=4, repeats=2)


def parts_of(found, fold):
    """Return the documents of the training, validation and test queries of a fold."""
    split = found.training.splits[fold]
    return [
        found.training.data.select(queries) for queries in (split.train, split.vali, split.test)
    ]


def test_values_are_those_of_evaluate(comparison):
    """Train on the other folds by hand, and compare with the values of `evaluate`."""
    table = comparison.to_pandas()
    assert set(table.columns) == {"query", "ranker", "measure", "repeat", "fold", "value"}
    assert len(table) == 60 * 2 * 3 * 2
    assert table["fold"].nunique() == 4
    measures = [gb.GAP(g=(0.5, 0.5)), "ndcg@10", "map"]
    for repeat in (1, 2):
        scores = np.empty(len(Y))
        folds = GroupKFold(4, shuffle=True, random_state=repeat)
        for train, test in folds.split(X, Y, QID):
            ranker = Noisy(0.6, 2, random_state=repeat).fit(X[train], Y[train])
            scores[test] = ranker.predict(X[test])
        expected = gb.evaluate(measures, Y, scores, QID, per_query=True)
        mine = table[(table["ranker"] == "other") & (table["repeat"] == repeat)]
        for name, values in zip(("gap", "ndcg@10", "map"), expected.values(), strict=True):
            found = mine[mine["measure"] == name].set_index("query")["value"]
            npt.assert_allclose(found.loc[expected.qid], values, rtol=1e-12)


def test_means_and_summary(comparison):
    table = comparison.to_pandas()
    means = comparison.means()
    for ranker in PAIR:
        for measure in ("gap", "ndcg@10", "map"):
            chosen = table[(table["ranker"] == ranker) & (table["measure"] == measure)]
            assert means.loc[ranker, measure] == pytest.approx(chosen["value"].mean())
    summary = comparison.summary()
    assert (summary["ranker"] == "other").all()
    assert (summary["baseline"] == "one").all()
    other, one = (means.loc[name, summary["measure"]] for name in ("other", "one"))
    npt.assert_allclose(summary["difference"], other - one)
    npt.assert_allclose(comparison.summary("other")["difference"], -summary["difference"])
    assert set(summary["verdict"]) <= {"ahead", "behind", "inconclusive"}
    assert (summary["queries"] == 60).all()


def test_the_best_is_trained_on_everything(comparison):
    assert comparison.best == "one"
    expected = Noisy(0.2, 1, random_state=1).fit(X, Y).weights_
    npt.assert_array_equal(comparison.best_.weights_, expected)


class Counting(Ridge):
    trained: ClassVar[list[int]] = []

    def __init__(self, n_estimators=100):
        super().__init__()
        self.n_estimators = n_estimators

    def fit(self, X, y):
        self.trained.append(self.n_estimators)
        return super().fit(X, y)


@pytest.mark.parametrize(
    "ranker", [Counting(), make_pipeline(StandardScaler(), Counting())], ids=["alone", "last"]
)
def test_whether_a_booster_takes_the_data_is_tried_with_two_trees(ranker):
    Counting.trained.clear()
    compare_rankers(X, Y, QID, {"booster": ranker, "line": Ridge()}, cv=3, repeats=1)
    assert Counting.trained == [2, 100, 100, 100]


@pytest.mark.parametrize(("given", "expected"), [(None, 1), (2, 2)])
def test_trainings_have_one_thread_unless_the_ranker_has_a_number(given, expected):
    for ranker in (LGBMGAPRanker(n_jobs=given), XGBGAPRanker(n_jobs=given)):
        for whole in (ranker, make_pipeline(StandardScaler(), ranker)):
            assert last_step(configured(whole, {}, 1)).n_jobs == expected


def test_ready_made_folds():
    parts = np.array_split(np.arange(60) + 1000, 4)
    rows = [np.flatnonzero(np.isin(QID, part)) for part in parts]
    folds = [
        (np.concatenate(rows[:2]), rows[2], rows[3]),
        (np.concatenate(rows[2:]), rows[0], rows[1]),
    ]
    found = compare_rankers(X, Y, QID, PAIR, cv=folds, repeats=1)
    for split, part in zip(found.training.splits, (parts[3], parts[1]), strict=True):
        assert sorted(found.training.data.query_data.queries.ids[split.test]) == part.tolist()
    npt.assert_array_equal(
        np.sort(found.training.data.query_data.queries.ids[found.training.splits[0].vali]), parts[2]
    )


@pytest.mark.parametrize(
    ("cv", "same", "repeats"),
    [
        (GroupKFold(4), list(GroupKFold(4).split(X, Y, QID)), 2),
        (4, GroupKFold(4, shuffle=True, random_state=1), 1),
    ],
    ids=["its folds", "shuffled"],
)
def test_a_splitter_is_its_folds(cv, same, repeats):
    first, second = (
        compare_rankers(X, Y, QID, PAIR, cv=folds, repeats=repeats).to_pandas()
        for folds in (cv, same)
    )
    assert first.equals(second)


def test_each_repeat_has_its_own_folds_and_tests_every_query(comparison):
    splits = comparison.training.splits
    assert [(split.repeats, split.fold) for split in splits] == [
        ((r,), f) for r in (1, 2) for f in range(4)
    ]
    for repeat in (1, 2):
        tested = np.concatenate([split.test for split in splits if split.repeats == (repeat,)])
        assert sorted(tested) == list(range(60))
    assert {tuple(split.test) for split in splits[:4]}.isdisjoint(
        tuple(split.test) for split in splits[4:]
    )


def test_repeats_of_given_folds_are_seeds_whose_values_are_averaged():
    folds = list(GroupKFold(4).split(X, Y, QID))
    found = compare_rankers(X, Y, QID, PAIR, cv=folds, repeats=2)
    by_hand = found.to_pandas().groupby(["measure", "ranker", "query"])["value"].mean()
    for row in found.summary("one").itertuples():
        first, second = (by_hand[row.measure][name] for name in ("other", "one"))
        of_folds = [(first - second).loc[np.unique(QID[test])].to_numpy() for _, test in folds]
        assert (row.low, row.high) == pytest.approx(one_way_clustered(of_folds).interval())


@pytest.mark.parametrize(("cv", "of_line"), [(3, 2), (GroupKFold(3), 1)])
def test_a_ranker_without_seed_is_trained_once_for_each_split(cv, of_line):
    line = make_pipeline(StandardScaler(), LinearRegression())
    found = compare_rankers(X, Y, QID, {**PAIR, "line": line}, cv=cv, repeats=2)
    repeats = found.to_pandas().groupby("ranker")["repeat"].max()
    assert repeats.to_dict() == {"one": 2, "other": 2, "line": of_line}


def test_real_grades_and_string_ids():
    real = np.round(Y + 0.25 * (np.arange(len(Y)) % 2), 2)
    ids = np.array([f"query {i}" for i in QID])
    rankers = {"GAP": XGBGAPRanker(**SMALL), "line": Ridge()}
    found = compare_rankers(X, real, ids, rankers, measures="gap", cv=3, repeats=1)
    assert 0 < found.means().loc["line", "gap"] < 1


@pytest.mark.parametrize("named", [False, True], ids=["array", "frame"])
def test_two_labels(named):
    """Rankers of gapboost and measures say which label they read; others train on the first."""
    columns = ["relevance", "revenue"] if named else [0, 1]
    noise = np.random.default_rng(0).normal(size=len(X))
    both = np.column_stack([Y, np.digitize(X[:, 1] + noise, (0.5, 1.5))])
    y = pd.DataFrame(both, columns=columns) if named else both
    first, second = (gb.OfLabel(gb.nDCG(), column) for column in columns)
    mixed = 0.5 * first + 0.5 * second
    ours = LGBMGAPRanker(measure=mixed, **SMALL, verbose=-1)
    rankers = {"both": ours, "own": lightgbm.LGBMRanker(**SMALL, verbose=-1), "noisy": Noisy()}
    given = {"cv": 3, "repeats": 1}
    found = compare_rankers(X, y, QID, rankers, measures=[first, second, mixed], **given)
    assert found.training.choose_by == first
    rankers.pop("both")
    alone = compare_rankers(X, Y, QID, rankers, measures="ndcg", **given)
    for name in rankers:
        for here, there in zip(
            found.values(name, first.name), alone.values(name, "ndcg"), strict=True
        ):
            npt.assert_array_equal(here, there)
    means = found.means()
    npt.assert_allclose(means[mixed.name], (means[first.name] + means[second.name]) / 2)
    assert means.loc["both", second.name] > means.loc["own", second.name]
    with pytest.raises(ValueError, match="OfLabel"):
        compare_rankers(X, y, QID, rankers, **given)


@pytest.mark.slow
def test_processes_change_nothing():
    rankers = {"booster": LGBMGAPRanker(**SMALL, verbose=-1), **PAIR}
    one, two = (compare_rankers(X, Y, QID, rankers, cv=4, repeats=2, n_jobs=n) for n in (1, 2))
    assert one.to_pandas().equals(two.to_pandas())


def test_documents_of_a_query_come_in_a_random_order_the_same_for_all():
    """LightGBM breaks ties by the order of rows, which in a sorted file is that of grades."""
    order = np.lexsort((-Y, QID))
    found = compare_rankers(X[order], Y[order], QID[order], PAIR, cv=3, repeats=1)
    documents = found.training.data
    assert (np.diff(documents.y[documents.qid == documents.qid[0]]) > 0).any()
    kept = compare_rankers(X[order], Y[order], QID[order], PAIR, cv=3, repeats=1, shuffle=False)
    npt.assert_array_equal(kept.training.data.y, Y[order])


# --- tuning ---------------------------------------------------------------------------------------


def test_tuning_chooses_on_validation_queries():
    """The candidate with the best mean on the validation queries is tested."""
    spaces = {name: {"noise": [0.0, 0.1, 2.0, 5.0]} for name in PAIR}
    found = compare_rankers(
        X, Y, QID, PAIR, cv=4, repeats=2, tune=4, spaces=spaces, choose_by="ndcg@5"
    )
    splits = found.training.splits[:4]
    for fold, following in zip(splits, splits[1:] + splits[:1], strict=True):
        npt.assert_array_equal(fold.vali, following.test)
        assert sorted([*fold.train, *fold.vali, *fold.test]) == list(range(60))
    train, again, test = parts_of(found, 1)
    candidates = found.training.candidates
    for name, offset in (("one", 1), ("other", 2)):
        means = []
        for params in candidates[name]:
            ranker = Noisy(params["noise"], offset, random_state=1).fit(train.X, train.y)
            scores = ranker.predict(again.X)
            means += gb.evaluate("ndcg@5", again.y, scores, again.qid).values()
        result = found.results[name, 1]
        npt.assert_allclose([values.mean() for values in result.searched], means)
        best = Noisy(candidates[name][np.argmax(means)]["noise"], offset, random_state=1)
        scores = best.fit(train.X, train.y).predict(test.X)
        expected = gb.evaluate("map", test.y, scores, test.qid, per_query=True)
        npt.assert_allclose(found.values(name, "map")[1], next(iter(expected.values())))
    assert found.best_.noise in (0.0, 0.1)


class Choosy(Noisy):
    """Ranker that refuses much noise, as boosters refuse some parameters on few rows."""

    def fit(self, X, y):
        if self.noise > 1:
            raise ValueError("too much noise")
        return super().fit(X, y)


def test_a_candidate_that_cannot_be_trained_is_not_chosen(tmp_path):
    spaces = {name: {"noise": [0.5, 2.0]} for name in ("one", "other")}
    given = {
        "rankers": {"one": Choosy(0.2, 1), "other": Noisy(0.6, 2)},
        "cv": 3,
        "repeats": 1,
        "tune": 2,
        "spaces": spaces,
    }
    with pytest.warns(UserWarning, match="'one' cannot be trained .too much noise"):
        found = compare_rankers(X, Y, QID, **given, memory=tmp_path)
    refused = [candidate["noise"] for candidate in found.training.candidates["one"]].index(2.0)
    assert np.isneginf(found.results["one", 0].searched[refused]).all()
    assert found.best_.noise == 0.5 or found.best == "other"
    with pytest.warns(UserWarning, match="too much noise"):
        again = compare_rankers(X, Y, QID, **given, memory=tmp_path)
    assert again.to_pandas().equals(found.to_pandas())


@pytest.mark.parametrize(
    ("spaces", "message"),
    [
        ({"third": {"noise": [0.5, 0.6]}}, "^spaces names 'third'; expected some of one, other"),
        ({"one": {"noise": [0.5, 0.6]}}, "^tune is 2 but spaces has none for 'other'"),
        ({"one": {"nose": [0.5, 0.6]}}, "^spaces has 'nose' for 'one'; expected some of noise, "),
        ({"one": {"noise": [0.5]}}, "^tune is 2; expected at most 1, for 'one'"),
    ],
)
def test_spaces_that_cannot_be_drawn_from(spaces, message):
    with pytest.raises(ValueError, match=message):
        compare_rankers(X, Y, QID, PAIR, cv=3, tune=2, spaces=spaces)


def test_a_ranker_that_no_candidate_can_train_is_an_error():
    spaces = {"one": {"noise": [2.0, 3.0]}, "other": {"noise": [0.1, 0.2]}}
    rankers = {"one": Choosy(0.2, 1), "other": Noisy(0.6, 2)}
    with pytest.raises(ValueError, match="too much noise"):
        compare_rankers(X, Y, QID, rankers, cv=3, repeats=1, tune=2, spaces=spaces)
