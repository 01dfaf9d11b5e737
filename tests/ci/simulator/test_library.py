"""What kernels take from the C library, and the constant tables that they carry."""

from __future__ import annotations

import numpy as np

from tests.ci.simulator.machine_harness import MachineHarness

CALL = 120  # scalar.library_call

LOOP = """
#include <cmath>
static void kernel(u8** a) {{
    float x = 0.5f;
    for (int i = 0; i < 50; ++i) x = {step};
    float* to = (float*)a[0];
    dav_scalar_store(to, 4);
    *to = x;
}}
"""


def test_a_library_call_costs_time_and_computes_the_same(harness: MachineHarness) -> None:
    like = [np.zeros(1, np.float32)]
    called = harness.run(LOOP.format(step="expf(-x)"), outputs=like)
    plain = harness.run(LOOP.format(step="x * 0.5f - 1.0f"), outputs=like)
    assert called.outcome == plain.outcome == "ok"
    assert called.cycles - plain.cycles >= 45 * CALL
    x = np.float32(0.5)
    for _ in range(50):
        x = np.exp(-x)
    np.testing.assert_allclose(called.outputs[0], x, rtol=1e-5)


def test_a_constant_table_of_the_kernel_can_be_copied_in_but_not_past_its_image(
    harness: MachineHarness,
) -> None:
    body = """
    static const __gm__ int table[8] __attribute__((aligned(32))) = {3, 1, 4, 1, 5, 9, 2, 6};
    static void kernel(u8** a) {
        copy_gm_to_ubuf(ub<int>(0), (void*)(table + %s), 0, 1, 1, 0, 0);
        set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
        copy_ubuf_to_gm(a[0], ub<int>(0), 0, 1, 1, 0, 0);
    }
    """
    like = [np.zeros(8, np.int32)]
    inside = harness.run(body % "0", outputs=like)
    assert inside.outcome == "ok", inside.report
    np.testing.assert_array_equal(inside.outputs[0], [3, 1, 4, 1, 5, 9, 2, 6])
    assert harness.run(body % "(1 << 24)", outputs=like).outcome == "memory_error"


def test_memcmp_shows_what_it_reads(harness: MachineHarness) -> None:
    body = """
    static void kernel(u8** a) {
        copy_gm_to_ubuf(ub<int>(0), a[0], 0, 1, 2, 0, 0);
        int* to = (int*)a[1];
        const int found = memcmp(ub<u8>(0), ub<u8>(32), 32) == 0;
        dav_scalar_store(to, 4);
        *to = found;
    }
    """
    data = np.arange(16, dtype=np.int32)
    ran = harness.run(body, [data], [np.zeros(1, np.int32)])
    assert ran.outcome == "race"  # nothing orders the comparison after the copy
