"""Results of `gapboost.report`: data frames and HTML, all kinds of rankers, bad input."""

import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
from planted import Case, Linear, wrong_groups
from scipy import sparse, stats
from sklearn.pipeline import make_pipeline
from twins import LIGHTGBM, TEST, TRAIN, twins

import gapboost as gb
from gapboost.analysis.standard_errors import independent
from gapboost.preprocessing import QueryRelativeFeatures

TRAINING = {"X_train": TRAIN.X, "y_train": TRAIN.y, "qid_train": TRAIN.qid}
# A third of the documents is not judged.
GRADES = np.where(np.arange(len(TEST.y)) % 3 == 0, np.nan, TEST.y)
IDS = np.array([f"document {row}" for row in range(len(TEST.y))])


@pytest.fixture(scope="module")
def ranker():
    return LIGHTGBM.fitted(n_estimators=10)


@pytest.fixture(scope="module")
def report(ranker):
    return gb.report(
        ranker, TEST.X, GRADES, TEST.qid, **TRAINING, measures=["ndcg@10", "gap", "p@5"],
        ignore=["shifted-features"], documents=IDS, n_worst=4,
    )  # fmt: skip


@pytest.fixture(scope="module")
def page(report, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    report.to_html(path)
    return path


def test_values_are_those_of_evaluate(report, ranker):
    measures = [gb.nDCG(k=10), gb.GAP(g=(0.5, 0.5)), gb.Precision(k=5)]
    y, scores = np.nan_to_num(GRADES), ranker.predict(TEST.X)
    expected = gb.evaluate(measures, y, scores, TEST.qid, per_query=True)
    for (_, values), (name, row) in zip(expected.items(), report.values.iterrows(), strict=True):
        assert row["value"] == pytest.approx(values.mean())
        assert (row["low"], row["high"]) == pytest.approx(independent(values).interval())
        npt.assert_allclose(report.queries[name], values)
    named = gb.evaluate(["ndcg@10", "gap", "p@5"], y, scores, TEST.qid).by_label()
    assert report.by_label() == pytest.approx(named)
    trained = gb.evaluate("ndcg@10", TRAIN.y, ranker.predict(TRAIN.X), TRAIN.qid, per_query=True)
    (there,) = trained.values()
    row = report.values.loc["ndcg@10"]
    assert row["training"] == pytest.approx(there.mean())
    here = report.queries["ndcg@10"].to_numpy()
    bounds = stats.ttest_ind(here, there, equal_var=False).confidence_interval()
    assert tuple(row[["difference low", "difference high"]]) == pytest.approx(tuple(bounds))


def test_an_open_g_is_uniform_over_the_grades_of_both_parts():
    case = Case()
    y = np.minimum(case.test.y, 1)
    alone = gb.report(case.ranker, case.test.X, y, case.test.qid, measures="gap")
    both = gb.report(**{**case.arguments(), "y": y}, measures="gap")
    assert alone.test.measures["gap"] == gb.GAP(g=(1.0,))
    assert both.test.measures["gap"] == gb.GAP(g=(0.5, 0.5))


def test_one_row_a_query(report):
    table = report.queries
    assert table.index.tolist() == list(dict.fromkeys(TEST.qid.tolist()))
    assert table["documents"].tolist() == [20] * 20
    for qid, row in table.iterrows():
        of = GRADES[TEST.qid == qid]
        assert (row["judged"], row["relevant"]) == ((~np.isnan(of)).sum(), (of > 0).sum())


def test_worst_queries_with_their_documents(report, ranker):
    table, scores = report.documents.reset_index(), ranker.predict(TEST.X)
    values = report.queries["ndcg@10"]
    contrast = [qid for qid in values.index if len(set(np.nan_to_num(GRADES[TEST.qid == qid]))) > 1]
    shown = table["qid"].drop_duplicates()
    assert values[shown].tolist() == values[contrast].sort_values().iloc[:4].tolist()
    npt.assert_array_equal(table["document"], IDS[table["row"]])
    npt.assert_array_equal(table["grade"], GRADES[table["row"]])
    npt.assert_array_equal(table["score"], scores[table["row"]])
    npt.assert_array_equal(table["qid"], TEST.qid[table["row"]])
    for qid, rows in table.groupby("qid"):
        assert rows["rank"].tolist()[:5] == [1, 2, 3, 4, 5]
        of = np.sort(scores[TEST.qid == qid])[::-1]
        npt.assert_array_equal(of[rows["rank"] - 1], rows["score"])
        later = rows[rows["rank"] > 5]
        best = np.sort(
            np.nan_to_num(GRADES[TEST.qid == qid])[np.argsort(-scores[TEST.qid == qid])][5:]
        )
        npt.assert_array_equal(np.sort(later["grade"]), best[-2:][best[-2:] > 0])


# --- the page -------------------------------------------------------------------------------------


def test_the_page_shows_the_frames(report, page):
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 3
    assert "not judged" in text
    assert "document" in text
    found = report.checks["status"]
    made = found.isin(["found", "passed"]).sum()
    assert f"{(found == 'found').sum()} of {made} checks" in text
    for value in report.values[["low", "high"]].to_numpy().ravel():
        assert f">{value:.4f}<" in text
    for message in report.checks["message"]:
        assert message.split(":")[0] in text


def test_queries_may_have_one_grade_alone(tmp_path):
    """No query can be shown as the worst one."""
    found = gb.report(**wrong_groups(Case()).arguments())
    assert found.documents.empty
    found.to_html(tmp_path / "report.html")


# --- rankers and tables ---------------------------------------------------------------------------


@twins
def test_rankers_boosters_and_pipelines(twin):
    fitted = twin.fitted()
    booster = fitted.booster_ if twin.name == "lightgbm" else fitted.get_booster()
    expected = pytest.approx(fitted.score(TEST.X, TEST.y, qid=TEST.qid))
    for ranker in (fitted, booster):
        found = gb.report(ranker, TEST.X, TEST.y, TEST.qid, measures="gap")
        assert found.values.loc["gap", "value"] == expected
    steps = QueryRelativeFeatures().fit(TRAIN.X, qid=TRAIN.qid)
    wide = twin.ranker().fit(steps.transform(TRAIN.X, qid=TRAIN.qid), TRAIN.y, TRAIN.qid)
    found = gb.report(make_pipeline(steps, wide), TEST.X, TEST.y, TEST.qid, measures="gap")
    scores = wide.predict(steps.transform(TEST.X, qid=TEST.qid))
    (value,) = gb.evaluate("gap", TEST.y, scores, TEST.qid).values()
    assert found.values.loc["gap", "value"] == pytest.approx(value)


def same_results(one, other):
    for name in ("checks", "values"):
        pd.testing.assert_frame_equal(getattr(one, name), getattr(other, name))


def named(X):
    """Return a frame whose columns have the names of an array's."""
    return pd.DataFrame(X).rename(columns="X[:, {}]".format)


class Table(Linear):
    """Takes tables of any kind."""

    def predict(self, X):
        return super().predict(X.toarray() if sparse.issparse(X) else np.asarray(X))


def test_tables_of_all_kinds_have_the_same_results():
    case = Case()
    given = case.arguments() | {"ranker": Table()}
    expected = gb.report(**given)
    for kind in (sparse.csr_matrix, named, lambda X: X.astype(object)):
        tables = {"X": kind(case.test.X), "X_train": kind(case.training.X)}
        same_results(gb.report(**{**given, **tables}), expected)
    frames = [named(part.X).assign(qid=part.qid) for part in (case.test, case.training)]
    by_column = gb.report(
        Table(), frames[0], case.test.y, X_train=frames[1], y_train=case.training.y
    )
    same_results(by_column, expected)


def test_rows_may_have_any_order():
    case = Case()
    order = np.random.default_rng(0).permutation(len(case.test.y))
    mixed = case.test.choose(order)
    one = gb.report(**case.arguments())
    other = gb.report(**{**case.arguments(), "X": mixed.X, "y": mixed.y, "qid": mixed.qid})
    pd.testing.assert_frame_equal(one.queries, other.queries.loc[one.queries.index])
    found = ["status", "value"]
    pd.testing.assert_frame_equal(one.checks[found], other.checks[found])
    back = other.documents["row"].to_numpy()
    npt.assert_array_equal(np.sort(order[back]), np.sort(one.documents["row"]))


class AnyWidth:
    def predict(self, X):
        return np.asarray(X)[:, 0]


class Wide:
    def predict(self, X):
        return np.asarray(X)


SMALL = {"X": TEST.X[:40], "y": TEST.y[:40], "qid": TEST.qid[:40]}
UNUSABLE = {
    "no predict": ({"ranker": 3}, TypeError, "ranker"),
    "a class": ({"ranker": Linear}, TypeError, "ranker"),
    "scores of other shapes": ({"ranker": Wide()}, ValueError, "predict of the ranker"),
    "no queries": ({"qid": None}, ValueError, "qid"),
    "one query": ({"qid": np.zeros(40)}, ValueError, "qid"),
    "other rows": ({"y": TEST.y[:39], "qid": TEST.qid[:39]}, ValueError, "X"),
    "two labels": ({"y": np.ones((40, 2))}, ValueError, "y"),
    "no judgment": ({"y": np.full(40, np.nan)}, ValueError, "y"),
    "no training grades": ({"X_train": TRAIN.X}, ValueError, "y_train"),
    "training ids alone": ({"qid_train": TRAIN.qid}, ValueError, "y_train"),
    "no training ids": ({"X_train": TRAIN.X, "y_train": TRAIN.y}, ValueError, "qid_train"),
    "other columns": ({**TRAINING, "X_train": TRAIN.X[:, 1:]}, ValueError, "X"),
    "documents of other rows": ({"documents": ["a"]}, ValueError, "documents"),
    "no worst query": ({"n_worst": 0}, ValueError, "n_worst"),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_unusable_arguments(case):
    changed, error, argument = UNUSABLE[case]
    with pytest.raises(error, match=rf"^{argument}\b"):
        gb.report(**{"ranker": AnyWidth(), **SMALL, **changed})
