"""Numbers and tables of a page in Markdown."""

from benchmarks.harness import FIGURES, table, write

__all__ = ["FIGURES", "interval_text", "signed", "table", "write"]


def signed(value: float, digits: int = 4) -> str:
    """Return a number with a sign, which is a minus and no hyphen."""
    return f"{value:+.{digits}f}".replace("-", "−")


def interval_text(interval: tuple[float, float], digits: int = 4) -> str:
    """Return both ends of an interval."""
    return f"{signed(interval[0], digits)} … {signed(interval[1], digits)}"
