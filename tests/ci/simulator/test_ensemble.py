"""Which constants the members of an ensemble put in the place of the device's."""

from __future__ import annotations

import numpy as np
import pytest

from ci.model.ensemble import ensemble
from ci.simulator.ensemble import members_of
from rules.devices import load_device
from tests.ci.simulator.machine_harness import MachineHarness

DEVICE = load_device("910B1")


def test_members_are_conditions_then_one_constant_at_a_time_low_and_high() -> None:
    members = members_of(DEVICE, ensemble(ranges=True))
    assert [*members][:4] == [
        "cold",
        "warm",
        "cold code, inputs in L2",
        "warm code, inputs in memory",
    ]
    assert members["cold"] == {}
    assert members["warm"] == DEVICE.warm | {"l2.inputs": 1.0}
    constant = DEVICE.number("launch.us_per_core")
    low, high = DEVICE.ranges["launch.us_per_core"]
    assert members[f"launch.us_per_core = {constant * low:.4g}"] == {
        "launch.us_per_core": constant * low
    }
    assert f"launch.us_per_core = {constant * high:.4g}" in members
    assert "mte2.window_bytes = 22327" in members
    moved = members[f"vector.*.latency x {DEVICE.ranges['vector.*.latency'][1]:g}"]
    assert len(moved) > 50 and all(name.endswith(".latency") for name in moved)
    assert [*members] == [*members_of(load_device("910B1"), ensemble(ranges=True))]


def test_warm_members_move_constants_of_a_warm_launch() -> None:
    members = members_of(DEVICE, ensemble("warm", "l2", ranges=True))
    assert next(iter(members)) == "warm" and "cold" not in members
    assert all(m["l2.inputs"] == 1.0 for m in members.values())
    # Nothing is fetched, and nothing times a factor is nothing.
    assert not any(name.startswith("launch.fetch_cycles_per_core") for name in members)
    start = DEVICE.warm["launch.start_up_cycles"]
    assert any(m["launch.start_up_cycles"] < start for m in members.values())


@pytest.mark.parametrize(
    ("inputs", "names"),
    [("memory", ["cold"]), ("l2", ["cold code, inputs in L2"]), ("both", 2)],
)
def test_conditions_are_those_that_are_asked_for(inputs: str, names: list[str] | int) -> None:
    found = [*members_of(DEVICE, ensemble("cold", inputs, ranges=False))]  # type: ignore[arg-type]
    assert found == names or len(found) == names


READ = """
    const uint64_t first = get_block_idx() * COUNT;
    for (int i = 0; i < COUNT; i++) {
        copy_gm_to_ubuf(ub<u8>(0), a[0] + (first + i) * 32768, 0, 1, 1024, 0, 0);
        order(PIPE_MTE2, PIPE_MTE3);
        copy_ubuf_to_gm(a[1] + (first + i) * 32768, ub<u8>(0), 0, 1, 1024, 0, 0);
        order(PIPE_MTE3, PIPE_MTE2);
    }
"""


@pytest.mark.parametrize("count", [2, 16])
def test_inputs_in_l2_are_read_from_there_and_never_slow_a_launch(
    harness: MachineHarness, count: int
) -> None:
    """Also where they and the results do not fit, and leave it again."""
    cores = 40
    members = {"memory": {}, "l2": {"l2.inputs": 1.0}}
    data = np.zeros(cores * count * 32768, np.uint8)
    constants = {"l2.bytes": 8388608.0, "l2.write_back_bytes": 0.0}
    found = harness.ok(
        READ, [data], [data],
        block_dim=cores, define={"COUNT": count}, constants=constants, members=members,
    ).report["members"]  # fmt: skip
    assert found["l2"] <= found["memory"]
    if count == 2:
        assert found["l2"] < 0.9 * found["memory"]
