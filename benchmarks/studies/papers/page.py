"""The tables of PAPERS.md, and `estimates.csv` and `counts.csv`, from saved results."""

from dataclasses import asdict
from pathlib import Path

import pandas as pd

from benchmarks.harness import signed, table, write
from benchmarks.studies.papers.claims import CONTRADICTED, HERE, HOLDS, claims
from benchmarks.studies.papers.results import RESULTS, load
from gapboost.analysis.estimates import INCONCLUSIVE

PAGE = Path(__file__).parents[2] / "PAPERS.md"
PAPERS = ("robertson2010", "ferrante2014", "yilmaz2009", "qin2008")
EXACT = "exact"
SHOWN = ("nDCG", "nDCG, LETOR", "AP", "GAP", "nDCG@10", "nDCG@10, linear gain", "P@10")
# Systems of the table for section 7 of [ferrante2014]: all, or the best.
SYSTEMS = (("Robust", 0), ("DBpedia", 0), ("DBpedia", 10))


def estimates() -> pd.DataFrame:
    """Return one row for each empirical claim: its quantity, interval and verdict."""
    rows = []
    for claim in claims():
        row, result = asdict(claim), claim.result()
        row = {name: row[name] for name in ("paper", "place", "about", "data", "quantity")}
        rows.append(row | asdict(result) | {"verdict": result.verdict(claim.margin)})
    return pd.DataFrame(rows)


def facts() -> pd.DataFrame:
    """Return the mathematical claims with their verdicts."""
    rows = pd.read_csv(HERE / "facts.csv")
    rows["verdict"] = [f"differs by {d:.1g}" if d else EXACT for d in rows["difference"]]
    return rows


def counts(judged: pd.DataFrame, exact: pd.DataFrame) -> pd.DataFrame:
    """Return the number of claims by verdict: of each paper, of all, and of those about rankers."""
    words = {"hold": HOLDS, "are contradicted": CONTRADICTED, "are inconclusive": INCONCLUSIVE}
    parts = {f"[{name}]": (judged["paper"] == name, exact["paper"] == name) for name in PAPERS}
    parts["all"] = (judged["paper"] != "", exact["paper"] != "")
    parts["rankers"] = (judged["about"] == "rankers", exact["paper"] == "")
    rows = []
    for name, (empirical, mathematical) in parts.items():
        verdicts = judged.loc[empirical, "verdict"]
        row = {"paper": name, "empirical claims": len(verdicts)}
        row |= {head: int((verdicts == word).sum()) for head, word in words.items()}
        verdicts = exact.loc[mathematical, "verdict"]
        row |= {"mathematical claims": len(verdicts), "are exact": int((verdicts == EXACT).sum())}
        rows.append(row)
    return pd.DataFrame(rows)


def markdown(rows: pd.DataFrame) -> str:
    """Return rows as a table."""
    return table(list(rows), rows.astype(str).to_numpy().tolist())


def of_paper(paper: str, judged: pd.DataFrame, exact: pd.DataFrame) -> str:
    """Return the tables of claims of one paper."""
    body = []
    for claim, row in zip(claims(), judged.itertuples(), strict=True):
        if claim.paper == paper:
            value, low, high = (signed(x, claim.digits) for x in (row.value, row.low, row.high))
            verdict = row.verdict + (f", ± {claim.margin:g}" if claim.margin else "")
            cells = [claim.place, claim.data, claim.quantity, claim.stated, value]
            body.append([*cells, f"({low} … {high})", str(row.family), verdict])
    head = ["place", "data", "quantity", "paper", "ours", "interval", "family", "verdict"]
    names = {"claim": "mathematical claim", "item": "place", "shows": "content"}
    mathematical = exact[exact["paper"] == paper].drop(columns=["paper", "difference"])
    items = pd.read_csv(HERE / "items.csv")
    items = items[items["paper"] == paper].drop(columns="paper")
    parts = {
        "Empirical claims": table(head, body),
        "Mathematical claims": markdown(mathematical.rename(columns=names)),
        "Items without a verdict": markdown(items.rename(columns=names)),
    }
    return "\n\n".join(f"### {title}\n\n{text}" for title, text in parts.items())


def trained(collection: str) -> pd.DataFrame:
    """Return test means over folds by model, objective and training measure."""
    rows = load(f"trained_{collection.lower()}")
    best = rows.groupby(["fold", "model", "trained", "objective"])["validation"].idxmax()
    return rows.loc[best].groupby(["model", "objective", "trained"]).mean()


def algorithm_1() -> pd.DataFrame:
    """Return test means over folds of Algorithm 1 of [qin2008] on OHSUMED."""
    rows = load("approx_linear")
    best = rows.loc[rows.groupby(["fold", "trained"])["validation"].idxmax()]
    best = best.assign(model="Algorithm 1", objective="ApproxRank", round=best["epoch"])
    return best.groupby(["model", "objective", "trained"]).mean()


def trainings(collection: str) -> str:
    """Return the table of test means of one collection."""
    means = trained(collection)
    if collection == "OHSUMED":
        means = pd.concat([means, algorithm_1()])
    body = []
    for key, row in means.iterrows():
        body.append([*key, *(f"{row[name]:.4f}" for name in SHOWN), f"{row['round']:.0f}"])
    return table(["model", "objective", "trained for", *SHOWN, "round"], body)


def distances() -> str:
    """Return how far the cells of Table 2 of [robertson2010] are from ours, by test measure."""
    stated = pd.read_csv(HERE / "tables" / "robertson2010.csv", index_col=[0, 1])
    ours, body = trained("OHSUMED"), []
    for test in ("nDCG@10", "nDCG@10, linear gain", "AP", "P@10"):
        column = stated[f"Table 2: {test.partition(',')[0]}"]
        here = (ours.loc[model, test].reindex(column.index) for model in ("linear", "trees"))
        apart = pd.concat([(values - column).abs() for values in here])
        body.append([test, f"{apart.mean():.3f}"])
    return table(["measure", "distance"], body)


def told_apart() -> str:
    """Return the shares of pairs of systems with a significance level below .05."""
    measures = ["GAP", "xGAP", "eGAP", "AP"]
    rows, body = load("discrimination").dropna(subset="asl"), []
    for name, top in SYSTEMS:
        of = rows[(rows["collection"] == name) & (rows["top"] == top)]
        shares = (of["asl"] < 0.05).groupby(of["measure"]).mean()
        kept = f"{name}, {f'best {top}' if top else 'all'}"
        body.append([kept, *(f"{shares[measure]:.0%}" for measure in measures)])
    return table(["systems", *measures], body)


def parts(judged: pd.DataFrame) -> dict[str, str]:
    """Return the parts of the page that are written from results, by the name of their marker."""
    exact = facts()
    shown = counts(judged, exact)
    found = {"counts": markdown(shown[shown["paper"] != "rankers"])}
    found |= {paper: of_paper(paper, judged, exact) for paper in PAPERS}
    found |= {"distances": distances(), "pairs told apart": told_apart()}
    return found | {f"trainings on {name}": trainings(name) for name in ("OHSUMED", "MQ2007")}


def write_page() -> None:
    """Write the tables of the page, the estimates and their counts."""
    judged = estimates()
    judged.to_csv(RESULTS / "estimates.csv", index=False, float_format="%.6g")
    counts(judged, facts()).to_csv(RESULTS / "counts.csv", index=False)
    for name, text in parts(judged).items():
        write(name, text, PAGE)
