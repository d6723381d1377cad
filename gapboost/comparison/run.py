"""All trainings of a comparison: over processes, past those that are saved, and shared with other processes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from gapboost._processes import over_processes
from gapboost.comparison.checkpoint import Checkpoint
from gapboost.comparison.handing import takes_seed
from gapboost.comparison.work import CHOSEN_BY, Result, Task, Work


@dataclass(frozen=True, eq=False)
class Run:
    """What is to be trained, and where.

    Attributes
    ----------
    work : Work
    seeds : int
        Models of a ranker on a fold; one where a ranker takes no seed.
    checkpoint : Checkpoint or None
    processes : int
    """

    work: Work
    seeds: int
    checkpoint: Checkpoint | None
    processes: int

    @property
    def searches(self) -> list[Task]:
        """The trainings that choose parameters, each with the first seed."""
        candidates = self.work.candidates
        return [
            Task(name, fold, 1, number, search=True)
            for fold in range(len(self.work.splits))
            for name in candidates
            for number in range(len(candidates[name]))
        ]

    @property
    def tests(self) -> list[Task]:
        """The trainings that are tested, fold by fold; which candidate is not said."""
        seeds = {name: self.seeds if takes_seed(ranker) else 1 for name, ranker in self.work.rankers.items()}
        return [
            Task(name, fold, seed)
            for fold in range(len(self.work.splits))
            for name in self.work.rankers
            for seed in range(1, seeds[name] + 1)
        ]

    @property
    def total(self) -> int:
        """Number of trainings."""
        return len(self.searches) + len(self.tests)

    def results(self, seen: Callable[[Result], object]) -> tuple[list[Result], list[Result]]:
        """Those of the searches and those of the tests, each in order; `seen` is shown each as it comes."""
        searched = self._finished(self.searches, seen)
        best = best_candidates(searched)
        tests = [Task(t.ranker, t.fold, t.seed, best.get((t.ranker, t.fold))) for t in self.tests]
        return searched, self._finished(tests, seen)

    def _finished(self, tasks: Sequence[Task], seen: Callable[[Result], object]) -> list[Result]:
        results: dict[Task, Result] = {}
        for result in self._as_they_come(tasks):
            results[result.task] = result
            seen(result)
        return [results[task] for task in tasks]

    def _as_they_come(self, tasks: Sequence[Task]) -> Iterator[Result]:
        if self.checkpoint is None:
            yield from over_processes(self.work, tasks, self.processes)
            return
        left = []
        for task in tasks:
            saved = self.checkpoint.saved(task)
            if saved is None:
                left.append(task)
            else:
                yield saved
        taken = []
        own = partial(self.checkpoint.finish, train=self.work, wait=False)
        for task, result in zip(left, over_processes(own, left, self.processes), strict=True):
            if result is None:
                taken.append(task)
            else:
                yield result
        # What another process was at: it is done by now, or soon, or that process is gone.
        others = partial(self.checkpoint.finish, train=self.work, wait=True)
        for result in over_processes(others, taken, self.processes):
            if result is not None:
                yield result


def best_candidates(searched: Sequence[Result]) -> dict[tuple[str, int], int]:
    """The number of the best candidate of each ranker on each fold: the highest mean on the validation queries."""
    means: dict[tuple[str, int], list[float]] = {}
    for result in searched:  # candidates in the order of their numbers
        means.setdefault((result.task.ranker, result.task.fold), []).append(float(np.mean(result.values[CHOSEN_BY])))
    return {key: int(np.argmax(values)) for key, values in means.items()}
