"""The numpy code that the guide gives to services computes the same features."""

from pathlib import Path

import numpy as np
import pytest
from blocks import run, sections

from gapboost.preprocessing import query_relative_features

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "query_features.md"
CODE = {"zscore": "query_zscores", "rank": "query_ranks"}


@pytest.mark.filterwarnings("ignore:(All-NaN|Mean of empty|Degrees of freedom|invalid value)")
@pytest.mark.parametrize("n", [1, 2, 50])
@pytest.mark.parametrize("kind", CODE)
def test_the_code_of_the_guide(kind, n):
    (blocks,) = (section.of("python") for section in sections(PAGE) if section.title == "Serve it")
    function = run(blocks)[CODE[kind]]
    X = np.random.default_rng(0).normal(size=(n, 6))
    X[:, 1], X[:, 2], X[0, 3], X[:, 4] = np.round(X[:, 1]), 7.0, np.nan, np.nan
    expected = query_relative_features(X, group=[n], kinds=[kind])[:, 6:]
    np.testing.assert_allclose(function(X), expected, rtol=1e-12, atol=1e-12)
