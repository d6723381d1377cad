"""Command ``python -m gapboost.diagnosis``: model files, data files, output and errors."""

import joblib
import numpy as np
import pytest
from planted import Case
from twins import twins

import gapboost as gb
from gapboost.diagnosis import __main__ as command

pandas = pytest.importorskip("pandas")
NAMES = list("abcde")


def write(part, path):
    """Write rows as CSV or LETOR."""
    if path.suffix == ".csv":
        pandas.DataFrame(part.X, columns=NAMES).assign(grade=part.y, query=part.qid).to_csv(
            path, index=False
        )
        return
    lines = (
        f"{grade} qid:{query} "
        + " ".join(f"{place}:{value!r}" for place, value in enumerate(row.tolist(), 1))
        for row, grade, query in zip(part.X, part.y, part.qid, strict=True)
    )
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def case():
    return Case()


@pytest.fixture
def files(tmp_path, case):
    for name, part in (("test", case.test), ("train", case.training)):
        for ending in ("csv", "txt"):
            write(part, tmp_path / f"{name}.{ending}")
    joblib.dump(case.ranker, tmp_path / "ranker.joblib")
    return tmp_path


def run(capsys, *arguments):
    status = command.main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.mark.parametrize(
    ("ending", "options"), [("csv", ["--label", "grade", "--qid", "query"]), ("txt", [])]
)
def test_the_report_of_files_is_that_of_their_rows(ending, options, files, case, capsys):
    report = files / "answer.md"
    status, out, _ = run(
        capsys, files / "ranker.joblib", files / f"test.{ending}", "--train",
        files / f"train.{ending}", *options, "--measures", "map", "ndcg@5", "--ignore", "ties",
        "--report", report,
    )  # fmt: skip
    assert status == 0
    expected = gb.report(**case.arguments(), measures=["map", "ndcg@5"], ignore=["ties"])
    row = expected.values.loc["map"]
    text = report.read_text(encoding="utf-8")
    for written in (out, text):
        assert f"{row['value']:.4f}" in written
        assert f"{row['training']:.4f}" in written
        assert "0 of 10 checks found a fault. 1 check did not apply. 1 check skipped." in written
        assert all(name in written for name in expected.checks.index)
    assert f"report: {report}" in out
    assert f"The ranker is read from {files / 'ranker.joblib'}" in text.replace("\\", "")


def test_without_training_data(files, capsys):
    """--qid and --label have the names of the columns by default."""
    pandas.read_csv(files / "test.csv").rename(columns={"grade": "label", "query": "qid"}).to_csv(
        files / "renamed.csv", index=False
    )
    status, out, _ = run(
        capsys, files / "ranker.joblib", files / "renamed.csv", "--report", files / "answer.md"
    )
    assert (status, "No training data" in out) == (0, True)


@pytest.mark.slow
@twins
def test_model_files_of_the_boosters(twin, files, case, capsys):
    fitted = twin.ranker().fit(case.training.X, case.training.y, case.training.qid)
    booster = fitted.booster_ if twin.name == "lightgbm" else fitted.get_booster()
    path = files / ("model.txt" if twin.name == "lightgbm" else "model.json")
    booster.save_model(str(path))
    status, out, err = run(
        capsys, path, files / "test.txt", "--report", files / "answer.md", "--measures", "map"
    )
    assert (status, err) == (0, "")
    (expected,) = gb.evaluate(
        "map", case.test.y, fitted.predict(case.test.X), case.test.qid
    ).values()
    assert f"{expected:.4f}" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["ranker.onnx", "test.txt"],
            "MODEL is '{}/ranker.onnx'; expected a file that ends with one of .joblib",
        ),
        (["none.joblib", "test.txt"], "MODEL is '{}/none.joblib'; there is no such file"),
        (["broken.txt", "test.txt"], "is no model of lightgbm"),
        (["broken.json", "test.txt"], "is no model of xgboost"),
        (["ranker.joblib", "none.txt"], "none.txt"),
        (
            ["ranker.joblib", "test.txt", "--ignore", "no-such"],
            "ignore holds 'no-such'; expected some of",
        ),
        (
            ["ranker.joblib", "test.txt", "--report", "report.pdf"],
            "path is 'report.pdf'; expected one that",
        ),
    ],
)
def test_errors_are_one_line(arguments, message, files, capsys):
    (files / "broken.txt").write_text("no model")
    (files / "broken.json").write_text("no model")
    paths = [files / argument for argument in arguments[:2]]
    status, _, err = run(capsys, *paths, "--report", files / "answer.md", *arguments[2:])
    assert (status, err.count("\n")) == (2, 1)
    assert message.format(files) in err
    assert not (files / "answer.md").exists()


def test_rows_of_letor_keep_their_numbers(files, case):
    """Check what the tests above rely on: the file has all digits."""
    from gapboost.datasets import load_letor

    np.testing.assert_array_equal(load_letor(files / "test.txt").X, case.test.X)
