"""Finished trainings in a folder: an interrupted comparison goes on from them, and several processes share the work."""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from gapboost.comparison.work import Result, Task

SETTINGS = "settings.json"


@dataclass(frozen=True)
class Checkpoint:
    """A folder with one file a training, each written in one piece, and the settings that they belong to."""

    folder: Path

    def open(self, settings: Mapping[str, str]) -> None:
        """Begin, or go on; rankers may join those that are there.

        Raises
        ------
        ValueError
            Where the folder holds results of other data or settings.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / SETTINGS
        if path.exists():
            before = json.loads(path.read_text(encoding="utf-8"))
            for name, value in settings.items():
                if before.get(name, value) != value:
                    raise ValueError(
                        f"checkpoint is {str(self.folder)!r}, which holds results of another comparison, whose {name} is "
                        f"{before[name]}; expected {value}, or a folder of its own for each comparison"
                    )
            settings = {**before, **settings}
        elif any(self.folder.iterdir()):
            raise ValueError(
                f"checkpoint is {str(self.folder)!r}, which holds other files; expected a folder of its own, empty or new"
            )
        _write_json(path, dict(settings))

    def saved(self, task: Task) -> Result | None:
        """What came of a training that is finished, in this process or in another."""
        path = self._path(task)
        if not path.exists():
            return None
        held = json.loads(path.read_text(encoding="utf-8"))
        return Result(task, held["values"], held["seconds"])

    def finish(self, task: Task, train: Callable[[Task], Result], wait: bool) -> Result | None:
        """The result of a training, done now unless it is saved.

        None, without `wait`, where another process is at it.
        """
        with self._claimed(task, wait) as mine:
            if not mine:
                return None
            result = self.saved(task)
            if result is None:
                result = train(task)
                _write_json(self._path(task), {**asdict(task), "seconds": result.seconds, "values": result.values})
            return result

    def _path(self, task: Task) -> Path:
        return self.folder / f"{_file_name(task)}.json"

    @contextmanager
    def _claimed(self, task: Task, wait: bool) -> Iterator[bool]:
        """Whether a training is this process's to do, told by a lock that ends with the process.

        Without such locks, on Windows, two processes may both do one: they write the same.
        """
        try:
            import fcntl
        except ImportError:
            yield True
            return
        claims = self.folder / "claims"
        claims.mkdir(exist_ok=True)
        with (claims / _file_name(task)).open("w") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                yield False
            else:
                yield True


def _file_name(task: Task) -> str:
    """The same in every process: names of rankers may be any words."""
    kind = f"candidate{task.candidate}" if task.search else "test"
    digest = hashlib.sha256(task.ranker.encode()).hexdigest()[:12]
    return f"fold{task.fold}-seed{task.seed}-{kind}-{digest}"


def _write_json(path: Path, content: Mapping[str, object]) -> None:
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps(content), encoding="utf-8")
    os.replace(part, path)
