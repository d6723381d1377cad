"""Tables of results in LaTeX."""

import math
from typing import Any

import numpy as np

from gapboost._data.arguments import whole

# Decimals that a float64 between 0 and 1 is sure to hold.
MOST_DIGITS = 15

# In text, older font encodings print < and > as other characters.
SPECIAL = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        **{character: f"${character}$" for character in "<>|"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "−": "$-$",
        "±": r"$\pm$",
    }
)


def latex_table(table: Any, digits: Any) -> str:
    """Return a pandas data frame as a ``tabular`` with the rules of the LaTeX package booktabs.

    Text is escaped. Numbers are rounded to `digits` decimals; whole numbers have none.

    Raises
    ------
    ValueError
        If `digits` is not a whole number from 0 to 15.
    """
    if whole(digits, "digits", 0) > MOST_DIGITS:
        raise ValueError(f"digits is {digits!r}; expected a whole number from 0 to {MOST_DIGITS}")
    if any(name is not None for name in table.index.names):
        table = table.reset_index()
    columns = [table.iloc[:, place].tolist() for place in range(table.shape[1])]
    alignment = "".join(
        "l" if any(isinstance(value, str) for value in column) else "r" for column in columns
    )
    rows = [list(map(str, table.columns)), *zip(*columns, strict=True)]
    head, *lines = (" & ".join(_cell(value, digits) for value in row) + r" \\" for row in rows)
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{alignment}}}",
            r"\toprule",
            head,
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def _cell(value: Any, digits: int) -> str:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        return " ".join(str(value).split()).translate(SPECIAL)
    return _number(value, digits)


def _number(value: Any, digits: int) -> str:
    sign = "$-$" if value < 0 else ""
    size = abs(value)
    if math.isnan(size):
        return "--"
    if math.isinf(size):
        return rf"{sign}$\infty$"
    if isinstance(value, int | np.integer):
        return f"{sign}{size}"
    least = 10.0**-digits
    # A number that is not 0 must not read as 0.
    if 0 < size < least / 2:
        return f"{'$>-$' if sign else '$<$'}{least:.{digits}f}"
    return f"{sign if round(size, digits) else ''}{size:.{digits}f}"
