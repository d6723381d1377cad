"""Pointers, and vectors of 8 and 16 float64, for compiled loops too short for the compiler to vectorise.

LLVM splits the vectors into whatever registers the machine has, so nothing here depends on the instruction set.

Inner functions take pointers: an array argument costs seven words and two atomic reference counts in every call. A
pointer does not keep its array alive, so it may only be made in a function that got the array as an argument.
Offsets are in elements, and nothing is checked.
"""

import os
from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic, models, register_model

from gapboost.kernels.compile import kernel

Built = tuple[Any, Callable[..., Any]]


class Lanes(types.Type):
    """numba's view of a vector of ``width`` float64."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Lanes({width})")


@register_model(Lanes)
class LanesModel(models.PrimitiveModel):
    """A vector is held in registers: no boxing, no reference counts."""

    def __init__(self, manager: Any, kind: Lanes) -> None:
        super().__init__(manager, kind, ir.VectorType(ir.DoubleType(), kind.width))  # type: ignore[no-untyped-call]


EIGHT = Lanes(8)
SIXTEEN = Lanes(16)
INDEX = ir.IntType(32)


def _builtin(build: Callable[..., Built]) -> Callable[..., Any]:
    return cast(Callable[..., Any], intrinsic(build))


def _vector(width: int) -> ir.VectorType:
    return ir.VectorType(ir.DoubleType(), width)


def _address(builder: Any, pointer: Any, offset: Any, width: int) -> Any:
    return builder.bitcast(builder.gep(pointer, [offset]), _vector(width).as_pointer())


def _spread(builder: Any, scalar: Any, width: int) -> Any:
    first = builder.insert_element(ir.Constant(_vector(width), ir.Undefined), scalar, INDEX(0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(INDEX, width), [0] * width))


def _halves(builder: Any, vector: Any, width: int) -> Any:
    low, high = (
        builder.shuffle_vector(
            vector, vector, ir.Constant(ir.VectorType(INDEX, width), list(range(start, start + width)))
        )
        for start in (0, width)
    )
    return builder.fadd(low, high)


def _joined(builder: Any, low: Any, high: Any, width: int) -> Any:
    return builder.shuffle_vector(low, high, ir.Constant(ir.VectorType(INDEX, 2 * width), list(range(2 * width))))


def _call(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
    return builder.call(function, arguments)


def _loader(kind: Lanes) -> Callable[..., Built]:
    def load(typing: Any, source: Any, offset: Any) -> Built:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.load(_address(builder, args[0], args[1], kind.width), align=8)

        return kind(source, types.intp), code

    return load


def _storer(kind: Lanes) -> Callable[..., Built]:
    def store(typing: Any, target: Any, offset: Any, vector: Any) -> Built:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            builder.store(args[2], _address(builder, args[0], args[1], kind.width), align=8)
            return context.get_dummy_value()

        return types.void(target, types.intp, kind), code

    return store


def _splatter(kind: Lanes) -> Callable[..., Built]:
    def splat(typing: Any, scalar: Any) -> Built:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _spread(builder, args[0], kind.width)

        return kind(types.float64), code

    return splat


load8 = _builtin(_loader(EIGHT))
load16 = _builtin(_loader(SIXTEEN))
store8 = _builtin(_storer(EIGHT))
store16 = _builtin(_storer(SIXTEEN))
splat8 = _builtin(_splatter(EIGHT))
splat16 = _builtin(_splatter(SIXTEEN))


@_builtin
def pointer(typing: Any, array: Any) -> Built:
    """Address of the first element of a contiguous array."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.make_array(array)(context, builder, args[0]).data

    return types.CPointer(array.dtype)(array), code  # type: ignore[no-untyped-call]


@_builtin
def shift(typing: Any, source: Any, offset: Any) -> Built:
    """The pointer ``offset`` elements further."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.gep(args[0], [args[1]])

    return source(source, types.intp), code


@_builtin
def at(typing: Any, source: Any, offset: Any) -> Built:
    """The element ``offset`` elements further."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(builder.gep(args[0], [args[1]]))

    return source.dtype(source, types.intp), code


@_builtin
def put(typing: Any, target: Any, offset: Any, value: Any) -> Built:
    """Store ``value`` in the element ``offset`` elements further."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], builder.gep(args[0], [args[1]]))
        return context.get_dummy_value()

    return types.void(target, types.intp, target.dtype), code


@_builtin
def claim(typing: Any, counter: Any) -> Built:
    """Add 1 to an int64 that threads share; returns what it was. What was stored before is seen by whoever claims after."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.atomic_rmw("add", args[0], ir.Constant(ir.IntType(64), 1), "acq_rel")

    return types.int64(counter), code


@_builtin
def seen(typing: Any, counter: Any) -> Built:
    """An int64 that threads share, as it is now."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(args[0], "acquire", 8)

    return types.int64(counter), code


@_builtin
def pause(typing: Any) -> Built:
    """Let the other thread of the same core have its units for a moment."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if builder.module.triple.startswith("x86_64"):
            _call(builder, "llvm.x86.sse2.pause", ir.VoidType(), [])
        return context.get_dummy_value()

    return types.void(), code


@_builtin
def resign(typing: Any) -> Built:
    """Let other threads run on this core."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if os.name == "posix":
            _call(builder, "sched_yield", INDEX, [])
        return context.get_dummy_value()

    return types.void(), code


def _arithmetic(operation: str) -> Callable[..., Built]:
    def combine(typing: Any, x: Any, y: Any) -> Built:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return getattr(builder, operation)(*args)

        return x(x, x), code

    return combine


add = _builtin(_arithmetic("fadd"))
sub = _builtin(_arithmetic("fsub"))
mul = _builtin(_arithmetic("fmul"))
div = _builtin(_arithmetic("fdiv"))


@_builtin
def magnitude(typing: Any, x: Any) -> Built:
    """Absolute values."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _call(builder, f"llvm.fabs.v{x.width}f64", args[0].type, list(args))

    return x(x), code


@_builtin
def constant16(typing: Any, values: Any) -> Built:
    """Vector of a tuple of 16 numbers."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.Constant(_vector(16), ir.Undefined)
        for lane, value in enumerate(builder.extract_value(args[0], j) for j in range(16)):
            vector = builder.insert_element(vector, value, INDEX(lane))
        return vector

    return SIXTEEN(values), code


@_builtin
def fma(typing: Any, x: Any, y: Any, z: Any) -> Built:
    """``x * y + z``, rounded once where the machine can."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        # llvm.fma would become a slow library call on machines without the instruction
        return _call(builder, f"llvm.fmuladd.v{x.width}f64", args[0].type, list(args))

    return x(x, x, x), code


@_builtin
def powers(typing: Any, base: Any) -> Built:
    """``base**1 ... base**16``."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        # in vectors as short as will do: multiplications are what the sweeps wait for
        first = args[0]
        second = builder.fmul(first, first)
        fourth = builder.fmul(second, second)
        eighth = builder.fmul(fourth, fourth)
        pair = builder.insert_element(ir.Constant(_vector(2), ir.Undefined), first, INDEX(0))
        pair = builder.insert_element(pair, second, INDEX(1))
        four = _joined(builder, pair, builder.fmul(pair, _spread(builder, second, 2)), 2)
        eight = _joined(builder, four, builder.fmul(four, _spread(builder, fourth, 4)), 4)
        return _joined(builder, eight, builder.fmul(eight, _spread(builder, eighth, 8)), 8)

    return SIXTEEN(types.float64), code


@_builtin
def fold(typing: Any, vector: Any) -> Built:
    """Sum of the lower and the upper half."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _halves(builder, args[0], 8)

    return EIGHT(SIXTEEN), code


@_builtin
def total(typing: Any, vector: Any) -> Built:
    """Sum of the lanes."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        part = args[0]
        width = EIGHT.width
        while width > 1:
            width //= 2
            part = _halves(builder, part, width)
        return builder.extract_element(part, INDEX(0))

    return types.float64(EIGHT), code


@_builtin
def lane(typing: Any, vector: Any, number: Any) -> Built:
    """One of 8 lanes."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.extract_element(args[0], args[1])

    return types.float64(EIGHT, types.intp), code


@_builtin
def totals(typing: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any) -> Built:
    """The sum of the lanes of each of eight vectors, side by side: far fewer steps than `total` of each."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vectors = list(args)
        for width in (1, 2, 4):
            # where bit `width` of a lane's number is 0 from the first vector, where it is 1 from the second
            low = [lane - (lane & width) + (8 if lane & width else 0) for lane in range(8)]
            either = [ir.Constant(ir.VectorType(INDEX, 8), [x + shift for x in low]) for shift in (0, width)]
            vectors = [
                builder.fadd(*(builder.shuffle_vector(x, y, lanes) for lanes in either))
                for x, y in zip(vectors[::2], vectors[1::2], strict=True)
            ]
        return vectors[0]

    return EIGHT(*[EIGHT] * 8), code


@_builtin
def _pick(typing: Any, condition: Any, x: Any, y: Any) -> Built:
    """``x`` where the lane of ``condition`` is negative, else ``y``."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zero = ir.Constant(args[0].type, None)
        return builder.select(builder.fcmp_ordered("<", args[0], zero), args[1], args[2])

    return x(x, x, x), code


@_builtin
def _times_power(typing: Any, x: Any, shifted: Any) -> Built:
    """``x * 2**k`` where the low bits of the float64 ``shifted`` are the integer k."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        whole = ir.VectorType(ir.IntType(64), x.width)
        move = ir.Constant(whole, [52] * x.width)
        exponent = builder.shl(builder.bitcast(args[1], whole), move)
        return builder.bitcast(builder.add(builder.bitcast(args[0], whole), exponent), args[0].type)

    return x(x, x), code


LOG2E = 1.4426950408889634
LN2_HIGH = 6.93147180369123816490e-01
LN2_LOW = 1.90821492927058770002e-10
ROUNDER = 6755399441055744.0  # 1.5 * 2**52: adding it leaves the nearest integer in the low bits
FARTHEST = 700.0


@kernel
def decay8(x: Any) -> Any:
    """``exp(-x)`` to about 1e-15 for 0 <= x <= 700, as at these ends beyond. The C library's is not vectorised."""
    far = splat8(FARTHEST)
    x = _pick(x, splat8(0.0), x)
    x = _pick(sub(x, far), x, far)
    shifted = fma(x, splat8(-LOG2E), splat8(ROUNDER))
    k = sub(shifted, splat8(ROUNDER))
    r = sub(sub(splat8(0.0), x), mul(k, splat8(LN2_HIGH)))
    r = sub(r, mul(k, splat8(LN2_LOW)))
    p = fma(splat8(1.0 / 479001600.0), r, splat8(1.0 / 39916800.0))
    p = fma(p, r, splat8(1.0 / 3628800.0))
    p = fma(p, r, splat8(1.0 / 362880.0))
    p = fma(p, r, splat8(1.0 / 40320.0))
    p = fma(p, r, splat8(1.0 / 5040.0))
    p = fma(p, r, splat8(1.0 / 720.0))
    p = fma(p, r, splat8(1.0 / 120.0))
    p = fma(p, r, splat8(1.0 / 24.0))
    p = fma(p, r, splat8(1.0 / 6.0))
    p = fma(p, r, splat8(0.5))
    p = fma(p, r, splat8(1.0))
    p = fma(p, r, splat8(1.0))
    return _times_power(p, shifted)


@kernel
def decay(x: float) -> Any:
    """`decay8` of one number."""
    return lane(decay8(splat8(x)), 0)


def _integers(builder: Any, pointer: Any, offset: Any) -> Any:
    element = pointer.type.pointee
    address = builder.bitcast(builder.gep(pointer, [offset]), ir.VectorType(element, 8).as_pointer())
    return builder.load(address, align=element.width // 8)


def _spread_integer(builder: Any, scalar: Any) -> Any:
    vector = ir.VectorType(scalar.type, 8)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, INDEX(0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(INDEX, 8), [0] * 8))


@_builtin
def gather8(typing: Any, table: Any, numbers: Any, offset: Any) -> Built:
    """Element ``numbers[offset + j]``, which are unsigned, of a table in each lane j."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.Constant(_vector(8), ir.Undefined)
        for lane in range(8):
            number = builder.load(builder.gep(args[1], [builder.add(args[2], args[2].type(lane))]))
            # an index of fewer bits would be taken for a signed one
            number = builder.zext(number, args[2].type)
            vector = builder.insert_element(vector, builder.load(builder.gep(args[0], [number])), INDEX(lane))
        return vector

    return EIGHT(table, numbers, types.intp), code


@_builtin
def greater8(typing: Any, numbers: Any, offset: Any, number: Any) -> Built:
    """1 in each lane j where ``numbers[offset + j]``, not negative, is greater than ``number``, else 0."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        mine = _spread_integer(builder, args[2])
        mask = builder.icmp_unsigned(">", _integers(builder, args[0], args[1]), mine)
        return builder.select(mask, ir.Constant(_vector(8), [1.0] * 8), ir.Constant(_vector(8), [0.0] * 8))

    return EIGHT(numbers, types.intp, numbers.dtype), code


@_builtin
def replace8(typing: Any, vector: Any, numbers: Any, offset: Any, number: Any, value: Any) -> Built:
    """``value`` in each lane j where ``numbers[offset + j]`` is ``number``, the vector's own elsewhere."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        mask = builder.icmp_signed("==", _integers(builder, args[1], args[2]), _spread_integer(builder, args[3]))
        return builder.select(mask, _spread(builder, args[4], 8), args[0])

    return EIGHT(EIGHT, numbers, types.intp, numbers.dtype, types.float64), code


@_builtin
def keep8(typing: Any, vector: Any, start: Any, stop: Any) -> Built:
    """Lanes ``start <= j < stop``, zero in the others."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lanes = ir.Constant(ir.VectorType(ir.IntType(64), 8), list(range(8)))
        before = builder.icmp_signed("<", lanes, _spread_integer(builder, args[2]))
        behind = builder.icmp_signed(">=", lanes, _spread_integer(builder, args[1]))
        mask = builder.and_(before, behind)
        return builder.select(mask, args[0], ir.Constant(_vector(8), [0.0] * 8))

    return EIGHT(EIGHT, types.int64, types.int64), code


@_builtin
def outrank(typing: Any, scores: Any, ties: Any, offset: Any, score: Any, tie: Any) -> Built:
    """Bit j: element ``offset + j`` (j < 8) has a higher score, or the same and a smaller int64 in ``ties``."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        theirs = builder.load(_address(builder, args[0], args[2], 8), align=8)
        mine = _spread(builder, args[3], 8)
        earlier = builder.icmp_signed("<", _integers(builder, args[1], args[2]), _spread_integer(builder, args[4]))
        level = builder.and_(builder.fcmp_ordered("==", theirs, mine), earlier)
        wins = builder.or_(builder.fcmp_ordered(">", theirs, mine), level)
        return builder.zext(builder.bitcast(wins, ir.IntType(8)), ir.IntType(64))

    return types.int64(scores, ties, types.intp, types.float64, types.int64), code


@_builtin
def ones(typing: Any, value: Any) -> Built:
    """Number of bits set in an int64."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _call(builder, "llvm.ctpop.i64", ir.IntType(64), list(args))

    return types.int64(types.int64), code
