"""Values of measures that differ by rounding alone: the rule on ties of all analyses.

A value is a sum over ranks, a mean is a sum over queries, and a sum changes in its last digits with
the order and the form of its terms: what is equal by definition is often not equal as numbers. Sums
over 3 000 documents differ so by some 100 units in the last place of a float64, over 30 000 by some
1 000. Different rankings differ by more: two neighbors at rank 100 000 that change places change
average precision and nDCG by about 1e-10. (Discounts that fall exponentially end sooner: RBP with p
= 0.5 at rank 40.) So values within 1e-12 of the largest one are tied. The largest one sets the
scale, as a value near 0 may be what is left of large terms.
"""

from typing import Any

import numpy as np

from gapboost._kernels import Array

ROUNDING = 1e-12


def rounding(values: Array, axis: Any = None) -> Array:
    """Return the largest difference of two of `values` that counts as a tie, along `axis`."""
    largest: Array = np.abs(values).max(axis=axis)
    return ROUNDING * largest


def settled(values: Array, within: Any = None) -> Array:
    """Return `values` of shape (n,), with tied values set to the least of them.

    `within` is the largest difference that is a tie, where the values are themselves differences;
    None: as `rounding` says.
    """
    allowed = rounding(values) if within is None else within
    order = np.argsort(values, kind="stable")
    ascending = values[order].tolist()
    # Not from neighbor to neighbor: a chain of ties would tie its ends.
    least = ascending[0]
    for place, value in enumerate(ascending):
        least = value if value - least > allowed else least
        ascending[place] = least
    equal = np.empty(len(values))
    equal[order] = ascending
    return equal
