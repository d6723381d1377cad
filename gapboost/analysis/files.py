"""Files of TREC judgments and runs, and those of BEIR and MS MARCO: read and written."""

import gzip
import itertools
import math
import os
import zlib
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from gapboost.validation import PathLike, mapping, short_repr

Qrels: TypeAlias = Mapping[str, Mapping[str, float]]
Run: TypeAlias = Mapping[str, Mapping[str, float]]

# Lines of files, and where topic, document and number are among their parts.
Layouts: TypeAlias = Mapping[str, tuple[int, int, int]]
QRELS_LINES: Layouts = {
    "topic iteration document judgment": (0, 2, 3),
    "topic document judgment": (0, 1, 2),
}
RUN_LINES: Layouts = {
    "topic Q0 document rank score tag": (0, 2, 4),
    "topic document score": (0, 1, 2),
}

# The functions that read lines of so many parts.
READERS = {4: "read_qrels", 6: "read_run"}

JUDGMENTS = "{topic: {document: grade}}"
RETRIEVED = "{topic: {document: score}}"


def read_qrels(path: PathLike) -> dict[str, dict[str, float]]:
    r"""Read judgments: ``{topic: {document: judgment}}``.

    Parameters
    ----------
    path : path
        Lines ``topic iteration document judgment`` (TREC, MS MARCO), or ``topic document judgment``
        with or without a header (BEIR), in UTF-8. A file whose name ends in .gz is decompressed.
        Judgments are whole numbers.

    Raises
    ------
    ValueError
        If a line does not have these parts, or a document is judged twice in a topic; the message
        has the number of the line. If the file is empty or damaged.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from gapboost.analysis import trec
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "qrels.txt")
    ...     _ = path.write_text("1 0 a 2\n1 0 b 0\n")
    ...     trec.read_qrels(path)
    ...
    {'1': {'a': 2, 'b': 0}}
    """
    found, title = _read(path, QRELS_LINES, _judgment)
    if title and "rank" in title:
        raise ValueError(f"{path} has a column {title!r}; expected judgments, not a run")
    return found


def read_run(path: PathLike) -> dict[str, dict[str, float]]:
    r"""Read a run: ``{topic: {document: score}}``.

    Parameters
    ----------
    path : path
        Lines ``topic Q0 document rank score tag`` (TREC; the rank is not used), ``topic document
        score`` (BEIR) or ``topic document rank`` (MS MARCO), whose scores are minus the rank.
        Compressed as in `read_qrels`. See the notes for how ranks and scores are told apart.

    Raises
    ------
    ValueError
        As in `read_qrels`. If a score is not finite, or a third column may be ranks or scores.

    Notes
    -----
    A header decides what a third column is: ranks if the name of the column has "rank" and not
    "score" in it, otherwise scores. Without a header, whole numbers from 0 on may be ranks if none
    occurs twice in a topic. They are ranks if those of every topic begin at 1 and rise from line to
    line. If only one of the two holds, the file is an error. All other numbers are scores.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from gapboost.analysis import trec
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "run.txt")
    ...     _ = path.write_text("1 Q0 a 1 3.5 mine\n1 Q0 b 2 1.5 mine\n")
    ...     trec.read_run(path)
    ...
    {'1': {'a': 3.5, 'b': 1.5}}
    """
    found, title = _read(path, RUN_LINES, _score)
    if title is None or not _are_ranks(title, found, path):
        return found
    return {topic: {d: -rank for d, rank in ranks.items()} for topic, ranks in found.items()}


def _are_ranks(title: str, found: Run, path: PathLike) -> bool:
    """Return True if the third column of a run has ranks, by its title or its numbers."""
    topics = [list(numbers.values()) for numbers in found.values()]
    # One document is ranked in one way only.
    several = [numbers for numbers in topics if len(numbers) > 1]
    are_ranks, certain = "rank" in title and "score" not in title, True
    whole = all(number >= 0 and number.is_integer() for numbers in topics for number in numbers)
    if title:
        certain = whole or not are_ranks
    elif whole and all(len(set(numbers)) == len(numbers) for numbers in several):
        are_ranks = all(min(numbers) == 1 for numbers in several)
        certain = are_ranks == all(numbers == sorted(numbers) for numbers in several)
    if not certain:
        raise ValueError(
            f"{path} has a third column that may be ranks or scores; expected ranks 1, 2, ... in "
            "the order of the lines of each topic, or a header such as 'topic document score'"
        )
    return are_ranks


def _judgment(text: str) -> int:
    if not text.lstrip("+-").isdecimal():
        raise ValueError(f"found the judgment {text!r}")
    return int(text)


def _score(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"found the score {text!r}")
    return number


def _is_title(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text[0].isalpha()
    return False


def _read(
    path: PathLike, layouts: Layouts, number_of: Callable[[str], float]
) -> tuple[dict[str, dict[str, float]], str | None]:
    """Return ``{topic: {document: number}}`` of a file, and the title of its third column.

    The title is in lower case, empty without a header, and None if lines have more than three
    parts. `number_of` reads a number, or raises ValueError.
    """
    expected = " or ".join(f"{layout!r}" for layout in layouts)
    lines = _numbered_lines(path, expected)
    first = lines[0][1].split() if lines else []
    title = None
    if len(first) == 3:
        title = first[2].lower() if _is_title(first[2]) else ""
    places = {len(layout.split()): numbers for layout, numbers in layouts.items()}
    found: dict[str, dict[str, float]] = {}
    for number, line in lines[1:] if title else lines:
        parts = line.split()
        try:
            if len(parts) != len(first) or len(parts) not in places:
                swapped = READERS.get(len(parts)) if len(parts) not in places else None
                hint = f", as in files for {swapped}" if swapped else ""
                raise ValueError(f"found {len(parts)} parts{hint}")
            topic, document, value = (parts[place] for place in places[len(parts)])
            of_topic = found.setdefault(topic, {})
            if document in of_topic:
                raise ValueError(f"found document {document!r} of topic {topic!r} again")
            of_topic[document] = number_of(value)
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}; expected {expected}") from error
    if not found:
        raise ValueError(f"{path} is empty; expected lines {expected}")
    return found, title


def _numbered_lines(path: PathLike, expected: str) -> list[tuple[int, str]]:
    """Return the lines of a file that are not empty, with their numbers from 1 on."""
    try:
        with _opened(path, "rt", "utf-8-sig") as file:
            lines = file.read().split("\n")
    except (UnicodeError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(
            f"{path}: {error}; expected lines {expected}, compressed if the name ends in .gz"
        ) from error
    return [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]


def write_run(path: PathLike, run: Run, *, tag: str = "gapboost") -> None:
    r"""Write a run: lines ``topic Q0 document rank score tag``, as `read_run` reads them.

    Parameters
    ----------
    path : path
        Compressed if the name ends in ``.gz``.
    run : {topic: {document: score}}
        Finite scores, higher is better. Lines are ordered by falling score, equal scores by falling
        document id, as trec_eval orders them. Reading the file returns the same scores.
    tag : str, default="gapboost"
        Name of the run.

    Raises
    ------
    ValueError
        If the run is empty, a name is empty, holds white space or is no string, or a score is not
        finite.

    See Also
    --------
    write_qrels : the same for judgments.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from gapboost.analysis import trec
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "run.txt")
    ...     trec.write_run(path, {"1": {"a": 1.5, "b": 3.5}}, tag="mine")
    ...     print(path.read_text().rstrip())
    ...
    1 Q0 b 1 3.5 mine
    1 Q0 a 2 1.5 mine
    """
    written: list[str] = []
    _check_names(run, "run", RETRIEVED, tag)
    for topic, scores in run.items():
        ranked = sorted(scores.items(), key=lambda item: (item[1], item[0]), reverse=True)
        for rank, (document, score) in enumerate(ranked, start=1):
            written.append(f"{topic} Q0 {document} {rank} {float(score)} {tag}\n")
    _write(path, written)


def write_qrels(path: PathLike, qrels: Qrels) -> None:
    r"""Write judgments: lines ``topic 0 document judgment``, as `read_qrels` reads them.

    Parameters
    ----------
    path : path
        Compressed if the name ends in ``.gz``.
    qrels : {topic: {document: judgment}}
        Whole numbers.

    Raises
    ------
    ValueError
        If there are no judgments, a name is empty, holds white space or is no string, or a judgment
        is no whole number.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from gapboost.analysis import trec
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "qrels.txt")
    ...     trec.write_qrels(path, {"1": {"a": 2, "b": 0}})
    ...     print(path.read_text().rstrip())
    ...
    1 0 a 2
    1 0 b 0
    """
    _check_names(qrels, "qrels", JUDGMENTS)
    check_numbers(qrels, "qrels", "whole numbers", is_whole)
    lines = [
        f"{topic} 0 {document} {int(judgment)}\n"
        for topic, judged in qrels.items()
        for document, judgment in judged.items()
    ]
    _write(path, lines)


def is_whole(number: float) -> bool:
    """Return True for a whole number of any type."""
    return number == math.floor(number)


def check_numbers(
    found: Run,
    name: str,
    expected: str = "finite numbers",
    usable: Callable[[float], bool] = math.isfinite,
) -> None:
    """Raise ValueError with the topic and the document if a grade or score is not `usable`."""
    for topic, numbers in found.items():
        for document, number in numbers.items():
            try:
                fine = usable(number)
            except (OverflowError, TypeError):
                fine = False
            if not fine:
                swapped = ": are judgments and runs swapped?" if isinstance(number, Mapping) else ""
                raise ValueError(
                    f"{name} holds {short_repr(number)} for document {document!r} of topic "
                    f"{topic!r}; expected {expected}{swapped}"
                )


def _check_names(found: Any, name: str, expected: str, *others: Any) -> None:
    mapping(found, name, expected)
    if not any(found.values()):
        raise ValueError(f"{name} holds no documents; expected {expected}")
    for text in itertools.chain(others, found, *found.values()):
        if not isinstance(text, str) or text.split() != [text]:
            raise ValueError(f"{name} holds the name {text!r}; expected text without white space")
    check_numbers(found, name)


def _write(path: PathLike, lines: list[str]) -> None:
    with _opened(path, "wt", "utf-8") as file:
        file.writelines(lines)


def _opened(path: PathLike, mode: str, encoding: str) -> Any:
    """Open a file of text, compressed if its name ends in .gz."""
    opened: Any = gzip.open if os.fspath(path).endswith(".gz") else open
    return opened(path, mode, encoding=encoding)
