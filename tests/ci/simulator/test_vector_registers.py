"""The vector unit's registers, repeated merges, and that the table leaves no instruction out."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator

import numpy as np
import pytest

from ci.simulator.toolchain import MACHINE, Toolchain
from lab.reference.vector_rows.window import A
from lab.reference.vector_table import INSTRUCTIONS, WHOLE
from rules.architectures import load_architecture
from rules.devices import load_device
from tests.ci.simulator.vector_unit import WINDOW, State, VectorUnit

CALLS = {
    "merges": (
        f"float* lists[4]; for (int i = 0; i < 4; i++) lists[i] = (float*)(ub + {A} + i * 64);"
        "vmrgsort4((float*)ub, lists, 0x0008000800080008, 2 | 15 << 8);"
    ),
    "cmpmask": f"set_cmpmask(ub + {A}); get_cmpmask(ub);",
    "addresses": f"vld_va_reg(VA0, (uint64_t*)(ub + {A}), L128);",
    "control": (
        "set_ctrl(sbitset1(get_ctrl(), 56)); ub[0] = state.mask.counter;"
        "set_mask_norm(); ub[1] = get_ctrl() >> 56 & 1;"
        "set_mask_count(); ub[2] = get_ctrl() >> 56 & 1;"
        "set_ctrl(sbitset0(get_ctrl(), 56)); ub[3] = state.mask.counter;"
    ),
}


@pytest.fixture(scope="module")
def unit() -> Iterator[VectorUnit]:
    unit = VectorUnit(CALLS)
    yield unit
    unit.close()


def noise() -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    return np.random.default_rng(1).integers(0, 256, WINDOW, dtype=np.uint8)


def test_merging_repeats_over_neighbouring_groups(unit: VectorUnit) -> None:
    ub = noise()
    scores = np.arange(64, dtype=np.float32).reshape(8, 8)[:, ::-1]
    for i, row in enumerate(scores):
        pairs = np.zeros((8, 2), dtype=np.float32)
        pairs[:, 0] = row
        ub[A + i * 64 : A + (i + 1) * 64] = pairs.view(np.uint8).ravel()
    merged = unit.run("merges", State(ub)).ub[:512].view(np.float32)[0::2]
    assert (merged == np.concatenate([np.arange(31, -1, -1), np.arange(63, 31, -1)])).all()


def test_the_compare_mask_travels_through_its_register(unit: VectorUnit) -> None:
    state = State(noise())
    outcome = unit.run("cmpmask", state)
    assert (outcome.ub[:16] == state.ub[A : A + 16]).all()
    assert outcome.declared(write=True)[:16].all()


def test_addresses_are_loaded_from_the_buffer(unit: VectorUnit) -> None:
    assert unit.run("addresses", State(noise())).declared(write=False)[A : A + 64].all()


def test_counter_mode_is_a_bit_of_the_control_register(unit: VectorUnit) -> None:
    assert unit.run("control", State(noise())).ub[:4].tolist() == [1, 0, 1, 0]


@pytest.mark.long
def test_an_instruction_without_a_price_is_an_error_that_names_it() -> None:
    constants = dict(load_device("910B4").constants)
    del constants["vector.set_cmpmask.latency"]
    unit = VectorUnit({"cmpmask": CALLS["cmpmask"]}, constants)
    with pytest.raises(AssertionError, match=r"lacks vector\.set_cmpmask\.latency; add it"):
        unit.run("cmpmask", State(noise()))
    unit.close()


def test_every_vector_instruction_of_the_machine_has_a_row() -> None:
    objects = Toolchain(load_architecture("dav-c220")).machine_objects(
        sorted(MACHINE.glob("vector_*.cpp"))
    )
    said = subprocess.run(
        ["nm", "-C", "--defined-only", "--extern-only", *map(str, objects)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    offered = set(re.findall(r" T (v\w+|scatter_\w+)\(", said.stdout))
    assert len(offered) > 100
    known = {row.mnemonic for row in (*INSTRUCTIONS, *WHOLE)}
    assert offered - known == {"vld_va_reg"}, "vld_va_reg only loads addresses"
