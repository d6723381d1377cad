"""Any value of any argument works, or raises a ValueError or TypeError."""

import warnings

import numpy as np
import pytest
from fuzzing import anything, called, fuzz, numbers
from good_calls import FUNCTIONS
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import gapboost as gb
from gapboost.measures import MEASURES_BY_NAME

pytestmark = pytest.mark.slow


def with_any_argument(calls):
    """Draw a function, and replace one of its good arguments by anything."""
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


TRAIN = ("GSearchCV", "compare_rankers", "GAPRanker")
FITS = [call for name, call in FUNCTIONS.items() if any(part in name for part in TRAIN)]
OTHERS = [
    call for name, call in FUNCTIONS.items() if call not in FITS and name != "load_digits_ranking"
]


@fuzz(3, 0.98, drawn=with_any_argument(OTHERS))
def test_functions(drawn):
    one_argument(drawn)


# All may be refused: few wild values suit an argument of a fit, and fits are too slow for many
# examples.
@fuzz(0.5, 1.0, drawn=with_any_argument(FITS))
def test_rankers_and_searches(drawn):
    one_argument(drawn)


@fuzz(
    3,
    0.98,
    kind=st.sampled_from(sorted(MEASURES_BY_NAME.values(), key=str)),
    name=st.sampled_from(["g", "k", "rel", "gains", "discount_by", "p", "t", "beta", "top"]),
    value=st.one_of(st.none(), numbers, st.lists(st.floats(0, 9), max_size=4), anything),
)
def test_parameters_of_measures(kind, name, value):
    """A measure that is made has finite values, and its `repr` makes it again."""
    measure = called(kind, **{name: value})
    again = eval(repr(measure), vars(gb))
    assert (again, hash(again)) == (measure, hash(measure))
    found = called(gb.evaluate, measure, [0, 1, 0], [1, 2, 3], per_query=True)
    assert np.isfinite(found[measure]).all()
