"""Work shared by threads: a booster's own, or a pool; errors, interrupts and forked processes."""

import multiprocessing
import os
import sys
import threading

import lightgbm
import pytest
import xgboost
from own_process import run_python

import gapboost.lightgbm._compat
import gapboost.xgboost._compat
from gapboost._kernels.threads import available_cores, openmp_team, resolve_n_jobs, run, working_on

# Elsewhere all of them are the pool.
LENT = sys.platform == "linux" and os.environ.get("GAPBOOST_OPENMP") != "0"
lent = pytest.mark.skipif(
    not LENT, reason="boosters lend their threads on Linux, where nobody turned that off"
)
TEAMS = {
    "pool": None,
    "LightGBM": openmp_team(lightgbm.basic._LIB),
    "XGBoost": openmp_team(xgboost.core._LIB),
}
teams = pytest.mark.parametrize("team", TEAMS.values(), ids=TEAMS.keys())


@lent
def test_both_boosters_lend_their_threads():
    """Without them gradients would be slower: LightGBM's threads wait in busy loops."""
    assert gapboost.lightgbm._compat.TEAM is not None
    assert gapboost.xgboost._compat.TEAM is not None


@pytest.mark.slow
@lent
@pytest.mark.parametrize(("switch", "expected"), [("0", "None None"), ("1", "function function")])
def test_a_switch_in_the_environment_leaves_the_threads_alone(switch, expected):
    code = """
import gapboost.lightgbm._compat as a, gapboost.xgboost._compat as b
teams = (a.TEAM, b.TEAM)
print(*("None" if team is None else type(team).__name__ for team in teams))
"""
    assert run_python(code, GAPBOOST_OPENMP=switch).strip() == expected


@pytest.mark.parametrize(
    ("platform", "library"),
    [("linux", None), ("linux", object()), ("darwin", lightgbm.basic._LIB)],
    ids=["no library", "no entry point", "another platform"],
)
def test_libraries_that_lend_no_threads(platform, library, monkeypatch):
    monkeypatch.setattr(sys, "platform", platform)
    assert openmp_team(library) is None


@teams
@pytest.mark.parametrize("n_jobs", [1, 2, 5])
@pytest.mark.parametrize("n", [0, 1, 3, 100])
def test_every_task_is_done_once(team, n_jobs, n):
    done = []
    with working_on(team):
        run(done.append, n, n_jobs)
    assert sorted(done) == list(range(n))


@teams
def test_several_threads_work_at_once(team):
    meeting = threading.Barrier(2, timeout=20)
    with working_on(team):
        run(lambda k: meeting.wait() and None, 2, 2)


@teams
@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_an_error_reaches_the_caller_and_the_threads_work_on(team, error):
    def task(k):
        if k == 3:
            raise error("third")

    with working_on(team):
        with pytest.raises(error, match="third"):
            run(task, 8, 2)
        done = []
        run(done.append, 8, 2)
    assert sorted(done) == list(range(8))


@pytest.fixture
def interrupted_at_entry():
    """Press Ctrl-C when a booster's runtime calls back, before the first line of the callback."""

    def trace(frame, event, _):
        # The functions that are made in the call of a team, whatever they are called.
        if event == "call" and frame.f_code in TEAMS["LightGBM"].__code__.co_consts:
            raise KeyboardInterrupt

    before = sys.gettrace()
    yield lambda: sys.settrace(trace)
    sys.settrace(before)


@pytest.mark.parametrize(
    ("share", "cores"), [("1", 1), ("0", 4), ("\u00b2", 4), ("two", 4), ("3,2", 4), ("", 4)]
)
def test_the_share_of_the_cores_that_a_parent_leaves_is_a_whole_number_or_nothing(
    share, cores, monkeypatch
):
    monkeypatch.setattr("joblib.cpu_count", lambda: 4)
    monkeypatch.setenv("OMP_NUM_THREADS", share)
    assert available_cores() == cores


@pytest.mark.parametrize(
    ("n_jobs", "threads"), [(None, 4), (0, 4), (-1, 4), (-2, 3), (-9, 1), (6, 6)]
)
def test_numbers_below_0_leave_cores_free(n_jobs, threads, monkeypatch):
    monkeypatch.setattr("joblib.cpu_count", lambda: 4)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert resolve_n_jobs(n_jobs) == threads


@lent
@pytest.mark.parametrize("n_threads", [1, 2], ids=["OMP_THREAD_LIMIT=1", "two threads"])
@pytest.mark.parametrize("name", ["LightGBM", "XGBoost"])
@pytest.mark.filterwarnings(
    "ignore:Exception ignored on calling ctypes callback:pytest.PytestUnraisableExceptionWarning"
)
def test_ctrl_c_at_the_entry_of_the_openmp_callback_reaches_the_caller(
    name, n_threads, interrupted_at_entry
):
    done = []
    with working_on(lambda work, _: TEAMS[name](work, n_threads)):
        interrupted_at_entry()
        with pytest.raises(KeyboardInterrupt):
            run(done.append, 8, 2)
        done.clear()
        run(done.append, 8, 2)
    assert sorted(done) == list(range(8))


@lent
def test_a_team_is_given_back():
    team = TEAMS["LightGBM"]
    calls = []

    def counted(work, n_threads):
        calls.append(n_threads)
        team(work, n_threads)

    def task(k):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), working_on(counted):
        run(task, 2, 2)
    run(lambda k: None, 2, 2)
    assert calls == [2]


def child(connection):
    done = []
    with working_on(TEAMS["LightGBM"]):
        run(done.append, 10, 2)
    connection.send(sorted(done))


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_does_not_wait_for_threads_that_it_lost():
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("this system cannot fork")
    with working_on(TEAMS["LightGBM"]):
        run(lambda k: None, 10, 2)
    run(lambda k: None, 10, 2)
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=child, args=(theirs,))
    process.start()
    try:
        assert ours.poll(30), "the child hangs"
        assert ours.recv() == list(range(10))
    finally:
        process.kill()
        process.join()
