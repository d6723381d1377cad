"""g from clicks of users [robertson2010, section 2, remark on thresholding probabilities].

g_k is the share of users who accept grade k and higher, and nothing lower. A user clicks on what
she accepts, so a document of grade i that she looks at is clicked with probability G[i] = g_1 + ...
+ g_i. With p_i the share of the documents of grade i that were clicked,

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
from sklearn.isotonic import isotonic_regression

from gapboost.data import Array, ArrayLike, checked_grades, grouped_rows, is_missing
from gapboost.validation import (
    BELOW_ONE,
    Seed,
    as_integer,
    as_number,
    check_row_order,
    finite_column,
    one_dimensional,
    random_numbers,
    warn,
)


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
    grades: ArrayLike,
    clicks: ArrayLike,
    *,
    impressions: ArrayLike | None = None,
    sessions: ArrayLike | None = None,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    random_state: Seed = 0,
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
        bootstrap draws whole sessions, as clicks by one user are not independent. A missing value,
        such as NaN or None, is a session by itself. None: every impression by itself (every row,
        where `impressions` are missing or fractional).
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

    Warns
    -----
    UserWarning
        If there is one grade above 0.

    Examples
    --------
    >>> estimate = g_from_clicks([0, 1, 2], clicks=[0, 30, 50], impressions=[100, 100, 100])
    >>> estimate.g
    (0.6, 0.4)
    >>> [low < g < high for low, g, high in zip(estimate.low, estimate.g, estimate.high)]
    [True, True]
    """
    kinds, number = _kinds_of_sessions(grades, clicks, impressions, sessions)
    confidence = as_number(confidence, "confidence", high=BELOW_ONE)
    tail = (1 - confidence) / 2
    n_resamples = as_integer(n_resamples, "n_resamples", 2)
    rng = random_numbers(random_state)
    total = np.tensordot(number, kinds, axes=1)
    rates, g = _rates(total), _thresholds(total)
    n, shares = int(number.sum()), number / number.sum()
    samples = np.array(
        [np.tensordot(rng.multinomial(n, shares), kinds, axes=1) for _ in range(n_resamples)]
    )
    rises = np.diff(_rates(samples))
    for lower in np.flatnonzero(np.diff(rates) < 0):
        if np.nanquantile(rises[:, lower], 1 - tail) < 0:
            raise ValueError(
                f"clicks contradict grades: {rates[lower + 1]:.2%} of the documents of grade "
                f"{lower + 1} were clicked and {rates[lower]:.2%} of grade {lower}, more than "
                "chance allows; expected users to accept higher grades at least as often"
            )
    g_samples = np.array([_thresholds(sample) for sample in samples])
    usable = ~np.isnan(g_samples).any(axis=1)
    if not len(g) or np.isnan(g).any() or usable.mean() < confidence:
        raise ValueError(
            f"clicks has the rates {rates.round(4).tolist()} from grade 0 on, and "
            f"{int((~usable).sum())} of {n_resamples} bootstrap samples lack a grade or show no "
            "rise; expected shown documents of every grade from 1 on, more clicks on higher "
            "grades, and more sessions"
        )
    if len(g) == 1:
        warn(
            "grades has one grade above 0, so that g is (1.0,) whatever the clicks; expected more, "
            "and grades before clicks",
        )
    follow = _follow_from_grades(grades, clicks, impressions)
    if len(g) > 1 and (follow or set(rates[~np.isnan(rates)]) == {0, 1}):
        raise ValueError(
            "clicks follows from grades alone; expected grades that were not made from the clicks, "
            "or else a g of your own: for each grade the share of users who accept it"
        )
    low, high = np.quantile(g_samples[usable], [tail, 1 - tail], axis=0)
    # A sample is one more draw: the estimate itself may lie at the very edge of what they span.
    low, high = np.minimum(low, g), np.maximum(high, g)
    estimates: list[Any] = [tuple(values.tolist()) for values in (g, low, high, rates, *total)]
    estimates.append(_pooled_grades(rates, _rising(total)))
    return ThresholdEstimate(*estimates)


def _follow_from_grades(grades: ArrayLike, clicks: ArrayLike, impressions: Any) -> bool:
    """Return True if the grades may have been made from the clicks.

    A click is grade 1 and a purchase 2, say: then the grade of a shown document tells whether it
    was clicked. Clicks that equal the grades are such too, but with impressions they may be counts.
    """
    rows = np.stack((np.asarray(grades), np.asarray(clicks)))
    if impressions is None and np.array_equal(*rows):
        return True
    if impressions is not None:
        rows = rows[:, np.asarray(impressions) > 0]
    by_grade = np.unique(rows, axis=1).shape[1] == len(np.unique(rows[0]))
    return by_grade and bool(np.isin(rows[1], (0, 1)).all())


def _kinds_of_sessions(
    grades: ArrayLike, clicks: ArrayLike, impressions: ArrayLike | None, sessions: object
) -> tuple[Array, Array]:
    """Return the kinds of sessions, and how many of each there are, of shape (U,).

    A kind has the clicks and impressions by grade; all are float64 of shape (U, 2, c + 1).
    """
    grade = checked_grades(grades, "grades")
    n, n_grades = len(grade), int(grade.max()) + 1
    shown = np.ones(n) if impressions is None else impressions
    clicked, seen = (
        finite_column(values, name, "numbers >= 0", 0).astype(np.float64)
        for name, values in (("clicks", clicks), ("impressions", shown))
    )
    rows: Any = np.arange(n) if sessions is None else sessions
    if not isinstance(rows, list | tuple):
        rows = one_dimensional(rows, "sessions")
    for name, values in (("clicks", clicked), ("impressions", seen), ("sessions", rows)):
        if len(values) != n:
            raise ValueError(
                f"{name} has {len(values)} rows but grades has {n}; expected one a row"
            )
    session = np.arange(n)
    if sessions is not None:
        known = [row for row in range(n) if not is_missing(rows[row])]
        if known:
            ids = [rows[row] for row in known]
            session[known] = n + grouped_rows(ids, len(ids), "sessions", of="session").codes
        _, session = np.unique(session, return_inverse=True)
    columns = {"grades": grades, "clicks": clicks, "impressions": impressions}
    check_row_order({**columns, "sessions": sessions})
    if (clicked[seen == 0] > 0).any():
        raise ValueError("clicks holds clicks on a document with 0 impressions; expected none")
    outcomes = np.stack((clicked, seen - clicked))
    if sessions is None and impressions is not None and (outcomes == np.abs(outcomes) // 1).all():
        # Each impression is a session, with a click or without.
        one = np.eye(n_grades)
        kinds = np.concatenate([np.stack((one, one), axis=1), np.stack((0 * one, one), axis=1)])
        return kinds, np.concatenate([np.bincount(grade, each, n_grades) for each in outcomes])
    n_sessions = int(session.max()) + 1
    cells = session * n_grades + grade
    counts = [np.bincount(cells, each, n_sessions * n_grades) for each in (clicked, seen)]
    by_session = np.stack([each.reshape(-1, n_grades) for each in counts], axis=1)
    kinds, occurrences = np.unique(by_session, axis=0, return_counts=True)
    return kinds, occurrences.astype(np.float64)


def _rates(counts: Array) -> Array:
    """Return the share of clicked documents of each grade; NaN for one that was not shown."""
    with np.errstate(invalid="ignore"):
        rates: Array = counts[..., 0, :] / counts[..., 1, :]
    return rates


def _rising(counts: Array) -> Array:
    """Return rates that never fall with the grade."""
    # Without documents of grade 0, as the model says: no clicks on them.
    weights = np.append(counts[1, 0] or 1.0, counts[1, 1:])
    isotonic: Array = isotonic_regression(counts[0] / weights, sample_weight=weights)
    return isotonic


def _thresholds(counts: Array) -> Array:
    """Return ``g``, shape (c,); NaN if it cannot be computed."""
    if not counts[1, 1:].all():
        return np.full(counts.shape[1] - 1, np.nan)
    rates = _rising(counts)
    spread = rates[-1] - rates[0]
    return np.diff(rates) / (spread if spread > 0 else np.nan)


def _pooled_grades(observed: Array, isotonic: Array) -> tuple[tuple[int, ...], ...]:
    moved = ~np.isclose(observed, isotonic, rtol=1e-12) & ~np.isnan(observed)
    runs: dict[float, list[int]] = {}
    for grade in np.flatnonzero(moved).tolist():
        runs.setdefault(float(isotonic[grade]), []).append(grade)
    return tuple(tuple(run) for run in runs.values())
