"""Files of TREC judgments and runs: read and written line by line.

The docstring of `gapboost.analysis.trec` gives the rules for what these files leave open.
"""

import gzip
import math
import os
import zlib
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from gapboost._data.arguments import mapping, whole
from gapboost._data.text import MAX_LINE_BYTES, LongLine, checked_number, lines

Qrels: TypeAlias = Mapping[str, Mapping[str, float]]
Run: TypeAlias = Mapping[str, Mapping[str, float]]

TOPIC = "a topic"


def _read_lines(
    path: Any, limit: int, entry: Callable[[list[bytes]], Any], expected: str
) -> dict[str, dict[str, Any]]:
    """``{topic: {document: value}}`` of a file; the errors name its line."""
    name, limit = os.fspath(path), whole(limit, "max_line_bytes")
    topics: dict[str, dict[str, Any]] = {}
    number, line = 0, b""
    with gzip.open(name) if name.endswith(".gz") else open(name, "rb") as stream:
        try:
            for line in lines(stream, limit):
                number += 1
                words = line.split()
                if not words or words[0].startswith(b"#"):
                    continue
                topic, document, value = entry(words)
                documents = topics.setdefault(topic, {})
                if document in documents:
                    raise ValueError(
                        f"document {document!r} for the second time in topic {topic!r}"
                    )
                documents[document] = value
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{name}: broken gzip file after line {number}: {error}") from error
        except LongLine as error:
            raise ValueError(f"{name}, {error}") from None
        except ValueError as error:
            raise ValueError(
                f"{name}, line {number}: expected '{expected}', each document once in a topic; "
                f"found {line[:80].decode(errors='replace').rstrip()!r} ({error})"
            ) from error
    if not topics:
        raise ValueError(f"{name}: holds no lines; expected '{expected}'")
    return topics


def _judgment(words: list[bytes]) -> tuple[str, str, float]:
    topic, _, document, relevance = words
    grade = float(checked_number(relevance))
    if not math.isfinite(grade):
        raise ValueError(f"the judgment {grade}")
    return topic.decode(), document.decode(), int(grade) if grade.is_integer() else grade


def _retrieved(words: list[bytes]) -> tuple[str, str, float]:
    topic, _, document, rank, score, _, *more = words
    if more:
        # A document's name with a space in it makes a line longer too: the rank is then a word, the
        # score a rank.
        float(checked_number(rank))
    value = float(checked_number(score))
    if not math.isfinite(value):
        raise ValueError(f"the score {value}")
    return topic.decode(), document.decode(), value


def read_qrels(path: Any, *, max_line_bytes: int = MAX_LINE_BYTES) -> dict[str, dict[str, float]]:
    r"""Read judgments: ``{topic: {document: judgment}}``, as ir_measures takes them too.

    Parameters
    ----------
    path : path
        Lines ``topic iteration document judgment``; compressed where the name ends in ``.gz``.
        Judgments are ints where they are whole, and else floats.
    max_line_bytes : int, default=67108864
        Length of the longest line that is read, in bytes after decompression.

    Raises
    ------
    ValueError
        With the line, where it does not have these four parts, the judgment is not a finite
        number, a name is not UTF-8, a document is judged twice in a topic, or the line is too long;
        where the file is empty.

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
    return _read_lines(path, max_line_bytes, _judgment, "topic iteration document judgment")


def read_run(path: Any, *, max_line_bytes: int = MAX_LINE_BYTES) -> dict[str, dict[str, float]]:
    r"""Read a run: ``{topic: {document: score}}``, as ir_measures takes it too.

    Parameters
    ----------
    path : path
        Lines ``topic Q0 document rank score tag``; compressed where the name ends in ``.gz``. The
        rank is not used.
    max_line_bytes : int, default=67108864
        Length of the longest line that is read, in bytes after decompression.

    Raises
    ------
    ValueError
        With the line, where it has less than these six parts, or more of them and a rank that is no
        number; where the score is not a finite number, a name is not UTF-8, a document occurs twice
        in a topic, or the line is too long; where the file is empty.

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
    return _read_lines(path, max_line_bytes, _retrieved, "topic Q0 document rank score tag")


def write_run(path: Any, run: Run, *, tag: str = "gapboost") -> None:
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
        If the run is empty, a name is empty or holds white space, a topic begins with ``#`` (a
        comment), or a score is not finite.

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
    if not any(mapping(run, "run", "{topic: {document: score}}").values()):
        raise ValueError("run holds no documents; expected {topic: {document: score}}")
    _checked_name(tag, "the tag")
    written: list[str] = []
    for topic, scores in run.items():
        ranked = sorted(scores.items(), key=lambda item: (float(item[1]), item[0]), reverse=True)
        for rank, (document, score) in enumerate(ranked, start=1):
            if not math.isfinite(score):
                raise ValueError(
                    f"run holds the score {score} for document {document!r}; expected finite scores"
                )
            parts = (
                _checked_name(topic, TOPIC),
                "Q0",
                _checked_name(document, "a document"),
                rank,
                float(score),
                tag,
            )
            written.append(" ".join(map(str, parts)) + "\n")
    name = os.fspath(path)
    with (
        gzip.open(name, "wt", encoding="utf-8")
        if name.endswith(".gz")
        else open(name, "w", encoding="utf-8") as file
    ):
        file.writelines(written)


def _checked_name(name: Any, what: str) -> str:
    if (
        not isinstance(name, str)
        or not name
        or any(character in name for character in " \t\n\r\v\f")
    ):
        raise ValueError(f"{what} of the run is {name!r}; expected text without white space")
    if what == TOPIC and name.startswith("#"):
        raise ValueError(
            f"{what} of the run is {name!r}; expected no '#' at its beginning, which begins a "
            "comment"
        )
    return name
