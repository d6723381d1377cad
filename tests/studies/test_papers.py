"""The page of the papers: it says what is saved, has a row for every item, and its study resumes."""

import csv
import re
from itertools import pairwise

import numpy as np
import numpy.testing as npt
import pytest
from scipy.stats import kendalltau

import gapboost as gb
from benchmarks.studies.papers import ferrante2014, figures, page, results, rows, topics
from benchmarks.studies.papers.approximation import algorithm_1
from benchmarks.studies.papers.collections import few
from benchmarks.studies.papers.items import ITEMS
from benchmarks.workload import FIGURES
from gapboost.analysis.estimates import Estimate
from gapboost.datasets import load_digits_ranking

pytestmark = pytest.mark.slow

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
def text():
    return page.text()


def test_the_page_is_what_the_saved_results_give(text):
    """Every number is read from them: change either, and this fails until `benchmarks.studies.papers --redraw`."""
    written = page.PAGE.read_text(encoding="utf-8").splitlines()
    for number, (found, expected) in enumerate(zip(written, text.splitlines(), strict=False), 1):
        assert found == expected, f"line {number}"
    assert len(written) == len(text.splitlines())


def test_every_numbered_item_has_a_row_and_no_cell_is_empty():
    for title, paper in page.TITLES:
        name = paper.__name__.rpartition(".")[2]
        found = rows.rows_of(paper)
        items = [part for row in found for part in row.item.split(", ")]
        assert [item for item in NUMBERED[name] if item not in items] == [], title
        for row in found:
            assert all(cell.strip() for cell in row[:4]), row
            assert row.status.startswith(rows.STATUSES), row
            assert not re.search(r"\bnan\b", " ".join(row[:4])), row
            assert {claim.verdict for claim in row.claims} <= set(rows.VERDICTS), row


def test_verdicts_come_from_intervals():
    assert [rows.above(i) for i in ((0.1, 0.2), (-0.2, -0.1), (-0.1, 0.2), (0.0, 0.1))] == [
        "holds", "contradicted", "cannot be told", "cannot be told"
    ]  # fmt: skip
    assert [rows.alike(i, 0.1) for i in ((-0.05, 0.05), (0.12, 0.2), (-0.3, -0.11), (0.05, 0.15))] == [
        "holds", "contradicted", "contradicted", "cannot be told"
    ]  # fmt: skip
    assert rows.every(["holds", "holds"]) == "holds"
    assert rows.every(["holds", "cannot be told"]) == "cannot be told"
    assert rows.every(["contradicted", "cannot be told"]) == "contradicted"
    sure, behind, slightly = Estimate(0.1, 0.01, 4), Estimate(-0.1, 0.01, 4), Estimate(-0.1, 0.034, 4)
    assert rows.cells([sure, sure]) == "holds"
    assert rows.cells([sure, behind]) == "contradicted"
    assert slightly.p < 0.05
    assert rows.cells([sure, slightly]) == "contradicted"
    assert rows.cells([sure, slightly, slightly]) == "cannot be told"  # .04 twice


def test_a_verdict_is_said_once_for_claims_in_a_row():
    told = rows.verdicts(
        [
            rows.Claim(text, verdict)
            for text, verdict in zip("abcd", ("holds", "holds", "cannot be told", "holds"), strict=True)
        ]
    )
    assert told == "**holds**: a; b. **cannot be told**: c. **holds**: d"
    assert rows.verdicts([]) == "—"


def test_few_topics_tell_nothing():
    assert ferrante2014.quantity("MSLR", "few of grade 2", "0.2 0.2 0.6", "GAP with AP")[2] == 3
    assert ferrante2014.verdict("MSLR", "few of grade 2", "0.2 0.2 0.6", ferrante2014.NEARER) == "cannot be told"


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


def test_the_page_can_be_read(text):
    assert len(text.splitlines()) < 300
    assert text.count("<details>") == text.count("</details>") > 5
    for line in text.splitlines():
        if line.startswith("|"):
            assert line.endswith("|"), line
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
