"""Type checkers, parameters of signatures, and `repr`."""

import inspect
import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.base import clone
from twins import twins

import gapboost

ROOT = Path(gapboost.__file__).parents[1]
SCRIPT = Path(__file__).parents[1] / "support" / "typed_script.py"


@twins
def test_rankers_have_the_parameters_of_the_booster(twin):
    theirs = set(twin.vendor().get_params()) - {"objective"}
    ours = twin.ranker_class().get_params()
    assert theirs <= set(ours)
    assert {"measure", "g", "objective"} <= set(ours)


@twins
@pytest.mark.parametrize(
    "changed", [{}, {"g": (0.5, 0.5), "n_estimators": 7}, {"measure": "ap"}], ids=str
)
def test_repr_shows_what_was_changed(twin, changed):
    ranker = twin.ranker_class(**changed)
    assert all(f"{name}={value!r}" in repr(ranker) for name, value in changed.items())
    for copy in (
        clone(ranker),
        pickle.loads(pickle.dumps(ranker)),
        twin.ranker_class().set_params(**ranker.get_params()),
    ):
        assert repr(copy) == repr(ranker)


@twins
def test_predict_takes_what_that_of_the_booster_takes(twin):
    theirs = inspect.signature(twin.vendor.predict).parameters
    ours = inspect.signature(twin.ranker_class.predict).parameters
    assert [(p.name, p.kind) for p in ours.values()] == [(p.name, p.kind) for p in theirs.values()]


@pytest.mark.slow
def test_a_script_of_a_user_passes_and_mistakes_are_seen(tmp_path):
    """Pyright marks the lines that hold mistakes, and no others; `nox -s lint` runs mypy."""
    checker = pytest.importorskip("basedpyright", reason="basedpyright is not installed")
    config = {
        "typeCheckingMode": "standard",
        "enableTypeIgnoreComments": False,
        "extraPaths": [str(ROOT)],
        "include": [SCRIPT.name],
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    shutil.copy(SCRIPT, tmp_path)
    command = [sys.executable, "-m", checker.__name__, "--outputjson"]
    done = subprocess.run(
        [*command, "--pythonpath", sys.executable],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    found = json.loads(done.stdout)["generalDiagnostics"]
    lines = SCRIPT.read_text(encoding="utf-8").splitlines()
    wrong = [i for i, line in enumerate(lines) if "type: ignore[" in line]
    assert [
        one["range"]["start"]["line"] for one in found if one["severity"] == "error"
    ] == wrong, found


def test_the_package_says_that_it_is_typed():
    assert (ROOT / "gapboost" / "py.typed").is_file()
