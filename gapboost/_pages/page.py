"""A page: sections of paragraphs, tables and pictures."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from gapboost._pages.blocks import Block
from gapboost._pages.text import escaped

PAGE = Template(files(__package__).joinpath("page.html").read_text(encoding="utf-8"))
ENDINGS = (".html", ".md")


@dataclass(frozen=True)
class Page:
    """Title and sections of a report."""

    title: str
    sections: Sequence[tuple[str, Sequence[Block]]]

    def write(self, path: Path) -> None:
        """Write HTML or Markdown, by the ending of `path`."""
        path.write_text(
            self.html() if path.suffix == ".html" else self.markdown(), encoding="utf-8"
        )

    def html(self) -> str:
        """Return an HTML page that needs no other files."""
        body = []
        for heading, blocks in self.sections:
            body += [f"<h2>{html.escape(heading)}</h2>", *(block.html() for block in blocks)]
        return PAGE.substitute(title=html.escape(self.title), body="\n".join(body))

    def markdown(self) -> str:
        """Return Markdown, without pictures."""
        parts = [f"# {escaped(self.title)}"]
        for heading, blocks in self.sections:
            parts += [
                f"## {escaped(heading)}",
                *(text for block in blocks if (text := block.markdown())),
            ]
        return "\n\n".join(parts) + "\n"


def checked_path(path: Any, endings: tuple[str, ...] = ENDINGS) -> Path:
    """Return the path of a report.

    Raises
    ------
    ValueError
        If it has none of the endings.
    """
    found = Path(path)
    if found.suffix not in endings:
        raise ValueError(
            f"path is {str(path)!r}; expected one that ends with {' or '.join(endings)}"
        )
    return found
