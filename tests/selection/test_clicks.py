"""g from clicks: simulated users with a known g, closed forms, and errors for unusable clicks."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest

import gapboost as gb
from gapboost.model_selection import g_from_clicks


def users(g, n_sessions, examine=1.0, mistake=0.0, seed=0):
    """Grades, clicks and session of each showing: a threshold a session, documents at random."""
    rng = np.random.default_rng(seed)
    threshold = rng.choice(len(g), p=g, size=n_sessions) + 1
    grades = rng.integers(0, len(g) + 1, size=(n_sessions, 12))
    looked = rng.random(grades.shape) < examine
    clicks = looked & ((grades >= threshold[:, None]) | (rng.random(grades.shape) < mistake))
    return grades.ravel(), clicks.ravel(), np.repeat(np.arange(n_sessions), 12)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("g", [(1.0,), (0.3, 0.7), (0.6, 0.1, 0.3), (0.25, 0.0, 0.5, 0.25)])
@pytest.mark.parametrize(("examine", "mistake"), [(1.0, 0.0), (0.6, 0.05)])
@pytest.mark.filterwarnings("ignore:grades has one grade above 0")
def test_recovers_g_within_its_interval(g, examine, mistake):
    grades, clicks, sessions = users(g, 3000, examine=examine, mistake=mistake)
    found = g_from_clicks(grades, clicks, sessions=sessions, n_resamples=2000, confidence=0.999)
    assert sum(found.g) == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(found.g, g, atol=0.04)
    assert (np.array(found.low) <= np.array(g) + 1e-12).all()
    assert (np.array(g) <= np.array(found.high) + 1e-12).all()
    assert gb.GAP(g=found.g).highest_grade == len(g)


@pytest.mark.slow
def test_intervals_cover_as_often_as_they_say():
    g = np.array([0.5, 0.2, 0.3])
    inside = []
    for seed in range(100):
        grades, clicks, sessions = users(g, 150, seed=seed)
        found = g_from_clicks(
            grades, clicks, sessions=sessions, n_resamples=200, confidence=0.8, random_state=seed
        )
        inside.append((np.array(found.low) <= g) & (g <= np.array(found.high)))
    share = np.mean(inside, axis=0)  # of 100 intervals of 80 %: the standard error is 4 %
    assert ((share > 0.68) & (share < 0.92)).all()


@pytest.mark.parametrize("confidence", [0.001, 0.5])
def test_the_estimate_is_in_its_interval(confidence):
    """Whatever the samples span."""
    grades, clicks, sessions = users((0.6, 0.1, 0.3), 100)
    found = g_from_clicks(grades, clicks, sessions=sessions, n_resamples=3, confidence=confidence)
    assert (np.array(found.low) <= found.g).all()
    assert (np.array(found.high) >= found.g).all()


def test_sessions_widen_the_intervals():
    grades, clicks, sessions = users((0.5, 0.5), 300)
    by_user = g_from_clicks(grades, clicks, sessions=sessions)
    by_row = g_from_clicks(grades, clicks)
    assert by_user.g == by_row.g
    assert by_user.high[0] - by_user.low[0] > 1.5 * (by_row.high[0] - by_row.low[0])


UNKNOWN = {
    "numbers": lambda rows: np.where(rows < 0, np.nan, rows),
    "None beside text": lambda rows: [None if row < 0 else f"u{row}" for row in rows],
    "NaN beside text": lambda rows: [np.nan if row < 0 else f"u{row}" for row in rows],
    "NA": lambda rows: pd.Series(rows).where(rows >= 0).astype("Int64"),
    "objects": lambda rows: pd.Series([None if row < 0 else f"u{row}" for row in rows]),
    "NaT": lambda rows: pd.to_datetime(pd.Series(rows).where(rows >= 0), unit="D"),
    "tuples": lambda rows: [None if row < 0 else ("u", int(row)) for row in rows],
    "polars": lambda rows: pl.Series([None if row < 0 else f"u{row}" for row in rows]),
}


@pytest.mark.parametrize("kind", UNKNOWN)
def test_rows_of_unknown_sessions_are_sessions_by_themselves(kind):
    grades, clicks, sessions = users((0.5, 0.5), 50)
    rows = np.where(sessions >= 25, sessions, -1)
    alone = np.where(rows < 0, 100 + np.arange(len(rows)), rows)
    estimate = partial(g_from_clicks, grades, clicks, n_resamples=10, confidence=0.5)
    assert estimate(sessions=UNKNOWN[kind](rows)) == estimate(sessions=alone)
    assert estimate(sessions=[None] * len(rows)) == estimate()


def test_sessions_that_could_be_confused():
    for sessions in ([1, "1", 2], [True, 1, 2], [[1], [2], [3]], ["a", "b"]):
        with pytest.raises(ValueError, match=r"^sessions "):
            g_from_clicks([0, 1, 1], [0, 1, 1], sessions=sessions)


def test_closed_form_and_counts():
    found = g_from_clicks([0, 1, 2, 2, 1], [1, 15, 20, 30, 15], impressions=[20, 40, 60, 40, 60])
    assert found.clicks == (1, 30, 50)
    assert found.impressions == (20, 100, 100)
    assert found.rates == (0.05, 0.3, 0.5)
    np.testing.assert_allclose(found.g, (0.25 / 0.45, 0.20 / 0.45))
    assert found.pooled == ()


def test_without_grade_0_its_clicks_count_as_none():
    found = g_from_clicks([1, 2], [30, 60], impressions=[100, 100])
    assert found.g == (0.5, 0.5)
    assert np.isnan(found.rates[0])


def test_impressions_may_be_probabilities_of_being_looked_at():
    found = g_from_clicks(
        [1, 1, 2, 2],
        [1, 0, 1, 0],
        impressions=[1.0, 1.0, 0.5, 0.5],
        sessions=[0, 1, 2, 3],
        confidence=0.5,
    )
    assert found.rates[1:] == (0.5, 1.0)


def test_chance_falls_are_pooled():
    found = g_from_clicks([0, 1, 2, 3], [0, 30, 28, 50], impressions=[100] * 4)
    assert found.pooled == ((1, 2),)
    assert found.rates == (0, 0.30, 0.28, 0.50)
    np.testing.assert_allclose(found.g, (0.58, 0, 0.42))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1, 2], [0, 60, 28], {"impressions": [100] * 3}), "^clicks "),
        (([0, 1, 2], [60, 30, 70], {"impressions": [100] * 3}), "^clicks "),
        (([1, 2], [1, 1], {"impressions": [1, 0]}), "^clicks "),
        (([0, 1], [50, 50], {"impressions": [100, 100]}), "^clicks "),
        (([0, 1, 2], [0, 1, 1], {}), "bootstrap samples"),
        (([0, 1, 2], [0, 1], {}), "^clicks has 2 rows but grades has 3"),
        (([0, 1], [0, 1], {"impressions": [9]}), "^impressions has 1 rows"),
        (([0, 0], [1, 0], {}), "every grade"),
        (([0, 1, 3] * 20, [0, 1, 1] * 20, {}), "every grade"),
        (([0, 1, 2] * 20, [0, 1, 1] * 20, {}), "^clicks follows from grades"),
        (([0, 1, 2] * 20, [0, 1, 2] * 20, {}), "^clicks follows from grades"),
        (
            ([0, 1, 2] * 20, [0, 1, 1] * 20, {"impressions": [1.0, 0.5, 0.3] * 20}),
            "^clicks follows from grades",
        ),
    ],
)
def test_clicks_that_cannot_be_used(arguments, message):
    grades, clicks, options = arguments
    with pytest.raises(ValueError, match=message):
        g_from_clicks(grades, clicks, **options)
