"""What the Matmul API keeps between its calls: blocks of C that wait, operands in L1."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ci.simulator.machine_harness import Launch, MachineHarness

M, N, K = 64, 256, 256
A, B = (
    np.random.default_rng(7).integers(-4, 4, (rows, K)).astype(np.float16) for rows in (2 * M, N)
)
RIGHT = A.astype(np.float32) @ B.astype(np.float32).T

# Two products of M x N x K, of the upper and the lower half of A.
PRELUDE = f"""
    DavMatmul p;
    p.owner = &p;
    p.a = a[0]; p.b = a[1]; p.c = a[2];
    p.b_turned = true;
    p.result = DavElement::FLOAT;
    p.m = p.count_m = {M};
    p.n = p.count_n = p.c_stride = {N};
    p.k = p.a_stride = p.b_stride = {K};
    p.base_m = {M}; p.base_n = 128; p.base_k = 64;
    p.depth_a = 4; p.depth_b = 8;
    DavMatmul lower = p;
    lower.owner = &lower;
    lower.a = (const _Float16*)a[0] + {M * K};
    lower.c = (float*)a[2] + {M * N};
    auto ask = [](DavMatmul one, DavStep step, int n, int count) {{
        one.step = step; one.first_n = n; one.count_n = count;
        dav_matmul(one);
    }};
    const DavStep PRODUCT = DavStep::PRODUCT, STORE = DavStep::STORE, WHOLE = DavStep::WHOLE;
"""
BOTH = "ask(p, WHOLE, 0, 256); ask(lower, WHOLE, 0, 256);"


def run(harness: MachineHarness, calls: str, **how: object) -> Launch:
    """The calls on a cube core; C verified."""
    launched = {"cores": (1, 0), **how}
    done = harness.ok(PRELUDE + calls, [A, B], [np.zeros_like(RIGHT)], **launched)
    np.testing.assert_array_equal(done.outputs[0], RIGHT)
    return done


def copied(done: Launch) -> float:
    """Bytes that came into L1."""
    return sum(float(row["bytes"]) for row in done.timeline if row["pipe"] == "MTE2")


def test_a_result_out_of_bounds_is_named_at_the_call(harness: MachineHarness) -> None:
    beyond = f"{PRELUDE} p.c = (float*)a[2] + {2 * M * N - 1}; ask(p, WHOLE, 0, 256);"
    done = harness.run(beyond, [A, B], [np.zeros_like(RIGHT)], cores=(1, 0))
    assert done.report["outcome"] == "memory_error"
    assert "output 0" in done.report["message"]
    assert done.report["site"] != "0x0"


def test_a_block_is_computed_when_it_is_asked_for_not_when_it_is_fetched(
    harness: MachineHarness,
) -> None:
    work = "volatile int x = 0; for (int i = 0; i < 2000; ++i) x = x + i;"
    lower = "ask(lower, WHOLE, 0, 256); ask(p, WHOLE, 128, 128);"
    ahead = run(harness, f"{lower} ask(p, PRODUCT, 0, 128); {work} ask(p, STORE, 0, 128);")
    behind = run(harness, f"{lower} {work} ask(p, WHOLE, 0, 128);")
    assert ahead.cycles < behind.cycles - 300


@pytest.mark.parametrize("width", [128, 256])
def test_blocks_of_two_objects_wait_side_by_side_and_make_room(
    harness: MachineHarness, width: int
) -> None:
    """A base block of 256 columns takes all of L0C: the second object's is computed later."""
    calls = "".join(
        f"ask({owner}, {step}, {n}, {width});"
        for n in range(0, N, width)
        for step in ("PRODUCT", "STORE")
        for owner in ("p", "lower")
    )
    run(harness, f"p.base_m = lower.base_m = 128; p.base_n = lower.base_n = {width};{calls}")


def test_sums_of_two_products_are_fetched_as_one(harness: MachineHarness) -> None:
    halves = f"""
        p.k = {K // 2};
        for (int n = 0; n < 256; n += 128) {{
            DavMatmul rest = p;
            rest.a = (const _Float16*)p.a + {K // 2};
            rest.b = (const _Float16*)p.b + {K // 2};
            rest.partial = true;
            ask(p, PRODUCT, n, 128);
            ask(rest, PRODUCT, n, 128);
            ask(p, STORE, n, 128);
        }}
        ask(lower, WHOLE, 0, 256);
    """
    run(harness, halves)


def test_operands_stay_for_the_next_block_and_shared_ones_for_another_object(
    harness: MachineHarness,
) -> None:
    blocks = "ask(p, WHOLE, 0, 128); FOLLOW ask(p, WHOLE, 128, 128); ask(lower, WHOLE, 0, 256);"
    again = copied(run(harness, blocks, define={"FOLLOW": ""}))
    assert copied(run(harness, blocks, define={"FOLLOW": "p.follows = true;"})) == again - M * K * 2
    apart = copied(run(harness, BOTH))
    assert copied(run(harness, "p.share_b = lower.share_b = true;" + BOTH)) == apart - N * K * 2


def test_with_both_operands_shared_one_product_serves_both_vector_cores(
    harness: MachineHarness,
) -> None:
    post = f"{PRELUDE} p.m = p.count_m = {2 * M}; p.share_a = p.share_b = SHARED;"
    body = f"{post} dav_matmul_wait(dav_matmul_post(p)); dav_matmul_quit();"
    how = {"cores": (1, 2), "cube_body": "dav_matmul_serve();"}
    busy = []
    for shared in ("true", "false"):
        done = harness.ok(body, [A, B], [np.zeros_like(RIGHT)], define={"SHARED": shared}, **how)
        np.testing.assert_array_equal(done.outputs[0], RIGHT)
        busy.append(done.busy("CUBE"))
    assert 2 * busy[0] == pytest.approx(busy[1])


def test_the_front_door_is_told_once(harness: MachineHarness) -> None:
    assert len(run(harness, BOTH).warned("door")) == 1
