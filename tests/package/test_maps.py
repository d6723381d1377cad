"""The docstring of a package is its map: it names every file in it, and no other."""

import ast
import re
from pathlib import Path

import pytest

import gapboost

PACKAGE = Path(gapboost.__file__).parent
PACKAGES = sorted(path.parent for path in PACKAGE.rglob("__init__.py") if path.parent != PACKAGE)


def entries(package):
    """Names of the modules and packages in a package."""
    inside = [
        path
        for path in package.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    ]
    return sorted(path.stem for path in inside if path.stem != "__init__")


@pytest.mark.parametrize(
    "package", PACKAGES, ids=lambda package: package.relative_to(PACKAGE).as_posix()
)
def test_the_docstring_of_a_package_names_its_files(package):
    docstring = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8")))
    # the first column of its table
    assert sorted(re.findall(r"^`(\w+)` {2,}", docstring, re.MULTILINE)) == entries(package)


def test_the_page_of_the_architecture_names_the_rooms():
    page = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert sorted(set(re.findall(r"`gapboost/(\w+)(?:/|\.py)`", page))) == entries(PACKAGE)


def test_contributing_names_the_folders_of_tests():
    tests = Path(__file__).parents[1]
    table = re.findall(
        r"^\| `(\w+)` \|",
        (tests.parent / "CONTRIBUTING.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    there = {path.name for path in tests.iterdir() if any(path.glob("*.py"))}
    # The source distribution has no studies.
    assert sorted(table) == sorted(there | {"studies"})


def test_there_are_rooms():
    """The tests above would be content with none."""
    assert {"_kernels", "lambdarank", "measures", "dask"} <= {package.name for package in PACKAGES}
    assert "expected_value" in entries(PACKAGE / "_kernels")
