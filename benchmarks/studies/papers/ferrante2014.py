"""Claims of [ferrante2014]: xGAP and eGAP."""

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

import gapboost as gb
from benchmarks.studies.papers import topics
from benchmarks.studies.papers.claims import Claim, Fact, Result, difference, least, tested
from benchmarks.studies.papers.results import load
from benchmarks.studies.papers.systems import LOW
from benchmarks.studies.tables import folded, picture, table

OTHERS = ("xGAP", "eGAP")
FAMILIES = ("GAP", *OTHERS)
RARE = {"Robust": None, "DBpedia": "few of grade 2", "MSLR": "few of grade 3"}
# GAP minus xGAP or eGAP, by tau with AP: the least of each collection of the paper.
NEARER = {"Robust": "+0.11", "DBpedia": "+0.11", "MSLR": "+0.32"}


def read(file: str, collection: str, subset: str, quantities: list[str], **where: str) -> Result:
    """Return the least of some saved quantities."""
    rows = load(file)
    rows = rows[(rows["collection"] == collection) & (rows["topics"] == subset)]
    return least(topics.read(rows, quantity, **where) for quantity in quantities)


def data(collection: str, subset: str) -> str:
    """Return the name of the collection, its topics and its subset."""
    rows = load("correlation")
    n = rows[(rows["collection"] == collection) & (rows["topics"] == subset)]["of topics"].iloc[0]
    return f"{collection}, {n} topics" + (f" with {subset}" if subset != "all" else "")


def correlations(collection: str) -> Iterator[Claim]:
    """Yield the claims of Tables 2 and 3 on one collection."""
    place, low_high = ("Table 3", LOW[3]) if collection == "MSLR" else ("Table 2", LOW[2])
    low, rise, rare = low_high[0], " minus ".join(reversed(low_high)), RARE[collection]

    def claim(subset: str, other: str, stated: str) -> Claim:
        quantities = [f"GAP minus {family} with {other}" for family in OTHERS]
        result = read("correlation", collection, subset, quantities, g=low)
        words = f"tau with {other}: GAP minus xGAP, eGAP"
        return Claim(place, data(collection, subset), words, stated, result, digits=2)

    yield claim("all", "AP", NEARER[collection])
    if rare:
        yield claim(rare, "AP", "+0.60" if collection == "MSLR" else "> 0")
        yield claim(rare, "nDCG", "> 0")
    for other in ("AP",) if collection == "MSLR" else ("AP", "GAP", "nDCG"):
        quantities = [f"{family} with {other}" for family in OTHERS]
        result = read("correlation", collection, "all", quantities, g=rise)
        words = f"tau of xGAP, eGAP with {other}: rise with g_1"
        yield Claim(place, data(collection, "all"), words, "> 0", result, digits=2)


def pools(place: str, collection: str, subset: str) -> Iterator[Claim]:
    """Yield the claims of Figures 1 and 2 on the smallest pools of one collection."""
    claim = partial(Claim, place, data(collection, subset), digits=2)
    leading = [f"{a} minus {b}" for a, b in product(("nDCG", "bpref"), FAMILIES)]
    result = read("shallow_pools", collection, subset, leading)
    yield claim(quantity="tau: nDCG, bpref minus GAP, xGAP, eGAP", stated="> 0", result=result)
    better = [f"{family} minus GAP" for family in OTHERS]
    if (collection, subset) == ("MSLR", "all"):
        rows = load("shallow_pools")
        rows = rows[(rows["collection"] == collection) & (rows["topics"] == subset)]
        worse = [Result(-v, -high, -low, m) for v, low, high, m in (topics.read(rows, q) for q in better)]
        yield claim(quantity="tau: GAP minus xGAP, eGAP", stated="> 0", result=least(worse))
    else:
        result = read("shallow_pools", collection, subset, better)
        yield claim(quantity="tau: xGAP, eGAP minus GAP", stated="> 0", result=result)


def claims() -> Iterator[Claim]:
    """Yield the empirical claims."""
    for collection in RARE:
        yield from correlations(collection)
    for collection, rare in RARE.items():
        for subset in ("all", rare):
            if subset:
                yield from pools("Figure 2" if collection == "MSLR" else "Figure 1", collection, subset)


def chosen(family: type, g2: float) -> list[float]:
    """Return the probabilities of documents of grades 1 and 2, of which there are ten and one."""
    measure = family(g=(1 - g2, g2))
    return [gb.evaluate(measure, [grade], [0.0], recall_base=[[0, 10, 1]])[measure] for grade in (1, 2)]


def limit(place: str, family: type, words: str, stated: float) -> Fact:
    """Return the limit of n documents of grade 1, and then the only one of grade 2."""
    measure, values = family(g=(0.1, 0.9)), []
    for n in (10, 1_000_000):
        y = np.append(np.ones(n, dtype=int), 2)
        values.append(gb.evaluate(measure, y, -np.arange(n + 1.0), n_jobs=1)[measure])
    claim = f"n documents of grade 1 before the only one of grade 2: {family.__name__} tends to {words}"
    ours = f"{values[0]:.4f} at n = 10, {values[1]:.6f} at n = 1 000 000"
    return Fact(place, claim, ours, difference(values[1:], [stated]))


def facts() -> Iterator[Fact]:
    """Yield the mathematical claims."""
    for place, family, claim, stated in (
        ("section 3, example 1", gb.GAP, "GAP chooses with 1/12 and 1/6; 1/2 at g_2 = .9", (1 / 12, 1 / 6, 1 / 2)),
        ("section 4, example 1", gb.xGAP, "xGAP chooses with 1/22 and 12/22; 10/11 at g_2 = .9", (1 / 22, 12 / 22, 10 / 11)),
    ):  # fmt: skip
        found = [*chosen(family, 0.5), chosen(family, 0.9)[1]]
        yield Fact(place, claim, ", ".join(f"{p:.4f}" for p in found), difference(found, stated))
    yield limit("section 3, example 2", gb.GAP, "1", 1.0)
    yield limit("section 4, example 2", gb.xGAP, "1 − g_2², here .19", 0.19)
    yield limit("section 5, example", gb.eGAP, "g_1, here .1", 0.1)
    oracle = "measures/test_oracle.py"
    yield tested("section 5", "eGAP is the expected AP", oracle, "test_gap_and_egap_are_means_of_ap")
    yield tested("section 5", "eGAP is the mean of a random experiment", oracle, "test_random_experiments")


def details() -> Iterator[str]:
    """Yield pictures and folded tables."""
    yield picture("papers_correlation", "Tau with AP against g")
    yield picture("papers_robustness", "Tau against judgements kept")
    t = load("features_of_collections")
    columns = [c for c in t.columns if c != "collection"]
    body = [
        [str(r["collection"]), *("—" if pd.isna(r[c]) else f"{r[c]:.4g}" for c in columns)] for _, r in t.iterrows()
    ]
    yield folded("Table 1: the collections here", table(["", *columns], body))
    rows, body = load("discrimination"), []
    for name, top in (("Robust", 0), ("DBpedia", 0), ("DBpedia", 10)):
        curves = rows[(rows["collection"] == name) & (rows["top"] == top)]
        shares = [f"{(curves.loc[curves['measure'] == m, 'asl'] < 0.05).mean():.0%}" for m in (*FAMILIES, "AP")]
        body.append([f"{name}, {f'best {top}' if top else 'all'}", *shares])
    yield folded("Section 7: pairs of systems told apart, g = (.5, .5)", table(["systems", *FAMILIES, "AP"], body))
