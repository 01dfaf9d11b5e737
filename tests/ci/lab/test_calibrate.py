"""Constants fitted to measurements."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ci.lab.calibrate import (
    Group,
    calibrate,
    copy_cycles,
    fit,
    vector_constant,
    write_constants,
)
from ci.model.errors import InputError
from rules.devices import lineage, load_device


@pytest.mark.parametrize("device", ["910B1", "910B4"])
def test_the_shipped_constants_are_those_that_the_measurements_give(device: str) -> None:
    for group in calibrate(device).groups:
        for constant in group.constants:
            tolerance = 0.3 if constant.name.startswith("launch") else 0.1
            assert constant.current == pytest.approx(constant.fitted, rel=tolerance), constant.name


def test_rows_made_from_known_constants_give_them_back() -> None:
    device = load_device("910B1")
    known = dict(device.constants) | {
        "mte2.latency": 300.0,
        "hbm.extra_latency": 500.0,
        "mte2.window_bytes": 40000.0,
        "mte2.bytes_per_cycle": 100.0,
    }
    rows = []
    for memory in ("l2", "memory"):
        for size in (256, 4096, 65536):
            row = {
                "name": "made", "chip": "910B1", "port": "gm_to_ub", "memory": memory,
                "bytes": str(size), "back_to_back": "1", "source": "here",
            }  # fmt: skip
            rows.append(row | {"cycles": repr(copy_cycles(known, row))})
    names = tuple(name for name in known if known[name] != device.constants[name])
    group = Group(
        title="reads", names=names, rows=tuple(rows), measured="cycles", predict=copy_cycles
    )
    for constant in fit(group, device).constants:
        assert constant.fitted == pytest.approx(known[constant.name], rel=0.01)


def test_no_fit_sees_a_held_out_row_and_most_are_foretold() -> None:
    found = calibrate("910B1")
    fitted = {row.name for group in found.groups for row in group.rows}
    assert found.held_out and not fitted & {row.name for row in found.held_out}
    assert found.held_out_error < 0.15


def test_a_vector_constant_falls_back_from_dtype_to_instruction() -> None:
    device = load_device("910B1")
    assert vector_constant(device, "vexp", "f16", "cycles") == 4
    assert vector_constant(device, "vsub", "f16", "cycles") == 1
    with pytest.raises(InputError, match=r"lacks the constant 'vector\.unheard_of\.latency'"):
        vector_constant(device, "unheard_of", "f16", "latency")


def test_writing_changes_values_and_keeps_sources(tmp_path: Path) -> None:
    files = [Path(shutil.copy(path, tmp_path)) for path in lineage("910B1").values()]
    own, base = (path.read_text() for path in files)
    changed = write_constants(calibrate("910B1"), files)
    assert files[0].read_text() == own, "what is fitted stands in the base"
    after = files[1].read_text()
    differing = [
        (a, b) for a, b in zip(base.splitlines(), after.splitlines(), strict=True) if a != b
    ]
    assert 0 < changed == len(differing)
    for old, new in differing:
        assert old.partition("#")[2] == new.partition("#")[2]
        assert float(new.partition("=")[2].partition("#")[0]) > 0
