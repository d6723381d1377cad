"""Values of measures for several systems on the same topics, and intervals over the topics."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import stats

from gapboost._data.arguments import as_integer, as_relevant, mapping, ordered, probability
from gapboost._kernels import Array
from gapboost._optional import ir_measures
from gapboost.analysis.estimates import settled
from gapboost.analysis.result import Result, generators, short_labels
from gapboost.analysis.trec import Qrels, Rankings, Run, Ties, evaluated, rankings
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
        if isinstance(measure, str) and measure not in self.measures:
            measure = as_measure(measure)
        if measure is None:
            return self.of_systems([self.systems[s] for s in sorted(self._ranking(self.means)[:n])])
        means = self.means[places_of([measure], self.measures, "measure")]
        return self.of_systems([self.systems[s] for s in self._ranking(means)[:n]])

    def _ranking(self, means: Array) -> list[int]:
        """Return systems by mean rank over the rows of `means`, best first; ties by name."""
        # Sums of ranks are exact.
        places = np.sum([stats.rankdata(-settled(row)) for row in means], axis=0)
        return sorted(range(len(self.systems)), key=lambda s: (places[s], self.systems[s]))


def _draw(values: SystemValues, ax: Any) -> None:
    """Draw means of systems, best by the first measure first."""
    order = values._ranking(values.means[:1])
    for m, label in enumerate(short_labels(values.measures)):
        ax.plot(values.means[m, order], label=label)
    ax.set_xticks(range(len(order)), [values.systems[s] for s in order], rotation=60, ha="right")
    ax.set(ylabel=f"mean over {len(values.topics)} topics")


def places_of(wanted: Any, known: tuple[Any, ...], name: str) -> list[int]:
    """Return the positions of `wanted` in `known`; `name` is that of the argument, for errors."""
    several = list(wanted) if ordered(wanted) else []
    if not several or not all(one in known for one in several):
        raise ValueError(f"{name} is {wanted!r}; expected some of {list(known)[:5]} ...")
    return [known.index(one) for one in several]


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
    >>> values = analysis.system_values(["gap(g=0.5,0.5)", "ap"], qrels, runs, n_jobs=1)
    >>> values.means.round(3).tolist()
    [[0.5, 0.417], [0.5, 0.375]]
    """
    wanted = checked_measures(measures)
    found = rankings_of_runs(qrels, runs, ties)
    values = values_by_topic(wanted, qrels, runs, found, n_jobs)
    return SystemValues(wanted, tuple(runs), tuple(qrels), values)


def rankings_of_runs(qrels: Qrels, runs: Mapping[str, Run], ties: Ties) -> list[Rankings]:
    """Return `rankings` of each run."""
    if not mapping(runs, "runs", "{system: {topic: {document: score}}}"):
        raise ValueError("runs is empty; expected at least one run by name")
    return [rankings(qrels, run, ties=ties) for run in runs.values()]


def values_by_topic(
    measures: Sequence[Any],
    qrels: Qrels,
    runs: Mapping[str, Run],
    found: Sequence[Rankings],
    n_jobs: int | None,
) -> Array:
    """Return the values of measures of both libraries, of shape (measures, systems, topics).

    Measures of gapboost read `found`, those of ir_measures `qrels` and `runs`.
    """
    ours = [measure for measure in measures if isinstance(measure, Measure)]
    theirs = [measure for measure in measures if not isinstance(measure, Measure)]
    values = []
    for run, ranked in zip(runs.values(), found, strict=True):
        of_run: dict[Any, Any] = dict(evaluated(ours, ranked, n_jobs=n_jobs))
        by_topic: dict[Any, Any] = {measure: dict.fromkeys(qrels, 0.0) for measure in theirs}
        for metric in ir_measures().iter_calc(theirs, qrels, run) if theirs else ():
            if metric.query_id in qrels:
                by_topic[metric.measure][metric.query_id] = metric.value
        of_run |= {measure: list(by_topic[measure].values()) for measure in theirs}
        values.append([of_run[measure] for measure in measures])
    return np.swapaxes(np.array(values), 0, 1)


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


def topic_bootstrap(
    values: SystemValues,
    statistic: Callable[[SystemValues], Any],
    *,
    n_resamples: int = 20_000,
    confidence: float = 0.95,
    random_state: Any = None,
) -> Result:
    """Compute a statistic on resamples of the topics: its error and interval over topics.

    Parameters
    ----------
    values : SystemValues
        For at least two topics.
    statistic : callable
        From `SystemValues` to a number or an array of finite numbers, such as
        ``lambda some: correlation(some).tau``. For the interval of a difference between two
        measures, return the difference: they share the topics.
    n_resamples : int, default=20000
        At least 2. Topics are drawn with replacement, as many as there are. For a slow statistic a
        few hundred will do: the standard error is then known to about 5 %.
    confidence : float, default=0.95
        Of each interval.
    random_state : int, Generator or RandomState, optional

    Returns
    -------
    Result
        ``estimate``: the statistic on all topics, of any shape. ``error``: its standard error, the
        standard deviation over the resamples. ``low`` and ``high``: ends of the interval.
        ``resampled``: the statistic on each resample, of shape (n_resamples, ...).

    Raises
    ------
    ValueError
        If there are less than two topics or resamples, or the statistic is not finite or changes
        its shape. Errors of the statistic itself are raised as they are.

    Notes
    -----
    Intervals are centered at the estimate, with the standard error of the bootstrap. Percentiles of
    the resamples would be shifted: differences between systems vary more in a resample, so more
    pairs differ significantly in it than on the topics themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from gapboost import analysis
    >>> drawn = np.random.default_rng(0).random((2, 3, 20))
    >>> values = analysis.SystemValues(["ap", "ndcg"], ["a", "b", "c"], range(20), drawn)
    >>> def difference(some):
    ...     power = analysis.discriminative_power(some, n_resamples=100, random_state=0)
    ...     return power.share[0] - power.share[1]
    ...
    >>> found = analysis.topic_bootstrap(values, difference, n_resamples=20, random_state=0)
    >>> bool(found.low <= found.estimate <= found.high)
    True
    """
    n_topics = len(checked_values(values, 1, 2).topics)
    n_resamples = as_integer(n_resamples, "n_resamples", 2)
    confidence = probability(confidence, "confidence")
    (generator,) = generators(random_state, 1)
    drawn = generator.integers(n_topics, size=(n_resamples, n_topics))

    def on_topics(kept: Array) -> Array:
        topics = [values.topics[topic] for topic in kept]
        some = values.values.take(kept, axis=2)
        found = statistic(SystemValues(values.measures, values.systems, topics, some))
        return np.asarray(found, dtype=np.float64)

    estimate = on_topics(np.arange(n_topics))
    resampled = np.array([on_topics(kept) for kept in drawn])
    if not np.isfinite(resampled).all() or not np.isfinite(estimate).all():
        raise ValueError("statistic returns NaN or infinite values; expected finite numbers")
    spread = resampled.std(axis=0, ddof=1)
    half = float(stats.norm.ppf((1 + confidence) / 2)) * spread
    parts = {"estimate": estimate, "error": spread, "low": estimate - half, "high": estimate + half}
    columns = {name: np.ravel(part) for name, part in parts.items()}
    return Result(columns, [], _draw_intervals, resampled=resampled, confidence=confidence, **parts)


def _draw_intervals(result: Result, ax: Any) -> None:
    """Draw each estimate with its interval."""
    estimate, half = np.ravel(result.estimate), np.ravel(result.high - result.estimate)
    ax.errorbar(range(len(estimate)), estimate, half, fmt="o", capsize=3)
    ax.set(xlabel="statistic", ylabel=f"estimate, {result.confidence:.0%} interval")
