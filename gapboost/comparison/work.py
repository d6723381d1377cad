"""One training of a comparison: which it is, and how it is done."""

import shlex
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gapboost._boosters.ranker import GAPRanker
from gapboost._data.grades import checked_grades
from gapboost.comparison.data import Collection, Part, Split
from gapboost.comparison.handing import copied, few_trees, fit, last_step, stops_early
from gapboost.evaluation import evaluate
from gapboost.measures import Measure

CHOSEN_BY = "choose_by"


@dataclass(frozen=True)
class Task:
    """One training: a ranker by name, a fold, a seed and, where parameters are tuned, the number of a candidate.

    In a `search` it is judged on the validation queries, otherwise on the test queries.
    """

    ranker: str
    fold: int
    seed: int
    candidate: int | None = None
    search: bool = False


@dataclass(frozen=True)
class Result:
    """What came of a training.

    Attributes
    ----------
    task : Task
    values : dict {measure: list of float}
        One value a test query, in the order of their numbers; of a candidate the validation queries' by what chooses.
    seconds : float
        Of `fit` alone.
    """

    task: Task
    values: dict[str, list[float]]
    seconds: float


@dataclass(frozen=True, eq=False)
class Work:
    """What all trainings of a comparison share; it is not changed while they run.

    Attributes
    ----------
    documents : Collection
    splits : list of Split
    rankers : dict {name: ranker}
    measures : dict {name: Measure}
        With nothing left to the data of a fold.
    choose_by : Measure
    candidates : dict {name: list of parameters}
        Empty where nothing is tuned.
    source : str
        Sentences about the files that were read; empty for data in memory.
    """

    documents: Collection
    splits: Sequence[Split]
    rankers: Mapping[str, Any]
    measures: Mapping[str, Measure]
    choose_by: Measure
    candidates: Mapping[str, Sequence[Mapping[str, Any]]]
    source: str = ""

    @property
    def best_by(self) -> str:
        """Name of the measure by whose mean a ranker is best: what chooses, where it is tested, or else the first."""
        named = {measure: name for name, measure in self.measures.items()}
        return named.get(self.choose_by, next(iter(self.measures)))

    def params(self, ranker: str, candidate: int | None) -> dict[str, Any]:
        """Parameters of a candidate; none where nothing is tuned."""
        return {} if candidate is None else dict(self.candidates[ranker][candidate])

    def watches(self, ranker: str) -> bool:
        """Whether its trainings look at validation queries."""
        return stops_early(self.rankers[ranker])

    def __call__(self, task: Task) -> Result:
        """Train, and judge on the queries that the task says."""
        split = self.splits[task.fold]
        try:
            return self._done(task, split)
        except Exception as error:
            error.add_note(f"in the training of {task}")
            raise

    def _done(self, task: Task, split: Split) -> Result:
        model, seconds = self.trained(task, self.documents.of(split.train), self.documents.of(split.vali))
        if task.search:
            return Result(task, values(model, self.documents.of(split.vali), {CHOSEN_BY: self.choose_by}), seconds)
        return Result(task, values(model, self.documents.of(split.test), self.measures), seconds)

    def trained(self, task: Task, train: Part, vali: Part) -> tuple[Any, float]:
        """A fitted copy of the ranker, and the seconds of its fit."""
        ranker = copied(self.rankers[task.ranker], self.params(task.ranker, task.candidate), task.seed)
        watched = vali if self.watches(task.ranker) else None
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # once a training: whoever wants to see them fits the ranker alone
            fitted = fit(ranker, train, watched)
        return fitted, time.perf_counter() - start


def values(model: Any, part: Part, measures: Mapping[str, Measure]) -> dict[str, list[float]]:
    """One value a query of each measure, by the model's scores."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = np.asarray(model.predict(part.X))
    by_measure = evaluate(list(measures.values()), part.y, scores, part.numbers, per_query=True, n_jobs=1)
    return {name: by_measure[measure].tolist() for name, measure in measures.items()}


def check_rankers(work: Work) -> None:
    """Refuse rankers that cannot take these data, before any is trained.

    Ours say it themselves: they are not tried on some of the queries, which may be too few for their parameters. Others are, with
    two trees where they grow trees, and are asked for scores: whatever they raise is told.

    Raises
    ------
    ValueError
        Naming all such rankers and what they said.
    """
    sample = _some_queries(work.documents)
    failed = {}
    for name in work.rankers:
        try:
            _try(work, name, sample)
        except Exception as error:
            first, *_ = str(error).splitlines() or [""]  # XGBoost's message goes on with a stack of calls
            failed[name] = f"{type(error).__name__}: {first[:300].rstrip(' ,')}"
    if failed:
        said = ", and ".join(f"{name!r}, which fails on these data ({words})" for name, words in failed.items())
        raise ValueError(
            f"rankers holds {said}; expected rankers that take these features and grades. leave_out={list(failed)}, of the "
            f"command --leave-out {shlex.join(failed)}, compares the others"
        )


def _try(work: Work, name: str, sample: Part) -> None:
    ranker = copied(work.rankers[name], work.params(name, 0 if name in work.candidates else None), 1)
    last = last_step(ranker)
    if isinstance(last, GAPRanker):
        checked_grades(work.documents.all.y, "y", last._request().limit, real=True)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fit(ranker.set_params(**few_trees(ranker)), sample, sample if work.watches(name) else None)
    values(model, sample, work.measures)


def _some_queries(documents: Collection) -> Part:
    """The query with the highest grade, one with a fractional grade, and 20 others or 1000 documents."""
    y, numbers, sizes = documents.all.y, documents.all.numbers, documents.all.sizes
    telling = numbers[[np.argmax(y), np.argmax(y != np.floor(y))]]
    first = max(20, int(np.searchsorted(np.cumsum(sizes), 1000)) + 1)
    return documents.of(np.union1d(telling, np.arange(min(first, len(sizes)))))
