"""Tests of all pairs of systems, and the table for a paper."""

import itertools
import re

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

import gapboost as gb
from gapboost import analysis

SYSTEMS = ["bm25", "a_b & c%", "neural", "bm25 again"]
MEASURES = [gb.GAP(g=(0.5, 0.5)), gb.GAP(g=(0.2, 0.8)), gb.nDCG(k=10)]


@pytest.fixture(scope="module")
def values():
    """The first and the last system are equal but for some topics, on which they are level."""
    rng = np.random.default_rng(0)
    rows = rng.beta(2, 3, size=(3, 1, 40)) + rng.normal(size=(3, 4, 40)) / 20
    rows += np.array([0.0, 0.03, 0.15, 0.0])[:, None]
    rows[:, 3, :10] = rows[:, 0, :10]
    return analysis.SystemValues(MEASURES, SYSTEMS, [str(topic) for topic in range(40)], rows)


@pytest.mark.parametrize(
    ("test", "correction"),
    [("t", "holm"), ("wilcoxon", "bonferroni"), ("sign", "holm"), ("randomization", "holm")],
)
def test_tests_are_those_of_significance_corrected_for_the_pairs(values, test, correction):
    options = {"test": test, "correction": correction, "level": 0.01, "random_state": 0}
    found = analysis.compare_systems(values, **options)
    pairs = list(itertools.combinations(range(4), 2))
    for name, rows, means in zip(found.to_pandas(), values.values, values.means, strict=True):
        alone = [analysis.significance(rows[i], rows[j], random_state=0) for i, j in pairs]
        p = [getattr(one, test) for one in alone]
        expected = multipletests(p, alpha=0.01, method=correction)
        of_measure = found.by_pair.loc[name]
        np.testing.assert_allclose(of_measure.p, p)
        np.testing.assert_allclose(of_measure.corrected, expected[1])
        assert of_measure.significant.tolist() == expected[0].tolist()
        worse = {system: "" for system in SYSTEMS}
        for (i, j), significant in zip(pairs, expected[0], strict=True):
            better, other = (i, j) if means[i] > means[j] else (j, i)
            worse[SYSTEMS[better]] += "abcd"[other] if significant else ""
        assert {s: found.better_than[name, s] for s in SYSTEMS} == {
            s: "".join(sorted(letters)) for s, letters in worse.items()
        }
    assert found.by_pair.significant.any()
    assert not found.by_pair.significant.all()


@pytest.mark.parametrize("baseline", SYSTEMS)
def test_a_baseline_is_in_all_pairs_of_a_smaller_family(values, baseline):
    found = analysis.compare_systems(values, baseline=baseline)
    place = SYSTEMS.index(baseline)
    for name, rows, means in zip(found.to_pandas(), values.values, values.means, strict=True):
        of_measure = found.by_pair.loc[name]
        assert [*of_measure.index] == [(s, baseline) for s in SYSTEMS if s != baseline]
        p = [analysis.significance(row, rows[place]).t for row in np.delete(rows, place, axis=0)]
        reject, corrected, *_ = multipletests(p, method="holm")
        np.testing.assert_allclose(of_measure.corrected, corrected)
        np.testing.assert_allclose(of_measure.difference, np.delete(means, place) - means[place])
        for system, significant in zip(of_measure.index.get_level_values(0), reject, strict=True):
            is_better = significant and means[SYSTEMS.index(system)] > means[place]
            assert found.better_than[name, system] == ("abcd"[place] if is_better else "")
    assert f"for 3 pairs with {baseline}" in found.note


def test_the_table_has_means_letters_and_the_best(values):
    found = analysis.compare_systems(values)
    table = found.table(decimals=4)
    assert table.columns.tolist() == ["", "GAP(g=(0.5, 0.5))", "GAP(g=(0.2, 0.8))", "nDCG@10"]
    assert table[""].tolist() == list("abcd")
    raised = dict(zip("ᵃᵇᶜᵈ", "abcd", strict=True))
    for name, means in zip(found.to_pandas(), values.means, strict=True):
        for system, mean in zip(SYSTEMS, means, strict=True):
            number, letters = re.fullmatch(r"(.*?)([ᵃᵇᶜᵈ]*)", table.loc[system, name]).groups()
            assert number == (f"**{mean:.4f}**" if mean == means.max() else f"{mean:.4f}")
            assert "".join(raised[one] for one in letters) == found.better_than[name, system]


def test_latex_has_escaped_names_and_all_of_them(values):
    text = analysis.compare_systems(values).to_latex()
    assert r"a\_b \& c\% & b & " in text
    assert r"\begin{tabular}{llrrr}" in text
    assert " & GAP(g=(0.2, 0.8)) & " in text
    assert re.search(r"neural & c & \\textbf\{0\.\d{3}\}\\textsuperscript\{abd\}", text)
    assert "paired t-test, level 0.05, Holm's correction for 6 pairs" in text


def test_titles_are_short_and_captions_have_the_parameters():
    measures = [gb.GAP(g=(0.5, 0.5)), gb.nDCG(k=10, gains=(0, 1, 3)), "50% of a_b"]
    values = np.random.default_rng(0).random((3, 2, 9))
    found = analysis.compare_systems(analysis.SystemValues(measures, "ab", "123456789", values))
    assert found.table().columns.tolist() == ["", "GAP", "nDCG@10", "50% of a_b"]
    caption = r"GAP(g=(0.5, 0.5)), nDCG(gains=(0.0, 1.0, 3.0))@10, 50\% of a\_b.}"
    assert caption in found.to_latex()
    named = analysis.SystemValues(["a", gb.nDCG(), gb.RBP()], "ab", "123456789", values)
    note = analysis.compare_systems(named).note
    assert "exponential" in note
    assert "RBP(p=0.8)" in note
    text = found.to_latex(caption=r"Mine \& theirs", label="tab:a_b")
    assert r"\caption{Mine \& theirs}" in text
    assert r"\label{tab:a_b}" in text
    assert " & GAP & nDCG@10 & " in text


def test_values_of_evaluate_are_aligned_by_query():
    rng = np.random.default_rng(1)
    y, qid = rng.integers(0, 3, 200), np.repeat([f"q{i}" for i in range(20)], 10)
    results, order = {}, rng.permutation(200)
    for name, rows in (("noise", slice(None)), ("good", order)):
        scores = rng.random(200) + (2 * y if name == "good" else 0)
        results[name] = gb.evaluate(
            ["gap", "ndcg@5"], y[rows], scores[rows], qid[rows], per_query=True
        )
    found = analysis.compare_systems(results)
    alone = analysis.significance(results["noise"], results["good"], measure="gap")
    assert found.by_pair.loc["GAP"].p.item() == pytest.approx(alone.t)
    assert [found.better_than["GAP", name] for name in results] == ["", "a"]
    wrong = {
        "other queries .*'q0x'": gb.evaluate(["gap", "ndcg@5"], y, y, qid + "x", per_query=True),
        r"other measures .*\['gap'\]": gb.evaluate("gap", y, y, qid, per_query=True),
        "NaN for 1 ": gb.evaluate(
            ["gap", "ndcg@5"], y * (qid != "q1"), y, qid, per_query=True, empty="skip"
        ),
    }
    for message, values in wrong.items():
        with pytest.raises(ValueError, match=rf"(?s)^values\['b'\] has {message}"):
            analysis.compare_systems({"a": results["good"], "b": values})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"test": "z"}, "^test is 'z'"),
        ({"correction": None}, "^correction is None"),
        ({"level": 1}, "^level is 1"),
        ({"baseline": "bm"}, "^baseline is 'bm'; expected \"bm25\", "),
        ({"values": {}}, "^values is empty"),
        ({"values": {"a": [0.1]}}, r"^values\['a'\] is a list"),
        ({"values": 3}, "^values is a int"),
    ],
)
def test_refusals(values, given, message):
    with pytest.raises((ValueError, TypeError), match=message):
        analysis.compare_systems(**{"values": values, **given})
    many = analysis.SystemValues(["m"], list(map(str, range(26))), ["1", "2"], np.ones((1, 26, 2)))
    with pytest.raises(ValueError, match=r"^values has 26 systems"):
        analysis.compare_systems(many)
