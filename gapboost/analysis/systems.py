"""Values of measures for several systems on the same topics."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gapboost.analysis.files import Qrels, Run, check_numbers, is_whole
from gapboost.analysis.result import Result, draw_columns, short_labels
from gapboost.analysis.trec import Rankings, Ties, checked_judgments, rankings_of, values_by_topic
from gapboost.data import Array, ArrayLike
from gapboost.evaluation import ByMeasure
from gapboost.measures import Measure, as_measure
from gapboost.optional import Axes, ir_measures
from gapboost.validation import as_relevant, mapping, short_repr


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
    >>> values["map"].tolist()  # as "ap"
    [[0.5, 0.7], [0.2, 0.4]]
    """

    def __init__(
        self,
        measures: Sequence[object],
        systems: Sequence[str],
        topics: Sequence[str],
        values: ArrayLike,
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

    def __getitem__(self, measure: Any) -> Array:
        """Return the values of a measure, by any of its names: float64 of (systems, topics)."""
        by_name: ByMeasure[Array] = ByMeasure(dict(zip(self.measures, self.values, strict=True)))
        return by_name[measure]


def _draw(values: SystemValues, ax: Axes) -> None:
    """Draw means of systems, best by the first measure first."""
    table = values.to_pandas()
    draw_columns(table.sort_values(table.columns[0], ascending=False), ax)
    ax.set_ylabel(f"mean over {len(values.topics)} topics")


def system_values(
    measures: Sequence[object],
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
        Measures of gapboost, by name or by value, and measures of ir_measures, which are computed
        there. Each tool that ir_measures calls orders equal scores by its own rule, whatever `ties`
        is: RR by falling document ids, as trec_eval, but ``RR@10`` by rising ones.
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
        As `gapboost.analysis.trec.rankings`. If measures of ir_measures cannot take the judgments:
        they need whole numbers, and at most 4 for ERR and nDCG with exponential gains.

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
    wanted, judgments = _checked_measures(measures), checked_judgments(qrels)
    if not mapping(runs, "runs", "{system: {topic: {document: score}}}"):
        raise ValueError("runs is empty; expected at least one run by name")
    handed_on: list[tuple[list[Any], Qrels]] = []
    values: list[list[Array]] = []
    for system, run in runs.items():
        name = f"runs[{system!r}]" if len(runs) > 1 else "run"
        rows = rankings_of(judgments, run, ties, name)
        if not values:  # `rankings_of` has said by now whether qrels and run are swapped
            handed_on = _judgments_by_measures(wanted, qrels)
        values.append(_values_of_run(wanted, rows, run, handed_on, n_jobs))
    return SystemValues(wanted, tuple(runs), tuple(qrels), np.swapaxes(np.array(values), 0, 1))


def _values_of_run(
    measures: Sequence[Any],
    rows: Rankings,
    run: Run,
    handed_on: list[tuple[list[Any], Qrels]],
    n_jobs: int | None,
) -> list[Array]:
    """Return the values by topic of each measure; `handed_on` is of `_judgments_by_measures`."""
    topics = list(rows.recall_base)
    ours = [measure for measure in measures if isinstance(measure, Measure)]
    of_ours = values_by_topic(ours, rows, n_jobs=n_jobs)
    found = {one: np.zeros(len(topics)) for one in measures if not isinstance(one, Measure)}
    retrieved = {
        str(number): {document: float(score) for document, score in run[topic].items()}
        for number, topic in enumerate(topics)
        if found and topic in run
    }
    for several, judged in handed_on:
        for metric in ir_measures().iter_calc(several, judged, retrieved):
            found[metric.measure][int(metric.query_id)] = metric.value
    return [found[one] if one in found else of_ours[one] for one in measures]


def _judgments_by_measures(measures: list[Any], qrels: Qrels) -> list[tuple[list[Any], Qrels]]:
    """Return those measures that are of ir_measures with the judgments to hand on for them.

    Topics are their numbers from 0 on: gdeval takes what follows a hyphen for one.
    """
    measures = [measure for measure in measures if not isinstance(measure, Measure)]
    if not measures:
        return []
    grades = [grade for judged in qrels.values() for grade in judged.values()]
    highest = float(max(grades, default=0))
    check_numbers(qrels, "qrels", "whole numbers for measures of ir_measures", is_whole)
    for measure in measures:
        if not ir_measures().DefaultPipeline.supports(measure):
            raise ValueError(
                f"measures has {measure} of ir_measures, which lacks a package that computes it; "
                "expected another, or the measure of gapboost"
            )
        by_gdeval = measure.NAME == "ERR" or (measure.NAME == "nDCG" and measure["dcg"] != "log2")
        if by_gdeval and highest > 4:
            raise ValueError(
                f"qrels holds the grade {highest:g}, but ir_measures computes {measure} for "
                "grades up to 4; expected lower grades, or the measure of gapboost"
            )
    judged = {
        str(number): {document: int(grade) for document, grade in graded.items()}
        for number, graded in enumerate(qrels.values())
    }
    # nDCG of pytrec_eval may not return from negative judgments, which are none to trec_eval.
    from_0 = {t: {d: g for d, g in graded.items() if g >= 0} for t, graded in judged.items()}
    ndcg = [measure for measure in measures if measure.NAME == "nDCG"]
    if any(min(measure.params.get("gains", {}).values(), default=0) < 0 for measure in ndcg):
        raise ValueError("measures has nDCG with gains below 0; expected gains >= 0")
    others = [measure for measure in measures if measure.NAME != "nDCG"]
    return [(several, each) for several, each in ((ndcg, from_0), (others, judged)) if several]


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


def _checked_measures(measures: object) -> list[Any]:
    """Return measures of gapboost, by name or by value, and of ir_measures, as a list.

    Raises
    ------
    TypeError, ValueError
        If something else is among them, or nothing.
    """
    several = [measures] if isinstance(measures, str | Measure) else measures
    if not isinstance(several, list | tuple) or len(several) == 0:
        raise TypeError(
            f"measures is {short_repr(measures)}; expected a list of at least one measure"
        )
    of_ir_measures = ir_measures().measures.Measure
    return [
        one if isinstance(one, of_ir_measures) else as_measure(one, None, "measures")
        for one in several
    ]


def checked_values(values: object, n_systems: int, n_topics: int) -> SystemValues:
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
