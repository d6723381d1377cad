"""Whether measures rank systems alike: correlation, with each other and with fewer judgments.

Both are of [ferrante2014], section 6. For robustness to incomplete judgments, these are thinned out
by stratified random sampling, topic by topic and grade by grade. Each measure's ranking of the
systems is correlated with its own ranking under complete judgments.
"""

import warnings
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import kendalltau
from sklearn.metrics import ConfusionMatrixDisplay

from gapboost.analysis.files import Qrels, Run
from gapboost.analysis.result import Result, generators, over_items, short_labels
from gapboost.analysis.standard_errors import merge_ties, paired_by_index
from gapboost.analysis.systems import SystemValues, checked_values, system_values
from gapboost.analysis.trec import Ties
from gapboost.data import Array, ArrayLike
from gapboost.optional import Axes
from gapboost.validation import (
    Seed,
    as_integer,
    checked_scores,
    finite_column,
    one_dimensional,
    one_of,
)

FRACTIONS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05)


def kendall_tau(a: Array, b: Array) -> float:
    """Return Kendall's tau-b of scores of systems, ties settled; NaN if all of one are equal."""
    return float(kendalltau(merge_ties(a), merge_ties(b)).statistic)


def tau_ap(estimated: ArrayLike, truth: ArrayLike) -> float:
    """AP correlation: Kendall's tau with stress on the top of the estimated ranking [yilmaz2008].

    ``2 / (n - 1) sum_{i=2..n} C(i) / (i - 1) - 1``, where C(i) of the systems above rank i are
    truly better than the one at rank i. The mean of ``tau_ap(a, b)`` and ``tau_ap(b, a)`` is its
    symmetric version.

    Parameters
    ----------
    estimated, truth : array-like of shape (n,)
        Scores of systems, n >= 2; higher is better. Two Series of pandas are paired by their index.
        Equal estimates count the expected value over their orders, a system that is truly as good
        as another counts one half. Scores that differ by at most 1e-12 of the largest are equal.

    Returns
    -------
    float
        From -1 to 1.

    Raises
    ------
    ValueError
        If there are less than two systems, or a score is not finite.

    Examples
    --------
    >>> round(tau_ap([4.0, 3.0, 2.0, 1.0], [3.0, 4.0, 2.0, 1.0]), 3)
    0.333
    """
    estimated, truth = paired_by_index(estimated, truth, ("estimated", "truth"))
    y = one_dimensional(truth, "truth")
    n = len(y)
    x = merge_ties(checked_scores(estimated, n, "estimated", "truth").astype(np.float64))
    y = merge_ties(checked_scores(y, n, "truth", "truth").astype(np.float64))
    if n < 2:
        raise ValueError(f"truth has {n} systems; expected at least two")
    better = (y > y[:, None]) + 0.5 * (y == y[:, None])  # [i, j]: j is better than i
    above, tied = x > x[:, None], (x == x[:, None]) & ~np.eye(n, dtype=bool)
    fixed, mates = above.sum(axis=1), tied.sum(axis=1)
    share = (better * tied).sum(axis=1) / np.maximum(mates, 1)
    # 0, 1, ... of the systems with the same estimate are above it with equal probability.
    higher = np.arange(n)
    right = (better * above).sum(axis=1)[:, None] + higher * share[:, None]
    part = right / np.maximum(fixed[:, None] + higher, 1)
    total = ((higher <= mates[:, None]) * part).sum(axis=1) / (mates + 1)
    return float(2 * total.sum() / (n - 1) - 1)


KINDS = {"tau": kendall_tau, "tau_ap": tau_ap}


def correlation(values: SystemValues, *, kind: str = "tau") -> Result:
    """Correlate all measures of `values`, over systems, by their means over topics.

    Parameters
    ----------
    values : SystemValues
        Of at least two systems. Means that differ by at most 1e-12 of the largest are tied.
    kind : {"tau", "tau_ap"}, default="tau"
        Kendall's tau, or `tau_ap`, where rows are the estimates and columns the truth.

    Returns
    -------
    Result
        ``tau``: float64 ndarray of shape (measures, measures), NaN for a measure by which all
        systems are equal. ``measures``, ``kind``. The table is the matrix.

    Examples
    --------
    >>> from gapboost import analysis
    >>> means = [[[0.3], [0.2], [0.1]], [[0.4], [0.6], [0.2]]]
    >>> values = analysis.SystemValues(["ap", "ndcg"], ["a", "b", "c"], ["1"], means)
    >>> analysis.correlation(values).tau.round(2).tolist()
    [[1.0, 0.33], [0.33, 1.0]]
    """
    checked_values(values, 2, 1)
    coefficient = KINDS[one_of(kind, "kind", tuple(KINDS))]
    tau = np.array([[coefficient(a, b) for b in values.means] for a in values.means])
    labels = short_labels(values.measures)
    columns = {"measure": labels, **dict(zip(labels, tau.T, strict=True))}
    return Result(columns, ["measure"], _draw_matrix, tau=tau, measures=values.measures, kind=kind)


def _draw_matrix(result: Result, ax: Axes) -> None:
    """Draw the matrix as a map."""
    matrix = ConfusionMatrixDisplay(result.tau, display_labels=short_labels(result.measures))
    scale = {"vmin": 0, "vmax": 1}
    matrix.plot(ax=ax, values_format=".2f", xticks_rotation=60, colorbar=False, im_kw=scale)
    ax.set(xlabel="", ylabel="", title=result.kind)


def subsample_qrels(
    qrels: Qrels, fraction: float, generator: np.random.Generator
) -> dict[str, dict[str, float]]:
    """A stratified random sample of judgments.

    Of each topic and grade, ``round(fraction * count)`` documents are kept, and at least one: every
    topic keeps all the grades it has. Judgments below 0 are a grade of their own.
    """
    sample = {}
    for topic, judged in qrels.items():
        kept: dict[str, float] = {}
        for grade in sorted(set(judged.values())):
            same = [document for document in judged if judged[document] == grade]
            order = generator.permutation(len(same))
            kept |= {same[i]: grade for i in order[: max(1, round(fraction * len(same)))]}
        sample[topic] = kept
    return sample


def robustness(
    measures: Sequence[object],
    qrels: Qrels,
    runs: Mapping[str, Run],
    *,
    fractions: Sequence[float] = FRACTIONS,
    repeats: int = 10,
    ties: Ties = "expected",
    random_state: Seed = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Result:
    """Rank systems under fewer and fewer judgments.

    Judgments are sampled by topic and grade, after [buckley2004].

    Parameters
    ----------
    measures : sequence
        Measures of gapboost, graded ones with their g, and of ir_measures.
    qrels, runs, ties
        As in `system_values`, of at least two systems.
    fractions : sequence of float, default=(1.0, 0.9, ..., 0.1, 0.05)
        Shares of the judgments; in one repeat each smaller sample is part of the larger ones.
    repeats : int, default=10
        Random samples for each fraction.
    random_state : int, Generator or RandomState, optional
    n_jobs : int, optional
        Processes, one repeat each.
    progress : bool, optional
        Show a progress bar of the repeats; needs tqdm. None shows it in a terminal or notebook if
        tqdm is installed.

    Returns
    -------
    Result
        Its table has one row for each measure and fraction. Attributes: ``tau``: Kendall's tau with
        the complete ranking, float64 of shape (measures, fractions, repeats); ``mean`` over the
        repeats, of shape (measures, fractions); ``measures``, ``fractions``.

    Examples
    --------
    >>> from gapboost import analysis
    >>> qrels = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"a": 0, "d": 1, "e": 2}}
    >>> one = {"1": {"a": 2.0, "b": 1.0}, "2": {"d": 2.0, "a": 1.0}}
    >>> two = {"1": {"b": 2.0, "c": 1.0}, "2": {"e": 1.0}}
    >>> runs = {"one": one, "two": two}
    >>> result = analysis.robustness(
    ...     ["ap"], qrels, runs, fractions=(1.0, 0.5), repeats=3, random_state=0, n_jobs=1
    ... )
    >>> result.tau.shape
    (1, 2, 3)
    """
    shares = finite_column(fractions, "fractions", "shares in (0, 1]", np.nextafter(0, 1), 1)
    complete = system_values(measures, qrels, runs, ties=ties, n_jobs=1)
    if len(runs) < 2:
        raise ValueError(f"runs has {len(runs)} system; expected at least two")

    def taus(generator: np.random.Generator) -> list[list[float]]:
        """Return tau with the complete judgments, by fraction and measure."""
        seed = int(generator.integers(2**63))
        found = []
        for fraction in shares:
            # The same order of the documents at every fraction: smaller samples are parts of larger
            # ones.
            sample = subsample_qrels(qrels, fraction, np.random.default_rng(seed))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the complete judgments are warned of
                values = system_values(measures, sample, runs, ties=ties, n_jobs=1)
            found.append(list(map(kendall_tau, complete.means, values.means)))
        return found

    repeated = generators(random_state, as_integer(repeats, "repeats"))
    tau = np.array(over_items(taus, repeated, n_jobs, progress, "robustness")).transpose(2, 1, 0)
    mean = tau.mean(axis=2)
    columns = {
        "measure": np.repeat(short_labels(complete.measures), len(shares)),
        "fraction": np.tile(shares, len(tau)),
        "tau": mean.ravel(),
    }
    return Result(
        columns,
        ["measure", "fraction"],
        _draw_taus,
        measures=complete.measures,
        fractions=tuple(shares.tolist()),
        tau=tau,
        mean=mean,
    )


def _draw_taus(result: Result, ax: Axes) -> None:
    """Draw mean tau by the share of judgments, with a band from 25 to 75 %."""
    share = 100 * np.array(result.fractions)
    for m, label in enumerate(short_labels(result.measures)):
        (drawn,) = ax.plot(share, result.mean[m], label=label)
        low, high = np.percentile(result.tau[m], (25, 75), axis=1)
        ax.fill_between(share, low, high, color=drawn.get_color(), alpha=0.12, linewidth=0)
    ax.invert_xaxis()
    ax.set(xlabel="judgments kept (%)", ylabel="Kendall's tau with the complete ranking")
