"""The tables of `benchmarks/CLASSIFICATION.md`."""


def redraw() -> None:
    """Nothing yet."""
