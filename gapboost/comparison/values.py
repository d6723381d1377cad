"""Values of rankers: one number for each test query, ranker, measure, fold and seed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gapboost._kernels import Array
from gapboost._optional import frame
from gapboost.comparison.training import Result


@dataclass(frozen=True, eq=False)
class Values:
    """Values of all rankers on the test queries.

    Attributes
    ----------
    results : list of Result
        One for each training that was tested, fold by fold.
    queries : list of ndarray
        Ids of the test queries of each fold.

    Examples
    --------
    >>> from gapboost.comparison import compare_rankers
    >>> from gapboost.datasets import load_digits_ranking
    >>> from sklearn.linear_model import Ridge
    >>> data = load_digits_ranking().test
    >>> rankers = {"one": Ridge(alpha=1.0), "other": Ridge(alpha=100.0)}
    >>> comparison = compare_rankers(data.X, data.y, data.qid, rankers, measures="map", seeds=1)
    >>> values = comparison.values
    >>> sum(map(len, values.of("one", "map"))) == len(set(data.qid))
    True
    """

    results: Sequence[Result]
    queries: Sequence[Array]

    def of(self, ranker: str, measure: str) -> list[Array]:
        """Return the mean over the seeds for each test query: float64 of shape (Q,) for each fold."""
        folds: list[list[list[float]]] = [[] for _ in self.queries]
        for result in self.results:
            if result.task.ranker == ranker:
                folds[result.task.fold].append(result.values[measure])
        return [np.mean(seeds, axis=0) for seeds in folds]

    def mean(self, ranker: str, measure: str) -> float:
        """Return the mean over all test queries."""
        return float(np.concatenate(self.of(ranker, measure)).mean())

    def seconds(self, ranker: str) -> float:
        """Return the mean time of a training, in seconds."""
        return float(np.mean([result.seconds for result in self.results if result.task.ranker == ranker]))

    def columns(self) -> Mapping[str, list[Any]]:
        """Return columns ``query``, ``ranker``, ``measure``, ``fold``, ``seed`` and ``value``."""
        rows = [
            (query, result.task.ranker, measure, result.task.fold, result.task.seed, value)
            for result in self.results
            for measure, values in result.values.items()
            for query, value in zip(self.queries[result.task.fold].tolist(), values, strict=True)
        ]
        names = ("query", "ranker", "measure", "fold", "seed", "value")
        return {name: [row[place] for row in rows] for place, name in enumerate(names)}

    def to_pandas(self) -> Any:
        """Return a pandas data frame with one row for each value."""
        return frame(self.columns())

    def to_polars(self) -> Any:
        """Return a polars data frame with one row for each value; needs polars."""
        import polars

        return polars.DataFrame(dict(self.columns()))
