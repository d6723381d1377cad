"""Numbers about all rows of a data set, which a fit needs before training."""

from typing import Any, NamedTuple

import numpy as np

from gapboost._data.grades import GradeLimit, check_known

# Grades that an error or a data set lists.
MOST_SHOWN = 20


class DataSummary(NamedTuple):
    """Counts and grades of a data set.

    Local code computes them from arrays, Dask from its partitions, Spark by aggregation, and a
    worker of XGBoost's communicator by sums over all workers.

    Attributes
    ----------
    n_rows, n_queries : int
    n_contrasts : int
        Queries that hold two different grades.
    weighted_size : float
        Mean number of documents per query, weighted by the weights of the queries.
    grades : tuple of float
        The grades that occur, ascending; of many fractional ones as `occurring_grades` lists them.
    n_grades : int
        Number of different grades.
    of_labels : tuple of (column, tuple of float)
        The grades that occur in each column of several labels; `grades` and `n_grades` are then
        those of the first.
    """

    n_rows: int
    n_queries: int
    n_contrasts: int
    weighted_size: float
    grades: tuple[float, ...]
    n_grades: int
    of_labels: tuple[tuple[int | str, tuple[float, ...]], ...] = ()

    @property
    def occurring(self) -> Any:
        """The grades that occur, ascending, as an array; ``{column: array}`` of several labels."""
        if self.of_labels:
            return {column: np.array(grades) for column, grades in self.of_labels}
        return np.array(self.grades)

    @property
    def mean_size(self) -> float:
        """Mean number of documents per query."""
        return self.n_rows / self.n_queries

    def check_grades(self, name: str, limit: GradeLimit | None) -> None:
        """Check the grades of a data set of several parts, as `judged` checks an array.

        Parameters
        ----------
        name : str
            Name of the argument that holds the grades.
        limit : GradeLimit or None

        Raises
        ------
        ValueError
            If the measures do not know the highest grade.
        """
        check_known(np.array(self.grades), name, limit)

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
