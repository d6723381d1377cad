"""Contents that errors about arguments must have, and the defects of each kind of argument."""

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


def check(error, argument, found, expected, call):
    """Check that a message has the argument, what was found, "expected" and what is right."""
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    message = str(caught.value)
    assert caught.type is error, message
    assert message.startswith(argument + " "), message
    before, _, after = message.replace("; remove it", "; expected it to be removed").partition(
        "expected"
    )
    assert after, message
    assert found in before, message
    assert expected in after, message


def table(*rows):
    """One test a row, named by what is wrong."""
    return [pytest.param(*row, id=f"{row[0]}-{row[1]}") for row in rows]


# {defect: value}; the finding is the value as it prints, unless a tuple (value, finding) says
# otherwise.
NOT_WHOLE = {
    "None": None,
    "a boolean": True,
    "text": "3",
    "a float": 2.0,
    "a fraction": 1.5,
    "NaN": nan,
    "infinite": inf,
    "complex": 1j,
    "a list": [3],
    "empty": [],
    "negative": -1,
}
NOT_POSITIVE_WHOLE = {**NOT_WHOLE, "zero": 0}
NOT_A_SHARE = {
    "None": None,
    "a boolean": True,
    "text": "0.5",
    "NaN": nan,
    "infinite": inf,
    "zero": 0,
    "one": 1.0,
    "negative": -0.5,
    "a list": [0.5],
    "two columns": (np.ones((2, 2)), "array"),
}
NOT_A_CHOICE = {
    "another word": "other",
    "a number": 0.5,
    "a list": ["row"],
    "a set": {"row"},
    "two columns": (np.ones((2, 2)), "array"),
    "NaN": nan,
}
NOT_A_SEED = {
    "a boolean": True,
    "text": "seed",
    "negative": -1,
    "a fraction": 1.5,
    "NaN": nan,
    "a list": [1],
    "two columns": (np.ones((2, 2)), "array"),
}
NOT_A_MAPPING = {
    "None": None,
    "text": "text",
    "a number": 3,
    "a list": [("a", 1)],
    "NaN": nan,
    "two columns": (np.ones((2, 2)), "array"),
}
NOT_A_MEASURE = {
    "None": None,
    "a number": 3,
    "a boolean": True,
    "NaN": nan,
    "a function": (print, "print"),
    "a set": {"gap"},
}
NOT_ROWS = {
    "None": (None, "shape ()"),
    "a number": (3, "shape ()"),
    "text": ("text", "shape ()"),
    "three dimensions": (np.ones((4, 1, 1)), "shape (4, 1, 1)"),
    "ragged": ([[1], [1, 2]], "different lengths"),
}


def without(kind, *accepted):
    """The defects of a kind but for what this argument accepts."""
    return {defect: value for defect, value in kind.items() if defect not in accepted}


def defects(function, argument, kind, expected, error=ValueError, named=None):
    """Yield one row for each defect.

    The columns are ``(function, argument, defect, value, error, named, found, expected)``.
    """
    for defect, value in kind.items():
        value, found = value if isinstance(value, tuple) else (value, repr(value))
        yield pytest.param(
            function,
            argument,
            value,
            error,
            named or argument,
            found,
            expected,
            id=f"{function}-{argument}-{defect}",
        )


FIELDS = ("function", "argument", "value", "error", "named", "found", "expected")
