"""Compiled code on disk: nowhere to keep it, a full disk, broken files, edited sources; in copies of the package."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from installed import needs

import gapboost as gb
from gapboost._kernels.jit import KernelFile
from gapboost._kernels.lambdarank.pairs import sum_pairs

pytestmark = needs("lightgbm")  # by which the programs below fit

PACKAGE = Path(gb.__file__).parent

Y, SCORES = [2, 0, 1, 0, 1], [3.0, 2.0, 1.0, 2.0, 1.0]
MEASURES = [gb.GAP(g=(0.5, 0.5)), gb.nDCG()]
EVALUATE = f"""
import sys
sys.path.insert(0, sys.argv[1])
import gapboost as gb
assert gb.__file__.startswith(sys.argv[1]), gb.__file__
print(list(gb.evaluate({MEASURES!r}, {Y}, {SCORES}).values()))
""".replace("GAP(", "gb.GAP(").replace("nDCG(", "gb.nDCG(")
GRADIENTS = """
print(gb.LambdaRank(gb.AP(), normalize={normalize}).gradients([0, 1, 0], [3.0, 2.0, 1.0])[0].tolist())
"""
FIT = """
import numpy as np
from gapboost.lightgbm import LGBMGAPRanker
X = np.arange(40.0)[:, None] % 7
ranker = LGBMGAPRanker(n_estimators=2, min_child_samples=1, verbose=-1, n_jobs=1)
print(ranker.fit(X, (X[:, 0] > 3).astype(int), np.arange(40) // 10).predict(X[:7]).tolist())
"""
# A limit on the length of files, as of a disk that fills up: there is room for an index, and none for code.
FULL = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"


def run(program, folder, cache=None, command=(), **environment):
    """Start a program on the package in `folder`; numba's own rules say where its cache is, or `cache` does."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_CACHE")}
    chosen = {} if cache is None else {"NUMBA_CACHE_DIR": str(cache)}
    return subprocess.Popen(
        [*command, sys.executable, "-c", program, str(folder)],
        env={**kept, **chosen, **environment},
        cwd="/",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output(process):
    """What a program printed, and what it was warned of, without what matplotlib says of its own folder."""
    printed, said = process.communicate(timeout=250)
    assert process.returncode == 0, said
    return printed, [line for line in said.splitlines() if "matplotlib" not in line.lower()]


@pytest.fixture(scope="module")
def expected():
    """What the programs print; afterwards all that they call is on disk."""
    return {program: output(run(program, PACKAGE.parent))[0] for program in (EVALUATE, EVALUATE + FIT)}


@pytest.fixture
def folder(tmp_path, expected):
    """A copy of the package, with the code that was compiled."""
    shutil.copytree(PACKAGE, tmp_path / "gapboost")
    return tmp_path


@pytest.mark.slow
def test_the_programs_are_right_and_warned_of_nothing(expected, folder):
    values = [float(value) for value in expected[EVALUATE].strip("[]\n").split(",")]
    np.testing.assert_array_equal(values, list(gb.evaluate(MEASURES, Y, SCORES).values()))
    assert output(run(EVALUATE + FIT, folder)) == (expected[EVALUATE + FIT], [])


def unprivileged():
    """How to start a program as somebody who may write nowhere."""
    if os.geteuid() != 0:
        return []
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if shutil.which("setpriv") is None:
        pytest.skip("root may write everywhere, and there is no setpriv to become somebody else")
    if subprocess.run([*nobody, sys.executable, "-c", "import lightgbm"], cwd="/", check=False).returncode != 0:
        pytest.skip("an unprivileged user may not start this Python")
    return nobody


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no unprivileged users here")
@pytest.mark.parametrize("program", [EVALUATE + FIT, EVALUATE], ids=["no folder", "a folder that cannot be written"])
def test_nothing_is_writable(program, expected):
    nobody = unprivileged()
    # Not in pytest's folder, which only its owner may read.
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(PACKAGE, Path(place, "gapboost"), ignore=shutil.ignore_patterns("__pycache__"))
        chosen = Path(place, "chosen")
        chosen.mkdir()
        folders = [path for path in [Path(place), *Path(place).rglob("*")] if path.is_dir()]
        for path in folders:
            path.chmod(0o555)
        try:
            home = {"HOME": place, "XDG_CACHE_HOME": place}
            printed, said = output(run(program, place, chosen if program == EVALUATE else None, nobody, **home))
        finally:
            for path in folders:
                path.chmod(0o755)
    assert printed == expected[program]
    assert len(said) == 1, said
    assert "cannot be kept on disk" in said[0]
    assert "NUMBA_CACHE_DIR" in said[0]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no limits on the length of files here")
def test_a_limit_on_the_length_of_files(expected, tmp_path):
    printed, said = output(run(FULL + EVALUATE + FIT, PACKAGE.parent, tmp_path))
    assert printed == expected[EVALUATE + FIT]
    assert len(said) == 1, said
    assert "cannot be kept on disk ([Errno 27] File too large" in said[0]
    assert "NUMBA_CACHE_DIR" in said[0]


@pytest.fixture
def full_disk(tmp_path):
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root on Linux can make a small disk")
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", tmp_path], check=False)
    if made.returncode != 0:
        pytest.skip("a small disk cannot be made here")
    yield tmp_path
    subprocess.run(["umount", tmp_path], check=True)


@pytest.mark.slow
def test_a_full_disk(expected, full_disk):
    printed, said = output(run(EVALUATE, PACKAGE.parent, full_disk))
    assert printed == expected[EVALUATE]
    # The first functions had room.
    assert len([line for line in said if "cannot be kept on disk ([Errno 28]" in line]) == 1, said
    assert len(said) <= 2
    assert list(full_disk.rglob("*.nbc"))
    assert not list(full_disk.rglob("*.tmp.*"))


def cut_off(path, i):
    with path.open("r+b") as file:
        file.truncate([path.stat().st_size - 1, path.stat().st_size // 2, 1][i % 3])


def emptied_or_overwritten(path, i):
    path.write_bytes([b"", b"code", b"\x80", b"\x80\x04N."][i % 4])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("programs", "files", "broken"),
    [
        ([EVALUATE + FIT, EVALUATE], "*.nb?", cut_off),
        ([EVALUATE], "*.nbc", cut_off),
        ([EVALUATE], "*.nb?", emptied_or_overwritten),
    ],
    ids=["every file cut off, two processes at once", "all code cut off", "every file empty or something else"],
)
def test_broken_files(programs, files, broken, expected, folder):
    """They are compiled anew, which is said once, and are good again."""
    found = sorted(folder.rglob(files))
    assert len(found) > 20
    for i, path in enumerate(found):
        broken(path, i)
    outputs = [output(process) for process in [run(program, folder) for program in programs]]
    assert [printed for printed, _ in outputs] == [expected[program] for program in programs]
    for i, (_, said) in enumerate(outputs):
        # The first may have replaced all that the second needs.
        assert len(said) == 1 or (i == 1 and not said), said
        for line in said:
            assert "cannot be read" in line
            assert str(folder) in line
    assert output(run(programs[0], folder)) == (expected[programs[0]], [])


@pytest.mark.slow
def test_an_edited_function_changes_those_that_call_it_from_other_files(folder):
    def gradients(normalize):
        program = EVALUATE + GRADIENTS.format(normalize=normalize)
        return np.array([float(x) for x in output(run(program, folder))[0].splitlines()[1].strip("[]").split(",")])

    assert gradients(False).any()
    path = folder / Path(sum_pairs.py_func.__code__.co_filename).relative_to(PACKAGE.parent)
    head, name, rest = path.read_text(encoding="utf-8").partition("def sum_pairs(")
    signature, quotes, doc_and_body = rest.partition('"""')
    doc, end, body = doc_and_body.partition('"""')
    path.write_text("".join([head, name, signature, quotes, doc, end, "\n    return", body]), encoding="utf-8")
    assert not gradients(False).any()


def file(folder, sources="these"):
    return KernelFile(str(folder), "function", sources)


def test_code_of_other_sources_is_not_taken_for_these(tmp_path):
    """A disk that is full or a process that ends between its index and its code leaves older code under its names."""
    old, new = file(tmp_path, "those"), file(tmp_path)
    old.save("types", "old code")
    assert new.load("types") is None
    new._save_index({"types": old._data_name(1)})
    assert new.load("types") is None
    new.save("types", "new code")
    assert new.load("types") == "new code"


def test_code_for_other_types_is_not_taken_for_these(tmp_path):
    """Two processes that save at once may choose the same name."""
    one = file(tmp_path)
    one.save("types", "code")
    one._save_index({"other types": one._data_name(1)})
    assert one.load("other types") is None
    one.save("other types", "other code")
    assert one.load("other types") == "other code"
