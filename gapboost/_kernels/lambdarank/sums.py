"""lam and eta of every document of one list, pair by pair or by running sums."""

from gapboost._kernels.jit import kernel
from gapboost._kernels.lambdarank.distance import TERMS as APART
from gapboost._kernels.lambdarank.distance import Decays, carry_apart, fill_decays
from gapboost._kernels.lambdarank.exponents import STRETCH, exponentials, find_anchors
from gapboost._kernels.lambdarank.form import CASCADE, Form, set_zero
from gapboost._kernels.lambdarank.memory import BLOCK, Memory
from gapboost._kernels.lambdarank.moments import LENGTH, Documents, Way, carry
from gapboost._kernels.lambdarank.pairs import sum_cascade, sum_pairs
from gapboost._kernels.lambdarank.swaps import fill_swaps
from gapboost._kernels.simd import LANES, Pointer, load8, store


@kernel
def sum_list(n: int, form: Form, by_pairs: bool, decays: Decays, memory: Memory) -> None:
    """Add lam and eta of all documents, from ``s`` and ``grade`` in memory."""
    s = memory.s
    # equal scores are at no distance: as in LightGBM and XGBoost, nothing is divided
    epsilon = decays.epsilon if s[0] > s[n - 1] else 0.0
    if form.kind == CASCADE:
        sum_cascade(n, form, epsilon, memory)
    elif by_pairs or (epsilon > 0.0 and s[0] - s[n - 1] > decays.farthest):
        set_zero(2 * form.width, memory.prefixes)
        fill_swaps(
            n, memory.grade, form.discount, form, memory.prefixes, memory.upper, memory.lower
        )
        sum_pairs(n, form, epsilon, memory)
    else:
        sum_moments(n, form, epsilon > 0.0, decays, memory)


@kernel
def sum_moments(n: int, form: Form, apart: bool, decays: Decays, memory: Memory) -> None:
    """Visit the list downwards and upwards, block by block."""
    width = form.width
    length = (3 * APART if apart else LENGTH) * width
    set_zero(2 * width, memory.prefixes)
    set_zero(length, memory.above)
    set_zero(length, memory.below)
    find_anchors(n, memory.s, decays.stretch if apart else STRETCH, memory.fall, memory.jump)
    if not apart:
        exponentials(n, memory.fall, memory.rise)
    documents = Documents(memory.grade, memory.jump, memory.lam, memory.eta)
    blocks = (n + BLOCK - 1) // BLOCK
    for k in range(2 * blocks):
        down = k < blocks
        block = k if down else 2 * blocks - 1 - k
        lo = block * BLOCK
        hi = min(n, lo + BLOCK)
        prefix = memory.prefixes + block * 2 * width
        if down:
            copy(2 * width, prefix, prefix + 2 * width)
            prefix = prefix + 2 * width
        if k != blocks:  # the last block has its swaps from the way down
            fill_swaps(
                hi - lo,
                memory.grade + lo,
                form.discount + lo,
                form,
                prefix,
                memory.upper,
                memory.lower,
            )
        if apart:
            fill_decays(lo, hi, decays, memory.fall, memory.powers)
        fall, rise = memory.fall, memory.rise
        if apart:
            fall, rise = memory.powers, memory.powers + BLOCK * APART
        if down:
            way = Way(
                step=1, lo=lo, hi=hi, receivers_end=n, givers_end=form.deep, at_receiver=fall,
                at_giver=rise, receiver_tables=memory.lower, giver_tables=memory.upper,
            )  # fmt: skip
        else:
            way = Way(
                step=-1, lo=lo, hi=hi, receivers_end=form.deep, givers_end=n, at_receiver=rise,
                at_giver=fall, receiver_tables=memory.upper, giver_tables=memory.lower,
            )  # fmt: skip
        moments = memory.above if down else memory.below
        if apart:
            carry_apart(way, form, documents, decays, moments)
        else:
            carry(way, form, documents, moments)


@kernel
def copy(n: int, source: Pointer, target: Pointer) -> None:
    """Copy ``n`` elements, a multiple of 8."""
    for i in range(0, n, LANES):
        store(target, i, load8(source, i))
