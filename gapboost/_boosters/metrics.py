"""Measures that boosters report, and their names."""

import re
from collections.abc import Callable, Sequence

from gapboost._boosters.checks import check_scores
from gapboost._kernels.threads import Team, working_on
from gapboost.data import Array, QueryData
from gapboost.evaluation import QueryValues, mean
from gapboost.measures import Measure
from gapboost.validation import check_distinct


class Metrics:
    """Means of measures over the queries of a data set: called with scores, in grouped order.

    Parameters
    ----------
    measures : sequence of Measure
        With g resolved.
    names : sequence of str
        `metric_names` of the measures.
    data : QueryData
    n_jobs : int, optional
        Threads.
    team : callable, optional
        The booster's own threads.
    compute : callable, optional
        Returns one value a query for each measure; None is `QueryValues`.
    """

    def __init__(
        self,
        measures: Sequence[Measure],
        names: Sequence[str],
        data: QueryData,
        n_jobs: int | None = None,
        team: Team | None = None,
        compute: Callable[[Array], list[Array]] | None = None,
    ) -> None:
        self.names = names
        self.data = data
        self.team = team
        self.compute = compute or QueryValues(measures, data, n_jobs=n_jobs)
        self.newest: list[tuple[str, float]] = []

    def __call__(self, scores: Array) -> list[tuple[str, float]]:
        """Return ``[(name, mean over queries)]``, as `gapboost.evaluate` computes it."""
        means = []
        for name, values in zip(self.names, self.by_query(scores), strict=True):
            means.append((name, mean(values, self.data.weights)))
        self.newest = means
        return means

    def by_query(self, scores: Array) -> list[Array]:
        """Return one float64 array of shape (Q,) for each measure."""
        check_scores(scores)
        with working_on(self.team):
            return self.compute(scores)


def metric_names(measures: Sequence[Measure]) -> list[str]:
    """Return the names under which boosters report measures: short, distinct, without blanks.

    A cutoff follows an ``@``. Of measures that would share a name, the one with this name keeps it,
    and others have their labels. XGBoost splits reports at blanks and colons.
    """
    short = [
        re.sub(r"[\s:]+", "_", measure.short_name) + (f"@{measure.k}" if measure.k else "")
        for measure in measures
    ]
    names = [
        measure.label if short.count(name) > 1 and name != measure.name else name
        for name, measure in zip(short, measures, strict=True)
    ]
    check_distinct(names)
    return names
