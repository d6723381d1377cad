"""A measure of one of several labels equals the measure of its column; sums equal their parts."""

import math
import pickle

import numpy as np
import oracle
import pandas as pd
import pytest
from rankings import random_rankings

import gapboost as gb
import gapboost.analysis
from gapboost.measures import as_measures
from gapboost.objectives.objective import Objective

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
    return sum_of(
        *(
            w * gb.OfLabel(PARTS[i][0], column)
            for column, (w, i) in enumerate(zip(WEIGHTS, pair, strict=True))
        )
    )


def sum_of(one, other):
    return one + other


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("empty", [0, 1, "skip"])
@pytest.mark.parametrize("pair", PAIRS)
def test_values_are_those_of_the_columns(pair, empty):
    y, data = two_labels(0, ties=True)
    measures = [weighted(pair), *(gb.OfLabel(PARTS[i][0], column) for column, i in enumerate(pair))]
    found = gb.evaluate(measures, y, data.scores, data.qid, empty=empty, per_query=True)
    alone = [
        gb.evaluate(PARTS[i][0], y[:, column], data.scores, data.qid, empty="skip", per_query=True)[
            PARTS[i][0]
        ]
        for column, i in enumerate(pair)
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


def test_a_mean_weighs_queries_as_one_label_does():
    y, data = two_labels(1)
    weight = np.random.default_rng(0).uniform(0.1, 3, len(y))
    for column in (0, 1):
        for measure in (gb.GAP(), gb.nDCG(k=2)):
            reading = gb.OfLabel(measure, column)
            found = gb.evaluate(reading, y, data.scores, data.qid, sample_weight=weight)[reading]
            assert (
                found
                == gb.evaluate(measure, y[:, column], data.scores, data.qid, sample_weight=weight)[
                    measure
                ]
            )


def test_g_is_open_in_each_column_by_itself():
    y = np.array([[1, 0], [0, 3], [1, 1]])
    found = gb.LambdaRank(gb.OfLabel(gb.GAP(), 0) + gb.OfLabel(gb.GAP(), 1))._check(
        y, [3.0, 2.0, 1.0], None, None
    )[2]
    assert found.measure == 1.0 * gb.OfLabel(gb.GAP(g=(1.0,)), 0) + gb.OfLabel(
        gb.GAP(g=(0.5, 0.0, 0.5)), 1
    )


def test_grades_may_be_fractional_in_one_column():
    rng = np.random.default_rng(3)
    y = np.column_stack([rng.integers(0, 3, 200), rng.integers(0, 60, 200) / 8])
    scores, qid = rng.random(200), np.arange(200) // 100
    one, other = gb.OfLabel(gb.AP(), 0), gb.OfLabel(gb.nDCG(), 1)
    found = gb.evaluate([one, other], y, scores, qid)
    assert found[one] == gb.evaluate(gb.AP(), y[:, 0], scores, qid)[gb.AP()]
    assert found[other] == gb.evaluate(gb.nDCG(), y[:, 1], scores, qid)[gb.nDCG()]


# --- containers -----------------------------------------------------------------------------------


def tables(y):
    named = pd.DataFrame(y, columns=["relevance", "revenue"])
    yield named
    yield named.astype({"relevance": "Int64", "revenue": "float32"})
    polars = pytest.importorskip("polars")
    yield polars.from_pandas(named)
    yield pytest.importorskip("pyarrow").Table.from_pandas(named)


def test_columns_of_data_frames_have_names():
    y, data = two_labels(2)
    measure = 0.5 * gb.OfLabel(gb.GAP(), "relevance") + 0.5 * gb.OfLabel(gb.AP(), "revenue")
    numbered = 0.5 * gb.OfLabel(gb.GAP(), 0) + 0.5 * gb.OfLabel(gb.AP(), 1)
    expected = gb.evaluate(numbered, y, data.scores, data.qid)[numbered]
    for table in tables(y):
        assert gb.evaluate(measure, table, data.scores, data.qid)[measure] == expected
    assert gb.evaluate(numbered, y.tolist(), data.scores, data.qid)[numbered] == expected
    # Columns of a frame that was made of an array are numbers too.
    assert gb.evaluate(numbered, pd.DataFrame(y), data.scores, data.qid)[numbered] == expected


# --- gradients ------------------------------------------------------------------------------------


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


def test_gradients_are_the_derivative_of_the_pairs_costs():
    """Central differences of the sum of |change| times the cost, over labels and pairs.

    The order stays.
    """
    rng = np.random.default_rng(5)
    y, scores = rng.integers(0, 4, (9, 2)), rng.permutation(9) / 2
    measure = weighted((0, 1))
    order = np.argsort(-scores)
    changes = [
        w * PARTS[i][0].swap_changes(y[order, c])
        for c, (w, i) in enumerate(zip(WEIGHTS, (0, 1), strict=True))
    ]

    def cost(s):
        total = 0.0
        for column, change in enumerate(changes):
            for p in range(9):
                for q in range(p + 1, 9):
                    better = np.sign(y[order[p], column] - y[order[q], column])
                    total += abs(change[p, q]) * np.log1p(
                        np.exp(-better * (s[order[p]] - s[order[q]]))
                    )
        return total

    grad, _ = gb.LambdaRank(measure, normalize=False).gradients(y, scores)
    step = 1e-5
    numeric = [(cost(scores + step * e) - cost(scores - step * e)) / (2 * step) for e in np.eye(9)]
    assert grad == pytest.approx(numeric, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("options", [{}, {"normalize": False}, {"truncation": 3}])
@pytest.mark.parametrize("number", range(len(PARTS)))
def test_one_column_alone_has_its_gradients_to_the_last_bit(number, options):
    """Also as a sum of one part of weight 1."""
    y, data = two_labels(6, ties=True)
    measure, _ = PARTS[number]
    weight = np.random.default_rng(1).uniform(0.1, 2, len(y))
    for column in (0, 1):
        expected = gb.LambdaRank(measure, **options).gradients(
            y[:, column], data.scores, data.qid, sample_weight=weight
        )
        for reading in (gb.OfLabel(measure, column), 1.0 * gb.OfLabel(measure, column)):
            found = gb.LambdaRank(reading, **options).gradients(
                y, data.scores, data.qid, sample_weight=weight
            )
            np.testing.assert_array_equal(found, expected)


def test_equal_columns_have_the_gradients_of_the_sum():
    y, data = two_labels(7)
    y[:, 1] = y[:, 0]
    one, other = (measure for measure, _ in PARTS[:2])
    plain = gb.LambdaRank(0.7 * one + 2.5 * other).gradients(y[:, 0], data.scores, data.qid)
    found = gb.LambdaRank(0.7 * gb.OfLabel(one, 0) + 2.5 * gb.OfLabel(other, 1)).gradients(
        y, data.scores, data.qid
    )
    for ours, theirs in zip(found, plain, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-14)


# --- as a value -----------------------------------------------------------------------------------


def test_it_is_a_value():
    measure = gb.OfLabel(gb.nDCG(k=10), "revenue in €")
    assert (
        pickle.loads(pickle.dumps(measure)) == measure == gb.OfLabel(gb.nDCG(k=10), "revenue in €")
    )
    assert len({measure, gb.OfLabel(gb.nDCG(k=10), 0), gb.OfLabel(gb.nDCG(), 0)}) == 3
    assert repr(measure) == "OfLabel(nDCG(k=10), 'revenue in €')"
    assert eval(repr(measure), vars(gb).copy()) == measure
    assert (measure.k, measure.trains, measure.monotone) == (10, True, True)
    assert gb.OfLabel(gb.xGAP(), 0).monotone is False
    assert gb.OfLabel(gb.nDCG(), np.int64(1)) == gb.OfLabel(gb.nDCG(), 1)
    assert as_measures(measure) == [measure]
    names = {gb.OfLabel(gb.nDCG(k=10), column).label for column in (0, 1, "a b", "a_b", "a-b")}
    assert len(names) == 5
    assert gb.OfLabel(gb.nDCG(k=10), "sold").short_name == "ndcg_of_sold"


# --- refusals -------------------------------------------------------------------------------------

ONE = gb.OfLabel(gb.AP(), 0)
UNUSABLE = {
    "a name for a measure": (
        lambda: gb.OfLabel("ap", 0),
        TypeError,
        "measure is 'ap'; expected a measure",
    ),
    "a sum": (
        lambda: gb.OfLabel(0.5 * gb.AP() + gb.RR(), 0),
        ValueError,
        "expected a measure of one label",
    ),
    "a label of a label": (
        lambda: gb.OfLabel(ONE, 1),
        ValueError,
        "expected a measure of one label",
    ),
    "True": (lambda: gb.OfLabel(gb.AP(), True), TypeError, "column is True; expected the name"),
    "a negative number": (
        lambda: gb.OfLabel(gb.AP(), -1),
        ValueError,
        "column is -1; expected a number from 0 on",
    ),
    "a tuple": (
        lambda: gb.OfLabel(gb.AP(), ("a", 1)),
        TypeError,
        "column is .'a', 1.; expected the name",
    ),
    "a part without": (
        lambda: ONE + gb.RR(),
        ValueError,
        r"parts holds RR\(\), and measures of several labels too; expected OfLabel around each "
        r"part",
    ),
    "another cut-off": (
        lambda: gb.OfLabel(gb.AP(), 0, k=3),
        ValueError,
        "k is 3 for OfLabel.*inside the measure",
    ),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_unusable_values(case):
    make, error, says = UNUSABLE[case]
    with pytest.raises(error, match=says):
        make()


Y = [[1, 0], [0, 2], [2, 1]]
SCORES = [3.0, 2.0, 1.0]
WRONG_LABELS = {
    "a measure that reads none": (
        gb.AP(),
        Y,
        r"^y_true has the labels 0, 1, and AP\(rel=1\) does not",
    ),
    "one label": (
        ONE,
        [1, 0, 2],
        r"^y_true has one label a row, but OfLabel\(AP.* reads 0",
    ),
    "a column of a table of one": (ONE, [[1], [0], [2]], "^y_true has one label a row"),
    "no such number": (
        gb.OfLabel(gb.AP(), 2),
        Y,
        "^y_true has the labels 0, 1, but OfLabel.* reads 2",
    ),
    "no such name": (
        gb.OfLabel(gb.AP(), "a"),
        Y,
        "^y_true has the labels 0, 1, but OfLabel.* reads 'a'",
    ),
    "a grade beyond g": (
        gb.OfLabel(gb.GAP(g=(1.0,)), 1) + ONE,
        Y,
        r"^y_true\[:, 1\] holds the grade 2, but OfLabel\(GAP.*is defined for the grades 0..1",
    ),
    "a negative grade": (
        ONE,
        [[1, 0], [0, -1], [2, 1]],
        r"^y_true\[:, 1\] holds the negative grade -1, the first in row 1",
    ),
    "a grade beyond all tables": (
        gb.OfLabel(gb.AP(), "relevance"),
        pd.DataFrame({"relevance": [0, 1, 2], "revenue": [0.0, 999.99, 5.0]}),
        r"^y_true\['revenue'\] holds the grade 999.99; expected grades up to 255: divide all of "
        r"them",
    ),
    "text": (
        gb.OfLabel(gb.AP(), "relevance"),
        pd.DataFrame({"relevance": [0, 1, 2], "shop": ["a", "b", "c"]}),
        r"^y_true\['shop'\] holds",
    ),
    "a name twice": (
        gb.OfLabel(gb.AP(), "a"),
        pd.DataFrame(Y, columns=["a", "a"]),
        "^y_true has several columns 'a'; expected distinct names",
    ),
}


@pytest.mark.filterwarnings("ignore:A column-vector")
@pytest.mark.parametrize("case", WRONG_LABELS)
def test_measures_and_labels_that_do_not_go_together(case):
    measure, y, says = WRONG_LABELS[case]
    with pytest.raises(ValueError, match=says):
        gb.evaluate(measure, y, SCORES)
    if case != "a column of a table of one":  # `gradients` takes one dimension
        with pytest.raises(ValueError, match=says):
            gb.LambdaRank(measure).gradients(y, SCORES)


def test_a_recall_base_is_about_one_label():
    with pytest.raises(
        ValueError, match=r"^recall_base counts documents by one label, but y_true has 2"
    ):
        gb.evaluate(ONE, Y, SCORES, recall_base=[[1, 1, 1]])


def test_labels_that_are_no_grades_are_warned_of_by_column():
    y = np.column_stack([np.arange(1200) % 3, np.random.default_rng(0).random(1200) * 3])
    measure = gb.OfLabel(gb.GAP(g=(0.5, 0.2, 0.3)), 1)
    with pytest.warns(
        UserWarning,
        match=r"^y_true\[:, 1\] holds 1200 different values .*GAP\(g=\(0.5, 0.2, 0.3\)\), 1\) "
        r"reads",
    ):
        gb.evaluate(measure, y, np.arange(1200.0), np.arange(1200) // 20)


@pytest.mark.parametrize("kind", [gb.SoftRank, gb.ApproxRank])
def test_smooth_objectives_are_about_one_label(kind):
    for measure in (ONE, ONE + gb.OfLabel(gb.AP(), 1)):
        with pytest.raises(
            ValueError, match=r"OfLabel.*expected a measure with one discount.*LambdaRank trains"
        ):
            kind(measure)


def test_analyses_are_about_one_label():
    qrels, run = {"1": {"a": 1, "b": 0}}, {"1": {"a": 1.0, "b": 2.0}}
    with pytest.raises(ValueError, match=r"measure is OfLabel\(AP\(rel=1\), 0\)"):
        gb.analysis.trec.evaluate(ONE, qrels, run)
    with pytest.raises(ValueError, match=r"OfLabel\(AP\(rel=1\), 0\)"):
        ONE.swap_changes([1, 0])
    with pytest.raises(
        ValueError,
        match=r"^measure is OfLabel\(AP\(rel=1\), 0\); expected AP\(rel=1\): swap_changes takes "
        r"one",
    ):
        (ONE + gb.OfLabel(gb.AP(), 1)).swap_changes(Y)


def test_an_objective_of_ones_own_gets_all_labels():
    class Own(Objective):
        def prepared(self, data, n_jobs=None):
            assert data.grades.tolist() == Y
            assert data.of_label(1).grades.tolist() == [0, 2, 1]
            return lambda scores, grad, hess: (grad.fill(0.0), hess.fill(1.0), None)[2]

    assert Own(ONE).gradients(Y, SCORES)[0].tolist() == [0, 0, 0]
