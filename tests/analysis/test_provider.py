"""gapboost's measures inside ir_measures."""

import ir_measures
import numpy as np
import pandas as pd
import pytest

import gapboost as gb
from gapboost.analysis import trec
from gapboost.analysis.provider import GAP, eGAP, provider, xGAP

G = (0.4, 0.6)
QRELS = {"1": {"a": 2, "b": 1, "c": 0, "d": 1}, "2": {"a": 1, "x": 2}, "3": {"a": 2}}
RUN = {"1": {"a": 1.0, "b": 2.0, "c": 2.0, "u": 3.0}, "2": {"a": 1.0}}

PEERS = {
    GAP(g=G): gb.GAP(g=G),
    xGAP(g=G): gb.xGAP(g=G),
    eGAP(g=G): gb.eGAP(g=G),
    GAP(g=G) @ 2: gb.GAP(g=G, k=2),
    eGAP: gb.eGAP(),
}


@pytest.mark.parametrize("measure", PEERS, ids=str)
@pytest.mark.parametrize("ties", ["expected", "trec_eval"])
def test_same_values_as_gapboost(measure, ties):
    asked = measure(ties=ties)
    values = trec.evaluate(PEERS[measure], QRELS, RUN, ties=ties, per_query=True)
    theirs = {
        metric.query_id: metric.value for metric in ir_measures.iter_calc([asked], QRELS, RUN)
    }
    assert theirs == dict(zip(values.qid, values[PEERS[measure]], strict=True))
    assert asked.calc_aggregate(QRELS, RUN) == pytest.approx(np.mean(list(theirs.values())))


def test_beside_the_measures_of_ir_measures_and_for_all_its_inputs():
    measures = [
        GAP(g=(1.0, 0.0), ties="trec_eval"),
        ir_measures.AP,
        ir_measures.nDCG @ 2,
        ir_measures.Bpref,
    ]
    qrels = [ir_measures.Qrel(t, d, g) for t, judged in QRELS.items() for d, g in judged.items()]
    run = [ir_measures.ScoredDoc(t, d, s) for t, found in RUN.items() for d, s in found.items()]
    for judged, found in ((qrels, run), (pd.DataFrame(qrels), pd.DataFrame(run)), (QRELS, RUN)):
        result = ir_measures.calc(measures, judged, found)
        assert set(result.aggregated) == set(measures)
        assert result.aggregated[measures[0]] == pytest.approx(result.aggregated[ir_measures.AP])
        assert len(result.per_query) == 12


def test_a_run_without_a_judged_topic():
    assert ir_measures.calc_aggregate([GAP(g=G)], QRELS, {"9": {"a": 1.0}}) == {GAP(g=G): 0}


def test_values_as_ir_measures_writes_them():
    assert repr(GAP(g=G) @ 10) == "GAP(g='0.4,0.6')@10"
    assert repr(GAP(g=(1,))) == "GAP(g='1')"
    assert GAP(g=G) == GAP(g=G) != GAP(g=(0.5, 0.5))
    assert ir_measures.parse_measure("xGAP@5") == xGAP @ 5
    assert provider.supports(GAP(g=G, ties="trec_eval") @ 3)
    assert not provider.supports(ir_measures.AP)
    with pytest.raises(AssertionError, match="ties"):
        ir_measures.calc_aggregate([GAP(ties="row")], QRELS, RUN)


@pytest.mark.parametrize(
    "measure", [*PEERS, GAP(g=(1.0, 0.0), ties="trec_eval") @ 3, xGAP(g=(1 / 3, 2 / 3))], ids=str
)
def test_the_text_form_parses(measure):
    parsed = ir_measures.parse_measure(str(measure))
    assert parsed == measure
    assert parsed.params == measure.params
    assert parsed.calc_aggregate(QRELS, RUN) == measure.calc_aggregate(QRELS, RUN)
    assert ir_measures.parse_measure("GAP(g='0.5,0.5')@10") == GAP(g=(0.5, 0.5)) @ 10


def test_thresholds_that_are_no_probabilities():
    wrong = ir_measures.parse_measure("GAP(g='0.5,0.6')")
    with pytest.raises(ValueError, match=r"0\.5, 0\.6"):
        wrong.calc_aggregate(QRELS, RUN)
