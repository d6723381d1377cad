"""Finished trainings in a folder: an interrupted comparison goes on from them, and several processes share the work."""

import hashlib
import json
import os
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from gapboost.comparison.work import Result, Task

SETTINGS = "settings.json"
CLAIMS = "claims"
# Files that other programs leave in every folder. Hidden files are ignored too.
IGNORED = frozenset(("Thumbs.db", "desktop.ini"))


class Setting(NamedTuple):
    """Something that results depend on: in words for people, and the digest by which it is recognized."""

    words: str
    digest: str

    def __str__(self) -> str:
        return f"{self.words} (digest {self.digest[:8]})"


def setting_name(ranker: str) -> str:
    """Return the name of the setting that describes a ranker."""
    return f"ranker {ranker!r}"


@dataclass(frozen=True)
class Checkpoint:
    """A folder with one file for each finished training, and a file with the settings that they belong to.

    Attributes
    ----------
    folder : Path
    settings : mapping {name: Setting}
        Data, folds, measures and rankers of this comparison.
    """

    folder: Path
    settings: Mapping[str, Setting]

    def open(self) -> None:
        """Create the folder, or check that its settings are the same. New rankers join those that are there.

        Raises
        ------
        ValueError
            If the folder holds results of other data or settings, or other files, or if its settings are damaged.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / SETTINGS
        if not path.exists():
            self._check_is_own()
        with self._locked(SETTINGS, wait=True):
            before = _read_settings(path)
            for name, setting in self.settings.items():
                if before.get(name, setting).digest != setting.digest:
                    raise ValueError(
                        f"checkpoint is {str(self.folder)!r}, which holds results of another comparison, whose {name} is "
                        f"{before[name]}; expected {setting}, or a folder of its own for each comparison"
                    )
            if not self.settings.keys() <= before.keys():
                _write(path, {"settings": {**before, **self.settings}})

    def _check_is_own(self) -> None:
        """Refuse a folder with files that no checkpoint writes."""
        for path in self.folder.iterdir():
            own = path.name in (CLAIMS, SETTINGS) or path.suffix == ".part" or path.match("fold*-seed*.json")
            if not (own or path.name in IGNORED or path.name.startswith(".")):
                raise ValueError(
                    f"checkpoint is {str(self.folder)!r}, which holds other files, such as {path.name!r}; expected a folder of "
                    "its own, empty or new"
                )

    def saved(self, task: Task) -> Result | None:
        """Return the result of a finished training, whichever process did it; None if it is not finished.

        A damaged file counts as not finished, with a warning.
        """
        try:
            return self._read(task)
        except ValueError as error:
            warnings.warn(
                f"{self._path(task)} cannot be used ({error}): its training is done again", UserWarning, stacklevel=2
            )
            return None

    def finish(self, task: Task, train: Callable[[Task], Result], wait: bool) -> Result | None:
        """Return the result of a training, which is done now unless it is saved.

        Without `wait`, return None if another process is training it.
        """
        with self._locked(_file_name(task), wait) as mine:
            if not mine:
                return None
            try:
                result = self._read(task)
            except ValueError:
                result = None  # `saved` has warned
            if result is None:
                result = train(task)
                content = {"seconds": result.seconds, "values": result.values}
                _write(self._path(task), {**asdict(task), "comparison": self._digest_of(task), **content})
            return result

    def _read(self, task: Task) -> Result | None:
        """Return the saved result of a training, or None; raise ValueError if it is damaged or another training's."""
        try:
            found = _content((self._path(task)).read_bytes())
        except FileNotFoundError:
            return None
        expected = {**asdict(task), "comparison": self._digest_of(task)}
        for name, value in expected.items():
            if found.get(name) != value:
                raise ValueError(f"its {name} is {found.get(name)!r}; expected {value!r}")
        return Result(task, found["values"], found["seconds"])

    def _digest_of(self, task: Task) -> str:
        """Return the digest of all settings that a result depends on: those of other rankers do not count."""
        name = setting_name(task.ranker)
        others = [n for n in self.settings if n == name or not n.startswith("ranker ")]
        return hashlib.sha256("".join(self.settings[n].digest for n in sorted(others)).encode()).hexdigest()

    def _path(self, task: Task) -> Path:
        return self.folder / f"{_file_name(task)}.json"

    @contextmanager
    def _locked(self, name: str, wait: bool) -> Iterator[bool]:
        """Hold a lock that ends with the process; the value is False if another process holds it, without `wait`.

        There are no such locks on Windows. There two processes may do the same training, and write the same result.
        """
        try:
            import fcntl
        except ImportError:
            yield True
            return
        claims = self.folder / CLAIMS
        claims.mkdir(exist_ok=True)
        with (claims / name).open("w") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                yield False
            else:
                yield True


def _file_name(task: Task) -> str:
    """Return a name that is the same in every process; names of rankers may hold any characters."""
    kind = f"candidate{task.candidate}" if task.search else "test"
    digest = hashlib.sha256(task.ranker.encode()).hexdigest()[:12]
    return f"fold{task.fold}-seed{task.seed}-{kind}-{digest}"


def _read_settings(path: Path) -> dict[str, Setting]:
    try:
        return {name: Setting(*setting) for name, setting in _content(path.read_bytes())["settings"].items()}
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ValueError(
            f"checkpoint holds {str(path)!r}, which cannot be used ({error}); expected the file as this version of gapboost "
            "wrote it. Delete it to go on: finished trainings of this comparison are kept"
        ) from None


def _encoded(content: Mapping[str, Any]) -> bytes:
    """Return JSON with a checksum of all the rest."""
    checksum = hashlib.sha256(json.dumps(content).encode()).hexdigest()
    return json.dumps({**content, "checksum": checksum}).encode()


def _content(data: bytes) -> dict[str, Any]:
    """Return what was encoded; raise ValueError if a single byte is missing or has changed."""
    try:
        content = json.loads(data)
        del content["checksum"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ValueError("it is cut off, or no file of a checkpoint") from None
    if _encoded(content) != data:
        raise ValueError("its checksum is another")
    return dict(content)


def _write(path: Path, content: Mapping[str, Any]) -> None:
    """Write a file in one piece, so that it outlives a crash of the machine."""
    part = path.with_suffix(f".{os.getpid()}-{uuid.uuid4().hex[:8]}.part")
    try:
        with part.open("wb") as stream:
            stream.write(_encoded(content))
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    if os.name != "nt":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
