"""PAPERS.md, `verdicts.csv` and the pictures, from saved results alone."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.studies.papers import (
    claims,
    ferrante2014,
    figures,
    qin2008,
    robertson2010,
    yilmaz2009,
)
from benchmarks.studies.papers.claims import CONTRADICTED, EXACT, HOLDS, Claim, Fact
from benchmarks.studies.papers.grid import COLLECTIONS, means
from benchmarks.studies.papers.results import load
from benchmarks.studies.tables import folded, table
from gapboost.analysis.estimates import INCONCLUSIVE

PAGE = Path(__file__).parents[2] / "PAPERS.md"
PAPERS = {
    robertson2010: "graded average precision",
    ferrante2014: "xGAP and eGAP",
    yilmaz2009: "which measure to train for",
    qin2008: "approximated measures",
}
TESTED = ("nDCG", "nDCG, LETOR", "AP", "GAP", "nDCG@10", "nDCG@10, linear gain", "P@10")


def trainings() -> Iterator[str]:
    """Yield tables of test means."""
    for collection in COLLECTIONS:
        t = means(collection)
        columns = [name for name in TESTED if name in t]
        body = [[*key, *(f"{r[c]:.4f}" for c in columns), f"{r['round']:.0f}"] for key, r in t.iterrows()]
        if collection == "OHSUMED":
            own = qin2008.algorithm().groupby(level="trained").mean()
            body += [
                ["Algorithm 1", "ApproxRank", name, *(f"{r[c]:.4f}" for c in columns), f"{r['epoch']:.0f}"]
                for name, r in own.iterrows()
            ]
        yield folded(collection, table(["model", "objective", "trained for", *columns, "round"], body))


def choices() -> Iterator[str]:
    """Yield tables of hessians and betas."""
    t = load("hessians")
    mean = t.drop(columns="fold").groupby(["objective", "hessian", "beta"], sort=False).mean().reset_index()
    decimals = {"rounds that fell": 1, "best round": 0}
    numbers = [column for column in mean if column not in ("objective", "hessian", "beta")]
    for column in numbers:
        mean[column] = [f"{value:.{decimals.get(column, 4)}f}" for value in mean[column]]
    default = mean[mean["beta"] == "default"][["objective", "hessian", *numbers]]
    beta = mean[(mean["objective"] == "ApproxRank") & (mean["hessian"] == "pushes")][["beta", *numbers]]
    for summary, shown in (("Hessians", default), ("beta of ApproxRank(GAP); the default is 4 / n", beta)):
        yield folded(summary, table(list(shown), shown.to_numpy().tolist()))


def judged() -> dict[str, tuple[list[Claim], list[Fact]]]:
    """Return the empirical and the mathematical claims of each paper."""
    return {paper.__name__.rpartition(".")[2]: (list(paper.claims()), list(paper.facts())) for paper in PAPERS}


def counts(found: dict[str, tuple[list[Claim], list[Fact]]]) -> str:
    """Return the table of verdicts."""
    verdicts, body = (HOLDS, CONTRADICTED, INCONCLUSIVE), []
    for name, (empirical, mathematical) in found.items():
        tally = Counter(claim.verdict for claim in empirical)
        exact = sum(fact.verdict == EXACT for fact in mathematical)
        body.append([f"[{name}]", len(empirical), *(tally[v] for v in verdicts), len(mathematical), exact])
    body.append(["all", *(sum(column) for column in zip(*(row[1:] for row in body), strict=True))])
    head = [
        "paper",
        "empirical claims",
        "hold",
        "are contradicted",
        "are inconclusive",
        "mathematical claims",
        "are exact",
    ]
    return table(head, [list(map(str, row)) for row in body])


def text() -> str:
    """Return the page."""
    template = (Path(__file__).parent / "page.template").read_text(encoding="utf-8")
    found = judged()
    filled = {
        "counts": counts(found),
        "trainings": "\n".join(trainings()),
        "choices": "\n".join(choices()),
    }
    for paper in PAPERS:
        name = paper.__name__.rpartition(".")[2]
        filled[name] = claims.tables(*found[name], name)
        filled[f"{name}: details"] = "\n".join(paper.details())
    for name, part in filled.items():
        template = template.replace(f"<!-- {name} -->", part.rstrip())
    return template


def write() -> None:
    """Write the page and draw the pictures."""
    PAGE.write_text(text(), encoding="utf-8")
    figures.draw_all()
