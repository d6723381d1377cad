"""Pictures without a window."""

import pytest
from matplotlib import pyplot


@pytest.fixture(autouse=True)
def no_window():
    """Draw on memory alone, and close what was drawn."""
    pyplot.switch_backend("Agg")
    yield
    pyplot.close("all")
