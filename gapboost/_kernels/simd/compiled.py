"""The primitives of `gapboost._kernels.simd` as numba compiles them.

Products and sums may contract to fused operations where the machine has them; nothing else about
the arithmetic is relaxed.
"""

import operator
from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, models, register_model

Built = tuple[Any, Callable[..., Any]]

INDEX = ir.IntType(32)
CONTRACT = ("contract",)


class VectorType(types.Type):
    """numba's view of a vector of ``width`` float64."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Vector({width})")


@register_model(VectorType)
class VectorModel(models.PrimitiveModel):
    """A vector is held in registers: no boxing, no reference counts."""

    def __init__(self, manager: Any, kind: VectorType) -> None:
        super().__init__(manager, kind, _vector(kind.width))


EIGHT = VectorType(8)
SIXTEEN = VectorType(16)


def _builtin(build: Callable[..., Built]) -> Callable[..., Any]:
    return cast(Callable[..., Any], intrinsic(build))


def _vector(width: int, element: Any = None) -> ir.VectorType:
    return ir.VectorType(element or ir.DoubleType(), width)


def _constant(values: list[float]) -> ir.Constant:
    return ir.Constant(_vector(len(values)), values)


def _spread(builder: Any, scalar: Any, width: int) -> Any:
    first = builder.insert_element(ir.Constant(_vector(width), ir.Undefined), scalar, INDEX(0))
    return builder.shuffle_vector(first, first, ir.Constant(_vector(width, INDEX), [0] * width))


def _pick(builder: Any, low: Any, high: Any, numbers: list[int]) -> Any:
    """Lanes of two vectors side by side, by number."""
    return builder.shuffle_vector(low, high, ir.Constant(_vector(len(numbers), INDEX), numbers))


def _emit_call(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
    return builder.call(function, arguments)


# Arithmetic and comparisons, with vectors and numbers in any order.


def _arithmetic(name: str) -> Callable[..., Any]:
    def combine(builder: Any, x: Any, y: Any) -> Any:
        return getattr(builder, name)(x, y, flags=CONTRACT)

    return combine


def _comparison(symbol: str) -> Callable[..., Any]:
    def compare(builder: Any, x: Any, y: Any) -> Any:
        one, zero = _constant([1.0] * x.type.count), _constant([0.0] * x.type.count)
        return builder.select(builder.fcmp_ordered(symbol, x, y), one, zero)

    return compare


BINARY = {
    operator.add: _arithmetic("fadd"),
    operator.sub: _arithmetic("fsub"),
    operator.mul: _arithmetic("fmul"),
    operator.truediv: _arithmetic("fdiv"),
    operator.gt: _comparison(">"),
    operator.lt: _comparison("<"),
    operator.eq: _comparison("=="),
}
IN_PLACE = {operator.add: operator.iadd, operator.sub: operator.isub, operator.mul: operator.imul}


class _BetweenVectors(AbstractTemplate):
    """The type of an operator between vectors, or a vector and a number."""

    def generic(self, args: Any, kws: Any) -> Any:
        vectors = [kind for kind in args if isinstance(kind, VectorType)]
        if vectors and all(isinstance(kind, VectorType | types.Number) for kind in args):
            # numba converts whole numbers to what the signature says
            kinds = [kind if isinstance(kind, VectorType) else types.float64 for kind in args]
            return signature(vectors[0], *kinds)
        return None


def _define(symbol: Any, combine: Callable[..., Any]) -> None:
    infer_global(symbol)(type(f"_{symbol.__name__}", (_BetweenVectors,), {}))

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        width = signature.return_type.width
        x, y = (
            arg if isinstance(kind, VectorType) else _spread(builder, arg, width)
            for kind, arg in zip(signature.args, args, strict=True)
        )
        return combine(builder, x, y)

    for kinds in ((VectorType, VectorType), (VectorType, types.Float), (types.Float, VectorType)):
        lower_builtin(symbol, *kinds)(code)


for _symbol, _combine in BINARY.items():
    _define(_symbol, _combine)
for _symbol, _in_place in IN_PLACE.items():
    _define(_in_place, BINARY[_symbol])


@infer_global(abs)
class _Absolute(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(args[0], args[0]) if isinstance(args[0], VectorType) else None


@lower_builtin(abs, VectorType)
def _absolute(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return _emit_call(builder, f"llvm.fabs.v{args[0].type.count}f64", args[0].type, list(args))


@_builtin
def where(typing: Any, condition: Any, x: Any, y: Any) -> Built:
    """``x`` in the lanes where ``condition`` is not 0.0, else ``y``; all of them vectors."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zero = ir.Constant(args[0].type, None)
        return builder.select(builder.fcmp_unordered("!=", args[0], zero), args[1], args[2])

    return condition(condition, condition, condition), code


# Pointers. numba itself knows how to index them.


@_builtin
def pointer(typing: Any, array: Any) -> Built:
    """Address of the first element of a contiguous array."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.make_array(array)(context, builder, args[0]).data

    return types.CPointer(array.dtype)(array), code


@infer_global(operator.add)
class _Further(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if isinstance(args[0], types.CPointer) and isinstance(args[1], types.Integer):
            return signature(args[0], args[0], types.intp)
        return None


@lower_builtin(operator.add, types.CPointer, types.Integer)
def _further(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.gep(args[0], [args[1]])


def _address(builder: Any, pointer: Any, offset: Any, width: int) -> Any:
    kind = _vector(width, pointer.type.pointee).as_pointer()
    return builder.bitcast(builder.gep(pointer, [offset]), kind)


def _load_of(kind: VectorType) -> Callable[..., Built]:
    def load(typing: Any, source: Any, offset: Any) -> Built:
        element = source.dtype

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            address = _address(builder, args[0], args[1], kind.width)
            loaded = builder.load(address, align=element.bitwidth // 8)
            if isinstance(element, types.Float):
                return loaded
            convert = builder.sitofp if element.signed else builder.uitofp
            return convert(loaded, _vector(kind.width))

        return kind(source, types.intp), code

    return load


load8 = _builtin(_load_of(EIGHT))
load16 = _builtin(_load_of(SIXTEEN))


@_builtin
def store(typing: Any, target: Any, offset: Any, vector: Any) -> Built:
    """Write a vector to ``target[offset], target[offset + 1], ...``, float64."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], _address(builder, args[0], args[1], vector.width), align=8)
        return context.get_dummy_value()

    return types.void(target, types.intp, vector), code


# Constructors and sums.


@_builtin
def every8(typing: Any, x: Any) -> Built:
    """``x`` in all of 8 lanes."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _spread(builder, args[0], 8)

    return EIGHT(types.float64), code


@_builtin
def counting(typing: Any, start: Any) -> Built:
    """``start, start + 1, ..., start + 7``."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        first = _spread(builder, builder.sitofp(args[0], ir.DoubleType()), 8)
        return builder.fadd(first, _constant([float(lane) for lane in range(8)]))

    return EIGHT(types.int64), code


@_builtin
def vector16(typing: Any, numbers: Any) -> Built:
    """A tuple of 16 numbers."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.Constant(_vector(16), ir.Undefined)
        for lane in range(16):
            scalar = builder.extract_value(args[0], lane)
            vector = builder.insert_element(vector, scalar, INDEX(lane))
        return vector

    return SIXTEEN(numbers), code


@_builtin
def powers(typing: Any, base: Any) -> Built:
    """``base**1 ... base**16``."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        # The sweeps wait for the longest chain of multiplications: doubling the lanes makes it 4.
        highest = args[0]
        vector = _spread(builder, highest, 1)
        for width in (1, 2, 4, 8):
            further = builder.fmul(vector, _spread(builder, highest, width))
            vector = _pick(builder, vector, further, list(range(2 * width)))
            highest = builder.fmul(highest, highest)
        return vector

    return SIXTEEN(types.float64), code


def _halves(builder: Any, vector: Any) -> Any:
    half = vector.type.count // 2
    low = _pick(builder, vector, vector, list(range(half)))
    high = _pick(builder, vector, vector, list(range(half, 2 * half)))
    return builder.fadd(low, high)


@_builtin
def fold(typing: Any, vector: Any) -> Built:
    """Sum of the lower and the upper half."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _halves(builder, args[0])

    return EIGHT(SIXTEEN), code


@_builtin
def total(typing: Any, vector: Any) -> Built:
    """Sum of the lanes."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        part = args[0]
        while part.type.count > 1:
            part = _halves(builder, part)
        return builder.extract_element(part, INDEX(0))

    return types.float64(vector), code


@_builtin
def number(typing: Any, vector: Any) -> Built:
    """Number of lanes, of 8, that are not 0.0."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        mask = builder.fcmp_unordered("!=", args[0], ir.Constant(args[0].type, None))
        bits = builder.zext(builder.bitcast(mask, ir.IntType(8)), ir.IntType(64))
        return _emit_call(builder, "llvm.ctpop.i64", ir.IntType(64), [bits])

    return types.int64(EIGHT), code


@_builtin
def times_power(typing: Any, x: Any, exponents: Any) -> Built:
    """``x * 2**exponents`` for whole exponents of at most 1022."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        whole = _vector(x.width, ir.IntType(64))
        # Adding 1.5 * 2**52 leaves a whole number in the low bits of a float64.
        shifted = builder.fadd(args[1], _constant([6755399441055744.0] * x.width))
        exponent = builder.shl(builder.bitcast(shifted, whole), ir.Constant(whole, [52] * x.width))
        return builder.bitcast(builder.add(builder.bitcast(args[0], whole), exponent), args[0].type)

    return x(x, x), code
