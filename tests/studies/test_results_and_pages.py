"""Saved results of the studies, the parts of pages that they write, and links to results."""

import re

import pytest
from study_results import ROOT

from benchmarks.harness import write
from benchmarks.studies.records import Records, finish


def test_finished_tasks_are_not_computed_again(tmp_path):
    calls = []

    def task(name):
        def compute():
            calls.append(name)
            if name == "c" and calls.count("c") == 1:
                raise KeyboardInterrupt
            return [{"value": len(calls) / 3, "text": f"{name}, {name}", "none": None}] * 2

        return compute

    records = Records(tmp_path / "results" / "some.csv", ("name",))
    tasks = {(name,): task(name) for name in "abc"}
    with pytest.raises(KeyboardInterrupt):
        finish(records, tasks)
    finish(records, tasks)
    finish(records, tasks)
    assert calls == ["a", "b", "c", "c"]
    assert records.done() == {("a",), ("b",), ("c",)}
    first, *_ = records
    assert first == {"name": "a", "value": "0.333333", "text": "a, a", "none": ""}
    assert len(list(records)) == 6


def test_rows_have_the_columns_of_the_file(tmp_path):
    records = Records(tmp_path / "some.csv", ("name",))
    records.add([{"name": "a", "value": 1}])
    for row in ({"name": "b"}, {"name": "b", "value": 1, "more": 2}):
        with pytest.raises(ValueError, match=r"has the columns .*; expected \['name', 'value'\]"):
            records.add([row])
    assert [row["name"] for row in records] == ["a"]


def test_text_goes_between_its_markers(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- a -->old<!-- end of a -->\nafter\n")
    write("a", "new", page)
    write("a", "newer", page)
    assert page.read_text() == "before\n<!-- a -->\n\nnewer\n\n<!-- end of a -->\nafter\n"
    with pytest.raises(ValueError, match="holds <!-- b --> 0 times"):
        write("b", "new", page)


def test_results_that_pages_lead_to_are_there():
    linked = {
        (page.parent / path).resolve()
        for page in (*(ROOT / "benchmarks").rglob("*.md"), ROOT / "README.md")
        for path in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text(encoding="utf-8"))
    }
    assert any(path.parent.name == "results" for path in linked)
    assert [path for path in linked if not path.exists()] == []
