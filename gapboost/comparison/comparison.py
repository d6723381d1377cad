"""Result of a comparison: values, means, verdicts, and the best ranker trained on all queries."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from gapboost._data.arguments import one_of, probability
from gapboost._latex import latex_table
from gapboost._optional import frame
from gapboost._pages.page import checked_path
from gapboost.comparison.picture import draw
from gapboost.comparison.report import ComparisonPage
from gapboost.comparison.training import CHOSEN_BY, RankerResult, RankerTraining, Trainer
from gapboost.comparison.values import Values
from gapboost.comparison.verdicts import Verdict, verdicts


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Result of `compare_rankers`: rankers on the same test queries.

    Attributes
    ----------
    values : Values
        One number for each query, ranker, measure and repeat: ``values.to_pandas()``,
        ``values.to_polars()``.
    training : Trainer
        Data, splits, rankers and measures.
    searches : list of RankerResult
        Values of the candidates on the validation queries; empty without tuning.

    Examples
    --------
    >>> from gapboost.comparison import compare_rankers
    >>> from gapboost.datasets import load_digits_ranking
    >>> from sklearn.linear_model import Ridge
    >>> data = load_digits_ranking().test
    >>> rankers = {"one": Ridge(alpha=1.0), "other": Ridge(alpha=100.0)}
    >>> comparison = compare_rankers(data.X, data.y, data.qid, rankers, measures="map", repeats=1)
    >>> comparison.rankers, comparison.measures
    (['one', 'other'], ['map'])
    >>> sorted(comparison.summary("one")["ranker"])
    ['other']
    """

    values: Values
    training: Trainer
    searches: Sequence[RankerResult]

    @property
    def rankers(self) -> list[str]:
        """Names of the rankers."""
        return list(self.training.rankers)

    @property
    def measures(self) -> list[str]:
        """Names of the measures, as the caller gave them."""
        return list(self.training.measures)

    def __repr__(self) -> str:
        return (
            f"Comparison({len(self.rankers)} rankers, {self.values.n_queries} test queries; best: "
            f"{self.best})"
        )

    def means(self) -> Any:
        """Return the mean of each ranker by each measure, and its costs, as a pandas data frame.

        ``fit seconds`` are those of a training, ``predict ms`` the milliseconds for 1,000
        documents.
        """
        columns: dict[str, Any] = {"ranker": self.rankers}
        for measure in self.measures:
            columns[measure] = [self.values.mean(ranker, measure) for ranker in self.rankers]
        columns["fit seconds"] = [self.values.fit_seconds(ranker) for ranker in self.rankers]
        columns["predict ms"] = [
            self.values.predict_milliseconds(ranker) for ranker in self.rankers
        ]
        return frame(columns, ["ranker"])

    def verdicts(self, baseline: str | None = None, confidence: float = 0.95) -> list[Verdict]:
        """Return the rows of `summary` as a list of verdicts."""
        probability(confidence, "confidence")
        if baseline is None:
            pairs = [(first, second) for second, first in combinations(self.rankers, 2)]
        else:
            one_of(baseline, "baseline", tuple(self.rankers))
            pairs = [(ranker, baseline) for ranker in self.rankers if ranker != baseline]
        of = self.values.of
        return verdicts(
            {
                (first, second, measure): list(
                    zip(of(first, measure), of(second, measure), strict=True)
                )
                for measure in self.measures
                for first, second in pairs
            },
            [split.test for split in self.training.splits],
            confidence,
        )

    def summary(self, baseline: str | None = None, confidence: float = 0.95) -> Any:
        """Return the differences between rankers, with intervals and verdicts.

        Parameters
        ----------
        baseline : str, optional
            The ranker that the others are compared with. None compares every pair.
        confidence : float, default=0.95
            Confidence of all intervals of a measure together.

        Returns
        -------
        pandas.DataFrame
            One row for each pair and measure: the mean ``difference`` over the queries, ``low`` and
            ``high`` of its interval, the corrected ``p``, the ``verdict``, the number of test
            ``queries``, the true difference that is ``detectable`` in 80 % of comparisons, and the
            ``queries needed`` to detect the difference that was seen.

        Raises
        ------
        ValueError
            If there is no such ranker.

        Notes
        -----
        The verdict is "ahead" if the interval is above 0, "behind" if it is below 0, and else
        "inconclusive". The rows of one measure are a family: their intervals hold together, by
        Bonferroni's correction. With a number of folds, errors count queries and models, as two-way
        clusters; the degrees of freedom are the number of models of a ranker less 1. With given
        folds each fold is a cluster: Bell and McCaffrey's standard error, Satterthwaite's degrees
        of freedom. With one given fold, intervals count queries only, and hold for the models that
        were trained, not for others that are trained alike.
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
                "verdict": [v.verdict for v in found],
                "queries": [v.n_queries for v in found],
                "detectable": [v.detectable for v in found],
                "queries needed": [v.queries_needed for v in found],
            }
        )

    def to_latex(
        self, baseline: str | None = None, confidence: float = 0.95, digits: int = 3
    ) -> str:
        r"""Return `summary` up to its verdicts as a LaTeX table.

        The document needs ``\usepackage{booktabs}``.

        Parameters
        ----------
        baseline : str, optional
        confidence : float, default=0.95
            Both as in `summary`.
        digits : int, default=3
            Decimals of numbers. Text is escaped.
        """
        return latex_table(self.summary(baseline, confidence).loc[:, :"verdict"], digits)

    def plot(self, baseline: str | None = None, confidence: float = 0.95) -> Any:
        """Plot the differences from one ranker with their intervals, one panel for each measure.

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
        """Write a report: decision, differences, means, settings and versions of libraries.

        Parameters
        ----------
        path : path
            ``.html``: one file with pictures, readable offline, light and dark. ``.md``: Markdown,
            without pictures.
        baseline : str, optional
            By default the first ranker.
        confidence : float, default=0.95

        Raises
        ------
        ValueError
            If the path has another ending.
        """
        path = checked_path(path)
        found = self.verdicts(baseline or self.rankers[0], confidence)
        ComparisonPage(self.training, self.values, found, self.best).write(path)

    @property
    def best(self) -> str:
        """Name of the ranker with the highest mean by `choose_by`, or by the first measure.

        `choose_by` counts if it is tested.
        """
        return max(self.rankers, key=lambda ranker: self.values.mean(ranker, self.training.best_by))

    @cached_property
    def best_(self) -> Any:
        """The `best` ranker trained on all queries, with seed 1.

        After tuning, its parameters are those with the highest mean over the validation queries of
        all splits. A ranker that stops early does not train on the validation queries of the first
        split, which it needs to stop.
        """
        split = self.training.splits[0]
        documents = self.training.documents
        train = np.arange(len(documents.ids))
        if self.training.needs_validation(self.best):
            train = np.setdiff1d(train, split.vali)
        task = RankerTraining(self.best, 0, 1, self._best_candidate())
        return self.training.train(task, documents.select(train), documents.select(split.vali))[0]

    def _best_candidate(self) -> int | None:
        """Return the best candidate on the validation queries of all splits; None if not tuned."""
        values: dict[int, list[float]] = {}
        for result in self.searches:
            if result.task.ranker == self.best and result.task.candidate is not None:
                values.setdefault(result.task.candidate, []).extend(result.values[CHOSEN_BY])
        return max(values, key=lambda number: float(np.mean(values[number])), default=None)
