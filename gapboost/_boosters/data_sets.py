"""What callbacks remember of the data sets that a booster passes."""

import weakref
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from gapboost._kernels import Array

State = TypeVar("State")


class AllWorkers(NamedTuple):
    """The data set that a worker of a communicator holds a part of.

    Attributes
    ----------
    grades : tuple of float
        As `occurring_grades` has them.
    earlier : int
        Rows of the workers of lower ranks.
    n_rows, n_queries : int
    weighted_size : float
        Mean number of documents a query, by the weights of the queries.
    """

    grades: tuple[float, ...]
    earlier: int
    n_rows: int
    n_queries: int
    weighted_size: float

    @property
    def occurring(self) -> Array:
        """The grades as an array."""
        return np.array(self.grades)


# Labels, group sizes and weights as a booster's data set holds them; and, where it is one worker's part of a data set, what is
# known of the whole.
Content = tuple[Array, Array, Array | None, AllWorkers | None]


class PerDataSet(Generic[State]):
    """One state for each data set that a booster passes: built when it is first seen, gone when the data set is.

    Threads that see a data set first at the same time build equal states, of which one stays: no lock is held meanwhile.
    """

    def __init__(self, build: Callable[[Array, Array, Array | None, AllWorkers | None], State]) -> None:
        self._build = build
        self._entries: dict[int, tuple[weakref.ref[Any], Content, State]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __call__(self, owner: Any, content: Content) -> State:
        """The state of the data set `owner`, which now has this content."""
        key = id(owner)
        entry = self._entries.get(key)
        # A data set can get new labels between trainings. XGBoost copies them at every call, so identity tells nothing.
        if entry is not None and entry[1][3] == content[3] and all(map(_same, entry[1][:3], content[:3])):
            return entry[2]
        if content[0] is owner:
            # LGBMRanker shows its array of labels in place of a data set: kept in its own entry, it would never go.
            content = (owner.copy(), *content[1:])
        state = self._build(*content)
        # Only the dictionary is captured: the callback dies with the weak reference.
        entries = self._entries
        entries[key] = (weakref.ref(owner, lambda _: entries.pop(key, None)), content, state)
        return state


def _same(a: Array | None, b: Array | None) -> bool:
    return a is b or (a is not None and b is not None and np.array_equal(a, b))
