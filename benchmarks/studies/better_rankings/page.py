"""Tables and figures of BETTER_RANKINGS.md, from the saved estimates."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.studies.better_rankings.rankers import OBJECTIVES, OUTCOMES
from benchmarks.studies.pictures import legend_below, line, panels, save
from benchmarks.studies.tables import FIGURES, interval_text, signed, table, write
from gapboost.analysis.estimates import Estimate, independent, pooled

PAGE = Path(__file__).parents[2] / "BETTER_RANKINGS.md"
MARGIN = 0.003
# The families whose losses on single collections are listed.
LISTED = ("features", "trees", "forests", "together")


def pooled_rows(rows: pd.DataFrame, value: str) -> Estimate:
    """Return the mean over all queries of the collections; a row for each collection."""
    estimates = [Estimate(*one) for one in rows[[value, "error", "freedom"]].to_numpy()]
    return pooled(estimates, rows["queries"].tolist())


def text(one: Estimate, family: int) -> str:
    """Return a mean with its simultaneous interval."""
    return f"{signed(one.mean)} ({interval_text(one.interval(family=family))})"


def compared(rows: pd.DataFrame, family: str) -> str:
    """Return the table of one family, with a verdict for each outcome."""
    chosen = rows[rows["family"] == family]
    pairs = chosen[["first", "second"]].drop_duplicates().to_numpy().tolist()
    lines = []
    for first, second in pairs:
        of_pair = chosen[(chosen["first"] == first) & (chosen["second"] == second)]
        of_outcomes = [of_pair[of_pair["outcome"] == outcome] for outcome in OUTCOMES]
        estimates = [pooled_rows(one, "difference") for one in of_outcomes]
        over_collections = independent(of_outcomes[0]["difference"].to_numpy())
        below = int((of_outcomes[0]["difference"] < 0).sum())
        times = of_outcomes[0]["seconds of first"] / of_outcomes[0]["seconds of second"]
        lines.append(
            [
                first, second, *(text(one, len(pairs)) for one in estimates),
                ", ".join(one.verdict(family=len(pairs), margin=MARGIN) for one in estimates),
                signed(over_collections.mean), f"{below} of {len(of_outcomes[0])}", f"{times.median():.1f}",
            ]
        )  # fmt: skip
    head = ["first", "second", "mean of six", "nDCG@10", "verdict", "mean of collections", "lower on", "time ratio"]
    return table(head, lines)


def losses(rows: pd.DataFrame) -> str:
    """Return the comparisons that are behind on a single collection, simultaneous over the collections."""
    lines = []
    for row in rows[rows["family"].isin(LISTED)].itertuples():
        one = Estimate(row.difference, row.error, row.freedom)
        size = rows["collection"].nunique()
        if one.interval(family=size)[1] < 0:
            lines.append([row.family, row.collection, row.first, row.second, row.outcome, text(one, size)])
    return table(["family", "collection", "first", "second", "value", "difference"], lines)


def of_lists(rows: pd.DataFrame) -> list[tuple[str, str, Estimate]]:
    """Return the gain of each kind of features on each kind of list."""
    groups = rows.groupby(["served", "features"], sort=False)
    return [(served, features, pooled_rows(group, "gain")) for (served, features), group in groups]


def serving(rows: pd.DataFrame) -> str:
    """Return the table of gains by served lists."""
    found = of_lists(rows)
    return table(
        ["served", "features", "gain over raw", "verdict"],
        [
            [served, features, text(one, len(found)), one.verdict(family=len(found), margin=MARGIN)]
            for served, features, one in found
        ],
    )


def draw_serving(rows: pd.DataFrame, path: Path = FIGURES / "better_rankings_serving.png") -> None:
    """Draw the gains by served lists, with simultaneous intervals."""
    found = of_lists(rows)
    lists = list(dict.fromkeys(served for served, *_ in found))
    figure, (ax,) = panels(1)
    figure.set_size_inches(7.5, 4)
    for number, kind in enumerate(dict.fromkeys(features for _, features, _ in found)):
        of_kind = [(lists.index(served), one) for served, features, one in found if features == kind]
        draw_intervals(ax, [(place + 0.2 * (number - 1), one) for place, one in of_kind], len(found), number, kind)
    ax.set_yticks(range(len(lists)), lists)
    ax.set_xlabel("gain over raw features, mean of nDCG@10, AP and GAP")
    finish(figure, ax, path)


def draw_choices(rows: pd.DataFrame, path: Path = FIGURES / "better_rankings.png") -> None:
    """Draw what features, more trees and both change, for each objective."""
    # The family, and the end of the name of the first ranker.
    choices = {
        "z-scores, 100 trees": ("features", "100 trees, z-scores"),
        "500 smaller steps, raw": ("trees", "500 trees, raw"),
        "both": ("together", "500 trees, z-scores"),
    }
    figure, (ax,) = panels(1)
    figure.set_size_inches(7.5, 4.5)
    for number, (label, (family, end)) in enumerate(choices.items()):
        of_family = rows[(rows["family"] == family) & (rows["outcome"] == OUTCOMES[0])]
        pairs = of_family.groupby(["first", "second"], sort=False)
        found = [pooled_rows(group, "difference") for (first, _), group in pairs if first.endswith(end)]
        heights = [place + 0.2 * (number - 1) for place in range(len(found))]
        draw_intervals(ax, list(zip(heights, found, strict=True)), len(pairs), number, label)
    ax.set_yticks(range(len(OBJECTIVES)), list(OBJECTIVES))
    ax.set_xlabel("difference from raw features and 100 trees, mean of six measures")
    finish(figure, ax, path)


def draw_intervals(ax: Any, placed: Sequence[tuple[float, Estimate]], family: int, number: int, label: str) -> None:
    """Draw means with simultaneous intervals at the given heights."""
    style = {**line(number), "linestyle": "none"}
    means = [one.mean for _, one in placed]
    halves = [one.critical(family=family) for _, one in placed]
    ax.errorbar(means, [height for height, _ in placed], xerr=halves, label=label, capsize=2, **style)


def finish(figure: Any, ax: Any, path: Path) -> None:
    """Add the line at 0 and the legend, and save the figure."""
    ax.axvline(0, color="0.5", linewidth=0.8)
    ax.invert_yaxis()
    legend_below(figure, ax, 3)
    save(figure, path)


def redraw(compared_path: Path, served_path: Path) -> None:
    """Write the tables into the page, and the figures."""
    rows, gains = pd.read_csv(compared_path), pd.read_csv(served_path)
    for family in dict.fromkeys(rows["family"]):
        write(family, compared(rows, family), PAGE)
    write("losses", losses(rows), PAGE)
    write("serving", serving(gains), PAGE)
    draw_choices(rows)
    draw_serving(gains)
