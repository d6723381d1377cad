"""Paired tests over queries of the difference between two rankers, as in [yilmaz2009].

Two values of a query that differ by rounding alone are a tie, and so are two such differences: see
`gapboost.analysis.ties`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from gapboost._data.arguments import probability, whole
from gapboost._data.columns import numeric_column
from gapboost._kernels import Array
from gapboost._latex import latex_table
from gapboost._optional import axes, frame
from gapboost._pictures import COLORS, legend
from gapboost.analysis.ties import rounding, settled
from gapboost.analysis.work import generators
from gapboost.evaluation import PerQuery
from gapboost.measures import Measure, as_measure

# Values that the randomization test holds at once.
CELLS_IN_BATCH = 1 << 21


@dataclass(frozen=True, eq=False)
class Significance:
    """Difference of two rankers over the same queries, first minus second.

    Attributes
    ----------
    differences : float64 ndarray of shape (Q,)
        One a query; queries without a value for one of the rankers are left out. What differs from
        0, or in size from another one, by rounding alone is 0, or the same number.
    interval : tuple of float
        Confidence interval of the mean difference, from Student's t.
    confidence : float
    t, wilcoxon, sign, randomization : float
        Two-sided p-values: paired t-test, Wilcoxon's signed-rank test, sign test (both without the
        queries that do not differ), and the randomization test of the mean.

    Examples
    --------
    >>> from gapboost import analysis
    >>> result = analysis.significance([0.5, 0.7, 0.9, 0.4], [0.4, 0.5, 0.8, 0.4], random_state=0)
    >>> result.significant(level=0.05), round(result.effect_size, 2)
    (False, 1.22)
    """

    differences: Array
    interval: tuple[float, float]
    confidence: float
    t: float
    wilcoxon: float
    sign: float
    randomization: float

    @property
    def difference(self) -> float:
        """Mean difference."""
        return float(self.differences.mean())

    @property
    def effect_size(self) -> float:
        """Cohen's d for pairs: mean difference over its standard deviation.

        It is infinite if all differences are equal.
        """
        if not _all_equal(self.differences):
            return self.difference / float(self.differences.std(ddof=1))
        return 0.0 if self.difference == 0 else float(np.copysign(np.inf, self.difference))

    @property
    def counts(self) -> tuple[int, int, int]:
        """Queries on which the first is better, equal, worse."""
        d = self.differences
        return int((d > 0).sum()), int((d == 0).sum()), int((d < 0).sum())

    def significant(self, level: float = 0.05) -> bool:
        """Return True if t-test, Wilcoxon and sign test all find a difference [yilmaz2009]."""
        return max(self.t, self.wilcoxon, self.sign) < level

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"Significance(difference={self.difference:.4f}, interval=({low:.4f}, {high:.4f}), "
            f"effect_size={self.effect_size:.3f}, t={self.t:.3g}, wilcoxon={self.wilcoxon:.3g}, "
            f"sign={self.sign:.3g}, randomization={self.randomization:.3g})"
        )

    def to_pandas(self) -> Any:
        """Return a frame with the mean difference, its interval, the effect size and p-values.

        The column ``value`` holds floats and, for the counts of queries, ints.
        """
        better, equal, worse = self.counts
        numbers = {
            "mean difference": self.difference,
            f"{self.confidence:g} interval, low": self.interval[0],
            f"{self.confidence:g} interval, high": self.interval[1],
            "effect size": self.effect_size,
            "queries better": better,
            "queries equal": equal,
            "queries worse": worse,
            "p, t-test": self.t,
            "p, Wilcoxon": self.wilcoxon,
            "p, sign test": self.sign,
            "p, randomisation": self.randomization,
        }
        # An array of objects keeps the counts whole numbers beside the floats.
        values = np.array(list(numbers.values()), dtype=object)
        return frame({"": list(numbers), "value": values}, [""])

    def to_latex(self, digits: int = 3) -> str:
        r"""Return `to_pandas` as a LaTeX table, which needs ``\usepackage{booktabs}``.

        Text is escaped. Numbers are rounded to `digits` decimals; whole numbers have none.
        """
        return latex_table(self.to_pandas(), digits)

    def plot(self, ax: Any = None, title: str = "first − second") -> Any:
        """Draw the differences from the best to the worst query; return the axes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        title : str
            What is subtracted from what, such as ``"GAP: mine − theirs"``.
        """
        ax = axes(ax)
        ranked = np.sort(self.differences)[::-1]
        ax.bar(range(1, len(ranked) + 1), ranked, width=1.0, color=COLORS[0])
        ax.axhline(0, color="gray", linewidth=0.8)
        mean = f"mean {self.difference:+.4f}, p = {self.t:.3g} (t-test)"
        ax.axhline(self.difference, color=COLORS[1], linestyle="--", label=mean)
        ax.axhspan(
            *self.interval, color=COLORS[1], alpha=0.25, label=f"{self.confidence:.0%} interval"
        )
        ax.set(xlabel="queries by falling difference", ylabel="difference", title=title)
        legend(ax)
        return ax


def significance(
    first: Any,
    second: Any,
    *,
    measure: str | Measure | None = None,
    confidence: float = 0.95,
    n_resamples: int = 9999,
    random_state: Any = None,
) -> Significance:
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
    n_resamples : int, default=9999
        Random changes of sign in the randomization test; all of them are tried where there are no
        more than these.
    random_state : int, Generator or RandomState, optional

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
    confidence, n_resamples = (
        probability(confidence, "confidence"),
        whole(n_resamples, "n_resamples"),
    )
    (generator,) = generators(random_state, 1)
    within = float(rounding(values))
    # In counts, ranks and deviations ties are then equal numbers.
    d = np.sign(d) * settled(np.append(0.0, np.abs(d)), within)[1:]
    differing = d[d != 0]
    if len(differing) == 0:
        return Significance(d, (0.0, 0.0), confidence, 1.0, 1.0, 1.0, 1.0)
    interval, t = _student(d, confidence)
    return Significance(
        d,
        interval,
        confidence,
        t,
        float(stats.wilcoxon(differing).pvalue),
        float(stats.binomtest(int((differing > 0).sum()), len(differing)).pvalue),
        _randomization(d, within, n_resamples, generator),
    )


def _paired(first: Any, second: Any, measure: str | Measure | None) -> tuple[Array, Array]:
    """Values of one measure for the same queries, in the order of `first`."""
    for name, values in (("first", first), ("second", second)):
        if not isinstance(values, PerQuery):
            raise TypeError(
                f"{name} is a {type(values).__name__}, the other a PerQuery; expected PerQuery for "
                "both"
            )
    if measure is None:
        if len(first) != 1 or list(first) != list(second):
            raise ValueError(
                f"measure is None for {list(first)} and {list(second)}; expected one of the "
                "measures in both"
            )
        (measure,) = first
    if isinstance(measure, str):
        measure = as_measure(measure)
    a, b = _value_by_query(first, measure, "first"), _value_by_query(second, measure, "second")
    for name, missing in (("second", a.keys() - b.keys()), ("first", b.keys() - a.keys())):
        if missing:
            raise ValueError(
                f"{name} lacks {len(missing)} queries of the other, such as "
                f"{next(iter(missing))[1]!r}; expected the same queries in both"
            )
    return np.array(list(a.values())), np.array([b[query] for query in a])


def _value_by_query(values: PerQuery, measure: Any, name: str) -> dict[tuple[type, Any], float]:
    """``{(type, id): value}``: 1 and "1", and 1 and True, are different queries."""
    if not isinstance(measure, Measure) or measure not in values:
        raise ValueError(f"measure is {measure!r}; expected one of those in {name}, {list(values)}")
    ids = [query.item() if isinstance(query, np.generic) else query for query in values.qid]
    keys = [(type(query), query) for query in ids]
    if not len(set(keys)) == len(keys) == len(values[measure]):
        raise ValueError(
            f"{name} has {len(values[measure])} values for {len(ids)} ids, {len(set(keys))} of "
            "them different; expected different ids, one a value"
        )
    return dict(zip(keys, values[measure], strict=True))


def _all_equal(d: Array) -> bool:
    return bool((d == d[0]).all())


def _student(d: Array, confidence: float) -> tuple[tuple[float, float], float]:
    """Interval of the mean, and p-value of its difference from 0."""
    if _all_equal(d):  # no deviation, an infinite t
        return (float(d.mean()), float(d.mean())), 0.0
    tested = stats.ttest_1samp(d, 0.0)
    low, high = tested.confidence_interval(confidence)
    return (float(low), float(high)), float(tested.pvalue)


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
