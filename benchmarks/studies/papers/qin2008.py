"""Claims of [qin2008]: ApproxAP and ApproxNDCG."""

from collections.abc import Iterator
from itertools import pairwise, product

import pandas as pd

import gapboost as gb
from benchmarks.studies.papers.claims import Claim, Fact, difference, least, simultaneous, tested, within
from benchmarks.studies.papers.grid import chosen, over_folds
from benchmarks.studies.papers.results import load
from benchmarks.studies.tables import picture
from gapboost._kernels import Array
from gapboost.analysis.estimates import independent
from gapboost.objectives import approximation_bound

TABLE_1 = [4.20074, 3.12378, 4.40918, 1.55258, 4.13330]
RANKS = (2.00118, 4.00000, 1.00000, 5.00000, 2.99882)
LETOR = "nDCG, LETOR"
# Figures: the measure, the parameter that is varied, and its values. The paper names no alpha.
FIGURES = {
    "Figure 1": ("AP", "alpha", (10, 100)),
    "Figure 2": ("AP", "beta", (1, 10, 100)),
    "Figure 3": ("nDCG", "alpha", (10, 100)),
}
# "Comparable".
NONE = 0.01


def algorithm() -> pd.DataFrame:
    """Return tests of Algorithm 1 on OHSUMED, alpha chosen on validation, by training measure and fold."""
    rows = load("approx_linear")
    best = rows.loc[rows.groupby(["fold", "trained"])["validation"].idxmax()]
    return best.set_index(["trained", "fold"]).sort_index()


def distances(collection: str, measure: str, varied: str) -> dict[float, Array]:
    """Return distances of the queries after the last epoch, by steepness."""
    t = load("accuracy")
    fixed = "alpha" if varied == "beta" else "beta"
    t = t[(t["collection"] == collection) & (t["measure"] == measure) & (t["fixed"] == fixed) & t["query"].notna()]
    return {float(s): one["distance"].to_numpy() for s, one in t.groupby("steepness")}


def accuracy() -> Iterator[Claim]:
    """Yield the claims on the distance of the approximation."""
    for (place, (measure, varied, values)), name in product(FIGURES.items(), ("OHSUMED", "MQ2007")):
        by_value = distances(name, measure, varied)
        kept = [by_value[v] for v in values]
        data, smooth = f"{name}, {varied} = {', '.join(map(str, values))}", f"Approx{measure.upper()}"
        closer = least(simultaneous(independent(a - b) for a, b in pairwise(kept)))
        quantity = f"distance of {smooth}: at the smaller {varied} minus at the next"
        yield Claim(place, data, quantity, "> 0", closer)
        near = least(simultaneous(independent(0.05 - one) for one in kept))
        yield Claim(place, data, f".05 minus the distance of {smooth}", "> 0", near)


def claims() -> Iterator[Claim]:
    """Yield the empirical claims."""
    yield from accuracy()
    trained = algorithm()[LETOR]
    rows = chosen("OHSUMED").set_index(["model", "objective", "trained", "fold"]).sort_index()
    soft = rows.loc[("linear", "SoftRank", "nDCG"), LETOR]
    (more,) = simultaneous([over_folds("OHSUMED", (trained.loc["nDCG"] - soft).to_numpy())])
    data = "OHSUMED, Algorithm 1"
    yield Claim("Figure 4", data, "nDCG: ApproxNDCG minus SoftRank", "+0.0018", more)
    same = within([over_folds("OHSUMED", (trained.loc["AP"] - trained.loc["nDCG"]).to_numpy())])
    yield Claim("Figure 5", data, "nDCG: ApproxAP minus ApproxNDCG", "−0.0005", same, NONE)


def bound(place: str, lost: str, limit: str) -> Fact:
    """Return a theorem on what is lost, on the draws of training queries."""
    t = load("directions")
    mean = t.groupby("queries")[[lost, limit]].mean()
    cells = "; ".join(f"{mean.loc[m, lost]:.4f} ≤ {mean.loc[m, limit]:.3f} from {m} queries" for m in (10, 300))
    claim = "the best function on the sample loses at most the bound"
    return Fact(place, claim, f"100 draws; {cells}", max(0.0, float((t[lost] - t[limit]).max())))


def facts() -> Iterator[Fact]:
    """Yield the mathematical claims."""
    largest = load("directions").groupby("queries")["largest difference"].mean()
    claim = "training performance converges uniformly to test performance"
    ours = f"largest difference {largest.loc[10]:.3f} from 10 queries, {largest.loc[1000]:.3f} from 1 000"
    yield Fact("Theorem 1", claim, ours, float(largest.loc[1000]))
    yield bound("Theorem 2", "lost", "bound of theorem 2")
    file = "objectives/test_approxrank.py"
    yield tested("Theorem 3", "error of one approximate rank; = and not < for two documents", file, "test_theorem_3")
    yield tested("Corollary 4", "error of the worst rank", file, "test_theorem_3")
    yield tested("Theorem 5", "error of ApproxAP", file, "test_theorem_5")
    yield tested("Theorem 6", "error of ApproxNDCG", file, "test_theorem_6")
    yield bound("Theorem 7", "lost by the smooth measure", "bound of theorem 7")
    ranks = gb.ApproxRank(gb.AP(), alpha=100).ranks(TABLE_1)
    ours = ", ".join(f"{r:.5f}" for r in ranks)
    yield Fact("Table 1", "approximate ranks of five scores", ours, difference(ranks, RANKS, 5))
    ap = approximation_bound(gb.ApproxRank(gb.AP(), alpha=100, beta=100), [1, 0, 0, 0, 0], TABLE_1)
    ndcg = approximation_bound(gb.ApproxRank(gb.nDCG(), alpha=100), [1, 0, 0, 0, 0], TABLE_1)
    for place, claim, found, stated, digits in (
        ("section 5.1", "rank error .00118, bound .00471", [ap.rank_error.item(), ap.corollary.item()], (0.00118, 0.00471), 5),
        ("section 5.2", "bound of ApproxAP .0024", [ap.value.item()], (0.0024,), 4),
        ("section 5.2", "bound of ApproxNDCG .00085", [ndcg.value.item()], (0.00085,), 5),
    ):  # fmt: skip
        yield Fact(place, claim, ", ".join(f"{v:.{digits}f}" for v in found), difference(found, stated, digits))


def details() -> Iterator[str]:
    """Yield pictures."""
    yield from (
        picture("papers_accuracy", "Accuracy of the approximation"),
        picture("papers_ndcg_at", "nDCG at 1 to 10"),
    )
