"""Parts of a section: headings, paragraphs, tables, links and pictures."""

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gapboost._pages.text import escaped

# Cells of longer text keep a width on narrow pages, where the table scrolls.
LONG_TEXT = 60


@dataclass(frozen=True)
class Link:
    """Text that leads to a page elsewhere."""

    text: str
    url: str

    def html(self) -> str:
        """Return HTML."""
        return f'<a href="{html.escape(self.url)}">{html.escape(self.text)}</a>'

    def markdown(self) -> str:
        """Return Markdown."""
        return f"[{escaped(self.text)}]({self.url})"

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Heading:
    """Heading below the one of the section."""

    text: str

    def html(self) -> str:
        """Return HTML."""
        return f"<h3>{html.escape(self.text)}</h3>"

    def markdown(self) -> str:
        """Return Markdown."""
        return f"### {escaped(self.text)}"


@dataclass(frozen=True)
class Paragraph:
    """Text of one paragraph."""

    text: str

    def html(self) -> str:
        """Return HTML."""
        return f"<p>{html.escape(self.text)}</p>"

    def markdown(self) -> str:
        """Return Markdown."""
        return escaped(self.text)


@dataclass(frozen=True)
class Table:
    """Table of cells; the first `words` columns are text, the others numbers."""

    head: Sequence[str]
    rows: Sequence[Sequence[str | Link]]
    words: int = 1

    def html(self) -> str:
        """Return HTML; a wide table scrolls on a narrow page."""
        lines = [self._row(self.head, "th"), *(self._row(row, "td") for row in self.rows)]
        return f'<div class="wide"><table>{"".join(lines)}</table></div>'

    def _row(self, cells: Sequence[str | Link], kind: str) -> str:
        kinds = [
            "number" if place >= self.words else "text" if len(str(cell)) > LONG_TEXT else ""
            for place, cell in enumerate(cells)
        ]
        classes = [f' class="{name}"' if name else "" for name in kinds]
        inside = [cell.html() if isinstance(cell, Link) else html.escape(cell) for cell in cells]
        row = (f"<{kind}{c}>{cell}</{kind}>" for c, cell in zip(classes, inside, strict=True))
        return f"<tr>{''.join(row)}</tr>"

    def markdown(self) -> str:
        """Return Markdown."""
        rule = ["---" if place < self.words else "---:" for place in range(len(self.head))]
        rows = (
            [cell.markdown() if isinstance(cell, Link) else escaped(cell) for cell in cells]
            for cells in (self.head, *self.rows)
        )
        head, *rest = (f"| {' | '.join(cells)} |" for cells in rows)
        return "\n".join([head, f"| {' | '.join(rule)} |", *rest])

    def aligned(self) -> str:
        """Return lines of text with aligned columns, for a terminal."""
        rows = [[str(cell) for cell in cells] for cells in (self.head, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(
                f"{cell:<{width}}" if place < self.words else f"{cell:>{width}}"
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        )


@dataclass(frozen=True)
class Pictures:
    """Pictures as SVG with a legend; Markdown leaves them out.

    Attributes
    ----------
    draw : function without arguments
        Returns the pictures, one SVG each. Only `html` calls it, as only HTML needs matplotlib.
    key : str
    """

    draw: Callable[[], Sequence[str]]
    key: str

    def html(self) -> str:
        """Return HTML."""
        figures = "".join(f"<figure>{drawn}</figure>" for drawn in self.draw())
        return f'<div class="pictures">{figures}</div><p class="key">{html.escape(self.key)}</p>'

    def markdown(self) -> str:
        """Return an empty text."""
        return ""


Block = Heading | Paragraph | Table | Pictures
