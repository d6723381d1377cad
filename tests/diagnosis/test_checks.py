"""Checks of `gapboost.report`: planted faults, checks that do not apply, and thresholds."""

import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from planted import FAULTS, N_DOCS, N_QUERIES, Case, Linear, Memory, column, ties

import gapboost as gb
from gapboost.analysis import leaks
from gapboost.diagnosis import checks
from gapboost.diagnosis.checks import CHECKS

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "report.md"
STATISTICS = {
    "weak-ranker", "overfitted", "label-leak", "shifted-grades", "shifted-features",
    "constant-features",
}  # fmt: skip
NEED_TRAINING = {
    *("overfitted", "shared-queries", "shifted-grades", "shifted-features"),
    "constant-features",
}


def found_by(report):
    return set(report.checks.index[report.checks["status"] == "found"])


def not_applicable(**arguments):
    found = gb.report(**arguments).checks
    return set(found.index[found["status"] == "not applicable"])


def test_sound_data_pass():
    found = gb.report(**Case().arguments()).checks
    assert found.index.tolist() == list(CHECKS)
    assert set(found["status"].drop("unjudged")) == {"passed"}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_is_found_by_its_check_alone(fault):
    report = gb.report(**fault(Case()).arguments())
    assert found_by(report) == FAULTS[fault]
    assert "found: " + ", ".join(
        one for one in report.checks.index if one in FAULTS[fault]
    ) in repr(report)


def test_each_check_finds_a_fault():
    assert set().union(*FAULTS.values()) == set(CHECKS)


@pytest.mark.parametrize("grades", [(1, 2), (2,), (0,)], ids=str)
def test_a_feature_that_is_missing_where_the_grade_is_known(grades):
    case = Case()
    X = column(case.test.X, 3, np.where(np.isin(case.test.y, grades), np.nan, case.test.X[:, 3]))
    row = gb.report(case.ranker, X, case.test.y, case.test.qid).checks.loc["label-leak"]
    assert row["status"] == "found"
    assert row["message"].startswith("X[:, 3] alone ranks")
    assert row["value"] == 1


def test_a_random_order_is_no_leak():
    """Case: nearly all documents are relevant, so that each order has a high average precision."""
    case = Case()
    X = np.random.default_rng(0).normal(size=(200 * 24, 5))
    y, ids = np.arange(len(X)) % 24 > 0, np.arange(len(X)) // 24
    assert gb.report(case.ranker, X, y, ids).checks.loc["label-leak", "status"] == "passed"
    X[:, 4] = np.where(y, 1.0, np.nan)
    assert gb.report(case.ranker, X, y, ids).checks.loc["label-leak", "status"] == "found"


def test_intervals_of_leaks_are_wider_among_more_features():
    columns = [(f"x{i}", x) for i, x in enumerate(np.random.default_rng(0).normal(size=(10, 480)))]
    grades, numbers = np.arange(480) % 4, np.arange(480) // 24
    (alone,) = leaks.rank_alone(columns[:1], grades, numbers)
    among = {one.feature: one.low for one in leaks.rank_alone(columns, grades, numbers)}
    assert among["x0"] < alone.low


def test_a_leak_of_the_highest_of_many_grades_is_found():
    grades, numbers = np.arange(480) % 20, np.arange(480) // 20
    (alone,) = leaks.rank_alone([("x0", (grades == 19).astype(float))], grades, numbers)
    assert (alone.grade, alone.low) == (19, 1)


def test_checks_that_need_training_data_say_so():
    given = {k: v for k, v in Case().arguments().items() if not k.endswith("_train")}
    assert not_applicable(**given) == NEED_TRAINING | {"unjudged"}


@pytest.mark.parametrize(
    ("part", "suffix", "expected"),
    [("test", "", STATISTICS), ("training", "_train", STATISTICS & NEED_TRAINING)],
)
def test_few_queries_are_a_reason(part, suffix, expected):
    case = Case()
    rows = getattr(case, part)
    few = rows.choose(np.isin(rows.qid, np.unique(rows.qid)[:19]))
    given = {f"{name}{suffix}": getattr(few, name) for name in ("X", "y", "qid")}
    assert not_applicable(**{**case.arguments(), **given}) == expected | {"unjudged"}


def test_a_ranker_that_learned_nothing_is_not_overfitted():
    given = {**Case().arguments(), "ranker": Linear((0, 0, 0, 0, 1.0))}
    assert "overfitted" in not_applicable(**given)


def test_a_ranker_that_keeps_most_of_its_gain_is_not_overfitted():
    """It knows the grades of the training rows, but ranks other rows well too."""
    case = Case()
    memory = Memory(case.training.X, case.training.y)

    class Both(Linear):
        def predict(self, X):
            return super().predict(X) + memory.predict(X)

    row = gb.report(**{**case.arguments(), "ranker": Both()}).checks.loc["overfitted"]
    assert row["status"] == "passed"
    assert 0.6 < row["value"] < 0.95


def test_documents_that_do_not_differ_have_no_constant_list():
    case = Case()
    found = not_applicable(**{**case.arguments(), "X": np.zeros_like(case.test.X)})
    assert {"constant-scores", "label-leak"} <= found


@pytest.mark.parametrize(("n_queries", "status"), [(1, "passed"), (100, "found")])
def test_a_value_that_few_training_queries_have_may_be_missing_by_chance(n_queries, status):
    case = Case()
    rare = np.isin(case.training.qid, np.unique(case.training.qid)[:n_queries]).astype(float)
    given = case.arguments()
    given |= {"X": column(case.test.X, 4, 0.0), "X_train": column(case.training.X, 4, rare)}
    assert gb.report(**given).checks.loc["constant-features", "status"] == status


def test_features_without_an_order_are_not_compared():
    class First:
        def predict(self, X):
            return np.arange(len(X), dtype=float) % N_DOCS

    case = Case()
    tables = {
        name: pd.DataFrame({"text": pd.Categorical(np.round(part.X[:, 0]).astype(str))})
        for name, part in (("X", case.test), ("X_train", case.training))
    }
    found = not_applicable(**{**case.arguments(), "ranker": First(), **tables})
    assert {"shifted-features", "label-leak"} <= found


def test_ignore_skips():
    fault = next(iter(FAULTS))
    (found,) = FAULTS[fault]
    report = gb.report(**fault(Case()).arguments(), ignore=[found])
    assert found_by(report) == set()
    assert report.checks.loc[found, "status"] == "ignored"
    assert math.isnan(report.checks.loc[found, "value"])
    for unusable in (["ties", "no-such-check"], "ties", [1], None, 3):
        with pytest.raises(ValueError, match=r"^ignore is "):
            gb.report(None, None, [1], ignore=unusable)


def test_the_guide_has_each_check_and_each_threshold():
    page = GUIDE.read_text(encoding="utf-8")
    assert re.findall(r"^### ([a-z-]+)$", page, re.MULTILINE) == list(CHECKS)
    rows = re.findall(r"^\| `([A-Z_]+)` \| ([\d.]+) \|", page, re.MULTILINE)
    held = {
        name: float(value)
        for module in (leaks, checks)
        for name, value in vars(module).items()
        if name.isupper()
        and name not in ("LARGEST", "MOST_GRADES")
        and isinstance(value, int | float)
    }
    assert {name: float(value) for name, value in rows} == held


def test_ids_of_the_same_text_and_another_type_are_other_queries():
    case = Case()
    shared = {**case.arguments(), "qid": case.training.qid.astype(str)}
    assert gb.report(**shared).checks.loc["shared-queries", "value"] == 0
    shared["qid"] = case.training.qid
    assert gb.report(**shared).checks.loc["shared-queries", "value"] == 60


def test_copies_with_the_same_grade_and_score_are_no_ties():
    """No ranker can order them; `duplicate-documents` names them."""
    case = Case()
    copied = case.test.choose(np.repeat(np.arange(len(case.test.y)), 2))
    given = {**case.arguments(), "X": copied.X, "y": copied.y, "qid": copied.qid}
    found = gb.report(**given).checks["value"]
    assert found["ties"] == pytest.approx(0, abs=1e-12)
    assert found["duplicate-documents"] == 1


def test_the_range_of_ties_is_that_of_evaluate():
    """The best order of ties is by falling grades, the worst by rising ones, as in `evaluate`."""
    case = ties(Case())
    scores = case.ranker.predict(case.test.X)
    order = np.argsort(-case.test.y, kind="stable")
    by_row = [
        gb.evaluate("ndcg@10", case.test.y[rows], scores[rows], case.test.qid[rows], ties="row")
        for rows in (order, order[::-1])
    ]
    best, worst = (next(iter(values.values())) for values in by_row)
    found = gb.report(**case.arguments()).checks.loc["ties", "value"]
    assert found == pytest.approx(best - worst, abs=1e-12)


def test_a_ratio_that_chance_explains_is_no_shift():
    """Few queries hold all relevant documents: five of 60 here, ten there."""
    grades = [np.repeat(np.arange(60) < n, N_DOCS).astype(int) for n in (5, 10)]
    given = {**Case().arguments(), "y": grades[0], "y_train": grades[1]}
    row = gb.report(**given).checks.loc["shifted-grades"]
    assert (row["status"], row["value"]) == ("passed", pytest.approx(2))


@pytest.mark.parametrize(("rank", "shares"), [(2, (0.8, 0.9)), (10, (1, 0.9)), (11, (1, 1))])
def test_the_first_ten_documents_should_be_judged(rank, shares):
    """In the mean over queries, of which every other one has five documents."""
    case = Case()
    scores = case.ranker.predict(case.test.X).reshape(N_QUERIES, N_DOCS)
    ranks = 1 + (scores[:, :, None] < scores[:, None, :]).sum(axis=2).ravel()
    y = np.where(ranks == rank, np.nan, case.test.y)
    kept = (ranks <= 5) | (case.test.qid % 2 == 0)
    given = (values[kept] for values in (case.test.X, y, case.test.qid))
    row = gb.report(case.ranker, *given).checks.loc["unjudged"]
    assert row["value"] == pytest.approx(np.mean(shares))


@pytest.mark.parametrize(("of_query", "status"), [(np.sin, "passed"), (np.array, "found")])
def test_features_of_the_query_pass_but_its_id(of_query, status):
    """They differ between queries, also in training: trees use them together with others."""
    case = Case()
    parts = [column(part.X, 4, of_query(part.qid)) for part in (case.test, case.training)]
    given = {**case.arguments(), "X": parts[0], "X_train": parts[1]}
    assert gb.report(**given).checks.loc["constant-features", "status"] == status
