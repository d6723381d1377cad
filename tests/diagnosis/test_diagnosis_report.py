"""Results of `gapboost.report`: data frames, HTML and Markdown, all kinds of rankers, bad input."""

import re
from html.parser import HTMLParser

import browser
import lightgbm
import numpy as np
import numpy.testing as npt
import pytest
import xgboost
from planted import FAULTS, Case, Linear
from scipy import sparse, stats
from sklearn.pipeline import make_pipeline
from twins import TEST, TRAIN, twins

import gapboost as gb
from gapboost.analysis.estimates import independent
from gapboost.diagnosis.finding import GUIDE
from gapboost.preprocessing import QueryRelativeFeatures

pandas = pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

VOID = {"meta", "br", "img", "link", "input", "hr"}
TRAINING = {"X_train": TRAIN.X, "y_train": TRAIN.y, "qid_train": TRAIN.qid}


class Page(HTMLParser):
    """Text, cells and links of a page; refuses elements that are not closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.links, self.cells, self.text, self.headings = [], [], [], "", []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.links += [value for name, value in attributes if name in ("src", "href", "xlink:href")]
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")
        if tag in ("h1", "h2"):
            self.headings.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if {"td", "th"} & set(self.open):
            self.cells[-1] += data
        if {"h1", "h2"} & set(self.open):
            self.headings[-1] += data


def report_grades():
    """A third of the documents is not judged."""
    return np.where(np.arange(len(TEST.y)) % 3 == 0, np.nan, TEST.y)


@pytest.fixture(scope="module")
def ranker():
    return gb_ranker().fit(TRAIN.X, TRAIN.y, TRAIN.qid)


def gb_ranker():
    from gapboost.lightgbm import LGBMGAPRanker

    return LGBMGAPRanker(n_estimators=10, n_jobs=1, verbose=-1)


@pytest.fixture(scope="module")
def report(ranker):
    half = TEST.qid % 2
    return gb.report(
        ranker, TEST.X, report_grades(), TEST.qid, **TRAINING, slices={"<half> & $more": half},
        measures=["ndcg@10", "gap", "p@5"], ignore=["shifted-features"],
    )  # fmt: skip


@pytest.fixture(scope="module")
def page(report, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    report.to_html(path)
    return path.read_text(encoding="utf-8")


def test_values_are_those_of_evaluate(report, ranker):
    y = np.nan_to_num(report_grades())
    scores = ranker.predict(TEST.X)
    expected = gb.evaluate(
        [gb.nDCG(k=10), gb.GAP(g=(0.5, 0.5)), gb.Precision(k=5)],
        y,
        scores,
        TEST.qid,
        per_query=True,
    )
    for (_, values), (name, row) in zip(expected.items(), report.values.iterrows(), strict=True):
        assert row["value"] == pytest.approx(values.mean())
        assert (row["low"], row["high"]) == pytest.approx(independent(values).interval())
        npt.assert_allclose(report.queries[name], values)
    trained = gb.evaluate("ndcg@10", TRAIN.y, ranker.predict(TRAIN.X), TRAIN.qid, per_query=True)
    (there,) = trained.values()
    assert report.values.loc["ndcg@10", "training"] == pytest.approx(there.mean())
    here = report.queries["ndcg@10"].to_numpy()
    bounds = stats.ttest_ind(here, there, equal_var=False).confidence_interval()
    assert tuple(
        report.values.loc["ndcg@10", ["difference low", "difference high"]]
    ) == pytest.approx(tuple(bounds))


def test_an_open_g_is_uniform_over_the_grades_of_both_parts():
    case = Case()
    y = np.minimum(case.test.y, 1)
    alone = gb.report(case.ranker, case.test.X, y, case.test.qid, measures="gap")
    both = gb.report(**{**case.arguments(), "y": y}, measures="gap")
    assert (alone.subject.measures["gap"], both.subject.measures["gap"]) == (
        gb.GAP(g=(1.0,)),
        gb.GAP(g=(0.5, 0.5)),
    )


def test_one_row_a_query(report):
    table = report.queries
    assert table.index.tolist() == list(dict.fromkeys(TEST.qid.tolist()))
    assert table["documents"].tolist() == [20] * 20
    y = report_grades()
    for qid, row in table.iterrows():
        of = y[TEST.qid == qid]
        assert (row["judged"], row["relevant"]) == ((~np.isnan(of)).sum(), (of > 0).sum())


def test_distribution(report):
    row = report.distribution.loc["gap"]
    values = report.queries["gap"]
    assert row["median"] == pytest.approx(values.median())
    assert (row["min"], row["max"]) == pytest.approx((values.min(), values.max()))
    assert row["share of 0"] == pytest.approx((values == 0).mean())


def test_slices(report):
    table = report.slices
    for half in (0, 1):
        values = report.queries["ndcg@10"][report.queries.index % 2 == half]
        row = table.loc[("<half> & $more", str(half))]
        assert (row["queries"], row["ndcg@10"]) == (len(values), pytest.approx(values.mean()))
        assert (row["low"], row["high"]) == pytest.approx(independent(values.to_numpy()).interval())
    assert table.loc["documents", "queries"].to_dict() == {"20": 20}
    assert (table.groupby("slice")["queries"].sum() == 20).all()


def test_slices_of_numbers_text_and_many_values():
    case = Case()
    language = np.where(case.test.qid % 3 == 0, "en", "de")
    report = gb.report(
        case.ranker,
        case.test.X,
        case.test.y,
        case.test.qid,
        slices={"language": language, "price": case.test.X[:, 0]},
    )
    assert report.slices.loc["language", "queries"].to_dict() == {"de": 40, "en": 20}
    assert report.slices.loc["price", "queries"].tolist() == [15] * 4


def test_worst_and_best_queries_with_their_documents(report, ranker):
    table = report.documents.reset_index()
    y, scores = report_grades(), ranker.predict(TEST.X)
    values = report.queries["ndcg@10"]
    contrast = [qid for qid in values.index if len(set(np.nan_to_num(y[TEST.qid == qid]))) > 1]
    ordered = values[contrast].sort_values(kind="stable")
    shown = {kind: rows["qid"].drop_duplicates().tolist() for kind, rows in table.groupby("kind")}
    assert values[shown["worst"]].tolist() == ordered.iloc[:3].tolist()
    assert values[shown["best"]].tolist() == ordered.iloc[:-4:-1].tolist()
    npt.assert_array_equal(table["grade"], y[table["row"]])
    npt.assert_array_equal(table["score"], scores[table["row"]])
    npt.assert_array_equal(table["qid"], TEST.qid[table["row"]])
    for (_, qid), rows in table.groupby(["kind", "qid"]):
        assert rows["rank"].tolist()[:5] == [1, 2, 3, 4, 5]
        of = np.sort(scores[TEST.qid == qid])[::-1]
        npt.assert_array_equal(of[rows["rank"] - 1], rows["score"])


def test_a_reason_names_features_of_the_pair(report, ranker):
    (sentence, *_) = filter(None, report.reasons)
    upper, lower = map(
        int, re.search(r"Row (\d+) is above row (\d+), of a higher grade, by", sentence).groups()
    )
    table = gb_explain_pair(ranker, upper, lower)
    feature, number = re.search(r"by (\w+) \(([+\d.e-]+)\)", sentence).groups()
    assert table["contribution"].idxmax() == feature
    assert float(number) == pytest.approx(table["contribution"].max(), rel=1e-2)
    assert gb.report(Linear(np.ones(TEST.X.shape[1])), TEST.X, TEST.y, TEST.qid).reasons == []


def gb_explain_pair(ranker, upper, lower):
    from gapboost import explain

    return explain.pair(ranker, TEST.X, upper, lower).to_pandas()


# --- pages ----------------------------------------------------------------------------------------


def test_the_page_is_valid_and_needs_no_other_file(page):
    found = Page(page)
    assert found.open == []
    assert page.startswith("<!DOCTYPE html>")
    assert all(link.startswith(("#", f"{GUIDE}#")) for link in found.links)
    assert sum(link.startswith(GUIDE) for link in found.links) >= 12
    assert not re.search(r"url\((?!#)|@import|<script|<link", page)
    assert page.count("<svg") == 3
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert "prefers-color-scheme: dark" in page
    assert found.headings == [
        "What is wrong with this ranker?", "Findings", "Values", "Queries", "Slices",
        "Worst queries", "Best queries", "All checks", "Settings",
    ]  # fmt: skip
    assert "<half> & $more" in found.text
    assert "not judged" in found.text


def shown(grade):
    return "not judged" if np.isnan(grade) else f"{grade:g}"


def test_numbers_of_page_and_markdown_are_those_of_the_frames(report, page):
    cells = Page(page).cells
    markdown = report.to_markdown()
    lines = [
        [re.sub(r"\\(.)", r"\1", cell.strip()) for cell in line[2:-2].split(" | ")]
        for line in markdown.splitlines()
        if line.startswith("|") and "---" not in line
    ]
    signed = "{:+.4f}".format
    expected = [
        *(
            [
                name,
                f"{row['value']:.4f}",
                f"{row['low']:.4f} to {row['high']:.4f}",
                f"{row['training']:.4f}",
                signed(row["difference"]),
                f"{signed(row['difference low'])} to {signed(row['difference high'])}",
            ]
            for name, row in report.values.iterrows()
        ),
        *(
            [name, *(f"{value:.4f}" for value in row)]
            for name, row in report.distribution.iterrows()
        ),
        *(
            [
                *key,
                f"{row['queries']:.0f}",
                f"{row['ndcg@10']:.4f}",
                f"{row['low']:.4f} to {row['high']:.4f}",
            ]
            for key, row in report.slices.iterrows()
            if row["queries"] > 1
        ),
        *(
            [f"{key[2]}", f"{row['row']:.0f}", f"{row['score']:.4f}", shown(row["grade"])]
            for key, row in report.documents.iterrows()
        ),
    ]
    for row in expected:
        row = [cell.replace("-", "−") if re.match(r"[-+\d]", cell) else cell for cell in row]
        assert row in lines
        assert any(cells[place : place + len(row)] == row for place in range(len(cells))), row
    for name, row in report.checks.iterrows():
        (line,) = (line for line in lines if line[0].startswith(f"[{name}]") and len(line) == 5)
        assert line[:3] == [f"[{name}]({row['link']})", row["status"], row["message"]]
        assert [name, row["status"], row["message"]] in [
            cells[place : place + 3] for place in range(len(cells))
        ]


def test_the_first_section_counts_the_checks(report):
    status = report.checks["status"].value_counts()
    assert (status["found"], status["not applicable"], status["ignored"]) == (1, 3, 1)
    assert (
        "1 of 8 checks found a fault. 3 checks did not apply. 1 check skipped."
        in report.to_markdown()
    )
    assert "found: " + ", ".join(report.checks.index[report.checks["status"] == "found"]) in repr(
        report
    )


def test_endings(report, tmp_path):
    with pytest.raises(ValueError, match=r"path is 'report.md'; expected one that ends with .html"):
        report.to_html("report.md")
    report.write(tmp_path / "report.md")
    assert (tmp_path / "report.md").read_text(encoding="utf-8") == report.to_markdown()


@pytest.mark.slow
@pytest.mark.skipif(browser.CHROMIUM is None, reason="Chromium is not installed")
def test_the_page_fits_the_window(page, tmp_path):
    (tmp_path / "report.html").write_text(page, encoding="utf-8")
    asked = [("report.html", width) for width in (1400, 390)]
    for (_, width), seen in zip(asked, browser.measure(tmp_path, asked, [])["pages"], strict=True):
        assert seen["page"] <= width
        assert (seen["wide"], seen["pictures"], seen["away"]) == ([], [], [])


# --- rankers and tables ---------------------------------------------------------------------------


@pytest.mark.slow(keep=1)
@twins
def test_rankers_boosters_and_pipelines(twin):
    fitted = twin.fitted()
    values = gb.report(fitted, TEST.X, TEST.y, TEST.qid, measures="gap").values
    assert values.loc["gap", "value"] == pytest.approx(fitted.score(TEST.X, TEST.y, qid=TEST.qid))
    booster = fitted.booster_ if twin.name == "lightgbm" else fitted.get_booster()
    of_booster = gb.report(booster, TEST.X, TEST.y, TEST.qid, measures="gap")
    assert of_booster.values.loc["gap", "value"] == pytest.approx(values.loc["gap", "value"])
    assert of_booster.reasons
    steps = QueryRelativeFeatures().fit(TRAIN.X, qid=TRAIN.qid)
    wide = twin.ranker().fit(steps.transform(TRAIN.X, qid=TRAIN.qid), TRAIN.y, TRAIN.qid)
    pipeline = make_pipeline(steps, wide)
    found = gb.report(pipeline, TEST.X, TEST.y, TEST.qid, measures="gap")
    scores = wide.predict(steps.transform(TEST.X, qid=TEST.qid))
    assert found.values.loc["gap", "value"] == pytest.approx(
        gb.evaluate("gap", TEST.y, scores, TEST.qid)[gb.GAP()]
    )
    assert found.reasons
    assert len(found.subject.test.features.names) == TEST.X.shape[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "vendor",
    [lightgbm.LGBMRanker(n_estimators=3, verbose=-1, n_jobs=1), xgboost.XGBRanker(n_estimators=3)],
)
def test_rankers_of_the_boosters(vendor):
    sizes = np.full(len(TRAIN.y) // 20, 20)
    vendor.fit(TRAIN.X, TRAIN.y, group=sizes)
    report = gb.report(vendor, TEST.X, TEST.y, TEST.qid, measures="map")
    (expected,) = gb.evaluate("map", TEST.y, vendor.predict(TEST.X), TEST.qid).values()
    assert report.values.loc["map", "value"] == pytest.approx(expected)


def same_results(one, other):
    pandas.testing.assert_frame_equal(one.checks, other.checks)
    pandas.testing.assert_frame_equal(one.values, other.values)
    pandas.testing.assert_frame_equal(one.slices, other.slices)


class Table(Linear):
    """Takes tables of any kind."""

    def predict(self, X):
        return super().predict(X.toarray() if sparse.issparse(X) else np.asarray(X))


def test_tables_of_all_kinds_have_the_same_results():
    case = Case()
    given = case.arguments() | {"ranker": Table()}
    names = [f"x{number}" for number in range(5)]
    expected = gb.report(**given)
    for kind in (
        sparse.csr_matrix,
        sparse.csc_matrix,
        lambda X: pandas.DataFrame(X, columns=names),
        lambda X: X.astype(object),
    ):
        same_results(
            gb.report(**{**given, "X": kind(case.test.X), "X_train": kind(case.training.X)}),
            expected,
        )


def test_query_ids_may_be_a_column():
    case = Case()
    frames = [
        pandas.DataFrame(part.X).add_prefix("x").assign(qid=part.qid)
        for part in (case.test, case.training)
    ]
    report = gb.report(
        case.ranker, frames[0], case.test.y, X_train=frames[1], y_train=case.training.y
    )
    same_results(report, gb.report(**case.arguments()))


def test_rows_may_have_any_order():
    case = Case()
    order = np.random.default_rng(0).permutation(len(case.test.y))
    mixed = case.test.choose(order)
    one, other = (
        gb.report(**case.arguments()),
        gb.report(**{**case.arguments(), "X": mixed.X, "y": mixed.y, "qid": mixed.qid}),
    )
    pandas.testing.assert_frame_equal(one.queries, other.queries.loc[one.queries.index])
    assert one.checks["status"].equals(other.checks["status"])
    back = other.documents["row"].to_numpy()
    npt.assert_array_equal(np.sort(order[back]), np.sort(one.documents["row"]))


def test_queries_may_have_one_grade_alone():
    """No query can be shown as the worst one."""
    case = FAULTS_BY_NAME["wrong_groups"](Case())
    text = gb.report(**case.arguments()).to_markdown()
    assert text.count("No test query holds documents of different grades.") == 2


FAULTS_BY_NAME = {fault.__name__: fault for fault in FAULTS}

SMALL = {"X": TEST.X[:40], "y": TEST.y[:40], "qid": TEST.qid[:40]}
MESSAGES = {
    "no predict": (
        {"ranker": 3},
        TypeError,
        "ranker is a int; expected a fitted ranker with predict",
    ),
    "a class": (
        {"ranker": Linear},
        TypeError,
        "ranker is the class Linear; expected a fitted ranker",
    ),
    "no queries": ({"qid": None}, ValueError, "qid is missing; expected one query id a row"),
    "one query": ({"qid": np.zeros(40)}, ValueError, "qid holds 1 query; expected at least two"),
    "other rows": (
        {"y": TEST.y[:39], "qid": TEST.qid[:39]},
        ValueError,
        "y has 39 rows but X has 40",
    ),
    "no judgment": (
        {"y": np.full(40, np.nan)},
        ValueError,
        "y holds NaN alone; expected a grade of some documents",
    ),
    "no training grades": (
        {"X_train": TRAIN.X},
        ValueError,
        "y_train is missing; expected X_train, y_train and",
    ),
    "training ids alone": (
        {"qid_train": TRAIN.qid},
        ValueError,
        "X_train is missing; expected X_train, y_train and",
    ),
    "no training ids": (
        {"X_train": TRAIN.X, "y_train": TRAIN.y},
        ValueError,
        "qid_train is missing",
    ),
    "other columns": (
        {**TRAINING, "X_train": TRAIN.X[:, 1:]},
        ValueError,
        "X_train has 22 columns but X has 23",
    ),
    "slices of other rows": (
        {"slices": {"a": [1, 2]}},
        ValueError,
        r"slices\['a'\] has 2 rows but "
        r"X has 40",
    ),
    "a slice within queries": (
        {"slices": {"a": np.array(["x", "y"] * 20)}},
        ValueError,
        r"slices\['a'\] differs within "
        r"the query",
    ),
    "slices without names": (
        {"slices": [TEST.qid[:40]]},
        TypeError,
        "slices is .*; expected {name: one value a row}",
    ),
    "an unknown measure": ({"measures": "no such"}, ValueError, "no such"),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_unusable_arguments(case):
    changed, error, message = MESSAGES[case]
    with pytest.raises(error, match=message):
        gb.report(**{"ranker": AnyWidth(), **SMALL, **changed})


class AnyWidth:
    def predict(self, X):
        return np.asarray(X)[:, 0]


def test_scores_of_other_shapes_are_refused():
    class Wide:
        def predict(self, X):
            return np.asarray(X)

    with pytest.raises(ValueError, match="predict of the ranker has shape"):
        gb.report(Wide(), **SMALL)
