"""Values of measures for several systems on the same topics."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from scipy.stats import rankdata

from gapboost._data.arguments import as_integer, mapping, ordered
from gapboost._kernels import Array
from gapboost._optional import ir_measures
from gapboost._pictures import line
from gapboost.analysis.result import Result, in_order, short_labels
from gapboost.analysis.ties import settled
from gapboost.analysis.trec import Qrels, Retrieved, Run, Ties, checked_qrels, retrieved
from gapboost.measures import Measure, as_measure


class SystemValues(Result):
    """One value for each measure, system and topic; its table has systems as rows.

    Parameters
    ----------
    measures : sequence
        Measures of gapboost, of ir_measures, or any names.
    systems, topics : sequence of str
    values : array-like of shape (measures, systems, topics)

    Attributes
    ----------
    measures, systems, topics : tuple
    values : float64 ndarray of shape (measures, systems, topics)
    means : float64 ndarray of shape (measures, systems)
        Mean over the topics.

    Raises
    ------
    ValueError
        If the shape of `values` is another, or a value is not finite.

    Examples
    --------
    >>> from gapboost import analysis
    >>> values = analysis.SystemValues(["ap"], ["a", "b"], ["1", "2"], [[[0.5, 0.7], [0.2, 0.4]]])
    >>> values.means.round(3).tolist(), values.best(1).systems
    ([[0.6, 0.3]], ('a',))
    """

    def __init__(
        self, measures: Sequence[Any], systems: Sequence[str], topics: Sequence[str], values: Any
    ) -> None:
        try:
            array = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"values holds what is no number ({error}); expected (measures, systems, topics)"
            ) from None
        expected = (len(measures), len(systems), len(topics))
        if array.shape != expected:
            raise ValueError(
                f"values has shape {array.shape}; expected (measures, systems, topics) = {expected}"
            )
        if not np.isfinite(array).all():
            raise ValueError(
                f"values holds {int((~np.isfinite(array)).sum())} NaN or infinite values; expected "
                "a finite number for every topic"
            )
        means = array.mean(axis=2)
        super().__init__(
            {"system": tuple(systems), **dict(zip(short_labels(measures), means, strict=True))},
            ["system"],
            _draw,
            measures=tuple(measures),
            systems=tuple(systems),
            topics=tuple(topics),
            values=array,
            means=means,
        )

    def on_topics(self, topics: Sequence[str]) -> "SystemValues":
        """Return the values on some of the topics."""
        kept = places_of(topics, self.topics, "topics")
        return SystemValues(self.measures, self.systems, topics, self.values[:, :, kept])

    def of_systems(self, systems: Sequence[str]) -> "SystemValues":
        """Return the values of some of the systems."""
        kept = places_of(systems, self.systems, "systems")
        return SystemValues(self.measures, systems, self.topics, self.values[:, kept])

    def best(self, n: int, measure: Any = None) -> "SystemValues":
        """Return the values of the `n` best systems.

        Parameters
        ----------
        n : int
        measure : optional
            One of the measures. The systems with its highest means are returned, the best first.
            With None, those with the best mean rank over all measures are returned, in their order
            in `systems`.

        Raises
        ------
        ValueError
            If there are fewer than `n` systems, or there is no such measure.

        Notes
        -----
        Systems whose means are tied (`gapboost.analysis.ties`) share the mean of their ranks.
        Systems with equal ranks are chosen by name, in alphabetical order, so the choice does not
        depend on the order of the systems.
        """
        if as_integer(n, "n") > len(self.systems):
            raise ValueError(f"n is {n!r}; expected between 1 and {len(self.systems)} systems")
        of = slice(None) if measure is None else [_position_of(measure, self.measures)]
        kept = self._ranking(self.means[of])[:n]
        return self.of_systems(
            [self.systems[s] for s in (sorted(kept) if measure is None else kept)]
        )

    def _ranking(self, means: Array) -> list[int]:
        """Return systems by mean rank over the rows of `means`, best first; ties by name."""
        # Sums of ranks are exact.
        places = np.sum([rankdata(-settled(row)) for row in means], axis=0)
        return sorted(range(len(self.systems)), key=lambda s: (places[s], self.systems[s]))


def _draw(values: SystemValues, ax: Any) -> None:
    """Draw means of systems, best by the first measure first."""
    order = values._ranking(values.means[:1])
    for m, label in enumerate(short_labels(values.measures)):
        ax.plot(values.means[m, order], label=label, **line(m))
    ax.set_xticks(range(len(order)), [values.systems[s] for s in order], rotation=60, ha="right")
    ax.set(ylabel=f"mean over {len(values.topics)} topics")


def places_of(wanted: Sequence[str], known: Sequence[str], name: str) -> list[int]:
    """Return the positions of `wanted` in `known`; `name` is that of the argument, for errors."""
    at = {label: position for position, label in enumerate(known)}
    if not isinstance(wanted, Collection) or not ordered(wanted):
        raise TypeError(f"{name} is {wanted!r}; expected a list of some of {list(known)[:5]} ...")
    if len(wanted) == 0 or any(label not in at for label in wanted):
        raise ValueError(f"{name} is {list(wanted)[:5]}; expected some of {list(known)[:5]} ...")
    return [at[label] for label in wanted]


def _position_of(measure: Any, measures: Sequence[Any]) -> int:
    # An array compares to an array, which has no truth value: a ValueError as well.
    with suppress(ValueError):
        return measures.index(measure)
    if isinstance(measure, str):
        with suppress(ValueError):
            return measures.index(as_measure(measure))
    raise ValueError(f"measure is {measure!r}; expected one of {list(measures)}")


def system_values(
    measures: Sequence[Any],
    qrels: Qrels,
    runs: Mapping[str, Run],
    *,
    ties: Ties = "expected",
    n_jobs: int | None = None,
    progress: bool = False,
) -> SystemValues:
    """Evaluate several runs on all topics of the judgments.

    Parameters
    ----------
    measures : sequence
        Measures of gapboost, by name or by value, and measures of
        ir_measures, which are computed there (by trec_eval's rules on ties).
    qrels : {topic: {document: grade}}
    runs : {system: run}
    ties : {"expected", "trec_eval"}
        As in `gapboost.analysis.trec.rankings`; for the measures of gapboost.
    n_jobs : int, optional
        Threads.
    progress : bool, default=False
        Show a progress bar over the runs.

    Returns
    -------
    SystemValues

    Raises
    ------
    TypeError
        If topics or documents are strings in the judgments and numbers in a run.

    Examples
    --------
    >>> from gapboost import analysis
    >>> qrels = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"a": 0, "d": 1, "e": 2}}
    >>> one = {"1": {"a": 2.0, "b": 1.0}, "2": {"d": 2.0, "a": 1.0}}
    >>> two = {"1": {"b": 2.0, "c": 1.0}, "2": {"e": 1.0}}
    >>> runs = {"one": one, "two": two}
    >>> values = analysis.system_values(["gap(g=0.5,0.5)", "ap"], qrels, runs, n_jobs=1)
    >>> values.means.round(3).tolist()
    [[0.5, 0.417], [0.5, 0.375]]
    """
    wanted = checked_measures(measures)
    found = all_retrieved(checked_qrels(qrels), runs, ties)
    return evaluated(wanted, qrels, runs, found, n_jobs, progress)


def all_retrieved(qrels: Qrels, runs: Mapping[str, Run], ties: Ties) -> dict[str, Retrieved]:
    """Return the documents of each run for the judged topics."""
    if not mapping(runs, "runs", "{system: {topic: {document: score}}}"):
        raise ValueError("runs is empty; expected at least one run by name")
    return {name: retrieved(qrels, run, ties) for name, run in runs.items()}


def checked_measures(measures: Any) -> list[Any]:
    """Return measures of gapboost, by name or by value, and of ir_measures, as a list.

    Raises
    ------
    TypeError, ValueError
        If something else is among them, or nothing.
    """
    several = [measures] if isinstance(measures, str | Measure) else measures
    if not isinstance(several, list | tuple):
        raise TypeError(f"measures is {measures!r}; expected a list of measures")
    if not several:
        raise ValueError("measures is empty; expected at least one")
    for measure in several:
        if not isinstance(measure, str | Measure | ir_measures().measures.Measure):
            raise TypeError(
                f"measures holds {measure!r}; expected measures of gapboost or of ir_measures"
            )
    return [as_measure(m, None, "measures") if isinstance(m, str) else m for m in several]


def checked_values(values: Any) -> SystemValues:
    """Return `values`, or raise a TypeError."""
    if not isinstance(values, SystemValues):
        raise TypeError(
            f"values is a {type(values).__name__}; expected SystemValues, as from system_values"
        )
    return values


def evaluated(
    measures: Sequence[Any],
    qrels: Qrels,
    runs: Mapping[str, Run],
    found: Mapping[str, Retrieved],
    n_jobs: int | None,
    progress: bool = False,
) -> SystemValues:
    """Compute `system_values` from documents that are already extracted from the runs.

    `found` can so be used for many sets of judgments.
    """
    ours = [measure for measure in measures if isinstance(measure, Measure)]
    theirs = [measure for measure in measures if not isinstance(measure, Measure)]
    evaluator = ir_measures().evaluator(theirs, qrels) if theirs else None
    position = {topic: number for number, topic in enumerate(qrels)}

    def one(name: str) -> Array:
        by_measure: dict[Any, Array] = dict(
            zip(ours, found[name].judged(qrels).values(ours, n_jobs=n_jobs), strict=True)
        )
        by_measure |= {measure: np.zeros(len(position)) for measure in theirs}
        for metric in evaluator.iter_calc(runs[name]) if evaluator else ():
            if metric.query_id in position:
                by_measure[metric.measure][position[metric.query_id]] = metric.value
        return np.array([by_measure[measure] for measure in measures])

    values = np.array(in_order(one, list(runs), 1, progress, "runs"))
    return SystemValues(measures, tuple(runs), tuple(qrels), values.transpose(1, 0, 2))
