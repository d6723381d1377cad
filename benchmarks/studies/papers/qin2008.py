# ruff: noqa: E501  (sentences of the page)
"""Rows of [qin2008]: ApproxAP and ApproxNDCG."""

from collections.abc import Iterator
from itertools import pairwise

import pandas as pd

import gapboost as gb
from benchmarks.studies.inference import bootstrapped
from benchmarks.studies.papers.grid import chosen, difference, means
from benchmarks.studies.papers.results import load
from benchmarks.studies.papers.rows import Claim, Interval, Said, above, alike, every, exact, shown
from benchmarks.studies.tables import picture
from gapboost._kernels import Array
from gapboost.analysis.estimates import Estimate, independent
from gapboost.objectives import approximation_bound

TABLE_1 = [4.20074, 3.12378, 4.40918, 1.55258, 4.13330]
# "Comparable".
NONE = 0.01


def algorithm() -> pd.DataFrame:
    """Algorithm 1 on the folds of OHSUMED, alpha chosen on validation, by training measure and fold."""
    rows = load("approx_linear")
    best = rows.loc[rows.groupby(["fold", "trained"])["validation"].idxmax()]
    return best.set_index(["trained", "fold"]).sort_index()


def example() -> Said:
    """Table 1."""
    shown_ranks = ", ".join(f"{r:.5f}" for r in gb.ApproxRank(gb.AP(), alpha=100).ranks(TABLE_1))
    right = shown_ranks == "2.00118, 4.00000, 1.00000, 5.00000, 2.99882"
    return f"`ApproxRank(alpha=100).ranks`: {shown_ranks}", [Claim("to every digit", exact(right))]


def bounds() -> Said:
    """The bounds of the example."""
    ap = approximation_bound(gb.ApproxRank(gb.AP(), alpha=100, beta=100), [1, 0, 0, 0, 0], TABLE_1)
    ndcg = approximation_bound(gb.ApproxRank(gb.nDCG(), alpha=100), [1, 0, 0, 0, 0], TABLE_1)
    found = f"{ap.rank_error.item():.5f} < {ap.corollary.item():.5f}; AP {ap.value.item():.4f}; nDCG {ndcg.value.item():.5f}"
    return f"`approximation_bound`: {found}", [
        Claim("to every digit", exact(found == "0.00118 < 0.00471; AP 0.0024; nDCG 0.00085"))
    ]


def theorem_1() -> Said:
    """Uniform convergence over a finite class."""
    t = load("directions").groupby("queries")["largest difference"].mean()
    cells = ", ".join(f"{v:.3f} from {m} queries" for m, v in t.items())
    return f"the largest difference of M(f) and M_m(f) over 360 directions of two features: {cells}", [
        Claim("it goes to 0", exact(t.is_monotonic_decreasing))
    ]


def bound(lost: str, limit: str) -> tuple[str, str]:
    """What is lost from so many queries, and whether it is below the bound in every draw."""
    t = load("directions")
    mean = t.groupby("queries")[[lost, limit]].mean()
    cells = ", ".join(f"{r[lost]:.4f} ≤ {r[limit]:.3f} ({q})" for q, r in mean.iterrows())
    return cells, exact(bool((t[lost] <= t[limit]).all()))


def theorem_2() -> Said:
    """What the best function on the sample loses."""
    cells, right = bound("lost", "bound of theorem 2")
    return f"AP lost by the best function on m queries, and the bound: {cells}", [Claim("in all 100 draws", right)]


def theorem_7() -> Said:
    """The same for the smooth measure."""
    cells, right = bound("lost by the smooth measure", "bound of theorem 7")
    return f"ApproxAP, alpha = 100, beta = 10: {cells}", [Claim("in all 100 draws", right)]


def distances(collection: str, measure: str, fixed: str) -> dict[float, Array]:
    """Distances of the queries after the last epoch, by steepness."""
    t = load("accuracy")
    t = t[(t["collection"] == collection) & (t["measure"] == measure) & (t["fixed"] == fixed) & t["query"].notna()]
    return {float(s): one["distance"].to_numpy() for s, one in t.groupby("steepness")}


def mean_interval(values: Array) -> Interval:
    """Of a mean over queries."""
    return bootstrapped(lambda drawn: float(values[drawn].mean()), len(values))


def accuracy(measure: str, fixed: str) -> Said:
    """One of the figures of accuracy."""
    varied, told, claims = "beta" if fixed == "alpha" else "alpha", [], []
    for name in ("OHSUMED", "MQ2007"):
        by = distances(name, measure, fixed)
        told.append(f"{name}: " + ", ".join(f"{d.mean():.4f} at {varied} = {s:g}" for s, d in by.items()))
        closer = [mean_interval(a - b) for a, b in pairwise(by.values())]
        claims.append(Claim(f"{name}: the larger {varied}, the closer", every(above(one) for one in closer)))
        near = {s: mean_interval(0.05 - d) for s, d in by.items()}
        for verdict in ("holds", "contradicted", "cannot be told"):
            at = [f"{s:g}" for s, one in near.items() if above(one) == verdict]
            if at:
                claims.append(Claim(f"more than 95 % accurate at {varied} = {', '.join(at)}", verdict))
    return "; ".join(told), claims


def figure_1() -> Said:
    """Three alpha for AP."""
    return accuracy("AP", "beta")


def figure_2() -> Said:
    """Three beta for AP."""
    return accuracy("AP", "alpha")


def figure_3() -> Said:
    """Three alpha for nDCG."""
    return accuracy("nDCG", "beta")


def between(first: str, second: str, tested: str) -> Estimate:
    """Algorithm 1 for one measure instead of the other, t over folds."""
    t = algorithm()[tested]
    return independent((t.loc[first] - t.loc[second]).to_numpy())


def table_2() -> Said:
    """MAP of ApproxAP beside two others."""
    return (
        f"OHSUMED, AP: Algorithm 1 {algorithm().loc['AP']['AP'].mean():.4f}, gblinear with ApproxRank(AP) {means('OHSUMED').loc[('linear', 'ApproxRank', 'AP'), 'AP']:.4f}. "
        "From the paper: TD2003 AdaRank 0.137, SVM-map 0.198, ApproxAP 0.233; TD2004 0.331, 0.304, 0.350"
    ), []


def figure_4() -> Said:
    """The measure nDCG of ApproxNDCG and SoftRank on whole lists."""
    one, t, letor = algorithm().loc["nDCG"], means("OHSUMED"), "nDCG, LETOR"
    soft = (
        chosen("OHSUMED")
        .set_index(["model", "objective", "trained", "fold"])
        .sort_index()
        .loc[("linear", "SoftRank", "nDCG")]
    )
    first = independent((one[letor] - soft[letor]).to_numpy())
    rows = chosen("OHSUMED").set_index(["model", "trained", "objective", "fold"]).sort_index()
    second = independent((rows.loc[("linear", "nDCG", "ApproxRank")][letor] - soft[letor]).to_numpy())
    return (
        f"whole lists, LETOR's discount: Algorithm 1 {one[letor].mean():.4f} (paper .6698), gblinear with ApproxRank {t.loc[('linear', 'ApproxRank', 'nDCG'), letor]:.4f}, with "
        f"SoftRank {soft[letor].mean():.4f} (paper .6680). ApproxNDCG instead of SoftRank, t over folds: Algorithm 1 {shown(first)}, gblinear {shown(second)}. With log2(n + 1), "
        f"as the paper writes it, Algorithm 1 has {one['nDCG'].mean():.4f}, so its numbers seem to be LETOR's. AdaRank .6589 is the paper's"
    ), [
        Claim("ApproxNDCG is above SoftRank, Algorithm 1", above(first.interval())),
        Claim("gblinear", above(second.interval())),
    ]


def question() -> Said:
    """Whether training for M is best for M: section 6.5."""
    found = {}
    for test, other in (("AP", "nDCG"), ("nDCG", "AP")):
        found[f"Algorithm 1, by {test}"] = between(test, other, test)
        found[f"gblinear, by {test}"] = difference("OHSUMED", "linear", "ApproxRank", (test, other), test)
    return "OHSUMED, training for the test measure instead of the other, t over folds: " + "; ".join(
        f"{name} {shown(one)}" for name, one in found.items()
    ), [
        Claim(
            "open in the paper: the test measure is the better one to train for",
            every(above(one.interval()) for one in found.values()),
        )
    ]


def figure_5() -> Said:
    """The measure nDCG of ApproxAP beside ApproxNDCG."""
    letor, t = "nDCG, LETOR", algorithm()
    one = between("AP", "nDCG", letor)
    return (
        f"Algorithm 1 for AP {t.loc['AP'][letor].mean():.4f}, for nDCG {t.loc['nDCG'][letor].mean():.4f} (paper .6693, .6698); difference {shown(one)}"
    ), [Claim(f"comparable, ± {NONE}", alike(one.interval(), NONE))]


def details() -> Iterator[str]:
    """Pictures and folded tables."""
    yield from (
        picture("papers_accuracy", "Accuracy of the approximation"),
        picture("papers_ndcg_at", "nDCG at 1 to 10"),
    )
