"""Random rankings for all tests, and the oracle's function for each measure."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import oracle
from hypothesis import strategies as st

import gapboost as gb

TOP = 3  # the highest grade of the random rankings

G = (
    (1 / 3, 1 / 3, 1 / 3),
    (0.2, 0.3, 0.5),
    (0.0, 0.4, 0.6),  # nobody is satisfied with grade 1
    (0.0, 0.0, 1.0),
    (0.7, 0.0, 0.3),
    (0.5, 0.5, 0.0),
    (0.217, 0.704, 0.079),  # xGAP rises for some pairs when the lower grade moves up
    (0.1, 0.2, 0.3, 0.4),  # a grade that no document has
)
CUTOFFS = (None, 1, 3, 20)
GAINS = (None, (0, 1, 2, 3), (0.5, 1, 1, 4))
DISCOUNTS = {
    "log2": oracle.by_log2,
    "letor": oracle.by_log(2),
    "reciprocal": oracle.by_rank,
    3.5: oracle.by_log(3.5),
}


# Most orders of tied documents that the oracle goes through for one query.
MOST_ORDERS = 120


def remembered(value: Callable[..., float]) -> Callable[..., float]:
    """Cache the values of lists: most orders of tied documents look alike."""

    @lru_cache(maxsize=1 << 16)
    def known(ranked, counts):
        return value(list(ranked), counts=counts)

    def remembering(ranked, counts=None):
        return known(tuple(ranked), None if counts is None else tuple(counts))

    return remembering


def sum_of(*parts):
    """Return the oracle's function of a weighted sum of (weight, value)."""
    return partial(oracle.weighted_sum, parts=parts)


def measures_at(k: int | None) -> Iterator[tuple[gb.Measure, Callable[..., float]]]:
    """Yield measures with cut-off k, and the oracle's functions of them."""
    gains = (0, 0.2, 0.5, 1)
    for g in G:
        yield gb.GAP(g=g, k=k), partial(oracle.gap, g=g, k=k)
        yield gb.xGAP(g=g, k=k), partial(oracle.xgap, g=g, k=k)
        yield gb.eGAP(g=g, k=k), partial(oracle.egap, g=g, k=k)
    for rel in (1, 2, 3, 4):
        yield gb.AP(rel=rel, k=k), partial(oracle.ap, rel=rel, k=k)
    yield gb.AP(rel=2, k=k, ideal_at_k=True), partial(oracle.ap, rel=2, k=k, ideal_at_k=True)
    for of_grades in GAINS:
        measure = gb.nDCG(gains=of_grades or "exponential", k=k)
        yield measure, partial(oracle.ndcg, gains=of_grades, k=k)
    for name, discount in DISCOUNTS.items():
        for kind, value in ((gb.DCG, oracle.dcg), (gb.nDCG, oracle.ndcg)):
            measure = kind(gains="linear", discount_by=name, k=k)
            yield measure, partial(value, gains=oracle.linear, discount=discount, k=k)
    yield gb.nDCG(short_is_zero=True, k=k), partial(oracle.ndcg, short_is_zero=True, k=k)
    for p, rel in ((0.5, 1), (0.8, 2)):
        yield gb.RBP(p=p, rel=rel, k=k), partial(oracle.rbp, p=p, gain=rel.__le__, k=k)
    yield gb.RBP(gains=gains, k=k), partial(oracle.rbp, p=0.8, gain=gains.__getitem__, k=k)
    for t, rel in ((1, 1), (2.5, 2)):
        yield gb.INSQ(t=t, rel=rel, k=k), partial(oracle.insq, t=t, gain=rel.__le__, k=k)
    yield gb.INSQ(gains=gains, k=k), partial(oracle.insq, t=1, gain=gains.__getitem__, k=k)
    if k is not None:
        for rel in (1, 3):
            yield gb.Precision(rel=rel, k=k), partial(oracle.precision, rel=rel, k=k)
            yield gb.Recall(rel=rel, k=k), partial(oracle.recall, rel=rel, k=k)
            yield gb.Success(rel=rel, k=k), partial(oracle.success, rel=rel, k=k)
        yield gb.Recall(k=k, capped=True), partial(oracle.recall, rel=1, k=k, capped=True)
    if k != 1:
        yield gb.KendallTau(k=k), partial(oracle.kendall_tau, k=k)
        yield gb.PairwiseAccuracy(k=k), partial(oracle.pairwise_accuracy, k=k)
        yield gb.SpearmanRho(k=k), partial(oracle.spearman, k=k)
    yield gb.grAP(gains=gains, k=k), partial(oracle.grap, gain=gains, k=k)
    yield gb.QMeasure(k=k), partial(oracle.q_measure, beta=1, k=k)
    other = {"beta": 10, "gains": (0, 0, 1, 4), "k": k}
    yield gb.QMeasure(**other), partial(oracle.q_measure, **other)
    for rel in (1, 2):
        yield gb.RPrecision(rel=rel, k=k), partial(oracle.r_precision, rel=rel, k=k)
        yield gb.RR(rel=rel, k=k), partial(oracle.rr, rel=rel, k=k)
    for top in (3, 4):
        yield gb.ERR(top=top, k=k), partial(oracle.err, top=top, k=k)
    g = G[1]
    gap, egap = partial(oracle.gap, g=g), partial(oracle.egap, g=g)
    ndcg, ap = partial(oracle.ndcg, k=k), partial(oracle.ap, rel=1, k=k)
    yield 0.25 * gb.GAP(g=g, k=k) + 2 * gb.AP(k=k), sum_of((0.25, partial(gap, k=k)), (2, ap))
    several = 0.7 * gb.GAP(g=g) + 0.3 * gb.nDCG(k=k) + 0.5 * gb.eGAP(g=g)
    yield several, sum_of((0.7, gap), (0.3, ndcg), (0.5, egap))


MEASURES: dict[gb.Measure, Callable[..., float]] = {
    measure: remembered(value) for k in CUTOFFS for measure, value in measures_at(k)
}

# Those that LambdaRank trains for.
TRAINED = {measure: value for measure, value in MEASURES.items() if measure.trains}


def some_measures(
    number: int, of: int, among: Any = MEASURES
) -> dict[gb.Measure, Callable[..., float]]:
    """Return every `of`-th measure from `number` on, so that `of` calls cover all measures."""
    return dict(list(among.items())[number % of :: of])


@dataclass(frozen=True, eq=False)
class Rankings:
    """Rows of several queries in any order; `counts` also count documents without a row."""

    grades: np.ndarray[Any, Any]
    scores: np.ndarray[Any, Any]
    qid: np.ndarray[Any, Any]
    counts: dict[Any, tuple[int, ...]]

    @property
    def rows(self) -> dict[Any, list[int]]:
        return oracle.rows_of_queries(self.qid)


def random_grades(rng: np.random.Generator, longest: int) -> np.ndarray[Any, Any]:
    """One list: often a single document, nothing relevant, or some grades only."""
    size = 1 if rng.random() < 0.15 else rng.integers(2, longest + 1)
    occurring = (
        [0]
        if rng.random() < 0.15
        else rng.choice(TOP + 1, size=rng.integers(1, TOP + 2), replace=False)
    )
    return rng.choice(occurring, size=size)


def random_scores(rng: np.random.Generator, size: int, ties: bool) -> np.ndarray[Any, Any]:
    """Scores with ties that the oracle can go through, or without any."""
    while ties:
        levels = 1 if rng.random() < 0.1 else rng.integers(2, 2 * size + 3)
        scores = rng.integers(-2, levels - 2, size=size) / 4
        if (
            math.prod(math.factorial(len(group)) for group in oracle.tied_groups(scores))
            <= MOST_ORDERS
        ):
            return scores
    return rng.permutation(size) / 4 - 1


def random_rankings(rng: np.random.Generator, n_queries: int, *, ties: bool = True) -> Rankings:
    """Queries with string ids, their rows all mixed up."""
    grades, scores, qid, counts = [], [], [], {}
    for number in rng.permutation(n_queries):
        of_query = random_grades(rng, 9)
        name = f"query {number}"
        listed = np.bincount(of_query, minlength=TOP + 1)
        missing = rng.integers(0, 3, size=TOP + 1) if rng.random() < 0.5 else 0
        counts[name] = tuple((listed + missing).tolist())
        grades.append(of_query)
        scores.append(random_scores(rng, len(of_query), ties))
        qid += [name] * len(of_query)
    rows = rng.permutation(len(qid))
    return Rankings(
        np.concatenate(grades)[rows], np.concatenate(scores)[rows], np.array(qid)[rows], counts
    )


SMOOTH_G = (0.5, 0.2, 0.3)


def smooth_cases() -> Iterator[tuple[gb.Measure, Callable[..., float], Callable[[float], float]]]:
    """Yield measures with the oracle's functions of exact values, and discounts of ranks."""
    graded = ((gb.GAP, oracle.gap), (gb.xGAP, oracle.xgap), (gb.eGAP, oracle.egap))
    for k in (None, 3):
        for rel in (1, 2):
            yield gb.AP(rel=rel, k=k), partial(oracle.ap, rel=rel, k=k), oracle.by_rank
        for kind, exact in graded:
            yield kind(g=SMOOTH_G, k=k), partial(exact, g=SMOOTH_G, k=k), oracle.by_rank
        yield gb.nDCG(k=k), partial(oracle.ndcg, k=k), oracle.by_log2
    yield gb.Precision(k=3, rel=2), partial(oracle.precision, rel=2, k=3), lambda rank: 1 / 3


def random_queries(seed):
    """Yield grades and scores of short lists, with all grades, ties, and a list of one document."""
    rng = np.random.default_rng(seed)
    for number in range(12):
        n = 1 if number == 0 else int(rng.integers(2, 9))
        scores = rng.normal(scale=2.0, size=n)
        scores[: n // 4] = scores[n - 1]
        yield (
            rng.integers(0, TOP + 1, size=n).tolist(),
            scores.tolist(),
            float(np.exp(rng.normal())),
        )


def thresholds(n_grades, rng):
    """Return random threshold probabilities, of which some are 0."""
    g = rng.dirichlet(np.ones(n_grades))
    g[rng.random(n_grades) < 0.2] = 0.0
    return tuple(g / g.sum()) if g.sum() > 0 else (1.0, *[0.0] * (n_grades - 1))


def spread_scores(n, width, shape, rng):
    """Scores with a range of `width`: even, bell-shaped, tied, equal, or with an outlier."""
    unit = {
        "even": rng.random(n),
        "bell": rng.standard_normal(n) / 6,
        "tied": rng.integers(0, 5, n) / 4,
        "outlier": np.append(rng.random(n - 1) * 1e-3, 1.0),
        "equal": np.ones(n),
    }[shape]
    return unit * width


def judged_run(seed):
    """Judgments and a run of five topics; few scores, some of them equal only in single precision.

    Some documents are unjudged, others not retrieved.
    """
    rng = np.random.default_rng(seed)
    qrels, run = {}, {}
    for topic in map(str, range(5)):
        pool = [f"d{i:02d}" for i in rng.permutation(20)]
        qrels[topic] = {doc: int(rng.integers(-1, 3)) for doc in pool[:12]}
        run[topic] = {doc: rng.integers(0, 3) + 1e-12 * rng.integers(0, 2) for doc in pool[8:14]}
    return qrels, run


# One query for hypothesis, which shrinks what fails: (grade, score) of each document. 0.0 and -0.0
# are equal scores.
documents = st.lists(
    st.tuples(st.integers(0, TOP), st.sampled_from([-1e300, -1.0, -0.0, 0.0, 5e-324, 1.0, 1e300])),
    min_size=1,
    max_size=5,
)
