"""Our own C++ compiles without a warning: the machine, the host runtime, and every header alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.host.door.forwarding import forwarding
from ci.host.door.own import HEADERS
from ci.host.host_command import FORWARDING, HOST, prelude_texts
from ci.host.source_tree import lay
from ci.simulator.toolchain import CORE_KINDS, MACHINE, Toolchain
from ci.system.compiler import WARNINGS, compile_trusted
from rules.architectures import load_architecture


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    return Toolchain(load_architecture("dav-c220"))


def test_the_machine_and_the_host_runtime(toolchain: Toolchain) -> None:
    machine = toolchain.machine_objects(sorted(MACHINE.glob("*.cpp")))
    said = [(unit.parent / "warnings").read_text() for unit in (*machine, *toolchain.host_runtime)]
    assert len(said) > 40
    assert "".join(said) == ""


@pytest.mark.parametrize("core", CORE_KINDS)
def test_what_kernels_include(toolchain: Toolchain, core: str, tmp_path: Path) -> None:
    headers = ["kernel_operator.h", "lib/matmul_intf.h", *forwarding("kernel")]
    own = [flag for flag in toolchain.kernel_flags(core) if flag not in ("-w", "-fpermissive")]
    places = [f"-I{HEADERS}", f"-I{MACHINE}", "-I."]
    lay(tmp_path, forwarding("kernel"))
    assert _warnings([*own, *places], headers, tmp_path) == ""


def test_what_host_sources_include(tmp_path: Path) -> None:
    detail = {f"detail/{path.name}" for path in (HOST / "detail").glob("*.h")}
    detail.remove("detail/asc_tiling.h")  # needs a tree of the user's
    lay(tmp_path, prelude_texts())
    headers = ["host_prelude.h", *sorted(detail), *forwarding("host")]
    assert _warnings(["-std=c++17", f"-I{HOST}", f"-I{FORWARDING}"], headers, tmp_path) == ""


def _warnings(flags: list[str], headers: list[str], folder: Path) -> str:
    text = "".join(f'#include "{header}"\n' for header in headers)
    (folder / "unit.cpp").write_text(text)
    return compile_trusted([*flags, *WARNINGS, "-fsyntax-only", "unit.cpp"], folder)
