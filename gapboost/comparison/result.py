"""Result of a comparison: values, means, differences, and the best ranker on all queries."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from gapboost._data.arguments import one_of, positive, probability
from gapboost._kernels import Array
from gapboost._optional import frame
from gapboost.comparison.report import draw, write_report
from gapboost.comparison.statistics import Verdict, estimate_difference
from gapboost.comparison.training import CHOSEN_BY, Result, Task, Trainer


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Result of `compare_rankers`: rankers on the same test queries.

    Attributes
    ----------
    training : Trainer
        Data, splits, rankers and measures.
    results : list of Result
        Values of each model on its test queries.
    searches : list of Result
        Values of the candidates on the validation queries; empty without tuning.
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
    results: Sequence[Result]
    searches: Sequence[Result]
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
        n = len(np.unique(np.concatenate([split.test for split in self.training.splits])))
        return f"Comparison({len(self.rankers)} rankers, {n} test queries)"

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame with one row for each query, ranker, measure and repeat.

        The columns are ``query``, ``ranker``, ``measure``, ``repeat``, ``fold`` and ``value``.
        """
        rows = []
        for result in self.results:
            task, split = result.task, self.training.splits[result.task.split]
            queries = self.training.ids[split.test].tolist()
            for measure, values in result.values.items():
                rows += [
                    (query, task.ranker, measure, task.repeat, split.fold, value)
                    for query, value in zip(queries, values.tolist(), strict=True)
                ]
        names = ("query", "ranker", "measure", "repeat", "fold", "value")
        return frame({name: [row[place] for row in rows] for place, name in enumerate(names)})

    def values(self, ranker: str, measure: str) -> list[Array]:
        """Return the values of the test queries of each split, float64 of shape (Q,).

        If several repeats train on the same split, the values are their means.
        """
        of_splits: list[list[Array]] = [[] for _ in self.training.splits]
        for result in self.results:
            if result.task.ranker == ranker:
                of_splits[result.task.split].append(result.values[measure])
        return [np.mean(repeats, axis=0) for repeats in of_splits]

    def means(self) -> Any:
        """Return the mean of each ranker by each measure, and its costs, as a pandas.DataFrame.

        ``trees`` is the mean number of trees of a model, ``fit seconds`` are those of a training,
        ``predict ms`` the milliseconds for 1,000 documents.
        """
        columns: dict[str, Any] = {"ranker": self.rankers}
        for measure in self.measures:
            columns[measure] = [self._mean(ranker, measure) for ranker in self.rankers]
        costs = {"trees": ("trees", 1.0), "fit seconds": ("fit_seconds", 1.0)}
        costs |= {"predict ms": ("predict_seconds", 1e6)}
        for name, (attribute, scale) in costs.items():
            columns[name] = [
                scale * float(np.mean([getattr(r, attribute) for r in self._results_of(ranker)]))
                for ranker in self.rankers
            ]
        return frame(columns, ["ranker"])

    def _mean(self, ranker: str, measure: str) -> float:
        return float(np.concatenate(self.values(ranker, measure)).mean())

    def _results_of(self, ranker: str) -> list[Result]:
        return [result for result in self.results if result.task.ranker == ranker]

    @property
    def identical_repeats(self) -> list[str]:
        """Rankers whose repeats on the same folds have the same values: nothing is random."""
        first: dict[tuple[str, int], Result] = {}
        same: dict[str, bool] = {}
        for result in self.results:
            name = result.task.ranker
            other = first.setdefault((name, result.task.split), result)
            if other is not result:
                equal = [np.array_equal(v, result.values[m]) for m, v in other.values.items()]
                same[name] = same.get(name, True) and all(equal)
        return [name for name, equal in same.items() if equal]

    def verdicts(
        self, baseline: str | None = None, confidence: float = 0.95, margin: float | None = None
    ) -> list[Verdict]:
        """Return the rows of `summary` as objects."""
        probability(confidence, "confidence")
        if margin is not None:
            positive(margin, "margin")
        if baseline is None:
            pairs = [(first, second) for second, first in combinations(self.rankers, 2)]
        else:
            one_of(baseline, "baseline", tuple(self.rankers))
            pairs = [(ranker, baseline) for ranker in self.rankers if ranker != baseline]
        queries = [split.test for split in self.training.splits]
        n_queries = len(np.unique(np.concatenate(queries)))
        found = []
        for measure in self.measures:
            values = {ranker: self.values(ranker, measure) for ranker in self.rankers}
            for one, other in pairs:
                splits = list(zip(values[one], values[other], strict=True))
                estimate, p = estimate_difference(splits, queries)
                found.append(
                    Verdict(
                        one, other, measure, estimate, n_queries, confidence, len(pairs), margin, p
                    )
                )
        return found

    def summary(
        self,
        baseline: str | None = None,
        confidence: float = 0.95,
        *,
        margin: float | None = None,
        difference: float | None = None,
        t_test: bool = False,
    ) -> Any:
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
            counts no models and is not corrected.

        Returns
        -------
        pandas.DataFrame
            One row for each pair and measure: the mean ``difference`` over the queries, ``low`` and
            ``high`` of its interval, the corrected ``p``, the ``verdict``, the number of test
            ``queries``, and the true difference that is ``detectable`` in 80 % of comparisons.
            ``summary().to_latex()`` is a table for a paper.

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
        found = self.verdicts(baseline, confidence, margin)
        columns = {
            "ranker": [v.ranker for v in found],
            "baseline": [v.baseline for v in found],
            "measure": [v.measure for v in found],
            "difference": [v.difference for v in found],
            "low": [v.interval[0] for v in found],
            "high": [v.interval[1] for v in found],
            "p": [v.p for v in found],
            "verdict": [v.verdict for v in found],
            "queries": [v.n_queries for v in found],
            "detectable": [v.detectable for v in found],
        }
        if difference is not None:
            positive(difference, "difference")
            columns["queries needed"] = [v.queries_needed(difference) for v in found]
        if one_of(t_test, "t_test", (True, False)):
            columns["t-test p"] = [v.t_test for v in found]
        return frame(columns)

    def plot(
        self, baseline: str | None = None, confidence: float = 0.95, margin: float | None = None
    ) -> Any:
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
        return draw(self.verdicts(baseline or self.rankers[0], confidence, margin), self.measures)

    def report(
        self,
        path: Any,
        baseline: str | None = None,
        confidence: float = 0.95,
        *,
        margin: float | None = None,
    ) -> None:
        """Write a page: decision, differences, means, settings and versions of libraries.

        Parameters
        ----------
        path : path
            Ends with ``.html``: one file with pictures, readable offline, light and dark.
        baseline : str, optional
            By default the first ranker.
        confidence : float, default=0.95
        margin : float, optional
            As in `summary`.

        Raises
        ------
        ValueError
            If the path has another ending.
        """
        baseline = baseline or self.rankers[0]
        found = self.verdicts(baseline, confidence, margin)
        write_report(path, self, found, self.summary(baseline, confidence, margin=margin))

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
        all splits. A ranker that stops early does not train on the validation queries of the first
        split, which it needs to stop.
        """
        training, split = self.training, self.training.splits[0]
        train = np.arange(len(training.ids))
        if training.needs_validation(self.best):
            train = np.setdiff1d(train, split.vali)
        by_candidate: dict[int | None, list[Array]] = {}
        for result in self.searches:
            if result.task.ranker == self.best:
                by_candidate.setdefault(result.task.candidate, []).append(result.values[CHOSEN_BY])
        means = {number: np.concatenate(of).mean() for number, of in by_candidate.items()}
        task = Task(self.best, 0, 1, max(means, key=lambda number: means[number], default=None))
        return training.fit(task, train, split.vali)


def best_candidates(searches: Sequence[Result]) -> dict[tuple[str, int], int]:
    """Return the number of the candidate with the highest mean, for each ranker and split."""
    means: dict[tuple[str, int], list[float]] = {}
    for result in searches:  # candidates in the order of their numbers
        key = result.task.ranker, result.task.split
        means.setdefault(key, []).append(float(result.values[CHOSEN_BY].mean()))
    return {key: int(np.argmax(values)) for key, values in means.items()}
