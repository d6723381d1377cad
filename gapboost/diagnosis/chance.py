"""The largest changes between training and new rows that chance explains.

Rows of a query may be alike: there are no more independent rows than queries, and fewer where their
sizes differ (Kish).
"""

import math
import warnings
from typing import Any

import numpy as np
from scipy import stats

from gapboost.data import Array
from gapboost.diagnosis.scored import ScoredDataset
from gapboost.optional import DataFrame

# Probability of an alarm by chance, for all features of a check together.
LEVEL = 0.001


def largest_shift(new: ScoredDataset, training: ScoredDataset, n_tests: int = 1) -> float:
    """Return the largest difference of distribution functions, or of any shares of rows.

    The limit of Kolmogorov and Smirnov's test.
    """
    return math.sqrt(math.log(2 * n_tests / LEVEL) / 2 * _variance(new, training))


def largest_of_categories(
    shares: DataFrame, new: ScoredDataset, training: ScoredDataset, n_tests: int
) -> float:
    """Return the largest half sum of the differences of the shares of categories.

    The smaller of two bounds: for few categories over all sets of them [Weissman et al.,
    *Inequalities for the L1 deviation of the empirical distribution*, 2003]; for many that of the
    expected shift, plus the deviation from it [McDiarmid, *On the method of bounded differences*,
    1989].
    """
    mean, information = shares.mean(axis=1), math.log(n_tests / LEVEL)
    of_sets = math.sqrt((len(mean) * math.log(2) + information) / 2)
    expected = np.sqrt(mean * (1 - mean)).sum() / 2
    limit = min(of_sets, expected + math.sqrt(information / 2))
    return float(limit * math.sqrt(_variance(new, training)))


def largest_of_shares(shares: DataFrame, new: ScoredDataset, training: ScoredDataset) -> Any:
    """Return the largest difference of two shares of rows, as a Series by feature.

    `shares` has a row for each feature, and its shares of new and training rows as columns.
    Bernstein's bound with the variance of the mean share: rare values leave chance less room.
    """
    information, variance = math.log(2 * len(shares) / LEVEL), _variance(new, training)
    sizes = np.array([len(rows.ids) for rows in (new, training)])
    mean = shares @ (sizes / sizes.sum())
    deviation = np.sqrt(2 * mean * (1 - mean) * information * variance)
    return deviation + information * variance / 3


def lie_apart(here: Array, there: Array, n_tests: int) -> bool:
    """Return True if the values of one group lie above or below those of the other beyond chance.

    `here` and `there` have one value a query, float64 of shape (Q,) each. Mood's median test, made
    exact by Fisher's. It assumes only that queries are exchangeable: a few of them are enough for a
    change that nearly all of them show.
    """
    median = np.median(np.concatenate((here, there)))
    p_values = []
    for compare in (np.greater, np.greater_equal):  # where many are equal, one finds none
        above = [compare(part, median) for part in (here, there)]
        table = [[each.sum(), (~each).sum()] for each in above]
        p_values.append(stats.fisher_exact(table).pvalue)
    return bool(2 * n_tests * min(p_values) < LEVEL)


def welch(here: Array, there: Array) -> Any:
    """Return Welch's t-test of two means; that all values of one group are equal is no warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Precision loss", RuntimeWarning)
        return stats.ttest_ind(here, there, equal_var=False)


def _variance(new: ScoredDataset, training: ScoredDataset) -> float:
    """Return 1 / n + 1 / m for n new and m training queries."""
    sizes = [rows.sizes.astype(np.float64) for rows in (new, training)]
    return float(sum((of_part**2).sum() / of_part.sum() ** 2 for of_part in sizes))
