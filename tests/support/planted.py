"""Sound test and training data with a linear ranker, and faults that are planted into them."""

from dataclasses import dataclass, field, replace

import numpy as np

N_QUERIES, N_DOCS, N_FEATURES = 60, 12, 5


class Linear:
    """Score by a weighted sum of the features, without missing values; the last weight is 0."""

    def __init__(self, weights=(1.0, 0.7, 0.5, 0.3, 0.0)):
        self.weights = np.array(weights)

    def predict(self, X):
        return np.nan_to_num(np.asarray(X, dtype=float)) @ self.weights


class Rounded(Linear):
    """Scores are whole numbers."""

    def predict(self, X):
        return np.round(super().predict(X))


class Memory(Linear):
    """Score training rows by their grades, and other rows by two features, one of them noise."""

    def __init__(self, X, y):
        super().__init__()
        self.grades = {row.tobytes(): float(grade) for row, grade in zip(X, y, strict=True)}

    def predict(self, X):
        known = [self.grades.get(row.tobytes(), 0.0) for row in np.ascontiguousarray(X)]
        return np.array(known) + 0.01 * (X[:, 0] + X[:, 4])


@dataclass(frozen=True)
class Rows:
    """Features, grades and query ids."""

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray

    def choose(self, rows):
        return Rows(self.X[rows], self.y[rows], self.qid[rows])


def rows(seed, first, n_queries=N_QUERIES):
    """Return sound rows; query ids begin with `first`."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_queries * N_DOCS, N_FEATURES))
    worth = X @ (1.0, 0.7, 0.5, 0.3, 0.0) + 0.7 * rng.standard_normal(len(X))
    return Rows(X, np.digitize(worth, (0.8, 1.8)), np.repeat(np.arange(n_queries), N_DOCS) + first)


@dataclass(frozen=True)
class Case:
    """A ranker with its data."""

    ranker: object = field(default_factory=Linear)
    test: Rows = field(default_factory=lambda: rows(1, 1000))
    training: Rows = field(default_factory=lambda: rows(2, 5000))

    def arguments(self):
        """Return the arguments of `gapboost.report`."""
        test, training = self.test, self.training
        return {
            "ranker": self.ranker, "X": test.X, "y": test.y, "qid": test.qid,
            "X_train": training.X, "y_train": training.y, "qid_train": training.qid,
        }  # fmt: skip

    def spoiled(self, **test):
        """Return the case with other test rows."""
        return replace(self, test=replace(self.test, **test))


def column(values, place, new):
    """Return a copy of an array with another column."""
    changed = values.copy()
    changed[:, place] = new
    return changed


def leak(case, feature, weight):
    """The last feature is a function of the grade, and the ranker uses it."""
    leaked = [
        replace(part, X=column(part.X, 4, feature(part.y))) for part in (case.test, case.training)
    ]
    return Case(Linear((1.0, 0.7, 0.5, 0.3, weight)), *leaked)


def label_leak(case):
    """The last feature is the grade."""
    return leak(case, lambda y: y, 9.0)


def binary_leak(case):
    """The last feature is 0 for relevant documents."""
    return leak(case, lambda y: y == 0, -9.0)


def shared_queries(case):
    """Ten test queries are training queries."""
    more, test = case.training.choose(case.training.qid < 5010), case.test
    columns = zip((test.X, test.y, test.qid), (more.X, more.y, more.qid), strict=True)
    return replace(case, test=Rows(*map(np.concatenate, columns)))


def renumbered_queries(case):
    """Ten test queries are training queries, under other ids and in another order of rows."""
    shared = shared_queries(case).test
    ids = np.where(shared.qid >= 5000, shared.qid + 777, shared.qid)
    return replace(case, test=Rows(shared.X, shared.y, ids).choose(slice(None, None, -1)))


def constant_list(case):
    """The documents of one query differ in the last feature alone, which has no weight."""
    X = case.test.X.copy()
    X[case.test.qid == 1007, :4] = 0.25
    return case.spoiled(X=X)


def unjudged(case):
    """Half of the judgments are missing."""
    missing = np.random.default_rng(3).random(len(case.test.y)) < 0.5
    return case.spoiled(y=np.where(missing, np.nan, case.test.y))


def judged_irrelevant(case):
    """Half of the judgments are removed, and read as grade 0."""
    missing = np.random.default_rng(3).random(len(case.test.y)) < 0.5
    return case.spoiled(y=np.where(missing, 0, case.test.y))


def ties(case):
    """The ranker rounds its scores."""
    return replace(case, ranker=Rounded())


def overfitted(case):
    """The ranker remembers the training rows."""
    return replace(case, ranker=Memory(case.training.X, case.training.y))


def constant_feature(case):
    """A feature has one value in each test query."""
    return case.spoiled(X=column(case.test.X, 4, np.sin(case.test.qid)))


def empty_feature(case):
    """A feature of the query has one value in all test documents."""
    training = replace(
        case.training, X=column(case.training.X, 4, np.sin(case.training.qid).astype(float))
    )
    return replace(case.spoiled(X=column(case.test.X, 4, 0.0)), training=training)


def empty_in_both(case):
    """A feature has one value in all documents, those of training too: no fault of the test."""
    parts = [replace(part, X=column(part.X, 4, 7.0)) for part in (case.test, case.training)]
    return replace(case, test=parts[0], training=parts[1])


def duplicates(case):
    """Every third document is there twice."""
    times = np.where(np.arange(len(case.test.y)) % 3 == 0, 2, 1)
    return replace(case, test=case.test.choose(np.repeat(np.arange(len(times)), times)))


def wrong_order(case):
    """Grades are in another order than features."""
    return case.spoiled(y=np.random.default_rng(4).permutation(case.test.y))


def wrong_groups(case):
    """Each document is a query of its own."""
    return case.spoiled(qid=np.arange(len(case.test.y)))


def wrong_sign(case):
    """The best documents have the lowest scores."""
    return replace(case, ranker=Linear((-1.0, -0.7, -0.5, -0.3, 0.0)))


def weaker_than_a_feature(case):
    """The ranker has most of its weight on a feature that says nothing."""
    return replace(case, ranker=Linear((0.3, 0.1, 0.1, 0.1, 1.0)))


def other_unit(case):
    """A feature has another unit in the test data."""
    return case.spoiled(X=column(case.test.X, 4, case.test.X[:, 4] + 100))


def missing_values(case):
    """A feature is missing in most of the test rows."""
    lost = np.random.default_rng(5).random(len(case.test.y)) < 0.9
    return case.spoiled(X=column(case.test.X, 4, np.where(lost, np.nan, case.test.X[:, 4])))


# What each fault is found by: all checks, not only some of them.
FAULTS = {
    label_leak: {"label-leak"},
    binary_leak: {"label-leak"},
    shared_queries: {"shared-queries"},
    renumbered_queries: {"shared-queries"},
    constant_list: {"constant-scores"},
    unjudged: {"unjudged"},
    judged_irrelevant: {"shifted-grades"},
    ties: {"ties"},
    # On test queries it is worse than one of its two features.
    overfitted: {"overfitted", "weak-ranker"},
    constant_feature: {"constant-features"},
    empty_feature: {"constant-features"},
    empty_in_both: set(),
    duplicates: {"duplicate-documents"},
    # The ranker is good on training queries.
    wrong_order: {"weak-ranker", "overfitted"},
    wrong_groups: {"no-contrast"},
    wrong_sign: {"weak-ranker"},
    weaker_than_a_feature: {"weak-ranker"},
    other_unit: {"shifted-features"},
    missing_values: {"shifted-features"},
}
