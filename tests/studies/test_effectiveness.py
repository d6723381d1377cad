"""The effectiveness study: it resumes, and its page shows its results."""

import numpy.testing as npt
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

pytest.importorskip("catboost")

from benchmarks.studies import comparisons
from benchmarks.studies.effectiveness import __main__ as study
from benchmarks.studies.effectiveness.data import FILES
from benchmarks.studies.effectiveness.rankers import FAMILIES, RANKERS
from gapboost.analysis.estimates import crossed
from gapboost.datasets import load_digits_ranking

FIRST = pd.read_csv(study.RESULTS / "tables" / "first_run.csv")
OURS, FAST, SLOW = "LGBMGAPRanker()", "LGBMRanker()", "CatBoostRanker()"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function that runs the study on a tiny file, with three fast rankers."""
    data = load_digits_ranking((20, 1, 1), 8, random_state=0)[0]
    frame = pd.DataFrame(data.X[:, :20]).add_prefix("p").assign(label=data.y, qid=data.qid)
    frame.to_csv(tmp_path / "tiny.csv", index=False)
    monkeypatch.setattr(study, "CACHE", tmp_path)
    monkeypatch.setitem(
        RANKERS, "defaults", {name: Ridge(alpha=n) for n, name in enumerate((OURS, FAST, SLOW), 1)}
    )
    monkeypatch.setitem(FAMILIES, "defaults", {"defaults": [(OURS, FAST), (OURS, SLOW)]})
    return lambda: study.main(["--data", str(tmp_path / "tiny.csv")])


def test_estimates_are_those_of_the_policy(run, monkeypatch, tmp_path):
    found, estimates = [], comparisons.estimates
    monkeypatch.setattr(
        comparisons, "estimates", lambda c, families: found.append(c) or estimates(c, families)
    )
    run()
    assert [set(c.rankers) for c in found] == [{OURS, FAST}, {OURS, FAST, SLOW}]
    table = (
        found[1]
        .values.to_pandas()
        .set_index(["query", "repeat", "fold", "ranker", "measure"])["value"]
    )
    means = table.groupby(level=[0, 1, 2, 3]).mean().unstack()
    queries, models = (
        pd.factorize(means.index.droplevel(left_out))[0] for left_out in ([1, 2], [0])
    )
    expected = crossed((means[OURS] - means[SLOW]).to_numpy(), queries, models)
    saved = pd.read_csv(tmp_path / "own" / "estimates.csv", index_col=["beside", "measure"]).loc[
        (SLOW, study.MEAN)
    ]
    npt.assert_allclose(
        saved["queries":].astype(float), [20, expected.mean, expected.error, 14], atol=1e-7
    )


def test_a_second_call_trains_nothing_and_prints_the_same(run, monkeypatch, capsys):
    run()
    first = capsys.readouterr().out
    monkeypatch.setattr(
        "gapboost.comparison.training.Trainer.__call__", None
    )  # trains again: an error
    run()
    assert capsys.readouterr().out == first
    assert first.count(f"| `{OURS}` | `{SLOW}` |") == 2


def test_the_page_shows_the_saved_results():
    part = f"<!-- second run -->\n\n{study.page_text()}\n\n<!-- end of second run -->"
    assert part in study.PAGE.read_text(encoding="utf-8")


def test_a_pair_is_shown_when_all_collections_are_trained():
    row = {
        "rankers": "defaults",
        "family": "defaults",
        "trained by": OURS,
        "beside": FAST,
        "measure": study.MEAN,
    }
    rows = [
        {
            **row,
            "collection": name,
            "queries": n,
            "difference": 0.01 * n,
            "error": 0.01,
            "freedom": 14,
        }
        for n, name in enumerate(FILES, 1)
    ]
    assert "+0.0500 (" in study.tables(
        "defaults", pd.DataFrame(rows), list(FILES)
    )  # 1 + 4 + ... + 49, over 28
    assert not study.tables("defaults", pd.DataFrame(rows[:-1]), list(FILES))


def test_each_compared_ranker_is_trained_and_was_in_the_first_run():
    pairs = {
        (family, *pair)
        for families in FAMILIES.values()
        for family in families
        for pair in families[family]
    }
    assert pairs == set(
        FIRST[["family", "trained by", "beside"]].itertuples(index=False, name=None)
    )
    assert {name for _, *pair in pairs for name in pair} == {
        name for of in RANKERS.values() for name in of
    }
