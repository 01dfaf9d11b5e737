from pathlib import Path

import pytest

from ci.tiling.core_counts import core_counts


def test_the_counts_of_all_chips_of_a_kind_are_steps() -> None:
    steps = (1, 2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48)
    assert core_counts("910B4").steps() == core_counts("910B1").steps() == steps


def test_a_device_is_asked_to_use_all_its_own_cores_first() -> None:
    assert core_counts("910B4").promising_numbers()[:2] == (40, 20)
    assert core_counts("910B1").promising_numbers()[:2] == (48, 24)
    assert max(core_counts("910B4").promising_caps()) < 40


def test_a_driver_may_name_the_chip_by_its_soc() -> None:
    assert core_counts("Ascend910B1") == core_counts("910B1")


def test_a_chip_of_ones_own_brings_its_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "Small.toml").write_text('base = "910B4"\n[device]\nvector_cores = 28\n')
    monkeypatch.setenv("ASCENDOPT_DEVICES", str(tmp_path))
    assert core_counts("Small").promising_numbers()[0] == 28
    assert {28, 14} <= set(core_counts("910B4").steps())
