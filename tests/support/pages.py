"""What pages say, as plain text, and how they write numbers."""

from pathlib import Path

ROOT = Path(__file__).parents[2]


def plain(page):
    """What a page says, with the minus and the zeros of programs."""
    return (ROOT / page).read_text(encoding="utf-8").replace("−", "-")


def in_one_line(page):
    """The same without breaks of lines, which sentences go across."""
    return " ".join(plain(page).split())


def text(number, decimals=3):
    """A number in a sentence: without the zero before the point."""
    return f"{number:.{decimals}f}".removeprefix("0")
