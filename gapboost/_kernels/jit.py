"""Compilation of kernels, and a cache of compiled code on disk."""

import logging
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar, cast
from uuid import uuid4

import numba
import numpy as np
from numba import config
from numba.extending import register_jitable

try:
    from numba.core.caching import NullCache
    from numba.core.compiler import CompileResult
    from numba.core.serialize import dumps

    REBUILD, REDUCE = CompileResult._rebuild, CompileResult._reduce
    MOVED = ""
except (ImportError, AttributeError) as error:
    NullCache = object  # type: ignore[assignment, misc]
    MOVED = str(error)

Function = TypeVar("Function", bound=Callable[..., Any])

UNKEPT = (
    "compiled code cannot be kept on disk (%s), and every process compiles it anew, which takes "
    "some seconds; expected what python -m gapboost.warmup keeps on this kind of processor, or a "
    "folder that can be written: set NUMBA_CACHE_DIR to one"
)
# Divide by zero as numpy does. Without the explicit False, numba compiles a function with the
# fastmath of whichever caller needs it first.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": False, "no_cfunc_wrapper": True}
OTHER_NAMES = f"numba {numba.__version__} has other private names: {{}}"


def kernel(function: Function) -> Function:
    """Compile on the first call from Python, cache on disk, release the GIL."""
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return np.errstate(all="ignore")(function)  # compiled code never warns
    dispatcher: Any = numba.njit(**OPTIONS, nogil=True)(function)
    cache = KernelCache(function)
    if MOVED or not hasattr(dispatcher, "_cache"):
        cache.warn(OTHER_NAMES.format(MOVED or "its functions have no _cache"))
    else:
        dispatcher._cache = cache  # as numba's `cache=True` does, with a cache of our own
    return cast(Function, dispatcher)


def inner_kernel(function: Function) -> Function:
    """Compile into the kernels that call it; from Python it runs uncompiled.

    Without code to call it from Python, and without a file of its own, a first fit compiles in two
    thirds of the time.
    """
    return register_jitable(**OPTIONS, no_cpython_wrapper=True)(function)


def summing_kernel(function: Function) -> Function:
    """Compile as `inner_kernel` does, but let sums be reordered so that they use vector registers.

    The order is the same in every process that loads the compiled code; the one that compiled it
    may round the last digit otherwise.
    """
    options = {**OPTIONS, "fastmath": {"reassoc", "contract", "nsz"}}
    return register_jitable(**options, no_cpython_wrapper=True)(function)


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()


def _digest_of_sources() -> bytes | None:
    """Return a digest of all kernels: a compiled function holds others, from other files.

    None, with which nothing is kept, where only compiled Python is installed.
    """
    sources = [path.read_bytes() for path in sorted(Path(__file__).parent.rglob("*.py"))]
    return _digest(b"\0".join(sources)) if sources else None


SOURCES = _digest_of_sources()


class KernelCache(NullCache):
    """Compiled code of one function on disk, one file for each combination of types and processor.

    numba's own cache uses only the first folder that can be written. In a container this folder
    is often empty or missing, although another user has compiled the code next to the package.
    This cache reads every folder, and writes to the first that accepts a file. The name of a file
    is made of what the code depends on, and it begins with a digest of its content, because
    damaged code can end the process.
    """

    # Where the first file was kept in this process, and the first that could be kept nowhere.
    kept: str | None = None
    unkept: str | None = None

    def __init__(self, function: Callable[..., object]) -> None:
        self._function = f"{function.__module__}.{function.__qualname__}"

    def _paths(self, sig: object, codegen: Any) -> Iterator[str]:
        """Yield the files that may hold the code, best first."""
        if SOURCES is None:
            return
        version = numba.__version__, sys.implementation.cache_tag, SOURCES
        depends_on = repr((version, self._function, sig, codegen.magic_tuple()))
        name = f"{self._function}-{_digest(depends_on.encode()).hex()}.nbc"
        own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "__pycache__")
        users = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        for folder in (config.CACHE_DIR, own, os.path.join(users, "gapboost")):  # type: ignore[attr-defined]
            # Without a known home directory the last one is relative to the current folder.
            if os.path.isabs(folder):
                yield os.path.join(folder, name)

    def load_overload(self, sig: object, target_context: Any) -> object:
        """Load the compiled code for a signature; None if it is not on disk, or broken."""
        # Unpickling raises whatever the bytes happen to lead to. If numba has other names,
        # `save_overload` says so.
        with suppress(AttributeError):
            target_context.refresh()
            for path in self._paths(sig, target_context.codegen()):
                with suppress(Exception), open(path, "rb") as file:
                    digest, pickled = file.read(16), file.read()
                    if digest == _digest(pickled):
                        compiled = pickle.loads(pickled)
                        return REBUILD(target_context, *compiled)  # type: ignore[no-untyped-call]
        return None

    def save_overload(self, sig: object, data: Any) -> None:
        """Keep what was compiled for a signature, in the first folder that can be written."""
        try:
            if data.library.has_dynamic_globals:
                return  # it holds addresses in this process
            pickled = dumps(REDUCE(data))  # type: ignore[no-untyped-call]
            paths = list(self._paths(sig, data.codegen))
        except AttributeError as error:
            return self.warn(OTHER_NAMES.format(error))
        reason: object = "the sources of gapboost are not there"
        for path in paths:
            unfinished = f"{path}.{uuid4().hex}"
            try:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(unfinished, "wb") as file:
                    file.write(_digest(pickled) + pickled)
                os.replace(unfinished, path)  # it appears when it is complete
            except OSError as error:
                reason = error
                with suppress(OSError):
                    os.unlink(unfinished)
            else:
                KernelCache.kept = KernelCache.kept or os.path.dirname(path)
                return
        self.warn(reason)

    def warn(self, reason: object) -> None:
        """Say that compiled code is not kept, once in a process."""
        if KernelCache.unkept is None:
            KernelCache.unkept = self._function
            logging.getLogger("gapboost").warning(UNKEPT, reason)
