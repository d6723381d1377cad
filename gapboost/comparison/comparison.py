"""The answer: values, means, verdicts, and the best ranker trained on everything."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from gapboost._data.arguments import one_of, probability
from gapboost._optional import frame
from gapboost.comparison.picture import draw
from gapboost.comparison.report import Page
from gapboost.comparison.values import Values
from gapboost.comparison.verdicts import Verdict, verdicts
from gapboost.comparison.work import CHOSEN_BY, Result, Task, Work


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Rankers on the test queries of the same folds; what `compare_rankers` returns.

    Attributes
    ----------
    values : Values
        One number for each query, ranker, measure, fold and seed: ``values.to_pandas()``, ``values.to_polars()``.
    work : Work
        What was trained, on what.
    searches : list of Result
        The candidates on the validation queries, where parameters were tuned.

    Examples
    --------
    >>> from gapboost.comparison import compare_rankers
    >>> from gapboost.datasets import load_digits_ranking
    >>> from sklearn.linear_model import Ridge
    >>> data = load_digits_ranking().test
    >>> rankers = {"one": Ridge(alpha=1.0), "other": Ridge(alpha=100.0)}
    >>> comparison = compare_rankers(data.X, data.y, data.qid, rankers, measures="map", seeds=1)
    >>> comparison.rankers, comparison.measures
    (['one', 'other'], ['map'])
    >>> sorted(comparison.summary("one")["ranker"])
    ['other']
    """

    values: Values
    work: Work
    searches: Sequence[Result]

    @property
    def rankers(self) -> list[str]:
        """Their names."""
        return list(self.work.rankers)

    @property
    def measures(self) -> list[str]:
        """Their names, as they were given."""
        return list(self.work.measures)

    def __repr__(self) -> str:
        n = sum(map(len, self.values.queries))
        return f"Comparison({len(self.rankers)} rankers, {n} test queries, {len(self.values.queries)} folds; best: {self.best})"

    def means(self) -> Any:
        """A pandas frame: the mean of each ranker by each measure over all test queries, and the seconds of a training."""
        columns: dict[str, Any] = {"ranker": self.rankers}
        for measure in self.measures:
            columns[measure] = [self.values.mean(ranker, measure) for ranker in self.rankers]
        return frame({**columns, "seconds": [self.values.seconds(ranker) for ranker in self.rankers]}, ["ranker"])

    def verdicts(self, baseline: str | None = None, confidence: float = 0.95) -> list[Verdict]:
        """What `summary` shows, as values."""
        probability(confidence, "confidence")
        if baseline is None:
            pairs = [(first, second) for second, first in combinations(self.rankers, 2)]
        else:
            one_of(baseline, "baseline", tuple(self.rankers))
            pairs = [(ranker, baseline) for ranker in self.rankers if ranker != baseline]
        of = self.values.of
        return verdicts(
            {
                (first, second, measure): list(zip(of(first, measure), of(second, measure), strict=True))
                for measure in self.measures
                for first, second in pairs
            },
            confidence,
        )

    def summary(self, baseline: str | None = None, confidence: float = 0.95) -> Any:
        """Which ranker is ahead of which.

        Parameters
        ----------
        baseline : str, optional
            The ranker beside which the others are put; None puts each beside each.
        confidence : float, default=0.95
            Of the intervals, and of all verdicts together.

        Returns
        -------
        pandas.DataFrame
            One row a pair and measure: the mean ``difference`` over the queries, ``low`` and ``high`` of its interval, ``p`` by
            Holm's correction for all rows, the ``verdict`` "ahead", "behind" or "cannot be told" by this p, the number of test
            ``queries``, and the ``queries needed`` to tell a true difference of this size in 80 % of comparisons.

        Raises
        ------
        ValueError
            Where there is no such ranker.

        Notes
        -----
        The interval is that of its row alone, so that it may leave out 0 where the verdict, which counts all rows, is "cannot be
        told". A fold is a cluster: Bell and McCaffrey's standard error and Satterthwaite's degrees of freedom. With one fold the
        queries are all there is, and the interval tells of these models, not of others trained alike.
        """
        found = self.verdicts(baseline, confidence)
        return frame(
            {
                "ranker": [v.ranker for v in found],
                "beside": [v.beside for v in found],
                "measure": [v.measure for v in found],
                "difference": [v.difference for v in found],
                "low": [v.interval[0] for v in found],
                "high": [v.interval[1] for v in found],
                "p": [v.p for v in found],
                "verdict": [v.told for v in found],
                "queries": [v.n_queries for v in found],
                "queries needed": [v.queries_needed for v in found],
            }
        )

    def plot(self, baseline: str | None = None, confidence: float = 0.95) -> Any:
        """The differences from one ranker with their intervals, a panel for each measure.

        Parameters
        ----------
        baseline : str, optional
            By default the first ranker.
        confidence : float, default=0.95

        Returns
        -------
        matplotlib Figure
        """
        return draw(self.verdicts(baseline or self.rankers[0], confidence), self.measures)

    def report(self, path: Any, baseline: str | None = None, confidence: float = 0.95) -> None:
        """Write the answer, its settings and the versions of all libraries.

        Parameters
        ----------
        path : path
            ``.html``: one file with pictures, readable offline, light and dark. ``.md``: Markdown, without pictures.
        baseline : str, optional
            By default the first ranker.
        confidence : float, default=0.95

        Raises
        ------
        ValueError
            Where the path ends otherwise.
        """
        path = Path(path)
        one_of(path.suffix, "the ending of path", (".html", ".md"))
        found = self.verdicts(baseline or self.rankers[0], confidence)
        Page(self.work, self.values, found, self.best).write(path)

    @property
    def best(self) -> str:
        """Name of the ranker with the highest mean by what chooses, or else by the first measure; no proof that it is best."""
        return max(self.rankers, key=lambda ranker: self.values.mean(ranker, self.work.best_by))

    @cached_property
    def best_(self) -> Any:
        """The `best` ranker trained on all queries, with seed 1.

        Where parameters were tuned, with those that did best over the validation queries of all folds. A ranker that stops early
        is trained on all but the validation queries of the first fold, which tell it when to stop.
        """
        split = self.work.splits[0]
        watched = self.work.documents.of(split.vali)
        everything = np.arange(len(self.work.documents.ids))
        train = np.setdiff1d(everything, split.vali) if self.work.watches(self.best) else everything
        task = Task(self.best, 0, 1, self._best_candidate())
        return self.work.trained(task, self.work.documents.of(train), watched)[0]

    def _best_candidate(self) -> int | None:
        """By the mean over the validation queries of all folds."""
        values: dict[int, list[float]] = {}
        for result in self.searches:
            if result.task.ranker == self.best and result.task.candidate is not None:
                values.setdefault(result.task.candidate, []).extend(result.values[CHOSEN_BY])
        return max(values, key=lambda number: float(np.mean(values[number])), default=None)
