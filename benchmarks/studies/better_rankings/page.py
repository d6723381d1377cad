"""Tables and figures of BETTER_RANKINGS.md, from the saved estimates."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.pictures import legend_below, line, panels, save
from benchmarks.studies.better_rankings.rankers import FAMILIES, FEW, MANY, OBJECTIVES, RAW, Z, name
from benchmarks.studies.comparisons import MARGIN, MEAN, cell, estimate, matching
from benchmarks.studies.effectiveness.data import FILES
from benchmarks.studies.tables import FIGURES, signed, table, write
from gapboost.analysis.estimates import Estimate

CHOSEN = "better_rankings"
RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[2] / "BETTER_RANKINGS.md"
OUTCOMES = (MEAN, "nDCG@10")
# The families whose losses on single collections are listed.
LISTED = ("features", "trees", "forests", "together")


def text(one: Estimate, family: int) -> str:
    """Return a mean with its simultaneous interval."""
    return cell(one.mean, one.interval(family=family))


def of_pair(rows: pd.DataFrame, family: str, pair: tuple[str, str], measure: str) -> pd.DataFrame:
    """Return the estimates of a pair, a row for each collection."""
    return matching(rows, {"family": family, "trained by": pair[0], "beside": pair[1], "measure": measure})


def compared(rows: pd.DataFrame, seconds: pd.Series, family: str) -> str:
    """Return the table of one family, with a verdict for each outcome."""
    pairs, lines = FAMILIES[family], []
    for pair in pairs:
        saved = [of_pair(rows, family, pair, outcome) for outcome in OUTCOMES]
        found = [estimate(one, "queries") for one in saved]
        verdicts = ", ".join(one.verdict(family=len(pairs), margin=MARGIN) for one in found)
        below, times = (saved[0]["difference"] < 0).sum(), seconds[pair[0]] / seconds[pair[1]]
        others = [signed(saved[0]["difference"].mean()), f"{below} of {len(saved[0])}", f"{times:.1f}"]
        lines.append([*pair, *(text(one, len(pairs)) for one in found), verdicts, *others])
    head = ["first", "second", MEAN, "nDCG@10", "verdict", "mean of collections", "lower on", "training time, ratio"]
    return table(head, lines)


def losses(rows: pd.DataFrame) -> str:
    """Return comparisons that are behind on one collection, simultaneous over collections."""
    size, lines = rows["collection"].nunique(), []
    chosen = rows[rows["family"].isin(LISTED) & rows["measure"].isin(OUTCOMES)]
    for row in chosen.to_dict("records"):
        one = Estimate(row["difference"], row["error"], row["freedom"])
        if one.interval(family=size)[1] < 0:
            keys = ("family", "collection", "trained by", "beside", "measure")
            lines.append([*(row[key] for key in keys), text(one, size)])
    return table(["family", "collection", "first", "second", "value", "difference"], lines)


def of_lists(gains: pd.DataFrame) -> list[tuple[str, str, Estimate]]:
    """Return the gain of each kind of features on each kind of list."""
    groups = gains.rename(columns={"gain": "difference"}).groupby(["served", "features"], sort=False)
    return [(served, features, estimate(group, "queries")) for (served, features), group in groups]


def save_gains(gains: pd.DataFrame) -> None:
    """Write the table of gains by served lists, with simultaneous intervals."""
    found = of_lists(gains)
    lines = [(served, kind, one.mean, *one.interval(family=len(found))) for served, kind, one in found]
    table_of = pd.DataFrame(lines, columns=["served", "features", "gain", "low", "high"])
    table_of.to_csv(RESULTS / "tables" / "serving.csv", index=False, lineterminator="\n", float_format="%.8f")


def draw_choices(rows: pd.DataFrame, path: Path = FIGURES / "better_rankings.png") -> None:
    """Draw what features, more trees and both change, for each objective."""
    choices = {
        "z-scores, 100 trees": ("features", FEW, Z),
        "500 smaller steps, raw": ("trees", MANY, RAW),
        "both": ("together", MANY, Z),
    }
    lines = {}
    for label, (family, *choice) in choices.items():
        pairs = [pair for pair in FAMILIES[family] if pair[0] in {name(one, *choice) for one in OBJECTIVES}]
        of_pairs = [of_pair(rows, family, pair, MEAN) for pair in pairs]
        lines[label] = ([estimate(one, "queries") for one in of_pairs], len(FAMILIES[family]))
    draw(lines, list(OBJECTIVES), "difference from raw features and 100 trees, mean of six measures", path)


def draw_serving(gains: pd.DataFrame, path: Path = FIGURES / "better_rankings_serving.png") -> None:
    """Draw the gains by served lists."""
    found = of_lists(gains)
    lines: dict[str, tuple[list[Estimate], int]] = {}
    for _, kind, one in found:
        lines.setdefault(kind, ([], len(found)))[0].append(one)
    lists = list(dict.fromkeys(served for served, *_ in found))
    draw(lines, lists, "gain over raw features, mean of nDCG@10, AP and GAP", path)


def draw(lines: dict[str, tuple[list[Estimate], int]], rows: Sequence[str], label: str, path: Path) -> None:
    """Draw simultaneous intervals of estimates, by row, with a mark for each line."""
    figure, (ax,) = panels(1)
    figure.set_size_inches(7.5, 1.5 + 0.5 * len(rows))
    for number, (name_of_line, (found, family)) in enumerate(lines.items()):
        style: dict[str, Any] = {**line(number), "linestyle": "none", "capsize": 2, "label": name_of_line}
        heights = [place + 0.2 * (number - 1) for place in range(len(found))]
        ax.errorbar([one.mean for one in found], heights, xerr=[one.critical(family=family) for one in found], **style)
    ax.axvline(0, color="0.5", linewidth=0.8)
    ax.set_yticks(range(len(rows)), rows)
    ax.set_xlabel(label)
    ax.invert_yaxis()
    legend_below(figure, ax, 3)
    save(figure, path)


def redraw() -> None:
    """Write tables into the page and into the results, and the figures."""
    gains = pd.read_csv(RESULTS / "serving.csv")
    save_gains(gains)
    draw_serving(gains)
    rows, models = (pd.read_csv(RESULTS / f"{file}.csv") for file in ("estimates", "models"))
    if rows["collection"].nunique() < len(FILES):
        return  # families are read once, when all collections are trained
    # Medians, since the seconds of an interrupted training include the interruption.
    seconds = models.groupby(["collection", "ranker"])["fit seconds"].median().groupby("ranker").mean()
    for family in FAMILIES:
        write(family, compared(rows, seconds, family), PAGE)
    write("losses", losses(rows), PAGE)
    draw_choices(rows)
