"""Settings of all tests: property tests, slow cases, and boosters that are not installed."""

import gc
import os
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

# Threads that wait for each other sleep instead of spinning, and those of numpy's matrix products
# always spin: tests that run at the same time need the cores.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Dask's profiler can stop a whole process for ever on Python 3.11.7 (python/cpython#106883).
os.environ.setdefault("DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED", "False")

import sklearn
from hypothesis import settings
from installed import MISSING, boosters_of

import gapboost
from gapboost.objectives import LambdaRank
from gapboost.warmup import warm_up

# Tests import benchmarks and examples. Last, since the gapboost to test may be the installed one.
sys.path.append(str(Path(__file__).parents[1]))

# The same examples in every run; `--hypothesis-profile=long` looks for new ones.
settings.register_profile(
    "gapboost", max_examples=100, derandomize=True, deadline=None, print_blob=True
)
settings.register_profile(
    "long", parent=settings.get_profile("gapboost"), max_examples=5000, derandomize=False
)
settings.load_profile("gapboost")


def pytest_ignore_collect(collection_path, config):
    """Ignore test files that need a booster or Spark which is not installed.

    Tests of other tools run only by their name: `nox -s interop`.
    """
    if collection_path.name == "interop":
        named = [Path(argument.partition("::")[0]).resolve() for argument in config.args]
        return not any(path.is_relative_to(collection_path) for path in named)
    if collection_path.name == "test_spark.py" and find_spec("pyspark") is None:
        return True
    is_test = MISSING and collection_path.name.startswith("test_")
    return True if is_test and boosters_of(collection_path) & MISSING else None


def pytest_report_header():
    return f"gapboost {gapboost.__version__} from {Path(gapboost.__file__).parent}"


def pytest_sessionstart():
    """Let one of several processes compile the kernels, while another compiles what it imports.

    In a new environment, in the same order, each of them would compile both. Faults of kernels are
    for the tests to find.
    """
    if os.environ.get("PYTEST_XDIST_WORKER") == "gw1":
        with suppress(Exception):
            warm_up()


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector, name, obj):
    """``slow(keep=n)``: the first n cases of a test are not slow, whichever cases are selected."""
    cases = yield
    marks = [mark for mark in getattr(obj, "pytestmark", ()) if mark.name == "slow"]
    keep = max((mark.kwargs.get("keep", 0) for mark in marks), default=0)
    if keep:
        if keep >= len(cases):
            raise collector.CollectError(f"{name} has {len(cases)} cases, of which {keep} are fast")
        for case in cases[:keep]:
            case.own_markers = [mark for mark in case.own_markers if mark.name != "slow"]
    return cases


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport():
    """Turn off garbage collection while the report of a failure parses source code.

    Finalizers that run in the midst of it and parse code themselves, to show what they complain of,
    end Python 3.11's parser with "AST constructor recursion depth mismatch", and with it the whole
    run.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def preparations(monkeypatch):
    """The data sets for which LambdaRank was prepared."""
    made = []
    prepared = LambdaRank.prepared

    def counted(self, data, n_jobs=None):
        made.append(data)
        return prepared(self, data, n_jobs)

    monkeypatch.setattr(LambdaRank, "prepared", counted)
    return made
