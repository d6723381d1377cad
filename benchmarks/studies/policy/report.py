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
        real = selves[selves["queries"] == n]
        alarms = real["verdict"] != INCONCLUSIVE
        family = ["collection", "ranker", "draw", "measure"]
        families = (
            (real["of the family of six"] != INCONCLUSIVE)
            .groupby([real[name] for name in family])
            .any()
        )
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
    rows = []
    for name in ("seeds", *CANDIDATES):
        alarms, power = (
            simulated.groupby("queries")[f"{what} of {name}"].mean() for what in ("alarms", "power")
        )
        rows.append(
            [
                NAMES[name],
                *(f"{value:.3f}" for value in alarms),
                *(f"{value:.2f}" for value in power),
            ]
        )
    sizes = [f"{n:,}" for n in sorted(set(simulated["queries"]))]
    head = [
        "estimate",
        *(f"alarms, {n} queries" for n in sizes),
        *(f"power, {n} queries" for n in sizes),
    ]
    return table(head, rows)


def by_collection(simulated: pd.DataFrame) -> str:
    """Return simulated false alarms for each collection's components."""
    means = simulated.groupby(["collection", "queries"])["alarms of repeats"].mean().unstack()
    rows = [[f"`{name}`", *(f"{value:.3f}" for value in row)] for name, row in means.iterrows()]
    return table(["components of", *(f"{n:,} queries" for n in means.columns)], rows)


def agreement(halves: pd.DataFrame) -> str:
    """Return how often the other half of the queries agrees with a verdict."""
    key = ["collection", "draw", "ranker", "measure"]
    differences = halves.set_index([*key, "half"])["difference"].unstack()
    verdicts = halves.set_index([*key, "half"])["verdict"].unstack()
    rows = []
    for name in sorted(set(halves["collection"])):
        decided = same = 0
        for half, other in ((0, 1), (1, 0)):
            here = verdicts.loc[name][half] != INCONCLUSIVE
            decided += int(here.sum())
            same += int(
                (differences.loc[name][half] * differences.loc[name][other] > 0)[here].sum()
            )
        of = halves[halves["collection"] == name]
        rows.append(
            [
                f"`{name}`", str(of["draw"].nunique()), f"{of['queries'].iloc[0]}", f"{len(of):,}",
                str(decided), share_text(same, decided),
            ]
        )  # fmt: skip
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
