"""Numbers about all rows of a data set, which a fit needs before training."""

from typing import NamedTuple

import numpy as np

from gapboost._kernels import Array

# Grades that an error or a data set lists.
MOST_SHOWN = 20


class DataSummary(NamedTuple):
    """Counts and grades of a data set.

    Local code makes one from arrays, and Dask merges those of its partitions.

    Attributes
    ----------
    n_rows, n_queries : int
    n_contrasts : int
        Queries that hold two different grades.
    weighted_size : float
        Mean number of documents per query, weighted by the weights of the queries.
    grades : tuple of float
        The grades that occur, ascending; those of the first of several labels.
    """

    n_rows: int
    n_queries: int
    n_contrasts: int
    weighted_size: float
    grades: tuple[float, ...]

    @property
    def occurring(self) -> Array:
        """The grades that occur, ascending."""
        return np.array(self.grades)

    @property
    def mean_size(self) -> float:
        """Mean number of documents per query."""
        return self.n_rows / self.n_queries

    def check_contrasts(self, name: str) -> None:
        """Raise ValueError if no query holds two different grades: there is no order to learn."""
        if self.n_contrasts:
            return
        grades = ", ".join(f"{grade:g}" for grade in self.grades[:MOST_SHOWN])
        grades += ", ..." if len(self.grades) > MOST_SHOWN else ""
        raise ValueError(
            f"{name} holds no query with two different grades ({self.n_queries} queries, n_samples "
            f"= {self.n_rows}, grades [{grades}]); expected at least one: there is nothing to learn"
        )
