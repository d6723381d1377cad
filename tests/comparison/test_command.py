"""Command ``python -m gapboost.comparison``: files, printed tables, reports, and interrupts."""

import itertools
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import lightgbm
import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
import xgboost
from cheap_rankers import Noisy, made
from sklearn.linear_model import Ridge

from gapboost.comparison import __main__ as command
from gapboost.comparison import call, compare_rankers
from gapboost.comparison.files import read_data
from gapboost.comparison.training import Trainer
from gapboost.datasets import load_letor
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

MADE = Path(__file__).parents[1] / "support" / "made"
SMALL = {"n_estimators": 2, "n_jobs": 1}
FIELD = {
    "lambdarank": lightgbm.LGBMRanker(**SMALL, verbose=-1),
    "XGBoost rank:ndcg": xgboost.XGBRanker(**SMALL),
    "GAP": LGBMGAPRanker(**SMALL, verbose=-1),
    "XGBoost GAP": XGBGAPRanker(**SMALL),
}


def write_letor(path, X, y, qid):
    rows = (
        f"{grade} qid:{query} " + " ".join(f"{i}:{x:.6g}" for i, x in enumerate(row, 1))
        for grade, query, row in zip(y, qid, X, strict=True)
    )
    path.write_text("\n".join(rows) + "\n")


@pytest.fixture
def files(tmp_path):
    """Folder with the same documents in all formats."""
    X, y, qid = made(36, 8)
    frame = pd.DataFrame(X.round(5), columns=list("abcde")).assign(
        grade=y, query=[f"q{i}" for i in qid]
    )
    frame.to_csv(tmp_path / "all.csv", index=False)
    frame.to_parquet(tmp_path / "all.parquet")
    write_letor(tmp_path / "all.txt", X, y, qid)
    thirds = np.array_split(np.unique(qid), 3)
    for number in (1, 2, 3):
        folder = tmp_path / "letor" / f"Fold{number}"
        folder.mkdir(parents=True)
        for name, queries in zip(
            ("train", "vali", "test"), thirds[number - 1 :] + thirds[: number - 1], strict=True
        ):
            rows = np.isin(qid, queries)
            write_letor(folder / f"{name}.txt", X[rows], y[rows], qid[rows])
            frame[rows].to_csv(folder / f"{name}.csv", index=False)
    return tmp_path


FORMS = {
    "csv": (["all.csv"], None),
    "parquet": (["all.parquet"], None),
    "one file": (["all.txt"], None),
    "three files": (
        [f"letor/Fold1/{name}.txt" for name in ("train", "vali", "test")],
        [(12, 12, 12)],
    ),
    "two files": ([f"letor/Fold1/{name}.txt" for name in ("train", "test")], [(12, 12)]),
    "three csv": (
        [f"letor/Fold1/{name}.csv" for name in ("train", "vali", "test")],
        [(12, 12, 12)],
    ),
    "a fold": (["letor/Fold2"], [(12, 12, 12)]),
    "folds": (["letor"], [(12, 12, 12)] * 3),
}


@pytest.mark.parametrize("form", FORMS)
def test_what_is_read(form, files):
    paths, folds = FORMS[form]
    data = read_data([files / path for path in paths], "grade", "query", [])
    X, y, qid = made(36, 8)
    numbers = np.array([int(str(i).removeprefix("q")) for i in data.qid])
    of = {query: np.sort(y[qid == query]).tolist() for query in np.unique(numbers)}
    assert {query: np.sort(np.asarray(data.y)[numbers == query]).tolist() for query in of} == of
    assert data.X.shape[1] == X.shape[1]
    found = (
        None
        if data.folds is None
        else [tuple(len(np.unique(numbers[p])) for p in fold) for fold in data.folds]
    )
    assert found == folds


def test_folds_of_letor_are_those_of_the_files(files):
    data = read_data([files / "letor"], "", "", [])
    for number, fold in enumerate(data.folds, 1):
        for name, rows in zip(("train", "vali", "test"), fold, strict=True):
            part = load_letor(files / "letor" / f"Fold{number}" / f"{name}.txt")
            npt.assert_array_equal(np.unique(data.qid[rows]), np.unique(part.qid))
            assert data.X[rows].sum() == pytest.approx(part.X.sum())


def run(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(command, "standard_rankers", lambda: FIELD)
    status = command.main([str(argument) for argument in (*arguments, "--n-jobs", 1)])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("form", ["csv", "folds", "three files"])
def test_the_table_grows_and_the_report_is_written(form, files, monkeypatch, capsys):
    paths, folds = FORMS[form]
    report = files / "answer.html"
    status, out, _ = run(
        monkeypatch, capsys, *(files / path for path in paths), "--label", "grade", "--qid",
        "query", "--repeats", 2, "--cv", 3, "--measures", "gap", "ndcg@5", "--baseline",
        "lambdarank", "--report", report,
    )  # fmt: skip
    assert status == 0
    n_folds = 3 if folds is None else len(folds)
    said, _, head, *lines = out.splitlines()
    assert "288 documents of 36 queries with 5 features and grades from 0 to 2" in said
    assert f" {n_folds * len(FIELD) * 2} trainings" in said
    assert head.split() == ["split", "ranker", "gap", "ndcg@5", "seconds"]
    rows = [re.split(r"\s{2,}", line.strip()) for line in lines[: n_folds * len(FIELD)]]
    assert [row[:2] for row in rows] == [
        [str(k), name] for k in range(1, n_folds + 1) for name in FIELD
    ]
    rows, decision = out.partition("compared with lambdarank\n\n")[2].split("\n\n")[:2]
    assert sum(rows.count(word) for word in ("inconclusive", "ahead", "behind")) == 6
    assert "lambdarank" in decision.splitlines()[0]
    assert "<svg" in report.read_text(encoding="utf-8")
    assert (files / "answer.checkpoint" / "settings.json").exists()
    data = read_data([files / path for path in paths], "grade", "query", [])
    expected = compare_rankers(
        data.X, data.y, data.qid, FIELD, measures=["gap", "ndcg@5"], cv=data.folds or 3, repeats=2
    )
    for name, row in expected.means().iterrows():
        assert re.search(rf"^{name} +{row['gap']:.4f} +{row['ndcg@5']:.4f} ", out, re.MULTILINE)


WRONG = {
    "no such file": (["none.txt"], "No such file"),
    "no such column": (["all.csv"], "--label is 'label'; expected a column of"),
    "no such query": (["all.csv", "--label", "grade"], "--qid is 'qid'; expected a column of"),
    "words": (
        ["words.csv", "--label", "grade", "--qid", "query"],
        "words.csv has 1 column that holds neither numbers nor categories",
    ),
    "four files": (["all.txt"] * 4, "FILE is given 4 times; expected one"),
    "no such measure": (["all.txt", "--measures", "gab"], "measures is 'gab'"),
    "no such ranker": (
        ["all.txt", "--leave-out", "none"],
        "leave_out names 'none'; expected some of lambdarank",
    ),
    "no such baseline": (
        ["all.txt", "--baseline", "none"],
        "--baseline is 'none'; expected one of lambdarank",
    ),
    "another report": (
        ["all.txt", "--report", "answer.pdf"],
        "--report is 'answer.pdf'; expected a path that ends",
    ),
    "a ranker that takes no fractions": (
        ["real.csv", "--label", "grade", "--qid", "query"],
        "of the command --leave-out lambdarank 'XGBoost rank:ndcg', compares the others",
    ),
    "folds of other queries": (
        ["broken"],
        "holds other queries than the first fold; expected the same ones",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_said_before_any_training(wrong, files, monkeypatch, capsys):
    monkeypatch.chdir(files)
    frame = pd.read_csv("all.csv").assign(name="some words")
    frame.to_csv("words.csv", index=False)
    frame.drop(columns="name").assign(grade=frame["grade"] + 0.5).to_csv("real.csv", index=False)
    (files / "letor").rename(files / "broken")
    (files / "broken" / "Fold2" / "vali.txt").write_text("1 qid:1 1:1\n0 qid:1 1:2\n")
    monkeypatch.setattr(
        "gapboost.comparison.training.Trainer.__call__", lambda self, task: pytest.fail("trained")
    )
    arguments, said = WRONG[wrong]
    status, out, err = run(monkeypatch, capsys, *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert said in err
    assert not list(files.glob("comparison*"))


def test_an_error_in_a_training_names_it(files, monkeypatch, capsys):
    monkeypatch.setattr(Noisy, "fit", fail_later(Noisy.fit, 4))
    monkeypatch.setattr(
        command, "standard_rankers", lambda: {"one": Noisy(0.2), "other": Noisy(0.6)}
    )
    monkeypatch.chdir(files)
    assert command.main(["all.txt", "--n-jobs", "1", "--measures", "map", "--repeats", "1"]) == 1
    err = capsys.readouterr().err
    assert "error: too few rows (in the training of RankerTraining(ranker='one', split=1" in err
    assert (
        "Finished trainings are in comparison.checkpoint, and the same command goes on from there"
        in err
    )
    assert len(list(Path("comparison.checkpoint").glob("split*.json"))) == 2


def fail_later(fit, number):
    """Return a `fit` that raises an error from this call on."""
    calls = itertools.count()

    def failing(self, X, y):
        if next(calls) >= number:
            raise ValueError("too few rows")
        return fit(self, X, y)

    return failing


def test_drop_leaves_columns_out(files, monkeypatch):
    monkeypatch.chdir(files)
    pd.read_csv("all.csv").assign(name="some words").to_csv("words.csv", index=False)
    assert list(read_data([Path("words.csv")], "grade", "query", ["name", "a"]).X) == list("bcde")


def test_ids_keep_their_zeros(tmp_path):
    (tmp_path / "ids.csv").write_text("label,qid,x\n1,007,1\n0,007,2\n1,7,3\n0,7,4\n")
    assert read_data([tmp_path / "ids.csv"], "label", "qid", []).qid.tolist() == [
        "007",
        "007",
        "7",
        "7",
    ]


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="another signal")
def test_an_interrupt_loses_nothing(files, monkeypatch):
    """After Ctrl-C the same command continues, and writes the report of an uninterrupted run."""
    options = "--n-jobs 1 --cv 4 --repeats 1 --measures map --report"
    arguments = [str(files / "all.txt"), *options.split()]

    # A shell starts background jobs, and so their tests, with the signal ignored.
    code = f"""
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path[:0] = {[str(Path(call.__file__).parents[2])]!r}
from sklearn.linear_model import Ridge
from gapboost.comparison import __main__
from gapboost.comparison.training import Trainer
__main__.standard_rankers = lambda: {{"a": Ridge(1.0), "b": Ridge(1e4), "c": Ridge(1e9)}}
did, begun = Trainer.__call__, []
def stuck_at_the_sixth(self, task):
    begun.append(task)
    if len(begun) == 6:
        time.sleep(600)
    return did(self, task)
Trainer.__call__ = stuck_at_the_sixth
sys.exit(__main__.main({[*arguments, str(files / "answer.md")]!r}))
"""
    first = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    # Two lines, the head of the table, five trainings.
    lines = [first.stdout.readline() for _ in range(8)]
    assert lines[2].split()[:2] == ["split", "ranker"]
    first.send_signal(signal.SIGINT)
    _, err = first.communicate(timeout=120)
    assert first.returncode == 130, err
    assert "the same command goes on from" in err
    assert len(list((files / "answer.checkpoint").glob("split*.json"))) == 5
    trained, did = [], Trainer.__call__
    monkeypatch.setattr(
        Trainer, "__call__", lambda self, task: trained.append(task) or did(self, task)
    )
    monkeypatch.setattr(
        command, "standard_rankers", lambda: {"a": Ridge(1.0), "b": Ridge(1e4), "c": Ridge(1e9)}
    )
    for report, left in (("answer.md", 7), ("other.md", 12)):
        trained.clear()
        assert command.main([*arguments, str(files / report)]) == 0
        assert len(trained) == left
    one, two = ((files / name).read_text(encoding="utf-8") for name in ("answer.md", "other.md"))
    # The decision and the means before the differences name times.
    assert one.partition("## Differences")[2] == two.partition("## Differences")[2] != ""


def test_seeds_is_a_deprecated_option(files, monkeypatch, capsys):
    monkeypatch.chdir(files)
    status, out, err = run(
        monkeypatch,
        capsys,
        "all.txt",
        "--seeds",
        1,
        "--cv",
        2,
        "--measures",
        "map",
        "--report",
        "a.md",
    )
    assert status == 0
    assert "warning: --seeds is deprecated and will be removed in version 0.3; use --repeats" in err
    assert f" {2 * len(FIELD)} trainings" in out
