"""Tables and figures of BETTER_RANKINGS.md, from the saved estimates."""

from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.harness import FIGURES, signed, table, write
from benchmarks.pictures import legend_below, line, panels, save
from benchmarks.studies.better_rankings.rankers import CHOICES, DRAWN, FAMILIES, FEW, IN_README, OBJECTIVES, RAW, name
from benchmarks.studies.comparisons import MARGIN, MEAN, cell, estimate, matching
from benchmarks.studies.effectiveness.data import FILES
from gapboost.analysis.estimates import Estimate

CHOSEN = "better_rankings"
RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[2] / "BETTER_RANKINGS.md"
README = PAGE.parents[1] / "README.md"
OUTCOMES = (MEAN, "nDCG@10")
# The families whose losses on single collections are listed.
LISTED = ("features", "trees", "forests", "together")
# Columns of a comparison that tables and figures of choices show.
CHANGE = ["difference", "low", "high"]


def comparisons(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the mean, the simultaneous interval and the verdict of each comparison and outcome."""
    lines = []
    for family, pairs in FAMILIES.items():
        for pair, outcome in product(pairs, OUTCOMES):
            wanted = {"family": family, "trained by": pair[0], "beside": pair[1], "measure": outcome}
            saved = matching(rows, wanted)
            found, size, differences = estimate(saved, "queries"), len(pairs), saved["difference"]
            verdict = found.verdict(family=size, margin=MARGIN)
            counts = differences.mean(), (differences < 0).sum(), len(saved)
            lines.append((family, *pair, outcome, found.mean, *found.interval(family=size), verdict, *counts))
    names = ("difference", "low", "high", "verdict", "mean of collections", "lower on", "collections")
    return pd.DataFrame(lines, columns=["family", "first", "second", "measure", *names])


def compared(found: pd.DataFrame, seconds: pd.DataFrame, family: str) -> str:
    """Return the table of one family, with a verdict for each outcome."""
    lines = []
    for pair, both in found[found["family"] == family].groupby(["first", "second"], sort=False):
        values = [cell(row.difference, (row.low, row.high)) for row in both.itertuples()]
        row, times = both.iloc[0], (seconds.loc[pair[0]] / seconds.loc[pair[1]]).median()
        others = [signed(row["mean of collections"]), f"{row['lower on']} of {row['collections']}", f"{times:.1f}"]
        lines.append([*pair, *values, ", ".join(both["verdict"]), *others])
    head = ["first", "second", *OUTCOMES, "verdict", "mean of collections", "lower on", "training time, ratio"]
    return table(head, lines)


def losses(rows: pd.DataFrame) -> str:
    """Return comparisons that are behind on one collection, simultaneous over collections."""
    size, lines = rows["collection"].nunique(), []
    chosen = rows[rows["family"].isin(LISTED) & rows["measure"].isin(OUTCOMES)]
    for row in chosen.to_dict("records"):
        interval = Estimate(row["difference"], row["error"], row["freedom"]).interval(family=size)
        if interval[1] < 0:
            keys = ("family", "collection", "trained by", "beside", "measure")
            lines.append([*(row[key] for key in keys), cell(row["difference"], interval)])
    return table(["family", "collection", "first", "second", "value", "difference"], lines)


def choices(found: pd.DataFrame) -> pd.DataFrame:
    """Return how each choice changes the mean of six, beside raw features and 100 trees."""
    found = found[found["measure"] == MEAN].set_index(["first", "second"])
    pairs = {key: (name(key[0], *CHOICES[key[1]]), name(key[0], FEW, RAW)) for key in product(OBJECTIVES, CHOICES)}
    lines = [(*key, *found.loc[pair, CHANGE]) for key, pair in pairs.items() if pair in found.index]
    return pd.DataFrame(lines, columns=["objective", "choice", *CHANGE])


def table_of_choices(changes: pd.DataFrame) -> str:
    """Return the table of the README, in which proven gains are bold."""
    shown = {}
    for row in changes.itertuples():
        text = cell(row.difference, (row.low, row.high))
        shown[row.choice, row.objective] = f"**{text}**" if row.low > 0 else text
    lines = [[choice, *(shown.get((choice, one), "not tested") for one in IN_README)] for choice in CHOICES]
    return table(["choice", *IN_README], lines)


def gains_by_list(gains: pd.DataFrame) -> pd.DataFrame:
    """Return the gain of each kind of features on each kind of list, with its interval."""
    groups = gains.rename(columns={"gain": "difference"}).groupby(["served", "features"], sort=False)
    found = {key: estimate(group, "queries") for key, group in groups}
    lines = [(*key, one.mean, *one.interval(family=len(found))) for key, one in found.items()]
    return pd.DataFrame(lines, columns=["served", "features", "gain", "low", "high"])


def draw(found: pd.DataFrame, label: str, path: Path) -> None:
    """Draw intervals: columns with the names of row and line, the mean, and both ends."""
    found = found.set_axis(["row", "line", "mean", "low", "high"], axis=1)
    rows = list(dict.fromkeys(found["row"]))
    figure, (ax,) = panels(1)
    figure.set_size_inches(7.5, 1.5 + 0.5 * len(rows))
    for number, (name_of_line, of_line) in enumerate(found.groupby("line", sort=False)):
        style: dict[str, Any] = {**line(number), "linestyle": "none", "capsize": 2, "label": name_of_line}
        heights = [rows.index(row) + 0.2 * (number - 1) for row in of_line["row"]]
        ends = (of_line["mean"] - of_line["low"], of_line["high"] - of_line["mean"])
        ax.errorbar(of_line["mean"], heights, xerr=ends, **style)
    ax.axvline(0, color="0.5", linewidth=0.8)
    ax.set_yticks(range(len(rows)), rows)
    ax.set_xlabel(label)
    ax.invert_yaxis()
    legend_below(figure, ax, 3)
    save(figure, path)


def fit_seconds(models: pd.DataFrame) -> pd.DataFrame:
    """Return the seconds of a training of each ranker, with a column for each collection."""
    # Medians, since the seconds of an interrupted training include the interruption.
    return models.groupby(["ranker", "collection"])["fit seconds"].median().unstack()


def write_table(found: pd.DataFrame, file: str) -> None:
    """Write a table of results, in which the numbers of pages are looked up."""
    found.to_csv(RESULTS / "tables" / file, index=False, lineterminator="\n", float_format="%.8f")


def redraw() -> None:
    """Write tables into the page and into the results, and the figures."""
    gains = gains_by_list(pd.read_csv(RESULTS / "serving.csv"))
    write_table(gains, "serving.csv")
    draw(gains, "gain over raw features, mean of nDCG@10, AP and GAP", FIGURES / "better_rankings_serving.png")
    rows, models = (pd.read_csv(RESULTS / f"{file}.csv") for file in ("estimates", "models"))
    if rows["collection"].nunique() < len(FILES):
        return  # families are read once, when all collections are trained
    found = comparisons(rows)
    write_table(found, "comparisons.csv")
    for family in FAMILIES:
        write(family, compared(found, fit_seconds(models), family), PAGE)
    write("losses", losses(rows), PAGE)
    changes = choices(found)
    write("choices", table_of_choices(changes), README)
    drawn = changes[changes["choice"].isin(DRAWN)]
    draw(drawn, "difference from raw features and 100 trees, mean of six measures", FIGURES / "better_rankings.png")
