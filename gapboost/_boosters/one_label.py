"""Checks for functions that take only one label."""

from collections.abc import Sequence
from typing import Any

from gapboost._data.grades import label_columns
from gapboost.measures import Measure

# Who takes several labels.
INSTEAD = "fit of LGBMGAPRanker or XGBGAPRanker, which takes y of shape (n_rows, n_labels)"


def check_one_label(
    measures: Sequence[Measure], name: str, where: str, instead: str = INSTEAD
) -> None:
    """Raise ValueError if a measure reads one of several labels.

    Parameters
    ----------
    measures : sequence of Measure
    name : str
        The caller's name of the measures.
    where : str
        What takes one label a row.
    instead : str
        What takes several.
    """
    for measure in measures:
        if any(part.label_column is not None for _, part in measure.terms):
            raise ValueError(
                f"{name} is {measure!r}, which reads one of several labels, but {where} takes one "
                f"label a row; expected a measure without OfLabel, or {instead}"
            )


def check_one_column(y: Any, name: str, where: str, instead: str = INSTEAD) -> None:
    """Raise ValueError if `y` has several columns of labels; arguments as in `check_one_label`."""
    columns = label_columns(y, name)
    if columns:
        raise ValueError(
            f"{name} has {len(columns)} labels a row, but {where} takes one; expected one value a "
            f"row, shape (n_rows,), or {instead}"
        )
