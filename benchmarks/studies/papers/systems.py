"""Comparisons of systems by measures: correlation, discriminative power, and fewer judgments.

Quantities are saved with their 95 % intervals over topics, which are drawn with replacement.
"""

from functools import partial
from itertools import product

import ir_measures
import numpy as np
from scipy import stats

import gapboost as gb
from benchmarks.studies.papers import collections, topics
from benchmarks.studies.papers.collections import Collection, above_first_quartile, collection
from benchmarks.studies.papers.results import Parts, Rows
from benchmarks.studies.papers.topics import Array
from benchmarks.studies.papers.training import GAP
from gapboost import analysis
from gapboost.model_selection import simplex_grid

FAMILIES = (gb.GAP, gb.xGAP, gb.eGAP)
REFERENCES = {"AP": gb.AP(), "nDCG": gb.nDCG(), "RBP": gb.RBP(p=0.8)}
TOLD_APART = {
    "GAP": GAP,
    "xGAP": gb.xGAP(g=(0.5, 0.5)),
    "eGAP": gb.eGAP(g=(0.5, 0.5)),
    "AP": gb.AP(),
    "nDCG": gb.nDCG(),
    "nDCG@10": gb.nDCG(k=10),
    "P@10": gb.Precision(k=10),
}
FRACTIONS = (1.0, 0.5, 0.3, 0.2, 0.1, 0.05)
# A low g_1, and one that is higher by two tenths: the example of [ferrante2014].
LOW = {2: ("0.1 0.9", "0.3 0.7"), 3: ("0.2 0.2 0.6", "0.4 0.2 0.4")}


def top_grade(found: Collection) -> int:
    """Return the highest grade of the judgments."""
    return max(max(judged.values()) for judged in found.qrels.values())


def subsets(found: Collection) -> dict[str, list[str]]:
    """Return all topics, and those with few documents of a grade above 1."""
    grades = range(2, top_grade(found) + 1)
    rare = {f"few of grade {k}": collections.few(found.qrels, k) for k in grades}
    return {"all": list(found.qrels)} | {name: of for name, of in rare.items() if of}


def correlation_with_p10() -> Parts:
    """Return means of systems, and tau with P@10: Figure 1 of [yilmaz2009]."""

    def systems(name: str) -> Rows:
        found = collection(name)
        measures = {"AP": gb.AP(), "nDCG": gb.nDCG(), "P@10": gb.Precision(k=10)}
        values = found.values(measures.values())
        signs = topics.signs(values.values)
        ap, ndcg = (topics.tau(signs[:, m], signs[:, 2]) for m in (0, 1))
        quantities = {"AP": ap, "nDCG": ndcg, "nDCG minus AP": ndcg - ap}
        blank = dict.fromkeys((*measures, "system"))
        rows: Rows = [blank | row for row in topics.rows_of(quantities, collection=name)]
        blank = dict.fromkeys(("quantity", "value", "low", "high"))
        for system, means in zip(values.systems, values.means.T, strict=True):
            row = {"collection": name, **blank, "system": system}
            rows.append(row | dict(zip(measures, means, strict=True)))
        return rows

    return {name: partial(systems, name) for name in ("Robust", "DBpedia", "OHSUMED", "MSLR")}


def correlation() -> Parts:
    """Return tau of graded measures with others, by g: Tables 2 and 3 of [ferrante2014]."""

    def table(name: str) -> Rows:
        found = above_first_quartile(collection(name))
        top = top_grade(found)
        grid = simplex_grid(2, 10) if top == 2 else simplex_grid(3, 5)
        labels = {" ".join(f"{x:g}" for x in g): g for g in grid}
        graded = {(f.__name__, label): f(g=labels[label]) for label, f in product(labels, FAMILIES)}
        values = collections.values_with_bpref([*graded.values(), *REFERENCES.values()], found)
        rows = []
        for subset, of in subsets(found).items():
            signs = topics.signs(values.on_topics(of).values)
            at = {key: signs[:, m] for m, key in enumerate([*graded, *REFERENCES, "bpref"])}
            where = {"collection": name, "runs": len(found.runs)}
            where |= {"topics": subset, "of topics": len(of)}
            for label in labels:
                rows += topics.rows_of(taus(at, label), **where, g=label, family=1)
            low, high = LOW[top]
            before, after = taus(at, low), taus(at, high)
            nearer = {}
            for family, other in product(("xGAP", "eGAP"), ("AP", "nDCG")):
                first, second = f"GAP with {other}", f"{family} with {other}"
                nearer[f"GAP minus {second}"] = before[first] - before[second]
            rises = {quantity: after[quantity] - before[quantity] for quantity in before}
            rows += topics.rows_of(nearer, **where, g=low, family=2)
            rows += topics.rows_of(rises, **where, g=f"{high} minus {low}", family=2)
        return rows

    return {name: partial(table, name) for name in ("Robust", "DBpedia", "MSLR")}


def taus(at: dict[object, Array], g: str) -> dict[str, Array]:
    """Return tau of the graded measures at one g with the other measures, and with GAP."""
    families = ("GAP", "xGAP", "eGAP")
    pairs = [(family, other, at[other]) for family in families for other in (*REFERENCES, "bpref")]
    pairs += [(family, "GAP", at["GAP", g]) for family in families[1:]]
    return {f"{family} with {other}": topics.tau(at[family, g], b) for family, other, b in pairs}


def robustness() -> Parts:
    """Return tau with fewer judgments, mean of five samples: [ferrante2014], Figures 1 and 2."""

    def curve(name: str, subset: str) -> Rows:
        found, measures = above_first_quartile(collection(name)), thinned_measures(name)
        of = subsets(found)[subset]
        wanted = [*measures.values(), ir_measures.Bpref]
        options = {"fractions": FRACTIONS, "repeats": 5, "random_state": 0, "n_jobs": 1}
        result = analysis.robustness(wanted, found.qrels, found.runs, topics=of, **options)
        where = {"collection": name, "topics": subset, "of topics": len(of)}
        return [
            where | {"measure": label, "kept": fraction, "tau": result.mean[m, f]}
            for m, label in enumerate([*measures, "bpref"])
            for f, fraction in enumerate(FRACTIONS)
        ]

    plan = [*product(("Robust", "DBpedia", "MSLR"), ("all", "few of grade 2"))]
    plan.append(("MSLR", "few of grade 3"))
    return {f"{name} {subset}": partial(curve, name, subset) for name, subset in plan}


def thinned_measures(name: str) -> dict[str, gb.Measure]:
    """Return the graded measures at the paper's g, and the others without bpref."""
    g = (0.2, 0.2, 0.6) if name == "MSLR" else (0.1, 0.9)
    return {family.__name__: family(g=g) for family in FAMILIES} | REFERENCES


def discrimination() -> Parts:
    """Return ASL curves, Figure 3 of [robertson2010], and shares of pairs that are told apart."""

    def curves(name: str, top: int | None) -> Rows:
        found = collection(name)
        values = found.values(TOLD_APART.values())
        power = analysis.discriminative_power(values, top=top, n_resamples=10_000, random_state=0)
        kept = values.best(top) if top else values
        shares = told_apart(kept.values)
        blank = dict.fromkeys(("measure", "pair", "asl"))
        where = {"collection": name, "top": top or 0}
        quantities = {label: shares[:, m] for m, label in enumerate(TOLD_APART)}
        for a, b in (("GAP", "nDCG"), ("GAP", "AP"), ("GAP", "xGAP"), ("GAP", "eGAP")):
            quantities[f"{a} minus {b}"] = quantities[a] - quantities[b]
        rows: Rows = [blank | row for row in topics.rows_of(quantities, **where)]
        blank = dict.fromkeys(("quantity", "value", "low", "high"))
        for label, measure in TOLD_APART.items():
            row = {**where, **blank, "measure": label}
            rows += [{**row, "pair": p, "asl": asl} for p, asl in enumerate(power.curve(measure))]
        return rows

    plan = (("Robust", None), ("Robust", 6), ("DBpedia", None), ("DBpedia", 10))
    return {f"{name} {top or 'all'}": partial(curves, name, top) for name, top in plan}


def told_apart(values: Array) -> Array:
    """Return the share of pairs with p < .05 by draw of topics: (draws + 1, measures).

    The test is a paired t-test. A bootstrap test within each draw takes ten thousand times as long.
    """
    first, second = np.triu_indices(values.shape[1], 1)
    z = values[:, first] - values[:, second]
    times = topics.drawn(values.shape[2])
    n = values.shape[2]
    mean = z @ times.T / n
    variance = np.maximum((z**2) @ times.T / n - mean**2, 1e-18) * n / (n - 1)
    apart = np.abs(mean) / np.sqrt(variance / n) > stats.t.ppf(0.975, n - 1)
    return np.asarray(apart.mean(axis=1).T)
