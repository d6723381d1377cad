"""A property as a test that counts refusals, and the values that fuzzing puts in."""

from collections import Counter

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

# Warnings are errors in tests.
REFUSALS = (ValueError, TypeError, DataConversionWarning)


class Refused(Exception):
    """The input was refused in the way it should be."""


def called(function, *arguments, **named):
    """Return the result, or `Refused` for a ValueError or TypeError with a message."""
    try:
        return function(*arguments, **named)
    except REFUSALS as error:
        raise Refused(error) from error


def fuzz(share=1.0, most_refused=0.8, **strategies):
    """A test of one property, over a share of the examples that the profile asks for.

    It fails if more than a share of the examples is refused: they would test nothing else.
    """
    at_most = max(5, int(share * settings.default.max_examples))
    unchecked = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

    def decorate(holds):
        def test():
            count = Counter()

            @settings(max_examples=at_most, suppress_health_check=unchecked)
            @given(**strategies)
            def run(**drawn):
                count["examples"] += 1
                try:
                    holds(**drawn)
                except Refused:
                    count["refused"] += 1

            run()
            assert count["refused"] <= most_refused * count["examples"], count

        return test

    return decorate


numbers = st.one_of(
    st.integers(-3, 20),
    st.floats(),
    st.sampled_from([-0.0, 5e-324, 1e300, -1e300, 2.0**53, 1e-12]),
    st.sampled_from([np.float32(0.1), np.int8(3), np.uint64(2), np.bool_(True), np.float64("nan")]),
)
ODD = [pd.NA, pd.NaT, np.datetime64("NaT", "s"), np.datetime64("2020-01-01"), object, len, Ellipsis]
scalars = st.one_of(
    numbers,
    st.none(),
    st.booleans(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.complex_numbers(),
    st.sampled_from(ODD),
)
# Whatever somebody could pass by mistake; small, so that what works works fast.
anything = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.one_of(st.text(max_size=2), st.integers(0, 3)), inner, max_size=3),
        st.lists(numbers, max_size=5).map(np.array),
        st.lists(scalars, max_size=4).map(lambda values: pd.Series(values, dtype=object)),
        st.integers(0, 3).flatmap(
            lambda n: st.sampled_from([np.zeros((n, 2)), np.ones((2, n, 1)), np.full(n, np.nan)])
        ),
    ),
    max_leaves=6,
)
