"""Lines of the files that are read, none longer than a limit, and the numbers in them."""

import codecs
from collections.abc import Iterator
from typing import Any

# No line of real data comes near it; a compressed file of a few kilobytes can hold one that fills
# the memory.
MAX_LINE_BYTES = 1 << 26


# Bytes are searched for a byte three times as fast by its number.
UNDERSCORE = ord("_")

# UTF-32 begins with the mark of UTF-16, or with zeros.
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class LongLine(ValueError):
    """A line is longer than the limit; the message begins with its number."""


class OtherEncoding(ValueError):
    """The text is UTF-16 or UTF-32; the message begins with the number of the line."""


def lines(stream: Any, limit: int) -> Iterator[bytes]:
    r"""Yield each line without its end, ``\n``, ``\r\n`` or ``\r``, and without a byte order mark.

    Parameters
    ----------
    stream : binary stream
    limit : int
        Bytes that a line, with its end, may have.

    Raises
    ------
    LongLine
        Where a line has more; of that line no more than the limit is read.
    OtherEncoding
        Where the first line begins with the byte order mark of UTF-16 or UTF-32, or every second
        byte of its beginning is 0.
    """
    number, mark = 0, codecs.BOM_UTF8
    while found := stream.readline(limit + 1):
        if len(found) > limit:
            raise LongLine(
                f"line {number + 1}: found more than {limit} bytes, expected at most "
                f"max_line_bytes={limit}"
            )
        if number == 0 and (
            found.startswith(UTF16_MARKS) or (len(found) > 3 and 0 in found[:2] and 0 in found[2:4])
        ):
            raise OtherEncoding("line 1: found the bytes of UTF-16 or UTF-32, expected UTF-8")
        for line in found.removeprefix(mark).splitlines():
            number += 1
            yield line
        mark = b""


def checked_number(word: bytes) -> bytes:
    """Return a word that `int`, `float` or scikit-learn will read as a number, after a check.

    Python's own numbers may have underscores, as its source code has: ``1_0`` is 10 to it, and no
    number to trec_eval, the boosters or anything else that reads these files. Of bytes Python reads
    nothing more that C does not.

    Raises
    ------
    ValueError
        If the word has an underscore.
    """
    if UNDERSCORE in word:
        raise ValueError(f"the number {word.decode(errors='replace')!r} has an underscore")
    return word
