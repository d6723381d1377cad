"""A file of results that is only appended to, so that an interrupted study goes on where it stopped."""

import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "results"
Key = tuple[str, ...]


class Results:
    """Rows of finished tasks, each task with the same number of rows, which its first columns name.

    Parameters
    ----------
    path : Path
    key : sequence of str
        The columns that name a task.
    values : sequence of str
        The other columns.
    rows_of_task : int
        Rows of a task of which an interrupt left fewer are dropped.
    """

    def __init__(self, path: Path, key: Sequence[str], values: Sequence[str], rows_of_task: int) -> None:
        self.path, self.key, self.head = path, key, [*key, *values]
        path.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        lines = [line for line in text.splitlines(keepends=True)[1:] if line.endswith("\n")]
        rows = Counter(self.key_of(line) for line in lines)
        self.done = {task for task, n in rows.items() if n == rows_of_task}
        kept = "".join([",".join(self.head) + "\n", *(line for line in lines if self.key_of(line) in self.done)])
        if kept != text:
            path.write_text(kept, encoding="utf-8")

    def key_of(self, line: str) -> Key:
        """The task that a line belongs to."""
        return tuple(line.split(",")[: len(self.key)])

    def add(self, task: Sequence[Any], rows: Sequence[Sequence[Any]]) -> None:
        """Append the rows of a finished task in one piece."""
        text = "".join(",".join(map(str, [*task, *row])) + "\n" for row in rows)
        with self.path.open("ab", buffering=0) as stream:
            stream.write(text.encode())
        self.done.add(tuple(map(str, task)))


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a file."""
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))
