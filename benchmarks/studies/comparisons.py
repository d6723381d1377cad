"""Rankers compared on several collections by `compare_rankers`: saved estimates, and means."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.harness import signed
from gapboost.analysis.estimates import Estimate, independent, pooled
from gapboost.comparison import Comparison
from gapboost.comparison.verdicts import estimate_difference

# Measures, and their names in the results.
MEASURES = {"ndcg@10": "nDCG@10", "ndcg": "nDCG", "map": "AP", "p@10": "P@10"}
MEASURES |= {"gap": "GAP", "egap": "eGAP"}
MEAN = "mean of six"
Rows = list[dict[str, Any]]
# {family: pairs of rankers}; the comparisons of a family by one measure are read together.
Families = Mapping[str, Sequence[tuple[str, str]]]


def save(
    results: Path, chosen: str, collection: str, comparison: Comparison, families: Families
) -> None:
    """Save the models and estimates of a set of rankers on a collection, instead of older ones."""
    _replace(results / "models.csv", chosen, collection, models(comparison))
    _replace(results / "estimates.csv", chosen, collection, estimates(comparison, families))


def _replace(path: Path, chosen: str, collection: str, rows: Rows) -> None:
    new = pd.DataFrame([{"rankers": chosen, "collection": collection, **row} for row in rows])
    if path.exists():
        old = pd.read_csv(path, dtype=str)  # numbers stay as they were written
        new = pd.concat([old[(old["rankers"] != chosen) | (old["collection"] != collection)], new])
    path.parent.mkdir(parents=True, exist_ok=True)
    new.to_csv(path, index=False, lineterminator="\n")


def models(comparison: Comparison) -> Rows:
    """Return a row for each tested model: means over its test queries."""
    splits = comparison.training.splits
    return [
        {
            "ranker": one.task.ranker, "repeat": one.task.repeat,
            "fold": splits[one.task.split].fold + 1, "queries": len(splits[one.task.split].test),
            **{MEASURES[name]: f"{np.mean(values):.6f}" for name, values in one.values.items()},
            "fit seconds": f"{one.fit_seconds:.3f}",
        }
        for one in comparison.values.results
    ]  # fmt: skip


def estimates(comparison: Comparison, families: Families) -> Rows:
    """Return a row for each pair whose rankers were compared, and each measure."""
    queries = [split.test for split in comparison.training.splits]
    rows = []
    for family, pairs in families.items():
        for first, second in pairs:
            if not {first, second} <= set(comparison.rankers):
                continue
            a, b = (values(comparison, ranker) for ranker in (first, second))
            for measure in a:
                found = estimate_difference(list(zip(a[measure], b[measure], strict=True)), queries)
                rows.append(
                    {
                        "family": family, "trained by": first, "beside": second, "measure": measure,
                        "queries": comparison.values.n_queries, "difference": f"{found.mean:.8f}",
                        "error": f"{found.error:.8f}", "freedom": f"{found.freedom:.8g}",
                    }
                )  # fmt: skip
    return rows


def values(comparison: Comparison, ranker: str) -> dict[str, list[Any]]:
    """Return the values of the test queries of each split by each measure, and their means."""
    found = {name: comparison.values.of(ranker, measure) for measure, name in MEASURES.items()}
    by_split = zip(*found.values(), strict=True)
    return found | {MEAN: [np.mean(of_split, axis=0) for of_split in by_split]}


def estimate(rows: pd.DataFrame, units: str) -> Estimate:
    """Return the mean over all queries, or over the collections."""
    if units == "collections":
        return independent(rows["difference"].to_numpy())
    found = [Estimate(*row) for row in rows[["difference", "error", "freedom"]].to_numpy().tolist()]
    return pooled(found, rows["queries"].tolist())


def matching(rows: pd.DataFrame, wanted: Mapping[str, str]) -> pd.DataFrame:
    """Return the rows with these values."""
    return rows[np.all([rows[name] == value for name, value in wanted.items()], axis=0)]


def cell(mean: float, interval: tuple[float, float]) -> str:
    """Return a difference with its interval; with more digits if an end would be shown as 0."""
    digits = next((n for n in (4, 5) if all(round(end, n) for end in interval)), 6)
    return f"{signed(mean, digits)} ({signed(interval[0], digits)} … {signed(interval[1], digits)})"
