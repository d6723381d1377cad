"""Rankers train for sums of measures of several labels."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from twins import LIGHTGBM, TEST, TRAIN, VALI, XGBOOST, shuffled, twins

import gapboost as gb

COLUMNS = ["relevance", "ink"]


def labelled(data):
    """The digits with a second label that other features tell: how much ink the picture has."""
    ink = data.X[:, TRAIN.feature_names.index("document_centre_ink")]
    levels = np.digitize(ink, np.quantile(ink, [0.5, 0.8, 0.95]))
    return replace(data, y=np.column_stack([data.y, levels]))


TWO, TWO_VALI, TWO_TEST = map(labelled, (TRAIN, VALI, TEST))
RELEVANCE, INK = gb.OfLabel(gb.GAP(), 0), gb.OfLabel(gb.nDCG(k=10), 1)
BOTH = 0.7 * RELEVANCE + 0.3 * INK


BY_NAME = 0.7 * gb.OfLabel(gb.GAP(), "relevance") + 0.3 * gb.OfLabel(gb.nDCG(k=10), "ink")


def named(y):
    return pd.DataFrame(y, columns=COLUMNS)


# --- training -------------------------------------------------------------------------------------


@twins
def test_training_for_one_column_is_training_on_it_to_the_last_bit(twin):
    """Case: in trees, metrics, early stopping and scores; also as a part of weight 1."""
    early, fit = twin.stopping(3)
    for column, measure in enumerate((gb.GAP(), gb.nDCG(k=10))):
        train, vali = (replace(data, y=data.y[:, column]) for data in (TWO, TWO_VALI))
        alone = twin.fitted(
            data=train, evals=(vali,), fit=fit, measure=measure, n_estimators=30, **early
        )
        for reading in (gb.OfLabel(measure, column), 1.0 * gb.OfLabel(measure, column)):
            found = twin.fitted(
                data=TWO, evals=(TWO_VALI,), fit=fit, measure=reading, n_estimators=30, **early
            )
            np.testing.assert_array_equal(found.predict(TEST.X), alone.predict(TEST.X))
            (ours,), (theirs,) = (
                list(next(iter(each.evals_result_.values())).values()) for each in (found, alone)
            )
            assert ours == theirs
            assert found.best_iteration_ == alone.best_iteration_
            assert found.score(TWO_TEST.X, TWO_TEST.y, TWO_TEST.qid) == alone.score(
                TEST.X, TWO_TEST.y[:, column], TEST.qid
            )


@twins
def test_equal_labels_train_the_model_of_the_plain_sum(twin):
    same = replace(TWO, y=TWO.y[:, [0, 0]])
    found = twin.fitted(data=same, measure=BOTH).predict(TEST.X)
    np.testing.assert_array_equal(
        found, twin.fitted(measure=0.7 * gb.GAP() + 0.3 * gb.nDCG(k=10)).predict(TEST.X)
    )


@twins
def test_rows_come_in_any_order_and_labels_with_names(twin):
    order, grouped = shuffled(TRAIN)
    fits = [
        twin.ranker(measure=BOTH).fit(TWO.X[grouped], TWO.y[grouped], TWO.qid[grouped]),
        twin.ranker(measure=BOTH).fit(TWO.X[order], TWO.y[order].tolist(), TWO.qid[order]),
        twin.ranker(measure=BY_NAME).fit(TWO.X[order], named(TWO.y).iloc[order], TWO.qid[order]),
        # Columns are found by name.
        twin.ranker(measure=BY_NAME).fit(
            TWO.X[order], named(TWO.y)[COLUMNS[::-1]].iloc[order], TWO.qid[order]
        ),
    ]
    first, *others = (ranker.predict(TEST.X) for ranker in fits)
    for other in others:
        np.testing.assert_array_equal(other, first)
    assert fits[-1].score(TWO_TEST.X, named(TWO_TEST.y), TWO_TEST.qid) == fits[0].score(
        TWO_TEST.X, TWO_TEST.y, TWO_TEST.qid
    )


# --- evaluation sets, early stopping, score -------------------------------------------------------


@twins
def test_reports_are_those_of_evaluate(twin):
    """Each set is evaluated by its own labels, although a booster holds only the first one.

    Here all sets have the same first label.
    """
    other = replace(TWO_VALI, y=np.column_stack([VALI.y, np.roll(TWO_VALI.y[:, 1], 7)]))
    watch = {"eval_metric": [RELEVANCE, INK]}
    ranker = twin.fitted(data=TWO, evals=(TWO_VALI, other, TWO), watch=watch, measure=BOTH)
    names = {
        "0.7*gap_of_0+0.3*ndcg_of_1@10": BOTH,
        "gap_of_0": RELEVANCE,
        "ndcg_of_1@10": INK,
    }
    reported = [*ranker.evals_result_.values()]
    if twin is LIGHTGBM:  # it scores the training set first
        reported = [*reported[1:], reported[0]]
    for data, curves in zip((TWO_VALI, other, TWO), reported, strict=True):
        assert curves.keys() == names.keys()
        values = gb.evaluate([*names.values()], data.y, ranker.predict(data.X), data.qid)
        for name, measure in names.items():
            assert curves[name][-1] == pytest.approx(values[measure], abs=1e-6)
    assert reported[0]["ndcg_of_1@10"] != reported[1]["ndcg_of_1@10"]
    assert reported[0]["gap_of_0"] == reported[1]["gap_of_0"]


# --- copies and files -----------------------------------------------------------------------------


@twins
def test_the_measure_survives_copies_and_files(twin, tmp_path):
    y = named(TWO.y).rename(columns={"ink": "how 'inky' (é?)"})
    measure = 0.7 * gb.OfLabel(gb.GAP(), "relevance") + 0.3 * gb.OfLabel(
        gb.nDCG(k=10), "how 'inky' (é?)"
    )
    ranker = clone(twin.ranker(measure=measure)).fit(TWO.X, y, TWO.qid)
    resolved = ranker.measure_
    assert repr(resolved) == (
        "0.7 * OfLabel(GAP(g=(0.5, 0.5)), 'relevance') + 0.3 * OfLabel(nDCG(k=10), \"how 'inky' "
        '(é?)")'
    )
    assert pickle.loads(pickle.dumps(ranker)).measure_ == resolved
    assert "OfLabel" in repr(ranker)
    assert ranker.g_ is None
    if twin is XGBOOST:
        ranker.save_model(tmp_path / "model.json")
        loaded = twin.ranker()
        loaded.load_model(tmp_path / "model.json")
        assert loaded.measure_ == resolved
        assert loaded.score(TEST.X, named(TWO_TEST.y).set_axis(y.columns, axis=1), TEST.qid) > 0.5


# --- refusals -------------------------------------------------------------------------------------


@twins
def test_no_label_that_is_read_teaches_an_order(twin):
    y = TWO.y.copy()
    y[:, 1] = 1
    with pytest.raises(ValueError, match="no swap of two documents of y changes it"):
        twin.ranker(measure=INK).fit(TWO.X, y, TWO.qid)
    y[:, 0] = 1
    with pytest.raises(ValueError, match=r"^y holds no query with two different grades"):
        twin.ranker(measure=BOTH).fit(TWO.X, y, TWO.qid)
