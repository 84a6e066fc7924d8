"""A stand-in for the few functions of CuPy that `CudaTrainer` calls: kernels are compiled for the host's processor.

A launch calls the kernel once for each thread of a small grid, one after the other or on several processor threads.
Every argument must have the type that the kernel declares, and every array must have been put on the "device".
"""

import ctypes
import functools
import re
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np

COMPILER = shutil.which("g++")
NAME = "Processor of this machine"

_BEFORE = r"""
#include <cmath>
#define __global__
#define __device__
#define __constant__ static
#define __shared__ static thread_local
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(threads)
struct int4 { int x, y, z, w; };
struct Index { unsigned x; };
static thread_local Index threadIdx, blockIdx, blockDim, gridDim;
extern "C" void set_index(unsigned block, unsigned thread, unsigned blocks, unsigned threads) {
    blockIdx.x = block, threadIdx.x = thread, gridDim.x = blocks, blockDim.x = threads;
}
template <typename T> static T __ldg(const T *p) { return *p; }
template <typename T> static T __ldcg(const T *p) { return *(const volatile T *)p; }
static int atomicAdd(int *p, int v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }
static unsigned long long atomicAdd(unsigned long long *p, unsigned long long v) {
    return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
}
template <typename T> static T atomicAdd(T *p, T v) {
    T old, sum;
    __atomic_load(p, &old, __ATOMIC_RELAXED);
    do sum = old + v;
    while (!__atomic_compare_exchange(p, &old, &sum, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
}
static unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
static int __ffs(unsigned v) { return __builtin_ffs((int)v); }
static int __popc(unsigned v) { return __builtin_popcount(v); }
static int __float2int_rn(float v) { return (int)std::nearbyint(v); }
static unsigned __float_as_uint(float v) { union { float f; unsigned u; } both = {v}; return both.u; }
static float __uint_as_float(unsigned v) { union { unsigned u; float f; } both = {v}; return both.f; }
static float __fdividef(float a, float b) { return a / b; }
using std::rint;
"""

_AFTER = r"""
extern "C" void deal_one(GAME_PARAMETERS, u64 key, long long iteration, unsigned char *cards, BUCKET *dealt,
                         unsigned short *hand_ranks) {
    const Game game = GAME;
    static BUCKET buckets[NUM_SEATS * 4 * LANES];
    static unsigned short ranks[NUM_SEATS * LANES];
    Stream stream = new_stream(key, iteration, 0);
    deal_hand(game, stream, cards, buckets, ranks);
    for (int i = 0; i < NUM_SEATS * 4; i++) dealt[i] = AT(buckets, i);
    for (int i = 0; i < NUM_SEATS; i++) hand_ranks[i] = AT(ranks, i);
}
"""

_SCALARS = {
    "int": np.int32, "unsigned": np.uint32, "unsigned int": np.uint32, "long long": np.int64, "u64": np.uint64,
    "unsigned long long": np.uint64, "float": np.float32, "double": np.float64, "int4": np.int32,
    "unsigned short": np.uint16, "unsigned char": np.uint8,
}  # fmt: skip


class DeviceArray(np.ndarray):
    """An array on the "device"."""


def host_cupy(workers: int = 1) -> SimpleNamespace:
    """Return the stand-in; launches run on so many processor threads."""
    return SimpleNamespace(
        asarray=lambda values: np.array(values).view(DeviceArray),
        zeros=lambda shape, dtype: np.zeros(shape, dtype).view(DeviceArray),
        asnumpy=_asnumpy,
        RawModule=functools.partial(_Module, workers=workers),
        cuda=SimpleNamespace(
            is_available=lambda: True,
            runtime=SimpleNamespace(
                getDevice=lambda: 0,
                getDeviceProperties=lambda number: {"name": NAME.encode(), "multiProcessorCount": 1},
            ),
        ),
    )


def _asnumpy(array, out=None):
    assert isinstance(array, DeviceArray)
    if out is None:
        return np.array(array)
    assert out.shape == array.shape and out.dtype == array.dtype and out.flags.c_contiguous
    out[:] = array
    return out


class _Module:
    """A `cupy.RawModule`."""

    def __init__(self, *, code: str, options: tuple[str, ...], workers: int):
        self._library, self._text = _compiled(re.sub(r"#define BLOCK \d+", "#define BLOCK 2", code), options)
        self._workers = workers

    def get_function(self, name):
        """Return a kernel; its grid has two blocks of two threads, whatever the caller asks for."""
        parameters = re.search(rf'extern "C"\s+void\s+{name}\s*\(([^)]*)\)', self._text)[1].split(",")
        types = [re.sub(r"\b(const|__restrict__)\b", "", each).strip() for each in parameters]
        types = [re.match(r"(.*?)\s*(\*?)\s*\w+$", " ".join(each.split())).groups() for each in types]
        function = getattr(self._library, name)

        def launch(grid, block, arguments):
            assert len(grid) == len(block) == 1 and isinstance(arguments, tuple)
            assert len(arguments) == len(types), name
            values = [_value(argument, *wanted) for argument, wanted in zip(arguments, types, strict=True)]

            def run(number):
                self._library.set_index(number // 2, number % 2, 2, 2)
                function(*values)

            if self._workers == 1:
                list(map(run, range(4)))
            else:
                with ThreadPoolExecutor(self._workers) as pool:
                    list(pool.map(run, range(4)))

        return launch


def _value(argument, wanted, star):
    """Return an argument as ctypes passes it, if it has the type wanted."""
    assert argument.dtype == _SCALARS[wanted], f"{argument.dtype} for {wanted}{star}"
    if star:
        assert isinstance(argument, DeviceArray) and argument.flags.c_contiguous
        return ctypes.c_void_p(argument.ctypes.data)
    assert isinstance(argument, np.generic)
    return np.ctypeslib.as_ctypes_type(argument.dtype)(argument)


@functools.cache
def _compiled(code, options):
    """Return the library and its preprocessed text."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        source, library = Path(folder, "traversal.cpp"), Path(folder, "traversal.so")
        source.write_text(_BEFORE + code + _AFTER)
        command = [COMPILER, *options, "-O1", "-fwrapv", "-w", source]
        subprocess.run([*command, "-shared", "-fPIC", "-o", library], check=True)
        text = subprocess.run([*command, "-E", "-P"], check=True, capture_output=True, text=True).stdout
        return ctypes.CDLL(library), text
