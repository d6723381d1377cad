"""Fewer bins of features: the third run of `protocols/scaling.md`, and its rule of choice.

Values that the result files hold are not trained again.
"""

import itertools
from collections.abc import Iterator
from functools import partial
from typing import Any

import lightgbm
import pandas as pd
import xgboost

from benchmarks.collections import FILES, Part, evaluated
from benchmarks.harness import BOOSTERS, HERE, Row, Subject, signed
from benchmarks.scaling import PAGE, QUIET, TARGET, Cell, interval, train, trained, with_interval
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

FAMILIES: list[tuple[Any, Any, dict[str, Any], tuple[int, ...]]] = [
    (lightgbm.LGBMRanker, LGBMGAPRanker, QUIET, (255, 31, 63, 127)),
    (xgboost.XGBRanker, XGBGAPRanker, {"n_jobs": 1}, (256, 64, 128)),
]
SEEDS = {100: 5, 300: 5, 1_000: 2, 3_000: 1}
NOISE = (0.3, 0.7, 2.0)
CELLS = [
    Cell(queries, 50, teacher, noise, 400 + seed)
    for queries, seeds in SEEDS.items()
    for teacher, noise, seed in itertools.product(("smooth", "trees", "fine"), NOISE, range(seeds))
]
CELLS += [Cell(10_000, 50, teacher, 0.3, 400) for teacher in ("smooth", "trees", "fine")]
PARTS = [Part(name, seed) for name, seed in itertools.product(FILES, (16, 17, 18))]


def rankers(g: tuple[float, ...] | None) -> dict[str, Any]:
    """Return makers of the boosters' rankers, and of ours with each number of bins."""
    found: dict[str, Any] = {}
    for vendor, ours, parameters, bins in FAMILIES:
        few = {31: 63, 64: 64}[bins[1]]
        found[vendor.__name__] = partial(vendor, **parameters)
        found[f"{vendor.__name__}(max_bin={few})"] = partial(vendor, max_bin=few, **parameters)
        for n in bins:
            name = f"{ours.__name__}(max_bin={n})"
            found[name] = partial(ours, g=g, max_bin=n, **parameters)
    return found


def on_made(smoke: bool = False) -> list[dict[str, str]]:
    """Return the values on made tasks."""
    run = partial(train, rankers=rankers(TARGET.g))
    run(Cell(20, 50, "fine", 0.3, 0))  # compiles
    if smoke:
        return trained(None, [Cell(20, 50, "fine", 0.3, seed) for seed in (0, 1)], run, 1)
    return trained(HERE / "results" / "bins_values.csv", CELLS, run, 1)


def on_collections(smoke: bool = False) -> list[dict[str, str]]:
    """Return the values on collections."""
    run = partial(evaluated, rankers=rankers(None), n_folds=1 if smoke else None)
    run(Part("trec-news", 0), n_folds=1)  # compiles
    if smoke:
        return trained(None, [Part("trec-news", 0), Part("trec-news", 1)], run, 1)
    return trained(HERE / "results" / "bins_collections.csv", PARTS, run, 1)


def values(smoke: bool) -> pd.DataFrame:
    """Return all values, with the group, the size, the cell and the unit of each."""
    made, real = pd.DataFrame(on_made(smoke)), pd.DataFrame(on_collections(smoke))
    made["group"] = made.teacher.map(lambda name: "fine" if name == "fine" else "smooth and trees")
    made["size"] = made.queries
    made["cell"] = made.queries + " " + made.teacher + " " + made.noise
    made["unit"] = made.queries + " " + made.seed
    real["group"] = real["size"] = real["cell"] = "collections"
    real["unit"] = real.collection
    found = pd.concat([made, real])
    columns = ["GAP", "nDCG@10", "processor s"]
    return found.astype(dict.fromkeys(columns, float)).pivot_table(
        index=["group", "size", "cell", "unit"], columns="ranker", values=columns
    )


def differences(smoke: bool) -> Iterator[Row]:
    """Yield a row for each group and each number of bins, and for the rule."""
    found = values(smoke)
    for vendor, ours, _, bins in FAMILIES:
        peer, today = vendor.__name__, f"{ours.__name__}(max_bin={bins[0]})"
        for name in (n for n in rankers(None) if n.startswith((peer, ours.__name__)) and n != peer):
            verdict = passes(found, name, today, peer) if name.startswith(ours.__name__) else ""
            for group in ("smooth and trees", "fine", "collections"):
                if group not in found.index.get_level_values("group"):
                    continue
                row: dict[str, Any] = {"data": group, "ranker": name}
                here = found.loc[[group]]
                for measure in ("GAP", "nDCG@10"):
                    of = here[measure]
                    for other, label in ((peer, "booster's"), (today, "most bins")):
                        by_unit = (of[name] - of[other]).groupby("unit").mean()
                        row[f"{measure} − {label}"] = with_interval(by_unit.tolist())
                    by_cell = (of[name] - of[peer]).groupby("cell").mean()
                    row[f"{measure} − booster's, lowest cell"] = (
                        f"{by_cell.idxmin()}: {signed(by_cell.min())}"
                    )
                spent = here["processor s"].groupby("size").sum()
                for other, label in ((today, "most bins'"), (peer, "booster's")):
                    ratio = spent[name] / spent[other]
                    row[f"time / {label}, mean, most"] = f"{ratio.mean():.2f}, {ratio.max():.2f}"
                yield {**row, "rule": verdict}


def passes(found: pd.DataFrame, name: str, today: str, peer: str) -> str:
    """Return the parts of the protocol's rule that a number of bins fails, or "passes"."""
    if name == today:
        return "reference"
    gap, ndcg, spent = found["GAP"], found["nDCG@10"], found["processor s"]
    behind = gap[name] - gap[today]
    failed = []
    for group, of_group in behind.groupby("group"):
        _, high = ends(of_group)
        if high < 0:
            failed.append(f"1 ({group})")
    if ends(behind.drop("collections", level="group"))[0] < -0.001:
        failed.append("1 (made tasks)")
    for number, of, bound in ((2, gap, 0.0), (3, ndcg, -0.002)):
        lead, lead_today = ((of[one] - of[peer]).groupby("cell").mean() for one in (name, today))
        lost = lead[lead < lead_today.clip(upper=bound)]
        failed += [f"{number} ({cell})" for cell in lost.index]
    by_size = (ndcg[name] - ndcg[today]).groupby(["group", "size"]).mean()
    failed += [f"3 ({' '.join(where)})" for where in by_size[by_size < -0.002].index]
    total = spent.groupby(["group", "size"]).sum()
    failed += [f"4 ({' '.join(w)})" for w in total[total[name] >= total[today]].index]
    return "fails " + ", ".join(failed) if failed else "passes"


def ends(differences: pd.Series) -> tuple[float, float]:
    """Return the ends of the interval of the mean over units."""
    return interval(differences.groupby("unit").mean().tolist())


ABOUT = "fewer bins of features beside the boosters' number of them"
SUBJECTS = [Subject("bins", ABOUT, differences, (*BOOSTERS, "pandas"), page=PAGE)]
