"""Means of measures over the queries of a data set."""

from collections.abc import Callable, Sequence

from gapboost._boosters.gradients import check_scores
from gapboost._data.judged import Judged
from gapboost._kernels import Array
from gapboost._kernels.threads import Team, working_on
from gapboost.evaluation import QueryValues, mean
from gapboost.measures import Measure


class Metrics:
    """Means of measures over the queries of a data set: called with scores, in grouped order.

    Parameters
    ----------
    measures : sequence of Measure
        With g resolved.
    data : Judged
    names : sequence of str
        Names under which boosters report the measures.
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
