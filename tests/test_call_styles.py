"""Fits as users of the boosters' own rankers write them, and what `help()` says of them."""

import inspect

import pytest

from gapboost.dask import DaskLGBMGAPRanker, DaskXGBGAPRanker
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.model_selection import GSearchCV
from gapboost.xgboost import XGBGAPRanker


@pytest.mark.parametrize("kind", [LGBMGAPRanker, XGBGAPRanker, DaskLGBMGAPRanker, DaskXGBGAPRanker, GSearchCV])
def test_help_describes_every_parameter_of_fit(kind):
    text = inspect.getdoc(kind.fit)
    described = text.partition("Parameters\n")[2].partition("Raises\n")[0]
    names = {
        name.strip()
        for line in described.splitlines()
        if not line.startswith(" ")
        for name in line.partition(" : ")[0].split(",")
    }
    assert set(inspect.signature(kind.fit).parameters) - {"self"} <= names
    assert "{" not in text
