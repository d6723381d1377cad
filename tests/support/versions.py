"""Run tests in a fresh environment: ``python -m tests.support.versions [lightgbm==4.6.0 ...]``.

Options: ``--python 3.13``, ``--lowest`` and ``--whole``.

Without ``--whole`` the smoke test runs, in seconds; whatever no version is given for is the newest,
or with ``--lowest`` the lowest that is declared. Needs uv (``pip install uv``), which finds or
downloads the Python.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
SMOKE = "tests/boosters/test_smoke.py"
SHOWN = "lightgbm", "xgboost", "numba", "numpy", "scikit-learn", "scipy", "pandas"


def install(python, requirements, lowest, folder):
    """The Python of a new environment in `folder`."""
    here = str(folder / ("Scripts" if sys.platform == "win32" else "bin") / "python")
    resolution = "lowest-direct" if lowest else "highest"
    run("uv", "venv", "-q", "--python", python, str(folder))
    run(
        "uv",
        "pip",
        "install",
        "-q",
        "--python",
        here,
        "--resolution",
        resolution,
        f"{ROOT}[test]",
        *requirements,
    )
    return here


def show(python):
    """Print what is installed."""
    code = (
        "import platform; from importlib.metadata import version; print('Python', "
        f"platform.python_version(), *(f'{{p}} {{version(p)}}' for p in {SHOWN}), flush=True)"
    )
    run(python, "-c", code)


def run(*command):
    """Run a command in the project's folder; where it fails this ends with its status."""
    status = subprocess.run(command, cwd=ROOT, check=False).returncode
    if status:
        sys.exit(status)


def main():
    """Install and test."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("requirements", nargs="*", help="such as lightgbm==4.6.0 xgboost==3.0.0")
    parser.add_argument("--python", default=sys.executable, help="3.11, 3.12, ... or a path")
    parser.add_argument(
        "--lowest", action="store_true", help="the lowest versions that are declared"
    )
    parser.add_argument("--whole", action="store_true", help="the whole suite")
    arguments = parser.parse_args()
    if shutil.which("uv") is None:
        sys.exit("uv is needed: pip install uv")
    with tempfile.TemporaryDirectory() as folder:
        python = install(arguments.python, arguments.requirements, arguments.lowest, Path(folder))
        show(python)
        tests = ["-n", "auto", "--all"] if arguments.whole else ["-n", "0", SMOKE]
        run(python, "-m", "pytest", "-q", *tests)


if __name__ == "__main__":
    main()
