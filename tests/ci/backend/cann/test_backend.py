"""What the cann backend decides without an NPU: what is missing, what the tools' output means."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ci.backend import make_backend
from ci.backend.cann.backend import compile_arguments, launcher_unit, profile_command, write_request
from ci.backend.cann.toolkit import (
    Toolkit,
    find_toolkit,
    parse_chip,
    parse_version,
)
from ci.host.host_tiling import TilingAnswer
from ci.host.kernel_unit import KernelVariant
from ci.model.errors import EnvironmentProblem, InputError
from ci.testing.scale_shift import KERNEL, OPERATOR
from rules.architectures import load_architecture

NPU_SMI = """
+---------------------------------------------------------------------------+
| npu-smi 24.1.rc2       Version: 24.1.rc2                                  |
| NPU   Name             | Health          | Power(W)    Temp(C)            |
| 0     910B4            | OK              | 85.5        42                 |
+---------------------------------------------------------------------------+
"""
ANSWER = TilingAnswer(block_dim=4, tiling_key=0, data=b"12345678", workspace=(0,))


def fake_home(folder: Path) -> Path:
    (folder / "bin").mkdir(parents=True)
    for program in ("bisheng", "msopprof"):
        (folder / "bin" / program).write_text("#!/bin/sh\n")
        (folder / "bin" / program).chmod(0o755)
    (folder / "version.cfg").write_text("# version\nruntime_running_version=[8.2.RC1:8.2.RC1]\n")
    return folder


def toolkit(home: Path) -> Toolkit:
    return Toolkit(home, home / "bin/bisheng", ("msopprof",), "8.2", "24.1", "910B4")


def with_npu_smi(folder: Path, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    (folder / "said").write_text(said)
    (folder / "npu-smi").write_text(f"#!/bin/sh\n/bin/cat {folder}/said\n")
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
        find_toolkit()


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
    with_npu_smi(tmp_path / "tools", "| 0  950PR |", monkeypatch)
    with pytest.raises(EnvironmentProblem, match="names no Ascend910B"):
        find_toolkit()


def test_the_tools_output_is_read() -> None:
    assert parse_chip(NPU_SMI) == "910B4"
    assert parse_chip("no table") is None
    assert parse_version("Version=8.0.RC3\n") == "8.0.RC3"
    assert parse_version("nothing") == "unknown"


def test_the_launcher_calls_the_kernel_with_all_its_parameters() -> None:
    variant = KernelVariant(("float32", "float32"), ("ND", "ND"), 3, "struct Data {};", "Data")
    unit = launcher_unit(OPERATOR, variant, OPERATOR.read(KERNEL))
    assert "scale_shift<<<block_dim, nullptr, stream>>>(a[0], a[1], a[2], a[3]);" in unit
    assert "#define ASCENDOPT_TILING_KEY 3" in unit
    assert "#define DTYPE_X float" in unit


def test_commands_name_automatic_synchronisation_and_the_sample_count(tmp_path: Path) -> None:
    kit = toolkit(tmp_path)
    architecture = load_architecture("dav-c220")
    arguments = compile_arguments(kit, architecture, OPERATOR, False, Path("laid"))
    assert {"--cce-auto-sync=off", "--npu-arch=dav-2201"} <= set(arguments)
    out, launcher, request = (tmp_path / name for name in ("out", "launcher", "request"))
    command = profile_command(kit, out, "scale_shift", launcher, request)
    assert command[-2:] == [str(launcher), str(request)]
    assert {"--launch-count=30", "--kernel-name=scale_shift"} <= set(command)


def test_a_request_lists_tensors_in_parameter_order(tmp_path: Path) -> None:
    x, y = np.ones((2, 3), np.float32), np.zeros((2, 3), np.float32)
    request = write_request(tmp_path, ANSWER, [x, None], [y, y], {1: 0})
    lines = [line.split("\t") for line in request.read_text().splitlines()]
    assert [line[0] for line in lines[4:]] == ["input", "null", "output", "alias"]
    assert lines[-1] == ["alias", "0", str(tmp_path / "output1"), "24"]
    assert (tmp_path / "input0").read_bytes() == x.tobytes()
    with pytest.raises(InputError, match="tensor lists"):
        write_request(tmp_path, ANSWER, [[x]], [y], {})
