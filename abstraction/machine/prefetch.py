"""Prefetching of memory, for kernels that jump about in large arrays."""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core import config as _config
from numba.extending import intrinsic

from plurispiel.abstraction.machine.jit import kernel


@intrinsic
def _compiled(typing_context, array, index):
    if not isinstance(array, types.Array) or array.layout != "C":
        return None

    def codegen(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        pointer = builder.bitcast(builder.gep(data, [arguments[1]]), ir.PointerType(ir.IntType(8)))
        word = ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [pointer.type, word, word, word])
        # With opaque pointers, from LLVM 15 on, the name of the function does not tell the pointer's type.
        name = "llvm.prefetch.p0" if str(pointer.type) == "ptr" else "llvm.prefetch.p0i8"
        function = cgutils.get_or_insert_function(builder.module, function_type, name)
        for_writing, keep, data_cache = word(1), word(3), word(1)
        builder.call(function, [pointer, for_writing, keep, data_cache])
        return context.get_dummy_value()

    return types.none(array, types.intp), codegen


_request = (lambda array, index: None) if _config.DISABLE_JIT else _compiled


@kernel(inline=True)
def prefetch(array, index):
    """Start to fetch an array's entry into the processor's cache, for writing, without waiting for the entry.

    `index` counts entries of the flattened array and is not checked. The array must be C-contiguous.
    """
    _request(array, index)
