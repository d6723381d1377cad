# ruff: noqa: E501  (sentences of the page)
"""Rows of [ferrante2014]: xGAP and eGAP."""

from collections.abc import Iterator

import pandas as pd

from benchmarks.studies.papers.results import load
from benchmarks.studies.papers.rows import folded, markdown, table, verdict

FAMILIES = ("GAP", "xGAP", "eGAP")


def taus(collection: str, runs: int, topics: str) -> pd.DataFrame:
    """Kendall's tau by g and measure."""
    t = load("correlation")
    chosen = (t["collection"] == collection) & (t["runs"] == runs) & (t["topics"] == topics)
    return t[chosen].set_index(["g", "measure"])


def three(t: pd.DataFrame, g: str, other: str) -> str:
    """Tau of GAP, xGAP and eGAP with another measure."""
    return " / ".join(f"{t.loc[(g, family), other]:.2f}" for family in FAMILIES)


def nearer(t: pd.DataFrame, g: str, other: str) -> bool:
    """Whether GAP is nearer to another measure than xGAP and eGAP are."""
    return bool(t.loc[(g, "GAP"), other] > max(t.loc[(g, "xGAP"), other], t.loc[(g, "eGAP"), other]))


def table_2() -> tuple[str, str]:
    """Three grades."""
    cells, high, ndcg = [], [], []
    for name, runs in (("Robust", 9), ("DBpedia", 15)):
        every, few = taus(name, runs, "all"), taus(name, runs, "few of grade 2")
        cells.append(
            f"{name}: {three(every, '0.1 0.9', 'AP')} on all topics, {three(few, '0.1 0.9', 'AP')} on the {few['of topics'].iloc[0]}"
        )
        high.append(nearer(every, "0.1 0.9", "AP") and nearer(few, "0.1 0.9", "AP"))
        ndcg.append([g for g in ("0.1 0.9", "0.2 0.8", "0.3 0.7", "0.4 0.6", "0.5 0.5") if nearer(few, g, "nDCG")])
    at = [", ".join(g.split()[0] for g in gs) or "no g_1" for gs in ndcg]
    return (
        "tau with AP at g = (0.1, 0.9), GAP / xGAP / eGAP, runs above the first quartile of MAP. " + "; ".join(cells)
    ), (
        f"GAP is close to AP from the smallest g_1 on, xGAP and eGAP are not: {verdict(all(high))}. With few highly relevant documents "
        f"GAP is nearer to nDCG at low g_1: on Robust at g_1 = {at[0]} alone, on DBpedia at {at[1]}"
    )


def table_3() -> tuple[str, str]:
    """Four grades."""
    every, few = taus("MSLR", 18, "all"), taus("MSLR", 18, "few of grade 3")
    g = "0.2 0.2 0.6"
    return (
        f"MSLR, {three(every, g, 'AP')} on all topics (paper 0.94 / 0.62 / 0.61), {three(few, g, 'AP')} on the "
        f"{few['of topics'].iloc[0]} with few of the highest grade (paper 0.94 / 0.34 / 0.31)"
    ), f"GAP follows AP, xGAP and eGAP do not: {verdict(nearer(every, g, 'AP') and nearer(few, g, 'AP'))}"


def kept(name: str, topics: str) -> pd.DataFrame:
    """Tau by measure and share of judgements."""
    t = pd.concat([load("robustness"), load("kept_robustness")])
    return t[(t["collection"] == name) & (t["topics"] == topics)].pivot(index="measure", columns="kept", values="tau")


def robust(name: str, topics: str) -> tuple[str, bool, bool]:
    """Tau at a tenth and a twentieth of the judgements; whether nDCG and bpref lead, and xGAP and eGAP are above GAP."""
    t = kept(name, topics)
    order = ("GAP", "xGAP", "eGAP", "nDCG", "bpref")
    text = f"{name}, {topics}: " + ", ".join(f"{m} {t.loc[m, 0.1]:.2f}, {t.loc[m, 0.05]:.2f}" for m in order)
    leaders = t[[0.1, 0.05]].mean(axis=1)
    lead = bool(leaders[["nDCG", "bpref"]].min() > leaders[["GAP", "xGAP", "eGAP", "AP", "RBP"]].max())
    better = all(t.loc[m, share] > t.loc["GAP", share] for m in ("xGAP", "eGAP") for share in (0.1, 0.05))
    return text, lead, bool(better)


def figure(cases: tuple[tuple[str, str], ...]) -> tuple[str, str]:
    """One of the two figures."""
    found = {f"{name}, {topics}": robust(name, topics) for name, topics in cases}
    lead = [f"{case}: {verdict(leads)}" for case, (_, leads, _) in found.items()]
    better = [f"{case}: {verdict(above)}" for case, (*_, above) in found.items()]
    return (
        "tau at 10 and 5 % of the judgements. " + "; ".join(text for text, *_ in found.values()),
        f"nDCG and bpref are the most robust. {'; '.join(lead)}. xGAP and eGAP hold up better than GAP in the smallest pools. {'; '.join(better)}",
    )


def examples() -> pd.DataFrame:
    """The worked examples."""
    return load("biases").set_index(["example", "measure", "g1"])


def chosen_first() -> tuple[str, str]:
    """Ten documents of grade 1 and one of grade 2."""
    t = examples()
    gap, even = t.loc[("chosen first", "GAP", 0.1)], t.loc[("chosen first", "GAP", 0.5)]
    gives = f"`GAP.tables`: {even['low']:.4f} and {even['high']:.4f} at g_2 = 1/2, {gap['high']:.4f} for the one at g_2 = 9/10"
    return gives, verdict(
        abs(even["low"] - 1 / 12) < 1e-6 and abs(even["high"] - 1 / 6) < 1e-6 and abs(gap["high"] - 0.5) < 1e-6
    )


def chosen_by_user() -> tuple[str, str]:
    """The same for xGAP."""
    t = examples()
    even, steep = t.loc[("chosen first", "xGAP", 0.5)], t.loc[("chosen first", "xGAP", 0.1)]
    gives = f"`xGAP.tables`: {even['low']:.4f}, {even['high']:.4f}; {steep['high']:.4f}"
    return gives, verdict(
        abs(even["low"] - 1 / 22) < 1e-6
        and abs(even["high"] - 12 / 22) < 1e-6
        and abs(steep["high"] - 100 / 110) < 1e-6
    )


def limit(measure: str, expected: float) -> tuple[str, str]:
    """Relevant documents and then the only highly relevant one."""
    t = examples()
    values = [t.loc[(f"after {n}", measure, 0.1), "value"] for n in (10, 1_000, 1_000_000)]
    gives = "g = (0.1, 0.9): " + ", ".join(f"{v:.4f}" for v in values) + " after 10, 1 000, 1 000 000 documents"
    return gives, verdict(abs(values[-1] - expected) < 1e-3)


def limit_of_gap() -> tuple[str, str]:
    """It is 1, whatever g."""
    return limit("GAP", 1.0)


def limit_of_xgap() -> tuple[str, str]:
    """It is 1 - g_2^2."""
    return limit("xGAP", 0.19)


def limit_of_egap() -> tuple[str, str]:
    """It is g_1."""
    return limit("eGAP", 0.1)


def figure_1() -> tuple[str, str]:
    """Three grades."""
    return figure((("Robust", "all"), ("Robust", "few of grade 2"), ("DBpedia", "few of grade 2")))


def figure_2() -> tuple[str, str]:
    """Four grades."""
    return figure((("MSLR", "few of grade 2"), ("MSLR", "few of grade 3")))


def details() -> Iterator[str]:
    """Pictures and folded tables."""
    yield from (markdown("correlation", "Tau with AP against g"), markdown("robustness", "Tau against judgements kept"))
    t = load("features_of_collections")
    columns = [
        "topics",
        "few of grade 2",
        "few of grade 3",
        "runs",
        "above the first quartile",
        "grades",
        "least relevant",
        "mean relevant",
        "most relevant",
    ]
    body = [[str(r["collection"]), *("—" if pd.isna(r[c]) else f"{r[c]:g}" for c in columns)] for _, r in t.iterrows()]
    yield folded("Table 1: the collections here", table(["", *columns], body))
    for name, runs, few in (("Robust", 9, 2), ("DBpedia", 15, 2), ("MSLR", 18, 3)):
        every, rare = taus(name, runs, "all"), taus(name, runs, f"few of grade {few}")
        shown = [
            g
            for g in dict.fromkeys(every.index.get_level_values(0))
            if g.startswith(("0 ", "0.1", "0.2", "0.3", "0.5", "0.8", "1"))
        ]
        shown = shown if few == 2 else ["0 0 1", "0 1 0", "0.2 0.2 0.6", "0.4 0.2 0.4", "0.6 0.2 0.2", "1 0 0"]
        others = ["AP", "nDCG", "RBP", "bpref"]
        body = [
            [
                g if family == "GAP" else "",
                family,
                *(f"{every.loc[(g, family), o]:.2f} / {rare.loc[(g, family), o]:.2f}" for o in others),
            ]
            for g in shown
            for family in FAMILIES
        ]
        yield folded(
            f"{name}: tau over {runs} runs, all topics / the {rare['of topics'].iloc[0]} with few documents of grade {few}",
            table(["g", "", *others], body),
        )
    yield "All samples: `studies/papers/results/robustness.csv`. Judgements are drawn by topic and grade, at least one of each kept.\n"
