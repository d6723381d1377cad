# ruff: noqa: E501  (sentences of the page)
"""`benchmarks/INFORMATIVENESS.md` and its figure, from the saved doses, values and effects."""

from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from benchmarks.studies.informativeness.data import JUDGES, PRIMARY, RESPLITS
from benchmarks.studies.informativeness.response import EFFECTS, dosed, gains, in_others, values
from benchmarks.studies.pictures import legend_below, line, panels, save
from benchmarks.studies.tables import FIGURES, folded, p_text, paragraphs, picture, signed, table
from gapboost.analysis.estimates import Estimate

PAGE = Path(__file__).parents[2] / "INFORMATIVENESS.md"


class Effect(NamedTuple):
    """A number of the file of effects, in hundredths of a standard deviation over queries, and its family."""

    estimate: float
    low: float
    high: float
    p: float
    error: float
    freedom: float
    family: float

    def __str__(self) -> str:
        return f"{signed(self.estimate, 2)} ({signed(self.low, 2)} … {signed(self.high, 2)})"

    @property
    def verdict(self) -> str:
        """Word of `benchmarks/POLICY.md`."""
        return Estimate(self.estimate, self.error, self.freedom).verdict(family=int(self.family))


def effects() -> dict[tuple[str, str], Effect]:
    """By model and name."""
    rows = pd.read_csv(EFFECTS).fillna(float("nan"))
    return {(row.model, row.effect): Effect(*row[3:]) for row in rows.itertuples()}


def by_measure() -> pd.DataFrame:
    """Mean error and gain in others of each measure in each collection, the most informative first."""
    found = in_others(gains(values(PRIMARY)), ("collection",))
    found["rms"] = dosed()["rms"].loc[list(zip(found["collection"], found["trained"], strict=True))].to_numpy()
    order = found.groupby("trained")["dose"].mean().sort_values(ascending=False).index
    return found.set_index(["trained", "collection"]).loc[list(order)]


def draw(found: pd.DataFrame) -> Any:
    """Doses on the left, responses on the right, a row a measure."""
    figure, axes = panels(2, 5.0, sharey=True)
    names = list(dict.fromkeys(found.index.get_level_values("trained")))
    for ax, column in zip(axes, ("rms", "gain"), strict=True):
        for k, source in enumerate(PRIMARY):
            points = found.xs(source.name, level="collection").loc[names, column]
            ax.plot(points, range(len(names)), label=source.label, **(line(k) | {"linestyle": "", "markersize": 6}))
        ax.set_yticks(range(len(names)), names)
    axes[0].set(
        xlabel="error of the inferred precision-recall curve, RMS",
        title="Error of what a measure's value tells of a ranking",
    )
    axes[1].set(
        xlabel="hundredths of a standard deviation over queries",
        title="Mean gain in the other fifteen measures",
    )
    axes[1].axvline(0, color="grey", linewidth=1)
    axes[0].invert_yaxis()  # of both
    legend_below(figure, axes[0], len(PRIMARY))
    return figure


CHECKED = {
    "primary": "as planned",
    "other families": "tested by measures of other families, and by itself",
    "without ohsumed": "without OHSUMED",
    "beside the cut-off": "with a term for a cut-off",
    "without a cut-off": "the eleven measures without a cut-off",
    "beside cut-off and grades": "a line through sixteen means, with terms for cut-off and grades",
}
OTHERS = {
    "own": "training for the tested measure itself (`own`)",
    "own:step": "four times the training queries, in that (`own:step`)",
    "dose:step": "four times the training queries, in informativeness (`dose:step`)",
}


def doses(of: dict[tuple[str, str], Effect]) -> str:
    """Return the table of what informativeness is worth, as planned and in the checks."""
    body = [
        [text, str(found), str(int(found.family)), found.verdict]
        for name, text in CHECKED.items()
        for found in [of[name, "dose"]]
    ]
    return table(["one standard deviation of informativeness", "gain", "family", "verdict"], body)


def others(of: dict[tuple[str, str], Effect]) -> str:
    """Return the table of the other effects of the primary model."""
    found = {text: of["primary", name] for name, text in OTHERS.items()}
    body = [[text, str(one), str(int(one.family)), one.verdict] for text, one in found.items()]
    return table(["other effects", "gain", "family", "verdict"], body)


def lines(of: dict[tuple[str, str], Effect]) -> str:
    """Return the table of slopes of single collections and sizes."""
    labels = {source.name: source.label for source in (*PRIMARY, JUDGES)}
    body = []
    for (model, effect), found in of.items():
        if effect == "line":
            name, _, size = model.rpartition(", ")
            text = f"{labels[name]}, {size} queries" if name else model
            body.append([text, str(found), str(int(found.family)), found.verdict])
    return table(
        ["a line through sixteen training measures", "gain for one standard deviation", "family", "verdict"], body
    )


def measures_told(found: pd.DataFrame) -> str:
    """The numbers of the figure."""
    body = []
    for name in dict.fromkeys(found.index.get_level_values("trained")):
        cells = [found.loc[(name, source.name)] for source in PRIMARY]
        body.append([name, *(f"{c['rms']:.3f}" for c in cells), *(signed(c["gain"], 1) for c in cells)])
    head = ["trained for", *(f"error, {s.label}" for s in PRIMARY), *(f"gain, {s.label}" for s in PRIMARY)]
    return table(head, body)


def deviations(of: dict[tuple[str, str], Effect]) -> str:
    """Standard deviations of the primary model."""
    start = "deviation: "
    return ", ".join(
        f"{name.removeprefix(start)} {found.estimate:.2f}"
        for (model, name), found in of.items()
        if model == "primary" and name.startswith(start)
    )


def text() -> str:
    """Return the page."""
    of, found = effects(), by_measure()
    dose, ratio = of["primary", "dose"], of["primary", "own / dose"]
    n, judged = (values(sources)["resplit"].nunique() for sources in (PRIMARY, (JUDGES,)))
    mean = found["gain"].groupby("trained").mean().sort_values(ascending=False)
    best, worst = (", ".join(f"{m} {signed(mean[m], 1)}" for m in part) for part in (mean.index[:3], mean.index[-3:]))
    spread = found["dose"].groupby("trained").mean()
    span = float(spread.max() - spread.min())
    ranks = of["sixteen means", "Spearman"]
    parts = [
        OPENING,
        paragraphs(
            SHORT.format(
                own=of["primary", "own"],
                dose=dose,
                beside=of["beside the cut-off", "dose"],
                ratio=ratio.estimate,
                low=ratio.low,
                high=ratio.high,
            )
        ),
        picture("informativeness", "Informativeness of sixteen measures, and what training for each gains in the others"),
        "## What informativeness is worth\n",
        paragraphs(UNITS.format(n=n)),
        doses(of) + "\n",
        paragraphs(
            CHECKS.format(
                span=f"{span:.1f}",
                gain=f"{span * dose.estimate:.1f}",
                low=f"{span * dose.low:.1f}",
                high=f"{span * dose.high:.1f}",
                ranks=f"{ranks.estimate:.2f}",
                p=p_text(ranks.p),
                cut=of["beside the cut-off", "cut"],
            )
        ),
        others(of) + "\n",
        paragraphs(AROUND.format(best=best, worst=worst, judged=judged)),
        folded("Collections, sizes, other tested measures and simulated judges, one by one", lines(of)),
        folded("The sixteen measures", measures_told(found)),
        "## What this does not show\n",
        paragraphs(LIMITS.format(n=n, planned=len(RESPLITS), deviations=deviations(of))),
        paragraphs(CLOSE),
    ]  # fmt: skip
    return "\n".join(parts).rstrip() + "\n"


OPENING = """# Which measure to train for?

The measure that you train for need not be the measure that you report. This page helps you to
choose it. A measure is *informative* if its value tells much of the whole ranking. Compute that:

```python
lists = analysis.ranked_lists(y, scores, qid)
found = analysis.informativeness([gb.GAP(g=(0.5, 0.5)), gb.nDCG(k=10)], lists)
found.mean_rms  # a row a measure, a column a grade; a small error means an informative measure
LGBMGAPRanker(objective=gb.LambdaRank(gb.GAP(g=(0.5, 0.5))))
```
"""

SHORT = """
* **First take the measure that fits your users.** Training for the tested measure itself gained {own}.
* **If several fit, the more informative one is the better guess.** One standard deviation of informativeness gained {dose} in the tested measures.
* **Expect little.** Gains are in hundredths of the standard deviation of a query's value. One hundredth is about .0025 in nDCG@10. The interval does not tell if the gain is above one hundredth.
* **It may be the cut-off and not informativeness.** Most measures with a cut-off are less informative. With a term for the cut-off the gain is {beside}: inconclusive.
* A measure has to be {ratio:.1f} ({low:.1f} to {high:.1f}) standard deviations more informative than the tested one to be the better choice.
"""

UNITS = """
Sixteen measures were trained for and tested, with LightGBM on OHSUMED, DBpedia and MQ2007: 12, 50 and 200 training queries, {n} resplits. Each model is stopped by the tested measure. The training measures are the units of the intervals (Student's t). Each gain is the one at 50 training queries.
The first row is the primary comparison of the protocol. The other five rows are checks that are read together: their intervals hold at once with 95 % (Bonferroni). A value is ahead if its interval is above 0, and inconclusive if its interval holds 0.
"""

CHECKS = """
* **Size.** From the least to the most informative measure are {span} standard deviations, so about {gain} ({low} to {high}) hundredths.
* **In favor.** The gain does not come from measures of one family: it is nearly the same if GAP@10, say, is not tested for a model that was trained for GAP. Ranks agree too: over the sixteen measures Spearman's correlation of informativeness and mean gain in the others is {ranks} (p {p}, not corrected). It holds for ERR and RR, which nobody trained for.
* **Against.** Without OHSUMED the gain is less than half. Three of five checks hold 0: they separate informativeness from cut-offs and from binary grades. The cut-off itself is worth {cut} in the model with its term, not corrected.
"""

AROUND = """
* **Few training queries.** The papers expect that informativeness matters more with few training queries, a value below 0 in the last row. The data neither show nor exclude it.
* **By mean gain in the others**, without intervals: first {best}; last {worst}.
* **Simulated judges.** MQ2007's training and validation grades were also replaced by means of three judges, drawn at random around the grades ({judged} resplits). No person judged anything. The last table has the results.
"""

LIMITS = """
* Three collections with three grades, one booster, one setting of its trees and one objective (LambdaRank) say little of others. The statements hold for these sixteen measures, which belong to a few families.
* Informativeness is that of the precision-recall curve, on rankings by regression. Another curve, or other rankings, may order the measures otherwise.
* DCG, Recall@10 and pairwise accuracy were not trained for: they are trained measures up to a factor a query. ERR and RR have no informativeness here, and are tested only.
* Resplits of a collection share queries. Intervals are over training measures, and say nothing of other queries.
* The simulated judges err at random around the grades. Real judges may err together, and more on some documents.
* The protocol's words *holds* and *contradicted* overlapped: an interval from +0.1 to +0.9 was both. This page uses the words of [the policy](POLICY.md), and no margin. Two checks were planned: the term for a cut-off and the eleven measures. The other three, and the correction of all five, were chosen after the values had been seen.
* {n} of {planned} planned resplits were run. Standard deviations of the primary model: {deviations}.
"""

CLOSE = """
The [protocol](studies/informativeness/PROTOCOL.md) was committed before the first training. Results: [values](studies/informativeness/results/values.csv), [doses](studies/informativeness/results/doses.csv), [effects](studies/informativeness/results/effects.csv).
`python -m benchmarks.studies.informativeness` trains what is missing and writes this page; with `--redraw` it trains nothing.
"""


def redraw(page: Path = PAGE, figures_to: Path = FIGURES) -> None:
    """The page and its figure."""
    save(draw(by_measure()), figures_to / "informativeness.png")
    page.write_text(text(), encoding="utf-8")
