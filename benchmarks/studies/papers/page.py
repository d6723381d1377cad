# ruff: noqa: E501  (the page's own text)
"""PAPERS.md and its pictures, from saved results alone."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.studies.papers import ferrante2014, figures, qin2008, robertson2010, yilmaz2009
from benchmarks.studies.papers.results import load
from benchmarks.studies.papers.rows import as_table, folded, rows_of, table

PAGE = Path(__file__).parents[2] / "PAPERS.md"

HEAD = """# The papers, item by item

```sh
pip install 'gapboost[all]'
python -m benchmarks.studies.papers            # computes what is not saved; an interrupted run goes on where it was
python -m benchmarks.studies.papers --redraw   # this page and its pictures alone, from studies/papers/results/*.csv
```

Every numbered table, figure, theorem and worked example of the four papers: what it shows, what gapboost gives on which data, and
whether the claim holds there. **done**: as in the paper; **in kind**: on other data, as said; **not possible here**: with the
reason. gapboost's numbers in tables and pictures are read from `benchmarks/studies/papers/results`, and a test holds the page to them.

Python 3.11, numpy 2.4, scipy 1.17, LightGBM 4.7.0, XGBoost 3.2.0, 2026-11-20 to 22, everything seeded. Data: OHSUMED in LETOR's five
folds; MQ2007 (85 % of its documents) in five random parts; TREC 12 (2003) Robust track, topics 601 to 650, with 12 of its runs;
DBpedia-Entity v2 with 20 runs; a fragment of MSLR-WEB, whose retrieval scores are systems. Few systems make tau coarse: one swap of two of 9 systems moves it by 0.06.
Ties count by expected value, except where one list is needed, which has trec_eval's order. On every run and topic of Robust AP, P@10 and
nDCG are trec_eval's to 1e-9 (tested).

**Which nDCG.** Whole lists have gains 2^i − 1 and the discount log2(n + 1) unless said otherwise. Table 2 of [robertson2010] fits linear
gains, `nDCG(k=10, gains="linear")`. LETOR's tables, and [qin2008], have the discount 1, 1, 1/log2 3, ..., count a list of less than k
documents 0 and keep tied documents in the order of their lines: `nDCG(k=10, discount_by="letor", short_is_zero=True)` with
`evaluate(..., ties="row")`.
"""

TITLES = (
    ("[robertson2010]: graded average precision", robertson2010),
    ("[ferrante2014]: xGAP and eGAP", ferrante2014),
    ("[yilmaz2009]: which measure to train for", yilmaz2009),
    ("[qin2008]: approximated measures", qin2008),
)

READING = {
    "[robertson2010]: graded average precision": """A value of GAP can be reached with relevant or with highly relevant documents near the
top, and for middling g entropy prefers the latter, because it takes fewer of them; real systems hardly rank by grade within the
relevant documents. That is why the right panel rises in the middle; a general solver (SLSQP) found the same distributions on short
lists. "R documents of each grade" are here those in the list; the others enter through the recall base alone.
""",
    "[ferrante2014]: xGAP and eGAP": "",
    "[yilmaz2009]: which measure to train for": "",
    "[qin2008]: approximated measures": """The theorems assume scores that differ; `approximation_bound` says NaN for queries with
equal ones. At the first epochs of Algorithm 1 they nearly do.
""",
}

CHOICES = """## Choices that the papers leave open

**The hessian** of SoftRank and ApproxRank. The second derivative of a smooth measure is negative wherever a pair is in the wrong order,
so something positive stands in for it: the sum of the absolute pushes of its pairs, times the steepest slope of pi, which bounds the step
of a document by the width of pi. Means over two folds of OHSUMED, GAP, LightGBM, 50 rounds of 15 leaves, learning rate 0.1, best round
on validation. Every hessian raises the smooth training value in every round. A constant one, the textbook's, and the query's mean climb
fastest, towards the training queries; pushes, the query's mean and the absolute gradient cannot be told apart on test. The library sums
pushes by grade, not by pair, which needs no loop over pairs; the difference is some thousandths at most (kept from 2026-11-22).

**The smoothing is absolute**, not relative to the spread of a query's scores: at the first iteration there is no spread, and since scores
grow while boosting, an absolute smoothing sharpens by itself. sigma and alpha are units: with `normalize=True` a change of either
multiplies the scores and changes nothing else, as long as the booster's penalties do not act. **beta** is the one that matters for AP and
its graded kin: a sharp comparison of ranks that differ by less than 1 / beta rewards documents for standing in whatever order they have.
4 / n makes it as smooth as that of scores, at any list length; for an estimate of the measure set alpha and beta high, as [qin2008] does.
**SoftRank with a cut-off starts on a plateau**, where a document is within the first 10 of 150 with probability 1e-30; `normalize`
scales its gradients up, and training takes off.

What a pass costs stands in [README.md](README.md#lambdarank-softrank-approxrank).
"""


def choices() -> Iterator[str]:
    """Tables of hessians and betas."""
    t = load("hessians")
    means = t.drop(columns="fold").groupby(["objective", "hessian", "beta"], sort=False).mean().reset_index()
    decimals = {"rounds that fell": 1, "best round": 0}
    numbers = [column for column in means if column not in ("objective", "hessian", "beta")]
    for column in numbers:
        means[column] = [f"{value:.{decimals.get(column, 4)}f}" for value in means[column]]
    default = means[means["beta"] == "default"][["objective", "hessian", *numbers]]
    beta = means[(means["objective"] == "ApproxRank") & (means["hessian"] == "pushes")][["beta", *numbers]]
    for summary, shown in (("Hessians", default), ("beta of ApproxRank(GAP); the default is 4 / n", beta)):
        yield folded(summary, table(list(shown), shown.to_numpy().tolist()))
    pairs = load("kept_hessians_by_grade").astype(str)
    yield folded("By grade beside by pair", table(list(pairs), pairs.to_numpy().tolist()))


def text() -> str:
    """The page."""
    parts = [HEAD]
    for title, paper in TITLES:
        parts += [f"## {title}\n", as_table(rows_of(paper)) + "\n", READING[title], *paper.details()]
    parts += [CHOICES, *choices()]
    return "\n".join(part for part in parts if part).rstrip() + "\n"


def write() -> None:
    """Write the page and draw the pictures."""
    PAGE.write_text(text(), encoding="utf-8")
    figures.draw_all()
