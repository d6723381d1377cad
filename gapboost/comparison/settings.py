"""Settings of a comparison: the parameters of `compare_rankers` without the data, checked."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import joblib

from gapboost._data.arguments import one_of, whole
from gapboost._kernels.parallel.chunks import resolve_n_jobs
from gapboost.comparison.estimators import has_early_stopping
from gapboost.comparison.rankers import checked_rankers
from gapboost.comparison.spaces import draw_candidates
from gapboost.comparison.trees import check_trees
from gapboost.measures import Measure, Measures, as_measure, as_measures

DEFAULT_MEASURES = ("gap", "ndcg@10", "map")


@dataclass(frozen=True, kw_only=True, eq=False)
class ComparisonSettings:
    """Parameters of `compare_rankers` without the data, checked when they are constructed.

    `compare_rankers` describes them. These attributes differ from the parameters:

    Attributes
    ----------
    rankers : dict {name: ranker}
        Without the rankers that `leave_out` names.
    measures : dict {name: Measure}
        Under the names that the caller gave; `g` may still be None.
    choose_by : Measure
    n_jobs : int
        Number of processes.
    candidates : dict {name: list of parameters}
        Drawn from `spaces`; empty without `tune`.
    source : str
        Sentences of the report about the files that were read; empty for data in memory.

    Raises
    ------
    ValueError, TypeError
        If a parameter is unusable.
    """

    rankers: Any = None
    measures: Any = DEFAULT_MEASURES
    cv: Any = 5
    repeats: int = 3
    tune: int | None = None
    choose_trees: bool = False
    choose_by: Any = None
    spaces: Any = None
    leave_out: Sequence[str] = ()
    shuffle: bool = True
    checkpoint: Any = None
    n_jobs: Any = None
    progress: bool | None = None
    source: str = ""
    candidates: dict[str, list[dict[str, Any]]] = field(init=False)

    def __post_init__(self) -> None:
        rankers = checked_rankers(self.rankers, self.leave_out)
        measures = _measures_by_name(self.measures)
        first = next(iter(measures.values()))
        choose_by = (
            first if self.choose_by is None else as_measure(self.choose_by, None, "choose_by")
        )
        whole(self.repeats, "repeats")
        one_of(self.shuffle, "shuffle", (True, False))
        resolve_n_jobs(self.n_jobs)
        n_jobs = joblib.effective_n_jobs(self.n_jobs)
        if one_of(self.choose_trees, "choose_trees", (True, False)):
            check_trees(rankers)
        candidates = draw_candidates(rankers, self.tune, self.spaces)
        one_of(self.progress, "progress", (True, False, None))
        # A frozen class refuses assignments.
        vars(self).update(
            rankers=rankers,
            measures=measures,
            choose_by=choose_by,
            n_jobs=n_jobs,
            candidates=candidates,
        )

    @property
    def needs_validation(self) -> bool:
        """True if parameters are tuned, trees are chosen, or a ranker stops early."""
        return (
            bool(self.candidates)
            or self.choose_trees
            or any(map(has_early_stopping, self.rankers.values()))
        )


def _measures_by_name(measures: Measures) -> dict[str, Measure]:
    """Return the measures under the names that the caller gave, one or more, each once."""
    values = as_measures(measures)
    given = [measures] if isinstance(measures, str | Measure) else list(measures)
    if not values or len(set(values)) < len(values):
        raise ValueError(f"measures is {measures!r}; expected one or more measures, each once")
    return {str(name): value for name, value in zip(given, values, strict=True)}
