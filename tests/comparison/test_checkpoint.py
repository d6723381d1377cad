"""An interrupted comparison goes on where it stopped, also in two processes, and comes to the same answer."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cheap_rankers import Noisy, made

from gapboost.comparison import compare_rankers
from gapboost.comparison.work import Work

X, Y, QID = made(30, 6)
RANKERS = {"one": Noisy(0.2, 1), "other": Noisy(0.6, 2), "third": Noisy(0.1, 3)}
GIVEN = {"X": X, "y": Y, "qid": QID, "rankers": RANKERS, "measures": ["gap", "ndcg@5"], "cv": 3, "seeds": 2}
TUNED = {**GIVEN, "tune": 3, "spaces": {name: {"noise": [0.1, 0.3, 1.0]} for name in RANKERS}}


def answer(found):
    """All that does not depend on clocks."""
    return found.values.to_pandas(), found.summary(), found.means().drop(columns="seconds")


def assert_same(one, other):
    for a, b in zip(answer(one), answer(other), strict=True):
        assert a.equals(b)


@pytest.mark.parametrize("given", [GIVEN, TUNED], ids=["as they come", "tuned"])
def test_interrupted_at_ten_random_moments(given, tmp_path, monkeypatch):
    at_once = compare_rankers(**given)
    total = 18 + 27 * ("tune" in given)
    stops = np.random.default_rng(0).choice(np.arange(1, total), 10, replace=False)
    trained, did = [], Work.__call__

    def interrupted(self, task):
        if len(trained) in left:
            left.discard(len(trained))
            raise KeyboardInterrupt
        trained.append(task)
        return did(self, task)

    left = set(stops.tolist())
    monkeypatch.setattr(Work, "__call__", interrupted)
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
    monkeypatch.setattr(Work, "__call__", lambda self, task: pytest.fail("trained again"))
    second = compare_rankers(**GIVEN, checkpoint=str(tmp_path))
    assert_same(first, second)
    assert second.means()["seconds"].equals(first.means()["seconds"])


def test_systems_without_locks(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    assert_same(compare_rankers(**GIVEN, checkpoint=tmp_path), compare_rankers(**GIVEN))


def test_rankers_and_seeds_may_join(tmp_path):
    fewer = {**GIVEN, "rankers": {name: RANKERS[name] for name in ("one", "other")}, "seeds": 1}
    compare_rankers(**fewer, checkpoint=tmp_path)
    assert_same(compare_rankers(**GIVEN, checkpoint=tmp_path), compare_rankers(**GIVEN))


def test_a_training_that_was_cut_off_while_it_was_written_is_done_again(tmp_path, monkeypatch):
    compare_rankers(**GIVEN, checkpoint=tmp_path)
    path = next(tmp_path.glob("fold1-seed2*.json"))
    path.rename(path.with_suffix(".99999.part"))
    assert_same(compare_rankers(**GIVEN, checkpoint=tmp_path), compare_rankers(**GIVEN))


PROGRAM = """
import sys
sys.path[:0] = {paths!r}
import cheap_rankers, time
import numpy as np
from gapboost.comparison import compare_rankers
from gapboost.comparison.work import Work
did = Work.__call__
def slow(self, task):
    time.sleep(0.05)
    print("trained", task)
    return did(self, task)
Work.__call__ = slow
X, y, qid = cheap_rankers.made(30, 6)
rankers = {{n: cheap_rankers.Noisy(a, o) for n, a, o in (("one", 0.2, 1), ("other", 0.6, 2), ("third", 0.1, 3))}}
found = compare_rankers(
    X, y, qid, rankers, measures=["gap", "ndcg@5"], cv=3, seeds=2, checkpoint={folder!r}, n_jobs={n_jobs}
)
found.values.to_pandas().to_pickle({out!r})
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="without locks two processes may train twice")
def test_two_processes_share_the_work(tmp_path):
    """One of them is killed, and begun again: nothing but its last training is lost."""
    import pandas as pd

    paths = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1] / "support")]

    def begun(name):
        code = PROGRAM.format(paths=paths, folder=str(tmp_path / "saved"), out=str(tmp_path / name), n_jobs=1)
        return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, bufsize=1)

    first, second = begun("a"), begun("b")
    assert first.stdout.readline().startswith("trained")
    first.kill()
    lost = first.communicate()[0]
    third = begun("a")
    done = [process.communicate(timeout=120)[0] for process in (second, third)]
    assert second.returncode == third.returncode == 0
    trained = sum(text.count("trained") for text in (lost, *done)) + 1
    assert 18 <= trained <= 19
    expected = compare_rankers(**GIVEN).values.to_pandas()
    for name in "ab":
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
    monkeypatch.setattr(Work, "__call__", lambda self, task: pytest.fail("trained"))
    with pytest.raises(ValueError, match=r"^checkpoint is .* holds results of another .*; expected ") as caught:
        compare_rankers(**{**GIVEN, **OTHERS[other]}, checkpoint=tmp_path)
    named = {"features": "data", "query ids": "data", "order": "data", "a ranker": "ranker 'other'", "tune": "cv"}
    assert f"another {named.get(other, other)}: " in str(caught.value)


def test_a_folder_of_other_files_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"^checkpoint is .* holds other files; expected a folder of its own"):
        compare_rankers(**GIVEN, checkpoint=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["pandas with words", "polars", "sparse"])
def test_the_same_data_are_known_again_in_another_process(form, tmp_path):
    code = """
import sys
sys.path[:0] = {paths!r}
import numpy as np, pandas as pd, polars as pl
from scipy import sparse
from cheap_rankers import Noisy, made
from gapboost.comparison import compare_rankers
from gapboost.xgboost import XGBGAPRanker
X, y, qid = made(20, 6)
words = np.array(["red", "green"])[(X[:, 1] > 0).astype(int)]
X = {{
    "pandas with words": pd.DataFrame(X, columns=list("abcde")).assign(word=pd.Categorical(words)),
    "polars": pl.DataFrame(X, schema=list("abcde")),
    "sparse": sparse.csr_matrix(X),
}}[{form!r}]
given = {{"n_estimators": 2, "n_jobs": 1, "enable_categorical": True}}
rankers = {{"a": XGBGAPRanker(**given), "b": XGBGAPRanker(measure="ndcg", **given)}}
found = compare_rankers(X, y, [f"query {{i}}" for i in qid], rankers, cv=2, seeds=1, checkpoint={folder!r})
print(found.means().drop(columns="seconds").to_json())
"""
    paths = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1] / "support")]
    code = code.format(paths=paths, form=form, folder=str(tmp_path / "saved"))
    said = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
        for _ in range(2)
    ]
    assert [process.stderr for process in said if process.returncode] == []
    assert said[0].stdout == said[1].stdout
