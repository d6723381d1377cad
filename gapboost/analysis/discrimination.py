"""Discriminative power: the share of pairs of systems that a measure separates on given topics.

The paired bootstrap test of Sakai (SIGIR 2006), as [robertson2010] (4.2) uses it. With z the
differences of two systems by topic and t(z) = mean(z) / (sd(z) / sqrt(n)), the centered differences
are resampled B times; the achieved significance level (ASL) of the pair is the share of resamples
with ``|t(w*)| >= |t(z)|``. All pairs and measures see the same resamples of the topics, so that
what differs between measures is the measures. Rounding (`gapboost.analysis.ties`) is no difference.
"""

import itertools
from typing import Any

import numpy as np

from gapboost._data.arguments import as_integer, probability
from gapboost._kernels import Array
from gapboost._pictures import line
from gapboost.analysis.result import Result, generators, in_order, short_labels
from gapboost.analysis.systems import SystemValues, checked_values
from gapboost.analysis.ties import rounding

# Pairs of systems whose resamples are in memory at once: 40 MB for 20,000 resamples.
PAIRS_AT_ONCE = 256


def discriminative_power(
    values: SystemValues,
    *,
    level: float = 0.05,
    n_resamples: int = 20_000,
    top: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = 1,
    progress: bool = False,
) -> Result:
    """Test every pair of systems with each measure.

    Parameters
    ----------
    values : SystemValues
        For at least two systems and two topics.
    level : float, default=0.05
        Significance level.
    n_resamples : int, default=20000
        Bootstrap resamples B; levels are multiples of 1/B.
    top : int, optional
        Only the systems with the best mean rank over the measures.
    random_state : int, Generator or RandomState, optional
    n_jobs : int, default=1
        Processes, one measure each; the work rarely needs them.
    progress : bool, default=False
        Show a progress bar over the measures.

    Returns
    -------
    Result
        Its table has one row a measure. Attributes:

        * ``pairs``: tuple of (str, str).
        * ``asl``: achieved significance levels, float64 of shape (measures, pairs); 1 where the
          differences of a pair do not vary over the topics, so that there is nothing to test with.
        * ``holm``: the same, corrected for the number of pairs by Holm's method.
        * ``difference``: first minus second mean, of shape (measures, pairs).
        * ``share``, ``share_holm``: share of the pairs with a (corrected) ASL below `level`, of
          shape (measures,).
        * ``required``: difference of means that is enough for significance at `level`, for any of
          the pairs: the largest over the pairs of ``|mean(w*)|`` where ``|t(w*)|`` just reaches
          its upper `level` quantile; of shape (measures,).
        * ``by_pair``: a `Result` whose table has one row a measure and pair.
        * ``measures``, ``level``, ``n_resamples``.

        ``plot(highest=0.1)`` draws ASL curves: the sooner a curve falls to `level`, the more pairs
        its measure distinguishes.

    Examples
    --------
    >>> from gapboost import analysis
    >>> table = [[[0.9, 0.8, 0.7, 0.6], [0.5, 0.5, 0.2, 0.3], [0.5, 0.4, 0.3, 0.3]]]
    >>> values = analysis.SystemValues(["ap"], ["a", "b", "c"], ["1", "2", "3", "4"], table)
    >>> power = analysis.discriminative_power(values, random_state=0)
    >>> power.pairs, power.asl.shape
    ((('a', 'b'), ('a', 'c'), ('b', 'c')), (1, 3))
    """
    checked_values(values)
    level, n_resamples = probability(level, "level"), as_integer(n_resamples, "n_resamples")
    if top is not None:
        values = values.best(top)
    n_topics = len(values.topics)
    if len(values.systems) < 2 or n_topics < 2:
        raise ValueError(
            f"values has {len(values.systems)} systems and {n_topics} topics; expected at least "
            "two systems and two topics"
        )
    if n_resamples < 1 / level:
        raise ValueError(
            f"level is {level!r} and n_resamples {n_resamples!r}; expected at least 1 / level "
            "resamples"
        )
    first, second = np.triu_indices(len(values.systems), 1)
    pairs = tuple(itertools.combinations(values.systems, 2))
    (generator,) = generators(random_state, 1)
    times = generator.multinomial(
        n_topics, np.full(n_topics, 1 / n_topics), size=n_resamples
    ).astype(np.float64)
    z = values.values[:, first] - values.values[:, second]
    within = rounding(values.values, (1, 2))
    z[np.abs(z) <= within[:, None, None]] = 0.0
    items = [(differences, times, level, ties) for differences, ties in zip(z, within, strict=True)]
    tested = in_order(_tested, items, n_jobs, progress, "bootstrap")
    asl, required = (np.array(part) for part in zip(*tested, strict=True))
    corrected = np.array([holm(row) for row in asl])
    labels, difference = short_labels(values.measures), z.mean(axis=2)
    numbers = {
        "share": (asl < level).mean(axis=1),
        "share_holm": (corrected < level).mean(axis=1),
        "required": required,
    }
    return Result(
        {"measure": labels, "pairs": len(pairs), **numbers},
        ["measure"],
        _draw,
        measures=values.measures,
        pairs=pairs,
        asl=asl,
        holm=corrected,
        difference=difference,
        level=level,
        n_resamples=n_resamples,
        by_pair=_by_pair(labels, pairs, difference, asl, corrected),
        **numbers,
    )


def holm(p: Array) -> Array:
    """Return p-values of one family of tests, corrected by Holm's method."""
    order = np.argsort(p, kind="stable")
    corrected = np.empty(len(p))
    corrected[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(corrected, 1.0)


def _by_pair(
    labels: list[str], pairs: tuple[tuple[str, str], ...], difference: Array, asl: Array, p: Array
) -> Result:
    first, second = zip(*pairs, strict=True)
    columns = {
        "measure": np.repeat(labels, len(pairs)),
        "first": first * len(labels),
        "second": second * len(labels),
        "difference": difference.ravel(),
        "asl": asl.ravel(),
        "holm": p.ravel(),
    }
    return Result(columns, ["measure", "first", "second"], _draw_pairs, **columns)


def _tested(item: tuple[Array, Array, float, float]) -> tuple[Array, float]:
    """Return ASL of each pair, and the required difference, for one measure.

    A topic is drawn as often as `times` says.
    """
    z, times, level, within = item
    n, place = z.shape[1], len(times) - int(np.ceil(level * len(times)))
    asl, required = [], []
    for begin in range(0, len(z), PAIRS_AT_ONCE):
        some = z[begin : begin + PAIRS_AT_ONCE]
        observed = np.abs(_t(some.mean(axis=1), (some**2).mean(axis=1), n))
        w = some - some.mean(axis=1, keepdims=True)
        # What rounding leaves of equal differences is no variance.
        w[np.abs(w) <= within] = 0.0
        constant = ~w.any(axis=1)
        means = times @ w.T / n
        drawn = np.abs(_t(means, times @ (w**2).T / n, n))
        # Rounding must not decide between equal values, as where a resample holds every topic once.
        asl.append(np.where(constant, 1.0, (drawn >= observed * (1 - 1e-12)).mean(axis=0)))
        at = (drawn == np.partition(drawn, place, axis=0)[place]).argmax(axis=0)
        required.append(np.abs(means[at, np.arange(len(some))]).max())
    return np.concatenate(asl), float(max(required))


def _t(mean: Array, mean_square: Array, n: int) -> Array:
    """Student's t of samples; 0 where all values are 0, infinite where they are otherwise equal."""
    variance = np.maximum(mean_square - mean**2, 0.0) * n / (n - 1)
    # What rounding leaves of a variance of zero.
    variance[variance < 1e-15 * mean_square] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        t: Array = mean / np.sqrt(variance / n)
    return np.where(np.isnan(t), 0.0, t)


def _draw(power: Result, ax: Any, highest: float = 0.1) -> None:
    """Draw the levels of each measure in falling order."""
    ranks = range(1, len(power.pairs) + 1)
    for m, measure in enumerate(short_labels(power.measures)):
        label = f"{measure}: {power.share[m]:.1%} below {power.level:g}"
        falling = np.sort(power.asl[m])[::-1]
        ax.plot(ranks, falling, drawstyle="steps-mid", label=label, **line(m, marked=False))
    ax.axhline(power.level, color="gray", linewidth=0.8, linestyle=":")
    ax.set(xlabel="pairs of systems by falling ASL", ylabel="achieved significance level")
    ax.set_ylim(0, highest)


def _draw_pairs(by_pair: Result, ax: Any) -> None:
    """Draw the level of each pair against its difference."""
    for m, measure in enumerate(dict.fromkeys(by_pair.measure)):
        of = by_pair.measure == measure
        style = line(m) | {"linestyle": "", "label": measure}
        ax.plot(by_pair.difference[of], by_pair.holm[of], **style)
    ax.set(xlabel="difference", ylabel="ASL, corrected by Holm's method")
