"""A measure of one of several labels equals the measure of its column; sums equal their parts."""

import math

import numpy as np
import oracle
import pandas as pd
import pytest
from rankings import random_rankings

import gapboost as gb
from gapboost.objectives.base import Objective

# What two parts of a sum compute, beside the oracle's function of one list.
PARTS = [
    (gb.GAP(g=(0.2, 0.3, 0.5)), lambda ranked, counts=None: oracle.gap(ranked, (0.2, 0.3, 0.5))),
    (gb.nDCG(k=3), lambda ranked, counts=None: oracle.ndcg(ranked, k=3)),
    (gb.ERR(top=3), lambda ranked, counts=None: oracle.err(ranked, top=3)),
    (
        gb.xGAP(g=(0.217, 0.704, 0.079)),
        lambda ranked, counts=None: oracle.xgap(ranked, (0.217, 0.704, 0.079)),
    ),
]
PAIRS = [(0, 1), (1, 2), (3, 0), (1, 1)]
WEIGHTS = (0.7, 2.5)


def two_labels(seed, ties=False):
    """Rows in mixed order with two labels of each, and what `random_rankings` has beside."""
    rng = np.random.default_rng([45, seed])
    data = random_rankings(rng, 12, ties=ties)
    other = rng.integers(0, 4, len(data.grades))
    # In some queries nothing is relevant by one of the labels, or by both.
    other[np.isin(data.qid, [f"query {number}" for number in range(4)])] = 0
    return np.column_stack([np.where(data.qid == "query 0", 0, data.grades), other]), data


def weighted(pair):
    """The sum of two measures of the two labels."""
    one, other = (gb.OfLabel(PARTS[i][0], column) for column, i in enumerate(pair))
    return WEIGHTS[0] * one + WEIGHTS[1] * other


@pytest.mark.parametrize("empty", [0, 1, "skip"])
@pytest.mark.parametrize("pair", PAIRS)
def test_values_are_those_of_the_columns(pair, empty):
    y, data = two_labels(0, ties=True)
    rows = (data.scores, data.qid)
    measures = [weighted(pair), *(gb.OfLabel(PARTS[i][0], column) for column, i in enumerate(pair))]
    found = gb.evaluate(measures, y, *rows, empty=empty, per_query=True)
    alone = [
        gb.evaluate(PARTS[i][0], y[:, c], *rows, empty="skip", per_query=True)[PARTS[i][0]]
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
    y, data = two_labels(1)
    y = np.column_stack([y[:, 0], y[:, 1] / 4])
    weight = np.random.default_rng(0).uniform(0.1, 3, len(y))
    for column in (0, 1):
        for measure in (gb.GAP(), gb.nDCG(k=2), gb.Success(k=1)):
            reading = gb.OfLabel(measure, column)
            rows = (data.scores, data.qid)
            found = gb.evaluate(reading, y, *rows, sample_weight=weight)[reading]
            expected = gb.evaluate(measure, y[:, column], *rows, sample_weight=weight)[measure]
            assert found == expected


def tables(y):
    named = pd.DataFrame(y, columns=["relevance", "revenue"])
    yield named
    yield named.astype({"relevance": "Int64", "revenue": "float32"})
    yield pytest.importorskip("polars").from_pandas(named)
    yield pytest.importorskip("pyarrow").Table.from_pandas(named)


def test_columns_of_data_frames_have_names():
    y, data = two_labels(2)
    rows = (data.scores, data.qid)
    measure = 0.5 * gb.OfLabel(gb.GAP(), "relevance") + 0.5 * gb.OfLabel(gb.AP(), "revenue")
    numbered = 0.5 * gb.OfLabel(gb.GAP(), 0) + 0.5 * gb.OfLabel(gb.AP(), 1)
    expected = gb.evaluate(numbered, y, *rows)[numbered]
    for table in tables(y):
        assert gb.evaluate(measure, table, *rows)[measure] == expected
    for plain in (y.tolist(), pd.DataFrame(y)):
        assert gb.evaluate(numbered, plain, *rows)[numbered] == expected


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("pair", PAIRS)
def test_gradients_are_those_of_all_pairs(pair, normalize):
    """The sum of the parts' gradients by the oracle, and only then the scale of the query."""
    y, data = two_labels(4)
    objective = gb.LambdaRank(weighted(pair), normalize=normalize)
    grad, hess = objective.gradients(y, data.scores, data.qid)
    assert np.abs(grad).max() > 0.05
    for rows in data.rows.values():
        order = oracle.row_order(data.scores[rows])
        parts = []
        for column, i in enumerate(pair):
            measure, value = PARTS[i]
            part = oracle.lambda_gradients(value, y[rows, column], data.scores[rows], 1.0, order)
            # A step is never longer than 4 for measures that can rise when a lower grade moves up.
            curve = part[1] if measure.monotone else np.maximum(part[1], np.abs(part[0]) / 4)
            parts.append((WEIGHTS[column] * part[0], WEIGHTS[column] * curve))
        expected = np.sum(parts, axis=0)
        if normalize:
            total = np.abs(expected[0]).sum()
            expected *= math.log2(1 + total) / total if total > 0 else 1.0
        assert grad[rows] == pytest.approx(expected[0], rel=1e-10, abs=1e-12)
        assert hess[rows] == pytest.approx(expected[1], rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("options", [{}, {"normalize": False}, {"truncation": 3}])
@pytest.mark.parametrize("number", range(len(PARTS)))
def test_one_column_alone_has_its_gradients_to_the_last_bit(number, options):
    y, data = two_labels(6, ties=True)
    measure, _ = PARTS[number]
    rows = (data.scores, data.qid)
    weight = np.random.default_rng(1).uniform(0.1, 2, len(y))
    for column in (0, 1):
        expected = gb.LambdaRank(measure, **options).gradients(
            y[:, column], *rows, sample_weight=weight
        )
        for reading in (gb.OfLabel(measure, column), 1.0 * gb.OfLabel(measure, column)):
            objective = gb.LambdaRank(reading, **options)
            found = objective.gradients(y, *rows, sample_weight=weight)
            np.testing.assert_array_equal(found, expected)


def test_it_is_a_value():
    measure = gb.OfLabel(gb.nDCG(k=10), "sold")
    assert (measure.k, measure.trains, measure.monotone) == (10, True, True)
    assert measure.short_name == "ndcg_of_sold"
    assert gb.OfLabel(gb.xGAP(), 0).monotone is False
    assert gb.OfLabel(gb.QMeasure(), 0).trains is False
    assert gb.OfLabel(gb.GAP(g=(1.0,)), 0).highest_grade == 1
    assert gb.OfLabel(gb.nDCG(), np.int64(1)) == gb.OfLabel(gb.nDCG(), 1)


ONE = gb.OfLabel(gb.AP(), 0)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: gb.OfLabel("ap", 0), "measure is 'ap'"),
        (lambda: gb.OfLabel(0.5 * gb.AP() + gb.RR(), 0), "measure is .*of one label"),
        (lambda: gb.OfLabel(ONE, 1), "measure is .*of one label"),
        (lambda: gb.OfLabel(gb.AP(), True), "column is True"),
        (lambda: gb.OfLabel(gb.AP(), -1), "column is -1"),
        (lambda: gb.OfLabel(gb.AP(), ("a", 1)), "column is "),
        (lambda: ONE.swap_changes([1, 0]), "^ranked has one label a row"),
        (lambda: ONE.swap_changes([[1, 0], [0, 1]]), r"measure is OfLabel.*expected AP"),
        (lambda: gb.SoftRank(ONE), r"measure is OfLabel"),
        (lambda: gb.ApproxRank(ONE + gb.OfLabel(gb.AP(), 1)), "measure is "),
        (
            lambda: gb.evaluate(ONE, Y, SCORES, recall_base=[[1, 1, 1]]),
            "recall_base counts documents by one label, but y_true has 2",
        ),
    ],
)
def test_unusable_values(make, says):
    with pytest.raises((TypeError, ValueError), match=says):
        make()


Y = [[1, 0], [0, 2], [2, 1]]
SCORES = [3.0, 2.0, 1.0]
NAMED = {"relevance": [0, 1, 2]}
WRONG_LABELS = {
    "a measure that reads none": (gb.AP(), Y, r"^y_true has .*labels.*AP\(rel=1\) does not say"),
    "one label": (ONE, [1, 0, 2], r"^y_true has one label a row"),
    "no such number": (gb.OfLabel(gb.AP(), 2), Y, "^y_true has .* 0, 1, but .* reads 2"),
    "no such name": (gb.OfLabel(gb.AP(), "a"), Y, "^y_true has .* 0, 1, but .* reads 'a'"),
    "a grade beyond g": (
        gb.OfLabel(gb.GAP(g=(1.0,)), 1) + ONE,
        Y,
        r"^y_true\[:, 1\] holds the grade 2, but OfLabel\(GAP",
    ),
    "a negative grade": (
        ONE,
        [[1, 0], [0, -1], [2, 1]],
        r"^y_true\[:, 1\] holds the negative grade -1",
    ),
    "too many grades": (
        ONE,
        np.column_stack([np.zeros(65), np.arange(65) / 50]),
        r"^y_true\[:, 1\] holds 65 different grades in one query",
    ),
    "a grade beyond all": (
        gb.OfLabel(gb.AP(), "relevance"),
        pd.DataFrame({**NAMED, "revenue": [0.0, 999.99, 5.0]}),
        r"^y_true\['revenue'\] holds the grade 999.99; expected grades up to 255",
    ),
    "text": (
        gb.OfLabel(gb.AP(), "relevance"),
        pd.DataFrame({**NAMED, "shop": ["a", "b", "c"]}),
        r"^y_true\['shop'\] holds ",
    ),
    "a name twice": (
        gb.OfLabel(gb.AP(), "a"),
        pd.DataFrame(Y, columns=["a", "a"]),
        "^y_true has several columns 'a'",
    ),
}


@pytest.mark.parametrize("case", WRONG_LABELS)
def test_measures_and_labels_that_do_not_go_together(case):
    measure, y, says = WRONG_LABELS[case]
    scores = np.arange(float(len(y)))
    with pytest.raises(ValueError, match=says):
        gb.evaluate(measure, y, scores)
    with pytest.raises(ValueError, match=says):
        gb.LambdaRank(measure).gradients(y, scores)


def test_an_objective_of_ones_own_gets_all_labels():
    class Own(Objective):
        def prepared(self, data, n_jobs=None):
            assert data.grades.tolist() == Y
            assert data.of_label(1).grades.tolist() == [0, 2, 1]
            return lambda scores, grad, hess: (grad.fill(0.0), hess.fill(1.0), None)[2]

    assert Own(ONE).gradients(Y, SCORES)[0].tolist() == [0, 0, 0]
