"""Values of several systems: discriminative power, correlation, fewer judgments."""

import itertools
import math

import ir_measures
import numpy as np
import pytest
from scipy.stats import kendalltau
from statsmodels.stats.multitest import multipletests

import gapboost as gb
from gapboost.analysis import (
    SystemValues,
    compare_systems,
    correlation,
    discriminative_power,
    robustness,
    system_values,
    tau_ap,
    trec,
)
from gapboost.analysis.correlation import subsample_qrels
from gapboost.analysis.result import generators

G = (0.3, 0.7)


@pytest.fixture(scope="module")
def collection():
    """Judgments of 8 topics and 5 systems of falling skill."""
    rng = np.random.default_rng(0)
    qrels, runs = {}, {f"s{i}": {} for i in range(5)}
    for topic in map(str, range(8)):
        grades = rng.choice(3, size=60, p=[0.6, 0.3, 0.1])
        qrels[topic] = {f"d{i}": int(grade) for i, grade in enumerate(grades)}
        for skill, run in enumerate(runs.values()):
            scores = grades + rng.normal(scale=0.4 + 0.4 * skill, size=60)
            run[topic] = {f"d{i}": float(scores[i]) for i in np.argsort(-scores)[:40]}
    return qrels, runs


@pytest.fixture(scope="module")
def values(collection):
    return system_values([gb.GAP(g=G), gb.AP(), gb.nDCG(k=10)], *collection)


def table_of(table, measures=("m",)):
    """Systems a, b, ... and topics 1, 2, ... with these values."""
    table = np.asarray(table, dtype=float)
    names, topics = "abcdefgh"[: table.shape[1]], range(table.shape[2])
    return SystemValues(measures, tuple(names), tuple(map(str, topics)), table)


# --- the values -----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:runs.* lacks topics")
def test_values_of_both_libraries_in_the_order_asked_for(collection):
    qrels, runs = collection
    measures = [ir_measures.P @ 5, gb.GAP(g=G), ir_measures.AP, gb.AP()]
    result = system_values(measures, qrels, {**runs, "short": {"0": {"d1": 1.0}}})
    assert result.measures == tuple(measures)
    for s, run in enumerate(runs.values()):
        expected = trec.evaluate(gb.GAP(g=G), qrels, run, per_query=True)[gb.GAP(g=G)]
        assert result.values[1, s].tolist() == expected.tolist()
    named = ([ir_measures.P @ 5], [gb.GAP(g=G), f"gap(g={G})"], [ir_measures.AP], ["ap", "map"])
    for names, expected in zip(named, result.values, strict=True):
        for name in names:
            np.testing.assert_array_equal(result[name], expected)
    np.testing.assert_allclose(result.values[2], result.values[3], atol=1e-9)
    assert result.values[:, 5, 1:].max() == 0  # topics that the last run lacks, in both libraries
    assert result.means == pytest.approx(result.values.mean(axis=2))


def by_topic(measure, qrels, run):
    """Values of a measure of ir_measures for one run."""
    return system_values([measure], qrels, {"run": run}).values[0, 0].tolist()


def test_warnings_name_the_run():
    qrels = {"1": {"a": 1, "b": 0}, "2": {"a": 1}}
    with pytest.warns(UserWarning, match=r"^runs\['new'\] lacks topics"):
        system_values(
            ["ap"], qrels, {"old": {t: {"a": 1.0} for t in "12"}, "new": {"1": {"a": 1.0}}}
        )


def test_measures_of_one_label_have_columns_of_their_own():
    qrels, run = {"1": {"a": 1, "b": 0}, "2": {"a": 1}}, {t: {"a": 1.0} for t in "12"}
    values = system_values(["ap", ir_measures.AP], qrels, {"one": run, "other": run})
    assert [*compare_systems(values).to_pandas()] == ["AP(rel=1)", "AP"]


@pytest.mark.filterwarnings("ignore:run.* has topics without judgments")
@pytest.mark.parametrize("topics", ["12", ["a-1", "b-1"], ["x", "é 1"], ["01", "1"]])
@pytest.mark.parametrize(
    "measure", [ir_measures.ERR @ 3, ir_measures.nDCG(dcg="exp-log2") @ 3, ir_measures.AP], ids=str
)
def test_names_of_topics_do_not_matter(measure, topics):
    """gdeval, which computes two of the measures, takes what follows a hyphen of a number."""
    qrels = dict(zip(topics, ({"a": 2, "b": 0}, {"a": 0, "b": 4}), strict=True))
    run = {topic: {"a": 2.0, "b": 1.0} for topic in topics} | {"c-1": {"a": 9.0}}
    found = by_topic(measure, qrels, run)
    ours = {"AP": "ap", "ERR": gb.ERR(top=4, k=3)}.get(measure.NAME, "ndcg@3")
    expected = trec.evaluate(ours, qrels, run, per_query=True)
    np.testing.assert_allclose(found, next(iter(expected.values())), atol=1e-5)
    # gdeval ends for higher grades.
    qrels[topics[1]]["b"] = 5
    if measure.NAME == "AP":
        assert by_topic(measure, qrels, run) == found
    else:
        with pytest.raises(ValueError, match=r"^qrels holds the grade 5.*ir_measures"):
            by_topic(measure, qrels, run)


JUDGMENTS = {"1": {"a": 1, "b": -1, "c": 0}, "2": {"a": -1}}
RETRIEVED = {"1": {"u": 4.0, "b": 3.0, "a": 2.0, "c": 1.0}, "2": {"a": 1.0}}


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (ir_measures.Bpref, 1.0),
        (ir_measures.Judged @ 2, 0.5),
        (ir_measures.AP(judged_only=True), 1.0),
        (ir_measures.AP, 1 / 3),
        (ir_measures.nDCG, 0.5),
        (ir_measures.nDCG(gains={0: 0, 1: 5}) @ 4, 0.5),
    ],
    ids=str,
)
def test_judgments_below_0_are_none(measure, expected, monkeypatch):
    """pytrec_eval may not return from nDCG with them: they are not handed on to it."""
    given = []

    def iter_calc(measures, qrels, run):
        given.append(
            ({one.NAME for one in measures}, min(min(q.values()) for q in qrels.values() if q))
        )
        return calculate(measures, qrels, run)

    calculate = ir_measures.iter_calc
    monkeypatch.setattr(ir_measures, "iter_calc", iter_calc)
    found = system_values([ir_measures.RR, measure], JUDGMENTS, {"run": RETRIEVED}).values
    assert found[:, 0, 0] == pytest.approx([1 / 3, expected])
    assert [least for names, least in given if "nDCG" in names] == [0] * (measure.NAME == "nDCG")


def test_measures_that_no_installed_package_computes():
    with pytest.raises(ValueError, match=r"^measures has RBP.* of ir_measures"):
        by_topic(ir_measures.RBP(p=0.8), {"1": {"a": 1}}, {"1": {"a": 1.0}})


def test_gains_below_0_are_refused():
    with pytest.raises(ValueError, match=r"^measures .*gains"):
        by_topic(ir_measures.nDCG(gains={0: -1}), {"1": {"a": 1}}, {"1": {"a": 1.0}})


def test_numbers_that_ir_measures_refuses():
    qrels, run = {"1": {"a": np.int64(2), "b": 1.0}}, {"1": {"a": np.float32(1), "b": 2}}
    assert by_topic(ir_measures.P @ 1, qrels, run) == [1]
    with pytest.raises(ValueError, match=r"^qrels .*0\.5.*whole"):
        by_topic(ir_measures.P @ 1, {"1": {"a": 0.5}}, run)


@pytest.mark.parametrize("judged", "abc")
def test_each_tool_behind_ir_measures_orders_equal_scores_by_its_own_rule(judged):
    """What the documentation says of RR and RR@k."""
    qrels, run = {"1": dict.fromkeys("abc", 0) | {judged: 1}}, {"1": dict.fromkeys("bac", 1.0)}
    assert by_topic(ir_measures.RR, qrels, run) == [1 / ("cba".index(judged) + 1)]
    assert by_topic(ir_measures.RR @ 3, qrels, run) == [1 / ("abc".index(judged) + 1)]
    # gdeval has falling ids too.
    (found,) = by_topic(ir_measures.nDCG(dcg="exp-log2") @ 3, qrels, run)
    assert found == pytest.approx(1 / np.log2("cba".index(judged) + 2), abs=1e-5)


BAD = [
    (lambda v: SystemValues(v.measures, v.systems, v.topics, v.values[:1]), "values"),
    (lambda v: SystemValues(v.measures, v.systems, v.topics, v.values * np.nan), "values"),
    (lambda v: discriminative_power(v, level=0.01, n_resamples=50), "level"),
    (lambda v: discriminative_power(table_of(v.values[0, :, :1][None])), "values"),
    (lambda v: correlation(table_of(v.values[:1, :1])), "values"),
    (lambda v: tau_ap([1.0], [1.0]), "truth"),
    (lambda v: tau_ap([1.0, 2.0, 3.0], [1.0, 2.0]), "estimated"),
    (lambda v: robustness(["ap"], JUDGMENTS, {"run": RETRIEVED}), "^runs has 1 system"),
]


@pytest.mark.parametrize(("change", "named"), BAD)
def test_bad_input(values, change, named):
    with pytest.raises(ValueError, match=named):
        change(values)


# --- discrimination -------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:n_resamples is 60")
def test_bootstrap_as_written(values):
    """The algorithm in loops, on the same resamples of topics."""
    level, resamples, n = 0.1, 60, 8
    result = discriminative_power(values, level=level, n_resamples=resamples, random_state=3)
    (generator,) = generators(3, 1)
    times = generator.multinomial(n, np.full(n, 1 / n), size=resamples)

    def t(sample):
        deviation = np.std(sample, ddof=1)
        return 0.0 if np.allclose(sample, 0) else abs(np.mean(sample)) / deviation * np.sqrt(n)

    assert result.pairs == tuple(itertools.combinations(values.systems, 2))
    for m in range(3):
        required = []
        for pair, (i, j) in enumerate(itertools.combinations(range(5), 2)):
            z = values.values[m, i] - values.values[m, j]
            samples = [np.repeat(z - z.mean(), drawn) for drawn in times]
            ts = [t(sample) for sample in samples]
            assert result.asl[m, pair] == np.mean([x >= t(z) for x in ts])
            last = np.argsort(ts)[::-1][int(np.ceil(level * resamples)) - 1]
            required.append(abs(samples[last].mean()))
            assert result.difference[m, pair] == pytest.approx(z.mean())
        assert result.required[m] == pytest.approx(max(required))
    assert result.share.tolist() == (result.asl < level).mean(axis=1).tolist()


def test_too_few_resamples_for_the_pairs_are_significant_for_none(values):
    with pytest.warns(UserWarning, match="10 pairs.*expected 200 or more"):
        result = discriminative_power(values, n_resamples=100, random_state=0)
    assert result.share.any()
    assert not result.share_holm.any()


def test_pairs_are_corrected_by_holms_method(values):
    result = discriminative_power(values, random_state=0)
    for asl, corrected in zip(result.asl, result.holm, strict=True):
        least = np.maximum(asl, 1 / 20_000)  # what the resamples tell of the least ones
        np.testing.assert_allclose(corrected, multipletests(least, method="holm")[1], atol=1e-12)
    assert result.share_holm.tolist() == (result.holm < 0.05).mean(axis=1).tolist()
    assert (result.share_holm <= result.share).all()
    of_pair = result.by_pair.loc[("AP", "s1", "s3")]
    assert of_pair["holm"] == result.holm[1, 5]
    assert of_pair["difference"] == result.difference[1, 5]


@pytest.mark.parametrize("shift", [0.1, 1e-9])
def test_differences_that_do_not_vary_are_no_evidence(shift):
    """Neither rounding in the same direction on every topic, nor a constant difference."""
    x = np.linspace(0.1, 0.9, 9)
    result = discriminative_power(table_of([[x, np.nextafter(x, 1), x + shift]]), random_state=0)
    assert result.asl.tolist() == [[1, 1, 1]]
    assert result.difference[0, 0] == 0
    assert result.required[0] == 0  # constant differences do not vary between resamples


# --- correlation ----------------------------------------------------------------------------------


def test_tau_between_measures(values):
    result = correlation(values)
    expected = kendalltau(values.means[0], values.means[2]).statistic
    assert result.tau[0, 2] == result.tau[2, 0] == pytest.approx(expected)
    np.testing.assert_allclose(np.diag(result.tau), 1)
    up = np.arange(8.0).reshape(1, 4, 2)
    opposite = table_of(np.concatenate([up, -up]), ("up", "down"))
    np.testing.assert_allclose(correlation(opposite).tau, [[1, -1], [-1, 1]])
    by_ap = correlation(values, kind="tau_ap")
    for row, column in np.ndindex(3, 3):
        assert by_ap.tau[row, column] == tau_ap(values.means[row], values.means[column])


def naive(estimated, truth):
    """The definition, for distinct estimates."""
    ranked = np.argsort(-np.asarray(estimated))
    total = 0.0
    for i in range(1, len(ranked)):
        for m in ranked[:i]:
            total += ((truth[m] > truth[ranked[i]]) + 0.5 * (truth[m] == truth[ranked[i]])) / i
    return 2 * total / (len(ranked) - 1) - 1


@pytest.mark.parametrize("n_estimates", [2, 3, 6])
@pytest.mark.parametrize("seed", range(6))
def test_tau_ap_is_its_definition_in_the_mean_over_orders_of_ties(n_estimates, seed):
    rng = np.random.default_rng(seed)
    estimated, truth = rng.integers(0, n_estimates, size=6), rng.integers(0, 6, size=6)
    groups = [np.flatnonzero(estimated == s).tolist() for s in range(n_estimates)[::-1]]
    values = []
    for orders in itertools.product(*(itertools.permutations(group) for group in groups)):
        scores = np.empty(6)
        scores[list(itertools.chain.from_iterable(orders))] = -np.arange(6)
        values.append(naive(scores, truth))
    assert tau_ap(estimated, truth) == pytest.approx(math.fsum(values) / len(values), abs=1e-12)


def test_means_that_differ_by_rounding_are_tied():
    """Two of four systems are equal by definition: the order of their topics must not rank them."""
    topics = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.3, 0.1, 0.2], [0.0, 0.1, 0.0]])
    exact, other = np.array([2.0, 2.0, 2.0, 1.0]), np.array([4.0, 3.0, 2.0, 1.0])
    assert len(set(topics.mean(axis=1))) > 2
    table = np.stack([topics, np.repeat(exact[:, None], 3, 1), np.repeat(other[:, None], 3, 1)])
    tau = correlation(table_of(table, ("rounded", "exact", "other"))).tau
    np.testing.assert_allclose(tau[0], [1, 1, kendalltau(exact, other).statistic])
    for rounded, plain in ((topics.mean(axis=1), exact), (exact, topics.mean(axis=1))):
        assert tau_ap(rounded, other) == tau_ap(plain, other)
        assert tau_ap(other, rounded) == tau_ap(other, plain)


# --- robustness -----------------------------------------------------------------------------------


def test_samples_are_stratified_and_nested(collection):
    qrels, _ = collection
    qrels = {**qrels, "rare": {"a": 2, "b": -1, "c": 0, "d": 0}}
    samples = [
        subsample_qrels(qrels, fraction, np.random.default_rng(0)) for fraction in (1.0, 0.5, 0.05)
    ]
    assert samples[0] == qrels
    for sample, fraction in zip(samples, (1.0, 0.5, 0.05), strict=True):
        for topic, judged in qrels.items():
            for grade in (-1, 0, 1, 2):
                whole = sum(g == grade for g in judged.values())
                kept = {doc for doc, g in sample[topic].items() if g == grade}
                assert len(kept) == (max(1, round(fraction * whole)) if whole else 0)
                assert kept <= {doc for doc, g in judged.items() if g == grade}
    for large, small in itertools.pairwise(samples):
        assert all(small[topic].items() <= large[topic].items() for topic in qrels)
    assert samples[1] != subsample_qrels(qrels, 0.5, np.random.default_rng(1))


def test_samples_do_not_depend_on_the_other_fractions(collection):
    given = dict(repeats=10, random_state=0, n_jobs=1)
    both, smaller = (
        robustness([gb.AP()], *collection, fractions=fractions, **given).tau
        for fractions in ((0.5, 0.05), (0.05,))
    )
    np.testing.assert_array_equal(both[:, 1:], smaller)


@pytest.mark.parametrize("ties", ["expected", "trec_eval"])
def test_samples_are_evaluated_with_the_order_of_ties_that_is_asked_for(ties):
    qrels = {"1": {"a": 1, "b": 0, "c": 0}}
    # Ahead by the expected value, behind by ids, which trec_eval has fall.
    tied = {"1": dict.fromkeys("abc", 1.0)}
    second = {"1": {"b": 3.0, "a": 2.0, "c": 1.0}}
    runs = {"tied": tied, "second": second}
    options = dict(ties=ties, fractions=(1.0,), repeats=1, random_state=0, n_jobs=1)
    assert (robustness(["ap"], qrels, runs, **options).tau == 1).all()


def test_a_run_without_judged_documents_in_a_sample_is_not_warned_of():
    """Only in the judgments as given it is a sign of ids that are written in another way."""
    qrels = {"1": dict.fromkeys("abcdefgh", 0) | {"x": 1}}
    runs = {"a": {"1": {"a": 1.0}}, "x": {"1": {"x": 1.0}}}
    options = dict(fractions=(0.01,), repeats=9, random_state=0, n_jobs=1)
    assert (robustness(["ap"], qrels, runs, **options).tau == 1).all()


@pytest.mark.slow
def test_tau_with_the_complete_ranking(collection, capsys):
    qrels, runs = collection
    measures = [gb.GAP(g=G), gb.nDCG(), ir_measures.Bpref]
    options = dict(fractions=(1.0, 0.3, 0.05), repeats=3, random_state=0)
    result = robustness(measures, qrels, runs, n_jobs=1, progress=True, **options)
    assert "3/3" in capsys.readouterr().err
    assert result.tau.shape == (3, 3, 3)
    np.testing.assert_allclose(result.tau[:, 0], 1)
    assert (result.mean == result.tau.mean(axis=2)).all()
    assert result.mean[:, 2].max() < 1
    assert (result.tau == robustness(measures, qrels, runs, n_jobs=2, **options).tau).all()
    # one repeat, step by step
    seed = int(generators(0, 3)[1].integers(2**63))
    sample = subsample_qrels(qrels, 0.3, np.random.default_rng(seed))
    complete, thin = (system_values(measures, judged, runs).means for judged in (qrels, sample))
    assert result.tau[0, 1, 1] == pytest.approx(kendalltau(complete[0], thin[0]).statistic)
    assert result.tau[2, 1, 1] == pytest.approx(kendalltau(complete[2], thin[2]).statistic)
