"""Pointers, and vectors of float64 for loops too short for LLVM to vectorize.

===========================  =====================================================================
``pointer(x, i)``            address of an array from element ``i`` on; ``p[i]``, ``p[i] = x``
``load(p, i, lanes)``        elements from ``i`` on, as many as the tuple ``lanes`` has
``store(p, i, v)``           write them back
``+ - * /``                  lane by lane, between vectors, or with a number on the left
``greater(v, w)``            the greater one of each lane
``first(n, v, w)``           ``v`` in the first ``n`` lanes, ``w`` in the others
``total(v)``                 the sum of the lanes
``times_power(x, whole)``    ``x * 2**whole`` for vectors or numbers, whole numbers above -1022
``decay(x)``                 ``exp(-x)`` for vectors or numbers from 0 to `FARTHEST`
===========================  =====================================================================

The number of lanes is part of a vector's type, and should be a power of 2: LLVM splits vectors into
the registers that the machine has. With ``NUMBA_DISABLE_JIT=1`` pointers and vectors are numpy's
arrays; ``+=`` would then change what another name holds, and is not defined.

A pointer does not keep its array alive, and no bounds are checked: it is only made in a function
that has the array as an argument. Arrays themselves cost seven words and two reference counts in
every call of a compiled function, which takes longer than what is done with a short list.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import config, types
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from gapboost._kernels.jit import inner_kernel

Built = tuple[Any, Callable[..., Any]]
Pointer = Any
Values = Sequence[ir.Value]
Lanes = tuple[float, ...]

EIGHT, SIXTEEN, THIRTY_TWO = (0.0,) * 8, (0.0,) * 16, (0.0,) * 32

LOG2E = 1.4426950408889634
LN2_HIGH = 6.93147180369123816490e-01
LN2_LOW = 1.90821492927058770002e-10
ROUNDER = 6755399441055744.0  # 1.5 * 2**52: adding and subtracting it rounds to a whole number
FARTHEST = 700.0


class VectorType(types.Type):
    """numba's type of a vector."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Vector({width})")


@register_model(VectorType)
class VectorModel(models.PrimitiveModel):
    """A vector is held in registers."""

    def __init__(self, manager: object, kind: VectorType) -> None:
        super().__init__(manager, kind, ir.VectorType(ir.DoubleType(), kind.width))


def _spread(builder: ir.IRBuilder, number: ir.Value, kind: ir.VectorType) -> ir.Value:
    index = ir.IntType(32)
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), number, index(0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(index, kind.count), None))


def _define(symbol: Callable[..., object], instruction: str) -> None:
    def kind_of(context: Any) -> Callable[..., types.Type | None]:
        return lambda x, y: y if isinstance(y, VectorType) and x in (y, types.float64) else None

    def code(context: object, builder: ir.IRBuilder, signature: Any, args: Values) -> ir.Value:
        x, y = args
        if signature.args[0] == types.float64:
            x = _spread(builder, x, y.type)
        return getattr(builder, instruction)(x, y, flags=("contract",))

    type_callable(symbol)(kind_of)
    for left in (VectorType, types.Float):
        lower_builtin(symbol, left, VectorType)(code)


_define(operator.add, "fadd")
_define(operator.sub, "fsub")
_define(operator.mul, "fmul")
_define(operator.truediv, "fdiv")


def _pointer(typing: object, x: "types.Array | types.CPointer", i: types.Type) -> Built:
    """Return the address of a contiguous array, or a pointer, from element ``i`` on."""

    def code(context: Any, builder: ir.IRBuilder, signature: object, args: Values) -> ir.Value:
        start = args[0]
        if isinstance(x, types.Array):
            start = context.make_array(x)(context, builder, start).data
        return builder.gep(start, [args[1]])

    return types.CPointer(x.dtype)(x, types.intp), code


def _place(builder: ir.IRBuilder, pointer: ir.Value, i: ir.Value, width: int) -> ir.Value:
    kind = ir.VectorType(ir.DoubleType(), width).as_pointer()
    return builder.bitcast(builder.gep(pointer, [i]), kind)


def _load(typing: object, pointer: types.Type, i: types.Type, lanes: types.UniTuple) -> Built:
    """Return elements from ``i`` on."""

    def code(context: object, builder: ir.IRBuilder, signature: object, args: Values) -> ir.Value:
        return builder.load(_place(builder, args[0], args[1], lanes.count), align=8)

    return VectorType(lanes.count)(pointer, types.intp, lanes), code


def _store(typing: object, pointer: types.Type, i: types.Type, vector: VectorType) -> Built:
    """Write elements from ``i`` on."""

    def code(context: Any, builder: ir.IRBuilder, signature: object, args: Values) -> ir.Value:
        builder.store(args[2], _place(builder, args[0], args[1], vector.width), align=8)
        return context.get_dummy_value()

    return types.void(pointer, types.intp, vector), code


def _greater(typing: object, vector: VectorType, other: VectorType) -> Built:
    """Return the greater one of each lane."""

    def code(context: object, builder: ir.IRBuilder, signature: object, args: Values) -> ir.Value:
        return builder.select(builder.fcmp_ordered(">", *args), *args)

    return vector(vector, other), code


def _first(typing: object, n: types.Type, vector: VectorType, other: VectorType) -> Built:
    """Return ``vector`` in the first ``n`` lanes, ``other`` in the others."""

    def code(context: object, builder: ir.IRBuilder, signature: object, args: Values) -> ir.Value:
        kind = ir.VectorType(ir.IntType(64), vector.width)
        numbers = ir.Constant(kind, list(range(vector.width)))
        chosen = builder.icmp_signed("<", numbers, _spread(builder, args[0], kind))
        return builder.select(chosen, args[1], args[2])

    return vector(types.intp, vector, other), code


def _total(typing: object, vector: VectorType) -> Built:
    """Return the sum of the lanes."""

    def code(context: object, builder: ir.IRBuilder, signature: object, args: Values) -> ir.Value:
        kind = ir.FunctionType(ir.DoubleType(), [ir.DoubleType(), args[0].type])
        name = f"llvm.vector.reduce.fadd.v{vector.width}f64"
        add = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
        return builder.call(add, [ir.DoubleType()(-0.0), args[0]], fastmath=("reassoc",))

    return types.float64(vector), code


def _times_power(typing: object, x: Any, whole: types.Type) -> Built:
    """Return ``x * 2**whole``."""

    def code(context: object, builder: ir.IRBuilder, signature: object, args: Values) -> ir.Value:
        kind = args[0].type
        bits = ir.IntType(64) if x == types.float64 else ir.VectorType(ir.IntType(64), x.width)
        # Adding 1.5 * 2**52 leaves a whole number in the low bits of a float64.
        rounder, places = ir.DoubleType()(ROUNDER), ir.IntType(64)(52)
        if x != types.float64:
            rounder, places = _spread(builder, rounder, kind), _spread(builder, places, bits)
        shifted = builder.bitcast(builder.fadd(args[1], rounder), bits)
        exponent = builder.shl(shifted, places)
        return builder.bitcast(builder.add(builder.bitcast(args[0], bits), exponent), kind)

    return x(x, x), code


pointer: Any = intrinsic(_pointer)
load: Any = intrinsic(_load)
store: Any = intrinsic(_store)
greater: Any = intrinsic(_greater)
first: Any = intrinsic(_first)
total: Any = intrinsic(_total)
times_power: Any = intrinsic(_times_power)
if config.DISABLE_JIT:  # type: ignore[attr-defined]
    pointer = lambda x, i: x.reshape(-1)[i:]  # noqa: E731
    load = lambda x, i, lanes: x[i : i + len(lanes)].copy()  # noqa: E731
    store = lambda x, i, vector: x.__setitem__(slice(i, i + len(vector)), vector)  # noqa: E731
    greater = np.maximum
    first = lambda n, v, w: np.where(np.arange(len(v)) < n, v, w)  # noqa: E731
    total = np.sum
    times_power = lambda x, whole: np.ldexp(x, np.int64(whole))  # noqa: E731


@inner_kernel
def decay(x: Any) -> Any:
    """``exp(-x)`` to about 1e-15.

    exp(-x) = 2**k exp(r) with the whole number k nearest to -x / ln 2, and the Taylor sum of exp(r)
    for abs(r) <= ln 2 / 2.
    """
    k = -ROUNDER + (ROUNDER + -LOG2E * x)
    r = -LN2_LOW * k + (-LN2_HIGH * k + -1.0 * x)
    p = 1.0 / 39916800.0 + (1.0 / 479001600.0) * r
    p = 1.0 / 3628800.0 + p * r
    p = 1.0 / 362880.0 + p * r
    p = 1.0 / 40320.0 + p * r
    p = 1.0 / 5040.0 + p * r
    p = 1.0 / 720.0 + p * r
    p = 1.0 / 120.0 + p * r
    p = 1.0 / 24.0 + p * r
    p = 1.0 / 6.0 + p * r
    p = 0.5 + p * r
    p = 1.0 + p * r
    p = 1.0 + p * r
    return times_power(p, k)
