"""The one way functions of this room are compiled, and kept on disk."""

import logging
import time
from collections.abc import Callable, Iterator
from hashlib import blake2b
from importlib.resources import files
from typing import Any, TypeVar, cast

import numba
from numba import config
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache

Function = TypeVar("Function", bound=Callable[..., Any])

# Seconds of compilation after which a user wonders what is going on.
PATIENCE = 3.0

SLOW = (
    "compiling for this processor: up to 10 s for a first fit, 20 s for everything, once, as the result is kept on disk; "
    "python -m gapboost.warmup does it beforehand"
)
BROKEN = "compiled code on disk cannot be read (%s: %r); it is compiled anew and broken files are replaced"
UNKEPT = (
    "compiled code cannot be kept on disk (%s), and every process compiles it anew, which takes some seconds; expected "
    "a folder that can be written: set NUMBA_CACHE_DIR to one"
)


def kernel(function: Function) -> Function:
    """Compile on first call, cache on disk, release the GIL; division by zero gives inf or nan as in numpy."""
    # Without the explicit False, numba compiles a function with the fastmath of whichever caller needs it first.
    return _compiled(function, False)


def summing_kernel(function: Function) -> Function:
    """As `kernel`, but sums may be reordered (the same way in every run) so that they use vector registers."""
    return _compiled(function, {"reassoc", "contract", "nsz"})


def _compiled(function: Function, fastmath: Any) -> Function:
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    dispatcher: Any = numba.njit(nogil=True, error_model="numpy", fastmath=fastmath)(function)
    # As numba's `cache=True` does, with a cache of our own.
    dispatcher._cache = _cache_of(function)
    return cast(Function, dispatcher)


def _cache_of(function: Function) -> Any:
    try:
        return KernelCache(function)
    # numba raises RuntimeError where it finds no folder; whatever it is, an import does not fail for it.
    except Exception as error:
        return NoCache(error)


def _sources(folder: Any) -> Iterator[bytes]:
    for entry in sorted(folder.iterdir(), key=lambda entry: str(entry.name)):
        if entry.name.endswith(".py"):
            yield entry.read_bytes()
        elif entry.name != "__pycache__" and entry.is_dir():
            yield from _sources(entry)


# A compiled function holds the code of all that it calls, in whichever files these are.
SOURCES = blake2b(b"\0".join(_sources(files(__package__))), digest_size=16).hexdigest()


class KernelFile(IndexDataCacheFile):
    """The files that keep one function, for each combination of types.

    Processes write the index and what it names one after the other: a name may lead to what another process has written
    meanwhile: from other sources, by another numba, for other types. So each entry says what it is.
    """

    def load(self, key: Any) -> Any:
        """What was saved under `key`; None where that is missing, stale or broken."""
        entry = super().load(key)  # type: ignore[no-untyped-call]
        return entry[2] if entry is not None and entry[:2] == (self._source_stamp, key) else None

    def save(self, key: Any, data: Any) -> None:
        """Save `data` under `key`."""
        super().save(key, (self._source_stamp, key, data))  # type: ignore[no-untyped-call]

    def _load_index(self) -> Any:
        return self._read(super()._load_index, self._index_path) or {}

    def _load_data(self, name: str) -> Any:
        return self._read(lambda: super(KernelFile, self)._load_data(name), self._data_path(name))  # type: ignore[no-untyped-call]

    @staticmethod
    def _read(load: Callable[[], Any], path: str) -> Any:
        try:
            return load()
        except FileNotFoundError:
            return None
        # Unpickling raises whatever the bytes happen to lead to.
        except Exception as error:
            once(BROKEN, path, error)
            return None


class KernelCache(FunctionCache):
    """numba's cache, for functions that call those of other files, and for disks that are full or broken."""

    # Whether anything has been kept yet.
    kept = False

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        stamp = numba.__version__, self._impl.locator.get_source_stamp(), SOURCES
        self._cache_file = KernelFile(self._cache_path, self._impl.filename_base, stamp)  # type: ignore[no-untyped-call]

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, where that is possible."""
        try:
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
            KernelCache.kept = True
        except OSError as error:
            once(UNKEPT, error)


class NoCache(NullCache):
    """Where no folder can be written: everything is compiled in memory."""

    def __init__(self, reason: Exception) -> None:
        self.reason = reason

    def save_overload(self, sig: Any, data: Any) -> None:
        """Say that nothing is kept."""
        once(UNKEPT, self.reason)


_said: set[str] = set()


def once(message: str, *found: Any) -> None:
    """Say something once in a process."""
    if message not in _said:
        _said.add(message)
        logging.getLogger("gapboost").warning(message, *found)


class Announcement(event.Listener):
    """Says that kernels are being compiled, when that takes longer than `PATIENCE`, and nothing else has said so.

    Loading from the cache on disk is no compilation. Compilations nest: the time of the outermost ones counts.
    """

    def __init__(self) -> None:
        self.nested = 0
        self.begun = 0.0
        self.spent = 0.0

    def on_start(self, event: Any) -> None:
        """One more function begins to compile."""
        if not self._ours(event):
            return
        if self.nested == 0:
            self.begun = time.monotonic()
        self.nested += 1
        if KernelCache.kept and not _said and self.spent + time.monotonic() - self.begun >= PATIENCE:
            once(SLOW)

    def on_end(self, event: Any) -> None:
        """One of them is done."""
        if not self._ours(event):
            return
        self.nested -= 1
        if self.nested == 0:
            self.spent += time.monotonic() - self.begun

    @staticmethod
    def _ours(event: Any) -> bool:
        return str(event.data["dispatcher"].py_func.__module__).startswith("gapboost.")


event.register("numba:compile", Announcement())  # type: ignore[no-untyped-call]
