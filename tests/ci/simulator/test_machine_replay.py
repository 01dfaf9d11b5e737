"""A launch that is timed again with other constants takes what a run with them takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from rules.devices import load_device
from tests.ci.simulator.machine_harness import Launch, MachineHarness
from tests.ci.simulator.test_matmul_story import BASE, BODY

Constants = Mapping[str, float]

# Scalar loads and stores, bank conflicts, copies within UB, all cores at one flag: half of what
# has a price on a vector core.
VECTOR = """
    const int core = (int)get_block_idx();
    set_vector_mask(~0ull, ~0ull);
    float* x = ub<float>(0);
    float* y = ub<float>(32768);
    for (int t = 0; t < 6; t++) {
        copy_gm_to_ubuf(x, (float*)a[0] + (core * 6 + t) * 2048, 0, 1, 256, 0, 0);
        order(PIPE_MTE2, PIPE_V);
        vadd(y, x, x + 1024, 16, 1, 1, 1, 8, 8, 8);
        vexp(y, y, 16, 1, 1, 8, 8);
        copy_ubuf_to_ubuf(x, y, 0, 1, 128, 0, 0);
        order(PIPE_V, PIPE_S);
        x[0] = x[1] + ((float*)a[0])[core * 16 + t];
        order(PIPE_S, PIPE_MTE3);
        copy_ubuf_to_gm((float*)a[1] + (core * 6 + t) * 1024, x, 0, 1, 128, 0, 0);
        order(PIPE_MTE3, PIPE_MTE2);
    }
    ffts_cross_core_sync(PIPE_MTE3, 1 | (5 << 8)); wait_flag_dev(5);
"""


def vector(
    harness: MachineHarness, constants: Constants, members: Mapping[str, Constants]
) -> Launch:
    data = np.ones(4 * 6 * 2048, np.float32)
    return harness.ok(
        VECTOR, [data], [np.zeros(4 * 6 * 1024, np.float32)],
        block_dim=4, auto_sync=True, constants=dict(constants), members=members,
    )  # fmt: skip


def cube(harness: MachineHarness, constants: Constants, members: Mapping[str, Constants]) -> Launch:
    a, b = (np.ones((rows, 1024), np.float16) for rows in (256, 256))
    return harness.ok(
        BODY, [a, b], [np.zeros((256, 256), np.float16)],
        block_dim=2, cores=(1, 0), constants=dict(constants), members=members,
        define={"TILING": BASE, "CORES_M": 2, "CORES_N": 1},
    )  # fmt: skip


def families() -> dict[str, dict[str, float]]:
    """Every price of the device by the first word of its name, half as much again; whole numbers
    of what is counted."""
    found: dict[str, dict[str, float]] = {}
    for name, value in load_device("910B4").constants.items():
        family = name.split(".")[0]
        if family not in ("device", "limit", "clock"):
            found.setdefault(family, {})[name] = round(value * 1.5, 3 if value % 1 else 0)
    found["launch"] |= {"launch.start_up_cycles": 500.0, "launch.fetch_cycles_per_core": 70.0}
    found["l2"]["l2.warm"] = 1.0
    return found


@pytest.mark.parametrize("kernel", [vector, cube])
def test_a_replayed_launch_takes_what_a_run_with_its_constants_takes(
    harness: MachineHarness, kernel: Callable[..., Launch]
) -> None:
    members = families()
    report = kernel(harness, {}, {"same": {}, **members}).report
    replayed = report["members"]
    assert round(replayed["same"]) == report["total_cycles"]
    moved = [name for name in members if replayed[name] != replayed["same"]]
    own = {"vector", "sync", "mte3"} if kernel is vector else {"cube", "fix", "matmul", "mte1"}
    assert {*moved} >= {"launch", "l2", "mte2", "scalar", "hbm"} | own
    for name in moved:
        run = kernel(harness, members[name], {"same": {}}).report["members"]["same"]
        assert replayed[name] == run, name


def test_a_constant_that_no_device_has_is_named(harness: MachineHarness) -> None:
    message = harness.fails("launch_error", "", members={"odd": {"mte2.colour": 1.0}})
    assert "lacks the constant mte2.colour" in message
