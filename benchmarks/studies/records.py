"""Saved results: a CSV file to which finished tasks append their rows, so that an interrupted study goes on where it stopped."""

import csv
import hashlib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

Row = Mapping[str, Any]
Key = tuple[str, ...]
Tasks = Mapping[Key, Callable[[], Sequence[Row]]]

csv.field_size_limit(1 << 20)


@dataclass(frozen=True)
class Records:
    """A CSV file of rows, and the columns that name the task of a row. To compute a task anew, delete its rows."""

    path: Path
    key: tuple[str, ...]

    def __iter__(self) -> Iterator[dict[str, str]]:
        """Whole rows; one that an interrupt cut off is left out."""
        if self.path.exists():
            with self.path.open(encoding="utf-8", newline="") as stream:
                yield from (row for row in csv.DictReader(stream) if None not in row and None not in row.values())

    def done(self) -> set[Key]:
        """Keys of the finished tasks, of this process and of others."""
        return {tuple(row[name] for name in self.key) for row in self}

    def add(self, rows: Sequence[Row]) -> None:
        """Append the rows of a task in one piece; the first ones that are ever added name the columns.

        Raises
        ------
        ValueError
            Where a row has other columns than the file.
        """
        with self._locked() as stream:
            head = stream.readline().decode()
            columns = next(csv.reader([head])) if head else list(rows[0])
            lines = [] if head else [columns]
            for row in rows:
                if set(row) != set(columns):
                    raise ValueError(f"a row for {self.path.name} has the columns {list(row)}; expected {columns}")
                lines.append([_cell(row[name]) for name in columns])
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows(lines)
            stream.write(text.getvalue().encode())

    def mend(self) -> None:
        """Drop a last row that an interrupt cut off, and the rows of the task before it, which may be its own."""
        with self._locked() as stream:
            whole, _, rest = stream.read().rpartition(b"\n")
            if rest:
                lines = whole.split(b"\n")
                keys = [tuple(row[name] for name in self.key) for row in csv.DictReader(io.StringIO(whole.decode()))]
                kept = [line for line, key in zip(lines[1:], keys, strict=True) if key != keys[-1]]
                stream.truncate(0)
                stream.write(b"".join(line + b"\n" for line in [*lines[:1], *kept]))

    @contextmanager
    def _locked(self) -> Iterator[BinaryIO]:
        """The file, which no other process writes to meanwhile."""
        import fcntl

        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            stream.seek(0)
            yield stream


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def finish(records: Records, tasks: Tasks, locks: Path | None = None) -> None:
    """Compute and save what is not saved yet, in order.

    With a folder of `locks` several processes share the work: a task in the work of another one that lives is left to it.
    """
    from tqdm.auto import tqdm

    records.mend()
    done = records.done()
    left = [key for key in tasks if key not in done]
    for key in tqdm(left, desc=records.path.stem, unit="task", mininterval=30):
        with _claimed(key, locks) as mine:
            if mine and (locks is None or key not in records.done()):
                rows = tasks[key]()
                records.add([{**dict(zip(records.key, key, strict=True)), **row} for row in rows])


@contextmanager
def _claimed(key: Key, locks: Path | None) -> Iterator[bool]:
    """Whether a task is this process's to do, told by a lock on a file, which ends with the process."""
    if locks is None:
        yield True
        return
    import fcntl

    locks.mkdir(parents=True, exist_ok=True)
    with (locks / hashlib.sha256(repr(key).encode()).hexdigest()[:16]).open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
