"""Judgments and runs: the rules for what they leave open, and agreement with trec_eval."""

from functools import cache

import ir_measures
import numpy as np
import oracle
import pytest
from collections_on_disk import RUNS
from rankings import judged_run

import gapboost as gb
from gapboost import analysis
from gapboost.analysis import trec

read_qrels = cache(trec.read_qrels)


# --- ids ------------------------------------------------------------------------------------------

IDS = {
    "documents": ({"1": {10: 1, 11: 0}}, {"1": {"10": 3.0, "11": 1.0}}),
    "topics": ({"1": {"a": 1}}, {1: {"a": 3.0}}),
    "both": ({1: {10: 1}}, {1: {10: 3.0}}),
    "one document": ({"1": {"10": 1, 11: 1}}, {"1": {"10": 3.0}}),
}
CALLS = {
    "evaluate": lambda qrels, run: trec.evaluate("ap", qrels, run),
    "bpref": analysis.bpref,
    "ir_measures": lambda qrels, run: analysis.system_values([ir_measures.AP], qrels, {"r": run}),
    "robustness": lambda qrels, run: analysis.robustness(["ap"], qrels, {"r": run}, n_jobs=1),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("ids", IDS)
def test_ids_that_are_no_strings_are_refused(call, ids):
    with pytest.raises(TypeError, match=r"(qrels|run) has topics or documents .*expected strings"):
        CALLS[call](*IDS[ids])


@pytest.mark.parametrize("call", ["evaluate", "bpref", "ir_measures"])
def test_documents_without_any_judgment_are_a_warning(call):
    """A column of numbers with a missing one becomes a column of floats."""
    qrels = {"1": {"12": 1, "13": 0, "14": 0}, "2": {"15": 1, "16": 0}}
    floats = {topic: {f"{d}.0": 1.0 for d in documents} for topic, documents in qrels.items()}
    with pytest.warns(UserWarning, match=r"no judged document .*'1\d\.0' in the run and '1\d'"):
        CALLS[call](qrels, floats)
    # A poor system is not warned of.
    CALLS[call](qrels, {"1": {"unjudged": 2.0, "13": 1.0}, "2": {"unjudged": 1.0}})


@pytest.mark.parametrize("call", [*CALLS, "write"])
@pytest.mark.parametrize("number", [np.nan, np.inf, None])
@pytest.mark.parametrize("name", ["qrels", "run"])
def test_numbers_that_are_not_finite_are_named(tmp_path, name, number, call):
    given = {"qrels": {"1": {"a": 1}, "2": {"b": 1}}, "run": {"1": {"a": 2.0}, "2": {"b": 1.0}}}
    given[name]["2"]["c"] = number
    function, arguments = CALLS.get(call), given.values()
    if call == "write":
        function = {"qrels": trec.write_qrels, "run": trec.write_run}[name]
        arguments = (tmp_path / "file", given[name])
    with pytest.raises(ValueError, match=f"^{name} holds {number} for document 'c' of topic '2'"):
        function(*arguments)


@pytest.mark.parametrize(
    ("call", "grade"),
    [*((c, 300) for c in CALLS), *((c, 0.5) for c in ("bpref", "ir_measures", "write"))],
)
def test_judgments_that_cannot_be_used_are_named(tmp_path, call, grade):
    qrels = {"1": {"a": 1}, "2": {"b": 1, "c": grade}}
    given = (
        (tmp_path / "file", qrels)
        if call == "write"
        else (qrels, {"1": {"a": 1.0}, "2": {"b": 1.0}})
    )
    expected = "grades up to 255" if grade == 300 else "whole numbers"
    with pytest.raises(ValueError, match=f"^qrels holds {grade} .*'c' of topic '2'; .*{expected}"):
        CALLS.get(call, trec.write_qrels)(*given)


SCORES = {
    "positive": lambda rng: rng.gamma(9, 1),
    "in tenths": lambda rng: round(rng.gamma(9, 1), 1),
    "negative": lambda rng: rng.normal(-300, 3),
    "around 0": lambda rng: rng.normal(),
    "whole": lambda rng: int(rng.integers(100)),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("scores", SCORES)
def test_swapped_judgments_and_runs_are_an_error(call, scores):
    rng = np.random.default_rng(0)
    qrels = {t: {f"d{i}": int(rng.integers(-1, 3)) for i in range(12)} for t in "123"}
    run = {t: {d: float(SCORES[scores](rng)) for d in judged} for t, judged in qrels.items()}
    trec.evaluate("gap", qrels, run)
    with pytest.raises(ValueError, match=r"^qrels .*run .*swapped\?"):
        CALLS[call](run, qrels)


# --- rules ----------------------------------------------------------------------------------------

PEERS = {
    gb.AP(): ir_measures.AP,
    gb.AP(rel=2): ir_measures.AP(rel=2),
    gb.Precision(k=10): ir_measures.P @ 10,
    gb.nDCG(gains=(0, 1, 2)): ir_measures.nDCG,
    gb.nDCG(gains="linear", k=10): ir_measures.nDCG @ 10,
    gb.Recall(k=10): ir_measures.R @ 10,
    gb.Recall(k=100, rel=2): ir_measures.R(rel=2) @ 100,
    gb.RPrecision(): ir_measures.Rprec,
    gb.RPrecision(rel=2): ir_measures.Rprec(rel=2),
    gb.RR(): ir_measures.RR,
    gb.RR(rel=2): ir_measures.RR(rel=2),
}


def assert_as_trec_eval(qrels, run):
    values = trec.evaluate(list(PEERS), qrels, run, ties="trec_eval", per_query=True)
    theirs = {
        (m.measure, m.query_id): m.value for m in ir_measures.iter_calc(PEERS.values(), qrels, run)
    }
    assert len(theirs) == len(PEERS) * len(qrels)
    for ours, peer in PEERS.items():
        expected = [theirs[peer, topic] for topic in values.qid]
        np.testing.assert_allclose(values[ours], expected, rtol=0, atol=1e-9, err_msg=str(ours))
    return values


@pytest.mark.parametrize("seed", range(10))
def test_order_of_ties_as_in_trec_eval(seed):
    qrels, run = judged_run(seed)
    values = assert_as_trec_eval(qrels, run)
    assert any(
        values[m] != pytest.approx(v)
        for m, v in trec.evaluate(list(PEERS), qrels, run, per_query=True).items()
    )


@pytest.mark.filterwarnings("ignore:run lacks topics")
@pytest.mark.parametrize(("path", "qrels"), RUNS)
def test_runs_on_disk_as_trec_eval_and_ir_measures_read_them(path, qrels):
    found, run = read_qrels(qrels), trec.read_run(path)
    assert_as_trec_eval(found, run)
    theirs = ir_measures.util.RunConverter(ir_measures.read_trec_run(str(path))).as_dict_of_dict()
    assert run == theirs


@pytest.mark.filterwarnings("ignore:run (lacks|has) topics")
@pytest.mark.parametrize("rel", [1, 2])
def test_bpref_by_hand(rel):
    qrels = {
        "1": {"a": rel, "b": 0, "c": 0, "d": rel},
        "2": {"a": 0},
        "3": {"a": rel},
        "4": {"a": rel, "b": -1},
    }
    run = {
        "1": {"b": 4.0, "u": 3.5, "a": 3.0, "c": 2.0, "d": 1.0},
        "2": {"a": 1.0},
        "4": {"b": 2.0, "a": 1.0},
        "9": {"a": 1.0},
    }
    assert analysis.bpref(qrels, run, rel=rel) == {"1": 0.25, "2": 0, "3": 0, "4": 1}


@pytest.mark.filterwarnings("ignore:run (lacks|has) topics")
def test_topics_of_only_one_side():
    qrels = {"1": {"a": 1, "b": 0}, "2": {"a": 1}, "3": {"a": 0}}
    run = {"1": {"a": 2.0}, "9": {"a": 1.0}, "3": {"a": 1.0}}
    measures = [gb.AP(), gb.nDCG(gains=(0.5, 1))]
    with pytest.warns(UserWarning, match="without judgments, which are left out: 1, such as '9'"):
        values = trec.evaluate(measures, qrels, run, per_query=True)
    with pytest.warns(UserWarning, match="lacks topics with judgments, .* 0: 1, such as '2'"):
        assert analysis.system_values(["ap"], qrels, {"r": run}).means.item() == 1 / 3
    assert values.qid.tolist() == ["1", "2", "3"]  # topic 9 has no judgments
    assert values[measures[0]].tolist() == [1, 0, 0]  # topic 2 has no documents
    assert values[measures[1]][1] == 0
    # what is skipped is a topic without relevant documents, not one without retrieved ones
    assert trec.evaluate(gb.AP(), qrels, run, empty="skip") == {"ap": 0.5}
    assert trec.evaluate(gb.AP(), qrels, run, empty=1) == {"ap": pytest.approx(2 / 3)}
    with pytest.raises(ValueError, match="run shares no topic"):
        trec.evaluate(gb.AP(), qrels, {"01": {"a": 1.0}})


def test_fractional_judgments():
    qrels = {"1": {"a": 0.5, "b": 1, "c": 0.25, "d": -1}, "2": {"a": 2}}
    run = {"1": {"a": 3.0, "c": 2.0, "x": 1.0, "d": 0.5}, "2": {"b": 1.0}}
    measures = [gb.GAP(g=(0.5, 0.5)), gb.AP(rel=0.5), gb.nDCG(k=3), gb.ERR(top=2)]
    values = trec.evaluate(measures, qrels, run)
    grades, scores, qid = [0.5, 0.25, 0, 0, 0], [3, 2, 1, 0.5, 1], ["1"] * 4 + ["2"]
    base = {"1": {0.5: 1, 1: 1, 0.25: 1}, "2": {2: 1}}
    assert values == gb.evaluate(measures, grades, scores, qid, recall_base=base)
    with pytest.raises(ValueError, match=r"^y_true .*expected integer"):
        trec.rankings(qrels, run).lists()


@pytest.mark.parametrize("measures", [ir_measures.nDCG @ 10, ["ap", ir_measures.AP]], ids=str)
def test_measures_of_ir_measures_are_refused(measures):
    with pytest.raises(TypeError, match=r"^measures holds .* of ir_measures; .*system_values"):
        trec.evaluate(measures, {"1": {"a": 1}}, {"1": {"a": 1.0}})
    with pytest.raises(TypeError, match=r"^measures holds .* of ir_measures; .*system_values"):
        gb.evaluate(measures, [1], [1.0])


@pytest.mark.parametrize("name", ["Bpref", "infAP"])
def test_measures_of_incomplete_judgments_are_those_of_ir_measures(name):
    with pytest.raises(ValueError, match=rf"^measures is '{name}'.*ir_measures.*system_values"):
        trec.evaluate(name, {"1": {"a": 1}}, {"1": {"a": 1.0}})
    measure = ir_measures.parse_measure(name)
    values = analysis.system_values([measure], {"1": {"a": 1, "b": 0}}, {"run": {"1": {"a": 1.0}}})
    assert values.values.shape == (1, 1, 1)


WARNED = {
    "rankings": trec.rankings,
    **{name: CALLS[name] for name in ("evaluate", "bpref", "ir_measures")},
    "robustness": lambda qrels, run: analysis.robustness(
        ["ap", ir_measures.AP], qrels, {"r": run, "s": run}, fractions=(1.0,), n_jobs=1
    ),
}


@pytest.mark.parametrize("call", WARNED)
def test_warnings_are_those_of_the_calling_line(call):
    with pytest.warns(UserWarning, match=r"lacks topics") as found:
        WARNED[call]({"1": {"a": 1}, "2": {"a": 1}}, {"1": {"a": 1.0}})
    assert {one.filename for one in found} == {__file__}


def test_open_thresholds_come_from_the_judgments():
    qrels, run = {"1": {"a": 1, "b": 2}}, {"1": {"a": 1.0}}  # the document of grade 2 is missing
    stated = gb.GAP(g=(0.5, 0.5))
    assert trec.evaluate("gap", qrels, run)[gb.GAP()] == trec.evaluate(stated, qrels, run)[stated]
    with pytest.raises(ValueError, match=r"qrels holds the grade 2, but GAP\(g=\(1.0,\)\)"):
        trec.evaluate(gb.GAP(g=(1.0,)), qrels, run)


def test_trec_eval_has_ties_where_scores_differ_in_double_precision_alone():
    qrels, run = {"1": {"a": 1}}, {"1": {"a": 1.00000002, "b": 1.00000001, "c": 0.5}}
    assert trec.evaluate(gb.AP(), qrels, run) == {"ap": 1}
    assert trec.evaluate(gb.AP(), qrels, run, ties="trec_eval") == {"ap": 0.5}


@pytest.mark.parametrize("grades", [[100, 1, 0], [0, *range(50, 80)], [255, 255]])
def test_lists_have_the_grades_of_the_judgments(grades):
    """Many or high grades are numbered within the library."""
    qrels = {"1": {f"d{i:02}": grade for i, grade in enumerate(grades)}, "2": {"a": 1}}
    qrels["1"]["lost"] = 70
    run = {"1": {f"d{i:02}": 1.0 - i for i in range(len(grades))}, "2": {"a": 1.0}}
    lists = trec.rankings(qrels, run).lists()
    assert lists[0].grades.tolist() == list(grades)
    assert lists[0].recall_base.tolist() == oracle.grade_counts([*grades, 70], max(*grades, 70))
    assert lists[1].recall_base[1] == lists[1].recall_base.sum() == 1
    assert lists[1].grades.dtype == np.int32


@pytest.mark.filterwarnings("ignore:run lacks topics")
def test_lists_are_in_the_order_of_trec_eval():
    qrels = {"1": {"a": 2, "b": 1}, "2": {"a": 1}, "3": {"a": 1}}
    run = {"1": {"a": 1.0, "b": 1.0, "c": 2.0}, "3": {"a": 0.0}}
    lists = trec.rankings(qrels, run).lists()
    assert [(found.name, found.grades.tolist()) for found in lists] == [
        ("1", [0, 1, 2]),
        ("3", [1]),
    ]
    assert lists[1].recall_base.tolist() == [0, 1, 0]
