"""g from clicks of users [robertson2010, section 2, remark on thresholding probabilities].

The user of GAP accepts documents from grade k on with probability g_k and clicks on those she
accepts, so a document of grade i that she looks at is clicked with probability G[i] = g_1 + ... +
g_i. With p_i the share of the documents of grade i that were clicked,

    g_k = (p_k - p_{k-1}) / (p_c - p_0).

The quotient takes out what hits all grades alike: how often users click at all, and clicks by
mistake, as the rate of grade 0 shows them.

The remark itself names the share of grade k among all *clicked* documents. That is not g: it grows
with the number of documents of grade k that were shown, and users who accept grade 1 click on grade
2 as well.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gapboost._data.arguments import as_integer, probability, random_numbers
from gapboost._data.columns import numeric_column
from gapboost._data.grades import checked_grades
from gapboost._data.queries import grouped_rows
from gapboost._kernels import Array

# Cells of the table of resampled counts that are held at once.
CELLS_IN_STEP = 1 << 22

# Counts up to here are exact, and can be drawn from.
MOST_CLICKS = 2**53


@dataclass(frozen=True)
class ThresholdEstimate:
    """Threshold probabilities estimated from clicks.

    Attributes
    ----------
    g : tuple of float
        One for each grade ``1..c``, sum 1: what measures and rankers take.
    low, high : tuple of float
        Bootstrap interval of each entry of `g`.
    rates : tuple of float
        Share of clicked documents of grade ``0..c``, as observed; NaN for a grade 0 that was never
        shown.
    clicks, impressions : tuple of float
        Counts of grade ``0..c``.
    pooled : tuple of tuple of int
        Runs of grades whose rates fell where they should rise, and were taken together.

    Examples
    --------
    >>> from gapboost.model_selection import g_from_clicks
    >>> estimate = g_from_clicks(
    ...     [1, 2, 1, 2], [0, 1, 1, 1], sessions=["a", "a", "b", "b"], random_state=0
    ... )
    >>> type(estimate).__name__, estimate.clicks, estimate.impressions
    ('ThresholdEstimate', (0.0, 1.0, 2.0), (0.0, 2.0, 2.0))
    """

    g: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    rates: tuple[float, ...]
    clicks: tuple[float, ...]
    impressions: tuple[float, ...]
    pooled: tuple[tuple[int, ...], ...]


def g_from_clicks(
    grades: Any,
    clicks: Any,
    *,
    impressions: Any = None,
    sessions: Any = None,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    random_state: Any = 0,
) -> ThresholdEstimate:
    """Estimate threshold probabilities from grades of shown documents and clicks on them.

    Parameters
    ----------
    grades : array-like of shape (N,)
        Integer grade of each shown document.
    clicks : array-like of shape (N,)
        How often it was clicked; 0 and 1 where a row is one showing.
    impressions : array-like of shape (N,), optional
        How often it was looked at; None: once, or equally often. Leave out what users did not
        scroll to, or count a showing by its probability of being looked at: documents of high grade
        stand higher up, and their clicks would count for grade what is due to rank.
    sessions : array-like of shape (N,), optional
        Who or what the clicks of several rows have in common, such as the user or the search: the
        bootstrap draws whole sessions, as clicks by one user are not independent. None: every
        impression by itself (every row, where `impressions` are missing or fractional).
    confidence : float, default=0.95
        Probability of the intervals.
    n_resamples : int, default=1000
        Bootstrap samples.
    random_state : int, RandomState or None, default=0
        Draws them.

    Returns
    -------
    ThresholdEstimate

    Raises
    ------
    ValueError
        If an argument is unusable, a grade below the highest was never shown, nothing was
        clicked, or the clicks contradict the user model: a grade clicked less than a lower one by
        more than the bootstrap interval of the difference allows. A smaller fall is what chance
        gives when g is near 0 there; such grades are taken together, which is the most likely g for
        the clicks (isotonic regression), and listed in `pooled`.

    Examples
    --------
    >>> estimate = g_from_clicks([0, 1, 2], clicks=[0, 30, 50], impressions=[100, 100, 100])
    >>> estimate.g
    (0.6, 0.4)
    >>> [low < g < high for low, g, high in zip(estimate.low, estimate.g, estimate.high)]
    [True, True]
    """
    units, number = _observations(grades, clicks, impressions, sessions)
    confidence = probability(confidence, "confidence")
    n_resamples = as_integer(n_resamples, "n_resamples", 2)
    rng = random_numbers(random_state)
    total = np.tensordot(number, units, axes=1)
    _check_total(total)
    samples = _resampled(units, number, n_resamples, rng)
    tail = (1 - confidence) / 2
    _check_rising(total, samples, tail)
    g = _thresholds(total[None])[0]
    if np.isnan(g).any():
        raise ValueError(
            f"clicks are as frequent at grade {total.shape[1] - 1} as at grade 0 (rates "
            f"{_rates(total).round(4).tolist()}); expected more clicks on higher grades"
        )
    g_samples = _thresholds(samples)
    usable = ~np.isnan(g_samples).any(axis=1)
    if usable.mean() < confidence:
        raise ValueError(
            f"{int((~usable).sum())} of {n_resamples} bootstrap samples lack a grade or show no "
            "rise of clicks with the grade; expected more sessions"
        )
    low, high = np.quantile(g_samples[usable], [tail, 1 - tail], axis=0)
    # A sample is one more draw: the estimate itself may lie at the very edge of what they span.
    low, high = np.minimum(low, g), np.maximum(high, g)
    return ThresholdEstimate(
        _floats(g),
        _floats(low),
        _floats(high),
        _floats(_rates(total)),
        _floats(total[0]),
        _floats(total[1]),
        _pooled_grades(total),
    )


def _observations(grades: Any, clicks: Any, impressions: Any, sessions: Any) -> tuple[Array, Array]:
    """Return the units that the bootstrap draws, and how often each occurs.

    A unit is the clicks and impressions by grade; all units are float64 of shape (U, 2, c + 1).
    """
    if grades is None:
        raise ValueError(
            "grades is missing; expected the grade of every shown document, clicked or not"
        )
    grade = checked_grades(grades, "grades")
    n = len(grade)
    clicked = _amounts(clicks, "clicks", n)
    shown = np.ones(n) if impressions is None else _amounts(impressions, "impressions", n)
    if (clicked != np.floor(clicked)).any():
        raise ValueError("clicks holds a fractional value; expected counts")
    if (clicked[shown == 0] > 0).any():
        raise ValueError(
            "clicks holds clicks on a document with 0 impressions; expected clicked documents to "
            "be shown"
        )
    if not clicked.any():
        raise ValueError("clicks is zero everywhere; expected some clicks")
    top = int(grade.max())
    if top == 0:
        raise ValueError("grades holds only grade 0; expected documents of higher grades")
    counted = impressions is not None and (shown == np.floor(shown)).all()
    if sessions is None and counted and (clicked <= shown).all():
        units = np.zeros((2, top + 1, 2, top + 1))
        for k in range(top + 1):
            units[0, k, :, k] = 1, 1
            units[1, k, 1, k] = 1
        number = [
            np.bincount(grade, each, minlength=top + 1) for each in (clicked, shown - clicked)
        ]
        return units.reshape(-1, 2, top + 1), np.concatenate(number)
    queries = grouped_rows(np.arange(n) if sessions is None else sessions, n, "sessions", "grades")
    cell = np.repeat(np.arange(len(queries)), queries.sizes) * (top + 1) + queries.grouped(grade)
    sums = [
        np.bincount(cell, queries.grouped(amounts), len(queries) * (top + 1))
        for amounts in (clicked, shown)
    ]
    # Sessions with the same counts are drawn together: what matters is how many of each kind a
    # sample holds.
    flat = np.concatenate([s.reshape(len(queries), top + 1) for s in sums], axis=1)
    kinds, occurrences = np.unique(flat, axis=0, return_counts=True)
    return kinds.reshape(-1, 2, top + 1), occurrences.astype(np.float64)


def _amounts(values: Any, name: str, n_rows: int) -> Array:
    amounts = numeric_column(values, name, "numbers >= 0").astype(np.float64)
    if len(amounts) != n_rows:
        raise ValueError(
            f"{name} has {len(amounts)} rows but grades has {n_rows}; expected one a row"
        )
    if not np.isfinite(amounts).all() or (amounts < 0).any():
        raise ValueError(f"{name} holds a negative, NaN or infinite value; expected numbers >= 0")
    with np.errstate(over="ignore"):
        total = amounts.sum()
    if total > MOST_CLICKS:
        raise ValueError(f"{name} has the sum {total:g}; expected one up to {MOST_CLICKS:g}")
    return amounts


def _check_total(total: Array) -> None:
    missing = np.flatnonzero(total[1, 1:] == 0) + 1
    if len(missing):
        raise ValueError(
            f"grades has no document of grade {missing[0]} that was shown; expected every grade "
            f"from 1 to {total.shape[1] - 1}: clicks say nothing about a threshold at a grade that "
            "was not shown"
        )


def _resampled(units: Array, number: Array, n_resamples: int, rng: np.random.RandomState) -> Array:
    """Return total counts of bootstrap samples, float64 of shape (n_resamples, 2, c + 1)."""
    step = max(1, CELLS_IN_STEP // len(units))
    n, shares, flat = int(number.sum()), number / number.sum(), units.reshape(len(units), -1)
    parts = [
        rng.multinomial(n, shares, size=min(step, n_resamples - first)) @ flat
        for first in range(0, n_resamples, step)
    ]
    return np.concatenate(parts).reshape(n_resamples, *units.shape[1:])


def _rates(counts: Array) -> Array:
    clicks, impressions = counts[..., 0, :], counts[..., 1, :]
    missing = np.full(clicks.shape, np.nan)
    rates: Array = np.divide(clicks, impressions, out=missing, where=impressions > 0)
    return rates


def _rising(counts: Array) -> Array:
    """Return rates that never fall with the grade: isotonic regression by impressions."""
    # By the max-min formula: over a handful of grades it is short, and works for all bootstrap
    # samples at once.
    edges = np.concatenate((np.zeros((*counts.shape[:-1], 1)), counts.cumsum(axis=-1)), axis=-1)
    n = counts.shape[-1]
    rates = np.empty((*counts.shape[:-2], n))
    for k in range(n):
        # Rates of the runs of grades that begin at grade i <= k and end at k or higher.
        runs = (_rates(edges[..., k + 1 :] - edges[..., i : i + 1]) for i in range(k + 1))
        rates[..., k] = np.nanmax([np.nanmin(run, axis=-1) for run in runs], axis=0)
    return rates


def _thresholds(counts: Array) -> Array:
    """Return ``g`` of each sample, shape (n, c); NaN if it cannot be computed."""
    known = (counts[:, 1, 1:] > 0).all(axis=1)
    g = np.full((len(counts), counts.shape[2] - 1), np.nan)
    # Without documents of grade 0, as the model says: no clicks on them.
    counts = counts[known]
    counts[:, 1, 0] = np.where(counts[:, 1, 0] > 0, counts[:, 1, 0], 1.0)
    rates = _rising(counts)
    spread = rates[:, -1:] - rates[:, :1]
    rises = np.diff(rates, axis=1)
    g[known] = np.divide(rises, spread, out=np.full(rises.shape, np.nan), where=spread > 0)
    return g


def _check_rising(total: Array, samples: Array, tail: float) -> None:
    """Raise if clicks fall with the grade by more than chance."""
    falls = np.flatnonzero(np.diff(_rates(total)) < 0)
    for lower in falls:
        differences = np.diff(_rates(samples)[:, lower : lower + 2], axis=1)[:, 0]
        if np.nanquantile(differences, 1 - tail) < 0:
            before, after = _rates(total)[lower : lower + 2]
            raise ValueError(
                f"clicks contradict grades: {after:.4g} of the documents of grade {lower + 1} were "
                f"clicked and {before:.4g} of grade {lower}, more than chance allows; expected "
                "users to click on documents they accept, and to accept higher grades at least as "
                "often. Check the grades, and whether impressions count documents nobody looked at"
            )


def _pooled_grades(total: Array) -> tuple[tuple[int, ...], ...]:
    observed, rising = _rates(total), _rising(total)
    moved = [
        k
        for k in range(len(observed))
        if not np.isclose(observed[k], rising[k], rtol=1e-12, equal_nan=False)
    ]
    runs: dict[float, list[int]] = {}
    for k in moved:
        if not np.isnan(observed[k]):
            runs.setdefault(float(rising[k]), []).append(k)
    return tuple(tuple(run) for run in runs.values())


def _floats(values: Array) -> tuple[float, ...]:
    return tuple(float(v) for v in values)
