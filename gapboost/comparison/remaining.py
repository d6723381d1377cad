"""Progress of a comparison with the time that the other trainings still take."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from gapboost._optional import progress_bar
from gapboost.comparison.run import ComparisonRun
from gapboost.comparison.training import RankerResult


class RemainingTime:
    """Estimate of the remaining time, from the seconds of finished trainings of each ranker.

    A ranker without a finished training counts as the mean of the others. Results of a checkpoint
    count by the seconds that they took when they were trained.

    Parameters
    ----------
    trainings : mapping {ranker: int}
        Number of trainings of each ranker, saved ones included.
    n_jobs : int
        Number of processes.
    """

    def __init__(self, trainings: Mapping[str, int], n_jobs: int) -> None:
        self._left = Counter(trainings)
        self._n_jobs = n_jobs
        self._finished: defaultdict[str, list[float]] = defaultdict(list)

    def finish(self, ranker: str, seconds: float) -> None:
        """Add a finished training."""
        self._left[ranker] -= 1
        self._finished[ranker].append(seconds)

    @property
    def seconds(self) -> float | None:
        """Seconds until the last training ends; None before the first one has ended."""
        means = {ranker: float(np.mean(seconds)) for ranker, seconds in self._finished.items()}
        if not means:
            return None
        other = float(np.mean(list(means.values())))
        costs = [(n, means.get(ranker, other)) for ranker, n in self._left.items() if n]
        # Processes share the trainings, but not one training.
        return max(
            sum(n * cost for n, cost in costs) / self._n_jobs,
            max((cost for _, cost in costs), default=0.0),
        )

    def __str__(self) -> str:
        """Text such as ``"12 min left"``, or ``""`` at the start and at the end."""
        if not self.seconds:
            return ""
        untimed = len(self._left.keys() - self._finished.keys())
        rankers = "ranker" if untimed == 1 else "rankers"
        return f"{duration(self.seconds)} left" + (
            f"; {untimed} {rankers} not timed yet" if untimed else ""
        )


def duration(seconds: float) -> str:
    """Return a duration in seconds, minutes or hours, such as ``"1 h 20 min"``."""
    if round(seconds) < 60:
        return f"{max(1, round(seconds))} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return " ".join([f"{hours} h"] * (hours > 0) + [f"{minutes} min"] * (minutes > 0))


@contextmanager
def progress_of(
    run: ComparisonRun, shown: bool | None, label: str
) -> Iterator[Callable[[RankerResult], str]]:
    """Yield a function that takes each result, advances a bar, and returns the time left."""
    remaining = RemainingTime(
        Counter(task.ranker for task in (*run.searches, *run.tests)), run.settings.n_jobs
    )
    with progress_bar(run.total, shown, label, own_time=True) as advance:

        def finish(result: RankerResult) -> str:
            remaining.finish(result.task.ranker, result.fit_seconds)
            left = str(remaining)
            advance(1, left)
            return left

        yield finish
