"""A measure of one of several labels equals the measure of its column; sums equal their parts."""

import numpy as np
import pandas as pd
import pytest
from rankings import random_rankings

import gapboost as gb
from gapboost.analysis import informativeness, ranked_lists
from gapboost.objectives.base import Objective

PARTS = [gb.GAP(g=(0.2, 0.3, 0.5)), gb.nDCG(k=3), gb.ERR(top=3), gb.xGAP(g=(0.217, 0.704, 0.079))]
PAIRS = [(0, 1), (1, 2), (3, 0), (1, 1)]
WEIGHTS = (0.7, 2.5)


def two_labels(seed, ties=False):
    """Two labels of each row, in mixed order; scores and query ids of the rows."""
    rng = np.random.default_rng([45, seed])
    data = random_rankings(rng, 12, ties=ties)
    other = rng.integers(0, 4, len(data.grades))
    # In some queries nothing is relevant by one of the labels, or by both.
    other[np.isin(data.qid, [f"query {number}" for number in range(4)])] = 0
    y = np.column_stack([np.where(data.qid == "query 0", 0, data.grades), other])
    return y, (data.scores, data.qid)


def weighted(pair):
    """The sum of two measures of the two labels."""
    one, other = (gb.OfLabel(PARTS[i], column) for column, i in enumerate(pair))
    return WEIGHTS[0] * one + WEIGHTS[1] * other


@pytest.mark.parametrize("empty", [0, 1, "skip"])
@pytest.mark.parametrize("pair", PAIRS)
def test_values_are_those_of_the_columns(pair, empty):
    y, rows = two_labels(0, ties=True)
    measures = [weighted(pair), *(gb.OfLabel(PARTS[i], column) for column, i in enumerate(pair))]
    found = gb.evaluate(measures, y, *rows, empty=empty, per_query=True)
    alone = [
        gb.evaluate(PARTS[i], y[:, c], *rows, empty="skip", per_query=True)[PARTS[i]]
        for c, i in enumerate(pair)
    ]
    nothing = {0: 0.0, 1: 1.0, "skip": np.nan}[empty]
    for measure, values in zip(measures[1:], alone, strict=True):
        np.testing.assert_array_equal(found[measure], np.where(np.isnan(values), nothing, values))
    # A query without anything relevant in one column has the value of the other; without any in
    # both it is empty.
    expected = sum(w * np.nan_to_num(values) for w, values in zip(WEIGHTS, alone, strict=True))
    expected[np.isnan(alone).all(axis=0)] = nothing
    assert found[measures[0]] == pytest.approx(expected, rel=1e-14, nan_ok=True)
    assert np.isnan(alone).any(axis=1).all()
    assert np.isnan(alone).all(axis=0).any()


def test_weights_open_parameters_and_fractions_are_those_of_the_column():
    y, rows = two_labels(1)
    y = np.column_stack([y[:, 0], y[:, 1] / 4])
    how = {"sample_weight": np.random.default_rng(0).uniform(0.1, 3, len(y))}
    for column in (0, 1):
        for measure in (gb.GAP(), gb.nDCG(k=2), gb.Success(k=1)):
            reading = gb.OfLabel(measure, column)
            (found,) = gb.evaluate(reading, y, *rows, **how).values()
            (expected,) = gb.evaluate(measure, y[:, column], *rows, **how).values()
            assert found == expected


def test_columns_of_data_frames_have_names():
    y, rows = two_labels(2)
    measure = 0.5 * gb.OfLabel(gb.GAP(), "relevance") + 0.5 * gb.OfLabel(gb.AP(), "revenue")
    numbered = 0.5 * gb.OfLabel(gb.GAP(), 0) + 0.5 * gb.OfLabel(gb.AP(), 1)
    expected = gb.evaluate(numbered, y, *rows)[numbered]
    named = pd.DataFrame(y, columns=["relevance", "revenue"])
    tables = [named, named.astype({"relevance": "Int64", "revenue": "float32"})]
    tables.append(pytest.importorskip("polars").from_pandas(named))
    tables.append(pytest.importorskip("pyarrow").Table.from_pandas(named))
    for table in tables:
        assert gb.evaluate(measure, table, *rows)[measure] == expected
    for plain in (y.tolist(), pd.DataFrame(y)):
        assert gb.evaluate(numbered, plain, *rows)[numbered] == expected


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("pair", PAIRS)
def test_gradients_are_the_sum_of_the_columns(pair, normalize):
    """The weighted sum of the parts' gradients, and only then the scale of the query."""
    y, rows = two_labels(4)
    found = gb.LambdaRank(weighted(pair), normalize=normalize).gradients(y, *rows)
    parts = [
        weight * np.array(gb.LambdaRank(PARTS[i], normalize=False).gradients(y[:, c], *rows))
        for c, (i, weight) in enumerate(zip(pair, WEIGHTS, strict=True))
    ]
    expected = np.sum(parts, axis=0)
    if normalize:
        query = np.unique(rows[1], return_inverse=True)[1]
        total = np.bincount(query, np.abs(expected[0]))
        some = total > 0
        total[some] = np.log2(1 + total[some]) / total[some]
        expected *= np.where(some, total, 1.0)[query]
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    assert np.abs(found[0]).max() > 0.05


@pytest.mark.parametrize("options", [{}, {"normalize": False}, {"truncation": 3}])
@pytest.mark.parametrize("measure", PARTS, ids=str)
def test_one_column_alone_has_its_gradients_to_the_last_bit(measure, options):
    y, rows = two_labels(6, ties=True)
    how = {"sample_weight": np.random.default_rng(1).uniform(0.1, 2, len(y))}
    for column in (0, 1):
        expected = gb.LambdaRank(measure, **options).gradients(y[:, column], *rows, **how)
        for reading in (gb.OfLabel(measure, column), 1.0 * gb.OfLabel(measure, column)):
            found = gb.LambdaRank(reading, **options).gradients(y, *rows, **how)
            np.testing.assert_array_equal(found, expected)


def test_it_is_a_value():
    measure = gb.OfLabel(gb.nDCG(k=10), "sold")
    assert (measure.k, measure.trains, measure.monotone) == (10, True, True)
    assert measure.short_name == "ndcg_of_sold"
    assert not gb.OfLabel(gb.xGAP(), 0).monotone
    assert not gb.OfLabel(gb.QMeasure(), 0).trains
    assert gb.OfLabel(gb.GAP(g=(1.0,)), 0).highest_grade == 1
    assert gb.OfLabel(gb.nDCG(), np.int64(1)) == gb.OfLabel(gb.nDCG(), 1)


ONE = gb.OfLabel(gb.AP(), 0)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: gb.OfLabel("ap", 0), "^measure is 'ap'"),
        (lambda: gb.OfLabel(0.5 * gb.AP() + gb.RR(), 0), "^measure is "),
        (lambda: gb.OfLabel(ONE, 1), "^measure is "),
        (lambda: gb.OfLabel(gb.AP(), -1), "^column is -1"),
        (lambda: gb.OfLabel(gb.AP(), ("a", 1)), "^column is "),
        (lambda: gb.SoftRank(ONE), "^measure is OfLabel"),
        (lambda: gb.ApproxRank(ONE + gb.OfLabel(gb.AP(), 1)), "^measure is "),
        (lambda: gb.evaluate(ONE, Y, SCORES, recall_base=[[1, 1, 1]]), "^recall_base "),
        (lambda: informativeness([ONE], ranked_lists([0, 1], [2, 1]), minimum=1), "one label$"),
    ],
)
def test_unusable_values(make, says):
    with pytest.raises((TypeError, ValueError), match=says):
        make()


Y = [[1, 0], [0, 2], [2, 1]]
SCORES = [3.0, 2.0, 1.0]
WRONG_LABELS = {
    "a measure that reads none": (gb.AP(), Y, r"^y_true has .*labels.*AP\(rel=1\)"),
    "a sum of which a part reads none": (ONE + gb.RR(), Y, r"^y_true has .*labels.*RR\(\)"),
    "one label": (ONE, [1, 0, 2], r"^y_true has one label a row"),
    "no such number": (gb.OfLabel(gb.AP(), 2), Y, "^y_true has .* 0, 1, but .* reads 2"),
    "a grade beyond g": (gb.OfLabel(gb.GAP(g=(1.0,)), 1), Y, r"^y_true\[:, 1\] holds the grade 2"),
    "a negative grade": (ONE, [[1, 0], [0, -1], [2, 1]], r"^y_true\[:, 1\] holds -1"),
    "text": (
        gb.OfLabel(gb.AP(), "relevance"),
        pd.DataFrame({"relevance": [0, 1, 2], "shop": ["a", "b", "c"]}),
        r"^y_true\['shop'\] ",
    ),
    "a name twice": (
        gb.OfLabel(gb.AP(), "a"),
        pd.DataFrame(Y, columns=["a", "a"]),
        "^y_true has two columns 'a'",
    ),
}


@pytest.mark.parametrize("case", WRONG_LABELS)
def test_measures_and_labels_that_do_not_go_together(case):
    measure, y, says = WRONG_LABELS[case]
    with pytest.raises(ValueError, match=says):
        gb.evaluate(measure, y, SCORES)
    with pytest.raises(ValueError, match=says):
        gb.LambdaRank(measure).gradients(y, SCORES)


def test_an_objective_of_ones_own_gets_all_labels():
    class Own(Objective):
        def prepared(self, data, n_jobs=None):
            assert data.grades.tolist() == Y
            assert data.of_label(1).grades.tolist() == [0, 2, 1]
            return lambda scores, grad, hess: (grad.fill(0.0), hess.fill(1.0))

    assert Own(ONE).gradients(Y, SCORES)[0].tolist() == [0, 0, 0]
