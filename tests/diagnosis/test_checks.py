"""Checks of `gapboost.report`: planted faults, checks that do not apply, thresholds and links."""

import math
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from planted import FAULTS, N_DOCS, Case, Linear, column

import gapboost as gb
from gapboost.analysis.estimates import unpaired
from gapboost.diagnosis import data_checks, ranker_checks, training_checks
from gapboost.diagnosis.checks import IDS
from gapboost.diagnosis.finding import GUIDE, counted, listed

ROOT = Path(__file__).parents[2]
STATISTICS = {
    "weak-ranker",
    "overfitted",
    "label-leak",
    "shifted-grades",
    "shifted-features",
    "constant-features",
}
NEED_TRAINING = {"overfitted", "shared-queries", "shifted-grades", "shifted-features"}


def found_by(report):
    return set(report.checks.index[report.checks["status"] == "found"])


@pytest.fixture(scope="module")
def sound():
    return gb.report(**Case().arguments())


def test_sound_data_pass(sound):
    assert sound.checks.index.tolist() == list(IDS)
    assert 8 <= len(IDS) <= 12
    assert set(sound.checks["status"].drop("unjudged")) == {"passed"}


@pytest.mark.slow(keep=3)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_is_found_by_its_check_alone(fault):
    assert found_by(gb.report(**fault(Case()).arguments())) == FAULTS[fault]


def test_each_check_finds_a_fault():
    assert set().union(*FAULTS.values()) == set(IDS)


def reasons(**arguments):
    checks = gb.report(**arguments).checks
    return checks["message"][checks["status"] == "not applicable"].to_dict()


def test_checks_that_need_training_data_say_so():
    case = Case()
    given = {name: value for name, value in case.arguments().items() if not name.endswith("_train")}
    found = reasons(**given)
    assert found.keys() == NEED_TRAINING | {"unjudged"}
    assert {found[one] for one in NEED_TRAINING} == {
        "No training data: pass X_train, y_train and qid_train."
    }
    assert (
        found["unjudged"]
        == "Every document has a grade; y holds NaN for documents that nobody judged."
    )


def test_few_queries_are_a_reason():
    case = Case()
    few = case.test.choose(case.test.qid < 1019)  # 19 queries
    found = reasons(**{**case.arguments(), "X": few.X, "y": few.y, "qid": few.qid})
    assert found.keys() == STATISTICS | {"unjudged"}
    assert all("20" in found[one] for one in STATISTICS)


def test_a_ranker_that_learned_nothing_is_not_overfitted():
    found = reasons(**{**Case().arguments(), "ranker": Linear((0, 0, 0, 0, 1.0))})
    assert (
        found["overfitted"]
        == "The ranker is not proven better than a random order on the training queries."
    )


def test_documents_that_do_not_differ_have_no_constant_list():
    case = Case()
    found = reasons(**{**case.arguments(), "X": np.zeros_like(case.test.X)})
    assert found["constant-scores"] == "No test query has 5 documents that differ."
    assert found["label-leak"] == "No feature has an order and varies within a query."


def test_features_without_an_order_are_not_compared():
    pandas = pytest.importorskip("pandas")

    class First:
        def predict(self, X):
            return np.arange(len(X), dtype=float) % N_DOCS

    case = Case()
    tables = {
        name: pandas.DataFrame({"text": pandas.Categorical(np.round(part.X[:, 0]).astype(str))})
        for name, part in (("X", case.test), ("X_train", case.training))
    }
    found = reasons(**{**case.arguments(), "ranker": First(), **tables})
    assert found["shifted-features"] == "No feature has an order."
    assert found["label-leak"] == "No feature has an order and varies within a query."


def test_ignore_skips():
    fault = next(iter(FAULTS))
    (found,) = FAULTS[fault]
    report = gb.report(**fault(Case()).arguments(), ignore=[found])
    assert found_by(report) == set()
    assert report.checks.loc[found, "status"] == "ignored"
    assert math.isnan(report.checks.loc[found, "value"])


@pytest.mark.parametrize(
    ("ignore", "error", "message"),
    [
        (
            ["ties", "no-such-check"],
            ValueError,
            "ignore holds 'no-such-check'; expected some of weak-ranker, ",
        ),
        ("ties", TypeError, "ignore is 'ties'; expected a list of ids of checks"),
        ([1], TypeError, r"ignore is \[1\]; expected a list of ids of checks"),
    ],
)
def test_ignore_is_checked_before_the_ranker_is_called(ignore, error, message):
    with pytest.raises(error, match=message):
        gb.report(None, None, None, ignore=ignore)


def test_links_lead_to_sections_of_the_guide(sound):
    page = (ROOT / "docs" / "guide" / "report.md").read_text(encoding="utf-8")
    source = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "urls"
    ]["Source"]
    assert f"{source}/blob/main/docs/guide/report.md" == GUIDE
    assert sound.checks["link"].to_dict() == {one: f"{GUIDE}#{one}" for one in IDS}
    assert re.findall(r"^### ([a-z-]+)$", page, re.MULTILINE) == list(IDS)


def test_the_guide_gives_each_threshold_and_its_reason():
    page = (ROOT / "docs" / "guide" / "report.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([A-Z_]+)` \| ([\d.]+) \| (.+) \|$", page, re.MULTILINE)
    given = {name: float(value) for name, value, _ in rows}
    held = {
        name: float(value)
        for module in (data_checks, training_checks, ranker_checks)
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, int | float)
    }
    assert given == held
    assert all(len(reason.split()) > 5 for *_, reason in rows)


def test_ids_of_the_same_text_and_another_type_are_other_queries():
    case = Case()
    shared = {**case.arguments(), "qid": case.training.qid.astype(str)}
    shared["X"], shared["y"] = case.test.X, case.test.y
    assert gb.report(**shared).checks.loc["shared-queries", "value"] == 0
    shared["qid"] = case.training.qid
    checks = gb.report(**shared).checks
    assert checks.loc["shared-queries", "value"] == 60
    assert "make them different" in checks.loc["shared-queries", "message"]


def test_copies_with_the_same_grade_and_score_are_no_ties():
    """No ranker can order them; `duplicate-documents` names them."""
    case = Case()
    rows = np.repeat(np.arange(len(case.test.y)), 2)
    copied = case.test.choose(rows)
    report = gb.report(**{**case.arguments(), "X": copied.X, "y": copied.y, "qid": copied.qid})
    assert report.checks.loc["ties", "value"] == pytest.approx(0, abs=1e-12)
    assert report.checks.loc["duplicate-documents", "value"] == 1


def test_the_range_of_ties_is_that_of_evaluate():
    """The best order of ties is by falling grades, the worst by rising ones, as in `evaluate`."""
    case = FAULTS_BY_NAME["ties"](Case())
    scores = case.ranker.predict(case.test.X)
    order = np.argsort(-case.test.y, kind="stable")
    by_row = [
        gb.evaluate("ndcg@10", case.test.y[rows], scores[rows], case.test.qid[rows], ties="row")
        for rows in (order, order[::-1])
    ]
    best, worst = (next(iter(values.values())) for values in by_row)
    assert gb.report(**case.arguments()).checks.loc["ties", "value"] == pytest.approx(
        best - worst, abs=1e-12
    )


FAULTS_BY_NAME = {fault.__name__: fault for fault in FAULTS}


def test_a_ratio_that_chance_explains_is_no_shift():
    """Few queries hold all relevant documents: five of 60 here, ten there."""
    case = Case()
    grades = [np.repeat(np.arange(60) < n, N_DOCS).astype(int) for n in (5, 10)]
    row = gb.report(**{**case.arguments(), "y": grades[0], "y_train": grades[1]}).checks.loc[
        "shifted-grades"
    ]
    assert (row["status"], row["value"]) == ("passed", pytest.approx(2))


def test_features_of_the_query_pass():
    """They differ between queries, also in training: trees use them together with others."""
    case = Case()
    parts = [column(part.X, 4, np.sin(part.qid)) for part in (case.test, case.training)]
    row = gb.report(**{**case.arguments(), "X": parts[0], "X_train": parts[1]}).checks.loc[
        "constant-features"
    ]
    assert row["status"] == "passed"
    assert (
        row["message"]
        == "Features of the query, which order documents only together with others: x4."
    )


def test_welch():
    """Against scipy's test of two samples."""
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(0)
    first, second = rng.normal(0.3, 1, 30), rng.normal(0, 3, 12)
    found, expected = unpaired(first, second), stats.ttest_ind(first, second, equal_var=False)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.interval() == pytest.approx(tuple(expected.confidence_interval()))
    assert unpaired(np.ones(3), np.zeros(4)).interval() == (1.0, 1.0)


def test_words():
    assert (counted(1, "query", "queries"), counted(1200, "query", "queries")) == (
        "1 query",
        "1,200 queries",
    )
    assert listed(list("abc"), 2) == "a, b, and 1 more"
