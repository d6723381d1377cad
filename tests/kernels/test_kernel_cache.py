"""Compiled code on disk: containers, broken files, other sources, no folder at all."""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numba
import numpy as np
import pytest
from installed import needs

import gapboost as gb
from gapboost._kernels import jit

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
FIT = """
import numpy as np
from gapboost.lightgbm import LGBMGAPRanker
X = np.arange(40.0)[:, None] % 7
ranker = LGBMGAPRanker(n_estimators=2, min_child_samples=1, verbose=-1, n_jobs=1)
print(ranker.fit(X, (X[:, 0] > 3).astype(int), np.arange(40) // 10).predict(X[:7]).tolist())
"""
# A few kernels alone. To import the rest of the package takes longer than to compile them.
KERNELS = """
import sys, types
sys.modules["gapboost"] = package = types.ModuleType("gapboost")
package.__path__ = [sys.argv[1] + "/gapboost"]
import numpy as np
"""
RANK = (
    KERNELS
    + """
from gapboost._kernels.order import ranking
print(ranking(np.array([1.0, 4.0, 2.0]), np.array([0, 3])).tolist())
"""
)
# Prints how many of our functions were compiled, in the last line.
COUNTING = """
import atexit
from numba.core import event
listener = event.RecordingListener()
event.register("numba:compile", listener)
def ours(one):
    return one.is_start and one.data["dispatcher"].py_func.__module__.startswith("gapboost.")
atexit.register(lambda: print(sum(ours(one) for _, one in listener.buffer)))
"""


def run(program, folder, cache=None, command=(), **environment):
    """Start a program on the package in `folder`, which also counts what is compiled.

    numba's rules choose the folder of its cache, or `cache` does.
    """
    # A measurement of coverage would write where the program may not.
    others = ("NUMBA_CACHE", "COVERAGE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(others)}
    chosen = {} if cache is None else {"NUMBA_CACHE_DIR": str(cache)}
    return subprocess.Popen(
        [*command, sys.executable, "-c", COUNTING + program, str(folder)],
        env={**kept, **chosen, **environment},
        cwd="/",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output(process):
    """Return what a program printed, how many functions were compiled, and its warnings.

    Those of matplotlib about its own folder are left out.
    """
    printed, said = process.communicate(timeout=250)
    assert process.returncode == 0, said
    *own, number = printed.splitlines(keepends=True)
    warnings = [line for line in said.splitlines() if "matplotlib" not in line.lower()]
    return "".join(own), int(number), warnings


def as_nobody(nobody, program, image, cache=None, **environment):
    """Return the output for somebody who can write nowhere in the folder `image`."""
    for path in [image, *image.rglob("*")]:
        if path.is_dir():
            path.chmod(0o555)
    environment = {"HOME": str(image), "XDG_CACHE_HOME": str(image), **environment}
    return output(run(program, image, cache, nobody, **environment))


def copy_of_package(place, *, compiled):
    """Copy the package to the folder `place`, with the compiled code or without."""
    left = None if compiled else shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, Path(place, "gapboost"), ignore=left)


@pytest.fixture(scope="module")
def expected():
    """Run the programs, which caches all that they call on disk; return what they print."""
    return {program: output(run(program, PACKAGE.parent))[0] for program in (EVALUATE + FIT, RANK)}


@pytest.fixture(scope="module")
def nobody():
    """Return the command that starts a program as a user who may write nowhere."""
    if not hasattr(os, "geteuid"):
        pytest.skip("there are no unprivileged users here")
    if os.geteuid() != 0:
        return []
    command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if shutil.which("setpriv") is None:
        pytest.skip("root may write everywhere, and there is no setpriv to become somebody else")
    if subprocess.call([*command, sys.executable, "-c", "import numba"], cwd="/") != 0:
        pytest.skip("an unprivileged user may not start this Python")
    return command


@pytest.fixture
def image():
    """Yield a folder that everybody can read.

    At the end only root can write to it.
    """
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        yield Path(place)
        for path in [Path(place), *Path(place).rglob("*")]:
            if path.is_dir():
                path.chmod(0o755)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "environment"),
    [
        (EVALUATE + FIT, {}),
        (RANK, {"NUMBA_CACHE_DIR": "/nowhere"}),
        (RANK, {"HOME": str(Path.home()), "XDG_CACHE_HOME": str(Path.home() / ".cache")}),
    ],
    ids=["nothing is writable", "nor the chosen folder", "the home of somebody else"],
)
def test_kernels_of_an_image_are_used_by_another_user_who_cannot_write(
    program, environment, image, nobody, expected
):
    copy_of_package(image, compiled=True)
    assert as_nobody(nobody, program, image, **environment) == (expected[program], 0, [])


@pytest.mark.slow
def test_kernels_in_a_chosen_folder_are_used_by_another_user_who_cannot_write(
    image, nobody, expected
):
    copy_of_package(image, compiled=False)
    chosen = image / "chosen"
    printed, compiled, said = output(run(RANK, image, chosen))
    assert (printed, said) == (expected[RANK], [])
    assert compiled > 0
    assert not list((image / "gapboost").rglob("*.nbc"))
    assert as_nobody(nobody, RANK, image, chosen) == (expected[RANK], 0, [])


@pytest.mark.slow
def test_kernels_of_an_image_for_another_processor_are_compiled_anew(image, nobody, expected):
    copy_of_package(image, compiled=True)
    name = "x86-64-v3" if platform.machine() == "x86_64" else "generic"
    other = {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": ""}
    printed, compiled, said = as_nobody(nobody, RANK, image, **other)
    np.testing.assert_allclose(json.loads(printed), json.loads(expected[RANK]), rtol=1e-14)
    assert compiled > 0
    assert len(said) == 1, said
    assert "gapboost.warmup keeps on this kind of processor" in said[0]


@pytest.mark.slow
def test_what_an_image_lacks_is_compiled_and_kept_where_the_user_can_write(image, nobody, expected):
    copy_of_package(image, compiled=True)
    lacking = [path for path in image.rglob("*.nbc") if re.search(r"order\.rank-", path.name)]
    assert 0 < len(lacking) < len(list(image.rglob("*.nbc")))
    for path in lacking:
        path.unlink()
    with tempfile.TemporaryDirectory() as home:
        Path(home).chmod(0o777)
        (printed, compiled, _), again = [
            as_nobody(nobody, RANK, image, XDG_CACHE_HOME=home) for _ in range(2)
        ]
        # Names depend on sources and types alone.
        kept = {path.name for path in Path(home).rglob("*.nbc")}
    assert printed == expected[RANK]
    assert compiled > 0
    assert again == (expected[RANK], 0, [])
    assert len(kept) == 1
    assert kept <= {path.name for path in lacking}


@pytest.mark.slow
@pytest.mark.parametrize(
    "has_folder", [False, True], ids=["no folder", "a folder that cannot be written"]
)
def test_nothing_is_writable(has_folder, image, nobody, expected):
    copy_of_package(image, compiled=False)
    chosen = image / "chosen"
    chosen.mkdir()
    printed, _, said = as_nobody(nobody, RANK, image, chosen if has_folder else None)
    assert printed == expected[RANK]
    assert len(said) == 1, said
    assert "cannot be kept on disk" in said[0]
    assert "NUMBA_CACHE_DIR" in said[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "moved",
    ["caching.NullCache", "compiler.CompileResult._rebuild", "codegen.JITCPUCodegen.magic_tuple"],
)
def test_a_numba_with_other_private_names_compiles_without_the_cache(moved, expected, tmp_path):
    copy_of_package(tmp_path, compiled=False)
    module, *names, last = moved.split(".")
    owner = ".".join(["numba.core", module, *names])
    # The attribute may be inherited.
    program = f"""
import numba.core.{module}, numba.experimental.function_type
for owner in getattr({owner}, "__mro__", [{owner}]):
    if "{last}" in vars(owner):
        delattr(owner, "{last}")
"""
    printed, _, said = output(run(program + RANK, tmp_path))
    assert printed == expected[RANK]
    assert len(said) == 1, said
    assert last in said[0]
    assert not list(tmp_path.rglob("*.nbc"))


def test_a_compiled_function_with_another_name_of_its_cache(monkeypatch, caplog):
    monkeypatch.setattr(numba, "njit", lambda **options: lambda function: function)
    monkeypatch.setattr(jit.KernelCache, "unkept", None)
    assert [jit.kernel(abs)(-3), jit.kernel(max)(1, 2)] == [3, 2]
    assert ["_cache" in message for message in caplog.messages] == [True]


def flipped(content, place):
    return content[:place] + bytes([content[place] ^ 2]) + content[place + 1 :]


BROKEN = {
    "half": lambda content: content[: len(content) // 2],
    "a byte is left": lambda content: content[:1],
    "empty": lambda content: b"",
    "something else": lambda content: b"\x80\x04N.",
    "another byte": lambda content: flipped(content, 3 * len(content) // 4),
    "another byte of the digest": lambda content: flipped(content, 0),
}


@pytest.mark.slow
@pytest.mark.parametrize("how", BROKEN)
def test_broken_files(how, expected, tmp_path):
    """They are compiled anew, here by two processes at once, and are good again."""
    copy_of_package(tmp_path, compiled=True)
    found = {path: BROKEN[how](path.read_bytes()) for path in tmp_path.rglob("*order.rank-*.nbc")}
    for path, broken in found.items():
        path.write_bytes(broken)
    for process in [run(RANK, tmp_path) for _ in range(2)]:
        printed, _, said = output(process)
        assert (printed, said) == (expected[RANK], [])
    assert any(path.read_bytes() != broken for path, broken in found.items())
    assert output(run(RANK, tmp_path)) == (expected[RANK], 0, [])


# A kernel that calls one in another file.
CALLER = """
from gapboost._kernels.jit import kernel
from gapboost._kernels.called import shifted

@kernel
def squared(x):
    return shifted(x) ** 2
"""
CALLED = """
from gapboost._kernels.jit import inner_kernel

@inner_kernel
def shifted(x):
    return x {change}
"""
CALL = KERNELS + "from gapboost._kernels.caller import squared; print(squared(3.0))"


@pytest.mark.slow
def test_an_edited_function_changes_those_that_call_it_from_other_files(tmp_path):
    copy_of_package(tmp_path, compiled=False)
    kernels = tmp_path / "gapboost" / "_kernels"
    (kernels / "caller.py").write_text(CALLER, encoding="utf-8")
    # Of another size: Python tells its own compiled files by size and second.
    for change, printed in (("- 1.0", "4.0\n"), ("+ 1.00", "16.0\n")):
        (kernels / "called.py").write_text(CALLED.format(change=change), encoding="utf-8")
        assert output(run(CALL, tmp_path))[0] == printed
