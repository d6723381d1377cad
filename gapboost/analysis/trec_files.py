"""Files of judgments and runs.

The docstring of `gapboost.analysis.trec` gives the rules for what these files leave open.
"""

import csv
import gzip
import math
import os
import zlib
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from gapboost._data.arguments import mapping
from gapboost._optional import imported

Qrels: TypeAlias = Mapping[str, Mapping[str, float]]
Run: TypeAlias = Mapping[str, Mapping[str, float]]


def read_qrels(path: Any) -> dict[str, dict[str, float]]:
    r"""Read judgments: ``{topic: {document: judgment}}``, as ir_measures takes them too.

    Parameters
    ----------
    path : path
        Lines ``topic iteration document judgment`` (TREC, MS MARCO), or ``topic document judgment``
        below a header (BEIR). Names that end in .gz, .bz2, .xz or .zst are compressed files.
        Judgments are ints where they are whole, and else floats.

    Raises
    ------
    ValueError
        If a line does not have these parts, a judgment is not a finite number, a name is not UTF-8,
        or a document is judged twice in a topic; if the file is empty or damaged.

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
    found = _read(path, {4: (0, 2, 3), 3: (0, 1, 2)}, "topic iteration document judgment")
    return {
        topic: {d: int(grade) if grade.is_integer() else grade for d, grade in judged.items()}
        for topic, judged in found.items()
    }


def read_run(path: Any) -> dict[str, dict[str, float]]:
    r"""Read a run: ``{topic: {document: score}}``, as ir_measures takes it too.

    Parameters
    ----------
    path : path
        Lines ``topic Q0 document rank score tag`` (TREC; the rank is not used), or ``topic document
        rank`` (MS MARCO), whose scores are minus the rank. Compressed as in `read_qrels`.

    Raises
    ------
    ValueError
        As in `read_qrels`.

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
    return _read(path, {6: (0, 2, 4), 3: (0, 1, -2)}, "topic Q0 document rank score tag")


def _read(
    path: Any, formats: Mapping[int, tuple[int, int, int]], expected: str
) -> dict[str, dict[str, float]]:
    """Return ``{topic: {document: number}}`` of a file.

    `formats` has the columns of topic, document and number by how many columns there are; a
    negative column is one whose numbers change their sign.
    """
    pandas = imported("pandas", "analysis", "to read judgments and runs")
    try:
        table = pandas.read_csv(
            path,
            sep=r"\s+",
            header=None,
            dtype=str,
            keep_default_na=False,
            quoting=csv.QUOTE_NONE,
            encoding="utf-8-sig",
        )
    except (ValueError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path}: expected lines '{expected}' ({error})") from error
    if table.shape[1] not in formats:
        raise ValueError(
            f"{path}: found {table.shape[1]} columns; expected lines '{expected}', or three columns"
        )
    topic, document, number = formats[table.shape[1]]
    values = pandas.to_numeric(table[abs(number)], errors="coerce").to_numpy(dtype=np.float64)
    if table.shape[1] == 3 and np.isnan(values[0]):  # a header
        table, values = table.iloc[1:], values[1:]
    # A line with fewer parts than the first has empty ones.
    wrong = ~np.isfinite(values) | (table == "").any(axis=1).to_numpy()
    if wrong.any() or len(table) == 0:
        row = " ".join(table.iloc[int(np.argmax(wrong))]) if len(table) else "no lines"
        raise ValueError(f"{path}: found {row!r}; expected lines '{expected}' with finite numbers")
    repeated = table.duplicated([topic, document])
    if repeated.any():
        row = " ".join(table[repeated].iloc[0])
        raise ValueError(f"{path}: found {row!r}; expected each document once in a topic")
    numbers = table[abs(number)].astype(np.float64) * (-1 if number < 0 else 1)
    found: dict[str, dict[str, float]] = {}
    for t, d, value in zip(table[topic], table[document], numbers.tolist(), strict=True):
        found.setdefault(t, {})[d] = value
    return found


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
        If the run is empty, a name is empty, holds white space or is no string, or a score is not
        finite.

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
    written: list[str] = []
    for topic, scores in run.items():
        for name in (tag, topic, *scores):
            if not isinstance(name, str) or name.split() != [name]:
                raise ValueError(
                    f"the run holds the name {name!r}; expected text without white space"
                )
        ranked = sorted(scores.items(), key=lambda item: (float(item[1]), item[0]), reverse=True)
        for rank, (document, score) in enumerate(ranked, start=1):
            if not math.isfinite(score):
                raise ValueError(
                    f"run holds the score {score} for document {document!r}; expected finite scores"
                )
            written.append(f"{topic} Q0 {document} {rank} {float(score)} {tag}\n")
    name = os.fspath(path)
    opened: Any = gzip.open if name.endswith(".gz") else open
    with opened(name, "wt", encoding="utf-8") as file:
        file.writelines(written)
