"""Values of several systems: discriminative power, correlation, incomplete judgments."""

import itertools

import ir_measures
import numpy as np
import pytest
from scipy.stats import kendalltau, ttest_rel

import gapboost as gb
from gapboost.analysis import (
    SystemValues,
    correlation,
    discriminative_power,
    robustness,
    system_values,
    tau_ap,
    trec,
)
from gapboost.analysis.robustness import thinned
from gapboost.analysis.work import generators

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


# --- the values -----------------------------------------------------------------------------------


def test_values_of_both_libraries_in_the_order_asked_for(collection):
    qrels, runs = collection
    measures = [ir_measures.P @ 5, gb.GAP(g=G), ir_measures.AP, gb.AP()]
    result = system_values(measures, qrels, {**runs, "short": {"0": {"d1": 1.0}}})
    assert result.measures == tuple(measures)
    for s, run in enumerate(runs.values()):
        assert (
            result.values[1, s].tolist()
            == trec.evaluate(gb.GAP(g=G), qrels, run, per_query=True)[gb.GAP(g=G)].tolist()
        )
    np.testing.assert_allclose(result.values[2], result.values[3], atol=1e-9)
    assert result.values[:, 5, 1:].max() == 0  # topics that the last run lacks, in both libraries
    assert result.means == pytest.approx(result.values.mean(axis=2))


def test_selection(values):
    some = values.on_topics(["3", "1"])
    assert some.topics == ("3", "1")
    np.testing.assert_array_equal(some.values, values.values[:, :, [3, 1]])
    assert values.of_systems(["s4", "s0"]).values.tolist() == values.values[:, [4, 0]].tolist()
    assert values.best(2).systems == ("s0", "s1")
    assert values.best(5).systems == values.systems


def test_the_best_by_one_measure_come_best_first():
    """The order of one measure differs from that of the mean rank over all measures."""
    table = np.array([[0.254, 0.1, 0.270, 0.260], [0.9, 0.1, 0.8, 0.2], [0.9, 0.2, 0.8, 0.1]])
    values = SystemValues((gb.GAP(), gb.AP(), "third"), tuple("abcd"), ("1",), table[:, :, None])
    assert values.best(2).systems == ("a", "c")
    assert values.best(2, gb.GAP()).systems == ("c", "d")
    assert values.best(3, measure="third").systems == ("a", "c", "b")
    assert values.best(2, gb.GAP()).means.tolist() == table[:, [2, 3]].tolist()
    ties = SystemValues(("m",), tuple("abc"), ("1",), np.array([[[0.1], [0.2], [0.2]]]))
    assert ties.best(3, "m").systems == ("b", "c", "a")


def shuffled(values, order):
    """Return the systems in another order."""
    return values.of_systems([values.systems[i] for i in order])


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_best_do_not_depend_on_the_order_of_systems_that_tie(order):
    """Two tie by two of three measures, and b wins the third; where all is equal names decide."""
    table = np.array([[0.5, 0.5, 0.1], [0.3, 0.3, 0.1], [0.2, 0.4, 0.1]])
    values = SystemValues(
        ("x", "y", "z"), tuple("abc"), ("1", "2"), np.repeat(table[:, :, None], 2, axis=2)
    )
    assert shuffled(values, order).best(1).systems == ("b",)
    assert set(discriminative_power(shuffled(values, order), top=2, n_resamples=20).pairs[0]) == {
        "a",
        "b",
    }
    level = SystemValues(("x",), tuple("abc"), ("1",), np.full((1, 3, 1), 0.5))
    assert set(shuffled(level, order).best(2).systems) == {"a", "b"}
    assert shuffled(level, order).best(3, "x").systems == ("a", "b", "c")


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_best_do_not_depend_on_rounding(order):
    """A mean of .1, .2 and .3 in any order of the topics is one mean."""
    rows = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.3, 0.1, 0.2]])
    assert len(set(rows.mean(axis=1))) > 1
    values = shuffled(SystemValues(("x",), tuple("abc"), tuple("123"), rows[None]), order)
    assert values.best(1).systems == values.best(1, "x").systems == ("a",)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v: v.of_systems(["x"]), "systems is"),
        (lambda v: SystemValues(v.measures, v.systems, v.topics, v.values[:1]), "values has shape"),
        (lambda v: SystemValues(v.measures, v.systems, v.topics, v.values * np.nan), "NaN"),
        (
            lambda v: SystemValues(v.measures, v.systems, v.topics, v.values + np.inf),
            "120 NaN or infinite",
        ),
        (lambda v: discriminative_power(v, level=0.01, n_resamples=50), "at least 1 / level"),
        (lambda v: discriminative_power(v.on_topics(["1"])), "at least two systems and two topics"),
        (lambda v: correlation(v.of_systems(["s1"])), "at least two systems"),
    ],
)
def test_bad_selections(values, change, message):
    with pytest.raises(ValueError, match=message):
        change(values)


# --- discrimination -------------------------------------------------------------------------------


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
    curve = result.curve(gb.AP())
    assert (np.diff(curve) <= 0).all()
    assert sorted(curve) == sorted(result.asl[1])


def test_levels_are_those_of_the_t_test_where_it_is_right():
    rng = np.random.default_rng(1)
    z = rng.normal(size=(6, 200)) + np.linspace(0, 0.15, 6)[:, None]
    values = SystemValues(("m",), tuple("abcdef"), tuple(map(str, range(200))), z[None])
    result = discriminative_power(values, n_resamples=20_000, random_state=0)
    for pair, asl in zip(result.pairs, result.asl[0], strict=True):
        i, j = ("abcdef".index(name) for name in pair)
        assert asl == pytest.approx(ttest_rel(z[i], z[j]).pvalue, abs=0.02)


def test_equal_and_constantly_different_systems():
    x = np.linspace(0, 1, 9)
    values = SystemValues(("m",), ("a", "b", "c"), tuple("123456789"), np.array([[x, x, x + 0.1]]))
    assert discriminative_power(values, random_state=0).asl[0].tolist() == [1, 0, 0]


def test_systems_that_differ_by_rounding_are_not_told_apart():
    """Rounding counts nothing, in the same direction on every topic or in a constant difference."""
    x = np.linspace(0.1, 0.9, 9)
    near = np.array([[x, np.nextafter(x, 1), x + 1e-9]])
    values = SystemValues(("m",), ("a", "b", "c"), tuple("123456789"), near)
    result = discriminative_power(values, random_state=0)
    assert result.asl[0].tolist() == [1, 0, 0]
    assert result.difference[0, 0] == 0
    assert result.required[0] == 0  # constant differences do not vary between resamples


def test_only_the_best_systems(values):
    result = discriminative_power(values, top=3, random_state=0)
    assert result.pairs == (("s0", "s1"), ("s0", "s2"), ("s1", "s2"))


@pytest.mark.slow
def test_random_state_and_processes(values):
    first, again, parallel = (
        discriminative_power(values, n_resamples=100, random_state=5, n_jobs=jobs).asl
        for jobs in (1, 1, 2)
    )
    assert (first == again).all()
    assert (first == parallel).all()
    assert (first != discriminative_power(values, n_resamples=100, random_state=6).asl).any()


# --- correlation ----------------------------------------------------------------------------------


def test_tau_between_measures(values):
    result = correlation(values)
    expected = kendalltau(values.means[0], values.means[2]).statistic
    assert result.tau[0, 2] == result.tau[2, 0] == pytest.approx(expected)
    np.testing.assert_allclose(np.diag(result.tau), 1)
    up, down = np.arange(8.0).reshape(1, 4, 2), -np.arange(8.0).reshape(1, 4, 2)
    opposite = SystemValues(("up", "down"), tuple("abcd"), ("1", "2"), np.concatenate([up, down]))
    np.testing.assert_allclose(correlation(opposite).tau, [[1, -1], [-1, 1]])


def test_means_that_differ_by_rounding_are_tied():
    """Two of four systems are equal by definition: the order of their topics must not rank them."""
    topics = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.3, 0.1, 0.2], [0.0, 0.1, 0.0]])
    exact = np.array([2.0, 2.0, 2.0, 1.0])
    other = np.array([4.0, 3.0, 2.0, 1.0])
    assert len(set(topics.mean(axis=1))) > 2
    table = np.stack([topics, np.repeat(exact[:, None], 3, 1), np.repeat(other[:, None], 3, 1)])
    tau = correlation(
        SystemValues(("rounded", "exact", "other"), tuple("abcd"), tuple("123"), table)
    ).tau
    np.testing.assert_allclose(tau[0], [1, 1, kendalltau(exact, other).statistic])
    for rounded, plain in ((topics.mean(axis=1), exact), (exact, topics.mean(axis=1))):
        assert tau_ap(rounded, other) == tau_ap(plain, other)
        assert tau_ap(other, rounded) == tau_ap(other, plain)


# --- robustness -----------------------------------------------------------------------------------


def test_samples_are_stratified_and_nested(collection):
    qrels, _ = collection
    qrels = {**qrels, "rare": {"a": 2, "b": -1, "c": 0, "d": 0}}
    samples = [thinned(qrels, fraction, np.random.default_rng(0)) for fraction in (1.0, 0.5, 0.05)]
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
    assert samples[1] != thinned(qrels, 0.5, np.random.default_rng(1))


@pytest.mark.slow
def test_tau_with_the_complete_ranking(collection):
    qrels, runs = collection
    measures = [gb.GAP(g=G), gb.nDCG(), ir_measures.Bpref]
    options = dict(fractions=(1.0, 0.3, 0.05), repeats=3, random_state=0)
    result = robustness(measures, qrels, runs, n_jobs=1, **options)
    assert result.tau.shape == (3, 3, 3)
    np.testing.assert_allclose(result.tau[:, 0], 1)
    assert (result.mean == result.tau.mean(axis=2)).all()
    assert result.mean[:, 2].max() < 1
    assert (result.tau == robustness(measures, qrels, runs, n_jobs=2, **options).tau).all()
    # one repeat, step by step
    seed = int(generators(0, 3)[1].integers(2**63))
    sample = thinned(qrels, 0.3, np.random.default_rng(seed))
    complete, thin = (system_values(measures, judged, runs).means for judged in (qrels, sample))
    assert result.tau[0, 1, 1] == pytest.approx(kendalltau(complete[0], thin[0]).statistic)
    assert result.tau[2, 1, 1] == pytest.approx(kendalltau(complete[2], thin[2]).statistic)


def test_robustness_on_some_topics(collection):
    qrels, runs = collection
    some = {topic: qrels[topic] for topic in ("1", "2")}
    options = dict(fractions=(0.5,), repeats=2, random_state=0, n_jobs=1)
    assert (
        robustness([gb.AP()], qrels, runs, topics=["1", "2"], **options).tau
        == robustness([gb.AP()], some, runs, **options).tau
    ).all()
