from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.cli.doctor import (
    Check,
    check_compiler,
    check_cpu,
    check_headers,
    check_npu,
    check_program,
    check_python,
    check_sandbox,
    check_toolkit,
    conclude,
    examine,
)
from bot.cli.main import run
from ci.model.environment import SANDBOX_VARIABLE
from ci.system import sandbox, sandbox_child
from ci.system.compiler import compiler, compiler_version
from tests.ci.backend.cann.standin.toolkit import install_npu_smi
from tests.places import HEADER_TREE


@pytest.fixture
def bare_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A PATH with nothing on it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    forget_compilers()
    yield tmp_path
    forget_compilers()


def forget_compilers() -> None:
    compiler.cache_clear()
    compiler_version.cache_clear()


def program(folder: Path, name: str, prints: str, code: int = 0) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\necho '{prints}'\nexit {code}\n")
    file.chmod(0o755)


def old_compiler(folder: Path, name: str) -> None:
    """It says its version, and knows no half precision."""
    program(folder, name, "11.4.0")
    file = folder / name
    file.write_text(file.read_text().replace("exit", 'case "$*" in *-fsyntax*) exit 1; esac; exit'))


def test_a_missing_compiler_names_the_package(bare_path: Path) -> None:
    found = check_compiler()
    assert found.state == "missing"
    assert found.mend == "apt-get install -y g++"


def test_an_old_compiler_is_missing_too(bare_path: Path) -> None:
    old_compiler(bare_path, "g++")
    found = check_compiler()
    assert found.state == "missing" and found.mend.startswith("apt-get install -y g++-")
    assert "11.4.0" in found.finding
    program(bare_path, "g++-12", "12.3.0")
    forget_compilers()
    assert check_compiler().finding.endswith("g++-12 12.3.0")


@pytest.mark.parametrize(("processor", "state"), [("aarch64", "found"), ("riscv64", "missing")])
def test_the_processors_that_the_simulator_runs_on_are_known(processor: str, state: str) -> None:
    assert check_cpu(processor).state == state


def test_an_old_python_is_named() -> None:
    assert check_python((3, 10, 2)).state == "missing"
    assert check_python((3, 11, 0)).state == "found"


def test_a_needed_program_is_missing_and_an_optional_one_absent(bare_path: Path) -> None:
    assert check_program("nm", "binutils", "no symbols", needed=True).state == "missing"
    assert check_program("bwrap", "bubblewrap", "limits", needed=False).state == "absent"


def test_a_sandbox_that_lacks_the_compiler_says_what_to_install(
    bare_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SANDBOX_VARIABLE, "limits")
    for known in (sandbox._works_here, sandbox_child._key):
        known.cache_clear()
    found = check_sandbox()
    assert (found.state, found.mend) == ("missing", "apt-get install -y g++")
    assert "g++, which is not installed" in found.finding


@pytest.mark.parametrize(
    ("level", "state", "words"),
    [
        ("bubblewrap", "found", "read-only files"),
        ("landlock", "found", "files closed"),
        ("limits", "absent", "runs nothing of merge requests"),
    ],
)
def test_each_level_of_the_sandbox_says_what_it_means(
    level: str, state: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(SANDBOX_VARIABLE, raising=False)
    found = check_sandbox(level)
    assert found.state == state and level in found.finding and words in found.finding
    assert bool(found.mend) == (level != "bubblewrap")


def test_a_kernel_that_forbids_namespaces_is_named_by_its_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(SANDBOX_VARIABLE, raising=False)
    for name, value in (
        ("user/max_user_namespaces", "0\n"),
        ("kernel/unprivileged_userns_clone", "1\n"),
        ("kernel/apparmor_restrict_unprivileged_userns", "1\n"),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(value)
    allow = "user.max_user_namespaces=10000 kernel.apparmor_restrict_unprivileged_userns=0"
    assert check_sandbox("landlock", tmp_path).mend.startswith(f"sysctl -w {allow}")
    (tmp_path / "user" / "max_user_namespaces").write_text("95000\n")
    assert "user." not in check_sandbox("landlock", tmp_path).mend


def test_the_toolkit_is_found_by_its_folder(tmp_path: Path) -> None:
    bare = check_toolkit(str(tmp_path))
    assert bare.state == "absent" and "no bisheng compiler" in bare.mend
    (tmp_path / "bin").mkdir()
    for name in ("bisheng", "msopprof"):
        (tmp_path / "bin" / name).touch()
    (tmp_path / "tools/simulator/Ascend910B4").mkdir(parents=True)
    whole = check_toolkit(str(tmp_path))
    assert whole.state == "found"
    assert "msopprof, simulates Ascend910B4" in whole.finding
    assert "only --backend cann-direct" in whole.finding
    assert check_toolkit("").state == "absent"
    assert "names no folder" in check_toolkit(str(tmp_path / "none")).finding


def test_an_npu_is_found_by_its_device_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.delenv("ASCEND_RT_VISIBLE_DEVICES", raising=False)
    assert check_npu(tmp_path).state == "absent"
    (tmp_path / "davinci0").touch()
    (tmp_path / "davinci_manager").touch()
    assert check_npu(tmp_path).finding == "davinci0"
    assert "no Ascend driver" in check_npu(tmp_path).mend
    tools = install_npu_smi(tmp_path / "tools")
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    found = check_npu(tmp_path)
    assert found.finding == "davinci0: 0 is a 910B4 (OK), 1 is a 910B4 (Alarm); 0 is used"
    assert found.state == "found"


def test_what_follows_from_a_missing_compiler() -> None:
    examined = conclude((Check(name="g++", state="missing", finding="", mend="x"),))
    assert not examined.ready
    assert "g++ must be fixed first" in examined.follows[0]


def test_what_follows_without_a_sandbox_and_an_npu() -> None:
    examined = conclude((check_sandbox("limits"),))
    assert examined.ready
    text = " ".join(examined.follows)
    assert "limits" in text
    assert "all times are simulated" in text


def test_an_npu_with_toolkit_makes_real_times_possible() -> None:
    checks = tuple(Check(name=n, state="found", finding="") for n in ("NPU", "CANN toolkit"))
    assert "--backend cann" in " ".join(conclude(checks).follows)


def test_the_command_exits_by_readiness(
    capsys: pytest.CaptureFixture[str], bare_path: Path
) -> None:
    assert run(["doctor"]) == 1
    assert "MISSING  g++" in capsys.readouterr().out


def test_json_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["doctor", "--json"])
    out = capsys.readouterr().out
    assert json.loads(out)["ready"] is examine().ready
    assert code == (0 if examine().ready else 1)
    assert os.environ["PATH"]


def test_named_headers_are_looked_for(tmp_path: Path) -> None:
    tree = HEADER_TREE
    assert check_headers(str(tree)).state == "found"
    assert "header_tree " in check_headers(str(tree)).finding
    missing = check_headers(str(tmp_path))
    assert missing.state == "missing"
    assert "holds no AscendC headers" in missing.finding
    assert not conclude((missing,)).ready


def test_headers_are_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASCENDOPT_ASC_HEADERS", raising=False)
    assert check_headers().state == "absent"
