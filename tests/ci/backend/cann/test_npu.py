"""What npu-smi prints is read: devices, who uses them, clocks; what hangs is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.backend.cann import npu
from ci.backend.cann.npu import (
    Npu,
    Process,
    device_nodes,
    leased_device,
    npu_smi,
    read_clock,
    read_npus,
    read_processes,
)
from ci.model.errors import EnvironmentProblem
from tests.ci.backend.cann.standin.toolkit import NPU_SMI


def test_devices_and_processes_are_read_from_one_table() -> None:
    assert read_npus(NPU_SMI) == [Npu(0, "910B4", "OK"), Npu(1, "910B4", "Alarm")]
    assert read_processes(NPU_SMI) == [Process(1, 4711, "python")]
    assert read_npus("no table") == read_processes("no table") == []


def test_the_clock_is_read_where_the_driver_tells_it() -> None:
    said = "Aicore Freq(MHZ)   : 1650\n        Aicore curFreq(MHZ)            : 800\n"
    assert read_clock(said) == (800, 1650)
    assert read_clock("Temperature(C) : 38") is None


def test_the_first_leased_device_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASCEND_RT_VISIBLE_DEVICES", raising=False)
    assert leased_device() == 0
    monkeypatch.setenv("ASCEND_RT_VISIBLE_DEVICES", "3,5")
    assert leased_device() == 3


def test_only_the_nodes_of_our_device_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("davinci0", "davinci1", "davinci_manager", "hisi_hdc"):
        (tmp_path / name).touch()
    monkeypatch.setattr(npu, "DEVICES", tmp_path)
    assert [p.name for p in device_nodes(1)] == ["davinci1", "davinci_manager", "hisi_hdc"]


def test_a_driver_that_hangs_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "npu-smi").write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    (tmp_path / "npu-smi").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(npu, "_SECONDS", 0.2)
    with pytest.raises(EnvironmentProblem, match="the driver hangs"):
        npu_smi()
