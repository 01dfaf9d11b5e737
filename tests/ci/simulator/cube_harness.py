"""One kernel that multiplies matrices along every path of the cube core, for tables of cases."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.ci.simulator.machine_harness import MachineHarness

Array = npt.NDArray[Any]

KERNEL = """
struct Case { int m, k, n, a_path, b_path, bias, quantize, relu, row_major, split, steps; };
static int up(int value, int by) { return (value + by - 1) / by; }

// `rows` of `columns` from GM, fractals in columns of `padded` rows in L1.
template <typename T>
static void load_l1(T* l1, T* gm, int rows, int columns, int stride, int padded) {
    if constexpr (sizeof(T) == 2)
        copy_gm_to_cbuf_multi_nd2nz_b16(l1, gm, 0, 1, rows, columns, 0, stride, padded, 1, 0);
    else if constexpr (sizeof(T) == 1)
        copy_gm_to_cbuf_multi_nd2nz_b8(l1, gm, 0, 1, rows, columns, 0, stride, padded, 1, 0);
    else
        copy_gm_to_cbuf_multi_nd2nz_b32s(l1, gm, 0, 1, rows, columns, 0, stride, padded, 1, 0);
    order(PIPE_MTE2, PIPE_MTE1);
    set_fmatrix(padded | 1ull << 16);
}

// A [m, k] (path 0: fractals row by row, 1: image to column) or [k, m] (2: image to column turned,
// 3: squares turned) from GM to L1, and k0..k0+depth of it to L0A.
template <typename T> static void load_a(const Case& c, T* gm, int k0, int depth) {
    constexpr int C0 = 32 / sizeof(T);
    const bool turned = c.a_path >= 2;
    const int rows = turned ? depth : c.m, columns = turned ? c.m : depth;
    const int unit = turned && sizeof(T) == 1 ? 32 : 16;
    const int padded = up(rows, unit) * unit;
    T* l1 = (T*)0;
    T* l0 = (T*)0;
    load_l1(l1, turned ? gm + k0 * c.m : gm + k0, rows, columns, turned ? c.m : c.k, padded);
    set_padding(0);
    if (c.a_path == 0) {
        for (int row = 0; row < padded / 16; ++row)
            load_cbuf_to_ca(l0 + row * up(depth, C0) * 16 * C0, l1, row, up(depth, C0),
                            padded / 16, 0, 0, false, inc);
    } else if (c.a_path == 1) {
        img2colv2_cbuf_to_ca(l0, l1, up(depth, C0) * C0, padded, 0, 0, 1, 1, 1, 1, 1, 1, false,
                             false, false, false, up(depth, C0) * C0);
    } else if (c.a_path == 2) {
        img2colv2_cbuf_to_ca(l0, l1, up(c.m, 16) * 16, padded, 0, 0, 1, 1, 1, 1, 1, 1, false,
                             false, true, false, up(c.m, C0) * C0);
    } else {
        // Squares of max(16, C0): of the block row of k they lie a column of L1 apart.
        const int squares = padded / unit, across = up(c.m, unit);
        for (int kb = 0; kb < squares; ++kb)
            load_cbuf_to_ca_transpose(l0 + kb * 16 * C0, l1, kb, across, squares,
                                      (unit / 16) * squares - 1, inc, squares - 1);
    }
}

// B [n, k] (path 0) or [k, n] (1: image to column, 2: fractals turned, 3: squares turned).
template <typename T> static void load_b(const Case& c, T* gm, int k0, int depth) {
    constexpr int C0 = 32 / sizeof(T);
    const bool turned = c.b_path >= 1;
    const int rows = turned ? depth : c.n, columns = turned ? c.n : depth;
    const int unit = turned && sizeof(T) == 1 ? 32 : 16;
    const int padded = up(rows, unit) * unit;
    T* l1 = (T*)(256 * 1024);
    T* l0 = (T*)0;
    load_l1(l1, turned ? gm + k0 * c.n : gm + k0, rows, columns, turned ? c.n : c.k, padded);
    const int fractals = up(c.n, 16);
    if (c.b_path == 0) {
        load_cbuf_to_cb(l0, l1, 0, fractals * up(depth, C0), 1, 0, 0, false, inc);
    } else if (c.b_path == 1) {
        img2colv2_cbuf_to_cb(l0, l1, fractals * 16, padded, 0, 0, 1, 1, 1, 1, 1, 1, false, false,
                             false, false, up(c.n, C0) * C0);
    } else if (c.b_path == 2) {
        for (int kb = 0; kb < padded / 16; ++kb)
            load_cbuf_to_cb(l0 + kb * fractals * 256, l1, kb, fractals, padded / 16, 0, 0, true,
                            inc);
    } else {
        const int squares = padded / unit, across = up(c.n, unit);
        for (int kb = 0; kb < squares; ++kb)
            load_cbuf_to_cb_transpose(l0 + kb * fractals * 16 * C0, l1, kb, across, squares,
                                      unit / 16 - 1, inc, 0);
    }
}

template <typename T, typename TC, typename TO>
static void multiply(const Case& c, T* a, T* b, TC* bias, unsigned long* parameters, TO* out) {
    constexpr int C0 = 32 / sizeof(T);
    TC* l0c = (TC*)0;
    const int rows = up(c.m, 16) * 16;
    const int step = up(up(c.k, c.steps), 32) * 32;
    if (c.bias) {
        copy_gm_to_cbuf((void*)(480 * 1024), bias, 0, 1, up(c.n * 4, 64) * 2, 0, 0, PAD_NONE);
        order(PIPE_MTE2, PIPE_MTE1);
        copy_cbuf_to_bt(0, (void*)(480 * 1024), 0, 1, up(c.n * 4, 64), 0, 0);
        order(PIPE_MTE1, PIPE_M);
    }
    for (int k0 = 0; k0 < c.k; k0 += step) {
        const int depth = c.k - k0 < step ? c.k - k0 : step;
        load_a(c, a, k0, depth);
        load_b(c, b, k0, depth);
        order(PIPE_MTE1, PIPE_M);
        const bool align = sizeof(T) == 4 && c.a_path >= 2;
        if (c.bias && k0 == 0)
            mad(l0c, (T*)0, (T*)0, (uint64_t)0, c.m == 1 ? 16 : c.m, depth, c.n, 0, align, true,
                false);
        else
            mad(l0c, (T*)0, (T*)0, c.m == 1 ? 16 : c.m, depth, c.n, 0, align, false, k0 == 0);
        pipe_barrier(PIPE_M);
        order(PIPE_M, PIPE_MTE1);
        order(PIPE_MTE1, PIPE_MTE2);
    }
    order(PIPE_M, PIPE_FIX);
    const auto mode = QuantMode_t(c.quantize);
    if (mode == VDEQF16 || mode == VREQ8 || mode == VQF322B8_PRE) {
        copy_gm_to_cbuf((void*)(490 * 1024), parameters, 0, 1, up(c.n * 8, 128) * 4, 0, 0,
                        PAD_NONE);
        order(PIPE_MTE2, PIPE_FIX);
        copy_cbuf_to_fbuf((void*)0, (void*)(490 * 1024), 1, up(c.n * 8, 128), 0, 0);
        pipe_barrier(PIPE_FIX);
        set_fpc(0);
    } else {
        set_quant_pre(*parameters);
    }
    set_nd_para(1);
    const unsigned stride = c.row_major ? c.n : up(c.m, 16) * 16 * (sizeof(TO) == 1 ? 32 : c.split
                            ? 8 : 16) * sizeof(TO) / 32;
    copy_matrix_cc_to_gm(out, l0c, 0, c.n, c.m, stride, rows, 0, mode, c.relu, c.split,
                         c.row_major);
}
"""


@dataclass(frozen=True)
class Product:
    """A case: C[m, n] = A·B on given paths, types by their C++ names."""

    m: int
    k: int
    n: int
    a_path: int = 0
    b_path: int = 0
    bias: bool = False
    quantize: int = 0
    relu: bool = False
    row_major: bool = True
    split: bool = False
    steps: int = 1
    element: str = "half"
    total: str = "float"
    result: str = "float"
    control: int = 0


@dataclass
class Operands:
    """What goes into a product."""

    a: Array
    b: Array
    bias: Array = field(default_factory=lambda: np.zeros(1, np.float32))
    parameters: Array = field(default_factory=lambda: np.zeros(1, np.uint64))


def run(harness: MachineHarness, case: Product, operands: Operands, output: Array) -> Array:
    """Launch the case on one cube core; `output` gives the result's shape and dtype."""
    numbers = [case.m, case.k, case.n, case.a_path, case.b_path, case.bias, case.quantize]
    numbers += [case.relu, case.row_major, case.split, case.steps]
    call = f"multiply<{case.element}, {case.total}, {case.result}>"
    control = f"set_ctrl(get_ctrl() | {case.control}ull);" if case.control else ""
    body = KERNEL + (
        f"static void kernel(u8** a) {{ const Case c = *(const Case*)a[6]; {control}\n"
        f"{call}(c, ({case.element}*)a[0], ({case.element}*)a[1], ({case.total}*)a[2], "
        f"(unsigned long*)a[3], ({case.result}*)a[4]); }}\n"
    )
    a = operands.a.T if case.a_path >= 2 else operands.a
    b = operands.b if case.b_path >= 1 else operands.b.T
    inputs = [np.ascontiguousarray(a), np.ascontiguousarray(b), operands.bias, operands.parameters]
    tiling = np.array(numbers, np.int32).tobytes()
    return harness.ok(body, inputs, [output], cores=(1, 0), tiling=tiling).outputs[0]
