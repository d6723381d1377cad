"""Exponentials of scores relative to an anchor, and logistic factors as polynomials.

With u = e^-x these are t = u / (1 + u) and t (1 - t) = u / (1 + u)**2.

The anchor is the highest score of a stretch of at most `STRETCH`, so that 16 powers of the
exponentials stay far from overflow. ``jump[r] > 0`` marks the first document of a stretch: running
sums move from the anchor before to its own.
"""

import math

from gapboost._kernels.jit import kernel
from gapboost._kernels.simd import LANES, Pointer, every8, load8, store
from gapboost._kernels.simd.exponential import FARTHEST, decay8

STRETCH = 30.0

# f(u) / u for f = u / (1 + u) and f = u / (1 + u)**2, by powers of u. Interpolated at the 16
# Chebyshev nodes of [0, 1], and converted from Chebyshev polynomials with 50 digits: the conversion
# in double precision would lose some.
# Largest errors on [0, 1]: 1.2e-12 and 1.4e-11. With 14 terms they are 4e-11 and 4e-10, with 12
# terms 1e-9 and 1e-8.
# fmt: off
LOGISTIC = (
    0.9999999999988722, -0.9999999994214706, 0.9999999503423298, -0.9999983012831976,
    0.999969207168507, -0.9996588699451417, 0.9974865093815845, -0.9869827879753738,
    0.9507449491239466, -0.8597950790654627, 0.6922558447472031, -0.46596908670695636,
    0.24460160601541056, -0.09202832701569903, 0.021796182714244505, -0.0024217980793605006,
)
SLOPE = (
    0.9999999999861133, -1.9999999928750298, 2.999999387950267, -3.9999790322591444,
    4.999619077095007, -5.995766882158609, 6.968675937369417, -7.836822683200376, 8.377583286926091,
    -8.208398048129325, 7.005163833656636, -4.910990502715944, 2.6511049610325683,
    -1.016963684711258, 0.24417385954021228, -0.027399517513285867,
)
# fmt: on


@kernel
def decay(distance: float) -> float:
    """``exp(-distance)``, 0 where nothing of it is left."""
    return math.exp(-distance) if distance < FARTHEST else 0.0


@kernel
def find_anchors(n: int, s: Pointer, stretch: float, distance: Pointer, jump: Pointer) -> None:
    """Fill the distances of falling scores ``s`` (times sigma) from their anchors.

    ``jump`` is the distance of a new anchor from the one before, 0 for other documents.
    """
    anchor = s[0]
    for r in range(n):
        jump[r] = 0.0
        if anchor - s[r] > stretch:
            jump[r] = anchor - s[r]
            anchor = s[r]
        distance[r] = anchor - s[r]


@kernel
def exponentials(n: int, fall: Pointer, rise: Pointer) -> None:
    """Replace distances from anchors by ``fall``, exp(-distance), and ``rise``, its inverse.

    The arrays have room for 8 elements beyond ``n``.
    """
    for r in range(0, n, LANES):
        e = decay8(load8(fall, r))
        store(fall, r, e)
        store(rise, r, every8(1.0) / e)
