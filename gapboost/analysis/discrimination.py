"""Discriminative power: the share of pairs of systems that a measure separates on given topics.

The paired bootstrap test of Sakai (SIGIR 2006), as [robertson2010] (4.2) uses it. With z the
differences of two systems by topic and t(z) = mean(z) / (sd(z) / sqrt(n)), the centered differences
are resampled B times; the achieved significance level (ASL) of the pair is the share of resamples
with ``|t(w*)| >= |t(z)|``. All pairs and measures see the same resamples of the topics, so that
what differs between measures is the measures. Rounding (`gapboost.analysis.ties`) is no difference.
"""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from gapboost._data.arguments import probability, whole
from gapboost._kernels import Array
from gapboost._latex import latex_table
from gapboost._optional import axes, frame
from gapboost._pictures import legend, line
from gapboost.analysis.systems import SystemValues, checked_values, position_of
from gapboost.analysis.ties import rounding
from gapboost.analysis.work import generators, in_order


@dataclass(frozen=True, eq=False)
class DiscriminativePower:
    """Achieved significance levels of all pairs of systems.

    Attributes
    ----------
    measures : tuple
    pairs : tuple of (str, str)
    asl : float64 ndarray of shape (measures, pairs)
    difference : float64 ndarray of shape (measures, pairs)
        Difference of the means, first system minus second.
    required : float64 ndarray of shape (measures,)
        Difference of means that is enough for significance at `level`, for any of the pairs: the
        largest over the pairs of ``|mean(w*)|`` where ``|t(w*)|`` just reaches its upper `level`
        quantile.
    level : float
    n_resamples : int

    Examples
    --------
    >>> from gapboost import analysis
    >>> qrels = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"a": 0, "d": 1, "e": 2}}
    >>> one = {"1": {"a": 2.0, "b": 1.0}, "2": {"d": 2.0, "a": 1.0}}
    >>> two = {"1": {"b": 2.0, "c": 1.0}, "2": {"e": 1.0}}
    >>> runs = {"one": one, "two": two}
    >>> values = analysis.system_values(["gap(g=0.5,0.5)", "ap"], qrels, runs, n_jobs=1)
    >>> power = analysis.discriminative_power(values, n_resamples=100, random_state=0)
    >>> [float(share) for share in power.share]
    [0.0, 0.0]
    """

    measures: tuple[Any, ...]
    pairs: tuple[tuple[str, str], ...]
    asl: Array
    difference: Array
    required: Array
    level: float
    n_resamples: int

    @property
    def share(self) -> Array:
        """Share of the pairs with an ASL below `level`, for each measure."""
        share: Array = (self.asl < self.level).mean(axis=1)
        return share

    def __repr__(self) -> str:
        counts = (self.asl < self.level).sum(axis=1)
        apart = (
            f"{m}: {n} of {len(self.pairs)} pairs"
            for m, n in zip(self.measures, counts, strict=True)
        )
        return f"DiscriminativePower({', '.join(apart)}; ASL < {self.level:g})"

    def curve(self, measure: Any) -> Array:
        """The levels of `measure` in falling order: the ASL curve."""
        return np.sort(self.asl[position_of(measure, self.measures)])[::-1]

    def to_pandas(self) -> Any:
        """Return one row a measure: pairs, share of separated pairs, required difference."""
        return frame(
            {
                "measure": [str(m) for m in self.measures],
                "pairs": len(self.pairs),
                f"share with ASL < {self.level:g}": self.share,
                "required difference": self.required,
            },
            ["measure"],
        )

    def to_latex(self, digits: int = 3) -> str:
        r"""Return `to_pandas` as a LaTeX table, which needs ``\usepackage{booktabs}``.

        Text is escaped. Numbers are rounded to `digits` decimals; whole numbers have none.
        """
        return latex_table(self.to_pandas(), digits)

    def plot(self, ax: Any = None, highest: float = 0.1) -> Any:
        """Draw ASL curves; return the axes.

        The sooner a curve falls to `level`, the more pairs its measure distinguishes.
        """
        ax = axes(ax)
        for m, measure in enumerate(self.measures):
            label = f"{measure}: {self.share[m]:.1%} below {self.level:g}"
            curve = self.curve(measure)
            ax.plot(
                range(1, len(curve) + 1),
                curve,
                drawstyle="steps-mid",
                label=label,
                **line(m, marked=False),
            )
        ax.axhline(self.level, color="gray", linewidth=0.8, linestyle=":")
        ax.set(
            xlabel="pairs of systems by falling ASL",
            ylabel="achieved significance level",
            ylim=(0, highest),
        )
        legend(ax)
        return ax


def discriminative_power(
    values: SystemValues,
    *,
    level: float = 0.05,
    n_resamples: int = 1000,
    top: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = 1,
    progress: bool = False,
) -> DiscriminativePower:
    """Test every pair of systems with each measure.

    Parameters
    ----------
    values : SystemValues
        For at least two systems and two topics.
    level : float, default=0.05
        Significance level.
    n_resamples : int, default=1000
        Bootstrap resamples B; levels are multiples of 1/B.
    top : int, optional
        Only the systems with the best mean rank over the measures.
    random_state : int, Generator or RandomState, optional
    n_jobs : int, default=1
        Processes, one measure each; the work rarely needs them.
    progress : bool, default=False
        Show a progress bar over the measures.

    Examples
    --------
    >>> from gapboost import analysis
    >>> qrels = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"a": 0, "d": 1, "e": 2}}
    >>> one = {"1": {"a": 2.0, "b": 1.0}, "2": {"d": 2.0, "a": 1.0}}
    >>> two = {"1": {"b": 2.0, "c": 1.0}, "2": {"e": 1.0}}
    >>> runs = {"one": one, "two": two}
    >>> values = analysis.system_values(["gap(g=0.5,0.5)", "ap"], qrels, runs, n_jobs=1)
    >>> power = analysis.discriminative_power(values, n_resamples=100, random_state=0)
    >>> power.share.shape
    (2,)
    """
    checked_values(values)
    level, n_resamples = probability(level, "level"), whole(n_resamples, "n_resamples")
    if top is not None:
        values = values.best(top)
    n_topics = len(values.topics)
    if len(values.systems) < 2 or n_topics < 2:
        raise ValueError(f"values is {values!r}; expected at least two systems and two topics")
    if n_resamples < 1 / level:
        raise ValueError(
            f"level is {level!r} and n_resamples {n_resamples!r}; expected at least 1 / level "
            "resamples"
        )
    pairs = list(itertools.combinations(range(len(values.systems)), 2))
    first, second = np.array(pairs).T
    (generator,) = generators(random_state, 1)
    times = generator.multinomial(
        n_topics, np.full(n_topics, 1 / n_topics), size=n_resamples
    ).astype(np.float64)
    z = values.values[:, first] - values.values[:, second]
    within = rounding(values.values, (1, 2))
    z[np.abs(z) <= within[:, None, None]] = 0.0
    items = [(differences, times, level, ties) for differences, ties in zip(z, within, strict=True)]
    asl, required = zip(*in_order(_tested, items, n_jobs, progress, "bootstrap"), strict=True)
    names = tuple((values.systems[i], values.systems[j]) for i, j in pairs)
    return DiscriminativePower(
        values.measures,
        names,
        np.array(asl),
        z.mean(axis=2),
        np.array(required),
        level,
        n_resamples,
    )


def _tested(item: tuple[Array, Array, float, float]) -> tuple[Array, float]:
    """Return ASL of each pair, and the required difference, for one measure.

    A topic is drawn as often as `times` says.
    """
    z, times, level, within = item
    n = z.shape[1]
    observed = np.abs(_t(z.mean(axis=1), (z**2).mean(axis=1), n))
    w = z - z.mean(axis=1, keepdims=True)
    # What rounding leaves of equal differences is no variance.
    w[np.abs(w) <= within] = 0.0
    means = times @ w.T / n
    drawn = np.abs(_t(means, times @ (w**2).T / n, n))
    # Rounding must not decide between equal values, as where a resample holds every topic once.
    asl = (drawn >= observed * (1 - 1e-12)).mean(axis=0)
    by_t = np.argsort(-drawn, axis=0, kind="stable")
    at = by_t[int(np.ceil(level * len(times))) - 1]
    return asl, float(np.abs(means[at, np.arange(len(z))]).max())


def _t(mean: Array, mean_square: Array, n: int) -> Array:
    """Student's t of samples; 0 where all values are 0, infinite where they are otherwise equal."""
    variance = np.maximum(mean_square - mean**2, 0.0) * n / (n - 1)
    # What rounding leaves of a variance of zero.
    variance[variance < 1e-15 * mean_square] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        t: Array = mean / np.sqrt(variance / n)
    return np.where(np.isnan(t), 0.0, t)
