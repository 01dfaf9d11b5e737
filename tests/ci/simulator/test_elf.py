"""Dynamic symbols read from the file are those that nm tells."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ci.model.errors import EnvironmentProblem
from ci.simulator.elf import dynamic_symbols

SOURCE = """
extern "C" int offered(); extern "C" int asked();
static int hidden() { return 1; }
extern "C" int offered() { return asked() + hidden(); }
"""


@pytest.mark.parametrize("defined", [True, False])
def test_symbols_are_those_that_nm_tells(tmp_path: Path, defined: bool) -> None:
    (tmp_path / "a.cpp").write_text(SOURCE)
    subprocess.run(["g++", "-shared", "-fPIC", "a.cpp", "-o", "a.so"], cwd=tmp_path, check=True)
    which = "--defined-only" if defined else "--undefined-only"
    said = subprocess.run(
        ["nm", "-D", "--format=posix", which, "a.so"],
        cwd=tmp_path, check=True, capture_output=True, text=True,
    )  # fmt: skip
    wanted = {line.split(" ")[0].split("@")[0] for line in said.stdout.splitlines()}
    assert dynamic_symbols(tmp_path / "a.so", defined=defined) == wanted
    assert ("offered" if defined else "asked") in wanted


@pytest.mark.parametrize("data", [b"", b"no program", b"\x7fELF\x02\x01" + b"\xff" * 80])
def test_what_is_no_library_is_told(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.so").write_bytes(data)
    with pytest.raises(EnvironmentProblem, match=r"a\.so cannot be read"):
        dynamic_symbols(tmp_path / "a.so", defined=True)
