"""Saved results: a CSV file that grows by the rows of one finished task at a time."""

import csv
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]
Key = tuple[str, ...]
Tasks = Mapping[Key, Callable[[], Sequence[Row]]]

csv.field_size_limit(1 << 20)


@dataclass(frozen=True)
class Records:
    """A CSV file of rows, and the columns that name a task; delete its rows to compute it anew."""

    path: Path
    key: tuple[str, ...]

    def __iter__(self) -> Iterator[dict[str, str]]:
        """Yield the rows."""
        if self.path.exists():
            with self.path.open(encoding="utf-8", newline="") as stream:
                yield from csv.DictReader(stream)

    def done(self) -> set[Key]:
        """Return the keys of the finished tasks."""
        return {tuple(row[name] for name in self.key) for row in self}

    def add(self, rows: Sequence[Row]) -> None:
        """Append rows; an interrupted process leaves the file as it was.

        Raises
        ------
        ValueError
            If a row has other columns than the file.
        """
        saved = list(self)
        columns = list((saved or rows)[0])
        for row in rows:
            if set(row) != set(columns):
                found = f"a row for {self.path.name} has the columns {list(row)}"
                raise ValueError(f"{found}; expected {columns}")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        with part.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, columns, lineterminator="\n")
            writer.writeheader()
            new = [{name: _cell(value) for name, value in row.items()} for row in rows]
            writer.writerows([*saved, *new])
        os.replace(part, self.path)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def finish(records: Records, tasks: Tasks) -> None:
    """Compute and save the tasks that are not saved yet, in order."""
    from tqdm.auto import tqdm

    done = records.done()
    missing = [key for key in tasks if key not in done]
    for key in tqdm(missing, desc=records.path.stem, unit="task", mininterval=30):
        rows = tasks[key]()
        records.add([{**dict(zip(records.key, key, strict=True)), **row} for row in rows])
