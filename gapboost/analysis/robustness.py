"""Robustness to incomplete judgments: ranking of systems with fewer judged documents.

Judgments are thinned out by stratified random sampling, topic by topic and grade by grade, and
each measure's ranking of the systems is correlated with its own ranking under complete judgments
([ferrante2014], section 6).
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from gapboost._data.arguments import as_integer
from gapboost._data.columns import numeric_column
from gapboost._kernels import Array
from gapboost._pictures import line
from gapboost.analysis.correlation import kendall_tau
from gapboost.analysis.result import Result, generators, in_order, short_labels
from gapboost.analysis.systems import all_retrieved, checked_measures, evaluated, places_of
from gapboost.analysis.trec import Qrels, Retrieved, Run, Ties, checked_qrels

FRACTIONS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05)


def thinned(
    qrels: Qrels, fraction: float, generator: np.random.Generator
) -> dict[str, dict[str, float]]:
    """A stratified random sample of judgments.

    Of each topic and grade, ``round(fraction * count)`` documents are kept, and at least one: every
    topic keeps all the grades it has. Judgments below 0 are a grade of their own.
    """
    sample = {}
    for topic, judged in qrels.items():
        by_grade: dict[float, list[str]] = {}
        for document, grade in judged.items():
            by_grade.setdefault(grade, []).append(document)
        kept: dict[str, float] = {}
        for grade, same in sorted(by_grade.items()):
            order = generator.permutation(len(same))
            kept |= {same[i]: grade for i in order[: max(1, round(fraction * len(same)))]}
        sample[topic] = kept
    return sample


def robustness(
    measures: Sequence[Any],
    qrels: Qrels,
    runs: Mapping[str, Run],
    *,
    fractions: Sequence[float] = FRACTIONS,
    repeats: int = 10,
    topics: Sequence[str] | None = None,
    ties: Ties = "expected",
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Result:
    """Rank systems under fewer and fewer judgments.

    Parameters
    ----------
    measures : sequence
        Measures of gapboost, graded ones with their g, and of ir_measures.
    qrels, runs, ties
        As in `system_values`.
    fractions : sequence of float, default=(1.0, 0.9, ..., 0.1, 0.05)
        Shares of the judgments; in one repeat each smaller sample is part of the larger ones.
    repeats : int, default=10
        Random samples for each fraction.
    topics : sequence of str, optional
        By default all judged ones.
    random_state : int, Generator or RandomState, optional
    n_jobs : int, optional
        Processes, one repeat each.
    progress : bool, default=False
        Show a progress bar over the repeats.

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
    shares = numeric_column(fractions, "fractions", "shares in (0, 1]")
    if len(shares) == 0 or not ((shares > 0) & (shares <= 1)).all():
        raise ValueError(f"fractions is {fractions!r}; expected shares in (0, 1]")
    repeats = as_integer(repeats, "repeats")
    wanted = checked_measures(measures)
    complete = dict(checked_qrels(qrels))
    if topics is not None:
        places_of(topics, list(complete), "topics")
        complete = {topic: complete[topic] for topic in topics}
    found = all_retrieved(complete, runs, ties)
    everything = evaluated(wanted, complete, runs, found, 1).means
    repeat = partial(_repeat, wanted, complete, runs, found, everything, tuple(shares.tolist()))
    repeated = in_order(
        repeat, generators(random_state, repeats), n_jobs, progress, "judgment samples"
    )
    tau = np.array(repeated).transpose(1, 2, 0)
    spread: dict[str, Any] = {"tau": np.mean, "std": np.std, "min": np.min, "max": np.max}
    columns = {
        "measure": np.repeat(short_labels(wanted), len(shares)),
        "fraction": np.tile(shares, len(wanted)),
        **{name: np.ravel(of(tau, axis=2)) for name, of in spread.items()},
    }
    return Result(
        columns,
        ["measure", "fraction"],
        _draw,
        measures=tuple(wanted),
        fractions=tuple(shares.tolist()),
        tau=tau,
        mean=tau.mean(axis=2),
    )


def _repeat(
    measures: list[Any],
    qrels: Qrels,
    runs: Mapping[str, Run],
    found: Mapping[str, Retrieved],
    means: Array,
    fractions: tuple[float, ...],
    generator: np.random.Generator,
) -> Array:
    """Return tau with the `means` of all judgments, one random sample a fraction.

    The shape is (measures, fractions).
    """
    seed = int(generator.integers(2**63))
    tau = np.empty((len(measures), len(fractions)))
    for f, fraction in enumerate(fractions):
        # The same order of the documents at every fraction: smaller samples are parts of larger
        # ones.
        sample = thinned(qrels, fraction, np.random.default_rng(seed))
        thinner = evaluated(measures, sample, runs, found, 1).means
        tau[:, f] = [kendall_tau(a, b) for a, b in zip(means, thinner, strict=True)]
    return tau


def _draw(result: Result, ax: Any) -> None:
    """Draw mean tau by the share of judgments, with a band from 25 to 75 %."""
    share = 100 * np.array(result.fractions)
    for m, label in enumerate(short_labels(result.measures)):
        style = line(m)
        ax.plot(share, result.mean[m], label=label, **style)
        low, high = np.percentile(result.tau[m], (25, 75), axis=1)
        ax.fill_between(share, low, high, color=style["color"], alpha=0.12, linewidth=0)
    ax.invert_xaxis()
    ax.set(xlabel="judgments kept (%)", ylabel="Kendall's tau with the complete ranking")
