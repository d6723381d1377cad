"""The effectiveness study: it resumes, and its page shows its results."""

import numpy as np
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
    rankers = {name: Ridge(alpha=n) for n, name in enumerate((OURS, FAST, SLOW), 1)}
    monkeypatch.setitem(RANKERS, "defaults", rankers)
    monkeypatch.setitem(FAMILIES, "defaults", {"defaults": [(OURS, FAST), (OURS, SLOW)]})
    return lambda: study.main(["--data", str(tmp_path / "tiny.csv")])


def test_estimates_are_those_of_the_policy(run, monkeypatch, tmp_path):
    found, estimates = [], comparisons.estimates
    monkeypatch.setattr(
        comparisons, "estimates", lambda c, families: found.append(c) or estimates(c, families)
    )
    run()
    assert [set(c.rankers) for c in found] == [{OURS, FAST}, {OURS, FAST, SLOW}]
    by_query = found[1].values.to_pandas().groupby(["query", "repeat", "fold", "ranker"])
    means = by_query["value"].mean().unstack()
    queries, models = (pd.factorize(means.index.droplevel(gone))[0] for gone in ([1, 2], [0]))
    expected = crossed((means[OURS] - means[SLOW]).to_numpy(), queries, models)
    rows = pd.read_csv(tmp_path / "own" / "estimates.csv", index_col=["beside", "measure"])
    saved = rows.loc[(SLOW, study.MEAN)]["queries":].astype(float)
    npt.assert_allclose(saved, [20, expected.mean, expected.error, 14], atol=1e-7)


def test_a_second_call_trains_nothing_and_prints_the_same(run, monkeypatch, capsys):
    run()
    first = capsys.readouterr().out
    monkeypatch.setattr("gapboost.comparison.training.Trainer.__call__", None)  # training fails
    run()
    assert capsys.readouterr().out == first
    assert first.count(f"| `{OURS}` | `{SLOW}` |") == 2


def test_the_page_shows_the_saved_results():
    part = f"<!-- second run -->\n\n{study.page_text()}\n\n<!-- end of second run -->"
    assert part in study.PAGE.read_text(encoding="utf-8")


def test_a_pair_is_shown_when_all_collections_are_trained():
    pair = {"rankers": "defaults", "family": "defaults", "trained by": OURS, "beside": FAST}
    n = np.arange(1, 8)
    rows = pd.DataFrame({"collection": list(FILES), "queries": n, "difference": 0.01 * n})
    rows = rows.assign(**pair, measure=study.MEAN, error=0.01, freedom=14)
    shown = study.tables("defaults", rows, list(FILES))
    assert "+0.0500 (" in shown  # 1 + 4 + ... + 49, over 28
    assert not study.tables("defaults", rows[:-1], list(FILES))


def test_each_compared_ranker_is_trained_and_was_in_the_first_run():
    pairs = {(family, *pair) for of in FAMILIES.values() for family in of for pair in of[family]}
    first_run = FIRST[["family", "trained by", "beside"]].itertuples(index=False, name=None)
    assert pairs == set(first_run)
    compared = {name for _, *pair in pairs for name in pair}
    assert compared == {name for of in RANKERS.values() for name in of}
