"""Result of a comparison: values, means, differences, and the best ranker on all queries."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats

from gapboost.analysis.standard_errors import (
    Estimate,
    independent,
    noncentrality,
    one_way_clustered,
    rounding,
    two_way_clustered,
)
from gapboost.comparison.report import (
    KEY,
    READING,
    decide,
    differences_table,
    means_table,
    plot,
    settings_table,
)
from gapboost.comparison.training import SplitResult, Trainer, best_candidate
from gapboost.data import Array
from gapboost.optional import DataFrame, Figure, frame, imported
from gapboost.page import write_page
from gapboost.validation import BELOW_ONE, PathLike, as_number, one_of


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Result of `compare_rankers`: rankers on the same test queries.

    Attributes
    ----------
    training : Trainer
        Data, splits, rankers and measures.
    results : dict {(ranker, number of a split): SplitResult}
    leaks : dict {feature: float}
        Features that alone rank like the grades, with the lower end of the interval of their
        average precision. No comparison tells rankers apart as long as they are there.

    Examples
    --------
    >>> from gapboost.comparison import compare_rankers
    >>> from gapboost.datasets import load_digits_ranking
    >>> from sklearn.linear_model import Ridge
    >>> data = load_digits_ranking().test
    >>> rankers = {"one": Ridge(alpha=1.0), "other": Ridge(alpha=100.0)}
    >>> found = compare_rankers(data.X, data.y, data.qid, rankers, measures="map", repeats=1)
    >>> found.rankers, found.measures
    (['one', 'other'], ['map'])
    >>> found.summary("one")["ranker"].tolist()
    ['other']
    """

    training: Trainer
    results: Mapping[tuple[str, int], SplitResult]
    leaks: dict[str, float]

    @property
    def rankers(self) -> list[str]:
        """Names of the rankers."""
        return list(self.training.rankers)

    @property
    def measures(self) -> list[str]:
        """Names of the measures, as the caller gave them."""
        return list(self.training.measures)

    def __repr__(self) -> str:
        return f"Comparison(rankers={self.rankers}, measures={self.measures})"

    def to_pandas(self) -> DataFrame:
        """Return a pandas.DataFrame with one row for each query, ranker, measure and repeat.

        The columns are ``query``, ``ranker``, ``measure``, ``repeat``, ``fold`` and ``value``.
        """
        pandas = imported("pandas", "analysis", "for a pandas view")
        parts = []
        for (ranker, number), result in self.results.items():
            split = self.training.splits[number]
            queries = self.training.data.query_data.queries.ids[split.test].tolist()
            for repeat, trained in zip(split.repeats, result.repeats, strict=False):
                for measure, values in trained.values.items():
                    of_all = {"ranker": ranker, "measure": measure, "repeat": repeat}
                    part = {"query": queries, **of_all, "fold": split.fold, "value": values}
                    parts.append(frame(part))
        return pandas.concat(parts, ignore_index=True)

    def _results_of(self, ranker: str) -> list[SplitResult]:
        return [self.results[ranker, number] for number in range(len(self.training.splits))]

    def values(self, ranker: str, measure: str) -> list[Array]:
        """Return the values of the test queries of each split, float64 of shape (Q,).

        If several repeats train on the same split, the values are their means.
        """
        return [
            np.mean([trained.values[measure] for trained in result.repeats], axis=0)
            for result in self._results_of(ranker)
        ]

    def _mean(self, ranker: str, measure: str) -> float:
        return float(np.concatenate(self.values(ranker, measure)).mean())

    def means(self) -> DataFrame:
        """Return the mean of each ranker by each measure, and its costs, as a pandas.DataFrame.

        ``trees`` is the mean number of trees of a model; of wall time, ``fit seconds`` are those
        of a training, and ``predict ms`` the milliseconds for 1,000 documents.
        """
        rows = []
        for ranker in self.rankers:
            trained = [one for result in self._results_of(ranker) for one in result.repeats]
            means = {measure: self._mean(ranker, measure) for measure in self.measures}
            costs = frame([one.costs for one in trained]).mean(skipna=False)
            rows.append({"ranker": ranker, **means, **costs})
        return frame(rows, ["ranker"])

    @property
    def identical_repeats(self) -> list[str]:
        """Rankers whose repeats on the same folds have the same values: nothing is random."""
        return [
            ranker
            for ranker in self.rankers
            if len(self.results[ranker, 0].repeats) > 1
            and all(
                not np.ptp([trained.values[measure] for trained in result.repeats], axis=0).any()
                for result in self._results_of(ranker)
                for measure in self.measures
            )
        ]

    def summary(
        self,
        baseline: str | None = None,
        confidence: float = 0.95,
        *,
        margin: float | None = None,
        difference: float | None = None,
        t_test: bool = False,
    ) -> DataFrame:
        """Return the differences between rankers, with intervals and verdicts.

        Parameters
        ----------
        baseline : str, optional
            The ranker that the others are compared with. None compares every pair.
        confidence : float, default=0.95
            Confidence of all intervals of a measure together.
        margin : float, optional
            Largest difference that does not matter to you; name it before you see values. It
            adds the verdict "equivalent".
        difference : float, optional
            A difference that matters to you. It adds a column ``queries needed``: with so many test
            queries, 80 % of such comparisons would find a true difference of this size.
        t_test : bool, default=False
            Add a column ``t-test p`` of the paired t-test over the queries, as papers report it. It
            counts no models and is not corrected. Its degrees of freedom are ``queries`` less 1.

        Returns
        -------
        pandas.DataFrame
            One row for each pair and measure: the mean ``difference`` over the queries, ``low`` and
            ``high`` of its interval, the corrected ``p``, the ``verdict``, the number of test
            ``queries``, and the true difference that is ``detectable`` in 80 % of comparisons.
            For a paper: ``summary().to_latex(index=False, float_format="%.4f", escape=True)``.

        Raises
        ------
        ValueError
            If there is no such ranker, or a number is unusable.

        Notes
        -----
        The verdict is "ahead" if the interval is above 0, "behind" if it is below 0, "equal" if the
        two have the same value on every query, and else "inconclusive". With `margin`, a second
        test says "equivalent": two one-sided tests, each at the level 1 - `confidence`, corrected
        as the intervals are.

        The rows of one measure are a family: their intervals hold together, by Bonferroni's
        correction. With a number of folds, errors count queries and models, as two-way clusters;
        the degrees of freedom are the number of models of a ranker less 1. With given folds each
        fold is a cluster: Bell and McCaffrey's standard error, Satterthwaite's degrees of freedom.
        With one given fold, intervals count queries only, and hold for the models that were
        trained, not for others that are trained alike. If all differences are the same number, they
        tell nothing about its error: the interval is NaN.
        """
        as_number(confidence, "confidence", high=BELOW_ONE)
        for name, given in (("margin", margin), ("difference", difference)):
            if given is not None:
                as_number(given, name)
        one_of(t_test, "t_test", (True, False))
        one_of(baseline, "baseline", (*self.rankers, None))
        if baseline is None:
            pairs = [(first, second) for second, first in combinations(self.rankers, 2)]
        else:
            pairs = [(ranker, baseline) for ranker in self.rankers if ranker != baseline]
        queries = [split.test for split in self.training.splits]
        rows = []
        for measure in self.measures:
            values = {ranker: self.values(ranker, measure) for ranker in self.rankers}
            for one, other in pairs:
                splits = list(zip(values[one], values[other], strict=True))
                found = compare_pair(splits, queries, confidence, len(pairs), margin)
                rows.append({"ranker": one, "baseline": other, "measure": measure, **found})
        table = frame(rows)
        if difference is not None:
            # Errors shrink with the root of the number of queries, if there are as many folds.
            times = (table["detectable"] / difference) ** 2
            needed = np.ceil(table["queries"] * times)
            table.insert(table.columns.get_loc("t-test p"), "queries needed", needed)
        return table if t_test else table.drop(columns="t-test p")

    def plot(
        self, baseline: str | None = None, confidence: float = 0.95, margin: float | None = None
    ) -> Figure:
        """Plot the differences from one ranker with their intervals, one panel for each measure.

        Parameters
        ----------
        baseline : str, optional
            By default the first ranker.
        confidence : float, default=0.95
        margin : float, optional
            As in `summary`.

        Returns
        -------
        matplotlib Figure
        """
        table = self.summary(baseline or self.rankers[0], confidence, margin=margin)
        figure = plot(table, confidence)
        figure.supxlabel(KEY, fontsize=9)
        return figure

    def report(
        self,
        path: PathLike,
        baseline: str | None = None,
        confidence: float = 0.95,
        *,
        margin: float | None = None,
    ) -> None:
        """Write a page: decision, differences, means, settings and versions of libraries.

        Parameters
        ----------
        path : path
            Of the HTML page: one file with plots, readable offline, light and dark.
        baseline : str, optional
            By default the first ranker.
        confidence : float, default=0.95
        margin : float, optional
            As in `summary`.
        """
        table = self.summary(baseline or self.rankers[0], confidence, margin=margin)
        plots = [plot(rows, confidence) for _, rows in table.groupby("measure", sort=False)]
        key = KEY if margin is None else f"{KEY}: within ±{margin:g}"
        sections = {
            "Decision": [*decide(table, self.decisive, self.leaks), plots, key],
            "Means": [means_table(self.means(), len(self.measures))],
            f"Differences from {table['baseline'][0]}": [differences_table(table), READING],
            "Settings": [settings_table(self.training, self.identical_repeats, margin)],
        }
        write_page(path, "Which ranker ranks better?", sections)
        for figure in plots:
            imported("matplotlib.pyplot", "plot", "to plot").close(figure)

    @property
    def decisive(self) -> str:
        """Name of the measure that decides: `choose_by` if it is tested, else the first."""
        named = {measure: name for name, measure in self.training.measures.items()}
        return named.get(self.training.choose_by, self.measures[0])

    @property
    def best(self) -> str:
        """Name of the ranker with the highest mean by `choose_by`, or by the first measure.

        `choose_by` counts if it is tested. The highest mean alone is no proof.
        """
        return max(self.rankers, key=lambda ranker: self._mean(ranker, self.decisive))

    @cached_property
    def best_(self) -> Any:
        """The `best` ranker trained on all queries, with seed 1.

        After tuning, its parameters are those with the highest mean over the validation queries of
        all splits. If trees are chosen, it does not train on the validation queries of the first
        split, which choose their number.
        """
        training, best = self.training, self.best
        params: Mapping[str, object] = {}
        if best in training.candidates:
            searched = zip(*(result.searched for result in self._results_of(best)), strict=True)
            params = training.candidates[best][best_candidate([*map(np.concatenate, searched)])]
        train, vali = np.arange(len(training.data.query_data.queries)), training.splits[0].vali
        if training.choose_trees:
            train = np.setdiff1d(train, vali)
        return training.fit(best, params, train, vali)


def compare_pair(
    splits: Sequence[tuple[Array, Array]],
    queries: Sequence[Array],
    confidence: float,
    family: int,
    margin: float | None = None,
) -> dict[str, object]:
    """Return the numbers of a row of `Comparison.summary`, and the p-value of the paired t-test.

    The queries of one fold were ranked by the same models, so that their differences are not
    independent. With a number of folds, each repeat has its own split and models: queries and
    models are clusters that cross each other. With folds that are given, each fold is a cluster,
    and the values of a query are averaged over the repeats first: their models share training rows
    and test queries. `benchmarks/POLICY.md` gives the reasons.

    Parameters
    ----------
    splits : list of (values, values)
        Values of the two rankers on the test queries of each split, float64 arrays of shape (Q,).
        Differences by rounding alone count as 0.
    queries : list of int ndarray
        Numbers of the test queries of each split. A query is tested once, or once in each repeat.
    confidence : float
        Confidence of all intervals of the family together.
    family : int
        Number of comparisons of the same call by this measure.
    margin : float, optional
        Largest difference that counts as equivalent.
    """
    within = rounding(np.concatenate([np.concatenate(pair) for pair in splits]))
    parts = [np.where(np.abs(a - b) <= within, 0.0, a - b) for a, b in splits]
    differences = np.concatenate(parts)
    numbers = np.unique(np.concatenate(queries), return_inverse=True)[1]
    by_query = np.bincount(numbers, differences) / np.bincount(numbers)
    if len(parts) == 1:
        estimate = independent(differences)
    elif len(numbers) == len(by_query):
        estimate = one_way_clustered(parts)
    else:
        models = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        estimate = two_way_clustered(differences, numbers, models)
    t_test = detectable = low = high = math.nan
    if estimate.error > within:
        t_test = float(stats.ttest_1samp(by_query, 0.0).pvalue)
        detectable = noncentrality(estimate.freedom, (1 - confidence) / family) * estimate.error
    else:  # all differences are the same, which tells nothing about their error
        estimate = Estimate(estimate.mean, 0.0, estimate.freedom)
    if estimate.error > 0 or estimate.mean == 0:
        low, high = estimate.interval(confidence, family)
    return {
        "difference": estimate.mean,
        "low": low,
        "high": high,
        "p": float(np.minimum(1.0, family * estimate.p)),
        "verdict": estimate.verdict(confidence, family, margin),
        "queries": len(by_query),
        "detectable": detectable,
        "t-test p": t_test,
    }
