"""Tests of differences over queries or topics: of two rankers, and of each pair of systems.

`significance` tests the values of two rankers in pairs, as [yilmaz2009] does.

`discriminative_power` is the share of pairs of systems that a measure separates on given topics. It
rests on the paired bootstrap test of Sakai (SIGIR 2006), as [robertson2010] (4.2) uses it. With z
the differences of two systems by topic and t(z) = mean(z) / (sd(z) / sqrt(n)), the centered
differences are resampled B times; the achieved significance level (ASL) of the pair is the share of
resamples with ``|t(w*)| >= |t(z)|``. All pairs and measures see the same resamples of the topics,
so that what differs between measures is the measures.

Values that differ by rounding alone (`gapboost.analysis.standard_errors`) are ties, and so are two
such differences.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from scipy import stats

from gapboost.analysis.result import Result, full_labels, generators, short_labels
from gapboost.analysis.standard_errors import merge_ties, paired_by_index, rounding
from gapboost.analysis.systems import SystemValues, checked_values
from gapboost.data import Array, ArrayLike
from gapboost.evaluation import ByMeasure, PerQuery
from gapboost.measures import Measure
from gapboost.optional import Axes, DataFrame, frame
from gapboost.page import COLORS
from gapboost.validation import BELOW_ONE, Seed, as_integer, as_number, numeric_column, warn

# Two-sided p-values of differences of shape (tests, topics), as `tied_differences` returns them
# with the tolerance of each test; the number of resamples, and where they are drawn from.
PairedTest: TypeAlias = Callable[[Array, Array, int, np.random.Generator], Array]

# Values that the randomization test holds at once.
CELLS_IN_BATCH = 1 << 21

ROWS = [
    *("mean difference", "interval, low", "interval, high", "effect size"),
    *("queries better", "queries equal", "queries worse"),
    *("df, t-test", "p, t-test", "p, Wilcoxon", "p, sign test", "p, randomization"),
]


def significance(
    first: PerQuery | ArrayLike,
    second: PerQuery | ArrayLike,
    *,
    measure: str | Measure | None = None,
    confidence: float = 0.95,
    n_resamples: int = 20_000,
    random_state: Seed = None,
) -> Result:
    """Test the difference of two rankers, query by query.

    Values within 1e-12 of the largest one are tied: a sum over ranks or documents changes in its
    last digits with the order of its terms, and what is equal by definition would count as a win.
    It is so in the counts and in all tests, which take differences that are as near to each other
    for equal ones.

    Parameters
    ----------
    first, second : PerQuery, or array-like of shape (Q,)
        Two results of ``evaluate(..., per_query=True)`` for the same queries, in any order: values
        are paired by query id. Or bare values of one measure: two Series of pandas are paired by
        their index, others by position, with the same queries in the same order. Queries with NaN
        in both, as from ``empty="skip"``, are left out. Give values rather than differences beside
        zeros: they tell how large rounding may be.
    measure : str or Measure, optional
        Which measure of two PerQuery; None where each holds one and the same.
    confidence : float, default=0.95
        Of the interval.
    n_resamples : int, default=20000
        Random changes of sign in the randomization test; all of them are tried where there are no
        more than these.
    random_state : int, Generator or RandomState, optional

    Returns
    -------
    Result
        Its table has one row a quantity. Attributes:

        * ``differences``: first minus second, float64 of shape (Q,), without the queries that are
          left out. Differences that rounding alone tells apart are equal.
        * ``difference``: their mean; ``interval``: its confidence interval from Student's t;
          ``effect_size``: the mean over the standard deviation (Cohen's d for pairs).
        * ``counts``: queries on which the first is better, equal, worse.
        * ``t``, ``wilcoxon``, ``sign``, ``randomization``: two-sided p-values of the paired t-test
          with ``df`` degrees of freedom, Wilcoxon's signed-rank test, the sign test (both without
          the queries that do not differ), and the randomization test of the mean.

        Where all differences are one number, Student's t is not defined: the interval and the
        effect size are NaN, and so is ``t``, unless that number is 0.

    Raises
    ------
    ValueError, TypeError
        If the queries or the shapes differ, the measure is not in both, a query has NaN in one
        alone, or fewer than two queries have values; if only one is a PerQuery.

    Examples
    --------
    >>> result = significance([0.5, 0.7, 0.9, 0.4], [0.4, 0.5, 0.8, 0.4], random_state=0)
    >>> round(result.difference, 3), round(result.t, 3), result.counts
    (0.1, 0.092, (3, 1, 0))
    """
    queries: Any = getattr(first, "axes", [()])[0]  # the index of a Series
    if any(isinstance(values, ByMeasure) for values in (first, second)):
        first, second, queries = _paired(first, second, measure)
    elif measure is not None:
        raise ValueError(f"measure is {measure!r} for arrays; expected None")
    first, second = paired_by_index(first, second, ("first", "second"))
    a, b = (
        numeric_column(v, n, "values of a measure").astype(np.float64)
        for v, n in ((first, "first"), (second, "second"))
    )
    if a.shape != b.shape:
        raise ValueError(f"first has {len(a)} values, second {len(b)}; expected the same queries")
    for name, values, other in (("first", a, b), ("second", b, a)):
        if len(rows := np.flatnonzero(np.isnan(values) > np.isnan(other))):
            query = f"query {queries[rows[0]]}" if len(queries) else f"row {rows[0]}, from 0 on"
            raise ValueError(
                f"{name} has NaN for {query}, where the other has a value; expected numbers: "
                "leave such queries out of both, or evaluate(..., empty=0)"
            )
    d, within = tied_differences(np.stack((a, b))[:, ~np.isnan(a)])
    if len(d) < 2 or not np.isfinite(d).all():
        raise ValueError(f"{len(d)} queries have values for both; expected two or more, and finite")
    confidence = as_number(confidence, "confidence", 0.5, BELOW_ONE)
    n_resamples = as_integer(n_resamples, "n_resamples")
    (generator,) = generators(random_state, 1)
    tested = _student(d)
    better, n_differing = int((d > 0).sum()), int((d != 0).sum())
    found: dict[str, Any] = {
        "difference": float(d.mean()),
        "interval": tuple(map(float, tested.confidence_interval(confidence))),
        "effect_size": float(tested.statistic / np.sqrt(len(d))),
        "counts": (better, len(d) - n_differing, n_differing - better),
        "df": len(d) - 1,
        **{
            name: float(test(d[None], np.array([within]), n_resamples, generator)[0])
            for name, test in TESTS.items()
        },
    }
    numbers = [part for value in found.values() for part in np.atleast_1d(np.array(value, object))]
    # An array of objects keeps the counts whole numbers beside the floats.
    columns = {"quantity": ROWS, "value": np.array(numbers, dtype=object)}
    return Result(columns, ["quantity"], _draw, differences=d, confidence=confidence, **found)


def tied_differences(values: Array) -> tuple[Array, float]:
    """Return differences of values of shape (2, topics), ties as equal numbers, and the tolerance.

    Counts, ranks and deviations then see equal numbers.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        d = values[0] - values[1]
    if not d.size or not np.isfinite(d).all():
        return d, 0.0
    within = float(rounding(values))
    return np.sign(d) * merge_ties(np.append(0.0, np.abs(d)), within)[1:], within


def _paired(first: Any, second: Any, measure: Any) -> tuple[Array, Array, list[object]]:
    """Return values of one measure for the same queries, and these, in the order of `first`."""
    for name, values in (("first", first), ("second", second)):
        if not isinstance(values, PerQuery):
            raise TypeError(
                f"{name} is a {type(values).__name__}; expected PerQuery for both: "
                "evaluate(..., per_query=True)"
            )
    if measure is None and len(first) == 1:
        (measure,) = first
    if measure is None or measure not in first or measure not in second:
        both = [name for name in first if name in second]
        raise ValueError(f"measure is {measure!r}; expected one of {both}, in first and second")
    a, b = (dict(zip(v.qid, v[measure], strict=True)) for v in (first, second))
    if a.keys() != b.keys() or not len(a) == len(first.qid) == len(second.qid):
        raise ValueError("second has other queries than first, or some twice; expected the same")
    return np.array(list(a.values())), np.array([b[query] for query in a]), list(a)


def _student(d: Array) -> Any:
    """Return Student's t-test; one number tells nothing about its error."""
    return stats.ttest_1samp(d if np.ptp(d) > 0 else np.full(len(d), np.nan), 0.0)


def _of_rows(test: Callable[[Array], Any]) -> PairedTest:
    """Return a test of scipy for each row; differences that are all 0 have a p-value of 1."""
    return lambda differences, *_: np.array(
        [test(d).pvalue if d.any() else 1.0 for d in differences]
    )


def _randomization(
    differences: Array, within: Array, n_resamples: int, generator: np.random.Generator
) -> Array:
    """Return the share of sign changes with a mean at least as far from 0, for each row.

    All rows see the same changes: every one if they are at most `n_resamples`, else random ones
    and the observed.
    """
    n_rows, n = differences.shape
    exact = 2**n <= n_resamples
    total = 2**n if exact else n_resamples
    # Sums that differ by rounding are equal.
    lowest = np.abs(differences.sum(axis=1)) - n * within
    as_far = np.zeros(n_rows)
    size = max(1, CELLS_IN_BATCH // (n + n_rows))
    for first in range(0, total, size):
        numbers = np.arange(first, min(first + size, total))
        if exact:
            positive = (numbers[:, None] >> np.arange(n)) % 2 == 0
        else:
            positive = generator.random((len(numbers), n)) < 0.5
        changed = np.where(positive, 1.0, -1.0) @ differences.T
        as_far += (np.abs(changed) >= lowest).sum(axis=0)
    p: Array = as_far / total if exact else (as_far + 1) / (total + 1)
    return p


TESTS: dict[str, PairedTest] = {
    "t": _of_rows(_student),
    "wilcoxon": _of_rows(lambda d: stats.wilcoxon(d[d != 0])),
    "sign": _of_rows(lambda d: stats.binomtest(int((d > 0).sum()), int((d != 0).sum()))),
    "randomization": _randomization,
}


def _draw(result: Result, ax: Axes, title: str = "first − second") -> None:
    """Draw the differences from the best to the worst query.

    `title` says what is subtracted from what, such as ``"GAP: mine − theirs"``.
    """
    ranked = np.sort(result.differences)[::-1]
    ax.bar(range(1, len(ranked) + 1), ranked, width=1.0, color=COLORS[0])
    mean = f"mean {result.difference:+.4f}, p = {result.t:.3g} (t-test)"
    ax.axhline(result.difference, color=COLORS[1], linestyle="--", label=mean)
    label = f"{result.confidence:.0%} interval"
    ax.axhspan(*result.interval, color=COLORS[1], alpha=0.25, label=label)
    ax.set(xlabel="queries by falling difference", ylabel="difference", title=title)


def discriminative_power(
    values: SystemValues,
    *,
    level: float = 0.05,
    n_resamples: int = 20_000,
    random_state: Seed = None,
) -> Result:
    """Test every pair of systems with each measure: T. Sakai's method, SIGIR 2006.

    Parameters
    ----------
    values : SystemValues
        For at least two systems and two topics.
    level : float, default=0.05
        Significance level.
    n_resamples : int, default=20000
        Bootstrap resamples B; levels are multiples of 1/B.
    random_state : int, Generator or RandomState, optional

    Returns
    -------
    Result
        Its table has one row a measure. Attributes:

        * ``pairs``: tuple of (str, str).
        * ``asl``: achieved significance levels, the p-values of the paired bootstrap test, float64
          of shape (measures, pairs); 0 is below 1/B, to print as "< 0.00005". 1 where the
          differences of a pair do not vary over the topics, so that there is nothing to test with.
        * ``holm``: the same, corrected for the number of pairs by Holm's method, with 1/B for 0.
        * ``difference``: first minus second mean, of shape (measures, pairs).
        * ``share``, ``share_holm``: share of the pairs with a (corrected) ASL below `level`, of
          shape (measures,).
        * ``required``: difference of means that is enough for significance at `level`, for any of
          the pairs: the largest over the pairs of ``|mean(w*)|`` where ``|t(w*)|`` just reaches
          its upper `level` quantile; of shape (measures,).
        * ``by_pair``: pandas.DataFrame of one row a measure and pair.
        * ``measures``, ``level``.

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
    checked_values(values, 2, 2)
    level = as_number(level, "level", high=0.5)
    if as_integer(n_resamples, "n_resamples") < 1 / level:
        raise ValueError(f"level is {level} and n_resamples {n_resamples}; expected >= 1 / level")
    pairs = tuple(itertools.combinations(values.systems, 2))
    if n_resamples * level < len(pairs):
        warn(
            f"n_resamples is {n_resamples}, and there are {len(pairs)} pairs: corrected for them "
            f"none can be significant; expected {len(pairs) / level:.0f} or more",
        )
    n_topics = len(values.topics)
    (generator,) = generators(random_state, 1)
    # How often each topic is drawn, by resample.
    times = generator.multinomial(n_topics, np.full(n_topics, 1 / n_topics), size=n_resamples)
    tested = [_tested(of_one, times.astype(np.float64), level) for of_one in values.values]
    difference, asl, required = (np.array(part) for part in zip(*tested, strict=True))
    corrected = np.array([holm(np.maximum(row, 1 / n_resamples)) for row in asl])
    labels = short_labels(values.measures)
    of_pairs = {"difference": difference, "asl": asl, "holm": corrected}
    columns = {
        "measure": labels,
        "pairs": len(pairs),
        "share": (asl < level).mean(axis=1),
        "share_holm": (corrected < level).mean(axis=1),
        "required": required,
    }
    return Result(
        columns,
        ["measure"],
        _draw_levels,
        measures=values.measures,
        pairs=pairs,
        asl=asl,
        holm=corrected,
        difference=difference,
        level=level,
        by_pair=table_of_pairs(full_labels(values.measures), pairs, of_pairs),
    )


def table_of_pairs(
    labels: Sequence[str], pairs: Sequence[tuple[str, str]], columns: Mapping[str, Array]
) -> DataFrame:
    """Return a data frame with one row a measure and pair; columns have shape (measures, pairs)."""
    names = [(label, *pair) for label, pair in itertools.product(labels, pairs)]
    index = dict(zip(("measure", "first", "second"), zip(*names, strict=True), strict=True))
    return frame({**index, **{name: column.ravel() for name, column in columns.items()}}, index)


def holm(p: Array) -> Array:
    """Return p-values of one family of tests, corrected by Holm's method."""
    order = np.argsort(p, kind="stable")
    corrected = np.empty(len(p))
    corrected[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(corrected, 1.0)


def _tested(values: Array, times: Array, level: float) -> tuple[Array, Array, float]:
    """Return difference and ASL of each pair, and the required difference, for one measure.

    `values` has shape (systems, topics), `times` (resamples, topics).
    """
    n, within = values.shape[1], rounding(values)
    place = len(times) - int(np.ceil(level * len(times)))
    difference, asl, required = [], [], []
    for system in range(len(values) - 1):
        z = values[system] - values[system + 1 :]
        z[np.abs(z) <= within] = 0.0
        observed = np.abs(_t(z.mean(axis=1), (z**2).mean(axis=1), n))
        w = z - z.mean(axis=1, keepdims=True)
        # What rounding leaves of equal differences is no variance.
        w[np.abs(w) <= within] = 0.0
        means = times @ w.T / n
        drawn = np.abs(_t(means, times @ (w**2).T / n, n))
        # Rounding must not decide between equal values, as where a resample holds every topic once.
        as_far = (drawn >= observed * (1 - 1e-12)).mean(axis=0)
        asl.append(np.where(w.any(axis=1), as_far, 1.0))
        at = (drawn == np.partition(drawn, place, axis=0)[place]).argmax(axis=0)
        required.append(np.abs(means[at, np.arange(len(z))]).max())
        difference.append(z.mean(axis=1))
    return np.concatenate(difference), np.concatenate(asl), float(max(required))


def _t(mean: Array, mean_square: Array, n: int) -> Array:
    """Student's t of samples; 0 where all values are 0, infinite where they are otherwise equal."""
    variance = np.maximum(mean_square - mean**2, 0.0) * n / (n - 1)
    # What rounding leaves of a variance of zero.
    variance[variance < 1e-15 * mean_square] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        t: Array = mean / np.sqrt(variance / n)
    return np.where(np.isnan(t), 0.0, t)


def _draw_levels(power: Result, ax: Axes, highest: float = 0.1) -> None:
    """Draw the levels of each measure in falling order."""
    ranks = range(1, len(power.pairs) + 1)
    for m, measure in enumerate(short_labels(power.measures)):
        label = f"{measure}: {power.share[m]:.1%} below {power.level:g}"
        falling = np.sort(power.asl[m])[::-1]
        ax.plot(ranks, falling, drawstyle="steps-mid", label=label, marker="")
    ax.axhline(power.level, color="gray", linewidth=0.8, linestyle=":")
    ax.set(xlabel="pairs of systems by falling ASL", ylabel="achieved significance level")
    ax.set_ylim(0, highest)
