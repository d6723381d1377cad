"""What [robertson2010] and [ferrante2014] ask of runs: informativeness, discriminative power, correlation, robustness."""

from functools import partial

import ir_measures
import numpy as np

import gapboost as gb
from benchmarks.studies.papers.collections import above_first_quartile, collection, few, values_with_bpref
from benchmarks.studies.papers.results import Parts, Rows
from benchmarks.studies.papers.training import GAP
from gapboost import analysis
from gapboost.analysis import RankedList, trec
from gapboost.analysis.correlation import kendall_tau
from gapboost.measures import RecallBase
from gapboost.model_selection import simplex_grid

FAMILIES = (gb.GAP, gb.xGAP, gb.eGAP)
GRID = simplex_grid(2, 10)
NDCGS = {
    "nDCG": gb.nDCG(),
    "nDCG, linear gain": gb.nDCG(gains="linear"),
    "nDCG, discount 1/rank": gb.nDCG(discount_by="reciprocal"),
    "nDCG, linear gain, discount 1/rank": gb.nDCG(gains="linear", discount_by="reciprocal"),
}
TOLD_APART = {
    "GAP": GAP,
    "xGAP": gb.xGAP(g=(0.5, 0.5)),
    "eGAP": gb.eGAP(g=(0.5, 0.5)),
    "AP": gb.AP(),
    "nDCG": gb.nDCG(),
    "nDCG@10": gb.nDCG(k=10),
    "P@10": gb.Precision(k=10),
}
RBP = gb.RBP(p=0.8)
FRACTIONS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05)


def rich_lists(name: str, system: str) -> list[RankedList]:
    """The lists of one system with at least five documents of each positive grade; one list needs one order of ties."""
    found = collection(name)
    lists = trec.rankings(found.qrels, found.runs[system], ties="trec_eval").lists()
    return [one for one in lists if len(one.counts) == 3 and (one.counts[1:] >= 5).all()]


def errors(measures: dict[str, gb.Measure], lists: list[RankedList]) -> Rows:
    """RMS and absolute errors of inferred precision-recall curves, means over lists."""
    if not lists:
        return [{"measure": "none", "lists": 0}]
    found = analysis.informativeness(list(measures.values()), lists, n_jobs=1)
    return [
        {
            "measure": name,
            "lists": len(lists),
            "not converged": int(found.not_converged[m]),
            **{f"rms {rel}": found.rms[m, :, rel - 1].mean() for rel in found.rels},
            **{f"mae {rel}": found.mae[m, :, rel - 1].mean() for rel in found.rels},
        }
        for m, name in enumerate(measures)
    ]


def gap_at(g: tuple[float, ...], family: type = gb.GAP) -> str:
    """How a graded measure is called in the results."""
    return f"{family.__name__} {g[0]:g}"


def informativeness_robust() -> Parts:
    """One part a system: Figure 2 of [robertson2010], TREC 12."""
    measures: dict[str, gb.Measure] = {gap_at(g): gb.GAP(g=g) for g in sorted([*simplex_grid(2, 5), (0.5, 0.5)])}
    measures |= {gap_at((0.5,), family): family(g=(0.5, 0.5)) for family in (gb.xGAP, gb.eGAP)}
    measures |= NDCGS
    return {s: partial(lambda s: errors(measures, rich_lists("Robust", s)), s) for s in collection("Robust").runs}


def informativeness_elsewhere() -> Parts:
    """Where the best g is on two other collections of systems: fifty lists of each."""
    measures: dict[str, gb.Measure] = {gap_at(g): gb.GAP(g=g) for g in GRID}
    measures |= {name: NDCGS[name] for name in ("nDCG", "nDCG, linear gain")}

    def sampled(name: str) -> Rows:
        lists = [one for system in collection(name).runs for one in rich_lists(name, system)]
        drawn = np.random.default_rng(0).permutation(len(lists))[:50]
        return [{"collection": name} | row for row in errors(measures, [lists[i] for i in drawn])]

    return {name: partial(sampled, name) for name in ("DBpedia", "OHSUMED")}


def gain_and_discount() -> Parts:
    """The footnote of section 4.1 of [robertson2010]: nDCG with two gains and two discounts, on a sample of lists."""

    def sampled() -> Rows:
        lists = [one for system in collection("Robust").runs for one in rich_lists("Robust", system)]
        drawn = np.random.default_rng(0).permutation(len(lists))[:40]
        return errors(dict(NDCGS), [lists[i] for i in drawn])

    return {"Robust": sampled}


def discrimination() -> Parts:
    """ASL curves: Figure 3 of [robertson2010]."""

    def curves(name: str, top: int | None) -> Rows:
        found = collection(name)
        values = analysis.system_values(list(TOLD_APART.values()), found.qrels, found.runs, n_jobs=1)
        power = analysis.discriminative_power(values, top=top, n_resamples=10_000, random_state=0)
        return [
            {
                "collection": name,
                "top": top or 0,
                "measure": label,
                "required": power.required[m],
                "pair": p,
                "asl": asl,
            }
            for m, label in enumerate(TOLD_APART)
            for p, asl in enumerate(power.curve(TOLD_APART[label]))
        ]

    plan = (("Robust", None), ("Robust", 6), ("DBpedia", None), ("DBpedia", 10))
    return {f"{name} {top or 'all'}": partial(curves, name, top) for name, top in plan}


def curves_of_one_list() -> Parts:
    """Graded precision and recall here, and those of Kekäläinen and Järvelin, of one ranking (section 3.2)."""

    def points() -> Rows:
        found = collection("Robust")
        (chosen,) = [x for x in trec.rankings(found.qrels, found.runs["fub03IeOLKe3"]).lists() if x.name == "650"]
        scores = -np.arange(len(chosen.grades), dtype=float)
        rows = []
        for label, measure in (("GAP", GAP), ("AP", gb.AP())):
            curve = analysis.precision_recall(measure, chosen.grades, scores, recall_base=chosen.recall_base)
            rows += [
                {"curve": label, "rank": rank, "recall": recall, "precision": precision}
                for rank, recall, precision in zip(curve.rank, curve.recall, curve.precision, strict=True)
            ]
        ranks = np.arange(1, len(scores) + 1)
        for label, gains in (("gains 0, 1, 2", [0, 1, 2]), ("gains 0, 1, 3", [0, 1, 3])):
            share = np.array(gains) / max(gains)
            gained = np.cumsum(share[chosen.grades])
            recall = gained / (share @ chosen.recall_base)
            rows += [
                {"curve": label, "rank": rank, "recall": recall[rank - 1], "precision": gained[rank - 1] / rank}
                for rank in ranks[chosen.grades > 0]
            ]
        return rows

    return {"Robust 650": points}


def features_of_collections() -> Parts:
    """Table 1 of [ferrante2014]."""

    def features(name: str) -> Rows:
        found = collection(name)
        relevant = [sum(g > 0 for g in judged.values()) for judged in found.qrels.values()]
        top = max(max(judged.values()) for judged in found.qrels.values())
        return [
            {
                "collection": name,
                "topics": len(found.qrels),
                **{f"few of grade {g}": len(few(found.qrels, g)) for g in range(2, top + 1)},
                "runs": len(found.runs),
                "above the first quartile": len(above_first_quartile(found).runs),
                "grades": top + 1,
                "least relevant": min(relevant),
                "mean relevant": float(np.mean(relevant)),
                "most relevant": max(relevant),
            }
        ]

    return {name: partial(features, name) for name in ("Robust", "DBpedia", "MSLR")}


def correlation() -> Parts:
    """Tau of graded measures with others, for each g: Tables 2 and 3 of [ferrante2014]."""

    def table(name: str, filtered: bool) -> Rows:
        found = above_first_quartile(collection(name)) if filtered else collection(name)
        top = max(max(judged.values()) for judged in found.qrels.values())
        grid = GRID if top == 2 else simplex_grid(3, 5)
        graded = {(family.__name__, g): family(g=g) for g in grid for family in FAMILIES}
        references = {"AP": gb.AP(), "nDCG": gb.nDCG(), "RBP": RBP}
        values = values_with_bpref([*graded.values(), *references.values()], found)
        subsets = {"all": list(values.topics)} | {f"few of grade {k}": few(found.qrels, k) for k in range(2, top + 1)}
        rows = []
        for subset, topics in subsets.items():
            means = values.on_topics(topics).means
            others = dict(zip([*references, "bpref"], means[len(graded) :], strict=True))
            for (family, g), mean in zip(graded, means, strict=False):
                peer = means[list(graded).index(("GAP", g))]
                taus = {other: kendall_tau(mean, other_mean) for other, other_mean in ({"GAP": peer} | others).items()}
                where = {"collection": name, "runs": len(found.runs), "topics": subset, "of topics": len(topics)}
                rows.append(where | {"g": " ".join(f"{x:g}" for x in g), "measure": family} | taus)
        return rows

    plan = [("Robust", False), ("Robust", True), ("DBpedia", True), ("MSLR", True)]
    return {f"{name} {'filtered' if filtered else 'all'}": partial(table, name, filtered) for name, filtered in plan}


def robustness() -> Parts:
    """Tau under fewer and fewer judgements: Figures 1 and 2 of [ferrante2014]."""

    def table(name: str, grade: int) -> Rows:
        found = above_first_quartile(collection(name))
        g = (0.2, 0.2, 0.6) if name == "MSLR" else (0.1, 0.9)
        measures = {family.__name__: family(g=g) for family in FAMILIES}
        measures |= {"AP": gb.AP(), "nDCG": gb.nDCG(), "RBP": RBP, "bpref": ir_measures.Bpref}
        topics = few(found.qrels, grade)
        result = analysis.robustness(
            list(measures.values()),
            found.qrels,
            found.runs,
            fractions=FRACTIONS,
            topics=topics,
            repeats=10,
            random_state=0,
            n_jobs=1,
        )
        low, high = np.percentile(result.tau, (25, 75), axis=2)
        return [
            {
                "collection": name,
                "topics": f"few of grade {grade}",
                "of topics": len(topics),
                "repeats": 10,
                "measure": label,
                "kept": fraction,
                "tau": result.mean[m, f],
                "low": low[m, f],
                "high": high[m, f],
            }
            for m, label in enumerate(measures)
            for f, fraction in enumerate(FRACTIONS)
        ]

    plan = (("Robust", 2), ("MSLR", 2), ("MSLR", 3), ("DBpedia", 2))
    return {f"{name} few of grade {grade}": partial(table, name, grade) for name, grade in plan}


def biases() -> Parts:
    """The worked examples of [ferrante2014], sections 3 to 5."""

    def examples() -> Rows:
        rows = []
        counts = np.array([[0, 10, 1]])
        for g in ((0.5, 0.5), (0.1, 0.9)):
            for family in FAMILIES[:2]:
                _, own = family(g=g).tables(RecallBase.of_whole_grades(counts))
                low, high = own[0, 1:]
                rows.append(
                    {"example": "chosen first", "measure": family.__name__, "g1": g[0], "low": low, "high": high}
                )
        for n in (10, 1_000, 1_000_000):
            y = np.append(np.ones(n, dtype=int), 2)
            for family in FAMILIES:
                measure = family(g=(0.1, 0.9))
                value = gb.evaluate(measure, y, -np.arange(n + 1.0), n_jobs=1)[measure]
                rows.append({"example": f"after {n}", "measure": family.__name__, "g1": 0.1, "value": value})
        return rows

    return {"sections 3 to 5": examples}
