"""What the studies share: saved results, intervals, tables; and that they import each other one way only."""

import ast
import os
import re
from pathlib import Path

import numpy as np
import numpy.testing as npt
import pytest
from scipy import stats

from benchmarks.studies import inference, tables
from benchmarks.studies.records import Records, finish
from gapboost.analysis.estimates import Estimate, clustered, holm, independent

ROOM = Path(inference.__file__).parent
STUDIES = [path.name for path in ROOM.iterdir() if (path / "__main__.py").exists()]


def imports():
    """{module: modules of the studies that it imports}."""
    found = {}
    for path in ROOM.rglob("*.py"):
        name = ".".join(("benchmarks.studies", *path.relative_to(ROOM).with_suffix("").parts)).removesuffix(".__init__")
        seen = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                seen |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
            elif isinstance(node, ast.Import):
                seen |= {alias.name for alias in node.names}
        found[name] = seen
    return {name: seen & found.keys() - {name, "benchmarks.studies"} for name, seen in found.items()}


def test_no_circle_of_imports():
    left = {name: {n for n in seen if not name.startswith(f"{n}.")} for name, seen in imports().items()}
    assert len(left) > 5
    while free := [name for name, seen in left.items() if not seen & left.keys()]:
        for name in free:
            del left[name]
    assert not left


def test_what_is_shared_knows_no_study():
    for name, seen in imports().items():
        if name.count(".") == 2 and name.rpartition(".")[2] not in STUDIES:
            assert not any(other.split(".")[2] in STUDIES for other in seen), name


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


@pytest.mark.parametrize("cut", [1, 5, 12, 20])
def test_a_task_that_was_cut_off_is_computed_again(tmp_path, cut):
    records = Records(tmp_path / "some.csv", ("name",))
    tasks = {(name,): lambda: [{"value": 1}, {"value": 2}] for name in ("first", "second")}
    finish(records, tasks)
    whole = records.path.read_bytes()
    records.path.write_bytes(whole[:-cut])
    finish(records, tasks)
    assert sorted(records.path.read_bytes().splitlines()) == sorted(whole.splitlines())


def test_rows_have_the_columns_of_the_file(tmp_path):
    records = Records(tmp_path / "some.csv", ("name",))
    records.add([{"name": "a", "value": 1}])
    for row in ({"name": "b"}, {"name": "b", "value": 1, "more": 2}):
        with pytest.raises(ValueError, match=r"has the columns .*; expected \['name', 'value'\]"):
            records.add([row])
    assert [row["name"] for row in records] == ["a"]


def test_a_task_in_the_work_of_another_process_is_left_to_it(tmp_path):
    import multiprocessing

    records = Records(tmp_path / "some.csv", ("name",))
    context = multiprocessing.get_context("fork")
    begun, go_on = context.Event(), context.Event()

    def slow():
        begun.set()
        go_on.wait(60)
        return [{"process": os.getpid()}]

    other = context.Process(target=finish, args=(records, {("a",): slow}, tmp_path / "locks"))
    other.start()
    assert begun.wait(60)
    tasks = {(name,): lambda: [{"process": os.getpid()}] for name in "ab"}
    finish(records, tasks, tmp_path / "locks")
    assert [row["name"] for row in records] == ["b"]
    go_on.set()
    other.join(60)
    finish(records, tasks, tmp_path / "locks")
    assert {row["name"]: row["process"] == str(os.getpid()) for row in records} == {"b": True, "a": False}


def test_clusters_of_one_value_are_independent_values():
    values = np.random.default_rng(0).normal(0.1, 1, 30)
    one, other = clustered(list(values[:, None])), independent(values)
    assert one.error == pytest.approx(other.error)
    assert one.freedom == pytest.approx(29)
    assert other.p == pytest.approx(stats.ttest_1samp(values, 0).pvalue)
    npt.assert_allclose(other.interval(), stats.ttest_1samp(values, 0).confidence_interval())


def test_equal_clusters_count_as_their_means():
    values = np.random.default_rng(1).normal(size=(6, 40)) + np.random.default_rng(2).normal(size=(6, 1))
    one, other = clustered(list(values)), independent(values.mean(axis=1))
    assert one.error == pytest.approx(other.error)
    assert one.freedom == pytest.approx(5)


def test_intervals_over_clusters_hold_what_they_promise():
    """Few clusters, one of them large, and a shared error in each: 95 % intervals hold the truth, those over values do not."""
    rng = np.random.default_rng(0)
    sizes = (200, 200, 30, 30, 20, 20, 20)
    held = {"clustered": 0, "as if independent": 0}
    for _ in range(400):
        clusters = [rng.normal(size=n) + rng.normal(scale=0.5) for n in sizes]
        for name, estimate in (
            ("clustered", clustered(clusters)),
            ("as if independent", independent(np.concatenate(clusters))),
        ):
            low, high = estimate.interval()
            held[name] += low < 0 < high
    assert held["clustered"] >= 0.93 * 400
    assert held["as if independent"] < 0.6 * 400


def test_level_is_two_one_sided_tests():
    margin, error = 0.003, 0.001
    for mean in (0.0, 0.001, 0.0015, -0.0015, 0.0029):
        p = max(stats.t.sf((margin - mean) / error, 20), stats.t.sf((mean + margin) / error, 20))
        assert Estimate(mean, error, 20).level(margin) == (p < 0.05)
    assert Estimate(0.0, 0.0, 5).p == 1.0


def test_holm():
    """Holm (1979): the smallest p-value times their number, the next times one less, never falling."""
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005}) == pytest.approx(
        {"d": 0.02, "a": 0.03, "c": 0.06, "b": 0.06}
    )
    assert holm({"a": 0.9, "b": 0.8}) == {"b": 1.0, "a": 1.0}


def test_bootstrapped_means():
    values = np.random.default_rng(0).normal(1.0, 2.0, 200)
    low, high = inference.bootstrapped(lambda drawn: values[drawn].mean(), 200)
    npt.assert_allclose((low, high), independent(values).interval(), atol=0.05)


def test_text_goes_between_its_markers(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- a -->old<!-- end of a -->\nafter\n")
    tables.write("a", "new", page)
    tables.write("a", "newer", page)
    assert page.read_text() == "before\n<!-- a -->\n\nnewer\n\n<!-- end of a -->\nafter\n"
    with pytest.raises(ValueError, match="holds <!-- b --> 0 times"):
        tables.write("b", "new", page)


def test_results_that_pages_lead_to_are_there():
    linked = {
        (page.parent / path).resolve()
        for page in (*ROOM.parent.glob("*.md"), *ROOM.rglob("*.md"), ROOM.parents[1] / "README.md")
        for path in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text(encoding="utf-8"))
    }
    assert any(path.parent.name == "results" for path in linked)
    assert [path for path in linked if not path.exists()] == []
