"""The steps by which Huawei's Matmul example becomes faster, on a smaller product."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ci.simulator.machine_harness import Launch, MachineHarness

BODY = """
    DavMatmul product;
    const int block = (int)get_block_idx();
    product.a = a[0];
    product.b = a[1];
    product.c = a[2];
    product.b_turned = true;
    product.quantize_mode = F322F16;
    product.m = 128 * CORES_M;
    product.n = product.c_stride = 256 * CORES_N;
    product.k = product.a_stride = product.b_stride = 1024;
    product.count_m = 128;
    product.count_n = 256;
    product.first_m = block % CORES_M * 128;
    product.first_n = block / CORES_M * 256;
    product.base_k = 64;
    product.depth_a = product.depth_b = 1;
    TILING
    dav_matmul(product);
"""
BASE = "product.base_m = 128; product.base_n = 256;"
STEPS = f"{BASE} product.large_steps = true; product.step_ka = product.step_kb = 2;"
DEEP = (
    f"{BASE} product.large_steps = true; product.step_ka = 8; product.step_kb = 4;"
    "product.depth_a = 16; product.depth_b = 8;"
)


def run(harness: MachineHarness, tiling: str, cores_m: int = 1, cores_n: int = 1) -> Launch:
    """A product of 128 x 256 x 1024 on each core, its results verified."""
    m, n, k = 128 * cores_m, 256 * cores_n, 1024
    draw = np.random.default_rng(5)
    a, b = (draw.uniform(-1, 1, (rows, k)).astype(np.float16) for rows in (m, n))
    done = harness.ok(
        BODY, [a, b], [np.zeros((m, n), np.float16)],
        block_dim=cores_m * cores_n, device="910B1", cores=(1, 0),
        define={"TILING": tiling, "CORES_M": cores_m, "CORES_N": cores_n},
    )  # fmt: skip
    right = a.astype(np.float32) @ b.astype(np.float32).T
    assert np.allclose(done.outputs[0].astype(np.float32), right, atol=0.1)
    return done


@pytest.mark.long
def test_each_step_of_the_tiling_is_faster_as_published(harness: MachineHarness) -> None:
    small = run(harness, "product.base_m = product.base_n = 64;").cycles
    large = run(harness, BASE).cycles
    assert small > 2 * large  # published: 3.0 times
    cycles = [run(harness, tiling, 4, 6).cycles for tiling in (BASE, STEPS, DEEP)]
    assert cycles[0] < 1.3 * large  # 24 times the product in little more time
    assert cycles[0] > 1.3 * cycles[1] > 1.3 * cycles[2]


def test_the_api_s_own_code_costs_what_its_configuration_makes_of_it(
    harness: MachineHarness,
) -> None:
    def scalar(tiling: str) -> float:
        return run(harness, tiling).busy("SCALAR")

    fixed = scalar(DEEP + "product.fixed_tiling = true;")
    assert fixed < scalar(DEEP) < scalar(BASE)


def test_unit_flags_keep_the_results_and_the_fixpipe_waiting(harness: MachineHarness) -> None:
    def fixpipe(tiling: str) -> float:
        return run(harness, tiling).busy("FIX")

    assert fixpipe(DEEP + "product.unit_flag = true;") > fixpipe(DEEP)


def test_the_fixpipe_follows_a_product_by_unit_flags(harness: MachineHarness) -> None:
    plain = run(harness, DEEP)
    flagged = run(harness, DEEP + "product.unit_flag = true;")
    # The last product of the sum, 128 x 256 x 64, takes 512 cycles.
    assert 0.7 * 512 < plain.cycles - flagged.cycles <= 1.1 * 512


def test_a_preload_brings_the_next_block_of_b_while_this_one_is_computed(
    harness: MachineHarness,
) -> None:
    whole = (
        "product.base_m = 128; product.base_n = 64; product.large_steps = true;"
        "product.step_ka = product.step_kb = 16; product.depth_a = 16; product.depth_b = 32;"
    )
    assert run(harness, whole + "product.preload = 2;").cycles < 0.95 * run(harness, whole).cycles


def test_cores_that_begin_at_other_parts_of_k_compute_the_same(harness: MachineHarness) -> None:
    plain = run(harness, STEPS, 1, 4)
    turned = run(harness, STEPS + "product.reorder_k = true;", 1, 4)
    assert turned.cycles != plain.cycles


def test_a_mode_that_does_not_make_the_result_s_type_is_refused(harness: MachineHarness) -> None:
    a, b = (np.ones((rows, 1024), np.float16) for rows in (128, 256))
    message = harness.fails(
        "launch_error", BODY.replace("F322F16", "F322BF16"),
        [a, b], [np.zeros((128, 256), np.float16)],
        cores=(1, 0), define={"TILING": BASE, "CORES_M": 1, "CORES_N": 1},
    )  # fmt: skip
    assert "does not convert elements of 32 bits to these of 16 in the mode 16" in message
