"""What kernels take from the C library, and the constant tables that they carry."""

from __future__ import annotations

import numpy as np

from tests.ci.simulator.machine_harness import MachineHarness

CALL = 120  # scalar.library_call

LOOP = """
    float x = 0.5f;
    for (int i = 0; i < 50; ++i) x = STEP;
    float* to = (float*)a[0];
    dav_scalar_store(to, 4);
    *to = x;
"""


def test_a_library_call_costs_time_and_computes_the_same(harness: MachineHarness) -> None:
    like = [np.zeros(1, np.float32)]
    called, plain = (
        harness.ok(LOOP, outputs=like, define={"STEP": step})
        for step in ("expf(-x)", "x * 0.5f - 1.0f")
    )
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
    copy_gm_to_ubuf(ub<int>(0), (void*)(table + PLACE), 0, 1, 1, 0, 0);
    order(PIPE_MTE2, PIPE_MTE3);
    copy_ubuf_to_gm(a[0], ub<int>(0), 0, 1, 1, 0, 0);
"""
    wanted = [np.array([3, 1, 4, 1, 5, 9, 2, 6], np.int32)]
    harness.equals(body, [], wanted, define={"PLACE": 0})
    harness.fails("memory_error", body, [], wanted, define={"PLACE": 1 << 24})


def test_memcmp_shows_what_it_reads(harness: MachineHarness) -> None:
    body = """
        copy_gm_to_ubuf(ub<int>(0), a[0], 0, 1, 2, 0, 0);
        int* to = (int*)a[1];
        const int found = memcmp(ub<u8>(0), ub<u8>(32), 32) == 0;
        dav_scalar_store(to, 4);
        *to = found;
"""
    data = np.arange(16, dtype=np.int32)
    # Nothing orders the comparison after the copy.
    harness.fails("race", body, [data], [np.zeros(1, np.int32)])
