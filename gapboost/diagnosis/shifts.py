"""How far a feature moved from training rows to new ones."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from scipy import stats

from gapboost.data import Array
from gapboost.diagnosis.chance import lie_apart
from gapboost.diagnosis.scored import ScoredDataset
from gapboost.optional import DataFrame, frame

# Share of rows that must move.
MOVED = 0.2


class Compared(NamedTuple):
    """New and training values of a number to compare, NaN for others, and how far they moved.

    `common` is a value that is left out, or None.
    """

    here: Any
    there: Any
    shift: float
    common: float | None


def shift_of(name: str, new: ScoredDataset, training: ScoredDataset) -> float:
    """Return the largest difference of distribution functions, or of sets of categories."""
    if name in new.categories:
        shares = shares_of(name, new, training)
        return float((shares["new"] - shares["training"]).abs().sum() / 2)
    return compared_values(name, new, training).shift


def compared_values(name: str, new: ScoredDataset, training: ScoredDataset) -> Compared:
    """Return all values of a number, or those other than a common one.

    A value that many rows share, such as 0 clicks, hides what happens to the others. It is left out
    if they moved more than all values, and their medians by query lie apart.
    """
    here, there = (rows.features[name] for rows in (new, training))
    found = Compared(here, there, _shift((here, there)), None)
    shares = there.value_counts(normalize=True)
    if not shares.max() > MOVED:
        return found
    common = shares.index[0]
    others = here.where(here != common), there.where(there != common)
    if not all(part.notna().any() for part in others):
        return found
    shift, n_tests = _shift(others), len(new.features.columns)
    moved = shift > max(MOVED, found.shift)
    if moved and lie_apart(*medians_by_query(others, new, training), n_tests):
        return Compared(others[0], others[1], shift, common)
    return found


def _shift(parts: Sequence[Any]) -> float:
    here, there = (part.dropna() for part in parts)
    return float(stats.ks_2samp(here, there).statistic)


def medians_by_query(
    parts: Sequence[Any], new: ScoredDataset, training: ScoredDataset
) -> tuple[Array, Array]:
    """Return the medians by query of new and training values, where there are some."""
    here, there = (
        part.groupby(rows.numbers).median().dropna().to_numpy()
        for part, rows in zip(parts, (new, training), strict=True)
    )
    return here, there


def shares_of(name: str, new: ScoredDataset, training: ScoredDataset) -> DataFrame:
    """Return the shares of each category in rows with a value."""
    shares = {
        where: rows.features[name].value_counts(normalize=True)
        for where, rows in (("new", new), ("training", training))
    }
    return frame(shares).fillna(0.0)


def text_of_shift(name: str, new: ScoredDataset, training: ScoredDataset) -> str:
    """Return the share of rows that changed most, or the medians if they show the shift."""
    if name in new.categories:
        shares = shares_of(name, new, training)
        most = (shares["new"] - shares["training"]).abs().idxmax()
        texts = training.categories[name] | new.categories[name]
        now, then = shares.loc[most]
        return f"{texts[most]} {now:.1%}, in training {then:.1%}"
    found = compared_values(name, new, training)
    which = "" if found.common is None else f"of values other than {found.common:g}: "
    here, there = found.here.dropna(), found.there.dropna()
    shift, median = stats.ks_2samp(here, there), here.median()
    if min((there <= median).mean(), (there >= median).mean()) <= (1 - shift.statistic) / 2:
        return f"{which}median {median:.3g}, in training {there.median():.3g}"
    limit = shift.statistic_location
    now, then = ((values <= limit).mean() for values in (here, there))
    return f"{which}at most {limit:.3g} in {now:.1%} of rows, in training {then:.1%}"
