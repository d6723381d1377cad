"""The hierarchical model of what a training measure gains in the measures that are tested, by its informativeness."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.regression.mixed_linear_model import MixedLM
from statsmodels.tools.sm_exceptions import ConvergenceWarning

from gapboost.analysis.estimates import Estimate

FORMULA = "gain ~ own + own:step + dose + dose:step"
RANDOM = {
    "training measure": "0 + C(trained)",
    "training measure in a collection": "0 + C(trained_there)",
    "models": "0 + C(models)",
    "own, by target": "0 + C(tested):own",
    "dose, by target": "0 + C(tested):dose",
}


def gains(
    values: pd.DataFrame, spread: dict[tuple[str, str], float], dose: dict[tuple[str, str], float]
) -> pd.DataFrame:
    """One row a collection, size, training measure and target, the mean over resplits.

    Parameters
    ----------
    values : DataFrame
        Columns collection, resplit, size, trained, and one a measure.
    spread : dict
        Standard deviation of a measure over the queries of a collection, by (collection, measure).
    dose : dict
        By (collection, training measure).

    Returns
    -------
    DataFrame
        `gain` is the value less its mean over training measures, in hundredths of the spread; `step` counts quadruplings from 50
        queries.
    """
    trained = list(dict.fromkeys(values["trained"]))
    means = values.groupby(["collection", "size", "trained"], sort=False)[trained].mean()
    rows = means.rename_axis(columns="tested").stack().rename("value").reset_index()
    cell = rows.groupby(["collection", "size", "tested"])["value"]
    scale = [spread[key] for key in zip(rows["collection"], rows["tested"], strict=True)]
    rows["gain"] = 100 * (rows["value"] - cell.transform("mean")) / np.array(scale)
    rows["dose"] = [dose[key] for key in zip(rows["collection"], rows["trained"], strict=True)]
    rows["own"] = (rows["trained"] == rows["tested"]).astype(float)
    rows["step"] = np.log(rows["size"] / 50) / np.log(4)
    rows["trained_there"] = rows["trained"] + " " + rows["collection"]
    rows["models"] = rows["trained_there"] + " " + rows["size"].astype(str)
    return rows


@dataclass(frozen=True)
class Fitted:
    """What the model says.

    Attributes
    ----------
    effects : dict
        Fixed effects by the names of `FORMULA`, in hundredths of a standard deviation over queries; intervals by Student's t over
        the training measures.
    deviations : dict
        Standard deviations of the random effects, and of the rest.
    """

    effects: dict[str, Estimate]
    deviations: dict[str, float]


def fitted(rows: pd.DataFrame, formula: str = FORMULA) -> Fitted:
    """Fit by restricted likelihood."""
    random: dict[str, Any] = (
        RANDOM if rows["collection"].nunique() > 1 else {k: v for k, v in RANDOM.items() if "in a" not in k}
    )
    model = MixedLM.from_formula(formula, rows, groups=np.ones(len(rows)), re_formula="0", vc_formula=random)
    with warnings.catch_warnings():
        # A variance at its bound of 0 is an answer.
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = model.fit(reml=True)
    freedom = rows["trained"].nunique() - 2
    effects = {
        name: Estimate(float(result.params[name]), float(result.bse[name]), freedom) for name in result.model.exog_names
    }
    names = result.model.exog_vc.names
    deviations = {name: float(v**0.5) for name, v in zip(names, result.vcomp, strict=True)}
    return Fitted(effects, deviations | {"rest": float(result.scale**0.5)})


def plain(x: Any, y: Any) -> Estimate:
    """The slope of a line through the training measures, one point each."""
    line = stats.linregress(x, y)
    return Estimate(float(line.slope), float(line.stderr), len(x) - 2)
