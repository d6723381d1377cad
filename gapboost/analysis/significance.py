"""Paired tests over queries of the difference between two rankers, as in [yilmaz2009].

Two values of a query that differ by rounding alone are a tie, and so are two such differences: see
`gapboost.analysis.ties`.
"""

from typing import Any

import numpy as np
from scipy import stats

from gapboost._data.arguments import as_integer, probability
from gapboost._data.columns import numeric_column
from gapboost._kernels import Array
from gapboost._pictures import COLORS
from gapboost.analysis.result import Result, generators
from gapboost.analysis.ties import rounding, settled
from gapboost.evaluation import PerQuery
from gapboost.measures import Measure, as_measure

# Values that the randomization test holds at once.
CELLS_IN_BATCH = 1 << 21

ROWS = [
    *("mean difference", "interval, low", "interval, high", "effect size"),
    *("queries better", "queries equal", "queries worse"),
    *("p, t-test", "p, Wilcoxon", "p, sign test", "p, randomization"),
]


def significance(
    first: Any,
    second: Any,
    *,
    measure: str | Measure | None = None,
    confidence: float = 0.95,
    n_resamples: int = 20_000,
    random_state: Any = None,
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
        are paired by query id. Or bare values of one measure, paired by position: the same queries
        in the same order. NaN where a query has none. Give values rather than differences beside
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

        * ``differences``: first minus second, float64 of shape (Q,); queries without a value for
          one of the rankers are left out. Differences that rounding alone tells apart are equal.
        * ``difference``: their mean; ``interval``: its confidence interval from Student's t;
          ``effect_size``: the mean over the standard deviation (Cohen's d for pairs).
        * ``counts``: queries on which the first is better, equal, worse.
        * ``t``, ``wilcoxon``, ``sign``, ``randomization``: two-sided p-values of the paired t-test,
          Wilcoxon's signed-rank test, the sign test (both without the queries that do not differ),
          and the randomization test of the mean.

        Where all differences are one number, Student's t is not defined: the interval and the
        effect size are NaN, and so is ``t``, unless that number is 0.

    Raises
    ------
    ValueError
        If the queries or the shapes differ, the measure is not in both, or fewer than two
        queries have both values.
    TypeError
        If one is a PerQuery and the other is not.

    Examples
    --------
    >>> result = significance([0.5, 0.7, 0.9, 0.4], [0.4, 0.5, 0.8, 0.4], random_state=0)
    >>> round(result.difference, 3), round(result.t, 3), result.counts
    (0.1, 0.092, (3, 1, 0))
    """
    if isinstance(first, PerQuery) or isinstance(second, PerQuery):
        first, second = _paired(first, second, measure)
    elif measure is not None:
        raise ValueError(
            f"measure is {measure!r} for arrays; expected None, or PerQuery for first and second"
        )
    a, b = (
        numeric_column(v, n, "values of a measure").astype(np.float64)
        for v, n in ((first, "first"), (second, "second"))
    )
    if a.shape != b.shape:
        raise ValueError(
            f"first has {len(a)} values but second has {len(b)}; expected the same queries"
        )
    both = ~(np.isnan(a) | np.isnan(b))
    values = np.stack((a[both], b[both]))
    with np.errstate(over="ignore", invalid="ignore"):
        d = values[0] - values[1]
    if len(d) < 2 or not np.isfinite(d).all():
        raise ValueError(
            f"{len(d)} queries have values for both rankers; expected at least two, and finite "
            "values"
        )
    confidence = probability(confidence, "confidence")
    n_resamples = as_integer(n_resamples, "n_resamples")
    (generator,) = generators(random_state, 1)
    within = float(rounding(values))
    # In counts, ranks and deviations ties are then equal numbers.
    d = np.sign(d) * settled(np.append(0.0, np.abs(d)), within)[1:]
    better, worse = int((d > 0).sum()), int((d < 0).sum())
    t, interval, effect_size = _student(d, confidence)
    wilcoxon = sign = randomization = 1.0
    if better or worse:
        wilcoxon = float(stats.wilcoxon(d[d != 0]).pvalue)
        sign = float(stats.binomtest(better, better + worse).pvalue)
        randomization = _randomization(d, within, n_resamples, generator)
    counts = (better, len(d) - better - worse, worse)
    p = {"t": t, "wilcoxon": wilcoxon, "sign": sign, "randomization": randomization}
    # An array of objects keeps the counts whole numbers beside the floats.
    numbers = [float(d.mean()), *interval, effect_size, *counts, *p.values()]
    return Result(
        {"quantity": ROWS, "value": np.array(numbers, dtype=object)},
        ["quantity"],
        _draw,
        differences=d,
        difference=float(d.mean()),
        interval=interval,
        confidence=confidence,
        effect_size=effect_size,
        counts=counts,
        **p,
    )


def _paired(first: Any, second: Any, measure: str | Measure | None) -> tuple[Array, Array]:
    """Return values of one measure for the same queries, in the order of `first`."""
    for name, values in (("first", first), ("second", second)):
        if not isinstance(values, PerQuery):
            raise TypeError(
                f"{name} is a {type(values).__name__}, the other a PerQuery; expected PerQuery for "
                "both"
            )
    if measure is None:
        if len(first) != 1:
            raise ValueError(f"measure is None for {list(first)}; expected one of the measures")
        (measure,) = first
    measure = as_measure(measure)
    a, b = (_value_by_query(v, measure, n) for v, n in ((first, "first"), (second, "second")))
    if a.keys() != b.keys():
        missing = next(iter(a.keys() ^ b.keys()))[1]
        raise ValueError(
            f"second has other queries than first: {missing!r} is in one of them; expected the same"
        )
    return np.array(list(a.values())), np.array([b[query] for query in a])


def _value_by_query(values: PerQuery, measure: Measure, name: str) -> dict[tuple[type, Any], float]:
    """Return ``{(type, id): value}``: 1 and "1", and 1 and True, are different queries."""
    if measure not in values:
        raise ValueError(f"measure is {measure!r}; expected one of those in {name}, {list(values)}")
    ids = [query.item() if isinstance(query, np.generic) else query for query in values.qid]
    found = {
        (type(query), query): value for query, value in zip(ids, values[measure], strict=False)
    }
    if not len(found) == len(ids) == len(values[measure]):
        raise ValueError(
            f"{name} has {len(values[measure])} values for {len(ids)} ids, {len(found)} of them "
            "different; expected different ids, one a value"
        )
    return found


def _student(d: Array, confidence: float) -> tuple[float, tuple[float, float], float]:
    """Return the p-value of Student's t, the interval of the mean, and the effect size."""
    nan = float("nan")
    if (d == d[0]).all():  # without a deviation there is no t
        return (nan if d[0] else 1.0), (nan, nan), nan
    tested = stats.ttest_1samp(d, 0.0)
    low, high = tested.confidence_interval(confidence)
    return float(tested.pvalue), (float(low), float(high)), float(d.mean() / d.std(ddof=1))


def _randomization(
    d: Array, within: float, n_resamples: int, generator: np.random.Generator
) -> float:
    """Return the share of sign changes with a mean at least as far from 0.

    The observed signs count among random ones.
    """
    # Means that differ by rounding are tied; scipy's own allowance vanishes where differences
    # cancel.
    least = abs(d.sum()) - len(d) * within

    def as_far(changed: Array, axis: int) -> Array:
        far: Array = np.abs(changed.sum(axis=axis)) >= least
        return far.astype(np.float64)

    # Before 1.14 scipy counts all changes of sign of many queries as a float, which overflows to
    # infinity, as it should.
    with np.errstate(over="ignore"):
        tested = stats.permutation_test(
            (d,),
            as_far,
            permutation_type="samples",
            vectorized=True,
            n_resamples=n_resamples,
            batch=max(1, CELLS_IN_BATCH // len(d)),
            alternative="greater",
            random_state=generator,
        )
    return float(tested.pvalue)


def _draw(result: Result, ax: Any, title: str = "first − second") -> None:
    """Draw the differences from the best to the worst query.

    `title` says what is subtracted from what, such as ``"GAP: mine − theirs"``.
    """
    ranked = np.sort(result.differences)[::-1]
    ax.bar(range(1, len(ranked) + 1), ranked, width=1.0, color=COLORS[0])
    ax.axhline(0, color="gray", linewidth=0.8)
    mean = f"mean {result.difference:+.4f}, p = {result.t:.3g} (t-test)"
    ax.axhline(result.difference, color=COLORS[1], linestyle="--", label=mean)
    if not np.isnan(result.interval).any():
        label = f"{result.confidence:.0%} interval"
        ax.axhspan(*result.interval, color=COLORS[1], alpha=0.25, label=label)
    ax.set(xlabel="queries by falling difference", ylabel="difference", title=title)
