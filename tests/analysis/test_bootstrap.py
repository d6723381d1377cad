"""Intervals over topics: known standard errors, discriminative power and rank correlation."""

import numpy as np
import pytest

from gapboost import analysis


def values(n_topics=25, n_systems=4, seed=0):
    rng = np.random.default_rng(seed)
    hard = rng.normal(size=n_topics)
    drawn = hard + 0.3 * np.arange(n_systems)[:, None] + rng.normal(size=(2, n_systems, n_topics))
    return analysis.SystemValues(
        ("m", "n"), tuple("abcdefgh"[:n_systems]), tuple(map(str, range(n_topics))), drawn
    )


def means(some):
    return some.means


def test_the_error_of_a_mean_is_its_standard_error():
    given = values()
    found = analysis.topic_bootstrap(given, means, n_resamples=2000, random_state=0)
    np.testing.assert_array_equal(found.estimate, given.means)
    np.testing.assert_allclose(found.error, given.values.std(axis=2) / 5, rtol=0.1)
    np.testing.assert_allclose(found.high - found.estimate, 1.959964 * found.error, rtol=1e-6)
    np.testing.assert_allclose(found.estimate - found.low, found.high - found.estimate)
    wide = analysis.topic_bootstrap(given, means, n_resamples=2000, confidence=0.99, random_state=0)
    assert (wide.low < found.low).all()
    assert repr(found) == "TopicBootstrap(8 estimates, 2000 resamples of the topics)"


def test_topics_keep_the_values_of_all_systems_and_measures():
    """A difference between systems that is the same on every topic has no error."""
    given = values()
    same = analysis.SystemValues(
        given.measures,
        ("a", "b"),
        given.topics,
        np.stack([given.values[:, 0], given.values[:, 0] + 1], axis=1),
    )
    found = analysis.topic_bootstrap(
        same, lambda some: np.diff(some.means, axis=1), n_resamples=50, random_state=0
    )
    assert found.error.max() < 1e-12
    assert analysis.topic_bootstrap(same, means, n_resamples=50, random_state=0).error.min() > 0.1


def test_intervals_of_means_hold_as_often_as_they_say():
    covered = [
        (found.low <= 0.15) & (found.high >= 0.15)
        for seed in range(80)
        for found in [
            analysis.topic_bootstrap(
                values(40, 2, seed),
                lambda some: some.means.mean(axis=1),
                n_resamples=50,
                random_state=0,
            )
        ]
    ]
    assert 0.86 < np.mean(covered) < 0.99


def test_discriminative_power_and_tau():
    given = values()

    def statistics(some):
        power = analysis.discriminative_power(some, n_resamples=100, random_state=0)
        return [*power.share, power.share[0] - power.share[1], analysis.correlation(some).tau[0, 1]]

    found = analysis.topic_bootstrap(given, statistics, n_resamples=20, random_state=1)
    again = analysis.topic_bootstrap(given, statistics, n_resamples=20, random_state=1)
    np.testing.assert_array_equal(found.resampled, again.resampled)
    np.testing.assert_array_equal(found.estimate, statistics(given))
    assert (found.error > 0).all()
    assert (found.low < found.high).all()


@pytest.mark.parametrize(
    ("statistic", "message"),
    [
        (lambda some: np.nan, "statistic returns NaN"),
        (
            lambda some: np.zeros(len(set(some.topics))),
            "several shapes; expected finite numbers of one shape",
        ),
        (lambda some: "many", "statistic fails or returns no numbers"),
        (lambda some: some.best(9), "statistic fails .*n is 9"),
    ],
)
def test_statistics_that_are_no_numbers(statistic, message):
    with pytest.raises(ValueError, match=message):
        analysis.topic_bootstrap(values(), statistic, n_resamples=5, random_state=0)


def test_one_topic_has_no_interval():
    with pytest.raises(ValueError, match="expected at least two topics"):
        analysis.topic_bootstrap(values(1), means)
    with pytest.raises(ValueError, match="n_resamples is 1; expected a whole number >= 2"):
        analysis.topic_bootstrap(values(), means, n_resamples=1)
    with pytest.raises(TypeError, match="statistic is 'share'; expected a function"):
        analysis.topic_bootstrap(values(), "share")
