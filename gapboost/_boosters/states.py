"""Cache of results that callbacks compute once for each data set of a booster."""

import weakref
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from gapboost._data.summary import DataSummary
from gapboost._kernels import Array

State = TypeVar("State")


class WorkerShare(NamedTuple):
    """Summary of a distributed data set, and the offset of one worker's rows in it.

    Attributes
    ----------
    summary : DataSummary
        Summary of the rows of all workers.
    earlier : int
        Number of rows of the workers with lower ranks.
    """

    summary: DataSummary
    earlier: int


# Labels, group sizes and weights as a booster's data set holds them; and, where it is one worker's
# part of a data set, what is known of the whole.
Content = tuple[Array, Array, Array | None, WorkerShare | None]


class PerDataSet(Generic[State]):
    """Cache of one state per data set, through a weak reference.

    No lock is held while a state is built. Threads that need it at the same time build equal
    states, and one of them is kept.
    """

    def __init__(
        self, build: Callable[[Array, Array, Array | None, WorkerShare | None], State]
    ) -> None:
        self._build = build
        self._entries: dict[int, tuple[weakref.ref[Any], Content, State]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __call__(self, owner: Any, content: Content) -> State:
        """Return the state of the data set `owner`, which now has this content."""
        key = id(owner)
        entry = self._entries.get(key)
        # A data set can get new labels between trainings. XGBoost copies them at every call, so
        # identity tells nothing.
        if (
            entry is not None
            and entry[1][3] == content[3]
            and all(map(_same, entry[1][:3], content[:3]))
        ):
            return entry[2]
        if content[0] is owner:
            # LGBMRanker shows its array of labels in place of a data set: kept in its own entry, it
            # would never go.
            content = (owner.copy(), *content[1:])
        state = self._build(*content)
        # Only the dictionary is captured: the callback dies with the weak reference.
        entries = self._entries
        entries[key] = (weakref.ref(owner, lambda _: entries.pop(key, None)), content, state)
        return state


def _same(a: Array | None, b: Array | None) -> bool:
    return a is b or (a is not None and b is not None and np.array_equal(a, b))
