"""The study of real grades: its labels are what it says, it resumes, and the tutorial quotes what is saved."""

import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks.studies.labels import __main__ as labels
from benchmarks.studies.records import Records
from gapboost.datasets import load_digits_ranking

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorials" / "10_real_grades.py"


def test_labels_are_noisy_grades():
    y = np.random.default_rng(0).integers(0, 3, 3000)
    drawn = labels.drawn(y, 0)
    assert drawn["mean of three"].tolist() == labels.drawn(y, 0)["mean of three"].tolist()
    assert drawn["mean of three"].tolist() != labels.drawn(y, 1)["mean of three"].tolist()
    assert len(np.unique(drawn["mean of three"])) == 7
    assert len(np.unique(drawn["score"])) > 1000
    for name in ("rounded mean", "one judge", "rounded score"):
        assert np.unique(drawn[name]).tolist() == [0, 1, 2]
    errors = {name: np.abs(values - y).mean() for name, values in drawn.items()}
    assert errors["mean of three"] < errors["one judge"]


def test_every_training_is_saved_once():
    keys = [tuple(row[name] for name in labels.RESULTS.key) for row in labels.RESULTS]
    assert sorted(keys) == sorted(labels.tasks(None))


@pytest.mark.slow
def test_a_task_is_trained_and_tested(tmp_path, monkeypatch):
    data = load_digits_ranking((20, 1, 1), 15)[0]
    records = Records(tmp_path / "folds.csv", labels.RESULTS.key)
    done = [
        labels.task(data, 0, 0, name, ranker) for name, ranker in (("score", "gap"), ("rounded mean", "lambdarank"))
    ]
    for rows in done:
        assert set(rows[0]) == set(labels.TESTED)
        assert all(0 < value <= 1 for value in rows[0].values())
    records.add([{"draw": 0, "fold": 0, "labels": "score", "ranker": "gap", **done[0][0]}])
    assert records.done() == {("0", "0", "score", "gap")}


def test_the_tutorial_quotes_what_is_saved():
    lines = TUTORIAL.read_text(encoding="utf-8").splitlines()
    rows = [i for i, line in enumerate(lines) if line.startswith("#    * - ")]
    assert len(rows) == len(labels.COMPARED)
    for row, (one, other) in zip(rows, labels.COMPARED, strict=True):
        for cell, measure in zip(lines[row + 1 : row + 4], labels.TESTED, strict=True):
            quoted = [float(number) for number in re.findall(r"[+-]\.\d+", cell)]
            found = labels.difference(one, other, measure)
            assert quoted == [round(number, 4) for number in (found.mean, *found.interval())]
