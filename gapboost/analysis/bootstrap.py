"""Standard errors and intervals over topics, by the bootstrap.

The statistic is any number that is computed from the values of systems.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from gapboost._data.arguments import probability, whole
from gapboost._kernels import Array
from gapboost.analysis.systems import SystemValues, checked_values
from gapboost.analysis.work import generators, in_order


@dataclass(frozen=True, eq=False)
class TopicBootstrap:
    """Estimates with their standard errors over topics.

    Attributes
    ----------
    estimate : float64 ndarray
        What the statistic is on all topics, of any shape.
    resampled : float64 ndarray of shape (n_resamples, ...)
        The same on each resample of the topics.
    confidence : float

    Examples
    --------
    >>> import numpy as np
    >>> from gapboost import analysis
    >>> drawn = np.random.default_rng(0).random((2, 3, 20))
    >>> topics = tuple(map(str, range(20)))
    >>> values = analysis.SystemValues(("ap", "ndcg"), ("a", "b", "c"), topics, drawn)
    >>> found = analysis.topic_bootstrap(
    ...     values, lambda some: some.means, n_resamples=50, random_state=0
    ... )
    >>> found.estimate.shape, found.low.shape
    ((2, 3), (2, 3))
    """

    estimate: Array
    resampled: Array
    confidence: float

    @property
    def error(self) -> Array:
        """Standard error: the standard deviation over the resamples, of the shape of `estimate`."""
        return np.asarray(self.resampled.std(axis=0, ddof=1))

    @property
    def low(self) -> Array:
        """Lower end of each interval.

        It is the estimate minus `error` times a quantile of the normal distribution.
        """
        return np.asarray(self.estimate - self._half)

    @property
    def high(self) -> Array:
        """Upper end of each interval."""
        return np.asarray(self.estimate + self._half)

    @property
    def _half(self) -> Array:
        return float(stats.norm.ppf((1 + self.confidence) / 2)) * self.error

    def __repr__(self) -> str:
        return (
            f"TopicBootstrap({self.estimate.size} estimates, {len(self.resampled)} resamples of "
            "the topics)"
        )


def topic_bootstrap(
    values: SystemValues,
    statistic: Callable[[SystemValues], Any],
    *,
    n_resamples: int = 200,
    confidence: float = 0.95,
    random_state: Any = None,
    progress: bool = False,
) -> TopicBootstrap:
    """Compute a statistic on resamples of the topics: its error and interval over topics.

    Parameters
    ----------
    values : SystemValues
        For at least two topics.
    statistic : callable
        From `SystemValues` to a number or an array of finite numbers, such as
        ``lambda some: correlation(some).tau``, or
        ``lambda some: discriminative_power(some, random_state=0).share``. For the interval of a
        difference between two measures, return the difference: they share the topics.
    n_resamples : int, default=200
        At least 2. Topics are drawn with replacement, as many as there are.
    confidence : float, default=0.95
        Of each interval.
    random_state : int, Generator or RandomState, optional
    progress : bool, default=False
        Show a progress bar over the resamples.

    Returns
    -------
    TopicBootstrap

    Raises
    ------
    ValueError
        If there are less than two topics or resamples, or the statistic is not finite or changes
        its shape.

    Notes
    -----
    Intervals are centered at the estimate, with the standard error of the bootstrap. Percentiles of
    the resamples would be shifted: differences between systems vary more in a resample, so more
    pairs differ significantly in it than on the topics themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from gapboost import analysis
    >>> drawn = np.random.default_rng(0).random((2, 3, 20))
    >>> topics = tuple(map(str, range(20)))
    >>> values = analysis.SystemValues(("ap", "ndcg"), ("a", "b", "c"), topics, drawn)
    >>> def difference(some):
    ...     power = analysis.discriminative_power(some, n_resamples=100, random_state=0)
    ...     return power.share[0] - power.share[1]
    ...
    >>> found = analysis.topic_bootstrap(values, difference, n_resamples=20, random_state=0)
    >>> bool(found.low <= found.estimate <= found.high)
    True
    """
    n_topics = len(checked_values(values).topics)
    if n_topics < 2:
        raise ValueError(f"values is {values!r}; expected at least two topics")
    if not callable(statistic):
        raise TypeError(f"statistic is {statistic!r}; expected a function of SystemValues")
    n_resamples = whole(n_resamples, "n_resamples", 2)
    confidence = probability(confidence, "confidence")
    (generator,) = generators(random_state, 1)
    drawn = [np.arange(n_topics), *generator.integers(n_topics, size=(n_resamples, n_topics))]
    found = in_order(
        partial(_on_topics, values, statistic), drawn, 1, progress, "resamples of topics"
    )
    if len({each.shape for each in found}) > 1 or not all(
        np.isfinite(each).all() for each in found
    ):
        raise ValueError(
            "statistic returns NaN, infinite values or several shapes; expected finite numbers of "
            "one shape"
        )
    return TopicBootstrap(found[0], np.array(found[1:]), confidence)


def _on_topics(
    values: SystemValues, statistic: Callable[[SystemValues], Any], topics: Array
) -> Array:
    names = tuple(values.topics[topic] for topic in topics)
    some = SystemValues(values.measures, values.systems, names, values.values.take(topics, axis=2))
    try:
        return np.asarray(statistic(some), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"statistic fails or returns no numbers ({error}); expected finite numbers"
        ) from error
