"""Options of the readers of LETOR files."""

import pytest
from bad_input import check_refusal, nan

from gapboost.datasets import load_letor, load_letor_fold

READERS = {"load_letor": (load_letor, "path"), "load_letor_fold": (load_letor_fold, "directory")}
OPTIONS = {
    "n_features": (True, "3", 2.0, [3], -1, 0),
    "zero_based": ("other", 0.5, ["row"], nan),
}


@pytest.mark.parametrize("reader", READERS)
def test_options_and_paths(reader, tmp_path):
    read, argument = READERS[reader]
    for name in ("train", "vali", "test"):
        (tmp_path / f"{name}.txt").write_text("1 qid:1 1:1\n0 qid:1 1:2\n")
    path = tmp_path / "train.txt" if reader == "load_letor" else tmp_path
    for name, values in OPTIONS.items():
        for value in values:
            check_refusal(name, lambda name=name, value=value: read(path, **{name: value}))
    for path in (None, 3, True, b"train.txt", [1], {"train.txt"}):
        check_refusal(argument, lambda path=path: read(path))
