"""How long the property tests run, and what the tests of bad input and the fuzzers went through."""

import gc
from collections import Counter

import pytest
from hypothesis import settings

from gapboost.lightgbm.versions import BEFORE_4_7
from gapboost.xgboost.versions import KEEPS_CATEGORIES

# The same examples in every run; `--hypothesis-profile=long` looks for new ones.
settings.register_profile("gapboost", max_examples=100, derandomize=True, deadline=None, print_blob=True)
settings.register_profile("long", parent=settings.get_profile("gapboost"), max_examples=5000, derandomize=False)
settings.load_profile("gapboost")


def pytest_configure(config):
    """What the boosters say of themselves."""
    # XGBoost 3.4 on
    config.addinivalue_line("filterwarnings", "ignore:(?s).*(booster=dart|gblinear).*deprecated:UserWarning")
    # LightGBM's own ranker of 4.6 after training on an array. Ours must not.
    if BEFORE_4_7:
        config.addinivalue_line(
            "filterwarnings", "ignore:X does not have valid feature names, but LGBMRanker:UserWarning"
        )


@pytest.fixture
def categories(request):
    """For tests of data frames with categories, which XGBoost 3.0 gets an error for."""
    if not KEEPS_CATEGORIES and "xgboost" in request.node.nodeid:
        pytest.skip("XGBoost keeps the categories of data frames from 3.1 on")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport():
    """Without garbage collection: the report of a failure parses source code, expected failures in scikit-learn's long file too.

    Finalizers that run in the midst of it and parse code themselves, to show what they complain of, end Python 3.11's parser
    with "AST constructor recursion depth mismatch", and with it the whole run.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_terminal_summary(terminalreporter):
    """Counts of all workers: under xdist a report carries its properties here."""
    reports = [r for outcome in ("passed", "failed") for r in terminalreporter.getreports(outcome) if r.when == "call"]
    cases = sum("/test_bad_input" in f"/{report.nodeid}" for report in reports)
    fuzzed = [dict(report.user_properties) for report in reports if "examples" in dict(report.user_properties)]
    if cases:
        terminalreporter.write_line(f"bad input: {cases} cases")
    if fuzzed:
        total = Counter()
        for properties in fuzzed:
            total.update({name: properties[name] for name in ("examples", "refused")})
        terminalreporter.write_line(
            f"fuzzing: {len(fuzzed)} properties, {total['examples']} examples, of which {total['refused']} were refused"
        )
