# ruff: noqa: E501  (sentences of the page)
"""`benchmarks/INFORMATIVENESS.md` and its figure, from the saved doses, values and effects."""

from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from benchmarks.studies.informativeness.data import JUDGES, PRIMARY, RESPLITS
from benchmarks.studies.informativeness.response import EFFECTS, dosed, gains, in_others, values
from benchmarks.studies.pictures import legend_below, line, panels, save
from benchmarks.studies.tables import FIGURES, folded, p_text, picture, signed, table

PAGE = Path(__file__).parents[2] / "INFORMATIVENESS.md"
# A gain that no study of this size would see, in hundredths of a query's standard deviation.
NEGLIGIBLE = 1.0


class Effect(NamedTuple):
    """A number of the file of effects, in hundredths of a standard deviation over queries."""

    estimate: float
    low: float
    high: float
    p: float

    def __str__(self) -> str:
        return f"{signed(self.estimate, 2)} ({signed(self.low, 2)} … {signed(self.high, 2)})"

    @property
    def sign(self) -> str:
        """Of two hypotheses, which one the interval leaves."""
        return "is above 0" if self.low > 0 else "is below 0" if self.high < 0 else "cannot be told from 0"


def verdict(effect: Effect) -> str:
    """Of the primary hypothesis."""
    return "holds" if effect.low > 0 else "contradicted" if effect.high < NEGLIGIBLE else "cannot be told"


ADVICE = {
    "holds": "Train for an informative measure, also where a less informative one is what you report",
    "contradicted": "Do not choose the measure that you train for by its informativeness",
    "cannot be told": "Do not count on informativeness when you choose the measure that you train for: train for the one that you are judged by",
}


def effects() -> dict[tuple[str, str], Effect]:
    """By model and name."""
    rows = pd.read_csv(EFFECTS)
    return {(row.model, row.effect): Effect(row.estimate, row.low, row.high, row.p) for row in rows.itertuples()}


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
        xlabel="error of the inferred precision-recall curve, RMS", title="How little its value tells of a ranking"
    )
    axes[1].set(
        xlabel="hundredths of a standard deviation over queries",
        title="What training for it gains in the other fifteen",
    )
    axes[1].axvline(0, color="grey", linewidth=1)
    axes[0].invert_yaxis()  # of both
    legend_below(figure, axes[0], len(PRIMARY))
    return figure


def fixed(of: dict[tuple[str, str], Effect]) -> str:
    """The fixed effects of the three models."""
    told = {
        "dose": "one standard deviation of informativeness, 50 training queries",
        "dose:step": "what four times the queries change in that",
        "own": "training for the tested measure itself",
        "own:step": "what four times the queries change in that",
        "cut": "the training measure has a cut-off",
        "cut:step": "what four times the queries change in that",
    }
    models = ("primary", "beside the cut-off", "without a cut-off")
    body = [
        [f"{text} (`{name}`)", *(str(of[model, name]) if (model, name) in of else "" for model in models)]
        for name, text in told.items()
    ]
    return table(["", "primary", "beside the cut-off", "the eleven without a cut-off"], body)


def lines(of: dict[tuple[str, str], Effect]) -> str:
    """Slopes of single collections and sizes."""
    labels = {source.name: source.label for source in (*PRIMARY, JUDGES)}
    body = []
    for (model, effect), found in of.items():
        if effect == "line":
            name, _, size = model.rpartition(", ")
            body.append([f"{labels[name]}, {size} queries" if name else model, str(found), p_text(found.p)])
    return table(
        ["a line through sixteen training measures", "for one standard deviation of informativeness", "p, uncorrected"],
        body,
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
    """The page."""
    of, found = effects(), by_measure()
    dose, own, step = (of["primary", name] for name in ("dose", "own", "dose:step"))
    beside, alone = (of[model, "dose"] for model in ("beside the cut-off", "without a cut-off"))
    n, judged = (values(sources)["resplit"].nunique() for sources in (PRIMARY, (JUDGES,)))
    mean = found["gain"].groupby("trained").mean().sort_values(ascending=False)
    best, worst = (", ".join(f"{m} {signed(mean[m], 1)}" for m in part) for part in (mean.index[:3], mean.index[-3:]))
    doses = found["dose"].groupby("trained").mean()
    span = doses.max() - doses.min()
    real = ", ".join(f"{size} training queries {of[f'{JUDGES.name}, {size}', 'line']}" for size in JUDGES.sizes)
    needed = (
        f"Another measure must be {own.estimate / dose.estimate:.1f} standard deviations more informative than the tested one to be the better choice."
        if dose.low > 0
        else ""
    )
    return f"""# Which measure to train for?

**{ADVICE[verdict(dose)]}.** That training for a more informative measure gains more in other measures {SAID[verdict(dose)]}: a standard deviation of informativeness is worth {dose},
training for the tested measure itself {own}, in hundredths of the standard deviation of a query's value (one is about .0025 in nDCG@10).

{picture("informativeness", "Informativeness of sixteen measures, and what training for each gains in the others")}
{fixed(of)}

With 95 % intervals over the sixteen training measures. LightGBM on OHSUMED, DBpedia and MQ2007, 12, 50 and 200 training queries, {n} resplits, each model stopped by the tested measure; xGAP, eGAP and grAP among the measures.

* **It is little**: from the least to the most informative measure are {span:.1f} standard deviations, so about {span * dose.estimate:.1f} hundredths.
* **Part of it is the cut-off**: with a term of its own for measures that have one, informativeness is worth {beside}, which {beside.sign}; among the eleven without one {alone}, which {alone.sign}.
* **Few training queries**: what four times the queries change in the dose, {step}, {step.sign}; the papers expect less. {needed}
* **By mean gain in the others**: first {best}; last {worst}.
* **Real grades**, means of three judges in place of MQ2007's grades ({judged} resplits): with {real}.

{folded("Collections, sizes and other tested measures, one by one", lines(of))}
{folded("The sixteen measures", measures_told(found))}
{folded("What this does not show", LIMITS.format(n=n, planned=len(RESPLITS), deviations=deviations(of)))}
The [protocol](studies/informativeness/PROTOCOL.md) was committed before the first training. Results: [values](studies/informativeness/results/values.csv), [doses](studies/informativeness/results/doses.csv),
[effects](studies/informativeness/results/effects.csv). `python -m benchmarks.studies.informativeness --redraw` writes this page and trains nothing.
"""


SAID = {"holds": "holds", "contradicted": "is contradicted", "cannot be told": "cannot be told"}
LIMITS = """{n} of {planned} planned resplits were run. Sixteen measures of a few families are few units, and three collections with three grades are few collections; one booster, one setting of its trees, one objective (LambdaRank).
Informativeness is that of the precision-recall curve, on rankings by regression; another curve, or other rankings, may order the measures otherwise. DCG, Recall@10 and pairwise accuracy, which are trained measures up to a factor a query, were not trained for; nor were
ERR and RR, which have no informativeness here. Standard deviations of the primary model: {deviations}."""


def redraw(page: Path = PAGE, figures_to: Path = FIGURES) -> None:
    """The page and its figure."""
    save(draw(by_measure()), figures_to / "informativeness.png")
    page.write_text(text(), encoding="utf-8")
