"""The code blocks of a Markdown page, section by section, and how a test runs them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

FENCE = re.compile(r"```(\S*)")
HEADING = re.compile(r"#+ (.+)")


class Block(NamedTuple):
    """A fenced block: its language, or "" without one, its code, and its place on the page."""

    language: str
    code: str
    page: Path
    line: int  # of the first line of code, from 1


class Section(NamedTuple):
    """Text between one heading, of any level, and the next."""

    title: str
    blocks: tuple[Block, ...]

    def of(self, language: str) -> list[Block]:
        return [block for block in self.blocks if block.language == language]


def sections(page: Path) -> Iterator[Section]:
    """Return the sections of `page` in order, also those without blocks.

    Text before the first heading has the title "".
    """
    title, blocks, opened = "", list[Block](), None
    lines = page.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        if opened is not None:
            language, start = opened
            if line.startswith("```"):
                blocks.append(
                    Block(language, "\n".join(lines[start : number - 1]) + "\n", page, start + 1)
                )
                opened = None
        elif fence := FENCE.match(line):
            opened = fence[1], number
        elif heading := HEADING.match(line):
            yield Section(title, tuple(blocks))
            title, blocks = heading[1], []
    assert opened is None, f"{page}: the block after line {opened and opened[1]} is not closed"
    yield Section(title, tuple(blocks))


def run(
    blocks: Sequence[Block],
    names: Mapping[str, Any] | None = None,
    instead: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Run blocks of Python in order in one namespace, and return it; errors show the page's line.

    What a page leaves to its reader is stated by the test: `names` are there before the first block
    (``{"X": X}``), and the code has the values of `instead` where the page has its keys
    (``{'"path/to/Fold1"': repr(folder)}``). A key that the blocks don't contain is an error, so no
    stand-in outlives its text.
    """
    namespace = {"__name__": "__main__", **(names or {})}
    instead = instead or {}
    for text in instead:
        assert any(text in block.code for block in blocks), f"no block contains {text!r}"
    for block in blocks:
        code = block.code
        for text, replacement in instead.items():
            assert "\n" not in replacement, f"{replacement!r} would move the lines below it"
            code = code.replace(text, replacement)
        code = "\n" * (block.line - 1) + code
        exec(compile(code, str(block.page), "exec", dont_inherit=True), namespace)
    return namespace
