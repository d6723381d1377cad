"""The tutorial "from a bad ranking to its cause" finds what its text says."""

from pathlib import Path

import pytest

pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

TUTORIAL = (
    Path(__file__).parents[2] / "docs" / "tutorials" / "13_from_a_bad_ranking_to_its_cause.py"
)


@pytest.mark.slow
def test_the_tutorial_finds_what_it_says(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    from matplotlib import pyplot

    names = {"__name__": "tutorial"}
    try:
        exec(compile(TUTORIAL.read_text(encoding="utf-8"), str(TUTORIAL), "exec"), names)
    finally:
        pyplot.close("all")
    checks, suspects = names["report"].checks, names["suspects"]
    assert list(names["found"].index) == ["weak-ranker", "shifted-features"]
    assert checks.loc["overfitted", "value"] > 0.5
    message = checks.loc["shifted-features", "message"]
    assert [name for name in names["X"].columns if name in message] == sorted(
        suspects, key=list(names["X"]).index
    )
    # The document of a higher grade comes later, and two of the three features are among the
    # reasons.
    worst = names["worst"].loc[names["query"]]
    assert worst["grade"].iloc[0] < worst["grade"].iloc[-1] == 2
    assert len(set(names["pair"].to_pandas().index[:3]) & set(suspects)) == 2
    assert (
        names["report"]
        .reasons[0]
        .startswith(f"Row {names['pair'].a} is above row {names['pair'].b}")
    )
    assert names["losses"].nsmallest(2).index.isin(suspects).all()
    # Training has a higher cosine for a higher grade, and the service a lower one.
    for place, sign in (("training", 1), ("service", -1)):
        assert (sign * names["means"][place].diff().dropna() > 0).all(axis=None)
    assert not any(result.found for result in names["again"].results)
    assert names["gain"].interval[0] > 0.1
