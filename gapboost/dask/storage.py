"""Objects in files whose large arrays are mapped, not read: how rows go from a worker to its training process."""

import mmap
import pickle
import struct
from pathlib import Path
from typing import Any

import cloudpickle

HEAD = struct.Struct("!Q")
ALIGNMENT = 64


def dump(value: Any, path: Path) -> None:
    """Write `value` to a file, which appears when it is complete."""
    buffers: list[pickle.PickleBuffer] = []
    body = cloudpickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    views = [buffer.raw() for buffer in buffers]
    head = pickle.dumps((len(body), [view.nbytes for view in views]))
    unfinished = path.with_suffix(".part")
    with unfinished.open("wb") as file:
        file.write(HEAD.pack(len(head)) + head + body)
        for view in views:
            file.write(b"\0" * (-file.tell() % ALIGNMENT))
            file.write(view)
    unfinished.rename(path)


def load(path: Path) -> Any:
    """The object in a file; its arrays live in the mapped file, and may be written to without changing it."""
    with path.open("rb") as file:
        mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    begin = HEAD.size + HEAD.unpack(mapped[: HEAD.size])[0]
    n_body, sizes = pickle.loads(mapped[HEAD.size : begin])
    body, position, buffers = mapped[begin : begin + n_body], begin + n_body, []
    for size in sizes:
        position += -position % ALIGNMENT
        buffers.append(mapped[position : position + size])
        position += size
    return pickle.loads(body, buffers=buffers)
