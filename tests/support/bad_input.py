"""The small data set of tests of bad input, and what every message about an argument has."""

import numpy as np
import pytest

nan, inf = np.nan, np.inf

# The good input: 4 queries of 10 documents.
RNG = np.random.default_rng(0)
X, Y, QID = RNG.normal(size=(40, 3)), RNG.integers(0, 3, 40), np.repeat(np.arange(4), 10)


def check_refusal(argument, call, expected=""):
    """Check that a message begins with the argument, and says what is expected."""
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    message = str(caught.value)
    assert message.startswith((f"{argument} ", f"{argument}[")), message
    assert expected in message.partition("expected")[2], message
    assert "expected" in message, message
    assert len(message) < 600, "a message prints data"
