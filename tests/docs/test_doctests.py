"""Examples in the docstrings of the imported package, from the checkout or installed."""

import doctest
import importlib
import re
from pathlib import Path

import pytest
from installed import MISSING
from threadpoolctl import threadpool_limits

import gapboost

PACKAGE = Path(gapboost.__file__).parent


def name_of(path):
    return ".".join(("gapboost", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(
        ".__init__"
    )


WITH_EXAMPLES = [
    name_of(path)
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


def test_there_are_examples():
    assert len(WITH_EXAMPLES) > 20


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples(name):
    if name == "gapboost.xgboost.spark":
        pytest.importorskip("pyspark")
    try:
        with threadpool_limits(1):  # a test has neighbors
            result = doctest.testmod(importlib.import_module(name), raise_on_error=bool(MISSING))
    except (ImportError, doctest.UnexpectedException) as error:
        cause = error.exc_info[1] if isinstance(error, doctest.UnexpectedException) else error
        if not any(booster in str(cause) for booster in MISSING):
            raise
        pytest.skip(f"without {', '.join(sorted(MISSING))}")
    assert result.attempted > 0
    assert result.failed == 0, "see what was printed"


ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "api"


def test_the_package_names_pages_that_exist():
    """Addresses with the placeholder of the account lead nowhere."""
    sources = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    named = {name for text in sources for name in re.findall(r"docs/[\w/]+\.md", text)}
    assert len(named) > 2
    assert [name for name in named if not (ROOT / name).exists()] == []
    assert [text for text in sources if "OWNER" in text] == []


def public_names():
    """Yield the names on pages of the reference; the guide runs examples of Dask and Spark."""
    for page in sorted(REFERENCE.glob("*.rst")):
        module = None
        for line in page.read_text(encoding="utf-8").splitlines():
            module = (
                line.removeprefix(".. currentmodule:: ")
                if line.startswith(".. currentmodule:: ")
                else module
            )
            if (
                module
                and page.stem not in ("index", "dask", "spark")
                and re.fullmatch(r"   \w[\w.]*", line)
            ):
                yield f"{module}.{line.strip()}"


def test_every_public_name_has_an_example():
    names = [name.rpartition(".") for name in public_names()]
    assert len(names) > 60
    assert [
        name
        for module, _, name in names
        if not any(booster in module for booster in MISSING)
        and ">>> " not in getattr(importlib.import_module(module), name).__doc__
    ] == []
