"""Own parameters and unusable data, for every way into a training."""

from types import MappingProxyType
from typing import NamedTuple

import numpy as np

N_QUERIES, PER_QUERY = 24, 10
NOTHING = MappingProxyType({})


class Rows(NamedTuple):
    """A training set of queries of ten documents, query by query; `weight` is that of each row."""

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray
    weight: np.ndarray

    @property
    def group(self):
        return np.unique(self.qid, return_counts=True)[1]

    def with_y(self, row, grade):
        y = self.y.astype(float)
        y[row] = grade
        return self._replace(y=y)


def rows(n_queries=N_QUERIES, seed=7):
    """Rows whose grades depend on two of five features; every third query has weight 2."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_queries * PER_QUERY, 5)).astype(np.float32)
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1] + 0.7 * rng.standard_normal(len(X)), [0.3, 1.2])
    qid = np.repeat(np.arange(n_queries), PER_QUERY)
    return Rows(X, y, qid, 1.0 + (qid % 3 == 0))


class Change(NamedTuple):
    """A value of an own parameter that changes the model, other parameters for it, and a bad value.

    Entry points that refuse the parameter are in `refused_by`, by their names in
    tests/boosters/test_entry_points.py.
    """

    value: object
    unusable: object
    beside: MappingProxyType = NOTHING
    refused_by: tuple = ()


# Without a row here, a new parameter fails `test_every_own_parameter_is_here`.
CHANGES = {
    "measure": Change("ndcg@3", "mpa"),
    "g": Change((1.0, 0.0), (0.5, 0.6)),
    "objective": Change("softrank", "softmax", refused_by=("cv", "train")),
    # On queries of ten documents precision@10 never changes: the first round is the best.
    "stopping_metric": Change(
        "precision@10",
        "mpa",
        {
            "early_stopping_rounds": 2,
            "n_estimators": 30,
            "learning_rate": 0.1,
            "eval_metric": ["precision@10"],
        },
        ("GSearchCV", "cv", "train"),
    ),
}


class BadData(NamedTuple):
    """Rows that every entry point refuses in the same words, under its own name of the argument."""

    rows: Rows
    says: str
    argument: str = "y"
    parameters: MappingProxyType = NOTHING


GOOD = rows()
BAD_DATA = {
    "a negative grade": BadData(GOOD.with_y(3, -1), "negative grade -1"),
    "no contrasts": BadData(
        GOOD._replace(y=np.repeat(np.arange(N_QUERIES) % 2, PER_QUERY)),
        "no query with two different grades",
    ),
    "a grade beyond g": BadData(
        GOOD.with_y(3, 4), "is defined for the grades 0..2", parameters={"g": (0.5, 0.5)}
    ),
    "a grade beyond all tables": BadData(GOOD.with_y(3, 300), "the grade 300"),
    "weights of 0": BadData(
        GOOD._replace(weight=np.zeros(len(GOOD.y))), "zero|the sum 0", "weight"
    ),
    "huge weights": BadData(
        GOOD._replace(weight=np.full(len(GOOD.y), 1e20)), "has the sum", "weight"
    ),
}
