"""Refusal of the boosters' parameters that would silently change nothing."""

import re
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

# Parameters that ask for early stopping: XGBoost's, LightGBM's and its aliases.
EARLY_STOPPING = (
    "early_stopping_rounds",
    "early_stopping_round",
    "early_stopping",
    "n_iter_no_change",
)

MIGRATION = "https://OWNER.github.io/gapboost/migration.html"


def refuse_ignored(parameters: Mapping[str, Any], ignored: Collection[str], library: str) -> None:
    """Raise ValueError if parameters are set that change nothing beside our objectives.

    Parameters
    ----------
    parameters : mapping {name: value}
        None is a parameter that is not set.
    ignored : collection of str
    library : str
    """
    found = sorted(name for name in ignored if parameters.get(name) is not None)
    if found:
        raise ValueError(
            f"{', '.join(found)}: {library} would ignore {'it' if len(found) == 1 else 'them'} "
            f"here; expected none of the parameters of {library}'s own ranking objectives and "
            f"metrics, and no second name of a parameter of its ranker. See {MIGRATION}"
        )


def check_positions(name: str, value: Any, n_features: int, qid_column: bool) -> None:
    """Raise ValueError for positions of columns that are out of range, or that a column shifts.

    Parameters
    ----------
    name : str
        The argument.
    value : str or sequence, maybe nested
        Names are not checked.
    n_features : int
    qid_column : bool
        True if the table holds a column ``qid``, which is no feature.
    """
    if isinstance(value, str):
        # LightGBM's other forms: "0,1,2", "[0,1],[2]" and "name:one,two".
        value = [] if re.search("[a-z]", value, re.IGNORECASE) else re.findall(r"\d+", value)
        value = [int(number) for number in value]
    for position in value if isinstance(value, list | tuple | set | np.ndarray) else ():
        if isinstance(position, list | tuple | set):
            check_positions(name, position, n_features, qid_column)
        if isinstance(position, bool) or not isinstance(position, int | np.integer):
            continue
        if qid_column:
            raise ValueError(
                f"{name} has the position {position}, but X holds a column 'qid', which is no "
                "feature; expected names of columns, or qid as an argument"
            )
        if not 0 <= position < n_features:
            raise ValueError(
                f"{name} has the position {position}; expected one of {n_features} features, "
                "counted from 0"
            )


def refuse(arguments: dict[str, Any], offered: str) -> None:
    """Raise ValueError if one of the arguments is not None."""
    given = [name for name, value in arguments.items() if value is not None]
    if given:
        raise ValueError(f"{', '.join(given)}: expected None, because {offered}")
