# ruff: noqa: E501  (sentences of the page)
"""Rows of [ferrante2014]: xGAP and eGAP."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd

from benchmarks.studies.papers import topics
from benchmarks.studies.papers.results import load
from benchmarks.studies.papers.rows import OPEN, Claim, Said, above, every, exact, span
from benchmarks.studies.papers.systems import LOW, SHALLOW
from benchmarks.studies.tables import folded, picture, table

FAMILIES = ("GAP", "xGAP", "eGAP")
# Fewer topics tell nothing.
LEAST = 10


def quantity(collection: str, subset: str, g: str, name: str) -> tuple[float, tuple[float, float], int]:
    """A saved quantity of the correlations, with its interval and the number of topics."""
    rows = load("correlation")
    rows = rows[(rows["collection"] == collection) & (rows["topics"] == subset)]
    value, interval = topics.read(rows, name, g=g)
    return value, interval, int(rows["of topics"].iloc[0])


def verdict(collection: str, subset: str, g: str, names: tuple[str, ...]) -> str:
    """Whether all of them are above 0, on topics enough."""
    found = [quantity(collection, subset, g, name) for name in names]
    return OPEN if found[0][2] < LEAST else every(above(interval) for _, interval, _ in found)


def three(collection: str, subset: str, g: str) -> str:
    """Tau of GAP, xGAP and eGAP with AP, and the intervals of how much nearer GAP is."""
    value = [quantity(collection, subset, g, f"{family} with AP") for family in FAMILIES]
    nearer = [span(quantity(collection, subset, g, f"GAP minus {family} with AP")[1], 2) for family in ("xGAP", "eGAP")]
    return f"{subset} ({value[0][2]} topics) {' / '.join(f'{v:.2f}' for v, *_ in value)}, GAP nearer by {', '.join(nearer)}"


NEARER = ("GAP minus xGAP with AP", "GAP minus eGAP with AP")
NEARER_NDCG = ("GAP minus xGAP with nDCG", "GAP minus eGAP with nDCG")


def table_2() -> Said:
    """Three grades."""
    g, rise = LOW[2][0], " minus ".join(reversed(LOW[2]))
    cells, claims = [], []
    for name in ("Robust", "DBpedia"):
        rare = "few of grade 2"
        cells.append(f"{name}, {three(name, 'all', g)}; {three(name, rare, g)}")
        claims += [
            Claim(f"{name}: GAP is nearer to AP than xGAP and eGAP are", verdict(name, "all", g, NEARER)),
            Claim("with few of grade 2", verdict(name, rare, g, NEARER)),
            Claim("and there nearer to nDCG too", verdict(name, rare, g, NEARER_NDCG)),
            Claim(
                "tau of xGAP and eGAP with AP rises with g_1",
                verdict(name, "all", rise, ("xGAP with AP", "eGAP with AP")),
            ),
            Claim("and with GAP (its column)", verdict(name, "all", rise, ("xGAP with GAP", "eGAP with GAP"))),
            Claim("and with nDCG", verdict(name, "all", rise, ("xGAP with nDCG", "eGAP with nDCG"))),
        ]
    return (
        f"tau with AP at g = (.1, .9), GAP / xGAP / eGAP (the paper: .84 / .73 / .72 and .94 / .83 / .82). {'. '.join(cells)}. Rises are from g_1 = .1 to .3",
        claims,
    )


def table_3() -> Said:
    """Four grades."""
    g, rise, rare = LOW[3][0], " minus ".join(reversed(LOW[3])), "few of grade 3"
    return (
        f"MSLR, g = (.2, .2, .6), tau with AP, GAP / xGAP / eGAP: {three('MSLR', 'all', g)} (the paper .94 / .62 / .61); {three('MSLR', rare, g)} (.94 / .34 / .31). The rise is to (.4, .2, .4)",
        [
            Claim("GAP is nearer to AP than xGAP and eGAP are", verdict("MSLR", "all", g, NEARER)),
            Claim("with few of grade 3", verdict("MSLR", rare, g, NEARER)),
            Claim("and there nearer to nDCG too", verdict("MSLR", rare, g, NEARER_NDCG)),
            Claim(
                "tau of xGAP and eGAP with AP rises with g_1",
                verdict("MSLR", "all", rise, ("xGAP with AP", "eGAP with AP")),
            ),
        ],
    )


def pools(name: str, subset: str) -> tuple[str, str, str, str]:
    """Tau in the smallest pools, and three verdicts: nDCG and bpref lead, xGAP and eGAP are above GAP, GAP is above them."""
    rows = load("shallow_pools")
    rows = rows[(rows["collection"] == name) & (rows["topics"] == subset)]
    n = int(rows["of topics"].iloc[0])

    def read(quantity: str, fraction: float) -> tuple[float, tuple[float, float]]:
        return topics.read(rows, quantity, kept=fraction)

    def said(pairs: list[tuple[str, str]], sign: int = 1) -> str:
        intervals = [read(f"{a} minus {b}", fraction)[1] for a, b in pairs for fraction in SHALLOW]
        return OPEN if n < LEAST else every(above(i if sign > 0 else (-i[1], -i[0])) for i in intervals)

    tau = ", ".join(f"{m} {read(m, 0.1)[0]:.2f}, {read(m, 0.05)[0]:.2f}" for m in (*FAMILIES, "nDCG", "bpref"))
    more = ", ".join(f"{m} {span(read(f'{m} minus GAP', 0.05)[1], 2)}" for m in ("xGAP", "eGAP"))
    better = [(m, "GAP") for m in ("xGAP", "eGAP")]
    return (
        f"{name}, {subset} ({n} topics): {tau}; above GAP at 5 % by {more}",
        said(list(product(("nDCG", "bpref"), FAMILIES))),
        said(better),
        said(better, -1),
    )


def figure(cases: tuple[tuple[str, str], ...]) -> Said:
    """One of the two figures: xGAP and eGAP hold up better, but on all topics of the second GAP does."""
    cells, claims = [], []
    for name, subset in cases:
        text, lead, better, worse = pools(name, subset)
        cells.append(text)
        claims.append(Claim(f"{name}, {subset}: nDCG and bpref are the most robust", lead))
        if (name, subset) == ("MSLR", "all"):
            claims.append(Claim("GAP holds up better than xGAP and eGAP", worse))
        else:
            claims.append(Claim("xGAP and eGAP hold up better than GAP in the smallest pools", better))
    return ". ".join(cells), claims


def figure_1() -> Said:
    """Three grades."""
    return figure((("Robust", "all"), ("Robust", "few of grade 2"), ("DBpedia", "all"), ("DBpedia", "few of grade 2")))


def figure_2() -> Said:
    """Four grades."""
    return figure((("MSLR", "all"), ("MSLR", "few of grade 2"), ("MSLR", "few of grade 3")))


def future_work() -> Said:
    """Discriminative power of the three."""
    rows, cells = load("discrimination"), []
    for name, top in (("Robust", 0), ("DBpedia", 0), ("DBpedia", 10)):
        curves = rows[(rows["collection"] == name) & (rows["top"] == top)]
        shares = ", ".join(
            f"{m} {(curves.loc[curves['measure'] == m, 'asl'] < 0.05).mean():.0%}" for m in (*FAMILIES, "AP")
        )
        more = ", ".join(
            span(topics.read(rows, f"GAP minus {m}", collection=name, top=top)[1], 2) for m in ("xGAP", "eGAP")
        )
        cells.append(f"{name}, {f'best {top}' if top else 'all'}: {shares}; GAP minus xGAP, eGAP {more}")
    return (
        f"g = (.5, .5), pairs of systems told apart at ASL < .05. {'. '.join(cells)}. What training for them gains is not measured on this page",
        [],
    )


def examples() -> pd.DataFrame:
    """The worked examples."""
    return load("biases").set_index(["example", "measure", "g1"])


def close(found: list[float], expected: list[float], error: float = 1e-6) -> str:
    """Whether numbers are the paper's."""
    return exact(bool(np.allclose(found, expected, rtol=0, atol=error)))


def chosen_first() -> Said:
    """Ten documents of grade 1 and one of grade 2."""
    t = examples()
    gap, even = t.loc[("chosen first", "GAP", 0.1)], t.loc[("chosen first", "GAP", 0.5)]
    gives = f"`GAP.tables`: {even['low']:.4f} and {even['high']:.4f} at g_2 = 1/2, {gap['high']:.4f} for the one at g_2 = 9/10"
    return gives, [Claim("so it chooses", close([even["low"], even["high"], gap["high"]], [1 / 12, 1 / 6, 1 / 2]))]


def chosen_by_user() -> Said:
    """The same for xGAP."""
    t = examples()
    even, steep = t.loc[("chosen first", "xGAP", 0.5)], t.loc[("chosen first", "xGAP", 0.1)]
    gives = f"`xGAP.tables`: {even['low']:.4f}, {even['high']:.4f}; {steep['high']:.4f}"
    return gives, [
        Claim("so it chooses", close([even["low"], even["high"], steep["high"]], [1 / 22, 12 / 22, 100 / 110]))
    ]


def limit(measure: str, expected: float) -> Said:
    """Relevant documents and then the only highly relevant one."""
    t = examples()
    values = [t.loc[(f"after {n}", measure, 0.1), "value"] for n in (10, 1_000, 1_000_000)]
    gives = "g = (0.1, 0.9): " + ", ".join(f"{v:.4f}" for v in values) + " after 10, 1 000, 1 000 000 documents"
    return gives, [Claim("the limit", close(values[-1:], [expected], 1e-3))]


def limit_of_gap() -> Said:
    """It is 1, whatever g."""
    return limit("GAP", 1.0)


def limit_of_xgap() -> Said:
    """It is 1 - g_2^2."""
    return limit("xGAP", 0.19)


def limit_of_egap() -> Said:
    """It is g_1."""
    return limit("eGAP", 0.1)


def details() -> Iterator[str]:
    """Pictures and folded tables."""
    yield picture("papers_correlation", "Tau with AP against g")
    yield picture("papers_robustness", "Tau against judgements kept")
    t = load("features_of_collections")
    columns = [c for c in t.columns if c != "collection"]
    body = [[str(r["collection"]), *("—" if pd.isna(r[c]) else f"{r[c]:g}" for c in columns)] for _, r in t.iterrows()]
    yield folded("Table 1: the collections here", table(["", *columns], body))
