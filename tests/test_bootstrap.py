"""`.ci/bootstrap` on machines that lack something: one command that fixes it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.places import TOP

USED = ("bash", "cat", "env", "git", "grep", "id", "sed", "sort")
KNOWS_HALF, TOO_OLD = "exit 0", "exit 1"
OFFERS_11, OFFERS_14 = "echo 'Version: 4:11.2.0-1ubuntu1'", "echo 'Version: 4:14.2.0-1'"


def said(folder: Path, **programs: str) -> str:
    """What it says where these programs are, by what they do, and the usual ones."""
    for name in USED:
        (folder / name).symlink_to(str(shutil.which(name)))
    for name, does in programs.items():
        (folder / name).write_text(f"#!/bin/bash\n{does}\n")
        (folder / name).chmod(0o755)
    done = subprocess.run(
        [TOP / ".ci" / "bootstrap", folder / "venv"],
        env={**os.environ, "PATH": str(folder), "ASCENDOPT_APT": "no"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    return done.stderr.strip()


@pytest.mark.parametrize(
    ("compilers", "offered", "wanted"),
    [
        ({}, OFFERS_14, " g++"),
        ({}, OFFERS_11, " g++-12"),
        ({"g++": TOO_OLD}, OFFERS_11, " g++-12"),
        ({"g++": TOO_OLD, "g++-12": KNOWS_HALF}, OFFERS_11, ""),
        ({"g++": KNOWS_HALF}, OFFERS_14, ""),
    ],
)
def test_a_compiler_that_knows_half_precision_is_asked_for_in_one_command(
    tmp_path: Path, compilers: dict[str, str], offered: str, wanted: str
) -> None:
    others = {"uname": "echo x86_64", "python3": "exit 1", "apt-cache": offered}
    mend = "Missing on this machine; install with: sudo apt-get install -y"
    assert said(tmp_path, **others, **compilers) == f"{mend} python3.11 python3.11-venv{wanted}"


def test_on_aarch64_a_newer_one_is_asked_for(tmp_path: Path) -> None:
    others = {"uname": "echo aarch64", "python3": "exit 1", "apt-cache": OFFERS_11}
    assert said(tmp_path, **others).endswith(" g++-13")
