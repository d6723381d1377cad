"""Measures by name: one grammar everywhere, labels for logs, and results that can be saved."""

import dataclasses
import json
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankings import MEASURES

import gapboost as gb
from gapboost import analysis
from gapboost.lightgbm import LGBMGAPRanker, eval_metric, objective
from gapboost.measures import MEASURE_ALIASES, MEASURES_BY_NAME, as_measure, as_measures
from gapboost.model_selection import GSearchCV, measure_scorer
from gapboost.xgboost import XGBGAPRanker

EVERY = [
    *MEASURES,
    gb.GAP(),
    gb.xGAP(),
    gb.eGAP(k=2),
    gb.nDCG(gains=range(31)),
    *(kind() for kind in MEASURES_BY_NAME.values()),
]


@pytest.mark.slow(keep=60)
@pytest.mark.parametrize("measure", EVERY, ids=str)
def test_a_measure_is_what_it_prints_as(measure):
    assert as_measure(str(measure)) == as_measure(repr(measure)) == measure
    assert as_measure(str(measure).lower()) == measure
    if type(measure) in MEASURES_BY_NAME.values():  # sums have no name of their own
        assert as_measure(measure.short_name) == type(measure)()


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("gap", gb.GAP()),
        ("GAP", gb.GAP()),
        ("map", gb.AP()),
        ("ap", gb.AP()),
        ("map@100", gb.AP(k=100)),
        ("ndcg@10", gb.nDCG(k=10)),
        ("nDCG@10", gb.nDCG(k=10)),
        ("ndcg(k=10)", gb.nDCG(k=10)),
        ("mrr@10", gb.RR(k=10)),
        ("spearman", gb.SpearmanRho()),
        ("insq(t=2)@5", gb.INSQ(t=2, k=5)),
        ("p@5", gb.Precision(k=5)),
        ("precision@5", gb.Precision(k=5)),
        ("P(rel=2)@5", gb.Precision(rel=2, k=5)),
        ("gap(g=0.5,0.5)@10", gb.GAP(g=(0.5, 0.5), k=10)),
        ("gap(g=(0.5, 0.5))@10", gb.GAP(g=(0.5, 0.5), k=10)),
        ("gap(g=[.5,.5], k=10)", gb.GAP(g=(0.5, 0.5), k=10)),
        ("gap(k=10,g=.5,.5)", gb.GAP(g=(0.5, 0.5), k=10)),
        ("egap(g=1)", gb.eGAP(g=(1.0,))),
        ("gap(g=None)", gb.GAP()),
        ("gap()", gb.GAP()),
        ("ndcg(short_is_zero=true)", gb.nDCG(short_is_zero=True)),
        (" xgap ( g = 0.25 , 0.75 ) @ 3 ", gb.xGAP(g=(0.25, 0.75), k=3)),
        ("ndcg(gains=0,1,3)", gb.nDCG(gains=(0, 1, 3))),
    ],
)
def test_names(text, measure):
    assert as_measure(text) == measure


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ngcd@10", "what is 'ngcd@10'; expected one of gap, .* perhaps \"ndcg\""),
        ("nonsense", "what is 'nonsense'; expected one of gap, xgap, egap, ap, ndcg, precision"),
        ("", "what is ''; expected a form such as"),
        ("ndcg@", r"what is 'ndcg@', whose k is ''; expected a whole number of ranks >= 1"),
        ("ndcg@0", "what is 'ndcg@0', whose k is 0; expected a whole number"),
        ("ndcg@5,10", r"whose k is \(5, 10\); expected a whole number"),
        ("ndcg@ten", "whose k is 'ten'; expected a whole number"),
        ("gap(g=0.5,0.6)", r"whose g is \(0.5, 0.6\) with sum 1.1; expected"),
        ("gap(g=half)", "whose g is 'half'; expected one threshold probability"),
        ("gap(0.5,0.5)", "with '0.5,0.5' for no parameter; expected k=..., g=..."),
        ("ndcg(rel=2)", "but nDCG has no parameter 'rel'; expected k=..., gains=..."),
        ("ndcg(k=3)@4", "with k twice; expected it once"),
        ("gap(g=0.5,0.5", "expected a form such as"),
        ("gap, ap", "expected a form such as"),
        ("ndcg@1_0", "whose k is '1_0'; expected a whole number"),
        ("gap(g=0.2_5,0.75)", "whose g is '0.2_5,0.75'; expected"),
        ("1_0 * gap + 1 * ap", "of which the weight '1_0' is no number; expected a sum such as"),
        ("gap@" + "(" * 10_000, "whose k is "),
        ("__import__('os')", "expected one of|expected a form"),
    ],
)
def test_names_that_are_none(text, message):
    with pytest.raises(ValueError, match=message):
        as_measure(text, name="what")


@pytest.mark.slow
@given(st.text())
def test_any_text_is_a_measure_or_a_value_error(text):
    for name in (text, f"gap(g={text})", f"ndcg@{text}", f"ap(rel={text}"):
        try:
            assert isinstance(as_measure(name), gb.Measure)
        except ValueError as error:
            assert str(error).startswith("measure is ")  # noqa: PT017


def test_g_beside_a_name():
    assert as_measure("gap@10", (0.5, 0.5)) == gb.GAP(g=(0.5, 0.5), k=10)
    for name, message in (
        ("gap(g=1.0)", "expected g inside the measure"),
        ("ndcg@3", "expected g only with gap, xgap or egap"),
    ):
        with pytest.raises(ValueError, match=message):
            as_measure(name, (0.5, 0.5))


def test_a_new_measure_is_taken_by_its_line_in_the_list(monkeypatch):
    @dataclasses.dataclass(frozen=True, repr=False)
    class RBP(gb.AP):
        p: float = 0.8
        kind: str = "a"

        @property
        def short_name(self):
            return "rbp"

    monkeypatch.setitem(MEASURES_BY_NAME, "rbp", RBP)
    assert as_measure("rbp(p=.9)@5") == RBP(p=0.9, k=5) == as_measure(str(RBP(p=0.9, k=5)))
    assert as_measure("RBP(kind=b)") == as_measure("rbp(kind='b')") == RBP(kind="b")
    assert RBP(p=0.9, kind="b", k=5).label == "rbp_p_0.9_kind_b_at_5"
    assert gb.evaluate("rbp", [1, 0], [1.0, 0.0]) == {RBP(): 1.0}


def test_one_or_several():
    assert (
        as_measures("ndcg@10")
        == as_measures(gb.nDCG(k=10))
        == as_measures(["ndcg@10"])
        == [gb.nDCG(k=10)]
    )
    assert as_measures(("ap", gb.GAP())) == [gb.AP(), gb.GAP()]
    for wrong in (3, None, {"ap": 1}, {"ap"}):
        with pytest.raises(TypeError, match=f"what is {wrong!r}; expected a measure"):
            as_measures(wrong, "what")
    with pytest.raises(TypeError, match="what is 3; expected a measure"):
        as_measures(["ap", 3], "what")


# --- wherever one is taken ------------------------------------------------------------------------

Y, S, Q = np.array([2, 0, 1, 0, 1, 0] * 20), np.arange(120.0) % 7, np.arange(120) // 6
X = np.c_[S, np.arange(120.0) % 5]
NAMES, VALUES = ["ndcg@3", "gap(g=0.5,0.5)"], [gb.nDCG(k=3), gb.GAP(g=(0.5, 0.5))]


def test_evaluate_takes_names_and_gives_values():
    assert gb.evaluate(NAMES, Y, S, Q) == gb.evaluate(VALUES, Y, S, Q)
    assert gb.evaluate("p@1", [1, 0], [1.0, 0.0]) == {gb.Precision(k=1): 1.0}
    assert list(gb.evaluate("map", Y, S, Q, per_query=True)) == [gb.AP()]


@pytest.mark.parametrize("ranker", [LGBMGAPRanker, XGBGAPRanker])
def test_rankers_take_names(ranker):
    fits = [
        ranker(measure=m, n_estimators=2, n_jobs=1).fit(X, Y, qid=Q) for m in (NAMES[0], VALUES[0])
    ]
    assert fits[0].measure_ == VALUES[0]
    assert (fits[0].predict(X) == fits[1].predict(X)).all()
    assert ranker(measure="gap@5", g=(0.5, 0.5), n_estimators=2).fit(
        X, Y, qid=Q
    ).measure_ == gb.GAP(g=(0.5, 0.5), k=5)


def test_functions_for_boosters_take_names():
    assert repr(objective("map@5")) == "objective(LambdaRank(AP(rel=1, k=5)))"
    assert eval_metric(NAMES).measures == tuple(VALUES)
    assert gb.LambdaRank("ndcg@3") == gb.LambdaRank(gb.nDCG(k=3))
    with pytest.raises(ValueError, match="measure is 'ndgc'; expected one of"):
        objective("ndgc")


def test_searches_take_names():
    fitted = [
        GSearchCV(
            LGBMGAPRanker(n_estimators=3, n_jobs=1), {"g": [(0.5, 0.5)]}, scoring=scoring, cv=2
        ).fit(X, Y, qid=Q)
        for scoring in (NAMES, VALUES, NAMES[0])
    ]
    assert fitted[0].best_score_ == fitted[1].best_score_ == fitted[2].best_score_
    assert "mean_test_nDCG(k=3)" in fitted[0].cv_results_
    assert "mean_test_score" in fitted[2].cv_results_
    assert fitted[0].score(X, Y, qid=Q) == fitted[1].score(X, Y, qid=Q)
    assert measure_scorer("ndcg@3") == measure_scorer(gb.nDCG(k=3))


@pytest.mark.parametrize(
    ("target", "fixed"),
    [("egap", "eGAP(g=(0.5, 0.5))"), ("err", "ERR(top=2)"), ("grap", "grAP(top=2.0)")],
)
def test_targets_of_searches_are_the_same_in_every_fold(target, fixed):
    with pytest.raises(
        ValueError, match=rf"^measure is '{target}', which takes a parameter .* {re.escape(fixed)}$"
    ):
        measure_scorer(target)
    search = GSearchCV(
        LGBMGAPRanker(n_estimators=3, n_jobs=1), {"g": [(0.5, 0.5)]}, scoring=target, cv=2
    )
    with pytest.raises(
        ValueError, match=rf"^scoring is '{target}', which takes a parameter .* {re.escape(fixed)}$"
    ):
        search.fit(X, Y, qid=Q)


def test_analyses_take_names():
    qrels = {"1": {"a": 2, "b": 1, "c": 0}, "2": {"a": 1, "x": 2}}
    runs = {
        name: {t: {d: float(ord(d) * ord(name) * int(t) % 97) for d in "abcx"} for t in qrels}
        for name in ("r", "s", "t")
    }
    found, expected = (analysis.system_values(m, qrels, runs) for m in (NAMES, VALUES))
    assert found.measures == expected.measures == tuple(VALUES)
    assert (found.values == expected.values).all()
    assert found.best(2, "ndcg@3").systems == expected.best(2, VALUES[0]).systems
    assert analysis.trec.evaluate("p@1", qrels, runs["r"]) == analysis.trec.evaluate(
        gb.Precision(k=1), qrels, runs["r"]
    )
    assert analysis.robustness("ap", qrels, runs, repeats=1, random_state=0).measures == (gb.AP(),)
    assert analysis.precision_recall("gap(g=0.5,0.5)", Y[:6], S[:6]).measure == VALUES[1]
    one, other = (gb.evaluate(NAMES, Y, s, Q, per_query=True) for s in (S, -S))
    tests = [
        analysis.significance(one, other, measure=m, random_state=0) for m in ("ndcg@3", VALUES[0])
    ]
    assert repr(tests[0]) == repr(tests[1])


# --- labels and logs ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "label"),
    [
        ("ndcg@10", "ndcg_at_10"),
        ("gap", "gap"),
        ("ap", "ap"),
        ("ap(rel=2)", "ap_rel_2"),
        ("precision", "precision_at_10"),
        ("gap(g=0.5,0.5)@10", "gap_g_0.5_0.5_at_10"),
        ("gap(g=0.00001,0.99999)", "gap_g_1e-05_0.99999"),
        ("ndcg(gains=0,1e30)", "ndcg_gains_0.0_1e30"),
    ],
)
def test_labels(measure, label):
    assert as_measure(measure).label == label


def test_labels_are_distinct_and_fit_for_files_and_mlflow():
    several = set(EVERY) | {gb.nDCG(gains=[*range(60), last]) for last in (60, 61)}
    labels = {measure.label for measure in several}
    assert len(labels) == len(several)
    for label in labels:
        assert re.fullmatch(r"[A-Za-z0-9_.-]{1,200}", label)


@dataclasses.dataclass(frozen=True, repr=False)
class Worded(gb.AP):
    """A measure of someone's own, with words and numbers for parameters."""

    word: object = "none"
    numbers: tuple[float, ...] = ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a_b", "a-5f-b"),
        ("a b", "a-20-b"),
        ("-", "-2d-"),
        ("1.5", 1.5),
        ("-1", -1),
        ("1e-05", 1e-05),
        (("a", "b"), ("a_b",)),
        (np.float32(0.1), 0.1),
    ],
)
def test_labels_of_words_do_not_collide(one, other):
    labels = {Worded(word=one).label, Worded(word=other).label}
    assert len(labels) == 2
    for label in labels:
        assert re.fullmatch(r"[A-Za-z0-9_.-]{1,200}", label)


@pytest.mark.slow
@given(
    st.text(),
    st.text(),
    st.lists(st.floats(allow_nan=False), max_size=3),
    st.lists(st.floats(allow_nan=False), max_size=3),
)
def test_labels_of_any_words_and_numbers_are_distinct(one, other, numbers, others):
    first, second = (
        Worded(word=one, numbers=tuple(numbers)),
        Worded(word=other, numbers=tuple(others)),
    )
    assert first == second or first.label != second.label
    assert re.fullmatch(r"[A-Za-z0-9_.-]{1,200}", first.label)


@pytest.mark.parametrize(
    "name", ["my measure", "my:measure", "a\tb", "a\nb", "a/b", "", "m\u00e4h", "ndcg@5", None, 3]
)
def test_a_short_name_that_boosters_cannot_report_is_refused_when_the_measure_is_made(name):
    @dataclasses.dataclass(frozen=True, repr=False)
    class Named(gb.AP):
        @property
        def short_name(self):
            return name

    with pytest.raises(
        ValueError, match=r"short_name of Named is .*; expected letters, digits, '_', '.' and '-'"
    ):
        Named()


def test_means_can_be_logged():
    values = gb.evaluate(NAMES, Y, S, Q)
    assert isinstance(values, dict)
    assert repr(values) == repr(dict(values))
    assert values == dict(values) == pickle.loads(pickle.dumps(values))
    assert json.loads(json.dumps(values.labelled())) == {
        "ndcg_at_3": values[VALUES[0]],
        "gap_g_0.5_0.5": values[VALUES[1]],
    }
    assert type(values.labelled()) is dict
    qrels, run = {"1": {"a": 2, "b": 1}}, {"1": {"a": 2.0, "b": 1.0}}
    assert analysis.trec.evaluate(["ap"], qrels, run).labelled() == {"ap": 1.0}


@pytest.mark.parametrize("ids", [["b", "a"], [1, 2], [("x", 1), ("y", 2)], [1, "1"]], ids=str)
def test_values_by_query_as_a_table(ids):
    qid = np.empty(120, dtype=object)
    qid[:] = [ids[i % 2] for i in range(120)]
    values = gb.evaluate(NAMES, Y, S, qid, per_query=True)
    table = values.to_pandas()
    assert isinstance(table, pd.DataFrame)
    assert table.index.name == "qid"
    assert table.index.tolist() == ids
    assert table.columns.tolist() == ["nDCG(k=3)", "GAP(g=(0.5, 0.5))"]
    for measure, column in zip(values, table, strict=True):
        assert (table[column].to_numpy() == values[measure]).all()


def test_aliases_are_no_names_of_their_own():
    assert not MEASURE_ALIASES.keys() & MEASURES_BY_NAME.keys()
    assert set(MEASURE_ALIASES.values()) <= set(MEASURES_BY_NAME.values())
