"""Values of measures for several systems on the same topics."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gapboost._data.arguments import as_relevant, mapping
from gapboost._optional import ir_measures
from gapboost.analysis.result import Result, draw_columns, short_labels
from gapboost.analysis.trec import Qrels, Run, Ties, evaluate
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
    >>> values.means.round(3).tolist(), values.to_pandas()["ap"].idxmax()
    ([[0.6, 0.3]], 'a')
    """

    def __init__(
        self, measures: Sequence[Any], systems: Sequence[str], topics: Sequence[str], values: Any
    ) -> None:
        array = np.asarray(values, dtype=np.float64)
        expected = (len(measures), len(systems), len(topics))
        if array.shape != expected or not np.isfinite(array).all():
            found = f"shape {array.shape} and {(~np.isfinite(array)).sum()} NaN or infinite values"
            raise ValueError(f"values has {found}; expected finite ones of shape {expected}")
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


def _draw(values: SystemValues, ax: Any) -> None:
    """Draw means of systems, best by the first measure first."""
    table = values.to_pandas()
    draw_columns(table.sort_values(table.columns[0], ascending=False), ax)
    ax.set_ylabel(f"mean over {len(values.topics)} topics")


def system_values(
    measures: Sequence[Any],
    qrels: Qrels,
    runs: Mapping[str, Run],
    *,
    ties: Ties = "expected",
    n_jobs: int | None = None,
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

    Returns
    -------
    SystemValues

    Raises
    ------
    ValueError, TypeError
        As `gapboost.analysis.trec.rankings`.

    Examples
    --------
    >>> from gapboost import analysis
    >>> qrels = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"a": 0, "d": 1, "e": 2}}
    >>> one = {"1": {"a": 2.0, "b": 1.0}, "2": {"d": 2.0, "a": 1.0}}
    >>> two = {"1": {"b": 2.0, "c": 1.0}, "2": {"e": 1.0}}
    >>> runs = {"one": one, "two": two}
    >>> values = analysis.system_values(["gap(g=(0.5, 0.5))", "ap"], qrels, runs, n_jobs=1)
    >>> values.means.round(3).tolist()
    [[0.5, 0.417], [0.5, 0.375]]
    """
    if not mapping(runs, "runs", "{system: {topic: {document: score}}}"):
        raise ValueError("runs is empty; expected at least one run by name")
    wanted = checked_measures(measures)
    ours = [measure for measure in wanted if isinstance(measure, Measure)]
    theirs = [measure for measure in wanted if not isinstance(measure, Measure)]
    values = []
    for run in runs.values():
        found: dict[Any, Any] = {measure: dict.fromkeys(qrels, 0.0) for measure in theirs}
        of_ours = evaluate(ours, qrels, run, ties=ties, per_query=True, n_jobs=n_jobs)
        for metric in ir_measures().iter_calc(theirs, qrels, run) if theirs else ():
            if metric.query_id in qrels:
                found[metric.measure][metric.query_id] = metric.value
        found = {measure: list(by_topic.values()) for measure, by_topic in found.items()}
        values.append([found[m] if m in found else of_ours[m] for m in wanted])
    return SystemValues(wanted, tuple(runs), tuple(qrels), np.swapaxes(np.array(values), 0, 1))


def bpref(qrels: Qrels, run: Run, *, rel: int = 1) -> dict[str, float]:
    """Compute binary preference [buckley2004] by ir_measures, which calls trec_eval.

    It looks at judged documents alone, so that it hardly changes when judgments are missing.
    `evaluate` has grade 0 for unjudged and irrelevant documents alike.

    Parameters
    ----------
    qrels : {topic: {document: judgment}}
        Whole numbers; below 0 they count as none.
    run : {topic: {document: score}}
    rel : int, default=1
        The lowest judgment that counts as relevant.

    Returns
    -------
    dict {topic: float}
        All topics of `qrels`; 0 where nothing is relevant.

    Examples
    --------
    >>> from gapboost import analysis
    >>> run = {"1": {"b": 3.0, "a": 2.0, "unjudged": 1.0, "c": 0.5}}
    >>> analysis.bpref({"1": {"a": 1, "b": 0, "c": 1}}, run)
    {'1': 0.0}
    """
    measure = ir_measures().Bpref(rel=as_relevant(rel))
    values = system_values([measure], qrels, {"run": run}).values[0, 0]
    return dict(zip(qrels, values.tolist(), strict=True))


def checked_measures(measures: Any) -> list[Any]:
    """Return measures of gapboost, by name or by value, and of ir_measures, as a list.

    Raises
    ------
    TypeError, ValueError
        If something else is among them, or nothing.
    """
    several = [measures] if isinstance(measures, str | Measure) else measures
    if not isinstance(several, list | tuple) or len(several) == 0:
        raise TypeError(f"measures is {measures!r}; expected a list of at least one measure")
    of_ir_measures = ir_measures().measures.Measure
    return [
        one if isinstance(one, of_ir_measures) else as_measure(one, None, "measures")
        for one in several
    ]


def checked_values(values: Any, n_systems: int, n_topics: int) -> SystemValues:
    """Return `values` of as many systems and topics at least.

    Raises
    ------
    TypeError, ValueError
        If they are no values, or there are fewer.
    """
    if not isinstance(values, SystemValues):
        raise TypeError(f"values is a {type(values).__name__}; expected SystemValues")
    if len(values.systems) < n_systems or len(values.topics) < n_topics:
        found = f"{len(values.systems)} systems and {len(values.topics)} topics"
        raise ValueError(f"values has {found}; expected at least {n_systems} and {n_topics}")
    return values
