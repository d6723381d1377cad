"""Tables and figures of BETTER_RANKINGS.md, from the saved estimates."""

from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.harness import FIGURES, signed, table, write
from benchmarks.pictures import legend_below, line, panels, save
from benchmarks.studies.better_rankings.rankers import (
    CHOICES,
    DRAWN,
    FAMILIES,
    FEW,
    IN_README,
    OBJECTIVES,
    RAW,
    TUNED_FAMILIES,
    name,
)
from benchmarks.studies.comparisons import MARGIN, MEAN, Families, cell, estimate, matching
from benchmarks.studies.effectiveness.data import FILES
from gapboost.analysis.estimates import Estimate

RESULTS = Path(__file__).parent / "results"
TUNED_RESULTS = RESULTS / "tuned"
PAGE = Path(__file__).parents[2] / "BETTER_RANKINGS.md"
README = PAGE.parents[1] / "README.md"
OUTCOMES = (MEAN, "nDCG@10")
# The families whose losses on single collections are listed.
LISTED = ("features", "trees", "forests", "together")
# Columns of a comparison that tables and figures of choices show.
CHANGE = ["difference", "low", "high"]


def comparisons(rows: pd.DataFrame, models: pd.DataFrame, families: Families) -> pd.DataFrame:
    """Return the mean, the simultaneous interval and the verdict of each comparison and outcome.

    A pair is read when it is trained on all collections.
    """
    # Medians, since the seconds of an interrupted training include the interruption.
    seconds = models.groupby(["ranker", "collection"])["fit seconds"].median().unstack()
    lines = []
    for family, pairs in families.items():
        for pair, outcome in product(pairs, OUTCOMES):
            wanted = {"family": family, "trained by": pair[0], "beside": pair[1], "measure": outcome}
            saved = matching(rows, wanted)
            if len(saved) < len(FILES):
                continue
            found, size, differences = estimate(saved, "queries"), len(pairs), saved["difference"]
            verdict = found.verdict(family=size, margin=MARGIN)
            times = (seconds.loc[pair[0]] / seconds.loc[pair[1]]).median()
            others = differences.mean(), (differences < 0).sum(), len(saved), times
            lines.append((family, *pair, outcome, found.mean, *found.interval(family=size), verdict, *others))
    names = ("difference", "low", "high", "verdict", "mean of collections", "lower on", "collections", "training time")
    return pd.DataFrame(lines, columns=["family", "first", "second", "measure", *names])


def compared(found: pd.DataFrame, family: str) -> str:
    """Return the table of one family, with a verdict for each outcome.

    The first column names what both rankers share.
    """
    lines = []
    for pair, both in found[found["family"] == family].groupby(["first", "second"], sort=False):
        values = [cell(row.difference, (row.low, row.high)) for row in both.itertuples()]
        row = both.iloc[0]
        counts = [f"{row['lower on']} of {row['collections']}", f"{row['training time']:.1f}"]
        lines.append(
            [*shared_and_own(pair), *values, ", ".join(both["verdict"]), signed(row["mean of collections"]), *counts]
        )
    head = [
        "rankers",
        "first",
        "second",
        *OUTCOMES,
        "verdict",
        "mean of collections",
        "lower on",
        "training time, ratio",
    ]
    return table(head, lines)


def shared_and_own(pair: tuple[str, str]) -> list[str]:
    """Return what the names of two rankers share, and what each has of its own."""
    parts = list(zip(*(one.split(", ") for one in pair), strict=True))
    own = zip(*(both for both in parts if both[0] != both[1]), strict=True)
    return [", ".join(one for one, other in parts if one == other), *(", ".join(names) for names in own)]


def losses(rows: pd.DataFrame) -> str:
    """Return comparisons that are behind on one collection, simultaneous over collections."""
    size, lines = rows["collection"].nunique(), []
    chosen = rows[rows["family"].isin(LISTED) & rows["measure"].isin(OUTCOMES)]
    for row in chosen.to_dict("records"):
        interval = Estimate(row["difference"], row["error"], row["freedom"]).interval(family=size)
        if interval[1] < 0:
            keys = ("family", "collection", "trained by", "beside", "measure")
            lines.append([*(row[key] for key in keys), cell(row["difference"], interval)])
    return table(["family", "collection", "first", "second", "value", "difference"], lines) if lines else "None."


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


def draw(changes: pd.DataFrame, path: Path) -> None:
    """Draw what each choice changes, with its interval, for each objective."""
    figure, (ax,) = panels(1)
    figure.set_size_inches(7.5, 1.5 + 0.5 * len(OBJECTIVES))
    for number, (choice, found) in enumerate(changes.groupby("choice", sort=False)):
        style: dict[str, Any] = {**line(number), "linestyle": "none", "capsize": 2, "label": choice}
        heights = [place + 0.2 * (number - 1) for place in range(len(found))]
        ends = (found["difference"] - found["low"], found["high"] - found["difference"])
        ax.errorbar(found["difference"], heights, xerr=ends, **style)
    ax.axvline(0, color="0.5", linewidth=0.8)
    ax.set_yticks(range(len(OBJECTIVES)), list(OBJECTIVES))
    ax.set_xlabel("difference from raw features and 100 trees, mean of six measures")
    ax.invert_yaxis()
    legend_below(figure, ax, 3)
    save(figure, path)


def write_families(results: Path, families: Families) -> pd.DataFrame:
    """Write the tables of families into the page; save and return their comparisons."""
    rows, models = (pd.read_csv(results / f"{file}.csv") for file in ("estimates", "models"))
    found = comparisons(rows, models, families)
    path = results / "tables" / "comparisons.csv"
    path.parent.mkdir(exist_ok=True)
    found.to_csv(path, index=False, lineterminator="\n", float_format="%.8f")
    for family in families:
        write(family, compared(found, family), PAGE)
    return found


def redraw() -> None:
    """Write tables and figures of what is trained on all collections."""
    rows = pd.read_csv(RESULTS / "estimates.csv")
    if rows["collection"].nunique() == len(FILES):  # families are read once
        changes = choices(write_families(RESULTS, FAMILIES))
        write("losses", losses(rows), PAGE)
        write("choices", table_of_choices(changes), README)
        draw(changes[changes["choice"].isin(DRAWN)], FIGURES / "better_rankings.png")
    if (TUNED_RESULTS / "estimates.csv").exists():
        write_families(TUNED_RESULTS, TUNED_FAMILIES)
