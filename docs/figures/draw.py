"""The pictures that explain: ``python docs/figures/draw.py`` writes them beside this file.

Every number in them is computed here by gapboost.
"""

from pathlib import Path

import matplotlib

matplotlib.use("agg")
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.patches import FancyBboxPatch

import gapboost as gb

HERE = Path(__file__).parent
# Light to dark, so that grades are told apart without hue.
GRADES = ("#f2f2f2", "#c6dbef", "#6baed6", "#08519c")
INK = ("#333333", "#333333", "#111111", "#ffffff")
RANKING = (2, 3, 0, 1, 2, 0, 1, 0)
G = (0.5, 0.3, 0.2)


def saved(figure, name):
    """Without a date and with fixed ids, so that a file changes only where the picture does."""
    figure.savefig(
        HERE / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight", facecolor="white"
    )
    plt.close(figure)


def box(ax, x, y, text, face, ink="#333333", edge="#888888"):
    """One document."""
    ax.add_patch(
        FancyBboxPatch(
            (x - 0.4, y - 0.36), 0.8, 0.72, "round,pad=0,rounding_size=0.12", fc=face, ec=edge
        )
    )
    ax.text(x, y, text, ha="center", va="center", color=ink, fontsize=12)


def canvas(width, bottom, top):
    """Axes in units of documents, without any frame."""
    figure, ax = plt.subplots(figsize=(0.62 * width, 0.62 * (top - bottom)))
    ax.set(xlim=(0, width), ylim=(bottom, top), aspect="equal")
    ax.axis("off")
    return figure, ax


def idea():
    """A ranking, three users with thresholds, their average precisions, and GAP."""
    n = len(RANKING)
    scores = -np.arange(n, dtype=float)
    base = [sum(grade >= k for grade in RANKING) for k in (1, 2, 3)]
    aps = [gb.evaluate(gb.AP(rel=k), RANKING, scores)[gb.AP(rel=k)] for k in (1, 2, 3)]
    gap = gb.evaluate(gb.GAP(g=G), RANKING, scores)[gb.GAP(g=G)]
    weights = [g * b for g, b in zip(G, base, strict=True)]
    assert abs(gap - np.dot(weights, aps) / sum(weights)) < 1e-12

    figure, ax = canvas(20, 0.9, 6.7)
    left = 6.2
    ax.text(
        left - 0.8, 6.2, "a ranking, by grade", ha="right", va="center", fontsize=12, weight="bold"
    )
    for rank, grade in enumerate(RANKING):
        box(ax, left + rank, 6.2, str(grade), GRADES[grade], INK[grade])
    right = left + n
    for x, head in (
        (right + 0.5, "of users"),
        (right + 2.7, "relevant"),
        (right + 4.9, "their AP"),
    ):
        ax.text(x, 5.35, head, ha="center", va="center", fontsize=11, color="#555555")
    for row, k in enumerate((1, 2, 3)):
        y = 4.5 - row
        wants = {1: "grade 1 or better", 2: "grade 2 or better", 3: "grade 3 alone"}[k]
        ax.text(left - 0.8, y, f"a user who accepts {wants}", ha="right", va="center", fontsize=12)
        for rank, grade in enumerate(RANKING):
            accepted = grade >= k
            box(
                ax,
                left + rank,
                y,
                "✓" if accepted else "",
                GRADES[2] if accepted else "white",
                edge="#bbbbbb",
            )
        for x, text in (
            (right + 0.5, f"{G[k - 1]:.0%}"),
            (right + 2.7, str(base[k - 1])),
            (right + 4.9, f"{aps[k - 1]:.3f}"),
        ):
            ax.text(x, y, text, ha="center", va="center", fontsize=12)
    terms = " + ".join(f"{g:g}·{b}·{ap:.3f}" for g, b, ap in zip(G, base, aps, strict=True))
    below = " + ".join(f"{g:g}·{b}" for g, b in zip(G, base, strict=True))
    ax.plot((right - 0.4, right + 5.5), (1.85, 1.85), color="#888888", linewidth=1)
    ax.text(right + 4.9, 1.3, f"{gap:.3f}", ha="center", va="center", fontsize=13, weight="bold")
    ax.text(
        right + 3.6, 1.3, f"GAP = ({terms}) / ({below}) =", ha="right", va="center", fontsize=11
    )
    saved(figure, "idea")


def idea_narrow():
    """Draw the idea for a telephone: words above the rows, and no columns of numbers."""
    scores = -np.arange(len(RANKING), dtype=float)
    figure, ax = canvas(9, -1.6, 8)
    words = {"ha": "left", "va": "center", "fontsize": 13}
    ax.text(0.1, 7.7, "a ranking, by grade", weight="bold", **words)
    for rank, grade in enumerate(RANKING):
        box(ax, 0.6 + rank, 7, str(grade), GRADES[grade], INK[grade])
    for row, (k, g) in enumerate(zip((1, 2, 3), G, strict=True)):
        y, ap = 4.9 - 2.1 * row, gb.AP(rel=k)
        value = gb.evaluate(ap, RANKING, scores)[ap]
        wants = {1: "1 or better", 2: "2 or better", 3: "3 alone"}[k]
        ax.text(0.1, y + 0.75, f"{g:.0%} accept {wants}: AP {value:.3f}", **words)
        for rank, grade in enumerate(RANKING):
            accepted = grade >= k
            box(
                ax,
                0.6 + rank,
                y,
                "✓" if accepted else "",
                GRADES[2] if accepted else "white",
                edge="#bbbbbb",
            )
    gap = gb.evaluate(gb.GAP(g=G), RANKING, scores)[gb.GAP(g=G)]
    ax.text(0.1, -0.6, f"their weighted mean, GAP: {gap:.3f}", weight="bold", **words)
    saved(figure, "idea_narrow")


def five_minutes():
    """Draw the ranking of the page "GAP in five minutes", read by two users."""
    ranking, g = (1, 0, 2), (0.5, 0.5)
    scores = -np.arange(len(ranking), dtype=float)
    gap = gb.evaluate(gb.GAP(g=g), ranking, scores)[gb.GAP(g=g)]
    figure, ax = canvas(19, 0.5, 4.6)
    left, right = 7.6, 12.4
    words = {"va": "center", "fontsize": 12}
    ax.text(left - 1, 4, "a ranking, by grade", ha="right", weight="bold", **words)
    ax.text(right + 2, 4, "average precision", ha="center", color="#555555", **words)
    for rank, grade in enumerate(ranking):
        box(ax, left + 1.6 * rank, 4, str(grade), GRADES[grade], INK[grade])
    for y, k, accepts in ((2.9, 1, "grade 1 or higher"), (1.9, 2, "grade 2 alone")):
        ax.text(left - 1, y, f"{g[k - 1]:.0%} of users accept {accepts}", ha="right", **words)
        precisions, found = [], 0
        for rank, grade in enumerate(ranking, start=1):
            found += grade >= k
            text = f"{found}/{rank}" if grade >= k else ""
            box(
                ax, left + 1.6 * (rank - 1), y, text, GRADES[2] if text else "white", edge="#bbbbbb"
            )
            precisions += [found / rank] if text else []
        ap = gb.evaluate(gb.AP(rel=k), ranking, scores)[gb.AP(rel=k)]
        assert abs(np.mean(precisions) - ap) < 1e-12
        ax.text(right + 2, y, f"{ap:.3f}", ha="center", **words)
    ax.text(right + 2, 0.9, f"GAP = {gap:.3f}", ha="center", weight="bold", **words)
    saved(figure, "five_minutes")


def swap():
    """Draw a swap of two documents: the measure changes by a sum of one part for each rank."""
    measure = gb.GAP(g=G)
    p, q, n = 2, 6, len(RANKING)
    swapped = list(RANKING)
    swapped[p], swapped[q] = swapped[q], swapped[p]
    scores = -np.arange(n, dtype=float)
    before, after = (
        gb.evaluate(measure, ranking, scores)[measure] for ranking in (RANKING, swapped)
    )

    figure, ax = canvas(17, 0.5, 5.1)
    left = 4.6
    for y, ranking, value, name in (
        (4.6, RANKING, before, "before"),
        (1.0, swapped, after, "after"),
    ):
        ax.text(left - 0.8, y, f"{name}: GAP {value:.4f}", ha="right", va="center", fontsize=12)
        for rank, grade in enumerate(ranking):
            box(
                ax,
                left + rank,
                y,
                str(grade),
                GRADES[grade],
                INK[grade],
                "#d95f02" if rank in (p, q) else "#888888",
            )
    for start, end in ((p, q), (q, p)):
        arrow = {
            "arrowstyle": "->",
            "color": "#d95f02",
            "linewidth": 1.6,
            "connectionstyle": "arc3,rad=0",
        }
        ax.annotate("", (left + end, 1.5), (left + start, 4.1), arrowprops=arrow)
    for rank, name, side in ((p, "upper[p, b]", "right"), (q, "lower[q, a]", "left")):
        x = left + rank + (-0.7 if side == "right" else 0.7)
        known = (
            "known at rank p,\nfrom the grades above it"
            if rank == p
            else "known at rank q,\nfrom the grades above it"
        )
        ax.text(x, 2.8, f"{name}:\n{known}", ha=side, va="center", fontsize=11)
    total = f"Δ = upper[p, b] + lower[q, a] = {after - before:+.4f}"
    ax.text(left + n, 1.0, total, ha="left", va="center", fontsize=12, weight="bold")
    saved(figure, "swap")


def near_linear():
    """All pairs against one sum that goes along the ranking."""
    n = 7
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4))
    y = np.linspace(0.95, 0.05, n)
    pairs, sums = axes
    titles = (
        f"every pair: n(n − 1)/2 = {n * (n - 1) // 2} terms",
        f"a sum for each power, carried down: {n} steps",
    )
    for ax, title in zip(axes, titles, strict=True):
        ax.set(xlim=(-0.75, 1.75), ylim=(-0.08, 1.12))
        ax.set_title(title, fontsize=12, pad=12)
        ax.axis("off")
    for i in range(n):
        for j in range(i + 1, n):
            pairs.plot((0, 1), (y[i], y[j]), color="#6baed6", linewidth=1, zorder=1)
    for x, label in ((0, "upper document p"), (1, "lower document q")):
        pairs.scatter([x] * n, y, s=70, color="#08519c", zorder=2)
        pairs.text(x, 1.06, label, ha="center", fontsize=10)
    for i in range(n):
        sums.scatter(0, y[i], s=70, color="#08519c", zorder=2)
        sums.annotate(
            "", (0.93, y[i]), (0.06, y[i]), arrowprops={"arrowstyle": "->", "color": "#6baed6"}
        )
        sums.scatter(1, y[i], s=170, marker="s", color="#fdd0a2", edgecolor="#d95f02", zorder=2)
        if i:
            sums.annotate(
                "",
                (1, y[i] + 0.045),
                (1, y[i - 1] - 0.045),
                arrowprops={"arrowstyle": "->", "color": "#d95f02"},
            )
    sums.text(0, 1.06, "document", ha="center", fontsize=10)
    sums.text(
        1,
        1.06,
        r"$S_k \leftarrow S_k + e^{-k s_p}\,\mathrm{upper}[p, b]$",
        ha="center",
        fontsize=10,
    )
    sums.text(
        1.2,
        y[n // 2],
        r"$e^{k s_q} S_k$" + "\nis the sum over\nall p above q",
        va="center",
        fontsize=10,
    )
    figure.tight_layout()
    saved(figure, "near_linear")


def logo():
    """A ranking of four documents, best grade first: bars as long as their grades are good."""
    bars = "".join(
        f'<rect x="8" y="{7 + 13 * rank}" width="{48 - 11 * rank}" height="10" rx="5" '
        f'fill="{color}"/>'
        for rank, color in enumerate(("#08519c", "#3182bd", "#6baed6", "#9ecae1"))
    )
    size = 'viewBox="0 0 64 64" width="64" height="64"'
    text = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{bars}</svg>\n'
    (HERE.parent / "_static" / "logo.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    plt.rcParams.update(
        {"svg.hashsalt": "gapboost", "svg.fonttype": "path", "font.family": "DejaVu Sans"}
    )
    idea()
    idea_narrow()
    five_minutes()
    swap()
    near_linear()
    logo()
