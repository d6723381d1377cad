"""Public functions agree with the oracle or raise a ValueError or TypeError, for any input."""

import warnings

import numpy as np
import oracle
import pytest
from fuzzing import Refused, anything, called, columns, fuzz, mostly, numbers, scalars, spoilt
from good_calls import ANALYSES, LGBM, RANKERS, SELECTION, XGB
from hypothesis import assume
from hypothesis import strategies as st
from rankings import GAINS, MEASURES, SMOOTHED, TRAINED, G
from sklearn.exceptions import ConvergenceWarning

import gapboost as gb
from gapboost.measures import MEASURES_BY_NAME, as_measure

IDS = [
    ["a", "b", "c"],
    [0, 1, 2],
    [-(2**63), 2**63 - 1, 0],
    [0.5, -1.5, 2.0],
    [("a", 1), ("b", 2), "c"],
    [b"x", "x", 1],
]
TIES_TO_GO_THROUGH = 6


@st.composite
def rows(draw, longest=TIES_TO_GO_THROUGH):
    """y_true, y_score and qid of up to 3 queries, mostly as they should be; whether they are."""
    length = draw(st.integers(1, longest))
    ids = draw(st.sampled_from([None, *IDS]))
    score = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(-2, 2))
    data = {
        "y_true": draw(columns(st.integers(0, 3), length)),
        "y_score": draw(columns(score, length)),
        "qid": draw(columns(st.sampled_from(ids), length)) if ids else None,
    }
    broken = draw(st.sampled_from([None] * 9 + sorted(data)))
    if broken is not None:
        data[broken] = draw(spoilt(data[broken] if data[broken] is not None else []))
    return data, broken is None


def plain(data):
    """Rows as the oracle wants them; only for rows that were accepted."""
    grades = [int(g) for g in np.asarray(data["y_true"])]
    scores = [float(s) for s in np.asarray(data["y_score"])]
    ids = [0] * len(grades) if data["qid"] is None else list(data["qid"])
    ids = [i.item() if isinstance(i, np.generic) else i for i in ids]
    return grades, scores, [(type(i), i) for i in ids]  # a dict takes True and 1 for one


def accepted(clean, function, *arguments, **named):
    """The result; what is clean must not be refused."""
    return function(*arguments, **named) if clean else called(function, *arguments, **named)


# --- measures and their values --------------------------------------------------------------------


@pytest.mark.slow
@fuzz(
    3,
    drawn=rows(),
    measure=st.sampled_from(list(MEASURES)),
    ties=mostly(st.sampled_from(["expected", "row"])),
    empty=mostly(st.sampled_from([0, 1, "skip"])),
)
def test_evaluate(drawn, measure, ties, empty):
    """The value of each query is the oracle's; only a skipped query is NaN."""
    data, clean = drawn
    known = (
        isinstance(ties, str)
        and ties in ("expected", "row")
        and isinstance(empty, int | str)
        and empty in (0, 1, "skip")
    )
    values = accepted(
        clean and known, gb.evaluate, measure, **data, ties=ties, empty=empty, per_query=True
    )[measure]
    expected = oracle.per_query(MEASURES[measure], *plain(data), ties=str(ties), empty=empty)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-9)


@fuzz(
    drawn=rows(),
    weights=mostly(st.floats(0.1, 1e6).map(lambda w: [w]), st.lists(scalars, max_size=6)),
    measure=st.sampled_from(list(MEASURES)),
)
def test_weighted_mean(drawn, weights, measure):
    """The mean over queries lies between the smallest and the largest value."""
    data, _ = drawn
    data = {**data, "qid": None}
    mean = called(gb.evaluate, measure, **data, sample_weight=weights)[measure]
    values = gb.evaluate(measure, **data, per_query=True)[measure]
    assert values.min() - 1e-12 <= mean <= values.max() + 1e-12


@fuzz(
    drawn=rows(),
    base=mostly(st.lists(st.integers(6, 9), min_size=4, max_size=4).map(lambda counts: [counts])),
)
def test_recall_base(drawn, base):
    """Missing documents are refused or only lower the value."""
    data = {**drawn[0], "qid": None}
    measure = gb.eGAP(g=(0.2, 0.3, 0.5))
    values = called(gb.evaluate, measure, **data, recall_base=base, per_query=True)[measure]
    assert np.isfinite(values).all()
    if base is not None:
        assert (values <= gb.evaluate(measure, **data, per_query=True)[measure] + 1e-9).all()


@pytest.mark.slow
@fuzz(
    2,
    name=mostly(st.sampled_from(sorted(MEASURES_BY_NAME))),
    g=st.one_of(st.none(), st.sampled_from(G), st.lists(st.floats(0, 1), max_size=4), anything),
    k=mostly(st.sampled_from([None, 1, 5])),
    rel=mostly(st.integers(1, 3)),
    gains=st.one_of(
        st.sampled_from(GAINS), st.lists(st.one_of(st.floats(0, 9), scalars), max_size=4), anything
    ),
)
def test_parameters_of_measures(name, g, k, rel, gains):
    """Any parameters give a measure with finite values that equals its `repr`, or an error."""
    made = [
        lambda: as_measure(name, g),
        *(lambda kind=kind: kind(g=g, k=k) for kind in (gb.GAP, gb.xGAP, gb.eGAP)),
        *(lambda kind=kind: kind(rel=rel, k=k) for kind in (gb.AP, gb.Precision)),
        *(
            lambda kind=kind: kind(gains=gains, k=k)
            for kind in (gb.nDCG, gb.DCG, gb.QMeasure, gb.RBP, gb.INSQ)
        ),
    ]
    refused = 0
    for make in made:
        try:
            measure = called(make)
            assert eval(repr(measure), vars(gb)) == measure
            assert hash(measure) == hash(eval(repr(measure), vars(gb)))
            assert np.isfinite(called(gb.evaluate, measure, [0, 1, 0], [1, 2, 3])[measure])
        except Refused:
            refused += 1
    if refused == len(made):
        raise Refused


@fuzz(
    ranked=mostly(columns(st.integers(0, 3), 5)),
    measure=st.sampled_from(list(MEASURES)),
)
def test_swap_changes(ranked, measure):
    """Each is the change of the value."""
    changes = called(measure.swap_changes, ranked)
    grades = [int(g) for g in np.asarray(ranked)]
    for p in range(len(grades)):
        for q in range(p + 1, len(grades)):
            expected = oracle.swap_change(MEASURES[measure], grades, p + 1, q + 1)
            assert abs(changes[p, q] - expected) < 1e-9


# --- objectives -----------------------------------------------------------------------------------


@pytest.mark.slow
@fuzz(
    2,
    drawn=rows(9),
    measure=st.sampled_from(list(TRAINED)),
    sigma=mostly(st.floats(0.01, 10)),
    truncation=mostly(st.sampled_from([None, 1, 3])),
)
def test_lambdarank(drawn, measure, sigma, truncation):
    """Gradients are the oracle's if there are no ties, and always add up to zero."""
    data, _ = drawn
    objective = called(gb.LambdaRank, measure, sigma=sigma, truncation=truncation, normalize=False)
    grad, hess = called(objective.gradients, **data)
    assert np.isfinite(grad).all()
    assert np.isfinite(hess).all()
    assert (hess > 0).all()
    grades, scores, qid = plain(data)
    for in_query in oracle.rows_of_queries(qid).values():
        of_query = np.array(in_query)
        assert abs(grad[of_query].sum()) <= 1e-9 * max(1.0, np.abs(grad[of_query]).max())
        s = [scores[row] for row in in_query]
        if len(set(s)) == len(s) and objective.sigma < 1e3:
            expected = oracle.lambda_gradients(
                TRAINED[measure],
                [grades[r] for r in in_query],
                s,
                objective.sigma,
                oracle.row_order(s),
                objective.truncation,
            )
            np.testing.assert_allclose(grad[of_query], expected[0], rtol=1e-6, atol=1e-7)


@pytest.mark.slow
@fuzz(
    drawn=rows(),
    measure=st.sampled_from(SMOOTHED),
    kind=st.sampled_from([gb.SoftRank, gb.ApproxRank]),
    normalize=st.booleans(),
    scale=mostly(st.one_of(st.none(), st.floats(0.01, 100))),
)
def test_smooth_objectives(drawn, measure, kind, normalize, scale):
    """Values are within what the measure can be; gradients are finite and sum to zero."""
    data, _ = drawn
    options = {} if scale is None else {"sigma" if kind is gb.SoftRank else "alpha": scale}
    objective = called(kind, measure, normalize=normalize, **options)
    grad, hess = called(objective.gradients, **data)
    assert np.isfinite(grad).all()
    assert np.isfinite(hess).all()
    assert (hess >= 0).all()
    assert abs(grad.sum()) <= 1e-9 * max(1.0, np.abs(grad).sum())
    assert np.isfinite(objective.value(**data))


# --- any one argument -----------------------------------------------------------------------------


def with_any_argument(tables, functions):
    """Draw a function of the tables of bad input, and replace one of its arguments by anything."""
    calls = [
        table[name] for table in tables for name in table if name in functions or not functions
    ]
    return st.sampled_from(calls).flatmap(
        lambda call: st.tuples(
            st.just(call), st.sampled_from(sorted(call[1])), st.one_of(anything, numbers)
        )
    )


def one_argument(drawn):
    (function, good), argument, value = drawn
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", module="lightgbm|xgboost")
        assert called(function, **{**good, argument: value}) is not None


SLOW = ("GSearchCV", "compare_rankers")
QUICK = {
    name: call for name, call in SELECTION.items() if name not in (*SLOW, "load_digits_ranking")
}
FITS = {**{name: SELECTION[name] for name in SLOW}, **RANKERS}


@pytest.mark.slow
@fuzz(3, 0.98, drawn=with_any_argument([ANALYSES, QUICK], ()))
def test_any_argument_of_functions(drawn):
    """Measured as in the tables of bad input, with values that nobody thought of."""
    one_argument(drawn)


# All may be refused: few wild values suit an argument of a fit, and fits are too slow for many
# examples.
@pytest.mark.slow
@fuzz(0.5, 1.0, drawn=with_any_argument([FITS], ()))
def test_any_argument_of_rankers_and_searches(drawn):
    """Measured as in the tables of bad input, for rankers and searches."""
    one_argument(drawn)


# --- rankers --------------------------------------------------------------------------------------


@st.composite
def tiny_tasks(draw):
    n = draw(st.integers(4, 12))
    X = np.array(
        draw(
            st.lists(
                st.lists(
                    st.one_of(st.integers(-3, 3), st.floats(width=32, allow_infinity=False)),
                    min_size=2,
                    max_size=2,
                ),
                min_size=n,
                max_size=n,
            )
        )
    )
    y = draw(columns(st.integers(0, 2), n))
    qid = draw(columns(st.integers(0, 2), n))
    return X, y, qid


@pytest.mark.slow
@fuzz(
    0.5,
    drawn=tiny_tasks(),
    booster=st.sampled_from(["LGBMGAPRanker", "XGBGAPRanker"]),
    measure=st.sampled_from([m for m in SMOOTHED if m.k is None and m.n_grades in (None, 3)]),
    objective=st.sampled_from([gb.LambdaRank, gb.RankNet, gb.SoftRank, gb.ApproxRank]),
)
def test_no_constant_model_in_silence(drawn, booster, measure, objective):
    """The model is not constant if one split of the data has a gain at the first scores."""
    X, y, qid = drawn
    options = {"n_estimators": 2, "n_jobs": 1, "min_child_weight": 1e-9, "reg_lambda": 0.0}
    if booster == "LGBMGAPRanker":
        # Thresholds drawn at random may miss the one split that is worth something, in both trees.
        options |= {"verbose": -1, "extra_trees": False, "feature_pre_filter": False}
        ranker = LGBM(**options, min_child_samples=1, min_data_in_bin=1)
    else:
        ranker = XGB(**options, tree_method="exact")
    ranker.set_params(objective=objective(measure))
    called(ranker.fit, X, y, qid)
    scores = ranker.predict(X)
    assert np.isfinite(scores).all()
    grad, hess = ranker.objective_.gradients(y, np.zeros(len(X)), qid)
    worth = max((split_gain(X[:, f], grad, hess) for f in range(2)), default=0.0)
    assume(worth > 1e-3)
    assert len(np.unique(scores)) > 1


def split_gain(x, grad, hess):
    """The most that a split at a threshold of x gains, missing values left aside."""
    here = ~np.isnan(x)
    if not here.all():
        return 0.0
    gains = [0.0]
    for threshold in np.unique(x)[1:]:
        left = x < threshold
        apart = np.float32(threshold) - np.float32(x[left].max()) > 1e-3 * np.abs(x).max()
        # LightGBM counts the rows of a side by their share of the hessians
        share = min(hess[left].sum(), hess[~left].sum()) / hess.sum()
        if apart and share * len(x) >= 1:
            gains += [grad[side].sum() ** 2 / hess[side].sum() for side in (left, ~left)]
    return max(gains)
