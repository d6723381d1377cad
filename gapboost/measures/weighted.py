"""Sums of measures, where pickles of 0.1.0rc1 look for them."""

from gapboost.measures.measure import WeightedSum

__all__ = ["WeightedSum"]
