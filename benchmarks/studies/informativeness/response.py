"""What the models gain in the tested measures, beside the doses of the measures that they are trained for."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.studies.informativeness import doses, runs
from benchmarks.studies.informativeness.data import CUT_OFF, MEASURES, Source

# What `model.py` makes of it.
EFFECTS = Path(__file__).parent / "results" / "effects.csv"
# The size from which steps are counted, and what a step is.
MIDDLE, STEP = 50, 4


def values(sources: Sequence[Source]) -> pd.DataFrame:
    """Test values of the resplits that are finished for all of these collections, sizes and training measures."""
    found = pd.read_csv(runs.RESULTS.path)
    found = found[found["collection"].isin([source.name for source in sources])]
    whole = sum(len(source.sizes) for source in sources) * len(MEASURES)
    return found[found.groupby("resplit")["trained"].transform("size") == whole]


def dosed() -> pd.DataFrame:
    """A row a collection and measure: `rms`, the mean error, `dose`, and `spread`."""
    found = pd.read_csv(doses.RESULTS.path)
    found["rms"] = found[["rms 1", "rms 2"]].mean(axis=1)
    by = found.groupby("collection")["rms"]
    found["dose"] = (by.transform("mean") - found["rms"]) / by.transform(lambda errors: errors.std(ddof=0))
    return found.set_index(["collection", "measure"])


def gains(found: pd.DataFrame, tested: Sequence[str] = tuple(MEASURES)) -> pd.DataFrame:
    """One row a collection, size, training measure and tested measure, of means over resplits.

    Parameters
    ----------
    found : DataFrame
        As from `values`.
    tested : sequence of str

    Returns
    -------
    DataFrame
        `gain` is the value less its mean over training measures, in hundredths of the spread over queries; `step` counts
        quadruplings from 50 training queries; `own` is 1 where the measure that was trained for is tested, `cut` where it has a
        cut-off.
    """
    means = found.groupby(["collection", "size", "trained"], sort=False)[list(tested)].mean()
    rows = means.rename_axis(columns="tested").stack().rename("value").reset_index()
    # Means of judges are drawn around the grades of the same queries.
    of = rows["collection"].str.split().str[0]
    known = dosed()
    spread = known["spread"].loc[list(zip(of, rows["tested"], strict=True))].to_numpy()
    middle = rows.groupby(["collection", "size", "tested"])["value"].transform("mean")
    rows["gain"] = 100 * (rows["value"] - middle) / spread
    rows["dose"] = known["dose"].loc[list(zip(of, rows["trained"], strict=True))].to_numpy()
    rows["own"] = (rows["trained"] == rows["tested"]).astype(float)
    rows["cut"] = rows["trained"].isin(CUT_OFF).astype(float)
    rows["step"] = np.log(rows["size"] / MIDDLE) / np.log(STEP)
    return rows


def in_others(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Mean gain of each training measure in the others, and its dose, by some columns."""
    others = rows[rows["own"] == 0]
    return others.groupby([*by, "trained"], sort=False)[["gain", "dose"]].mean().reset_index()
