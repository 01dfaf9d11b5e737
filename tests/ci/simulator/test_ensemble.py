"""Which constants the members of an ensemble put in the place of the device's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats.qmc import LatinHypercube

from ci.model.ensemble import ensemble, is_joint
from ci.simulator import ensemble as ensembles
from ci.simulator.ensemble import DRAWS, members_of, states
from rules.devices import load_device
from tests.ci.simulator.machine_harness import MachineHarness

DEVICE = load_device("910B1")


def test_members_are_conditions_then_one_constant_at_a_time_low_and_high() -> None:
    members = members_of(DEVICE, ensemble(ranges=True))
    assert [*members][:5] == [
        "cold",
        "warm",
        "cold code, inputs in L2",
        "warm code, inputs in memory",
        "warm code, dirty cache",
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
    [
        ("memory", ["cold"]),
        ("l2", ["cold code, inputs in L2"]),
        ("both", 2),
        ("dirty", ["cold"]),
        ("all", 2),
    ],
)
def test_conditions_are_those_that_are_asked_for(inputs: str, names: list[str] | int) -> None:
    found = [*members_of(DEVICE, ensemble("cold", inputs, ranges=False))]  # type: ignore[arg-type]
    assert found == names or len(found) == names


def test_draws_move_all_constants_within_their_ranges_around_each_condition() -> None:
    members = members_of(DEVICE, ensemble(ranges=True))
    joint = {name: moved for name, moved in members.items() if is_joint(name)}
    assert len(joint) == DRAWS * 5
    # The request writes them by repr.
    assert all(type(value) is float for moved in joint.values() for value in moved.values())
    low, high = DEVICE.ranges["mte2.latency"]
    nominal = DEVICE.number("mte2.latency")
    factors = sorted(m["mte2.latency"] / nominal for n, m in joint.items() if n.endswith(" cold"))
    assert low <= factors[0] < factors[DRAWS // 2 - 1] < 1 < factors[DRAWS // 2]
    assert factors[-1] <= high
    dirty = [moved for name, moved in joint.items() if name.endswith("dirty cache")]
    assert len(dirty) == DRAWS and all(m["l2.written"] == 1 for m in dirty)
    start = [m["launch.start_up_cycles"] / DEVICE.warm["launch.start_up_cycles"] for m in dirty]
    assert 0.4 <= min(start) < 1 < max(start) <= 1.2


def test_members_replace_the_constants_of_the_state_that_a_launch_is_timed_in() -> None:
    from_cold = members_of(DEVICE, ensemble(ranges=True))
    from_dirty = members_of(DEVICE, ensemble(ranges=True), "warm code, dirty cache")
    assert [*from_cold] == [*from_dirty]
    state = states(DEVICE)["warm code, dirty cache"]
    for name, moved in from_cold.items():
        assert DEVICE.constants | moved == DEVICE.constants | state | from_dirty[name]


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


@pytest.mark.parametrize("count", [2, 16])
def test_a_dirty_cache_slows_loads_and_stores_as_long_as_the_memory_is_busy(
    harness: MachineHarness, count: int
) -> None:
    cores, members = 40, {"clean": {}, "dirty": {"l2.written": 1.0}}
    data = np.zeros(cores * count * 32768, np.uint8)
    found = harness.ok(
        READ, [data], [data], block_dim=cores, define={"COUNT": count}, members=members
    ).report["members"]
    # 2.6 MB a tensor: what is put out waits for a quiet moment; 21 MB: it must go first.
    assert found["clean"] <= found["dirty"]
    if count == 16:
        assert 1.3 * found["clean"] < found["dirty"] < 4 * found["clean"]


@pytest.mark.parametrize("dimensions", [1, 7, 40])
def test_draws_are_those_of_scipy(dimensions: int) -> None:
    random = np.random.default_rng(1)
    assert np.array_equal(
        ensembles._sample(dimensions), LatinHypercube(dimensions, rng=random).random(DRAWS)
    )
