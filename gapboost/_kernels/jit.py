"""Compilation of kernels, and a cache of compiled code on disk."""

import logging
import os
import pickle
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar, cast
from uuid import uuid4

import numba
from numba import config
from numba.core import event
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

Function = TypeVar("Function", bound=Callable[..., Any])

# Bytes of each digest.
DIGEST_SIZE = 16

# Seconds of compilation after which a user wonders what is going on.
PATIENCE = 3.0

COMPILING = (
    "compiling for this processor: up to 10 s for a first fit, 20 s for everything; the result is "
    "kept on disk (%s, ...) for every process that can read it there; python -m gapboost.warmup "
    "does it beforehand, when an image is built for instance"
)
BROKEN = "compiled code on disk cannot be read (%s: %r); it is compiled anew"
UNKEPT = (
    "compiled code cannot be kept on disk (%s), and every process compiles it anew, which takes "
    "some seconds; expected what python -m gapboost.warmup keeps on this kind of processor, or a "
    "folder that can be written: set NUMBA_CACHE_DIR to one"
)


def kernel(function: Function) -> Function:
    """Compile on first call, cache on disk, release the GIL; divide by zero as numpy does."""
    # Without the explicit False, numba compiles a function with the fastmath of whichever caller
    # needs it first.
    return _compiled(function, False)


def summing_kernel(function: Function) -> Function:
    """Compile as `kernel` does, but let sums be reordered so that they use vector registers.

    The order is the same in every run.
    """
    return _compiled(function, {"reassoc", "contract", "nsz"})


def _compiled(function: Function, fastmath: Any) -> Function:
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    dispatcher: Any = numba.njit(nogil=True, error_model="numpy", fastmath=fastmath)(function)
    # As numba's `cache=True` does, with a cache of our own.
    dispatcher._cache = KernelCache(function)
    return cast(Function, dispatcher)


def _sources(folder: Any) -> Iterator[bytes]:
    for entry in sorted(folder.iterdir(), key=lambda entry: str(entry.name)):
        if entry.name.endswith(".py"):
            yield entry.read_bytes()
        elif entry.name != "__pycache__" and entry.is_dir():
            yield from _sources(entry)


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=DIGEST_SIZE).digest()


def _fingerprint(sources: list[bytes]) -> str:
    return _digest(b"\0".join(sources)).hex()


def _fingerprint_of_room() -> str | None:
    """Return a digest of the kernels' sources; None if the sources are not available."""
    try:
        sources = list(_sources(files(__package__)))
    except OSError:
        return None
    return _fingerprint(sources) if sources else None


# A compiled function holds the code of all that it calls, in whichever files these are.
SOURCES = _fingerprint_of_room()


def _folders(source: str) -> Iterator[str]:
    """Yield the folders that may hold code compiled from the file `source`, best first.

    numba itself would use the same folders.
    """
    folder = os.path.dirname(source)
    below = f"{os.path.basename(folder)}_{_fingerprint([folder.encode()])}"
    if config.CACHE_DIR:  # type: ignore[attr-defined]
        yield os.path.join(config.CACHE_DIR, below)  # type: ignore[attr-defined]
    yield os.path.join(folder, "__pycache__")
    folders = AppDirs(appname="numba", appauthor=False)  # type: ignore[no-untyped-call]
    users = folders.user_cache_dir
    # Without a known home directory the path is "~/.cache", relative to the current folder.
    if os.path.isabs(users):
        yield os.path.join(users, below)


class KernelCache(NullCache):
    """Compiled code of one function on disk, one file for each combination of types and processor.

    numba's own cache uses only the first folder that can be written. In a container this folder
    is often empty or missing, although another user has compiled the code next to the package.
    This cache reads every folder, and writes to the first that accepts a file. Each file records
    its sources, the version of numba, the types and the processor. It begins with digests of its
    stamp and of its content, because damaged code can end the process.
    """

    # Where the first file was kept in this process.
    kept: str | None = None

    # Whether some file could be kept nowhere.
    failed = False

    def __init__(self, function: Callable[..., Any]) -> None:
        self._source = os.path.abspath(function.__code__.co_filename)
        tag = f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}"
        name = function.__qualname__.replace("<", "").replace(">", "")
        self._name = f"{Path(self._source).stem}.{name}-{function.__code__.co_firstlineno}.{tag}"
        # The tests compile functions of their own.
        ours = function.__module__.startswith(f"{__package__}.")
        own = "" if ours else _fingerprint([Path(self._source).read_bytes()])
        self.stamp = numba.__version__, SOURCES, own

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load the compiled code for a signature; None if it is not on disk."""
        target_context.refresh()
        compiled = self.load((sig, target_context.codegen().magic_tuple()))
        if compiled is None:
            return None
        return CompileResult._rebuild(target_context, *compiled)  # type: ignore[no-untyped-call]

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled for a signature, where that is possible."""
        # Otherwise it holds addresses in this process.
        if not data.library.has_dynamic_globals:
            self.save((sig, data.codegen.magic_tuple()), data._reduce())

    def load(self, key: tuple[Any, Any]) -> Any:
        """Load what was saved for types and a processor; None if it is missing, stale or broken."""
        for path in self._paths(key):
            # Not `open` and FileNotFoundError: this user may be refused a look into the folder of
            # another.
            if not os.path.exists(path):
                continue
            try:
                content = Path(path).read_bytes()
                if len(content) < 2 * DIGEST_SIZE:
                    raise ValueError("the file is too short")
                # First the stamp alone: what another numba has written may not be readable.
                if content[:DIGEST_SIZE] == _digest(repr(self.stamp).encode()):
                    pickled = content[2 * DIGEST_SIZE :]
                    if content[DIGEST_SIZE : 2 * DIGEST_SIZE] != _digest(pickled):
                        raise ValueError("the checksum is wrong")
                    saved_for, compiled = pickle.loads(pickled)
                    if saved_for == key:
                        return compiled
            # Unpickling raises whatever the bytes happen to lead to.
            except Exception as error:
                once(BROKEN, path, error)
        return None

    def save(self, key: tuple[Any, Any], compiled: Any) -> None:
        """Save what can be pickled, for types and a processor, in the first writable folder."""
        pickled = dumps((key, compiled))  # type: ignore[no-untyped-call]
        content = _digest(repr(self.stamp).encode()) + _digest(pickled) + pickled
        reasons: list[Any] = []
        for path in self._paths(key):
            try:
                _write(path, content)
            except OSError as error:
                reasons.append(error)
            else:
                KernelCache.kept = KernelCache.kept or os.path.dirname(path)
                return
        KernelCache.failed = True
        once(UNKEPT, reasons[0] if reasons else "the sources of gapboost are not there")

    def _paths(self, key: tuple[Any, Any]) -> Iterator[str]:
        if SOURCES is not None:
            name = f"{self._name}-{_fingerprint([repr(key).encode()])}.nbc"
            for folder in _folders(self._source):
                yield os.path.join(folder, name)


def _write(path: str, content: bytes) -> None:
    """Write a file that appears when it is complete."""
    unfinished = f"{path}.tmp.{uuid4().hex[:16]}"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        Path(unfinished).write_bytes(content)
        os.replace(unfinished, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(unfinished)
        raise


_said: set[str] = set()


def once(message: str, *found: Any) -> None:
    """Say something once in a process."""
    if message not in _said:
        _said.add(message)
        logging.getLogger("gapboost").warning(message, *found)


class Announcement(event.Listener):
    """Says that kernels are being compiled, after `PATIENCE`, unless something else has.

    Loading from the cache on disk is no compilation. Compilations nest: the time of the outermost
    ones counts.
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
        if (
            KernelCache.kept
            and not _said
            and self.spent + time.monotonic() - self.begun >= PATIENCE
        ):
            once(COMPILING, KernelCache.kept)

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
