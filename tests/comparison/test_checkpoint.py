"""Checkpoints: an interrupted comparison continues, also in two processes, with the same result."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from cheap_rankers import Noisy, made
from scipy import sparse

from gapboost.comparison import compare_rankers
from gapboost.comparison.checkpoint import _content
from gapboost.comparison.training import Trainer
from gapboost.xgboost import XGBGAPRanker

X, Y, QID = made(30, 6)
RANKERS = {"one": Noisy(0.2, 1), "other": Noisy(0.6, 2), "third": Noisy(0.1, 3)}
GIVEN = {
    "X": X,
    "y": Y,
    "qid": QID,
    "rankers": RANKERS,
    "measures": ["gap", "ndcg@5"],
    "cv": 3,
    "repeats": 2,
}
TUNED = {**GIVEN, "tune": 3, "spaces": {name: {"noise": [0.1, 0.3, 1.0]} for name in RANKERS}}


def answer(found):
    """Values, verdicts and means, without times."""
    return (
        found.values.to_pandas(),
        found.summary(),
        found.means().drop(columns=["fit seconds", "predict ms"]),
    )


def assert_same(one, other):
    for a, b in zip(answer(one), answer(other), strict=True):
        assert a.equals(b)


@pytest.mark.parametrize("given", [GIVEN, TUNED], ids=["as they come", "tuned"])
def test_interrupted_at_ten_random_moments(given, tmp_path, monkeypatch):
    at_once = compare_rankers(**given)
    total = 18 + 54 * ("tune" in given)
    stops = np.random.default_rng(0).choice(np.arange(1, total), 10, replace=False)
    trained, did = [], Trainer.__call__

    def interrupted(self, task):
        if len(trained) in left:
            left.discard(len(trained))
            raise KeyboardInterrupt
        trained.append(task)
        return did(self, task)

    left = set(stops.tolist())
    monkeypatch.setattr(Trainer, "__call__", interrupted)
    interruptions = 0
    while True:
        try:
            found = compare_rankers(**given, checkpoint=tmp_path / "saved")
            break
        except KeyboardInterrupt:
            interruptions += 1
    assert interruptions == 10
    assert len(trained) == len(set(trained)) == total
    assert_same(found, at_once)


def test_a_second_call_trains_nothing(tmp_path, monkeypatch):
    first = compare_rankers(**GIVEN, checkpoint=tmp_path)
    monkeypatch.setattr(Trainer, "__call__", lambda self, task: pytest.fail("trained again"))
    second = compare_rankers(**GIVEN, checkpoint=str(tmp_path))
    assert_same(first, second)
    assert second.means().equals(first.means())


def test_systems_without_locks(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    assert_same(compare_rankers(**GIVEN, checkpoint=tmp_path), compare_rankers(**GIVEN))


def test_rankers_and_repeats_may_join(tmp_path):
    fewer = {**GIVEN, "rankers": {name: RANKERS[name] for name in ("one", "other")}, "repeats": 1}
    compare_rankers(**fewer, checkpoint=tmp_path)
    assert_same(compare_rankers(**GIVEN, checkpoint=tmp_path), compare_rankers(**GIVEN))


def test_a_training_that_was_cut_off_while_it_was_written_is_done_again(tmp_path, monkeypatch):
    compare_rankers(**GIVEN, checkpoint=tmp_path)
    path = next(tmp_path.glob("split4-repeat2*.json"))
    path.rename(path.with_suffix(".99999.part"))
    assert_same(compare_rankers(**GIVEN, checkpoint=tmp_path), compare_rankers(**GIVEN))


PROGRAM = """
import multiprocessing, random, sys, time
sys.path[:0] = {paths!r}
from pathlib import Path
from cheap_rankers import Noisy, made
from gapboost.comparison import compare_rankers
from gapboost.comparison.training import Trainer

folder, did = Path({folder!r}), Trainer.__call__

def slow(self, task):
    with (folder / "begun").open("a") as log:
        log.write(f"{{task}}\\n")
    time.sleep(0.05)
    return did(self, task)

def compare(name, checkpoint):
    X, y, qid = made(30, 6)
    rankers = {{"one": Noisy(0.2, 1), "other": Noisy(0.6, 2), "third": Noisy(0.1, 3)}}
    found = compare_rankers(
        X, y, qid, rankers, measures=["gap", "ndcg@5"], cv=3, repeats=2, tune=3,
        spaces={{ranker: {{"noise": [0.1, 0.3, 1.0]}} for ranker in rankers}},
        checkpoint=checkpoint, n_jobs=1,
    )
    found.values.to_pandas().to_pickle(folder / name)

compare("at once", None)  # loads kernels, which the processes inherit
Trainer.__call__ = slow

def started(name):
    forked = multiprocessing.get_context("fork")
    process = forked.Process(target=compare, args=(name, folder / "saved"))
    process.start()
    return process

def begun():
    return len((folder / "begun").read_text().splitlines())

(folder / "begun").touch()
drawn = random.Random(0)
processes = {{name: started(name) for name in "ab"}}
for moment in sorted(drawn.sample(range(1, 40), 10)):
    while begun() < moment:
        time.sleep(0.001)
    time.sleep(drawn.uniform(0, 0.05))
    name = drawn.choice("ab")
    assert processes[name].is_alive()
    processes[name].kill()
    processes[name].join()
    processes[name] = started(name)
for process in processes.values():
    process.join()
    assert process.exitcode == 0
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="without locks two processes may train twice")
def test_two_processes_share_the_work_and_one_of_them_is_killed_at_ten_random_moments(tmp_path):
    """After each kill it starts again: only the training that was running is lost."""
    paths = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1] / "support")]
    program = PROGRAM.format(paths=paths, folder=str(tmp_path))
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)
    begun = (tmp_path / "begun").read_text().splitlines()
    assert len(set(begun)) == 72
    assert 72 <= len(begun) <= 82
    expected = compare_rankers(**TUNED).values.to_pandas()
    for name in ("a", "b", "at once"):
        assert pd.read_pickle(tmp_path / name).equals(expected)


OTHERS = {
    "data": {"y": np.where(np.arange(len(Y)) == 3, 2 - Y, Y)},
    "features": {"X": X + 1e-9},
    "query ids": {"qid": QID + 1},
    "cv": {"cv": 5},
    "measures": {"measures": ["gap", "ndcg@10"]},
    "a ranker": {"rankers": {**RANKERS, "other": Noisy(0.7, 2)}},
    "tune": {"tune": 2, "spaces": {name: {"noise": [0.1, 0.3]} for name in RANKERS}},
    "order": {"shuffle": False},
}


@pytest.mark.parametrize("other", OTHERS)
def test_a_checkpoint_of_other_data_or_settings_is_refused(other, tmp_path, monkeypatch):
    compare_rankers(**GIVEN, checkpoint=tmp_path)
    monkeypatch.setattr(Trainer, "__call__", lambda self, task: pytest.fail("trained"))
    with pytest.raises(
        ValueError, match=r"^checkpoint is .* of another comparison, whose .* is .*; expected "
    ) as caught:
        compare_rankers(**{**GIVEN, **OTHERS[other]}, checkpoint=tmp_path)
    named = {
        "features": "data",
        "query ids": "data",
        "order": "data",
        "a ranker": "ranker 'other'",
        "tune": "cv",
    }
    assert f"whose {named.get(other, other)} is " in str(caught.value)


def test_a_folder_of_other_files_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(
        ValueError,
        match=r"^checkpoint is .* holds other files, such as .notes.txt.; expected a folder of its "
        r"own",
    ):
        compare_rankers(**GIVEN, checkpoint=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("name", [".DS_Store", "settings.4711.part", "desktop.ini"])
def test_files_that_other_programs_or_a_full_disk_left_are_no_obstacle(name, tmp_path):
    (tmp_path / name).write_bytes(b"")
    compare_rankers(**GIVEN, checkpoint=tmp_path)
    assert compare_rankers(**GIVEN, checkpoint=tmp_path).best


def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch):
    def full(stream):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as context:
        context.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            compare_rankers(**GIVEN, checkpoint=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["claims"]
    assert_same(compare_rankers(**GIVEN, checkpoint=tmp_path), compare_rankers(**GIVEN))


RACE = """
import json, multiprocessing, os, sys
from pathlib import Path
os.fsync = lambda stream: None  # a power cut is not what is tried, and 2400 of them take seconds
sys.path[:0] = {paths!r}
from gapboost.comparison.checkpoint import Checkpoint, Setting

def opens(number, folders, barrier):
    settings = {{"data": Setting("d", "0"), f"ranker {{number}}": Setting("r", str(number))}}
    for folder in folders:
        barrier.wait()
        Checkpoint(folder, settings).open()

context = multiprocessing.get_context("fork")
barrier = context.Barrier(4)
folders = [Path({folder!r}) / str(number) for number in range(300)]
processes = [context.Process(target=opens, args=(number, folders, barrier)) for number in range(4)]
for process in processes:
    process.start()
for process in processes:
    process.join(60)
assert [process.exitcode for process in processes] == [0] * 4
for folder in folders:
    held = json.loads((folder / "settings.json").read_text())["settings"]
    assert sorted(held) == ["data", *(f"ranker {{number}}" for number in range(4))], held
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there are no locks")
def test_four_processes_open_300_new_checkpoints_at_once(tmp_path):
    """No process fails, and no settings of a ranker are lost."""
    code = RACE.format(paths=[str(Path(__file__).parents[2])], folder=str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr


# --- damaged files --------------------------------------------------------------------------------


def retrained(monkeypatch):
    """Return a list that collects the tasks of all further trainings."""
    trained, did = [], Trainer.__call__
    monkeypatch.setattr(
        Trainer, "__call__", lambda self, task: trained.append(task) or did(self, task)
    )
    return trained


def swapped(path):
    other = next(p for p in sorted(path.parent.glob("split*.json")) if p.stem[:6] != path.stem[:6])
    ours = path.read_bytes()
    path.write_bytes(other.read_bytes())
    other.write_bytes(ours)


def without_a_value(path):
    held = json.loads(path.read_text())
    held["values"]["gap"].pop()
    path.write_text(json.dumps(held))


DAMAGES = {
    "empty": lambda path: path.write_bytes(b""),
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-20]),
    "no text": lambda path: path.write_bytes(bytes(range(256))),
    "another kind of file": lambda path: path.write_text("[1, 2]"),
    "without a value": without_a_value,
    "swapped": swapped,
}


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_result_is_trained_again(damage, tmp_path, monkeypatch):
    compare_rankers(**GIVEN, checkpoint=tmp_path)
    path = min(tmp_path.glob("split0-*.json"))
    DAMAGES[damage](path)
    trained = retrained(monkeypatch)
    with pytest.warns(
        UserWarning, match=r" cannot be used \(.*its model is trained again"
    ) as caught:
        found = compare_rankers(**GIVEN, checkpoint=tmp_path)
    assert any(path.name in str(warning.message) for warning in caught)
    assert len(trained) == len(caught) == (2 if damage == "swapped" else 1)
    assert_same(found, compare_rankers(**GIVEN))
    trained.clear()
    compare_rankers(**GIVEN, checkpoint=tmp_path)
    assert trained == []


def test_no_byte_of_a_saved_file_changes_unseen(tmp_path):
    compare_rankers(**{**GIVEN, "repeats": 1}, checkpoint=tmp_path)
    for path in (min(tmp_path.glob("split0-*.json")), tmp_path / "settings.json"):
        data = path.read_bytes()
        assert _content(data)
        damaged = [data[:place] for place in range(len(data))]
        for place in range(len(data)):
            damaged += [
                data[:place] + data[place + 1 :],
                *(data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :] for bit in (1, 32)),
            ]
        for content in damaged:
            with pytest.raises(ValueError, match=r"cut off|checksum"):
                _content(content)


@pytest.mark.parametrize("damage", ["empty", "truncated", "another kind of file"])
def test_damaged_settings_are_an_error_that_names_the_file(damage, tmp_path, monkeypatch):
    compare_rankers(**GIVEN, checkpoint=tmp_path)
    path = tmp_path / "settings.json"
    DAMAGES[damage](path)
    with pytest.raises(
        ValueError, match=r"^checkpoint holds '.*settings.json', which cannot be used .* Delete it"
    ):
        compare_rankers(**GIVEN, checkpoint=tmp_path)
    path.unlink()
    trained = retrained(monkeypatch)
    compare_rankers(**GIVEN, checkpoint=tmp_path)
    assert trained == []


def test_results_of_another_comparison_are_not_taken_where_the_settings_are_lost(
    tmp_path, monkeypatch
):
    compare_rankers(**GIVEN, checkpoint=tmp_path)
    (tmp_path / "settings.json").unlink()
    other = {**GIVEN, "rankers": {**RANKERS, "other": Noisy(0.7, 2)}}
    trained = retrained(monkeypatch)
    with pytest.warns(UserWarning, match="its comparison is"):
        found = compare_rankers(**other, checkpoint=tmp_path)
    assert {task.ranker for task in trained} == {"other"}
    assert_same(found, compare_rankers(**other))


def means_by_form(folder):
    """Compare two rankers of a booster on data of three types, with a checkpoint for each."""
    X, y, qid = made(20, 6)
    words = np.array(["red", "green"])[(X[:, 1] > 0).astype(int)]
    forms = {
        "pandas with words": pd.DataFrame(X, columns=list("abcde")).assign(
            word=pd.Categorical(words)
        ),
        "polars": pl.DataFrame(X, schema=list("abcde")),
        "sparse": sparse.csr_matrix(X),
    }
    qid = [f"query {i}" for i in qid]
    given = {"n_estimators": 2, "n_jobs": 1, "enable_categorical": True}
    rankers = {"a": XGBGAPRanker(**given), "b": XGBGAPRanker(measure="ndcg", **given)}
    found = {
        form: compare_rankers(
            X, y, qid, rankers, cv=2, repeats=1, checkpoint=Path(folder) / form
        ).means()
        for form, X in forms.items()
    }
    return {
        form: means.drop(columns=["fit seconds", "predict ms"]).to_json()
        for form, means in found.items()
    }


@pytest.mark.slow
def test_the_same_data_are_known_again_in_another_process(tmp_path, monkeypatch):
    paths = [
        str(Path(__file__).parents[2]),
        str(Path(__file__).parents[1] / "support"),
        str(Path(__file__).parent),
    ]
    code = (
        f"import sys; sys.path[:0] = {paths!r}; import test_checkpoint as t; "
        f"print(t.means_by_form({str(tmp_path)!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    monkeypatch.setattr(Trainer, "__call__", lambda self, task: pytest.fail("trained again"))
    assert str(means_by_form(tmp_path)) == done.stdout.strip()
