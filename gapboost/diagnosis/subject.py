"""Input of the checks: test data, training data and measures."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gapboost._kernels import Array
from gapboost.diagnosis.part import Part
from gapboost.evaluation import query_values
from gapboost.measures import AP, Measure

# Values of one feature alone by average precision at so many thresholds of grades at most.
MOST_THRESHOLDS = 8


@dataclass(frozen=True, eq=False)
class Alone:
    """Test queries ranked by one feature alone.

    Attributes
    ----------
    feature : str
    direction : str
        ``"descending"`` if large values come first, else ``"ascending"``.
    values : float64 ndarray of shape (Q,)
        Values of the first measure.
    precisions : list of float64 ndarray of shape (Q,)
        Average precision for each of `Subject.thresholds`.
    """

    feature: str
    direction: str
    values: Array
    precisions: Sequence[Array]


@dataclass(frozen=True, eq=False)
class Subject:
    """Ranker, data and measures of a report.

    Attributes
    ----------
    ranker : object with `predict`
    test : Part
    training : Part or None
    measures : dict {name: Measure}
        With resolved g, under the names that the caller gave.
    """

    ranker: Any
    test: Part
    training: Part | None
    measures: dict[str, Measure]

    @property
    def measure(self) -> str:
        """Name of the first measure, by which checks decide."""
        return next(iter(self.measures))

    def values(self, part: Part, name: str) -> Array:
        """Return a measure of each query of a part."""
        values = self._test if part is self.test else self._training
        return values[name]

    @cached_property
    def _test(self) -> dict[str, Array]:
        return self._of(self.test)

    @cached_property
    def _training(self) -> dict[str, Array]:
        return self._of(self.training) if self.training is not None else {}

    def _of(self, part: Part) -> dict[str, Array]:
        found = query_values(list(self.measures.values()), part.data, part.scores)
        return dict(zip(self.measures, found, strict=True))

    def random_order(self, part: Part) -> Array:
        """Return the expected value of the first measure for a random order, of shape (Q,)."""
        return part.values(self.measures[self.measure], np.zeros(len(part.scores)))

    @cached_property
    def thresholds(self) -> list[float]:
        """Grades above the lowest one of the test data, the highest ones of many."""
        positive = [float(grade) for grade in np.unique(self.test.data.grades) if grade > 0]
        return positive[-MOST_THRESHOLDS:]

    @cached_property
    def alone(self) -> list[Alone]:
        """Test queries ranked by each feature with an order alone, descending and ascending."""
        measures = [self.measures[self.measure], *(AP(rel=grade) for grade in self.thresholds)]
        found = []
        features = self.test.features
        for place in np.flatnonzero(features.numeric).tolist():
            column = self.test.column(place)
            if not self.test.varies(place).any():
                continue
            for direction, scores in (("descending", column), ("ascending", -column)):
                finite = np.nan_to_num(scores, nan=-np.finfo(float).max)
                first, *others = query_values(measures, self.test.data, finite)
                found.append(Alone(features.names[place], direction, first, others))
        return found
