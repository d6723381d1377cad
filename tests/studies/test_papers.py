"""The page of the papers: it says what is saved, its verdicts follow from intervals, and its study resumes."""

import csv
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
from scipy import stats
from scipy.stats import kendalltau

import gapboost as gb
from benchmarks.studies.papers import claims, figures, grid, page, qin2008, results, robertson2010, topics
from benchmarks.studies.papers.approximation import algorithm_1
from benchmarks.studies.papers.claims import Claim, Fact, Result
from benchmarks.studies.papers.collections import few
from benchmarks.studies.papers.items import ITEMS
from benchmarks.workload import FIGURES
from gapboost.analysis.estimates import Estimate
from gapboost.datasets import load_digits_ranking

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
# Numbered tables, figures, theorems and corollaries of the four papers.
NUMBERED = {
    "robertson2010": ["Figure 1", "Figure 2", "Figure 3", "Table 1", "Table 2"],
    "ferrante2014": ["Table 1", "Table 2", "Table 3", "Figure 1", "Figure 2"],
    "yilmaz2009": [*(f"Table {n}" for n in range(1, 6)), *(f"Figure {n}" for n in range(1, 6))],
    "qin2008": [
        *(f"Theorem {n}" for n in (1, 2, 3, 5, 6, 7)),
        "Corollary 4",
        "Table 1",
        "Table 2",
        "Table 3",
        *(f"Figure {n}" for n in range(1, 6)),
        "Algorithm 1",
    ],
}


@pytest.fixture(scope="module")
def judged():
    return page.judged()


@pytest.fixture(scope="module")
def text():
    return page.text()


def prose(text):
    return " ".join(text.split())


def dotted(value, digits=3):
    return f"{abs(value):.{digits}f}".removeprefix("0")


def test_the_page_is_what_the_saved_results_give(text):
    """Every number of a table is read from them: `benchmarks.studies.papers --redraw` writes the page."""
    written = page.PAGE.read_text(encoding="utf-8").splitlines()
    for number, (found, expected) in enumerate(zip(written, text.splitlines(), strict=False), 1):
        assert found == expected, f"line {number}"
    assert len(written) == len(text.splitlines())


def test_every_numbered_item_has_a_row(judged):
    for name, numbered in NUMBERED.items():
        empirical, mathematical = judged[name]
        places = [one.place for one in (*empirical, *mathematical)] + [row["item"] for row in claims.items(name)]
        found = {part for place in places for part in place.split(", ")}
        assert [item for item in numbered if item not in found] == [], name


def test_verdicts_come_from_intervals():
    def verdict(low, high, margin=None):
        return Claim("", "", "", "", Result(0.0, low, high), margin).verdict

    assert [verdict(*i) for i in ((0.1, 0.2), (-0.2, -0.1), (-0.1, 0.2), (0.0, 0.1))] == [
        "holds", "contradicted", "inconclusive", "inconclusive"
    ]  # fmt: skip
    assert [verdict(*i, 0.1) for i in ((-0.05, 0.1), (0.12, 0.2), (-0.3, -0.11), (0.05, 0.15))] == [
        "holds", "contradicted", "contradicted", "inconclusive"
    ]  # fmt: skip
    assert [Fact("", "", "", d).verdict for d in (0.0, 0.00913)] == ["exact", "differs by 0.009"]
    assert claims.difference([0.1 + 0.2], [0.3]) == 0
    assert claims.difference([0.00118], [0.001183], 5) == 0
    assert claims.difference([0.00118, 1.0], [0.00119, 1.0], 5) == pytest.approx(1e-5)


def test_a_claim_of_several_comparisons_holds_if_all_do():
    sure, behind, near = Estimate(0.1, 0.01, 4), Estimate(-0.1, 0.01, 4), Estimate(0.1, 0.03, 4)
    assert near.interval()[0] > 0 > near.interval(family=2)[0]
    for estimates, word in (
        ([sure, sure], "holds"), ([sure, behind], "contradicted"), ([near], "holds"), ([sure, near], "inconclusive")
    ):  # fmt: skip
        result = claims.least(claims.simultaneous(estimates))
        assert result.family == len(estimates)
        assert result.value == min(one.mean for one in estimates)
        assert Claim("", "", "", "", result).verdict == word
    both = claims.within([Estimate(0.001, 0.001, 9), Estimate(-0.004, 0.002, 9)])
    assert both == pytest.approx(
        (-0.004, -0.004 - 0.002 * stats.t.ppf(0.95, 9), 0.001 + 0.001 * stats.t.ppf(0.95, 9), 2)
    )


def test_the_page_prints_each_verdict_with_the_interval_that_decides(text, judged):
    """Read the words off the page: they follow from the numbers next to them."""
    rows = re.findall(r"\((\S+) … (\S+)\) \| \d \| (\w+)(?:, ± (\S+))? \|$", text, re.MULTILINE)
    assert len(rows) == sum(len(empirical) for empirical, _ in judged.values())
    for low, high, word, margin in rows:
        shown = Result(0.0, *(float(end.replace("−", "-")) for end in (low, high)))
        assert Claim("", "", "", "", shown, float(margin) if margin else None).verdict == word


def test_the_text_says_what_the_tables_say(text, judged):
    empirical = {(name, *one[:3]): one for name, (found, _) in judged.items() for one in found}
    words = [one.verdict for one in empirical.values()]
    facts = [fact for _, found in judged.values() for fact in found]
    exact = sum(fact.verdict == "exact" for fact in facts)
    said = prose(text)
    assert f"{exact} of {len(facts)} mathematical claims are exact. The other four are limits" in said
    assert len(facts) - exact == 4
    # The limits are near the values of the papers.
    assert max(fact.difference for fact in facts) < 0.01
    trained = [
        one for one in empirical.values() if "training for" in one.quantity or one.place in ("Figure 4", "Figure 5")
    ]
    trained += [one for one in empirical.values() if "best direction" in one.quantity]
    trained = [one for one in trained if not one.place.startswith("Figure 1") and "tau" not in one.quantity]
    holding = [one for one in trained if one.verdict == "holds"]
    assert f"{len(holding)} of {len(trained)} claims about trained rankers hold" in said
    assert f"too small for the other {len(trained) - len(holding)}" in said
    assert "contradicted" not in {one.verdict for one in trained}
    assert f"The other {words.count('inconclusive')} empirical claims need more" in said
    assert f"Of {len(words)} true differences of 0 about two" in said
    assert round(len(words) * 0.025) == 2
    contradicted = {key[:2] for key, one in empirical.items() if one.verdict == "contradicted"}
    assert contradicted == {("robertson2010", "Figure 2"), ("robertson2010", "footnote 1")}
    assert words.count("contradicted") == 3
    error, g, gain = (one.result for one in empirical.values() if one.verdict == "contradicted")
    assert f"smaller by {dotted(error.value)} ({dotted(error.high)} to {dotted(error.low)})" in said
    best = [dotted(0.5 + end, 1) for end in g[:3]]
    assert f"the best g_1 is {best[0]} ({best[1]} to {best[2]}), not about .5" in said
    assert f"larger by {dotted(gain.value)} ({dotted(gain.low)} to {dotted(gain.high)}) than with i" in said
    one = robertson2010.more_error("GAP 0.5", "GAP 1")
    low, high = one.interval()
    assert f"the error of AP is smaller by {dotted(one.mean)} ({dotted(low)} to {dotted(high)})" in said
    nearer = [o for o in empirical.values() if o.quantity == "tau with AP: GAP minus xGAP, eGAP"]
    assert {o.verdict for o in nearer if not o.data.startswith("Robust")} == {"holds"}
    assert {o.verdict for key, o in empirical.items() if key[:2] == ("yilmaz2009", "Table 1")} == {"holds"}
    assert {o.verdict for o in empirical.values() if o.quantity.startswith(".05 minus")} == {"holds"}
    (gain,) = (o.result for o in trained if o.place == "Table 3")
    assert f"by {dotted(gain.value, 4)} ({dotted(gain.low, 4)} to {dotted(gain.high, 4)})" in said
    away = [
        qin2008.distances(collection, measure, "alpha")[1.0].mean()
        for collection in grid.COLLECTIONS
        for measure in ("AP", "nDCG")
    ]
    assert f"At alpha = 1 the smooth measures are {dotted(min(away))} to {dotted(max(away))} away" in said


def test_folds_that_share_training_queries_are_corrected():
    d = np.array([0.01, 0.03, -0.02, 0.02, 0.01])
    for collection, n in (("OHSUMED", 106), ("MQ2007", 1692)):
        assert n // 5 == grid.FIFTH[collection]
        found = grid.over_folds(collection, d)
        assert found.error == pytest.approx(stats.sem(d) * np.sqrt(1 + 5 / 3))
        assert found.error / stats.sem(d) == pytest.approx(1.63, abs=5e-3)


def test_a_mathematical_claim_that_is_tested_names_a_test():
    for name, file in re.findall(r"\[(test_\w+)\]\(\.\./(\S+?)\)", page.PAGE.read_text(encoding="utf-8")):
        assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8")


def test_few_topics_give_no_verdict(judged):
    """Neither the five of Robust, nor the three of MSLR, nor the five lists of OHSUMED's systems."""
    for empirical, _ in judged.values():
        for one in empirical:
            counted = re.search(r"(\d+) topics", one.data)
            assert counted is None or int(counted[1]) >= 10


def test_differences_of_lists_have_topics_as_clusters():
    rng = np.random.default_rng(0)
    rows = [
        {"topic": t, "list": f"{t} {i}", "measure": m, "error": rng.random()}
        for t in range(8) for i in range(3) for m in ("a", "b")
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    found = topics.difference(table, "a", "b", "error")
    wide = table.pivot(index="list", columns="measure", values="error")
    by_topic = (wide["a"] - wide["b"]).to_numpy().reshape(8, 3).mean(axis=1)
    # Topics of equal size: a t-test of their means.
    assert found.mean == pytest.approx(by_topic.mean())
    assert found.interval() == pytest.approx(stats.t.interval(0.95, 7, by_topic.mean(), stats.sem(by_topic)))


def test_tau_over_topics():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2, 6, 30)) + 0.3 * rng.normal(size=(1, 6, 1))
    one, other = np.moveaxis(topics.signs(values), 1, 0)
    found = topics.tau(one, other)
    assert found[0] == pytest.approx(kendalltau(*values.mean(axis=2)).statistic)
    times = topics.drawn(30)[5].astype(int)
    again = np.repeat(values, times, axis=2)
    assert found[5] == pytest.approx(kendalltau(*again.mean(axis=2)).statistic)
    value, low, high = topics.interval(found)
    assert low < value < high
    assert topics.interval(found, 2)[1:] == pytest.approx(np.nanpercentile(found[1:], (1.25, 98.75)))


def test_the_page_can_be_read(text):
    assert text.count("<details>") == text.count("</details>") > 5
    for line in text.splitlines():
        if line.startswith("|"):
            assert line.endswith("|"), line
            assert all(0 < len(cell.split()) <= 30 for cell in line.strip("|").split("|") if cell.strip()), line
            assert not re.search(r"\bnan\b", line)
        else:
            assert len(line) <= 100, line
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        lines = [re.split(r"(?<!\\)\|", line) for line in block.splitlines()]
        assert all(len(one) == len(other) for one, other in pairwise(lines)), block[:200]


def test_pictures_and_links_are_there(text):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        assert (page.PAGE.parent / target).exists(), target
    assert {path.name for path in FIGURES.glob("papers_*.png")} == {f"papers_{name}.png" for name in figures.PICTURES}


def test_every_item_is_saved():
    assert {path.stem for path in results.RESULTS.iterdir()} == set(ITEMS)


def test_saved_results_are_tables():
    for path in results.RESULTS.iterdir():
        assert path.suffix == ".csv", path
        with path.open(encoding="utf-8", newline="") as lines:
            found = list(csv.reader(lines))
        assert found[0][0] == "part"
        assert len({len(line) for line in found}) == 1, path


def test_topics_with_few_highly_relevant_documents():
    def topic(*counts):
        return {
            f"{grade}-{i}": grade for grade, count in zip((-1, 0, 1, 2, 3), counts, strict=True) for i in range(count)
        }

    qrels = {
        "ten": topic(1, 5, 10, 1, 0),
        "nine": topic(1, 5, 9, 1, 0),
        "twice": topic(0, 0, 20, 2, 0),
        "none": topic(0, 0, 20, 0, 0),
        "key": topic(0, 5, 10, 5, 1),
        "nothing": topic(0, 5, 0, 0, 0),
    }
    assert few(qrels, 3) == ["key"]
    assert few(qrels, 2) == ["ten", "twice"]
    assert few(qrels, 2, factor=9) == ["ten", "nine", "twice"]


def test_algorithm_1_climbs_the_smooth_measure():
    train = load_digits_ranking((12, 1, 1), 15)[0]
    how = gb.ApproxRank(gb.AP(), alpha=1.0, beta=1.0, normalize=False)
    values = [how.value(train.y, train.X @ weights, train.qid) for weights in algorithm_1(train, how, 12, rate=0.01)]
    assert values[-1] > values[0] > how.value(train.y, np.zeros(len(train.y)), train.qid)
    first, second = ([w.copy() for w in algorithm_1(train, how, 2)] for _ in range(2))
    npt.assert_array_equal(first, second)
