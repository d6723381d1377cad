"""The examples in docstrings, of the package that is imported: from the checkout, or as it is installed."""

import doctest
import importlib
from pathlib import Path

import pytest
from installed import MISSING

import gapboost

PACKAGE = Path(gapboost.__file__).parent


def name_of(path):
    return ".".join(("gapboost", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


WITH_EXAMPLES = [name_of(path) for path in sorted(PACKAGE.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]


def test_there_are_examples():
    assert len(WITH_EXAMPLES) > 20


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples(name):
    try:
        result = doctest.testmod(importlib.import_module(name), raise_on_error=bool(MISSING))
    except (ImportError, doctest.UnexpectedException) as error:
        cause = error.exc_info[1] if isinstance(error, doctest.UnexpectedException) else error
        if not any(booster in str(cause) for booster in MISSING):
            raise
        pytest.skip(f"without {', '.join(sorted(MISSING))}")
    assert result.attempted > 0
    assert result.failed == 0, "see what was printed"
