"""Which boosters are installed, and which test files can do without those that are not."""

import ast
from importlib.util import find_spec
from pathlib import Path

import pytest

BOOSTERS = ("lightgbm", "xgboost")


MISSING = {booster for booster in BOOSTERS if find_spec(booster) is None}


def needs(booster: str) -> pytest.MarkDecorator:
    """A test of something that only exists beside the booster."""
    return pytest.mark.skipif(booster in MISSING, reason=f"{booster} is not installed")


def boosters_of(path: Path) -> set[str]:
    """Return the boosters that importing a file needs, directly or through files of this folder."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            parts = name.split(".")
            found |= set(BOOSTERS) & set(parts)
            # Benchmarks compare both boosters.
            found |= set(BOOSTERS) if parts[0] == "benchmarks" else set()
            beside = Path(__file__).with_name(f"{parts[0]}.py")
            if beside.exists():
                found |= boosters_of(beside)
    return found
