"""Informativeness of measures by maximum entropy: one row for each list of a system and measure."""

from functools import partial
from itertools import product

import numpy as np

import gapboost as gb
from benchmarks.studies.papers.collections import collection
from benchmarks.studies.papers.results import Parts, Rows
from gapboost import analysis
from gapboost.analysis import RankedList, trec
from gapboost.analysis.informativeness import inferred_precision, real_precision
from gapboost.model_selection import simplex_grid

NDCGS = {
    "nDCG": gb.nDCG(),
    "nDCG, linear gain": gb.nDCG(gains="linear"),
    "nDCG, discount 1/rank": gb.nDCG(discount_by="reciprocal"),
    "nDCG, linear gain, discount 1/rank": gb.nDCG(gains="linear", discount_by="reciprocal"),
}
# Lists of a system, drawn where there are more.
MOST = {"Robust": 15, "DBpedia": 5, "OHSUMED": 5}


def lists_of(name: str, system: str) -> list[RankedList]:
    """Return the lists of one system, with one order of ties."""
    found = collection(name)
    return trec.rankings(found.qrels, found.runs[system], ties="trec_eval").lists()


def drawn(lists: list[RankedList], most: int) -> list[RankedList]:
    """Return `most` random lists in their order, or all if there are fewer."""
    chosen = np.random.default_rng(0).permutation(len(lists))[:most]
    return [lists[i] for i in sorted(chosen)]


def rich(one: RankedList) -> bool:
    """Return True if there are at least five documents of each of two positive grades."""
    return len(one.counts) == 3 and bool((one.counts[1:] >= 5).all())


def graded() -> Parts:
    """Return errors of GAP for eleven g and of nDCG: Figure 2 and footnote 1 of [robertson2010]."""
    gaps = {f"GAP {g[0]:g}": gb.GAP(g=g) for g in simplex_grid(2, 10)}
    measures: dict[str, gb.Measure] = {**gaps, **NDCGS}

    def errors(name: str, run: str) -> Rows:
        lists = drawn([one for one in lists_of(name, run) if rich(one)], MOST[name])
        result = analysis.informativeness(list(measures.values()), lists, n_jobs=1)
        rows = []
        for (m, label), (i, one) in product(enumerate(measures), enumerate(lists)):
            row = {"collection": name, "topic": one.name, "list": f"{run} {one.name}"}
            row |= {"measure": label, "converged": int(result.converged[m, i])}
            rows.append(row | {f"rms {rel}": result.rms[m, i, rel - 1] for rel in (1, 2)})
        return rows

    return {
        f"{name} {run}": partial(errors, name, run)
        for name in MOST
        for run in collection(name).runs
        if any(rich(one) for one in lists_of(name, run))
    }


def binary(one: RankedList) -> RankedList:
    """Return the list with grades 0 and 1."""
    recall_base = np.array([one.recall_base[0], one.recall_base[1:].sum()])
    return RankedList(one.name, np.minimum(one.grades, 1), recall_base)


def inferred() -> Parts:
    """Return errors of AP and nDCG on binary relevance: Table 1 and Figure 3 of [yilmaz2009]."""

    def system(name: str, run: str) -> Rows:
        lists = drawn([one for one in lists_of(name, run) if one.counts[1:].sum() >= 5], 20)
        rows = []
        for (label, measure), one in product({"AP": gb.AP(), "nDCG": gb.nDCG()}.items(), lists):
            seen = binary(one) if label == "AP" else one
            base, falling = seen.recall_base, -np.arange(len(seen.grades), dtype=float)
            values = gb.evaluate(measure, seen.grades, falling, recall_base=[base], n_jobs=1)
            found = analysis.maximum_entropy(measure, values[measure], seen.counts, base)
            relevance = found.relevance()
            inferred_curve = inferred_precision(relevance, one.grades, 1)
            missed = inferred_curve - real_precision(one.grades, 1)
            row = {"collection": name, "system": run, "topic": one.name}
            row |= {"list": f"{run} {one.name}", "measure": label}
            row |= {"rms": np.sqrt(np.mean(missed**2)), "mae": np.mean(np.abs(missed))}
            row["inferred P@10"] = relevance[:10].sum() / 10
            row["P@10"] = (one.grades[:10] > 0).sum() / 10
            rows.append(row)
        return rows

    return {
        f"{name} {run}": partial(system, name, run)
        for name in ("Robust", "DBpedia")
        for run in collection(name).runs
    }
