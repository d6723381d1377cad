"""Values of rankers: one number for each test query, ranker, measure and repeat."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gapboost._kernels import Array
from gapboost._optional import frame
from gapboost.comparison.data import Split
from gapboost.comparison.training import RankerResult


@dataclass(frozen=True, eq=False)
class Values:
    """Values of all rankers on the test queries.

    Attributes
    ----------
    results : list of RankerResult
        One for each training that was tested, split by split.
    splits : list of Split
    ids : ndarray of shape (Q,)
        Ids of the queries.

    Examples
    --------
    >>> from gapboost.comparison import compare_rankers
    >>> from gapboost.datasets import load_digits_ranking
    >>> from sklearn.linear_model import Ridge
    >>> data = load_digits_ranking().test
    >>> rankers = {"one": Ridge(alpha=1.0), "other": Ridge(alpha=100.0)}
    >>> found = compare_rankers(data.X, data.y, data.qid, rankers, measures="map", cv=4, repeats=2)
    >>> table = found.values.to_pandas()
    >>> list(table.columns)
    ['query', 'ranker', 'measure', 'repeat', 'fold', 'value']
    >>> len(table) == len(set(data.qid)) * 2 * 2
    True
    """

    results: Sequence[RankerResult]
    splits: Sequence[Split]
    ids: Array

    @property
    def n_queries(self) -> int:
        """Number of test queries."""
        return len(np.unique(np.concatenate([split.test for split in self.splits])))

    def of(self, ranker: str, measure: str) -> list[Array]:
        """Return the values of the test queries of each split, float64 of shape (Q,).

        If several repeats train on the same split, the values are their means.
        """
        of_splits: list[list[list[float]]] = [[] for _ in self.splits]
        for result in self.results:
            if result.task.ranker == ranker:
                of_splits[result.task.split].append(result.values[measure])
        return [np.mean(repeats, axis=0) for repeats in of_splits]

    def mean(self, ranker: str, measure: str) -> float:
        """Return the mean over all test queries."""
        return float(np.concatenate(self.of(ranker, measure)).mean())

    def fit_seconds(self, ranker: str) -> float:
        """Return the mean time of a training, in seconds."""
        return float(
            np.mean([result.fit_seconds for result in self.results if result.task.ranker == ranker])
        )

    def predict_milliseconds(self, ranker: str) -> float:
        """Return the mean time to predict 1,000 documents, in milliseconds."""
        return 1e6 * float(
            np.mean(
                [result.predict_seconds for result in self.results if result.task.ranker == ranker]
            )
        )

    def columns(self) -> Mapping[str, list[Any]]:
        """Return columns ``query``, ``ranker``, ``measure``, ``repeat``, ``fold`` and ``value``."""
        rows = []
        for result in self.results:
            task, split = result.task, self.splits[result.task.split]
            queries = self.ids[split.test].tolist()
            for measure, values in result.values.items():
                rows += [
                    (query, task.ranker, measure, task.repeat, split.fold, value)
                    for query, value in zip(queries, values, strict=True)
                ]
        names = ("query", "ranker", "measure", "repeat", "fold", "value")
        return {name: [row[place] for row in rows] for place, name in enumerate(names)}

    def to_pandas(self) -> Any:
        """Return a pandas data frame with one row for each value."""
        return frame(self.columns())

    def to_polars(self) -> Any:
        """Return a polars data frame with one row for each value; needs polars."""
        import polars

        return polars.DataFrame(dict(self.columns()))
