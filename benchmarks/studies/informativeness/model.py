"""The hierarchical model of gains by doses, what else the protocol asks for, and the file of effects. Needs statsmodels."""

import csv
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.regression.mixed_linear_model import MixedLM
from statsmodels.tools.sm_exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from benchmarks.studies.informativeness.data import CASCADES, CUT_OFF, JUDGES, PRIMARY
from benchmarks.studies.informativeness.response import EFFECTS, gains, in_others, values
from gapboost.analysis.estimates import Estimate

HEAD = ("model", "effect", "estimate", "low", "high", "p")
FORMULA = "gain ~ own + own:step + dose + dose:step"
RANDOM = {
    "training measure": "0 + C(trained)",
    "training measure in a collection": "0 + C(there)",
    "models": "0 + C(models)",
    "own by tested measure": "0 + C(tested):own",
    "dose by tested measure": "0 + C(tested):dose",
}
Cells = tuple[str, str, float, float | None, float | None, float | None]


def fitted(rows: pd.DataFrame, formula: str = FORMULA) -> tuple[dict[str, Estimate], dict[str, float]]:
    """Fixed effects, and standard deviations of the random ones and of the rest, by restricted likelihood.

    Intervals are Student's t over the training measures: these have a dose, of which several models make no more.
    """
    there = rows["trained"] + " " + rows["collection"]
    rows = rows.assign(there=there, models=there + " " + rows["size"].astype(str))
    model = MixedLM.from_formula(formula, rows, groups=np.ones(len(rows)), re_formula="0", vc_formula=RANDOM)
    # The matrices are small: a second thread costs tens of times more than it brings.
    with warnings.catch_warnings(), threadpool_limits(1):
        # A variance of 0 is an answer.
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = model.fit(reml=True)
    names = model.exog_names
    freedom = rows["trained"].nunique() - 1 - len({"dose", "cut"} & set(names))
    effects = {name: Estimate(float(result.params[name]), float(result.bse[name]), freedom) for name in names}
    deviations = {name: float(v**0.5) for name, v in zip(model.exog_vc.names, result.vcomp, strict=True)}
    return effects, deviations | {"rest": float(result.scale**0.5)}


def line(points: pd.DataFrame) -> Estimate:
    """The slope of gains over doses, a point a training measure."""
    found = stats.linregress(points["dose"], points["gain"])
    return Estimate(float(found.slope), float(found.stderr), len(points) - 2)


def told(model: str, effect: str, estimate: Estimate) -> Cells:
    """A row of the file."""
    return (model, effect, estimate.mean, *estimate.interval(), estimate.p)


def effects() -> Iterator[Cells]:
    """All that the protocol asks for."""
    found = values(PRIMARY)
    rows = gains(found)
    whole = rows[~rows["trained"].isin(CUT_OFF) & ~rows["tested"].isin(CUT_OFF)]
    for name, chosen, formula in (
        ("primary", rows, FORMULA),
        ("beside the cut-off", rows, f"{FORMULA} + cut + cut:step"),
        ("without a cut-off", whole, FORMULA),
    ):
        fixed, deviations = fitted(chosen, formula)
        yield from (told(name, effect, estimate) for effect, estimate in fixed.items())
        yield from ((name, f"deviation: {effect}", value, None, None, None) for effect, value in deviations.items())
    for (collection, size), points in in_others(rows, ("collection", "size")).groupby(
        ["collection", "size"], sort=False
    ):
        yield told(f"{collection}, {size}", "line", line(points))
    for measure in CASCADES:
        points = in_others(gains(found, (measure,)), ())
        yield told(f"tested by {measure}", "line", line(points))
    judged = values((JUDGES,))
    if len(judged):
        for size, points in in_others(gains(judged), ("size",)).groupby("size", sort=False):
            yield told(f"{JUDGES.name}, {size}", "line", line(points))


def run(path: Path = EFFECTS) -> None:
    """Write the file of effects."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(HEAD)
        for model, effect, *numbers in effects():
            writer.writerow([model, effect, *("" if x is None else f"{x:.4g}" for x in numbers)])
