"""Means of measures over the queries of a data set, under the names that boosters report."""

from collections.abc import Callable, Sequence

import numpy as np

from gapboost._boosters.gradients import check_scores
from gapboost._data.judged import Judged
from gapboost._kernels import Array
from gapboost._kernels.parallel.chunks import Team, working_on
from gapboost.evaluation import mean, query_values
from gapboost.measures import Measure
from gapboost.measures.base import check_distinct

# XGBoost guesses the direction of a metric from its name and minimizes every other one. The names
# are the same for both boosters.
MAXIMIZED_PREFIXES = ("auc", "pre", "map", "ndcg")


def metric_names(measures: Sequence[Measure]) -> list[str]:
    """Names under which boosters report measures: short, without blanks or colons, and distinct.

    A cut-off follows an ``@``; measures that would share a name have their labels. XGBoost's early
    stopping decides by the beginning of a name whether to minimize. Names that it would minimize
    get the prefix ``map-``.
    """
    short = [measure.short_name + (f"@{measure.k}" if measure.k else "") for measure in measures]
    names = [
        measure.label if short.count(name) > 1 else name
        for name, measure in zip(short, measures, strict=True)
    ]
    check_distinct(names)
    return [name if name.startswith(MAXIMIZED_PREFIXES) else f"map-{name}" for name in names]


class Metrics:
    """Means of measures over the queries of a data set.

    Parameters
    ----------
    measures : sequence of Measure
        With g resolved, unless `resolve` gets every data set.
    n_jobs : int, optional
        Threads.
    team : callable, optional
        The booster's own threads.
    """

    def __init__(
        self, measures: Sequence[Measure], n_jobs: int | None = None, team: Team | None = None
    ) -> None:
        self.measures = tuple(measures)
        self.names = metric_names(self.measures)
        self.n_jobs = n_jobs
        self.team = team

    def values(
        self,
        scores: Array,
        data: Judged,
        total: Callable[[Array], Array] | None = None,
        measures: Sequence[Measure] | None = None,
        compute: Callable[[Array], list[Array]] | None = None,
    ) -> list[tuple[str, float]]:
        """Return ``[(name, mean over queries)]``, as `gapboost.evaluate` computes it.

        Parameters
        ----------
        scores : ndarray of shape (N,)
            In grouped order.
        data : Judged
        total : callable, optional
            On a cluster: returns the sums of an array over the workers. Every worker calls it.
        measures : sequence of Measure, optional
            The measures with the g of this data set.
        compute : callable, optional
            Computes one value a query for each measure, on a GPU.
        """
        check_scores(scores)
        if compute is not None:
            found = compute(scores)
        else:
            with working_on(self.team):
                found = query_values(
                    self.measures if measures is None else measures,
                    data,
                    np.ascontiguousarray(scores),
                    n_jobs=self.n_jobs,
                )
        if total is None:
            means = [mean(values, data.weights) for values in found]
        else:
            means = means_over_workers(found, data.weights, total)
        return list(zip(self.names, means, strict=True))


def means_over_workers(
    values: Sequence[Array], weights: Array, total: Callable[[Array], Array]
) -> list[float]:
    """Return weighted means over the queries of all workers; this one may have no queries."""
    sums = total(np.array([[v @ weights, weights.sum()] for v in values]))
    means: list[float] = (sums[:, 0] / sums[:, 1]).tolist()
    return means
