# ruff: noqa: E501  (sentences of the page)
"""Rows of [qin2008]: ApproxAP and ApproxNDCG."""

from collections.abc import Iterator

import pandas as pd

import gapboost as gb
from benchmarks.studies.papers.grid import chosen
from benchmarks.studies.papers.results import load
from benchmarks.studies.papers.rows import folded, markdown, table, verdict
from gapboost.objectives import approximation_bound

TABLE_1 = [4.20074, 3.12378, 4.40918, 1.55258, 4.13330]


def complete(collection: str) -> pd.DataFrame:
    """Means over folds by model, objective and training measure."""
    grouped = chosen(collection).groupby(["model", "objective", "trained"])
    return grouped.mean().assign(folds=grouped.size())


def algorithm(collection: str) -> pd.DataFrame:
    """Means over folds of Algorithm 1, its alpha chosen on validation, by training measure."""
    rows = load("approx_linear")
    rows = rows[rows["collection"] == collection]
    best = rows.loc[rows.groupby(["fold", "trained"])["validation"].idxmax()]
    return best.drop(columns="collection").groupby("trained").mean()


def example() -> tuple[str, str]:
    """Table 1 and its bounds."""
    ranks = gb.ApproxRank(gb.AP(), alpha=100).ranks(TABLE_1)
    shown = ", ".join(f"{r:.5f}" for r in ranks)
    return f"`ApproxRank(alpha=100).ranks`: {shown}", verdict(
        shown == "2.00118, 4.00000, 1.00000, 5.00000, 2.99882", "equal to every digit"
    )


def bounds() -> tuple[str, str]:
    """The bounds of the example."""
    ap = approximation_bound(gb.ApproxRank(gb.AP(), alpha=100, beta=100), [1, 0, 0, 0, 0], TABLE_1)
    ndcg = approximation_bound(gb.ApproxRank(gb.nDCG(), alpha=100), [1, 0, 0, 0, 0], TABLE_1)
    found = f"{ap.rank_error.item():.5f} < {ap.corollary.item():.5f}; AP {ap.value.item():.4f}; nDCG {ndcg.value.item():.5f}"
    return f"`approximation_bound`: {found}", verdict(
        found == "0.00118 < 0.00471; AP 0.0024; nDCG 0.00085", "equal to every digit"
    )


def theorem_1() -> tuple[str, str]:
    """Uniform convergence over a finite class."""
    t = load("directions").groupby("queries")["largest difference"].mean()
    return "the largest |M(f) − M_m(f)| over 360 directions of two features: " + ", ".join(
        f"{v:.3f} from {m} queries" for m, v in t.items()
    ), f"it goes to 0: {verdict(t.is_monotonic_decreasing)}"


def theorem_2() -> tuple[str, str]:
    """What the best function on the sample loses."""
    t = load("directions")
    m = t.groupby("queries")[["lost", "bound of theorem 2"]].mean()
    gives = ", ".join(f"{r['lost']:.4f} ≤ {r['bound of theorem 2']:.3f} ({q})" for q, r in m.iterrows())
    return f"AP lost by the best function on m queries, and the bound: {gives}", verdict(
        (t["lost"] <= t["bound of theorem 2"]).all(), "holds in all 100 draws"
    )


def theorem_7() -> tuple[str, str]:
    """The same for the smooth measure."""
    t = load("directions")
    m = t.groupby("queries")[["lost by the smooth measure", "bound of theorem 7"]].mean()
    gives = ", ".join(f"{r.iloc[0]:.4f} ≤ {r.iloc[1]:.3f} ({q})" for q, r in m.iterrows())
    holds = (t["lost by the smooth measure"] <= t["bound of theorem 7"]).all()
    return f"ApproxAP, alpha = 100, beta = 10: {gives}", verdict(holds, "holds in all 100 draws")


def course(collection: str, measure: str, fixed: str) -> pd.DataFrame:
    """Distances by epoch, a column for each steepness."""
    t = load("accuracy")
    t = t[(t["collection"] == collection) & (t["measure"] == measure) & (t["fixed"] == fixed)]
    return t.pivot(index="epoch", columns="steepness", values="distance")


def accuracy(measure: str, fixed: str, below: float) -> tuple[str, str]:
    """One of the figures of accuracy."""
    there = load("accuracy")
    there = there[(there["measure"] == measure) & (there["fixed"] == fixed)]
    cells, better, near = [], [], []
    varied = "beta" if fixed == "alpha" else "alpha"
    for name in dict.fromkeys(there["collection"]):
        last = course(name, measure, fixed).iloc[-1]
        cells.append(f"{name}: " + ", ".join(f"{v:.4f} at {varied} = {s:g}" for s, v in last.items()))
        better.append(last.is_monotonic_decreasing)
        near.append(last.iloc[-1] < below)
    return "distance after the last epoch of Algorithm 1. " + "; ".join(cells), (
        f"the larger {varied}, the closer: {verdict(all(better))}; closer than {below:g}: {verdict(all(near))}"
    )


def table_2() -> tuple[str, str]:
    """MAP of ApproxAP beside two others."""
    one = algorithm("OHSUMED")
    t = complete("OHSUMED")
    return (
        f"OHSUMED, AP: Algorithm 1 {one.loc['AP', 'AP']:.4f}, gblinear with ApproxRank(AP) {t.loc[('linear', 'ApproxRank', 'AP'), 'AP']:.4f}. "
        "From the paper: TD2003 AdaRank 0.137, SVM-map 0.198, ApproxAP 0.233; TD2004 0.331, 0.304, 0.350"
    ), "not tested: neither collection, nor AdaRank or SVM-map, is here"


def question() -> tuple[str, str]:
    """Whether training for M is best for M: section 6.5."""
    cells, own = [], []
    models = {f"{name}, Algorithm 1": algorithm(name) for name in dict.fromkeys(load("approx_linear")["collection"])}
    models["OHSUMED, gblinear"] = complete("OHSUMED").loc[("linear", "ApproxRank")]
    for model, t in models.items():
        for test, other in (("AP", "nDCG"), ("nDCG", "AP")):
            a, b = t.loc[test, test], t.loc[other, test]
            cells.append(f"{model}, tested by {test}: {a:.4f} trained for it, {b:.4f} for {other}")
            own.append(a > b)
    return (
        "; ".join(cells),
        f"open there and here: the measure itself was the better one in {sum(own)} of {len(own)} comparisons",
    )


def whole_list() -> tuple[str, str]:
    """The measure nDCG on whole lists."""
    one, t = algorithm("OHSUMED"), complete("OHSUMED")
    ours = one.loc["nDCG", "nDCG, LETOR"]
    linear = t.loc[("linear", "ApproxRank", "nDCG")]
    return (
        f"whole lists, LETOR's discount: Algorithm 1 {ours:.4f} (paper 0.6698), gblinear {linear['nDCG, LETOR']:.4f}; with log2(n + 1) "
        f"{one.loc['nDCG', 'nDCG']:.4f} and {linear['nDCG']:.4f}. AdaRank 0.6589 and SoftRank 0.6680 are the paper's"
    ), f"the paper's number is LETOR's nDCG: {verdict(abs(ours - 0.6698) < abs(one.loc['nDCG', 'nDCG'] - 0.6698))}"


def table_5() -> tuple[str, str]:
    """The measure nDCG of ApproxAP beside ApproxNDCG."""
    one = algorithm("OHSUMED")
    a, b = one.loc["AP", "nDCG, LETOR"], one.loc["nDCG", "nDCG, LETOR"]
    return (
        f"Algorithm 1 for AP {a:.4f}, for nDCG {b:.4f} (paper 0.6693, 0.6698)",
        f"comparable: {verdict(abs(a - b) < 0.005)}",
    )


def figure_1() -> tuple[str, str]:
    """Three alpha for AP."""
    return accuracy("AP", "beta", 0.02)


def figure_2() -> tuple[str, str]:
    """Three beta for AP."""
    return accuracy("AP", "alpha", 0.02)


def figure_3() -> tuple[str, str]:
    """Three alpha for nDCG."""
    return accuracy("nDCG", "beta", 0.02)


def details() -> Iterator[str]:
    """Pictures and folded tables."""
    yield from (markdown("accuracy", "Accuracy of the approximation"), markdown("ndcg_at", "nDCG at 1 to 10"))
    t = complete("OHSUMED")
    columns = ["nDCG", "nDCG, LETOR", "AP", "GAP", "nDCG@10", "nDCG@10, linear gain", "P@10", "round"]
    body = [[*key, *(f"{r[c]:.4f}" for c in columns[:-1]), f"{r['round']:.0f}"] for key, r in t.iterrows()]
    yield folded(
        f"All trainings on OHSUMED: test means of {int(t['folds'].max())} folds, setting and round chosen on validation",
        table(["model", "objective", "trained for", *columns], body),
    )
