"""The page of the papers shows what its results give, and verdicts follow from intervals."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import gapboost as gb
from benchmarks.studies.papers import page, topics
from benchmarks.studies.papers.approximation import algorithm_1
from benchmarks.studies.papers.claims import Result, claims
from benchmarks.studies.papers.results import RESULTS
from gapboost.datasets import load_digits_ranking

pytestmark = pytest.mark.slow
TEXT = page.PAGE.read_text(encoding="utf-8")
# Tables, figures, theorems and corollaries of the four papers.
NUMBERED = {
    "robertson2010": {"Figure": (1, 2, 3), "Table": (1, 2)},
    "ferrante2014": {"Figure": (1, 2), "Table": (1, 2, 3)},
    "yilmaz2009": {"Figure": (1, 2, 3, 4, 5), "Table": (1, 2, 3, 4, 5)},
    "qin2008": {"Figure": (1, 2, 3, 4, 5), "Table": (1, 2, 3), "Theorem": (1, 2, 3, 5, 6, 7)},
}


@pytest.fixture(scope="module")
def judged():
    return page.estimates()


def row(judged, place, quantity):
    (found,) = judged[(judged["place"] == place) & (judged["quantity"] == quantity)].itertuples()
    return found


def test_the_page_is_what_the_saved_results_give(judged):
    """`python -m benchmarks.studies.papers --redraw` writes these parts."""
    written = dict(re.findall(r"<!-- ([^:>]+) -->\n\n(.*?)\n\n<!-- end of \1 -->", TEXT, re.DOTALL))
    assert written == page.parts(judged)


def test_saved_estimates_and_counts_are_those_of_the_results(judged):
    for name, found in (("estimates", judged), ("counts", page.counts(judged, page.facts()))):
        saved = pd.read_csv(RESULTS / f"{name}.csv")
        pd.testing.assert_frame_equal(saved, found, check_exact=False, rtol=1e-5)
    assert [*judged.loc[judged["verdict"] == "contradicted", "data"]] == ["Robust, 24 topics"] * 3


def test_verdicts_come_from_intervals():
    cases = ((0.1, 0.2), (-0.2, -0.1), (-0.1, 0.2), (0.0, 0.1))
    words = ["holds", "contradicted", "inconclusive", "inconclusive"]
    assert [Result(0.0, *ends).verdict() for ends in cases] == words
    cases = ((-0.05, 0.1), (-0.3, -0.11), (0.05, 0.15), (-0.2, 0.2))
    assert [Result(0.0, *ends).verdict(margin=0.1) for ends in cases] == words


def test_the_page_prints_each_verdict_with_the_interval_that_decides():
    rows = re.findall(r"\((\S+) … (\S+)\) \| \d \| (\w+)(?:, ± (\S+))? \|$", TEXT, re.MULTILINE)
    assert len(rows) == len(claims())
    for low, high, word, margin in rows:
        shown = Result(0.0, *(float(end.replace("−", "-")) for end in (low, high)))
        assert shown.verdict(float(margin) if margin else None) == word


def test_trained_rankers_are_compared_over_folds_with_a_correction(judged):
    found = row(judged, "section 5", "P@10: training for nDCG@10 minus for P@10")
    rows, lows = pd.read_csv(RESULTS / "trained_mq2007.csv"), []
    for objective in ("SoftRank", "LambdaRank"):
        of = rows[rows["objective"] == objective].set_index(["trained", "fold"])["P@10"]
        apart = of.loc["nDCG@10"] - of.loc["P@10"]
        error = stats.sem(apart) * np.sqrt(1 + 5 / 3)
        lows.append(stats.t.interval(1 - 0.05 / 2, 4, apart.mean(), error)[0])
    assert (found.low, found.family) == pytest.approx((min(lows), 2))


def test_a_margin_is_compared_with_the_hull_of_intervals_of_90_percent(judged):
    found = row(judged, "Figure 5", "nDCG: ApproxAP minus ApproxNDCG")
    rows = pd.read_csv(RESULTS / "approx_linear.csv")
    best = rows.loc[rows.groupby(["trained", "fold"])["validation"].idxmax()]
    of = best.set_index(["trained", "fold"])["nDCG, LETOR"]
    apart = of.loc["AP"] - of.loc["nDCG"]
    interval = stats.t.interval(0.9, 4, apart.mean(), stats.sem(apart) * np.sqrt(1 + 5 / 3))
    assert (found.low, found.high) == pytest.approx(interval)


def test_every_numbered_item_has_a_row(judged):
    items = pd.read_csv(page.HERE / "items.csv").rename(columns={"item": "place"})
    rows = pd.concat([judged, page.facts(), items])
    for paper, kinds in NUMBERED.items():
        places = ", ".join(rows.loc[rows["paper"] == paper, "place"]).split(", ")
        assert {f"{kind} {n}" for kind in kinds for n in kinds[kind]} <= set(places), paper


def test_links_pictures_and_named_tests_exist():
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", TEXT):
        assert (page.PAGE.parent / target).exists(), target
    for name, file in re.findall(r"\[(test_\w+)\]\((\S+?)\)", TEXT):
        assert f"def {name}(" in (page.PAGE.parent / file).read_text(encoding="utf-8")


def test_examples_and_draws_of_facts():
    facts = page.facts().set_index("place")
    said = []
    for ranks in ((1, 2, 11, 12, 13), (8, 9, 18, 19, 20)):
        y = np.isin(np.arange(1, 21), ranks).astype(int)
        said.append(gb.evaluate([gb.Precision(k=10), gb.AP()], y, -np.arange(20.0)).values())
    (p1, a1), (p2, a2) = said
    shown = f"P@10 {p1:.1f} and {p2:.1f}, AP {a1:.3f} and {a2:.3f}"
    assert facts.loc["section 3.1.1", "here"] == shown
    mean = pd.read_csv(RESULTS / "directions.csv").groupby("queries")["largest difference"].mean()
    assert f"largest difference {mean[10]:.3f} from 10 queries" in facts.loc["Theorem 1", "here"]


def test_tau_over_topics():
    values = np.random.default_rng(0).normal(size=(2, 6, 30))
    one, other = np.moveaxis(topics.signs(values), 1, 0)
    again = np.repeat(values, topics.drawn(30)[5].astype(int), axis=2)
    expected = [stats.kendalltau(*drawn.mean(axis=2)).statistic for drawn in (values, again)]
    assert topics.tau(one, other)[[0, 5]] == pytest.approx(expected)


def test_algorithm_1_climbs_the_smooth_measure():
    train = load_digits_ranking((12, 1, 1), 15)[0]
    how = gb.ApproxRank(gb.AP(), alpha=1.0, beta=1.0, normalize=False)
    climbed = algorithm_1(train, how, 12)
    values = [how.value(train.y, train.X @ weights, train.qid) for weights in climbed]
    assert values[-1] > values[0] > how.value(train.y, np.zeros(len(train.y)), train.qid)
