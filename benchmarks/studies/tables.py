"""Numbers, tables and folded parts of a page in Markdown, and how they get between a page's markers."""

import textwrap

from benchmarks.harness import FIGURES, table, write

__all__ = [
    "FIGURES",
    "folded",
    "interval_text",
    "p_text",
    "paragraphs",
    "picture",
    "signed",
    "table",
    "wrapped",
    "write",
]


def signed(value: float, digits: int = 4) -> str:
    """With a sign, which is a minus and no hyphen."""
    return f"{value:+.{digits}f}".replace("-", "−")


def interval_text(interval: tuple[float, float], digits: int = 4) -> str:
    """From and to."""
    return f"{signed(interval[0], digits)} … {signed(interval[1], digits)}"


def p_text(p: float) -> str:
    """Three digits."""
    return f"{p:.3f}" if p >= 0.001 else "< .001"


def wrapped(text: str) -> str:
    """A paragraph in lines."""
    return textwrap.fill(text, 128, break_long_words=False, break_on_hyphens=False)


def paragraphs(text: str) -> str:
    """Return the text in lines of at most 100 columns, where each line was a paragraph or, from a star on, a bullet."""
    return "".join(
        textwrap.fill(
            one, 100, subsequent_indent="  " * one.startswith("* "), break_long_words=False, break_on_hyphens=False
        )
        + "\n"
        for one in text.strip().splitlines()
    )


def folded(summary: str, text: str) -> str:
    """What a click shows."""
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>\n"


def picture(name: str, caption: str) -> str:
    """One of the figures beside the pages."""
    return f"![{caption}](figures/{name}.png)\n"
