"""Our own C++ compiles without a warning: the machine, the host runtime, and every header alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.host.host_tiling import HOST
from ci.simulator.toolchain import CORE_FLAGS, KERNEL_FLAGS, MACHINE, Toolchain
from ci.system.compiler import WARNINGS, compile_trusted

HEADERS = MACHINE.parent / "ascendc"


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    return Toolchain()


def test_the_machine_and_the_host_runtime(toolchain: Toolchain) -> None:
    machine = toolchain.machine_objects(sorted(MACHINE.glob("*.cpp")))
    said = [(unit.parent / "warnings").read_text() for unit in (*machine, *toolchain.host_runtime)]
    assert len(said) > 40
    assert "".join(said) == ""


@pytest.mark.parametrize("core", CORE_FLAGS)
def test_what_kernels_include(core: str, tmp_path: Path) -> None:
    headers = [HEADERS / "kernel_operator.h", HEADERS / "lib" / "matmul_intf.h"]
    own = [flag for flag in KERNEL_FLAGS if flag not in ("-w", "-fpermissive")]
    places = [f"-I{HEADERS}", f"-I{MACHINE}"]
    assert _warnings([*own, *CORE_FLAGS[core], *places], headers, tmp_path) == ""


def test_what_host_sources_include(tmp_path: Path) -> None:
    headers = [HOST / "host_prelude.h", *sorted((HOST / "detail").glob("*.h"))]
    headers.remove(HOST / "detail" / "asc_tiling.h")  # needs a tree of the user's
    assert _warnings(["-std=c++17", f"-I{HOST}"], headers, tmp_path) == ""


def _warnings(flags: list[str], headers: list[Path], folder: Path) -> str:
    text = "".join(f'#include "{header}"\n' for header in headers)
    (folder / "unit.cpp").write_text(text)
    return compile_trusted([*flags, *WARNINGS, "-fsyntax-only", "unit.cpp"], folder)
