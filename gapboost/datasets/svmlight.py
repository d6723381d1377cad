"""Rows of one file in SVMlight format, with queries and documents as they are spelled."""

from __future__ import annotations

import gzip
import re
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from gapboost._data.text import UNDERSCORE, LongLine, OtherEncoding, checked_number, lines

EXPECTED = "grade qid:QUERY index:value index:value ... # docid = DOCUMENT"
_DOCID = re.compile(rb"\bdoc_?id\s*[=:]\s*(\S+)", re.IGNORECASE)
WHOLE_NUMBER = re.compile(rb"[+-]?[0-9]{1,19}")
MAX_INT32 = np.iinfo(np.int32).max


class _RowTap:
    """Binary stream that passes lines through, and notes query, document and line numbers.

    ``load_svmlight_file(query_id=True)`` is not used for the queries: it knows whole numbers only,
    and takes time that grows with the square of the number of rows (it appends each to a NumPy
    array).
    """

    def __init__(self, stream: BinaryIO, max_line_bytes: int) -> None:
        self._stream = stream
        self._limit = max_line_bytes
        self.line = b""
        self.line_number = 0
        self.line_numbers = array("q")
        self.keys: dict[bytes, int] = {}  # spelling of a query -> its code
        self.codes = array("q")  # of each row; -1: no query given
        self.docids: list[str] | None = []

    def read(self, size: int = -1) -> bytes:
        return self._stream.read(size)

    def __iter__(self) -> Iterator[bytes]:
        for line in lines(self._stream, self._limit):
            self.line, self.line_number = line, self.line_number + 1
            row, hash_sign, comment = line.partition(b"#")
            words = row.split(None, 2)
            if words:
                self.line_numbers.append(self.line_number)
                named = len(words) > 1 and words[1].startswith(b"qid")
                if named and not words[1].startswith(b"qid:"):
                    # scikit-learn takes whatever begins so for a query, and drops it.
                    raise ValueError(
                        f"the query {words[1].decode(errors='replace')!r} does not begin with "
                        "'qid:'"
                    )
                if named and hash_sign and row.endswith(words[1]):
                    raise ValueError(
                        f"the query {words[1][4:].decode(errors='replace')!r} ends at '#', where a "
                        "comment begins; expected a blank before '#', and queries without it"
                    )
                key = words[1][4:] if named else b""
                if key and key not in self.keys:
                    decoded(key, "query")
                    self.keys[key] = len(self.keys)
                self.codes.append(self.keys[key] if key else -1)
                if UNDERSCORE in row:
                    _check_numbers(row)
                self._note_docid(comment)
            yield line

    def _note_docid(self, comment: bytes) -> None:
        if self.docids is None:
            return
        named = _DOCID.search(comment)
        docid = named.group(1) if named else next(iter(comment.split(None, 1)), b"")
        if docid:
            self.docids.append(decoded(docid, "document"))
        else:
            self.docids = None


def _check_numbers(row: bytes) -> None:
    for word in row.split():
        if not word.startswith(b"qid:"):
            for number in word.split(b":"):
                checked_number(number)


def decoded(word: bytes, kind: str) -> str:
    """Return a query or a document as a string. Raise ValueError if letters would be lost."""
    try:
        name = word.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{kind} {word!r} is not UTF-8") from None
    if "\0" in name:
        raise ValueError(f"{kind} {word!r} has a NUL byte, where numpy's strings end")
    return name


@dataclass(frozen=True)
class ParsedFile:
    """The rows of one file.

    Attributes
    ----------
    path : Path
    X : csr_matrix
        Columns are the indices as written, so that column 0 of a 1-based file is empty.
    y : int32 or float64 ndarray of shape (N,)
    keys : list of bytes or None
        The queries as spelled; None where group sizes were given: the queries have no names.
    codes : int64 ndarray of shape (N,)
        The position of each row's query in `keys`, or the number of its group.
    docids : list of str or None
        Documents, if each row names one.
    """

    path: Path
    X: Any
    y: npt.NDArray[np.int32] | npt.NDArray[np.float64]
    keys: list[bytes] | None
    codes: npt.NDArray[np.int64]
    docids: list[str] | None

    @property
    def has_index_zero(self) -> bool:
        """True if an index is 0."""
        return bool((self.X.indices == 0).any())

    @property
    def n_columns(self) -> int:
        """The highest index plus 1; 0 without any."""
        return int(self.X.indices.max()) + 1 if self.X.nnz else 0


def _open(path: Path) -> BinaryIO:
    with path.open("rb") as stream:
        compressed = stream.read(2) == b"\x1f\x8b"
    return cast(BinaryIO, gzip.open(path, "rb")) if compressed else path.open("rb")


def read_file(path: Path, max_line_bytes: int) -> ParsedFile:
    """Read a plain or gzip file, and the file of group sizes next to it if rows have no queries.

    Raises
    ------
    ValueError
        Naming the file, the line, what was found and what is expected.
    """
    with _open(path) as stream:
        tap = _RowTap(stream, max_line_bytes)
        try:
            matrix, target = load_svmlight_file(tap, zero_based=True)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(
                f"{path}: broken gzip file after line {tap.line_number}: {error}"
            ) from error
        except (LongLine, OtherEncoding) as error:
            raise ValueError(f"{path}, {error}") from None
        except (ValueError, OverflowError) as error:
            start = tap.line[:80].decode("utf-8", errors="replace").rstrip()
            raise ValueError(
                f"{path}, line {tap.line_number}: cannot be read as '{EXPECTED}' ({error}); found "
                f"{start!r}"
            ) from error
    if not tap.line_numbers:
        raise ValueError(f"{path}: holds no rows, expected rows '{EXPECTED}'")
    wrong = np.flatnonzero(~((target >= 0) & (target <= MAX_INT32)))
    if len(wrong):
        raise ValueError(
            f"{path}, line {tap.line_numbers[wrong[0]]}: found grade {target[wrong[0]]:g}, "
            f"expected a number from 0 to {MAX_INT32} ({len(wrong)} of {len(target)} rows are "
            "outside)"
        )
    codes = np.frombuffer(tap.codes, dtype=np.int64)
    missing = np.flatnonzero(codes < 0)
    if len(missing) == len(codes):
        keys, codes = None, _read_groups(path, len(codes), max_line_bytes)
    elif len(missing):
        raise ValueError(
            f"{path}, line {tap.line_numbers[missing[0]]}: found no query, expected '{EXPECTED}'"
            f" ({len(missing)} of {len(codes)} rows have none)"
        )
    else:
        keys = list(tap.keys)
    whole_grades = bool((target == np.floor(target)).all())
    y = target.astype(np.int32 if whole_grades else np.float64)
    return ParsedFile(path, sparse.csr_matrix(matrix), y, keys, codes, tap.docids)


def _read_groups(path: Path, n_rows: int, max_line_bytes: int) -> npt.NDArray[np.int64]:
    """Read the group sizes next to a file without queries; return the group of each row."""
    groups = path.with_name(path.name.removesuffix(".gz") + ".query")
    if not groups.is_file():
        raise ValueError(
            f"{path}: found no queries, expected 'qid:' in each row, or group sizes in "
            f"{groups.name} beside it"
        )
    with groups.open("rb") as stream:
        try:
            words = [word for line in lines(stream, max_line_bytes) for word in line.split()]
        except (LongLine, OtherEncoding) as error:
            raise ValueError(f"{groups}, {error}") from None
    for word in words:
        if not WHOLE_NUMBER.fullmatch(word) or int(word) < 1:
            raise ValueError(
                f"{groups}: found group size {word.decode(errors='replace')!r}, expected whole "
                "numbers from 1"
            )
    sizes = [int(word) for word in words]
    if sum(sizes) != n_rows:
        raise ValueError(
            f"{groups}: the group sizes add up to {sum(sizes)}, expected {n_rows}, the number of "
            f"rows of {path.name}"
        )
    return np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
