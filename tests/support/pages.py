"""Pages as plain text, and the format of their numbers."""

from pathlib import Path

ROOT = Path(__file__).parents[2]


def plain(page):
    """Return the text of a page, with the minus sign of programs."""
    return (ROOT / page).read_text(encoding="utf-8").replace("−", "-")


def in_one_line(page):
    """Return the text of a page in one line."""
    return " ".join(plain(page).split())


def text(number, decimals=3):
    """A number in a sentence: without the zero before the point."""
    return f"{number:.{decimals}f}".removeprefix("0")
