"""`choose_trees`: each booster gets the number of trees that is best on validation queries."""

from dataclasses import replace

import lightgbm
import numpy as np
import numpy.testing as npt
import pytest
import xgboost
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gapboost as gb
from gapboost.comparison import compare_rankers
from gapboost.datasets import load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

DATA = load_digits_ranking((40, 1, 1), 12, random_state=0)[0]
MOST, RATE = 23, 0.5
TREES = {"n_estimators": MOST, "learning_rate": RATE, "n_jobs": 1}
RANKERS = [
    (lightgbm.LGBMRanker(**TREES, verbose=-1), "num_iteration"),
    (LGBMGAPRanker(**TREES, verbose=-1), "num_iteration"),
    (xgboost.XGBRanker(**TREES), "iteration_range"),
    (XGBGAPRanker(**TREES), "iteration_range"),
    (
        make_pipeline(StandardScaler(), lightgbm.LGBMRegressor(**TREES, verbose=-1)),
        "num_iteration",
    ),
]


def compare(ranker, **options):
    other = lightgbm.LGBMRegressor(n_estimators=1, num_leaves=2, n_jobs=1, verbose=-1)
    rankers = {"ranker": ranker, "other": other}
    return compare_rankers(
        DATA.X, DATA.y, DATA.qid, rankers, measures="ndcg@10", cv=4, repeats=1, n_jobs=1, **options
    )


def check(ranker, argument):
    """Compare models with all their trees, cut by hand, and those that `choose_trees` cut."""
    chosen = compare(ranker, choose_trees=True)
    whole = replace(chosen.training, choose_trees=False)
    numbers = []
    for fold, split in enumerate(whole.splits):
        vali, test = (whole.data.select(queries) for queries in (split.vali, split.test))
        model = whole.fit("ranker", {}, split.train, split.vali)

        def values(part, n, model=model):
            used = {argument: (0, n) if argument == "iteration_range" else n}
            scores = model.predict(part.X, **used)
            return gb.evaluate("ndcg@10", part.y, scores, part.qid, per_query=True)[gb.nDCG(k=10)]

        numbers.append(max((5, 10, 15, 20, MOST), key=lambda n: values(vali, n).mean()))
        npt.assert_array_equal(chosen.values("ranker", "ndcg@10")[fold], values(test, numbers[-1]))
    assert set(numbers) != {MOST}  # something was cut
    assert chosen.means().loc["ranker", "trees"] == np.mean(numbers)


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize(("ranker", "argument"), RANKERS, ids=lambda each: type(each).__name__)
def test_the_best_of_every_fifth_number_of_trees_is_tested(ranker, argument):
    check(ranker, argument)


def test_catboost():
    catboost = pytest.importorskip("catboost")
    check(
        catboost.CatBoostRanker(
            iterations=MOST, learning_rate=1, verbose=False, allow_writing_files=False
        ),
        "ntree_end",
    )


@pytest.mark.parametrize("place", range(4))
def test_early_stopping_is_refused_with_the_way_out(place):
    ranker = clone(RANKERS[place][0]).set_params(early_stopping_rounds=3)
    with pytest.raises(ValueError, match="leave early stopping out: choose_trees=True"):
        compare(ranker)


def test_the_best_ranker_is_cut_too():
    """Queries that choose the number of its trees train none of them."""
    found = compare(RANKERS[2][0], choose_trees=True)
    best, whole = found.best_, replace(found.training, choose_trees=False)
    trees = best.get_booster().best_iteration + 1
    vali = whole.splits[0].vali
    rest = np.setdiff1d(np.arange(DATA.n_queries), vali)
    expected = whole.fit("ranker", {}, rest, vali).predict(DATA.X, iteration_range=(0, trees))
    npt.assert_array_equal(best.predict(DATA.X), expected)
    assert trees in (5, 10, 15, 20, MOST)


def test_rankers_without_trees_are_tested_as_they_are():
    """Neither trees nor settings are chosen for them, and they train on no validation query."""
    alone = compare(Ridge(), choose_trees=True)
    options = {"tune": 2, "spaces": {"ranker": {}}, "choose_trees": True}
    beside = compare(Ridge(), **options)
    for found in (alone, beside):
        folds = zip(found.training.splits, found.values("ranker", "ndcg@10"), strict=True)
        for split, values in folds:
            train, test = map(found.training.data.select, (split.train, split.test))
            scores = Ridge().fit(train.X, train.y).predict(test.X)
            expected = gb.evaluate("ndcg@10", test.y, scores, test.qid, per_query=True)
            npt.assert_array_equal(values, expected["ndcg@10"])
        assert found.means()["trees"].isna().tolist() == [True, False]
    assert beside.best == "ranker"
    assert type(beside.best_) is Ridge
    rankers = {"one": Ridge(), "two": Ridge(alpha=2)}
    with pytest.raises(ValueError, match="choose_trees is True but rankers holds 'one', 'two'; e"):
        compare_rankers(DATA.X, DATA.y, DATA.qid, rankers, choose_trees=True)
    with pytest.raises(ValueError, match="choose_trees is 3"):
        compare(Ridge(), choose_trees=3)
