"""Memory that calls write to: never shared by two calls at once, and kept for the next one."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

Memory = TypeVar("Memory")


class Scratch(Generic[Memory]):
    """Pieces of memory, kept between calls: as many as calls were ever under way at once.

    Fresh memory costs more than what is done with it, as each page of it faults at its first touch.

    Parameters
    ----------
    make : callable
        Makes one more piece.
    """

    def __init__(self, make: Callable[[], Memory]) -> None:
        self._make = make
        self._free: list[Memory] = []

    @contextmanager
    def lent(self) -> Iterator[Memory]:
        """A piece that no other call has."""
        # `pop` and `append` are atomic, so no call waits for another.
        try:
            memory = self._free.pop()
        except IndexError:
            memory = self._make()
        yield memory
        # Not after an error: after an interrupt a helper thread may still write to it.
        self._free.append(memory)
