"""Files that are no LETOR files, and options of their readers."""

import gzip

import pytest
from bad_input import check_refusal, nan

from gapboost.datasets import load_letor, load_letor_fold

READERS = {"load_letor": (load_letor, "path"), "load_letor_fold": (load_letor_fold, "directory")}
OPTIONS = {
    "n_features": (True, "3", 2.0, [3], -1, 0),
    "zero_based": ("other", 0.5, ["row"], nan),
    "feature_names": ("abc", 3, [1], True),
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


FILES = {
    "empty": b"",
    "no query": b"1 1:1\n",
    "negative grade": b"-1 qid:1 1:1\n",
    "two decimal points": b"1 qid:1 1:1\n0.5.5 qid:1 1:1\n",
    "NaN grade": b"nan qid:1 1:1\n",
    "word": b"good qid:1 1:1\n",
    "negative index": b"1 qid:1 -1:1\n",
    "huge index": b"1 qid:1 99999999999999999999:1\n",
    "no features": b"1 qid:1\n0 qid:1\n",
    "binary": bytes(range(256)),
    "NUL in a query": b"1 qid:a\x00 1:1\n",
    "UTF-16": "1 qid:1 1:1\n".encode("utf-16"),
    "dense index too large": b"1 qid:1 2147483647:1\n",
    "gzip cut": gzip.compress(b"1 qid:1 1:1\n" * 500)[:-9],
    "gzip and rubbish": b"\x1f\x8b rubbish",
}


@pytest.mark.parametrize("defect", FILES)
def test_files(defect, tmp_path):
    path = tmp_path / "data.txt"
    path.write_bytes(FILES[defect])
    with pytest.raises(ValueError) as caught:
        load_letor(path)
    assert str(caught.value).startswith(str(path))
