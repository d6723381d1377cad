"""Tables of POLICY.md, from the saved results."""

from pathlib import Path

import pandas as pd

from benchmarks.harness import table, write
from benchmarks.studies.policy.simulation import CANDIDATES
from benchmarks.studies.records import Records
from gapboost.analysis.estimates import INCONCLUSIVE

NAMES = {
    "seeds": "seeds (before)",
    "repeats": "repeats, two-way clusters (now)",
    "components": "repeats, components",
    "corrected components": "repeats, components with Nadeau and Bengio's correction",
    "components with allowance": "repeats, components with an allowance for training queries",
}
PAGE = Path(__file__).parents[2] / "POLICY.md"


def share_text(hits: int, n: int) -> str:
    """Return a share and its counts."""
    return f"{hits / n:.3f} ({hits:,} of {n:,})"


def false_alarms(simulated: pd.DataFrame, selves: pd.DataFrame) -> str:
    """Return the table of false alarms and power by the number of queries."""
    rows = []
    for n, found in simulated.groupby("queries"):
        real = selves[selves["queries"] == n].set_index(["collection", "ranker", "draw", "measure"])
        alarms = real["verdict"] != INCONCLUSIVE
        of_families = real["of the family of six"] != INCONCLUSIVE
        families = of_families.groupby(level=[0, 1, 2, 3]).any()
        before, after = found["power of seeds"].mean(), found["power of repeats"].mean()
        rows.append(
            [
                f"{n:,}", f"{found['alarms of seeds'].mean():.3f}",
                f"{found['alarms of repeats'].mean():.3f}",
                share_text(int(alarms.sum()), len(alarms)),
                share_text(int(families.sum()), len(families)), f"{before:.2f}", f"{after:.2f}",
                f"{after / before:.2f}",
            ]
        )  # fmt: skip
    head = [
        "queries", "simulated, before", "simulated, now", "real pairs", "real families of six",
        "power before", "power now", "ratio",
    ]  # fmt: skip
    return table(head, rows)


def estimates(simulated: pd.DataFrame) -> str:
    """Return the table of the estimates that were compared."""
    means, rows = simulated.groupby("queries").mean(numeric_only=True), []
    for name in ("seeds", *CANDIDATES):
        alarms = [f"{share:.3f}" for share in means[f"alarms of {name}"]]
        power = [f"{share:.2f}" for share in means[f"power of {name}"]]
        rows.append([NAMES[name], *alarms, *power])
    head = [f"{what}, {n:,} queries" for what in ("alarms", "power") for n in means.index]
    return table(["estimate", *head], rows)


def by_collection(simulated: pd.DataFrame) -> str:
    """Return simulated false alarms for each collection's components."""
    means = simulated.groupby(["collection", "queries"])["alarms of repeats"].mean().unstack()
    rows = [[f"`{name}`", *(f"{value:.3f}" for value in row)] for name, row in means.iterrows()]
    return table(["components of", *(f"{n:,} queries" for n in means.columns)], rows)


def agreement(halves: pd.DataFrame) -> str:
    """Return how often the other half of the queries agrees with a verdict."""
    key = ["draw", "ranker", "measure"]
    rows = []
    for name, of in halves.groupby("collection"):
        differences, verdicts = (
            of.pivot(index=key, columns="half", values=value) for value in ("difference", "verdict")
        )
        decided = verdicts != INCONCLUSIVE
        same = decided[differences[0] * differences[1] > 0].to_numpy().sum()
        n, row = int(decided.to_numpy().sum()), [f"`{name}`", str(of["draw"].nunique())]
        row += [str(of["queries"].iloc[0]), f"{len(of):,}", str(n), share_text(int(same), n)]
        rows.append(row)
    head = ["collection", "halvings", "queries of a half", "comparisons", "ahead or behind"]
    head.append("the other half has the same sign")
    return table(head, rows)


def write_page(simulated: Records, selves: Records, halves: Records, page: Path = PAGE) -> None:
    """Write the tables between the markers of the page."""
    of_simulation = pd.read_csv(simulated.path)
    write("false alarms", false_alarms(of_simulation, pd.read_csv(selves.path)), page)
    write("estimates", estimates(of_simulation), page)
    write("by collection", by_collection(of_simulation), page)
    write("halves", agreement(pd.read_csv(halves.path)), page)
