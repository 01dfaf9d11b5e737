"""What is missing on a machine, and which device is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.backend import make_backend
from ci.backend.cann.toolkit import (
    find_device,
    find_toolkit,
    parse_version,
)
from ci.model.errors import EnvironmentProblem, InputError

NPU_SMI = """
+---------------------------------------------------------------------------+
| npu-smi 24.1.rc2       Version: 24.1.rc2                                  |
| NPU   Name             | Health          | Power(W)    Temp(C)            |
| 0     910B4            | OK              | 85.5        42                 |
+---------------------------------------------------------------------------+
"""


def fake_home(folder: Path) -> Path:
    (folder / "bin").mkdir(parents=True)
    for program in ("bisheng", "msopprof"):
        (folder / "bin" / program).write_text("#!/bin/sh\n")
        (folder / "bin" / program).chmod(0o755)
    (folder / "version.cfg").write_text("# version\nruntime_running_version=[8.2.RC1:8.2.RC1]\n")
    return folder


def with_npu_smi(folder: Path, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    (folder / "said").write_text(said)
    (folder / "npu-smi").write_text(f"#!/bin/sh\n/bin/cat '{folder}/said'\n")
    (folder / "npu-smi").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


@pytest.fixture(autouse=True)
def no_toolkit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("ci.backend.cann.toolkit.USUAL_HOME", tmp_path / "nowhere")


def test_a_missing_toolkit_is_one_sentence_with_the_cure() -> None:
    with pytest.raises(EnvironmentProblem, match=r"set_env\.sh.*--backend sim"):
        make_backend("cann", "910B4")


def test_a_wrong_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCEND_HOME_PATH", "/no/such/place")
    with pytest.raises(EnvironmentProblem, match="ASCEND_HOME_PATH names /no/such/place"):
        find_toolkit()


def test_a_runtime_without_compiler_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path))
    with pytest.raises(EnvironmentProblem, match="no bisheng compiler"):
        find_toolkit()


def test_a_machine_without_a_driver_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ASCEND_HOME_PATH", str(fake_home(tmp_path / "cann")))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(EnvironmentProblem, match="npu-smi is not on the PATH"):
        find_device()


def test_toolkit_chip_and_versions_are_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = fake_home(tmp_path / "cann")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(home))
    with_npu_smi(tmp_path / "tools", NPU_SMI, monkeypatch)
    backend = make_backend("cann", "910B4")
    assert backend.fingerprint().device == "910B4"
    assert "CANN 8.2.RC1" in backend.fingerprint().version
    assert not backend.fingerprint().simulated
    with pytest.raises(InputError, match="has an Ascend 910B4, not the 910B1"):
        make_backend("cann", "910B1")


def test_another_chip_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ASCEND_HOME_PATH", str(fake_home(tmp_path / "cann")))
    with_npu_smi(tmp_path / "tools", "| 0     950PR            | OK              |", monkeypatch)
    with pytest.raises(EnvironmentProblem, match="names no Ascend910B"):
        find_device()


def test_versions_are_read_in_either_spelling() -> None:
    assert parse_version("Version=8.0.RC3\n") == "8.0.RC3"
    assert parse_version("nothing") == "unknown"
