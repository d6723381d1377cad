"""Numbers that pages print are those that the code gives, on the data that they name."""

import ast
import csv
import re
from pathlib import Path

import numpy as np
import pytest
from blocks import run, sections
from pages import in_one_line, plain, text
from threadpoolctl import threadpool_limits

import gapboost as gb
from gapboost.measures import as_measure

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "docs" / "index.md",
    *sorted((ROOT / "docs" / "guide").glob("*.md")),
]
THEORY = in_one_line("docs/theory.md")
# A test has neighbors.
ONE_THREAD = {"LGBMGAPRanker(": "LGBMGAPRanker(n_jobs=1, verbose=-1, "}


def printed(block):
    """Yield the source of each expression whose comment shows named numbers, and the numbers."""
    lines = block.code.splitlines()
    for node in ast.parse(block.code).body:
        comment = re.search(r"#\s*(\{['\"\d].*?\})", lines[node.end_lineno - 1])
        if isinstance(node, ast.Expr) and comment:
            shown = ast.literal_eval(comment[1].replace(", ...}", "}"))
            if ... not in shown.values():
                yield ast.get_source_segment(block.code, node), shown


SECTIONS = [
    section
    for page in PAGES
    for section in sections(page)
    if any(list(printed(b)) for b in section.of("python"))
]


def test_what_is_printed_is_found():
    """The test below would be content with nothing."""
    assert [section.title for section in SECTIONS] == [
        "GAP in five minutes",
        "Which nDCG is whose",
        "Clicks",
    ]


def digits(number):
    """Return the number of decimals that a page shows."""
    return len(str(number).partition(".")[2])


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.title)
@pytest.mark.filterwarnings("ignore")
def test_printed_values(section):
    blocks = section.of("python")
    with threadpool_limits(1):
        trains = any("LGBMGAPRanker(" in block.code for block in blocks)
        names = run(blocks, instead=ONE_THREAD if trains else None)
        for block in blocks:
            for source, shown in printed(block):
                found = eval(source, names)
                for key, value in shown.items():
                    same = (
                        value
                        if not isinstance(value, float)
                        else pytest.approx(value, abs=0.51 * 10 ** -digits(value))
                    )
                    assert found[key] == same, source


def test_gap_by_hand():
    """Users on the page have the average precision of its table, and GAP is their weighted mean."""
    page = in_one_line("docs/guide/gap_in_five_minutes.md")
    g = (0.5, 0.5)
    for ranking, shown in (
        ((1, 0, 2), "(1 × {} + .5 × {}) / (1 + .5)"),
        ((2, 0, 1), "(1 × {} + .5 × {}) / 1.5"),
    ):
        scores = -np.arange(3.0)
        aps = [gb.evaluate(gb.AP(rel=k), ranking, scores)[gb.AP(rel=k)] for k in (1, 2)]
        gap = gb.evaluate(gb.GAP(g=g), ranking, scores)[gb.GAP(g=g)]
        assert gap == pytest.approx((0.5 * 2 * aps[0] + 0.5 * 1 * aps[1]) / (0.5 * 2 + 0.5 * 1))
        by_hand = shown.format(*(text(ap).replace("1.000", "1") for ap in aps))
        assert f"GAP = {by_hand} = {text(gap)}." in page
        assert text(aps[0]) == ".833"
    assert "1, 0, 2 and the better ranking 2, 0, 1 the same value: .833." in page
    assert "| (1 + 2/3) / 2 = .833 | (1/3) / 1 = .333 |" in page
    assert "If all users accept grade 1, `g=(1, 0)`, GAP is AP." in page
    ap, gap = gb.evaluate([gb.AP(), gb.GAP(g=(1, 0))], [1, 0, 2], [3.0, 2.0, 1.0]).values()
    assert gap == pytest.approx(ap)
    (perfect,) = gb.evaluate(gb.GAP(g=g), [2, 1, 0], [3.0, 2.0, 1.0]).values()
    assert "A perfect ranking has GAP 1." in page
    assert perfect == pytest.approx(1)


def test_examples_of_the_theory():
    nine_and_one = [1] * 9 + [2], -np.arange(10.0)
    values = gb.evaluate([gb.GAP(g=(0.1, 0.9)), gb.eGAP(g=(0.1, 0.9))], *nine_and_one).values()
    gap, egap = map(text, values)
    assert f"That is {egap} in expectation, eGAP, and GAP is {gap}" in THEORY
    ideal = gb.evaluate(
        [gb.GAP(g=(0.5, 0.5)), gb.xGAP(g=(0.5, 0.5)), gb.eGAP(g=(0.5, 0.5))], [1, 1], [2.0, 1.0]
    ).values()
    assert list(ideal) == pytest.approx([1, 0.5, 0.5])
    assert "has xGAP = eGAP = .5 at g = (.5, .5), and GAP 1" in THEORY
    u = np.exp([-2.0, -1.0])
    first, second = u / (1 + u)
    sums = ", ".join(text((u**k).sum(), 4) for k in (1, 2, 3))
    for part in (text(first, 4), text(second, 4), text(first + second, 4), sums):
        assert part in THEORY
    # The series of u / (1 + u), which the polynomial of the library improves on, comes to the same.
    terms = np.polynomial.chebyshev.Chebyshev.interpolate(lambda x: 1 / (1 + x), 11, domain=[0, 1])
    coefficients = terms.convert(kind=np.polynomial.Polynomial).coef
    total = sum(c * (u ** (k + 1)).sum() for k, c in enumerate(coefficients))
    assert total == pytest.approx(first + second, abs=1e-8)


def test_names_of_measures_on_the_page_of_evaluation():
    rows = re.findall(
        r"^\| (`\".*?) \| `(gb\..*?)`.* \|$", plain("docs/guide/evaluate.md"), re.MULTILINE
    )
    assert len(rows) == 5
    for names, value in rows:
        for name in re.findall(r"`\"(.*?)\"`", names):
            assert as_measure(name) == eval(value, {"gb": gb}), name


def test_how_much_queries_weigh():
    rng, how = np.random.default_rng(0), gb.LambdaRank(gb.GAP(g=(0.5, 0.5)))

    def weight(n, lists):
        qid = np.repeat(np.arange(lists), n)
        grad, _ = how.gradients(
            rng.integers(0, 3, len(qid)), rng.normal(size=len(qid)), qid, n_jobs=1
        )
        return np.abs(grad).sum() / lists

    few, many = (
        text(weight(n, lists), digits) for n, lists, digits in ((10, 10_000, 1), (10_000, 2, 0))
    )
    assert (
        f"sizes sum to about {few} in a list of 10 documents, and to {many} in one of 10 000"
        in THEORY
    )


def test_what_did_not_work_is_what_was_measured():
    """Each difference with four digits is also on the page that its row names."""
    rows = [
        line
        for line in plain("docs/tried.md").splitlines()
        if line.startswith("| ") and "](../benchmarks/" in line
    ]
    seen = 0
    for row in rows:
        measured = plain("docs/" + re.search(r"\]\(([^)]*)\)", row)[1])
        for sign, digits in re.findall(r"([+-])(\.\d{4})\b", row):
            assert f"{sign}0{digits}" in measured, row
            seen += 1
    assert seen >= 10


def test_what_did_not_work_in_round_numbers():
    tried = plain("docs/tried.md")
    worse = re.search(
        r"0(\.\d{3}) to 0(\.\d{3}) worse than without",
        plain("benchmarks/studies/effectiveness/defaults.md"),
    )
    assert f"{worse[1]} to {worse[2]} worse on OHSUMED" in tried


def test_the_effectiveness_study_in_round_numbers():
    """The landing page repeats the study's page with fewer digits."""
    page = plain("benchmarks/EFFECTIVENESS.md")

    def difference(first, second):
        """Return the first difference of the first table that has the two, in the mean of six."""
        row = next(line for line in page.splitlines() if f") | `{first}` | `{second}` |" in line)
        return float(re.search(r"[+-]0\.\d{4}", row)[0])

    landing = in_one_line("docs/index.md")
    leads = {
        text(difference(f"{ours}()", f"{theirs}()"))
        for ours, theirs in (("LGBMGAPRanker", "LGBMRanker"), ("XGBGAPRanker", "XGBRanker"))
    }
    assert f"ahead of `LGBMRanker()` and `XGBRanker()` by {leads.pop()} on these queries" in landing
    assert not leads
    lead = r"ollections as units, XGBoost(?:'s lead is inconclusive:| is) (\S+ \(\S+ to \S+\))"
    (printed,) = re.findall(lead, landing)
    assert re.findall(lead, in_one_line("benchmarks/EFFECTIVENESS.md")) == [printed]


def test_examples_of_the_measures():
    measures = gb.GAP(g=(0.5, 0.5)), gb.grAP(top=2)
    values = [
        gb.evaluate(measures, y, -np.arange(4.0)).values() for y in ([0, 2, 0, 1], [1, 0, 0, 2])
    ]
    gap, grap = (" and ".join(map(text, of)) for of in zip(*values, strict=True))
    page = in_one_line("docs/measures.md")
    assert f"prefers the second ({gap}), grAP with gains (0, .5, 1) the first ({grap})" in page


def test_the_tutorial_of_a_measure_without_its_cut_off():
    source = plain("docs/tutorials/07_your_own_measure.py")
    head, cut_off = source.split("\n# %%\n")[0], "        wanted = wanted if self.k is None"
    without = "\n".join(line for line in head.splitlines() if not line.startswith(cut_off))
    assert without != head
    printed = re.search(r"Without the line about `self.k` this would be (\.\d{3}):", source)[1]
    for code, value in ((head, 1.0), (without, float(printed))):
        names = {"__name__": "tutorial"}
        exec(code, names)
        (found,) = gb.evaluate(names["Zipf"](a=1.0, k=3), [2] * 8, -np.arange(8.0)).values()
        assert found == pytest.approx(value, abs=5e-4)


def timings(name, **chosen):
    """The chosen rows of the results of a timing."""
    lines = (
        (ROOT / "benchmarks" / "results" / f"{name}.csv")
        .read_text(encoding="utf-8")
        .splitlines()[1:]
    )
    rows = [
        row
        for row in csv.DictReader(lines)
        if all(row[key] == value for key, value in chosen.items())
    ]
    assert rows
    return rows


def test_times_in_words():
    """README and the landing page say in words what tables of benchmarks say in digits."""
    readme, landing = map(in_one_line, ("README.md", "docs/index.md"))
    passes = timings("gradients", contestant="gapboost (LightGBM)")
    ratios = {
        row["documents in each"]: float(row["time / peer's"])
        for row in passes
        if row["time / peer's"]
    }
    assert 0.8 < ratios.pop("10") < 1.25
    assert 0.4 < ratios.pop("100") < 0.6
    assert 0.3 < ratios.pop("2000") < 0.4
    assert not ratios
    assert (
        "On lists of 10, the exact LambdaRank gradient over all pairs costs about what the "
        "boosters' own costs." in readme
    )
    words = (
        "It costs about half of LightGBM's truncated one on lists of 100, and about a third on "
        "lists of 2000"
    )
    assert words in readme
    assert (
        "On lists of 100 the exact gradient costs about half of LightGBM's truncated one."
        in landing
    )
    searches = [float(row["time / peer's"]) for row in timings("search", contestant="GSearchCV")]
    assert len(searches) == 2
    assert all(0.05 < ratio < 0.15 for ratio in searches)
    assert "in a tenth of its time" in readme
    (row,) = timings("scale", lists="lists of 10", work="gradients", documents="10000000")
    assert float(row["s"]) < 1
    assert 400 < float(row["MB added"]) < 600
    assert "A gradient pass takes less than a second on two cores, and half a gigabyte." in landing
