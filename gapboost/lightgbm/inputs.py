"""Rows, weights and models as LightGBM takes them."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any

import lightgbm
import numpy as np

from gapboost._boosters.rows import RankingRows
from gapboost._data.features import check_arrow_numbers, check_names
from gapboost._kernels import Array
from gapboost.lightgbm.versions import readable

# The class of `lightgbm.early_stopping(...)`.
EARLY_STOPPING_CALLBACK = type(lightgbm.early_stopping(1))


def stopping_by_the_first(callbacks: Any) -> Any:
    """Return the callbacks; copies of early stopping use the first metric alone."""
    if not isinstance(callbacks, Collection):
        return callbacks  # LightGBM refuses what is none
    changed = []
    for callback in callbacks:
        if isinstance(callback, EARLY_STOPPING_CALLBACK):
            callback = copy(callback)
            callback.first_metric_only = True
        changed.append(callback)
    return changed


def read_exactly(X: Any, name: str) -> Any:
    """Return a table of `features` that LightGBM reads without rounding or a crash."""
    check_arrow_numbers(X, name)
    X = readable(X)
    # LightGBM makes float32 of every array that is not float64: integers above 2**24 would run
    # together.
    exact = not isinstance(X, np.ndarray) or np.can_cast(X.dtype, np.float32)
    return X if exact else X.astype(np.float64, copy=False)


def to_continue(model: Any, names: Sequence[str]) -> lightgbm.Booster:
    """Return the booster to continue, after a check that it has the columns of training."""
    booster = model.booster_ if isinstance(model, lightgbm.LGBMModel) else model
    if not isinstance(booster, lightgbm.Booster):
        booster = lightgbm.Booster(model_file=booster)
    known = booster.feature_name()
    # LightGBM's own names, where there were none.
    if known != [f"Column_{i}" for i in range(len(known))]:
        check_names([name.replace(" ", "_") for name in names], known, "X")
    return booster


def row_weights(rows: RankingRows) -> Array | None:
    """Return one weight for each row, as LightGBM takes them."""
    return rows.data.row_weights if rows.weighted else None


@contextmanager
def usable_features() -> Iterator[None]:
    """Turn LightGBM's internal check failure into a ValueError: no feature can be split."""
    try:
        yield
    except lightgbm.basic.LightGBMError as error:
        if "num_features()" not in str(error):
            raise
        raise ValueError(
            "X holds no feature that LightGBM can split; expected one with different values, each "
            "side of a split in at least min_child_samples rows"
        ) from error
