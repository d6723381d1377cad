"""Tables of several libraries with the features of tests, as numbers and as categories."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from twins import TRAIN

NAMES = TRAIN.feature_names


def whole(X):
    """Integers that every dtype holds.

    They are never 0, which sparse matrices and XGBoost read as missing.
    """
    return np.floor(np.abs(X) * 16).clip(0, 100) + 1


def frame(X):
    return pd.DataFrame(X, columns=NAMES, index=np.arange(len(X))[::-1])


# Kinds of tables, from one of pandas.
TABLES = {
    "pandas": lambda table: table,
    "polars": pl.DataFrame,
    "pyarrow": lambda table: pa.Table.from_pandas(table, preserve_index=False),
}


LETTERS = np.array(list("abcdefgh"))


def with_letters(data, kind):
    rng = np.random.default_rng(0)
    chosen = np.where(
        data.y == 2, rng.choice([1, 6], len(data)), rng.choice([0, 2, 3, 4, 5, 7], len(data))
    )
    letter = pd.Categorical.from_codes(chosen, LETTERS)
    table = TABLES[kind](pd.DataFrame({"noise": rng.normal(size=len(data)), "letter": letter}))
    # From XGBoost 3.4 on polars' Categorical is an error.
    return table.cast({"letter": pl.Enum(LETTERS)}) if kind == "polars" else table
