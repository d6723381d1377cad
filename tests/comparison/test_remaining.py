"""Time that the trainings of a comparison still take, from made durations."""

import io
import re
import sys

import pytest
from cheap_rankers import Noisy, made

from gapboost.comparison import __main__ as command
from gapboost.comparison import compare_rankers
from gapboost.comparison.remaining import RemainingTime, duration
from gapboost.comparison.training import Trainer

THREE = {"fast": 10, "other": 10, "slow": 10}


def after(finished, left=THREE, n_jobs=1):
    remaining = RemainingTime(left, n_jobs)
    for ranker, seconds in finished:
        remaining.finish(ranker, seconds)
    return remaining


def test_rankers_differ_in_cost():
    assert after([("fast", 1), ("other", 2), ("slow", 300)]).seconds == 9 * (1 + 2 + 300)
    assert after([("fast", 1), ("fast", 3), ("other", 2), ("slow", 300)]).seconds == 8 * 2 + 9 * (
        2 + 300
    )


def test_rankers_without_a_finished_training_cost_the_mean_of_the_others():
    remaining = after([("fast", 1), ("other", 5)])
    assert remaining.seconds == 9 * (1 + 5) + 10 * 3
    assert str(remaining) == "1 min left; 1 ranker not timed yet"
    assert str(after([("fast", 4)])) == "2 min left; 2 rankers not timed yet"


def test_nothing_is_said_before_the_first_training_and_after_the_last():
    assert after([]).seconds is None
    assert str(after([])) == ""
    assert str(after([("a", 5), ("a", 5)], {"a": 2})) == ""


def test_processes_share_the_time_and_none_is_shorter_than_a_training():
    first = [("fast", 1), ("other", 2), ("slow", 300)]
    assert after(first, n_jobs=4).seconds == 9 * 303 / 4
    assert after(first, n_jobs=1000).seconds == 300
    assert after([("fast", 1)], {"fast": 2}, n_jobs=8).seconds == 1


def test_results_of_a_checkpoint_leave_the_others_as_they_cost():
    """They come at once, and count by the seconds that they took when they were trained."""
    saved = [("fast", 1)] * 5 + [("slow", 300)] * 5
    assert after(saved, {"fast": 10, "slow": 10}).seconds == 5 * 1 + 5 * 300
    new = [*saved, ("slow", 300)]
    assert after(new, {"fast": 10, "slow": 10}).seconds == 5 * 1 + 4 * 300


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.1, "1 s"),
        (42.4, "42 s"),
        (59.6, "1 min"),
        (725, "12 min"),
        (3599, "1 h"),
        (4800, "1 h 20 min"),
        (86400, "24 h"),
    ],
)
def test_durations_are_readable(seconds, text):
    assert duration(seconds) == text


DURATIONS = {"fast": 6.0, "slow": 600.0}
X, Y, QID = made(24, 4)


@pytest.fixture
def made_durations(monkeypatch):
    train = Trainer.train

    def timed(self, task, *parts):
        model, _ = train(self, task, *parts)
        return model, DURATIONS[task.ranker]

    monkeypatch.setattr(Trainer, "train", timed)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "x.txt"
    rows = zip(Y, QID, X, strict=True)
    path.write_text(
        "".join(
            f"{y} qid:{q} " + " ".join(f"{i}:{x:.4f}" for i, x in enumerate(row, 1)) + "\n"
            for y, q, row in rows
        )
    )
    return path


EXPECTED = [
    ("fast", "30 s left; 1 ranker not timed yet"),
    ("slow", "20 min left"),
    ("fast", "20 min left"),
    ("slow", "10 min left"),
    ("fast", "10 min left"),
    ("slow", ""),
]


@pytest.mark.parametrize("tqdm", [True, False], ids=["tqdm", "no tqdm"])
@pytest.mark.usefixtures("made_durations")
def test_lines_of_the_command_end_with_the_time_left(tqdm, file, monkeypatch, capsys):
    if not tqdm:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    rankers = {"fast": Noisy(0.2, 1), "slow": Noisy(0.6, 2)}
    monkeypatch.setattr(command, "standard_rankers", lambda: rankers)
    monkeypatch.chdir(file.parent)
    run = [str(file), "--cv", "3", "--repeats", "1", "--n-jobs", "1", "--measures", "map"]

    def lines(*options):
        assert command.main([*run, *options]) == 0
        out = capsys.readouterr().out.partition("seconds")[2].partition("means over")[0]
        return [
            tuple(re.split(r"\s{2,}", line.strip(), maxsplit=1)[1].split("  ", 1))
            for line in out.split("\n")
            if line.strip()
        ]

    found = lines()
    assert [name for name, _ in found] == [name for name, _ in EXPECTED]
    for (_, text), (name, left) in zip(found, EXPECTED, strict=True):
        assert re.fullmatch(
            rf"\s*0\.\d{{4}}\s+{DURATIONS[name]:.2f}(  {left})?" if left else r"\s*0\.\d{4}\s+\S+",
            text,
        ), text
        assert text.endswith(left)
    # The same command again reads all results from the checkpoint.
    assert lines() == found


def spaces(monkeypatch):
    from gapboost.comparison import spaces as module

    monkeypatch.setattr(module, "library_of", lambda ranker: "noisy")
    monkeypatch.setitem(module.SPACES, "noisy", {"noise": [0.1, 0.2, 0.3]})


@pytest.mark.usefixtures("made_durations")
def test_tuning_prints_a_line_for_each_ranker_and_fold(file, monkeypatch, capsys):
    spaces(monkeypatch)
    monkeypatch.setattr(
        command, "standard_rankers", lambda: {"fast": Noisy(0.2, 1), "slow": Noisy(0.6, 2)}
    )
    monkeypatch.chdir(file.parent)
    run = [
        str(file),
        "--cv",
        "3",
        "--repeats",
        "1",
        "--n-jobs",
        "1",
        "--measures",
        "map",
        "--tune",
        "2",
    ]
    assert command.main(run) == 0
    out = capsys.readouterr().out
    first, second, *_ = out.partition("seconds\n")[2].splitlines()
    assert re.fullmatch(r"    1  fast  2 candidates +2 min left; 1 ranker not timed yet", first)
    assert re.fullmatch(r"    1  slow  2 candidates +1 h 11 min left", second)
    assert out.count("2 candidates  ") == 6


@pytest.mark.usefixtures("made_durations")
def test_compare_rankers_shows_the_time_left(monkeypatch):
    bar = io.StringIO()
    monkeypatch.setattr(sys, "stderr", bar)
    compare_rankers(
        X,
        Y,
        QID,
        {"fast": Noisy(0.2, 1), "slow": Noisy(0.6, 2)},
        cv=3,
        repeats=1,
        measures="map",
        progress=True,
    )
    shown = bar.getvalue()
    assert "1/6 [00:00, 30 s left; 1 ranker not timed yet]" in re.sub(
        r"\[\d\d:\d\d", "[00:00", shown
    )
    assert ", 20 min left]" in shown
    assert re.search(r"6/6 \[\d\d:\d\d\]", shown)
    assert "it/s" not in shown
