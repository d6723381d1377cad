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

from benchmarks.studies.informativeness.data import BINARY, CASCADES, CUT_OFF, FAMILIES, JUDGES, PRIMARY
from benchmarks.studies.informativeness.response import EFFECTS, gains, in_others, values
from gapboost.analysis.estimates import LEVEL, Estimate

HEAD = ("model", "effect", "estimate", "low", "high", "p", "error", "freedom", "family")
FORMULA = "gain ~ own + own:step + dose + dose:step"
RANDOM = {
    "training measure": "0 + C(trained)",
    "training measure in a collection": "0 + C(there)",
    "models": "0 + C(models)",
    "own by tested measure": "0 + C(tested):own",
    "dose by tested measure": "0 + C(tested):dose",
}
Cells = tuple[str | float | None, ...]
# Comparisons that are read together have intervals that hold at once: checks of the dose, other effects of the primary model.
CHECKS = ("beside the cut-off", "beside cut-off and grades", "without a cut-off", "without ohsumed", "other families")
OTHERS = ("own", "own:step", "dose:step")


def fitted(rows: pd.DataFrame, formula: str = FORMULA) -> tuple[dict[str, Estimate], dict[str, float], pd.DataFrame]:
    """Return fixed effects, standard deviations of the random ones, and the covariance of the fixed ones.

    By restricted likelihood. Intervals are Student's t over the training measures: these have a dose, and several models of
    one have the same.
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
    return effects, deviations | {"rest": float(result.scale**0.5)}, result.cov_params()


def line(points: pd.DataFrame, covariates: tuple[str, ...] = ()) -> Estimate:
    """Return the slope of gains over doses by least squares, a point a training measure."""
    X = np.column_stack([points["dose"], np.ones(len(points)), *(points[name] for name in covariates)])
    inverse = np.linalg.inv(X.T @ X)
    coefficients = inverse @ X.T @ points["gain"]
    freedom = len(X) - X.shape[1]
    scale = float(((points["gain"] - X @ coefficients) ** 2).sum()) / freedom
    return Estimate(float(coefficients[0]), float(np.sqrt(scale * inverse[0, 0])), freedom)


def ratio(first: Estimate, second: Estimate, covariance: float) -> tuple[float, float]:
    """Return Fieller's 95 % interval of first / second; the interval of the second must not hold 0."""
    t = stats.t.ppf(1 - LEVEL / 2, min(first.freedom, second.freedom))
    # All r for which first - r second is not significantly different from 0.
    a = second.mean**2 - (t * second.error) ** 2
    b = first.mean * second.mean - t**2 * covariance
    c = first.mean**2 - (t * first.error) ** 2
    half = np.sqrt(b**2 - a * c)
    return float((b - half) / a), float((b + half) / a)


def told(model: str, effect: str, one: Estimate, family: int = 1) -> Cells:
    """Return a row of the file."""
    p = min(1.0, family * one.p)
    return (model, effect, one.mean, *one.interval(family=family), p, one.error, one.freedom, family)


def same_family(rows: pd.DataFrame) -> pd.Series:
    """Return True where training measure and tested measure are different and of one family."""
    first, second = (rows[column].map(lambda name: FAMILIES.get(name, name)) for column in ("trained", "tested"))
    return (first == second) & (rows["own"] == 0)


def effects() -> Iterator[Cells]:
    """Yield all that the protocol asks for."""
    found = values(PRIMARY)
    rows = gains(found)
    whole = rows[~rows["trained"].isin(CUT_OFF) & ~rows["tested"].isin(CUT_OFF)]
    for name, chosen, formula in (
        ("primary", rows, FORMULA),
        ("beside the cut-off", rows, f"{FORMULA} + cut + cut:step"),
        ("without a cut-off", whole, FORMULA),
        ("without ohsumed", rows[rows["collection"] != "ohsumed"], FORMULA),
        ("other families", rows[~same_family(rows)], FORMULA),
    ):
        fixed, deviations, covariance = fitted(chosen, formula)
        for effect, estimate in fixed.items():
            checked = len(CHECKS) if name in CHECKS and effect == "dose" else 1
            other = len(OTHERS) if name == "primary" and effect in OTHERS else 1
            yield told(name, effect, estimate, max(checked, other))
        for effect, value in deviations.items():
            yield (name, f"deviation: {effect}", value, *[None] * 6)
        if name == "primary":
            own, dose = fixed["own"], fixed["dose"]
            interval = ratio(own, dose, float(covariance.loc["own", "dose"]))
            yield (name, "own / dose", own.mean / dose.mean, *interval, None, None, None, 1)
    points = in_others(rows, ())
    points = points.assign(
        cut=points["trained"].isin(CUT_OFF).astype(float), graded=(~points["trained"].isin(BINARY)).astype(float)
    )
    yield told("beside cut-off and grades", "dose", line(points, ("cut", "graded")), len(CHECKS))
    ranks = stats.spearmanr(points["dose"], points["gain"])
    yield ("sixteen means", "Spearman", float(ranks.statistic), None, None, float(ranks.pvalue), None, None, 1)
    by_size = list(in_others(rows, ("collection", "size")).groupby(["collection", "size"], sort=False))
    for (collection, size), some in by_size:
        yield told(f"{collection}, {size}", "line", line(some), len(by_size))
    for measure in CASCADES:
        some = in_others(gains(found, (measure,)), ())
        yield told(f"tested by {measure}", "line", line(some), len(CASCADES))
    judged = values((JUDGES,))
    if len(judged):
        for size, some in in_others(gains(judged), ("size",)).groupby("size", sort=False):
            yield told(f"{JUDGES.name}, {size}", "line", line(some), len(JUDGES.sizes))


def run(path: Path = EFFECTS) -> None:
    """Write the file of effects."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(HEAD)
        for model, effect, *numbers in effects():
            writer.writerow([model, effect, *("" if x is None else f"{x:.4g}" for x in numbers)])
