# ruff: noqa: E501  (the page's own text)
"""PAPERS.md and its pictures, from saved results alone."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.studies.papers import ferrante2014, figures, qin2008, robertson2010, yilmaz2009
from benchmarks.studies.papers.grid import COLLECTIONS, means
from benchmarks.studies.papers.results import load
from benchmarks.studies.papers.rows import VERDICTS, as_table, rows_of
from benchmarks.studies.tables import folded, table

PAGE = Path(__file__).parents[2] / "PAPERS.md"

HEAD = """# The papers, item by item

Every numbered table, figure, theorem and worked example of the four papers: what it shows, what gapboost gives on which data, and
what that says of the paper's claim. **done**: as in the paper; **in kind**: on other data, as said; **not possible here**: with the
reason.

Three verdicts, from errors and not from signs: a claim **holds** where the 95 % interval of the quantity that it is about lies on
its side, is **contradicted** where it lies on the other, and **cannot be told** otherwise. Systems: intervals over topics, drawn
with replacement; fewer than ten topics tell nothing. Rankers: Student's t over five folds. Of many cells one is *contradicted* only
after Holm's correction over them, and that two things are alike holds within a margin that is named. So of {claims} claims
{verdicts}. Most *cannot be told* say that public collections are small: 3 to 467 topics, 106 or 1 692 queries.

```sh
pip install 'gapboost[all]'
python -m benchmarks.studies.papers            # computes what is not saved; an interrupted run goes on where it was
python -m benchmarks.studies.papers --redraw   # this page and its pictures alone, from studies/papers/results/*.csv
```

Python 3.11, numpy 2.4, scipy 1.17, LightGBM 4.7.0, XGBoost 3.2.0, everything seeded. Data: OHSUMED in LETOR's five folds; MQ2007 (85 % of
its documents) in five random parts; TREC 12 (2003) Robust track, topics 601 to 650, with 12 of its runs; DBpedia-Entity v2 with 20 runs; a
fragment of MSLR-WEB and OHSUMED, whose features are systems where they rank. Few systems make tau coarse: one swap of two of 9 moves it by .06.
Ties count by expected value, except where one list is needed, which has trec_eval's order. On every run and topic of Robust AP, P@10 and
nDCG are trec_eval's to 1e-9 (tested).

**Which nDCG.** Whole lists have gains 2^i − 1 and the discount log2(n + 1) unless said otherwise. Table 2 of [robertson2010] fits linear
gains, `nDCG(k=10, gains="linear")`. [qin2008] writes log2(1 + n), but its numbers on OHSUMED fit LETOR's tables, which is an inference of ours: the
discount 1, 1, 1/log2 3, ..., 0 for lists of less than k documents, tied documents in the order of their lines:
`nDCG(k=10, discount_by="letor", short_is_zero=True)` with `evaluate(..., ties="row")`.
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
relevant documents. That is why the error of highly relevant documents is largest in the middle. "R documents of each grade" are here
those in the list; the others enter through the recall base alone.
""",
    "[ferrante2014]: xGAP and eGAP": """Figures 1 and 2: tau at 10 and 5 % of the judgements, mean of 50 draws of judgements and topics. Judgements
are drawn by topic and grade, at least one of each kept. Tau for every g with AP, nDCG, RBP and bpref: `studies/papers/results/correlation.csv`.
""",
    "[yilmaz2009]: which measure to train for": """Tables 2 and 3: by the measure of the top, t over five folds; the round is chosen by the training
measure, which makes no difference in the paper. Ours stand in [every training](#every-training).
""",
    "[qin2008]: approximated measures": """Figures 1 to 3: mean distance over the training queries of fold 1 after the last epoch of Algorithm 1, on OHSUMED
200, as in the paper, on MQ2007 10. The theorems assume scores that differ; `approximation_bound` says NaN for queries with
equal ones. At the first epochs of Algorithm 1 they nearly do.
""",
}

TESTED = ("nDCG", "nDCG, LETOR", "AP", "GAP", "nDCG@10", "nDCG@10, linear gain", "P@10")

TRAININGS = """## Every training

Test means of five folds; setting and round are chosen on validation by the training measure. From them come Tables 1 and 2 of [robertson2010], Tables 2
and 3 and sections 3.3, 5 of [yilmaz2009], and what [qin2008]'s rows say of gblinear. Training for nDCG by SoftRank took too long on MQ2007, whose queries
are not the papers', so there the order alone can be compared.
"""

ERRATA = """## Errata of the papers

* [ferrante2014], section 3: Jensen's inequality is printed as E[1/X] < 1/E[X]; for a positive random variable that is not constant it is
  E[1/X] > 1/E[X]. What follows from it, that GAP is not E[AP], stays.
* [ferrante2014], after eq. 7: P[X = n | K = k] is 1/RB(k) where the document is relevant; the factor g_k printed beside it is counted in eq. 7
  already.
* [qin2008], Theorem 3: with two documents it is an equality, so < should be ≤ (and in Corollary 4).
* [yilmaz2009], section 4.1.1: the derivative of PC(k) by one score goes through the rank distributions of all documents, which move with it; the
  chain rule as printed has that of one. `SoftRank` takes the sum over all.
"""

CHOICES = """## Choices that the papers leave open

**The hessian** of SoftRank and ApproxRank. The second derivative of a smooth measure is negative wherever a pair is in the wrong order,
so something positive stands in for it: the sum of the absolute pushes of its pairs, times the steepest slope of pi, which bounds the step
of a document by the width of pi. Means over two folds of OHSUMED, GAP, LightGBM, 50 rounds of 15 leaves, learning rate 0.1, best round
on validation. With the default beta every hessian raises the smooth training value in every round. A constant one, the textbook's, and the
mean of the query's pushes climb fastest, towards the training queries; two folds tell none of them from pushes on test. The library sums
pushes by grade, not by pair, which needs no loop over pairs.

**The smoothing is absolute**, not relative to the spread of a query's scores: at the first iteration there is no spread, and since scores
grow while boosting, an absolute smoothing sharpens by itself. sigma and alpha are units: with `normalize=True` a change of either
multiplies the scores and changes nothing else, as long as the booster's penalties do not act. **beta** is the one that matters for AP and
its graded kin: a sharp comparison of ranks that differ by less than 1 / beta rewards documents for standing in whatever order they have.
4 / n makes it as smooth as that of scores, at any list length; for an estimate of the measure set alpha and beta high, as [qin2008] does.
**SoftRank with a cut-off starts on a plateau**, where a document is within the first 10 of 150 with probability 1e-30; `normalize`
scales its gradients up, and training takes off.

What a pass costs stands in [README.md](README.md#lambdarank-softrank-approxrank).
"""


def trainings() -> Iterator[str]:
    """Tables of test means, which several papers' rows are read from."""
    for collection in COLLECTIONS:
        t = means(collection)
        columns = [name for name in TESTED if name in t]
        body = [[*key, *(f"{r[c]:.4f}" for c in columns), f"{r['round']:.0f}"] for key, r in t.iterrows()]
        yield folded(collection, table(["model", "objective", "trained for", *columns, "round"], body))


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


def text() -> str:
    """The page."""
    rows = {title: rows_of(paper) for title, paper in TITLES}
    claims = Counter(claim.verdict for of_paper in rows.values() for row in of_paper for claim in row.claims)
    told = [f"{claims[verdict]} {verdict}" for verdict in VERDICTS]
    verdicts = (
        f"{told[0].replace('holds', 'hold')}, {told[1].replace('contradicted', 'are contradicted')} and {told[2]}"
    )
    parts = [HEAD.replace("{claims}", str(claims.total())).replace("{verdicts}", verdicts)]
    for title, paper in TITLES:
        parts += [f"## {title}\n", as_table(rows[title]) + "\n", READING.get(title, ""), *paper.details()]
    parts += [TRAININGS, *trainings(), ERRATA, CHOICES, *choices()]
    return "\n".join(part for part in parts if part).rstrip() + "\n"


def write() -> None:
    """Write the page and draw the pictures."""
    PAGE.write_text(text(), encoding="utf-8")
    figures.draw_all()
