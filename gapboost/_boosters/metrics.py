"""Means of measures over the queries of a data set, under the names that boosters report."""

from collections.abc import Callable, Sequence

from gapboost._boosters.gradients import check_scores
from gapboost._data.judged import Judged
from gapboost._kernels import Array
from gapboost._kernels.threads import Team, working_on
from gapboost.evaluation import QueryValues, mean
from gapboost.measures import Measure
from gapboost.measures.base import check_distinct

# XGBoost guesses the direction of a metric from its name and minimizes every other one. The names
# are the same for both boosters.
MAXIMIZED_PREFIXES = ("auc", "pre", "map", "ndcg")


def metric_names(measures: Sequence[Measure]) -> list[str]:
    """Return the names under which boosters report measures: short, distinct, without blanks.

    A cutoff follows an ``@``. Measures that would share a name have their labels. XGBoost decides
    by the beginning of a name whether to minimize: names that it would minimize get the prefix
    ``map-``.
    """
    short = [measure.short_name + (f"@{measure.k}" if measure.k else "") for measure in measures]
    names = [
        measure.label if short.count(name) > 1 else name
        for name, measure in zip(short, measures, strict=True)
    ]
    check_distinct(names)
    return [name if name.startswith(MAXIMIZED_PREFIXES) else f"map-{name}" for name in names]


class Metrics:
    """Means of measures over the queries of a data set: called with scores, in grouped order.

    Parameters
    ----------
    measures : sequence of Measure
        With g resolved.
    data : Judged
    names : sequence of str
        `metric_names` of the measures.
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
        data: Judged,
        names: Sequence[str],
        n_jobs: int | None = None,
        team: Team | None = None,
        compute: Callable[[Array], list[Array]] | None = None,
    ) -> None:
        self.measures = measures
        self.data = data
        self.names = names
        self.team = team
        self.compute = compute or QueryValues(measures, data, n_jobs=n_jobs)

    def __call__(self, scores: Array) -> list[tuple[str, float]]:
        """Return ``[(name, mean over queries)]``, as `gapboost.evaluate` computes it."""
        means = [mean(values, self.data.weights) for values in self.by_query(scores)]
        return list(zip(self.names, means, strict=True))

    def by_query(self, scores: Array) -> list[Array]:
        """Return one float64 array of shape (Q,) for each measure."""
        check_scores(scores)
        with working_on(self.team):
            return self.compute(scores)
