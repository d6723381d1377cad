"""Simulated comparisons with known variance components: false alarms and power of two designs."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

from benchmarks.studies.policy import COMPONENTS, SIZES
from gapboost.analysis.estimates import LEVEL, Estimate, clustered, crossed

FOLDS, REPEATS = 5, 3
COMPARISONS = 2000
# Share of the variance of a query that each model has for itself.
INTERACTIONS = (0.2, 0.5, 0.8, 0.95)
POWER_BEFORE = 0.6
# Share of a collection's queries on which the models of the components were trained.
TRAINED = 0.3


@dataclass(frozen=True)
class Components:
    """Variances of one difference on one collection.

    Attributes
    ----------
    query : float
        Of one query.
    influence : float
        Of the influence of one training query, times the number of training queries.
    model : float
        Of models that differ in their seed alone.
    """

    query: float
    influence: float
    model: float


def read_components() -> dict[str, Components]:
    """Return the components of each collection in nDCG@10, from mean squares of contrasts."""
    by_collection: dict[str, list[list[float]]] = {}
    with COMPONENTS.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            if row["measure"] == "nDCG@10":
                names = ("queries", "query", "training queries", "tuning", "seed")
                numbers = [float(row[name]) for name in names]
                by_collection.setdefault(row["collection"], []).append(numbers)
    found = {}
    for name, rows in sorted(by_collection.items()):
        n_tested, query, training, tuning, seed = np.mean(rows, axis=0)
        seed = max(seed / 2, 0.0)
        tuning = tuning / 2 - seed / 2
        training = max(training / 2 - tuning / 2 - seed / 4, 0.0)
        n_trained = n_tested / 0.2 * TRAINED  # a fifth of the queries was tested
        found[name] = Components(float(query), float(training * n_trained), float(seed))
    return found


def draw_folds(n: int, rng: np.random.Generator, *, repeated: bool) -> NDArray[np.int64]:
    """Return the fold of each query in each repeat, int of shape (REPEATS, n)."""
    drawn = [rng.permutation(np.arange(n) % FOLDS) for _ in range(REPEATS if repeated else 1)]
    return np.array(drawn * (1 if repeated else REPEATS))


def draw_differences(
    of: Components, share: float, folds: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return differences with mean 0, float64 of shape (REPEATS, n)."""
    n = folds.shape[1]
    main = rng.normal(scale=np.sqrt(of.query * (1 - share)), size=n)
    influence = rng.normal(scale=np.sqrt(of.influence), size=n)
    differences = []
    for fold in folds:
        inside = np.bincount(fold, influence, FOLDS)
        training = (influence.sum() - inside) / (n - np.bincount(fold, minlength=FOLDS))
        models = training + rng.normal(scale=np.sqrt(of.model), size=FOLDS)
        own = rng.normal(scale=np.sqrt(of.query * share), size=n)
        differences.append(main + models[fold] + own)
    return np.array(differences)


def estimate_seeds(differences: NDArray[np.float64], folds: NDArray[np.int64]) -> Estimate:
    """Return the estimate of the design with three seeds of five folds."""
    means = differences.mean(axis=0)
    return clustered([means[folds[0] == fold] for fold in range(FOLDS)])


def estimate_repeats(differences: NDArray[np.float64], folds: NDArray[np.int64]) -> Estimate:
    """Return the estimate of the design with three repeats of five folds."""
    models = folds + FOLDS * np.arange(REPEATS)[:, None]
    queries = np.tile(np.arange(folds.shape[1]), REPEATS)
    return crossed(differences.ravel(), queries, models.ravel())


def estimate_components(
    differences: NDArray[np.float64],
    folds: NDArray[np.int64],
    shared_training: float = 0.0,
    allowance: float = 0.0,
) -> Estimate:
    """Return an estimate from components of variance, by Henderson's method III.

    Parameters
    ----------
    differences, folds : ndarray of shape (REPEATS, n)
    shared_training : float, default=0.0
        Added to the weight of models' component, 1 / 15; Nadeau and Bengio add n_test / n_train.
    allowance : float, default=0.0
        Variance of training queries relative to that of test queries.
    """
    repeats, n = differences.shape
    models = folds + FOLDS * np.arange(repeats)[:, None]
    n_models, n_values = FOLDS * repeats, differences.size
    means = differences.mean(axis=0)
    by_query = float(means.var(ddof=1)) / n * (1 + allowance)
    within = differences - means
    tests = np.zeros((n, n_models))
    for of_repeat in models:
        tests[np.arange(n), of_repeat] = 1
    sizes = tests.sum(axis=0)
    products = np.diag(sizes) - tests.T @ tests / repeats
    sums = np.bincount(models.ravel(), within.ravel(), n_models)
    explained, rank = float(sums @ np.linalg.pinv(products) @ sums), n_models - 1
    rest = (float((within**2).sum()) - explained) / (n_values - n - rank)
    of_model = max((explained - rank * rest) / np.trace(products), 0.0)
    weight = float(((sizes / n_values) ** 2).sum()) - 1 / n_values + shared_training
    variance = by_query + weight * of_model
    uncertain = weight * explained / np.trace(products) if of_model else 0.0
    freedom = variance**2 / (by_query**2 / (n - 1) + uncertain**2 / rank)
    return Estimate(float(means.mean()), float(np.sqrt(variance)), freedom)


def significant(estimates: Sequence[Estimate], shift: float = 0.0) -> float:
    """Return the share of 95 % intervals without 0, for a true difference of `shift`."""
    means, errors, freedom = (
        np.array([getattr(e, name) for e in estimates]) for name in ("mean", "error", "freedom")
    )
    return float(np.mean(np.abs(means + shift) > stats.t.ppf(1 - LEVEL / 2, freedom) * errors))


def mean_allowance() -> float:
    """Return the mean ratio of the variances of training and test queries, over collections."""
    return float(np.mean([of.influence / of.query for of in read_components().values()]))


CANDIDATES = {
    "repeats": estimate_repeats,
    "components": estimate_components,
    "corrected components": partial(estimate_components, shared_training=1 / (FOLDS - 1)),
    "components with allowance": partial(estimate_components, allowance=mean_allowance()),
}


def simulate(of: Components, n: int, share: float, rng: np.random.Generator) -> dict[str, float]:
    """Return false alarms and power of all estimates at equal cost."""
    found: dict[str, list[Estimate]] = {name: [] for name in ("seeds", *CANDIDATES)}
    for _ in range(COMPARISONS):
        folds = draw_folds(n, rng, repeated=False)
        found["seeds"].append(estimate_seeds(draw_differences(of, share, folds, rng), folds))
        folds = draw_folds(n, rng, repeated=True)
        differences = draw_differences(of, share, folds, rng)
        for name, estimate in CANDIDATES.items():
            found[name].append(estimate(differences, folds))
    largest = 20 * float(np.mean([e.error for e in found["seeds"]]))

    def missing_power(shift: float) -> float:
        return significant(found["seeds"], shift) - POWER_BEFORE

    shift = optimize.brentq(missing_power, 0.0, largest, xtol=1e-7)
    row = {}
    for name, estimates in found.items():
        row[f"alarms of {name}"] = significant(estimates)
        row[f"power of {name}"] = significant(estimates, shift)
    return row


def rows_of(collection: str, n: int) -> list[dict[str, object]]:
    """Return one row for each share of interaction."""
    of = read_components()[collection]
    rng = np.random.default_rng([n, *collection.encode()])
    return [
        {"interaction": share, "comparisons": COMPARISONS, **simulate(of, n, share, rng)}
        for share in INTERACTIONS
    ]


def cells() -> list[tuple[str, int]]:
    """Return the collections and numbers of queries."""
    return [(name, n) for n in SIZES for name in read_components()]
