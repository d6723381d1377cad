"""Standard errors and intervals over topics, by the bootstrap.

The statistic is any number that is computed from the values of systems.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from gapboost._data.arguments import as_integer, probability
from gapboost._kernels import Array
from gapboost.analysis.result import Result, generators, in_order
from gapboost.analysis.systems import SystemValues, checked_values


def topic_bootstrap(
    values: SystemValues,
    statistic: Callable[[SystemValues], Any],
    *,
    n_resamples: int = 20_000,
    confidence: float = 0.95,
    random_state: Any = None,
    progress: bool = False,
) -> Result:
    """Compute a statistic on resamples of the topics: its error and interval over topics.

    Parameters
    ----------
    values : SystemValues
        For at least two topics.
    statistic : callable
        From `SystemValues` to a number or an array of finite numbers, such as
        ``lambda some: correlation(some).tau``. For the interval of a difference between two
        measures, return the difference: they share the topics.
    n_resamples : int, default=20000
        At least 2. Topics are drawn with replacement, as many as there are. For a slow statistic a
        few hundred will do: the standard error is then known to about 5 %.
    confidence : float, default=0.95
        Of each interval.
    random_state : int, Generator or RandomState, optional
    progress : bool, default=False
        Show a progress bar over the resamples.

    Returns
    -------
    Result
        ``estimate``: the statistic on all topics, of any shape. ``error``: its standard error, the
        standard deviation over the resamples. ``low`` and ``high``: ends of the interval.
        ``resampled``: the statistic on each resample, of shape (n_resamples, ...).

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
    >>> values = analysis.SystemValues(["ap", "ndcg"], ["a", "b", "c"], range(20), drawn)
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
        raise ValueError(f"values has {n_topics} topics; expected at least two topics")
    if not callable(statistic):
        raise TypeError(f"statistic is {statistic!r}; expected a function of SystemValues")
    n_resamples = as_integer(n_resamples, "n_resamples", 2)
    confidence = probability(confidence, "confidence")
    (generator,) = generators(random_state, 1)
    drawn = [np.arange(n_topics), *generator.integers(n_topics, size=(n_resamples, n_topics))]

    def on_topics(kept: Array) -> Array:
        topics = [values.topics[topic] for topic in kept]
        some = SystemValues(
            values.measures, values.systems, topics, values.values.take(kept, axis=2)
        )
        try:
            return np.asarray(statistic(some), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"statistic fails or returns no numbers ({error}); expected finite numbers"
            ) from error

    found = in_order(on_topics, drawn, 1, progress, "resamples of topics")
    if len({each.shape for each in found}) > 1 or not all(np.isfinite(e).all() for e in found):
        raise ValueError(
            "statistic returns NaN, infinite values or several shapes; expected finite numbers of "
            "one shape"
        )
    estimate, resampled = found[0], np.array(found[1:])
    error = resampled.std(axis=0, ddof=1)
    half = float(stats.norm.ppf((1 + confidence) / 2)) * error
    parts = {"estimate": estimate, "error": error, "low": estimate - half, "high": estimate + half}
    columns = {name: np.ravel(part) for name, part in parts.items()}
    return Result(columns, [], _draw, resampled=resampled, confidence=confidence, **parts)


def _draw(result: Result, ax: Any) -> None:
    """Draw each estimate with its interval."""
    estimate, half = np.ravel(result.estimate), np.ravel(result.high - result.estimate)
    ax.errorbar(range(len(estimate)), estimate, half, fmt="o", capsize=3)
    ax.set(xlabel="statistic", ylabel=f"estimate, {result.confidence:.0%} interval")
