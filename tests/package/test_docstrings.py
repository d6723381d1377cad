"""Docstrings begin with a verb in the imperative or a noun phrase."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("gapboost", "tests", "benchmarks", "docs", "examples", ".ci")
OPENING = re.compile(r"(What|Whether|How|Where|That|Those|The same|As|Of|For|In|With)\b")
# At most 15: the module, the name of the function or class ("" for the module), and the opening.
EXCEPTIONS = {
    ("docs/tutorials/06_in_production.py", "", "In"),  # the title of a page
}


def modules():
    """Yield the source files of the repository or source distribution."""
    for folder in FOLDERS:
        yield from sorted((ROOT / folder).rglob("*.py"))
    yield from sorted(ROOT.glob("*.py"))


def openings(source):
    """Yield each definition whose docstring begins with a word of `OPENING`, and the word."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            opening = OPENING.match(ast.get_docstring(node) or "")
            if opening:
                yield getattr(node, "name", ""), opening[1]


def test_docstrings_begin_with_a_verb_or_a_noun():
    paths = [
        path
        for path in modules()
        if "_build" not in path.parts and "auto_tutorials" not in path.parts
    ]
    assert len(paths) > 200
    found = {
        (path.relative_to(ROOT).as_posix(), name, opening)
        for path in paths
        for name, opening in openings(path.read_text(encoding="utf-8"))
    }
    assert found == EXCEPTIONS
    assert len(EXCEPTIONS) <= 15


@pytest.mark.parametrize(
    ("docstring", "opening"),
    [
        ("What fits.", "What"),
        ("The same in another order.", "The same"),
        ("As in the paper.", "As"),
        ("Assign grades.", None),
        ("Inverse propensities.", None),
        ("Return the mean.", None),
    ],
)
def test_an_opening_is_a_whole_word(docstring, opening):
    source = f'def f():\n    """{docstring}"""\n'
    assert list(openings(source)) == ([("f", opening)] if opening else [])
