"""Finished trainings in a folder: continue a comparison, or share it between processes."""

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

from gapboost._pages.described import describe
from gapboost.comparison.digest import digest
from gapboost.comparison.training import RankerResult, RankerTraining, Trainer

SETTINGS_FILE = "settings.json"
CLAIMS = "claims"
# Files that other programs leave in every folder. Hidden files are ignored too.
IGNORED = frozenset(("Thumbs.db", "desktop.ini"))


class Setting(NamedTuple):
    """Something that results depend on: words for error messages, and a digest to compare."""

    words: str
    digest: str

    def __str__(self) -> str:
        return f"{self.words} (digest {self.digest[:8]})"


def recorded(training: Trainer) -> dict[str, Setting]:
    """Return all settings that the results depend on: data, folds, measures and rankers."""
    docs, tuned = training.documents, training.candidates
    size = (
        f"{len(docs.all.y)} documents of {len(docs.ids)} queries with {docs.all.X.shape[1]} "
        "features"
    )
    ids = [str(i) for i in docs.ids]
    # More repeats may join: their splits follow from the first one's.
    folds = [
        (split.train, split.vali, split.test) for split in training.splits if 1 in split.repeats
    ]
    measures = dict(training.measures)
    choose_by: Any = training.choose_by if tuned or training.choose_trees else None
    if training.choose_trees:
        choose_by = (choose_by, "for trees too")
    settings = {
        "data": Setting(size, digest((docs.all.X, docs.all.y, docs.all.sizes, ids), "X")),
        "cv": Setting(f"{len(folds)} folds", digest(folds, "cv")),
        "measures": Setting(
            ", ".join(f"{n}: {m}" for n, m in measures.items()), digest(measures, "measures")
        ),
        "choose_by": Setting(str(choose_by), digest(choose_by, "choose_by")),
    }
    for name, ranker in training.rankers.items():
        words = describe(ranker) + (f", tuned: {tuned[name]}" if name in tuned else "")
        parts = [digest(ranker, f"rankers[{name!r}]"), digest(tuned.get(name), f"spaces[{name!r}]")]
        settings[_ranker_setting(name)] = Setting(words, digest(parts, "rankers"))
    return settings


def _ranker_setting(ranker: str) -> str:
    return f"ranker {ranker!r}"


@dataclass(frozen=True)
class Checkpoint:
    """Folder with one file for each finished training, and a file with their settings.

    Attributes
    ----------
    folder : Path
    settings : mapping {name: Setting}
        Data, folds, measures and rankers of this comparison.
    """

    folder: Path
    settings: Mapping[str, Setting]

    def open(self) -> None:
        """Create the folder, or check that its settings are the same; add those of new rankers.

        Raises
        ------
        ValueError
            If the folder holds results of other data or settings, or other files, or if its
            settings are damaged.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / SETTINGS_FILE
        if not path.exists():
            self._check_is_own()
        with self._locked(SETTINGS_FILE, wait=True):
            before = _read_settings(path)
            for name, setting in self.settings.items():
                if before.get(name, setting).digest != setting.digest:
                    raise ValueError(
                        f"checkpoint is {str(self.folder)!r}, which holds results of another "
                        f"comparison, whose {name} is {before[name]}; expected {setting}, or a "
                        "folder of its own for each comparison"
                    )
            if not self.settings.keys() <= before.keys():
                _write(path, {"settings": {**before, **self.settings}})

    def _check_is_own(self) -> None:
        """Refuse a folder with files that no checkpoint writes."""
        for path in self.folder.iterdir():
            own = (
                path.name in (CLAIMS, SETTINGS_FILE)
                or path.suffix == ".part"
                or path.match("split*-repeat*.json")
            )
            if not (own or path.name in IGNORED or path.name.startswith(".")):
                raise ValueError(
                    f"checkpoint is {str(self.folder)!r}, which holds other files, such as "
                    f"{path.name!r}; expected a folder of its own, empty or new"
                )

    def saved(self, task: RankerTraining) -> RankerResult | None:
        """Return the result of a training that any process has finished, else None.

        A damaged file counts as not finished, with a warning.
        """
        try:
            return self._read(task)
        except ValueError as error:
            warnings.warn(
                f"{self._path(task)} cannot be used ({error}): its model is trained again",
                UserWarning,
                stacklevel=2,
            )
            return None

    def finish(
        self, task: RankerTraining, train: Callable[[RankerTraining], RankerResult], wait: bool
    ) -> RankerResult | None:
        """Return the saved result of a training, or train now.

        Without `wait`, return None if another process is training it.
        """
        with self._locked(_file_name(task), wait) as locked:
            if not locked:
                return None
            try:
                result = self._read(task)
            except ValueError:
                result = None  # `saved` has warned
            if result is None:
                result = train(task)
                content = {
                    "fit_seconds": result.fit_seconds, "predict_seconds": result.predict_seconds,
                    "values": result.values,
                }  # fmt: skip
                _write(
                    self._path(task),
                    {**asdict(task), "comparison": self._digest_of(task), **content},
                )
            return result

    def _read(self, task: RankerTraining) -> RankerResult | None:
        """Return the saved result of a training, or None.

        Raises
        ------
        ValueError
            If the file is damaged, or holds another training.
        """
        try:
            found = _content((self._path(task)).read_bytes())
        except FileNotFoundError:
            return None
        expected = {**asdict(task), "comparison": self._digest_of(task)}
        for name, value in expected.items():
            if found.get(name) != value:
                raise ValueError(f"its {name} is {found.get(name)!r}; expected {value!r}")
        return RankerResult(task, found["values"], found["fit_seconds"], found["predict_seconds"])

    def _digest_of(self, task: RankerTraining) -> str:
        """Return the digest of all settings but those of other rankers."""
        name = _ranker_setting(task.ranker)
        others = [n for n in self.settings if n == name or not n.startswith("ranker ")]
        return hashlib.sha256(
            "".join(self.settings[n].digest for n in sorted(others)).encode()
        ).hexdigest()

    def _path(self, task: RankerTraining) -> Path:
        return self.folder / f"{_file_name(task)}.json"

    @contextmanager
    def _locked(self, name: str, wait: bool) -> Iterator[bool]:
        """Hold a lock that ends with the process; without `wait`, yield False if it is taken.

        Windows has no such locks: two processes may do the same training, and write the same
        result.
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


def _file_name(task: RankerTraining) -> str:
    """Return a file name, the same in every process; names of rankers may hold any characters."""
    kind = f"candidate{task.candidate}" if task.search else "test"
    digest = hashlib.sha256(task.ranker.encode()).hexdigest()[:12]
    return f"split{task.split}-repeat{task.repeat}-{kind}-{digest}"


def _read_settings(path: Path) -> dict[str, Setting]:
    try:
        return {
            name: Setting(*setting)
            for name, setting in _content(path.read_bytes())["settings"].items()
        }
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ValueError(
            f"checkpoint holds {str(path)!r}, which cannot be used ({error}); expected the file as "
            "this version of gapboost wrote it. Delete it to go on: finished trainings of this "
            "comparison are kept"
        ) from None


def _encoded(content: Mapping[str, Any]) -> bytes:
    """Return JSON with a checksum of the content."""
    checksum = hashlib.sha256(json.dumps(content).encode()).hexdigest()
    return json.dumps({**content, "checksum": checksum}).encode()


def _content(data: bytes) -> dict[str, Any]:
    """Return the content of a file; raise ValueError if a byte is missing or has changed."""
    try:
        content = json.loads(data)
        del content["checksum"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ValueError("it is cut off, or no file of a checkpoint") from None
    if _encoded(content) != data:
        raise ValueError("its checksum is another")
    return dict(content)


def _write(path: Path, content: Mapping[str, Any]) -> None:
    """Write a file atomically, so that a crash of the machine leaves no part of it."""
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
