"""`gapboost.report` without grades: what changed since training, and nothing else."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from planted import Case, Linear, column, duplicates, rows, ties
from twins import TEST, TRAIN, twins

import gapboost as gb
from gapboost.diagnosis import monitoring
from gapboost.diagnosis.monitoring import CHECKS

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "monitor.md"
WITH_FEW_WEIGHTS = Linear((1.0, 0.0, 0.0, 0.0, 0.0))


def case():
    """Many queries, so that chance explains little."""
    return Case(WITH_FEW_WEIGHTS, rows(1, 10_000, 240), rows(2, 20_000, 240))


def arguments(given):
    return {name: value for name, value in given.arguments().items() if name[0] != "y"}


def changed(place, new):
    """Return a fault: another column in the new rows."""
    return lambda given: given.spoiled(X=column(given.test.X, place, new(given.test.X[:, place])))


def rare(given):
    """One training query has another value; chance explains that no new query has."""
    rare = np.where(given.training.qid == given.training.qid[0], 1.0, 0.0)
    training = replace(given.training, X=column(given.training.X, 4, rare))
    return replace(changed(4, np.zeros_like)(given), training=training)


def constant_in_both(given):
    training = replace(given.training, X=column(given.training.X, 4, 7.0))
    return replace(changed(4, lambda x: 0 * x + 7)(given), training=training)


def lost(x):
    return np.where(np.arange(len(x)) % 3 == 0, np.nan, x)


FAULTS = {
    "nothing": (lambda given: given, set()),
    "another unit": (changed(4, lambda x: 1.8 * x + 32), {"shifted-features"}),
    "drift of scores": (changed(0, lambda x: x + 1), {"shifted-features", "shifted-scores"}),
    "missing values": (changed(4, lost), {"missing-values"}),
    "a constant": (changed(4, np.zeros_like), {"shifted-features", "constant-features"}),
    "a constant of training": (constant_in_both, set()),
    "a rare value": (rare, set()),
    "scores that are rounded in both": (ties, set()),
    "a ranker of a constant": (
        lambda given: replace(changed(0, np.zeros_like)(given), ranker=WITH_FEW_WEIGHTS),
        {"shifted-features", "constant-features", "tied-scores", "shifted-scores"},
    ),
    "copies of documents": (duplicates, {"copied-documents", "tied-scores"}),
    "a copy of a feature": (
        lambda given: given.spoiled(X=column(given.test.X, 4, given.test.X[:, 3])),
        {"copied-features"},
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_change_is_found_and_nothing_else(name, tmp_path):
    change, expected = FAULTS[name]
    found = gb.report(**arguments(change(case())))
    assert found.checks.index.tolist() == list(CHECKS)
    assert set(found.checks.index[found.checks["status"] == "found"]) == expected
    for check in expected:
        assert check in repr(found)
        assert found.checks.loc[check, "value"] > found.checks.loc[check, "threshold"]
    found.to_html(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    # Without categories one check is not made.
    assert f"{len(expected)} of {len(CHECKS) - 1} checks that were made found a change" in text


def test_medians_show_a_unit_and_constants_are_no_copies():
    given = changed(4, lambda x: 100 * x)(case())
    for place in (1, 2):
        training = replace(given.training, X=column(given.training.X, place, 1.0))
        given = replace(changed(place, np.ones_like)(given), training=training)
    found = gb.report(**arguments(given))
    assert found.features["shift"].is_monotonic_decreasing
    row = found.features.iloc[0]
    for where, part in (("", given.test), (" in training", given.training)):
        expected = np.quantile(part.X[:, 4], [0.5, 0.95])
        assert row[[f"median{where}", f"95%{where}"]].tolist() == pytest.approx(expected)
    message = found.checks.loc["shifted-features", "message"]
    assert f"{row.name} (median {row['median']:.3g}, in training " in message
    assert found.features["constant"].sum() == 2
    assert set(found.features["copy of"]) == {""}


def test_each_check_finds_a_change():
    planted = set().union(*(expected for _, expected in FAULTS.values()))
    assert planted | {"unseen-categories"} == set(CHECKS)  # of frames, below


def test_the_guide_has_a_section_for_each_check():
    text = GUIDE.read_text(encoding="utf-8")
    assert re.findall(r"^### (.*)$", text, re.MULTILINE) == list(CHECKS)
    for name in ("MOVED", "CHANGED", "LEVEL"):
        assert f"`{name}` | {getattr(monitoring, name)} |" in text


def tables(seed, n_queries=150):
    """Columns of a frame: categories of text, of integers and many rare ones, and text."""
    rng, n = np.random.default_rng(seed), 20 * n_queries
    rare = rng.zipf(1.3, n) % 3000
    return pd.DataFrame({
        "size": rng.normal(size=n), "color": pd.Categorical(rng.choice(["red", "blue", "gray"], n)),
        "shop": pd.Categorical(rng.choice([1, 2, 3], n)), "item": pd.Categorical(rare),
        "text": rng.choice(["new", "used"], n), "qid": np.repeat(np.arange(n_queries), 20),
    })  # fmt: skip


def by_size(X):
    return X["size"].to_numpy()


def of_polars(table):
    return pytest.importorskip("polars").from_pandas(table[["size", "color", "qid"]])


def compare(new, training, form=lambda table: table, **options):
    ranker = type("Any", (), {"predict": lambda self, X: by_size(X)})()
    return gb.report(ranker, form(new), X_train=form(training), **options)


@pytest.mark.parametrize("form", [lambda table: table, of_polars], ids=["pandas", "polars"])
@pytest.mark.parametrize("share", [0.12, 0.4])
def test_missing_categories_and_text_count(share, form):
    training, new = tables(1), tables(2)
    lost = np.random.default_rng(3).random(len(new)) < share
    new.loc[lost, ["color", "shop", "text"]] = None
    found = compare(new, training, form)
    changed = found.features.index.intersection(["color", "shop", "text"])
    assert found.features.loc[changed, "missing"].tolist() == [lost.mean()] * len(changed)
    assert found.features.loc[changed, "shift"].max() < 0.1
    message = found.checks.loc["missing-values", "message"]
    for name in changed if share == 0.4 else ():
        assert f"{name} ({lost.mean():.1%}, in training 0.0%)" in message


@pytest.mark.parametrize("shares", [(0.03, 1.0), (1.0, 0.03), (0.3, 0.6)])
def test_a_shift_counts_by_the_share_of_rows_that_have_a_value(shares):
    compared = [tables(seed) for seed in (2, 1)]
    for value, (table, share) in enumerate(zip(compared, shares, strict=True)):
        there = np.random.default_rng(3).random(len(table)) < share
        table["far"] = np.where(there, float(value), np.nan)
    check = compare(*compared).checks.loc["shifted-features"]
    least = min(table["far"].notna().mean() for table in compared)
    assert check["value"] == pytest.approx(np.sqrt(least))
    assert check["status"] == ("found" if min(shares) > 0.1 else "passed")


@pytest.mark.parametrize("share", [0.0, 0.02, 0.12, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_categories_that_training_lacks_are_named_with_their_share(share, seed):
    training, new = tables(2 * seed, 200), tables(2 * seed + 1, 100)
    hit = np.random.default_rng(seed).random(len(new)) < share
    new["color"] = pd.Categorical(np.where(hit, "gold", new["color"]))
    check = compare(new, training).checks.loc["unseen-categories"]
    assert check["status"] == ("found" if hit.mean() > monitoring.CHANGED else "passed")
    assert (f"color (gold {hit.mean():.1%})" in check["message"]) == bool(share)
    assert ("none beyond chance" in check["message"]) == (not share)
    assert "item" not in check["message"]


def test_shifts_that_medians_hide_and_shifted_categories_have_shares():
    training, new = tables(1), tables(2)
    new["size"] += 9 * (new["size"] > 0.5)
    new.loc[new["color"] == "red", "color"] = "blue"
    message = compare(new, training).checks.loc["shifted-features", "message"]
    _, limit, here, there = re.search(
        r"(size) \(at most (\S+) in (\S+)% of rows, in training (\S+)%\)", message
    ).groups()
    for part, share in ((new, here), (training, there)):
        assert np.isclose((part["size"] <= float(limit)).mean(), float(share) / 100, atol=0.01)
    shares = [(part["color"] == "red").mean() for part in (new, training)]
    blue = [(part["color"] == "blue").mean() for part in (new, training)]
    name, (now, then) = max(("red", shares), ("blue", blue), key=lambda one: abs(np.diff(one[1])))
    assert f"color ({name} {now:.1%}, in training {then:.1%})" in message


def shops(seed, n_queries, shares):
    """Queries of four rows of one shop."""
    found = np.random.default_rng(seed).choice(len(shares), n_queries, p=shares)
    rows = {"size": np.arange(n_queries), "shop": np.char.mod("shop %d", found)}
    return pd.DataFrame(rows).assign(qid=range(n_queries)).loc[np.repeat(range(n_queries), 4)]


def test_the_shift_of_a_category_does_not_depend_on_its_name():
    new, training = (pd.DataFrame({
        "size": 0.0, "shop": list(text), "qid": range(8)
    }) for text in ("aaabbbcd", "abcccddd"))  # fmt: skip
    for names in ("abcd", "dcba", "bdac"):
        renamed = [table.replace({"shop": dict(zip("abcd", names, strict=True))})
                   for table in (new, training)]  # fmt: skip
        assert compare(*renamed).features.loc["shop", "shift"] == 0.5


@pytest.mark.parametrize("n_queries", [(30, 300), (300, 300), (1000, 1000)], ids=str)
@pytest.mark.parametrize("k", [2, 10, 300])
def test_categories_that_did_not_move_raise_no_alarm(k, n_queries):
    parts = [shops(seed, n, np.full(k, 1 / k)) for seed, n in enumerate(n_queries)]
    # The number of a query is another one in each.
    check = compare(*parts, ignore=["constant-features"]).checks.loc["shifted-features"]
    assert "shop (" not in check["message"]


@pytest.mark.slow
@pytest.mark.parametrize(("k", "n_queries"), [(2, 600), (10, 1200), (300, 5000)])
def test_categories_of_which_a_quarter_moved_are_found(k, n_queries):
    moved = np.where(np.arange(k) < k // 2, -0.5, 0.5) / k
    parts = [shops(seed, n_queries, 1 / k + part) for seed, part in enumerate((moved, 0 * moved))]
    assert "shop (" in compare(*parts).checks.loc["shifted-features", "message"]


@pytest.mark.parametrize("n_queries", [1, 2, 3, 5, 6, 40])
def test_a_check_finds_the_largest_change_or_has_too_few_queries(n_queries):
    training = tables(1).assign(constant=0.0, copy=0.0, lost=1.0)
    training[["constant", "copy"]] = np.random.default_rng(2).normal(size=(len(training), 2))
    number = np.repeat(9.0 + np.arange(n_queries), 20)
    new = tables(3, n_queries).assign(constant=9.0, copy=number, lost=np.nan, size=number)
    new[["color", "shop", "text", "item"]] = "gold"
    found = compare(new, training).checks
    few = found["status"] == "not applicable"
    assert set(found["status"][~few]) <= {"found"}
    assert found["message"][few].str.startswith(f"Too few queries: {n_queries} new").all()
    assert few.all() == (n_queries < 3)
    assert few.any() == (n_queries < 6)


@pytest.mark.parametrize("factor", [1e-3, 1.0, 1e3])
def test_a_unit_of_a_feature_that_is_mostly_0(factor):
    parts = [tables(seed, 100) for seed in (1, 2)]
    for seed, table in enumerate(parts):
        rng = np.random.default_rng(seed)
        table["clicks"] = np.where(
            rng.random(len(table)) < 0.15, rng.exponential(size=len(table)), 0
        )
    parts[1]["clicks"] *= factor
    found = compare(parts[1], parts[0])
    message = found.checks.loc["shifted-features", "message"]
    assert ("clicks (of values other than 0: median " in message) == (factor != 1)
    assert (found.features.loc["clicks", "shift"] > 0.9) == (factor != 1)


def test_a_shift_that_few_queries_may_have_by_chance_is_said_to_be_open():
    training, new = tables(1, 60), tables(2, 20)
    new.loc[new["qid"] < 8, "size"] += 100  # 40 % of the rows, and of the queries
    found = compare(new, training)
    assert found.checks.loc["shifted-features", "status"] == "passed"
    assert repr(found).endswith("too few queries: shifted-features)")


def test_a_value_of_few_queries_is_no_constant():
    new, training = tables(1, 4).assign(size=1.0), tables(2, 3).assign(size=0.0)
    assert compare(new, training).findings["constant-features"].status == "not applicable"


@pytest.mark.parametrize(("n_training", "n_new"), [(300, 150), (63, 42), (240, 30)])
def test_changes_of_nearly_every_query_need_few_queries(n_training, n_new):
    """Chance alone might move a third of the rows, but not in the same way in each query."""
    training, new = tables(1, n_training), tables(2, n_new)
    new.loc[np.arange(len(new)) % 3 == 0, "text"] = None
    new["size"] += 1.5 * training["size"].std()
    found = compare(new, training).findings
    assert "text (33." in found["missing-values"].message
    assert found["shifted-features"].message.startswith("size (median ")


@pytest.mark.parametrize("forms", [("bool", "object"), ("object", "bool"), ("object", "boolean")])
def test_objects_that_are_numbers_are_numbers(forms):
    parts = [tables(seed) for seed in (1, 2)]
    for table, form in zip(parts, forms, strict=True):
        values = table["size"].gt(0).astype(object)
        table["flag"] = (
            values.where(table["size"] > -1, None) if form == "object" else values
        ).astype(form)
    found = compare(*parts)
    assert found.features.loc["flag", "median"] in (0.0, 1.0)
    assert found.checks.loc["shifted-features", "status"] == "passed"


@pytest.mark.slow
@twins
def test_unchanged_queries_raise_no_alarm(twin):
    """Of one collection, by a ranker that knows the training queries by heart."""
    ids = np.unique(TRAIN.qid)
    for seed in range(20):
        new = np.isin(TRAIN.qid, np.random.default_rng(seed).permutation(ids)[:20])
        ranker = twin.ranker(n_estimators=30).fit(TRAIN.X[~new], TRAIN.y[~new], TRAIN.qid[~new])
        found = gb.report(
            ranker,
            TRAIN.X[new],
            qid=TRAIN.qid[new],
            X_train=TRAIN.X[~new],
            qid_train=TRAIN.qid[~new],
        )
        assert set(found.checks["status"].drop("unseen-categories")) == {"passed"}


@twins
def test_frames_with_categories_and_columns_of_ids(twin):
    parameters = {"enable_categorical": True} if twin.name == "xgboost" else {}
    kind = pd.CategoricalDtype(["a", "b", "c"])
    tables = [
        pd.DataFrame(part.X[:, :4]).add_prefix("x").assign(
            color=pd.Series(np.resize(["a", "b"], len(part.y)), dtype=kind), qid=part.qid
        )
        for part in (TRAIN, TEST)
    ]  # fmt: skip
    ranker = twin.ranker(**parameters).fit(tables[0], TRAIN.y)
    assert "nothing" in repr(gb.report(ranker, tables[1], X_train=tables[0]))
    tables[1]["color"] = pd.Series("c", index=tables[1].index, dtype=kind)
    found = gb.report(ranker, tables[1], X_train=tables[0], ignore=["shifted-scores"]).checks
    assert found.loc["constant-features", "message"].endswith("color.")
    assert found.loc["shifted-scores", "status"] == "ignored"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"X_train": None, "qid_train": None}, "^y is None and so is X_train"),
        ({"y_train": TRAIN.y}, "^y is None, and y_train is given"),
        ({"measures": "ap"}, "^y is None, and measures is given"),
        ({"ignore": ["ties"]}, "^ignore is"),
        ({"X": TEST.X[:, 1:]}, "^X has other columns"),
        ({"qid": None}, "^qid is missing"),
        ({"X": None}, "^X is unusable"),
        ({"X": pd.DataFrame(TEST.X[:0]), "qid": []}, "^X is empty"),
        ({"qid": TEST.qid[1:]}, "^qid has .* but X has"),
        (
            {"X": pd.DataFrame(TEST.X).astype({1: str}), "X_train": pd.DataFrame(TRAIN.X)},
            "^X holds text .*'1'",
        ),
    ],
)
def test_refusals(given, message):
    ranker = type("Any", (), {"predict": lambda self, X: np.zeros(len(X))})()
    good = {"X": TEST.X, "qid": TEST.qid, "X_train": TRAIN.X, "qid_train": TRAIN.qid}
    with pytest.raises(ValueError, match=message):
        gb.report(ranker, **{**good, **given})


def test_rows_that_the_ranker_does_not_score_are_a_finding_beside_the_others(tmp_path):
    training, new = (tables(seed)[["size", "color", "qid"]] for seed in (1, 2))
    grades = np.arange(len(training)) % 2
    xgboost = pytest.importorskip("gapboost.xgboost", exc_type=ImportError)
    ranker = xgboost.XGBGAPRanker(n_estimators=2, n_jobs=1, enable_categorical=True)
    ranker.fit(training, grades)
    gold = np.where(np.arange(len(new)) % 5, new["color"], "gold")
    new = new.assign(size=1000 * new["size"], color=pd.Categorical(gold))
    found = gb.report(ranker, new, X_train=training)
    checks = found.checks
    expected = {"unseen-categories", "shifted-features", "shifted-scores"}
    assert set(checks.index[checks["status"] == "found"]) == expected
    assert "'gold' in 'color'" in checks.loc["shifted-scores", "message"]
    assert checks.loc["tied-scores", "status"] == "not applicable"
    assert found.scores["new"].isna().all()
    assert found.scores["training"].notna().all()
    found.to_html(tmp_path / "page.html")
    with pytest.raises(ValueError, match="'gold' in 'color', which training lacks"):
        gb.report(ranker, training, X_train=new)
