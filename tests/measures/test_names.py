"""Measures by name: what a measure prints is read again; labels for files and logs."""

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
from gapboost.model_selection import measure_scorer

TEXTS = ["revenue", "in €", "a, b)", "it's", 'say "x"', "a\\b\n", "", "1", "none", "x + 2 * y"]
OF_LABELS = [gb.OfLabel(gb.GAP(g=(0.5, 0.5), k=3), column) for column in (0, 7, *TEXTS)]
EVERY = [
    *MEASURES,
    *(kind() for kind in MEASURES_BY_NAME.values()),
    gb.nDCG(gains=range(31)),
    gb.GAP(g=(0.25, 0.75), levels=(0.5, 2)),
    gb.eGAP(g=np.array([1e-7, 1 - 1e-7])),
    1e17 * gb.AP() + 1e-7 * gb.RR(rel=0.5),
    *OF_LABELS,
    0.7 * OF_LABELS[0] + 1e20 * OF_LABELS[4] + 2 * gb.OfLabel(gb.ERR(), " * "),
]


@pytest.mark.slow(keep=60)
@pytest.mark.parametrize("measure", EVERY, ids=str)
def test_what_a_measure_prints_is_read_again(measure):
    copies = [as_measure(repr(measure)), eval(repr(measure), vars(gb).copy())]
    copies += [pickle.loads(pickle.dumps(measure)), dataclasses.replace(measure)]
    for copy in copies:
        assert copy == measure
        assert hash(copy) == hash(measure)
        assert repr(copy) == repr(measure)
    assert as_measure(measure) is measure
    with pytest.raises(dataclasses.FrozenInstanceError):
        measure.k = 3


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("gap", gb.GAP()),
        ("GAP", gb.GAP()),
        ("map@100", gb.AP(k=100)),
        ("nDCG@10", gb.nDCG(k=10)),
        ("ndcg(k=10)", gb.nDCG(k=10)),
        ("R@20", gb.Recall(k=20)),
        ("Rprec", gb.RPrecision()),
        *(
            (f"{name}@10", gb.Success(k=10))
            for name in ("HR", "hits", "hit", "HitRate", "hit_rate")
        ),
        ("P(rel=2)@5", gb.Precision(rel=2, k=5)),
        ("recall(capped=true)@20", gb.Recall(k=20, capped=True)),
        ("gap(g=(0.5, 0.5))@10", gb.GAP(g=(0.5, 0.5), k=10)),
        ("gap(g=[.5,.5], k=10)", gb.GAP(g=(0.5, 0.5), k=10)),
        ("gap(g=(.5,.5), levels=(1,2.5))", gb.GAP(g=(0.5, 0.5), levels=(1, 2.5))),
        ("gap(g=None)", gb.GAP()),
        (" xgap ( g = (0.25 , 0.75) ) @ 3 ", gb.xGAP(g=(0.25, 0.75), k=3)),
        ("ndcg(gains=linear, discount_by=letor)", gb.nDCG(gains="linear", discount_by="letor")),
        ("0.7 * gap + 0.3 * ndcg@10", 0.7 * gb.GAP() + 0.3 * gb.nDCG(k=10)),
        (
            "0.7*gap(g=(.5,.5))@3+1e+2*ndcg@10",
            0.7 * gb.GAP(g=(0.5, 0.5), k=3) + 100 * gb.nDCG(k=10),
        ),
        ("oflabel(ndcg@5, revenue)", gb.OfLabel(gb.nDCG(k=5), "revenue")),
        (
            "0.5 * OfLabel(nDCG(), 0) + oflabel(ap, 1)",
            0.5 * gb.OfLabel(gb.nDCG(), 0) + gb.OfLabel(gb.AP(), 1),
        ),
    ],
)
def test_names(text, measure):
    assert as_measure(text) == measure


@pytest.mark.parametrize(
    "text",
    [
        "ngcd@10",
        "",
        "ndcg@",
        "ndcg@5,10",
        "ndcg@ten",
        "gap(g=half)",
        "gap(0.5,0.5)",
        "gap(g=0.5,0.5)",
        "egap(g=1)",
        "gap(g=(1,), g=(1,))",
        "ndcg(rel=2)",
        "ndcg(k=3)@4",
        "gap(g=(0.5,0.5)",
        "gap, ap",
        "2 * 3 * gap",
        "-1 * gap",
        "OfLabel(ap)",
        "OfLabel(ap + ndcg, 0)",
        "OfLabel(ap, 0)@3",
        "gap@" + "(" * 10_000,
        "__import__('os')",
    ],
)
def test_names_that_are_none(text):
    with pytest.raises(ValueError, match=r"^what is .*expected"):
        as_measure(text, name="what")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("ndgc", "ndcg"),
        ("ngcd@5", "ndcg@5"),
        ("auc", "pairwiseaccuracy"),
        ("aucpr", "ap"),
        ("mean_average_precision@5", "ap@5"),
        ("mean_reciprocal_rank", "rr"),
        ("ndcg10", "ndcg@10"),
        ("NDCG_10", "ndcg@10"),
        ("ndcg_cut_10", "ndcg(gains=linear)@10"),
        ("rbp.95", "rbp(p=0.95)"),
        ("ndcg_cut.10", "ndcg(gains=linear)@10"),
        ("ndcg_cut_10@5", "ndcg(gains=linear)@10"),
        ("ndcg 10", "ndcg@10"),
        ("map@", "map"),
        ("hr@1O", "hr@10"),
        ("hr@10(rel=3)", "hr(rel=3)@10"),
        ("mpa@10(rel=3)", "map(rel=3)@10"),
        ("pre@5", "prec@5"),
        ("ncdg(gains=linear)@10", "ndcg(gains=linear)@10"),
        ("ncdg(gain=linear)@10", "ndcg"),
        ("0.5 * mpa@3 + 2 * recalls@5", "0.5 * map@3 + 2 * recall@5"),
        ("oflabel(precisions, é)", "oflabel(precision, é)"),
    ],
)
def test_a_near_name_is_proposed(text, meant):
    """It is a measure: those who write it go on."""
    with pytest.raises(ValueError, match=r"^what is .*expected ") as error:
        as_measure(text, name="what")
    found = re.search(r"did you mean '(.*)'\? expected the name", str(error.value))
    assert found[1] == meant
    as_measure(meant)


def test_all_unknown_names_of_a_list_are_told():
    with pytest.raises(ValueError, match=r"(?s)^measures is 'ndgc'; .*\nmeasures is 'mpa@5'; "):
        gb.evaluate(["ndgc", "ap", "mpa@5"], [1, 0], [2.0, 1.0])


def test_without_a_near_name_all_are_listed():
    with pytest.raises(ValueError, match=r"^what is 'logloss'; expected one of gap, xgap,"):
        as_measure("logloss", name="what")
    with pytest.raises(ValueError, match=r"^what is 'r@5,10'; expected a list of names"):
        as_measure("r@5,10", name="what")


@pytest.mark.parametrize("wrong", ["{}(0.8)", "{}(gain=linear)@5", "{}(k=3)@5", "2 * {}(**k)"])
@pytest.mark.parametrize("name", sorted({*MEASURES_BY_NAME, *MEASURE_ALIASES}))
def test_parameters_of_a_known_measure_are_listed(name, wrong):
    with pytest.raises(ValueError, match="expected parameters by name") as error:
        as_measure(wrong.format(name))
    as_measured = as_measure(str(error.value).partition(", such as ")[2])
    assert as_measured == as_measure(name)


@pytest.mark.slow
@given(st.text())
def test_any_text_is_a_measure_or_a_value_error(text):
    for name in (text, f"gap(g={text})", f"ndcg@{text}", f"ap(rel={text}", f"2*oflabel(ap,{text})"):
        try:
            assert isinstance(as_measure(name), gb.Measure)
        except ValueError as error:
            assert str(error).startswith("measure is ")  # noqa: PT017


def test_g_beside_a_name():
    assert as_measure("gap@10", (0.5, 0.5)) == gb.GAP(g=(0.5, 0.5), k=10)
    for wrong in ("gap(g=(1.0,))", "ndcg@3", gb.GAP()):
        with pytest.raises(ValueError, match=r"^g is .*; expected a name"):
            as_measure(wrong, (0.5, 0.5))


def test_one_or_several():
    assert as_measures("ndcg@10") == as_measures(["ndcg@10"]) == [gb.nDCG(k=10)]
    assert as_measures(("ap", gb.GAP())) == [gb.AP(), gb.GAP()]
    for wrong in (3, None, {"ap": 1}, {"ap"}, ["ap", 3], [2.0, 1.0]):
        with pytest.raises(TypeError, match=r"^what is .*; expected "):
            as_measures(wrong, "what")
    with pytest.raises(TypeError, match=r"extend .*QuadraticForm"):
        as_measures(lambda y_true, y_score: 1.0)
    with pytest.raises(TypeError, match="expected measures, before the data"):
        as_measures([2.0, 1.0])


def test_short_names_and_aliases():
    for name, kind in MEASURES_BY_NAME.items():
        assert kind().short_name == name
    assert not MEASURE_ALIASES.keys() & MEASURES_BY_NAME.keys()


# --- wherever one is taken ------------------------------------------------------------------------

Y, S, Q = np.array([2, 0, 1, 0, 1, 0] * 20), np.arange(120.0) % 7, np.arange(120) // 6
X = np.c_[S, np.arange(120.0) % 5]
NAMES, VALUES = ["ndcg@3", "gap(g=(0.5, 0.5))"], [gb.nDCG(k=3), gb.GAP(g=(0.5, 0.5))]


@pytest.mark.parametrize(
    "call",
    [
        lambda m: gb.evaluate(m, Y, S, Q),
        lambda m: LGBMGAPRanker(measure=m[0], n_estimators=2, verbose=-1).fit(X, Y, Q).measure_,
        lambda m: repr(objective(m[0])),
        lambda m: eval_metric(m).measures,
        lambda m: gb.LambdaRank(m[0]),
        lambda m: measure_scorer(m[0]),
        lambda m: analysis.precision_recall(m[1], Y[:6], S[:6]).measure,
    ],
)
def test_names_and_values_are_the_same_to_every_function(call):
    assert call(NAMES) == call(VALUES)


# --- names that results have ----------------------------------------------------------------------


@pytest.mark.parametrize("measures", [EVERY, MEASURES], ids=["kinds", "oracle"])
def test_a_name_is_read_as_its_measure(measures):
    for measure in measures:
        assert as_measure(measure.name) == measure, measure.name
    assert len({measure.name for measure in measures}) == len(set(measures))


SPELLINGS = {
    "ap@10": ["map@10", "MAP@10", "AP(rel=1, k=10)", gb.AP(k=10)],
    "ndcg@5": ["nDCG@5", "NDCG(k=5)", gb.nDCG(k=5)],
    "gap(g=(0.5, 0.5))": ["GAP(g=(.5,.5))", gb.GAP(g=(0.5, 0.5))],
    "0.5 * ap + 0.5 * rr": [".5*map + 0.5*mrr", 0.5 * gb.AP() + 0.5 * gb.RR()],
}
RUN = {str(q): {str(d): float(S[d]) for d in np.flatnonzero(q == Q)} for q in range(20)}
QRELS = {query: {doc: int(Y[int(doc)]) for doc in docs} for query, docs in RUN.items()}


@pytest.mark.parametrize("per_query", [False, True])
@pytest.mark.parametrize("spelling", [0, 1, -1])
def test_results_are_indexed_by_any_spelling_of_a_measure(spelling, per_query):
    measures = [ways[spelling] for ways in SPELLINGS.values()]
    for values in (
        gb.evaluate(measures, Y, S, Q, per_query=per_query),
        analysis.trec.evaluate(measures, QRELS, RUN, per_query=per_query),
    ):
        assert list(values) == list(SPELLINGS)
        for name, ways in SPELLINGS.items():
            for way in (name, *ways):
                assert way in values
                assert values[way] is values.get(way) is values[name]
        for other in ("rr", "gab", gb.AP(), 3):
            assert other not in values
            assert values.get(other) is None
            with pytest.raises(KeyError):
                values[other]


def test_measures_of_one_name_are_refused():
    class AP(gb.AP):
        pass

    (value,) = gb.evaluate([AP(), AP()], [1, 0], [1, 2]).values()
    assert value == 0.5
    with pytest.raises(ValueError, match=r"^measures holds two measures called 'ap'"):
        gb.evaluate([AP(), gb.AP()], [1, 0], [1, 2])


# --- labels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "label"),
    [
        (gb.nDCG(k=10), "nDCG_at_10"),
        (gb.Precision(), "Precision_at_10"),
        (gb.GAP(g=(0.5, 0.5), k=10), "GAP_g_0.5_0.5_at_10"),
        (gb.nDCG(gains=(0, 1e30)), "nDCG_gains_0.0_1e_30"),
        (gb.OfLabel(gb.nDCG(k=10), "sold"), "OfLabel_nDCG_at_10_sold"),
        (0.7 * gb.GAP(g=(1.0,)) + 0.3 * gb.AP(), "0.7_GAP_g_1.0_0.3_AP_rel_1"),
    ],
)
def test_labels(measure, label):
    assert measure.label == label


def test_labels_are_distinct_and_fit_for_files():
    several = {measure for measure in EVERY if measure.label_column is None}
    labels = {measure.label for measure in several}
    assert len(labels) == len(several)
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+", label) for label in labels)


def test_means_can_be_logged():
    values = gb.evaluate(NAMES, Y, S, Q)
    assert values == dict(values) == pickle.loads(pickle.dumps(values))
    assert json.loads(json.dumps(values)) == {
        "ndcg@3": values["ndcg@3"],
        NAMES[1]: values[NAMES[1]],
    }
    labelled = json.loads(json.dumps(values.by_label()))
    assert labelled == {"nDCG_at_3": values[VALUES[0]], "GAP_g_0.5_0.5": values[VALUES[1]]}


@pytest.mark.parametrize("ids", [["b", "a"], [1, 2], [("x", 1), ("y", 2)]], ids=str)
def test_values_by_query_as_a_table(ids):
    qid = np.empty(120, dtype=object)
    qid[:] = [ids[i % 2] for i in range(120)]
    values = gb.evaluate(NAMES, Y, S, qid, per_query=True)
    table = values.to_pandas()
    assert table.index.tolist() == ids
    assert table.columns.tolist() == NAMES
    for measure, column in zip(values, table, strict=True):
        assert (table[column].to_numpy() == values[measure]).all()


def test_measures_of_one_report_have_labels_of_their_own():
    a, b = (gb.OfLabel(gb.AP(), column) for column in ("a b", "a+b"))
    y, X, qid = pd.DataFrame({"a b": [0, 1], "a+b": [1, 0]}), [[0.0], [1.0]], ["q", "q"]
    with pytest.raises(ValueError, match="several measures are called"):
        gb.evaluate([a, b], y, [1.0, 0.0], qid).by_label()
    with pytest.raises(ValueError, match="several measures are called"):
        LGBMGAPRanker(measure=a).fit(X, y, qid, eval_set=[(X, y)], eval_qid=[qid], eval_metric=[b])
