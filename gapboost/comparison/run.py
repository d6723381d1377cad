"""All trainings of a comparison, in several processes; finished ones come from the checkpoint."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gapboost._data.columns import raveled
from gapboost._processes import over_processes
from gapboost.comparison.checkpoint import Checkpoint, recorded
from gapboost.comparison.comparison import Comparison
from gapboost.comparison.data import documents, splits
from gapboost.comparison.estimators import takes_seed
from gapboost.comparison.settings import ComparisonSettings
from gapboost.comparison.training import (
    CHOSEN_BY,
    RankerResult,
    RankerTraining,
    Trainer,
    try_rankers,
)
from gapboost.comparison.values import Values


@dataclass(frozen=True, eq=False)
class ComparisonRun:
    """Trainings of a comparison whose settings and data are checked.

    Attributes
    ----------
    training : Trainer
    settings : ComparisonSettings
    checkpoint : Checkpoint or None
    """

    training: Trainer
    settings: ComparisonSettings
    checkpoint: Checkpoint | None

    @property
    def searches(self) -> list[RankerTraining]:
        """Trainings that choose parameters, once for each split."""
        candidates = self.settings.candidates
        return [
            RankerTraining(name, number, split.repeats[0], candidate, search=True)
            for number, split in enumerate(self.training.splits)
            for name in candidates
            for candidate in range(len(candidates[name]))
        ]

    @property
    def tests(self) -> list[RankerTraining]:
        """Trainings that are tested, split by split; the candidate is open.

        A ranker without a seed would train the same model in each repeat of one split.
        """
        return [
            RankerTraining(name, number, repeat)
            for number, split in enumerate(self.training.splits)
            for name, ranker in self.settings.rankers.items()
            for repeat in (split.repeats if takes_seed(ranker) else split.repeats[:1])
        ]

    @property
    def total(self) -> int:
        """Number of trainings."""
        return len(self.searches) + len(self.tests)

    def compare(self, on_result: Callable[[RankerResult], object]) -> Comparison:
        """Train, and return the comparison; `on_result` gets each result, saved ones too."""
        searches = self._results(self.searches, on_result)
        best = best_candidates(searches)
        tests = [
            replace(task, candidate=best.get((task.ranker, task.split))) for task in self.tests
        ]
        values = Values(
            self._results(tests, on_result), self.training.splits, self.training.documents.ids
        )
        return Comparison(values, self.training, searches)

    def _results(
        self, tasks: Sequence[RankerTraining], on_result: Callable[[RankerResult], object]
    ) -> list[RankerResult]:
        """Return the results in the order of the tasks."""
        results: dict[RankerTraining, RankerResult] = {}
        for result in self._finish(tasks):
            results[result.task] = result
            on_result(result)
        return [results[task] for task in tasks]

    def _finish(self, tasks: Sequence[RankerTraining]) -> Iterator[RankerResult]:
        """Yield saved results, then new ones, then results of other processes."""
        n = self.settings.n_jobs
        if self.checkpoint is None:
            yield from over_processes(self.training, tasks, n)
            return
        finish = partial(self.checkpoint.finish, train=self.training)
        steps = (
            (self.checkpoint.saved, 1),
            (partial(finish, wait=False), n),
            (partial(finish, wait=True), n),
        )
        for step, n_processes in steps:
            left = []
            for task, result in zip(tasks, over_processes(step, tasks, n_processes), strict=True):
                if result is None:
                    left.append(task)
                else:
                    yield result
            tasks = left


def prepare_run(
    settings: ComparisonSettings, X: Any, y: Any, qid: Any = None, group: Any = None
) -> ComparisonRun:
    """Check data, folds, rankers and checkpoint, before the first training.

    Raises
    ------
    ValueError, TypeError
        If the data are unusable, or do not fit the settings or the checkpoint.
    """
    (y,) = raveled({"y": y})
    docs, queries = documents(X, y, qid, group, settings)
    folds = splits(queries, settings, X, y)
    measures = {name: measure.resolved(docs.grades) for name, measure in settings.measures.items()}
    choose_by = settings.choose_by.resolved(docs.grades)
    training = Trainer(
        docs,
        folds,
        settings.rankers,
        measures,
        choose_by,
        settings.candidates,
        settings.source,
        settings.choose_trees,
    )
    try_rankers(training)
    checkpoint = None
    if settings.checkpoint is not None:
        checkpoint = Checkpoint(Path(settings.checkpoint), recorded(training))
        checkpoint.open()
    return ComparisonRun(training, settings, checkpoint)


def best_candidates(searches: Sequence[RankerResult]) -> dict[tuple[str, int], int]:
    """Return the number of the candidate with the highest mean, for each ranker and split."""
    means: dict[tuple[str, int], list[float]] = {}
    for result in searches:  # candidates in the order of their numbers
        means.setdefault((result.task.ranker, result.task.split), []).append(
            float(np.mean(result.values[CHOSEN_BY]))
        )
    return {key: int(np.argmax(values)) for key, values in means.items()}
