"""The examples in docstrings, of the package that is imported: from the checkout, or as it is installed."""

import doctest
import importlib
from pathlib import Path

import pytest

import gapboost

PACKAGE = Path(gapboost.__file__).parent


def name_of(path):
    return ".".join(("gapboost", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


WITH_EXAMPLES = [name_of(path) for path in sorted(PACKAGE.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]


def test_there_are_examples():
    assert len(WITH_EXAMPLES) > 20


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0, "see what was printed"
