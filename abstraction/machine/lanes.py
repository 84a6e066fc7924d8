"""Explicit vectors of sixteen numbers, for loops that LLVM's vectorizer leaves scalar.

An array of numbers is cut into *blocks* of `LANES` numbers, so an array of blocks has the shape [num_blocks, 16]. In
kernels, `load` reads a block as a vector; vectors of one dtype are added, subtracted, multiplied and divided with the
usual operators. Arrays of blocks must be C-contiguous, of float32 or float64. Indices are not checked. With
``NUMBA_DISABLE_JIT=1``, a vector is a numpy array of 16 numbers.
"""

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import config as _config
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from plurispiel.abstraction.machine.jit import kernel

LANES = 16
"""How many numbers a vector holds: sixteen float32 fill one AVX-512 register."""


class _Lanes(types.Type):
    """A vector of `LANES` numbers."""

    def __init__(self, dtype: types.Float):
        self.dtype = dtype
        super().__init__(name=f"lanes({dtype})")


@register_model(_Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, lanes):
        super().__init__(manager, lanes, _vector(lanes))


def _element(lanes: Any) -> ir.Type:
    return ir.FloatType() if lanes.dtype == types.float32 else ir.DoubleType()


def _vector(lanes: Any) -> ir.Type:
    return ir.VectorType(_element(lanes), LANES)


def _pointer(context, builder, array_type, array, index):
    """Return the address of a block as a pointer to a vector."""
    data = context.make_array(array_type)(context, builder, array).data
    offset = builder.mul(index, ir.Constant(index.type, LANES))
    return builder.bitcast(builder.gep(data, [offset]), _vector(array_type).as_pointer())


def _is_blocks(array) -> bool:
    return isinstance(array, types.Array) and array.ndim == 2 and array.layout == "C"


def _load(builder, pointer):
    vector = builder.load(pointer)
    vector.align = 4  # LLVM would assume a multiple of the vector's size, but any multiple of 4 bytes is allowed
    return vector


def _store(builder, vector, pointer):
    builder.store(vector, pointer).align = 4


@intrinsic
def _compiled_load(typing_context, blocks, index):
    if not _is_blocks(blocks):
        return None

    def codegen(context, builder, signature, arguments):
        return _load(builder, _pointer(context, builder, signature.args[0], *arguments))

    return _Lanes(blocks.dtype)(blocks, types.intp), codegen


@intrinsic
def _compiled_store(typing_context, blocks, index, vector):
    if not _is_blocks(blocks):
        return None

    def codegen(context, builder, signature, arguments):
        array, place, value = arguments
        _store(builder, value, _pointer(context, builder, signature.args[0], array, place))
        return context.get_dummy_value()

    return types.none(blocks, types.intp, _Lanes(blocks.dtype)), codegen


@intrinsic
def _compiled_spread(typing_context, blocks, number):
    if not _is_blocks(blocks):
        return None

    def codegen(context, builder, signature, arguments):
        vector = ir.Constant(_vector(signature.return_type), ir.Undefined)
        vector = builder.insert_element(vector, arguments[1], ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return builder.shuffle_vector(vector, vector, zeros)

    return _Lanes(blocks.dtype)(blocks, blocks.dtype), codegen


@intrinsic
def _compiled_where_positive(typing_context, vector, positive, other):
    def codegen(context, builder, signature, arguments):
        zero = ir.Constant(_vector(signature.return_type), [0.0] * LANES)
        return builder.select(builder.fcmp_ordered(">", arguments[0], zero), arguments[1], arguments[2])

    return vector(vector, vector, vector), codegen


@intrinsic
def _compiled_larger(typing_context, vector, other):
    def codegen(context, builder, signature, arguments):
        first, second = arguments
        return builder.select(builder.fcmp_ordered(">", first, second), first, second)

    return vector(vector, vector), codegen


@intrinsic
def _compiled_smallest(typing_context, vector):
    def codegen(context, builder, signature, arguments):
        (found,) = arguments
        half = LANES // 2
        while half:
            low, high = (
                builder.shuffle_vector(
                    found, found, ir.Constant(ir.VectorType(ir.IntType(32), half), list(range(start, start + half)))
                )
                for start in (0, half)
            )
            found = builder.select(builder.fcmp_ordered("<", low, high), low, high)
            half //= 2
        return builder.extract_element(found, ir.Constant(ir.IntType(32), 0))

    return vector.dtype(vector), codegen


@intrinsic
def _compiled_transpose_in(typing_context, source, rows, first, shift, target, into):
    def codegen(context, builder, signature, arguments):
        source_value, rows_value, first_value, shift_value, target_value, into_value = arguments
        vectors = []
        for lane in range(LANES):
            place = _row_index(context, builder, signature.args[1], rows_value, first_value, shift_value, lane)
            vectors.append(_load(builder, _pointer(context, builder, signature.args[0], source_value, place)))
        for lane, vector in enumerate(_transposed(builder, vectors)):
            place = builder.add(into_value, ir.Constant(into_value.type, lane))
            _store(builder, vector, _pointer(context, builder, signature.args[4], target_value, place))
        return context.get_dummy_value()

    return types.none(source, rows, types.intp, types.intp, target, types.intp), codegen


@intrinsic
def _compiled_transpose_out(typing_context, source, start, target, rows, first, shift):
    def codegen(context, builder, signature, arguments):
        source_value, start_value, target_value, rows_value, first_value, shift_value = arguments
        vectors = []
        for lane in range(LANES):
            place = builder.add(start_value, ir.Constant(start_value.type, lane))
            vectors.append(_load(builder, _pointer(context, builder, signature.args[0], source_value, place)))
        for lane, vector in enumerate(_transposed(builder, vectors)):
            place = _row_index(context, builder, signature.args[3], rows_value, first_value, shift_value, lane)
            _store(builder, vector, _pointer(context, builder, signature.args[2], target_value, place))
        return context.get_dummy_value()

    return types.none(source, types.intp, target, rows, types.intp, types.intp), codegen


@intrinsic
def _compiled_transpose_out_times(
    typing_context, source, start, target, rows, first, shift, factors, factor_rows, products
):
    def codegen(context, builder, signature, arguments):
        source_value, start_value, target_value, rows_value, first_value, shift_value, *others = arguments
        factors_value, factor_rows_value, products_value = others
        types_of = signature.args
        vectors = []
        for lane in range(LANES):
            place = builder.add(start_value, ir.Constant(start_value.type, lane))
            vectors.append(_load(builder, _pointer(context, builder, types_of[0], source_value, place)))
        for lane, vector in enumerate(_transposed(builder, vectors)):
            place = _row_index(context, builder, types_of[3], rows_value, first_value, shift_value, lane)
            _store(builder, vector, _pointer(context, builder, types_of[2], target_value, place))
            other = _row_index(context, builder, types_of[7], factor_rows_value, first_value, shift_value, lane)
            factor = _load(builder, _pointer(context, builder, types_of[6], factors_value, other))
            product = builder.fmul(vector, factor)
            _store(builder, product, _pointer(context, builder, types_of[8], products_value, place))
        return context.get_dummy_value()

    signature = source, types.intp, target, rows, types.intp, types.intp, factors, factor_rows, products
    return types.none(*signature), codegen


def _row_index(context, builder, rows_type, rows, first, shift, lane):
    """Return ``rows[first + lane] + shift``."""
    data = context.make_array(rows_type)(context, builder, rows).data
    place = builder.gep(data, [builder.add(first, ir.Constant(first.type, lane))])
    return builder.add(builder.load(place), shift)


def _transposed(builder, vectors):
    """Return the transpose of sixteen vectors; four rounds exchange single lanes, pairs, fours and eights."""
    distance = 1
    while distance < LANES:
        low = [k if not k & distance else LANES + k - distance for k in range(LANES)]
        high = [k + distance if not k & distance else LANES + k for k in range(LANES)]
        masks = [ir.Constant(ir.VectorType(ir.IntType(32), LANES), mask) for mask in (low, high)]
        exchanged = list(vectors)
        for k in range(LANES):
            if not k & distance:
                pair = vectors[k], vectors[k + distance]
                exchanged[k] = builder.shuffle_vector(*pair, masks[0])
                exchanged[k + distance] = builder.shuffle_vector(*pair, masks[1])
        vectors = exchanged
        distance *= 2
    return vectors


def _define_sign(sign, instruction: str) -> None:
    @type_callable(sign)
    def _(context):
        def typer(first, second):
            return first if isinstance(first, _Lanes) and first == second else None

        return typer

    @lower_builtin(sign, _Lanes, _Lanes)
    def _(context, builder, signature, arguments):
        return getattr(builder, instruction)(*arguments)


for _sign, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _define_sign(_sign, _instruction)


def _plain_transpose_in(source, rows, first, shift, target, into):
    target[into : into + LANES] = source[rows[first : first + LANES] + shift].T


def _plain_transpose_out(source, start, target, rows, first, shift):
    target[rows[first : first + LANES] + shift] = source[start : start + LANES].T


def _plain_transpose_out_times(source, start, target, rows, first, shift, factors, factor_rows, products):
    for lane in range(LANES):
        row, factor_row = rows[first + lane] + shift, factor_rows[first + lane] + shift
        target[row] = source[start : start + LANES, lane]
        products[row] = source[start : start + LANES, lane] * factors[factor_row]


def _plain_store(blocks, index, vector):
    blocks[index] = vector


_PLAIN = bool(_config.DISABLE_JIT)

load = (lambda blocks, index: blocks[index].copy()) if _PLAIN else _compiled_load
"""``load(blocks, index)``: a block as a vector."""

store = _plain_store if _PLAIN else _compiled_store
"""``store(blocks, index, vector)``: write a vector to a block."""

spread = (lambda blocks, number: np.full(LANES, number, blocks.dtype)) if _PLAIN else _compiled_spread
"""``spread(blocks, number)``: a vector that repeats one number; `number` must have the dtype of `blocks`."""

where_positive = (lambda vector, a, b: np.where(vector > 0, a, b)) if _PLAIN else _compiled_where_positive
"""``where_positive(vector, a, b)``: `a` in the lanes where `vector` is above 0, `b` in the others."""

larger = np.maximum if _PLAIN else _compiled_larger
"""``larger(a, b)``: the larger number in each lane."""

smallest = np.min if _PLAIN else _compiled_smallest
"""``smallest(vector)``: the smallest of a vector's numbers."""

transpose_in = _plain_transpose_in if _PLAIN else _compiled_transpose_in
"""``transpose_in(source, rows, first, shift, target, into)``: gather 16 blocks, and write them transposed. For j and k
in 0..15, lane j of block ``rows[first + k] + shift`` of `source` is copied to lane k of block ``into + j`` of `target`.
`rows` is an int64 array of block indices."""

transpose_out = _plain_transpose_out if _PLAIN else _compiled_transpose_out
"""``transpose_out(source, start, target, rows, first, shift)``: the reverse of `transpose_in`. For j and k in 0..15,
lane k of block ``start + j`` of `source` is copied to lane j of block ``rows[first + k] + shift`` of `target`."""

transpose_out_times = _plain_transpose_out_times if _PLAIN else _compiled_transpose_out_times
"""``transpose_out_times(source, start, target, rows, first, shift, factors, factor_rows, products)``: as
`transpose_out`, for one k after the other. For each k, first the block of `target` is written. Then the product of this
block and block ``factor_rows[first + k] + shift`` of `factors` is written to block ``rows[first + k] + shift`` of
`products`. The array `products` may be `target` or `factors`."""


@kernel(inline=True)
def clear(blocks, first, count):
    """Set the blocks first..first+count-1 to 0. Modified in place: `blocks`."""
    zeros = spread(blocks, blocks.dtype.type(0))
    for block in range(first, first + count):
        store(blocks, block, zeros)


def blocks_for(count: int) -> int:
    """Return the number of blocks that hold `count` numbers."""
    return -(-count // LANES)


def empty_blocks(count: int, dtype: np.dtype | type) -> np.ndarray:
    """Return `count` blocks of zeros as an array [count, 16] that begins at a cache line, a multiple of 64 bytes."""
    return _zeros(count * LANES, np.dtype(dtype), 64).reshape(count, LANES)


def empty_pages(count: int, dtype: np.dtype | type) -> np.ndarray:
    """Return blocks as `empty_blocks` does, on pages of their own.

    Writing to the blocks does not slow threads that write to other arrays.
    """
    in_page = _PAGE // np.dtype(dtype).itemsize
    return _zeros(-(-count * LANES // in_page) * in_page, np.dtype(dtype), _PAGE)[: count * LANES].reshape(count, LANES)


_PAGE = 4096


def _zeros(count: int, dtype: np.dtype, boundary: int) -> np.ndarray:
    """Return `count` zeros that begin at a multiple of `boundary` bytes."""
    raw = np.zeros(count + boundary // dtype.itemsize, dtype)
    start = -raw.ctypes.data % boundary // dtype.itemsize
    return raw[start : start + count]
