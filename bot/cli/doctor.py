"""What this machine has and what follows from it; every finding names the command that fixes it."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final, Literal

from pydantic import Field

from ci.model.environment import SANDBOX_VARIABLE
from ci.model.errors import EnvironmentProblem, InputError
from ci.model.frozen import Frozen
from ci.session import facts

MINIMUM_PYTHON: Final = (3, 11)
MODELS_PAGE: Final = "see docs/language-models.md; examples/models.yml is one to begin with"
# Instruction sets of x86-64 that a kernel is compiled for (half conversions, wide integers).
CPU_FLAGS: Final = ("f16c", "avx2")
# What each level of the sandbox means for candidates and golden functions.
SANDBOX: Final = {
    "bubblewrap": "no network, read-only files, private tmp, limits",
    "landlock": "no network, files closed but their names, limits",
    "limits": "no network and hard limits, but your files can be read and written: optimize"
    " only operators that you would run yourself; the bot runs nothing of merge requests"
    " (allow_unsandboxed)",
}


class Check(Frozen):
    """One thing looked for."""

    name: str
    state: Literal["found", "missing", "absent"] = Field(
        description="missing: needed and not there; absent: optional and not there."
    )
    finding: str = Field(description="Version or place, or what is wrong, in words.")
    mend: str = Field(default="", description="Command that fixes it; '' when nothing is wrong.")


class Examination(Frozen):
    """All checks, whether the simulator can run, and what follows, in sentences."""

    checks: tuple[Check, ...]
    ready: bool
    follows: tuple[str, ...]


def _first_line(*argv: str) -> str | None:
    """First line that a program prints, or None when it cannot be run."""
    program = shutil.which(argv[0])
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, *argv[1:]], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = done.stdout.strip().splitlines()
    return lines[0] if done.returncode == 0 and lines else None


def check_python(version: tuple[int, ...] = tuple(sys.version_info[:3])) -> Check:
    """Python, 3.11 or newer."""
    words = ".".join(str(part) for part in version)
    if version >= MINIMUM_PYTHON:
        return Check(name="python", state="found", finding=words)
    return Check(
        name="python",
        state="missing",
        finding=f"{words} is older than 3.11",
        mend="apt-get install -y python3.11 python3.11-venv",
    )


def check_compiler() -> Check:
    """The first g++ that knows half precision; a distribution's own may be too old."""
    try:
        return Check(name="g++", state="found", finding=facts.compiler())
    except EnvironmentProblem as problem:
        finding, _, mend = str(problem).partition("; on Debian or Ubuntu: ")
        return Check(name="g++", state="missing", finding=finding, mend=mend)


def check_cpu(processor: str = platform.machine()) -> Check:
    """The host's processor, and its instruction sets where not every one of its kind has them."""
    if processor == "aarch64":
        return Check(name="cpu", state="found", finding=processor)
    if processor != "x86_64":
        return Check(
            name="cpu",
            state="missing",
            finding=f"the simulator runs on x86-64 and aarch64, not on {processor}",
            mend="use a machine with one of these",
        )
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    flags = next((line.split() for line in text.splitlines() if line.startswith("flags")), [])
    lacking = [flag for flag in CPU_FLAGS if flag not in flags]
    if lacking:
        return Check(
            name="cpu",
            state="missing",
            finding=f"an x86-64 with {', '.join(lacking)} is needed to run half-precision kernels",
            mend="use a machine with an x86-64-v3 processor (2013 or later)",
        )
    return Check(name="cpu", state="found", finding=f"x86-64 with {', '.join(CPU_FLAGS)}")


def check_program(name: str, package: str, purpose: str, *, needed: bool) -> Check:
    """A program on the path; `purpose` says what is lost without it."""
    found = _first_line(name, "--version")
    if found is not None:
        return Check(name=name, state="found", finding=found)
    return Check(
        name=name,
        state="missing" if needed else "absent",
        finding=purpose,
        mend=f"apt-get install -y {package}",
    )


def _allow_namespaces(settings: Path) -> str:
    """The command that lets users make namespaces, '' where no setting of the kernel forbids it.

    The settings: https://man7.org/linux/man-pages/man7/user_namespaces.7.html, those of Debian's
    and Ubuntu's kernels.
    """
    changed = []
    for name, forbids, allows in (
        ("user.max_user_namespaces", "0", "10000"),
        ("kernel.unprivileged_userns_clone", "0", "1"),
        ("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),
    ):
        file = settings / name.replace(".", "/")
        if file.is_file() and file.read_text().strip() == forbids:
            changed.append(f"{name}={allows}")
    return f"sysctl -w {' '.join(changed)}" if changed else ""


def check_sandbox(level: str = "", settings: Path = Path("/proc/sys")) -> Check:
    """The sandbox's level; `settings` of the kernel or a container may forbid bubblewrap."""
    try:
        level = level or facts.sandbox_level()
    except EnvironmentProblem as problem:
        mend = check_compiler().mend or f"unset {SANDBOX_VARIABLE}"
        return Check(name="sandbox", state="missing", finding=str(problem), mend=mend)
    finding = f"{level}: {SANDBOX[level]}"
    if os.environ.get(SANDBOX_VARIABLE) == level:
        state: Literal["found", "absent"] = "absent" if level == "limits" else "found"
        return Check(
            name="sandbox",
            state=state,
            finding=f"{finding} (chosen by {SANDBOX_VARIABLE})",
            mend="" if state == "found" else f"unset {SANDBOX_VARIABLE}",
        )
    if level == "bubblewrap":
        return Check(name="sandbox", state="found", finding=finding)
    mend = _allow_namespaces(settings)
    if shutil.which("bwrap") is None:
        mend = " && ".join(filter(None, (mend, "apt-get install -y bubblewrap")))
    mend = mend or "run this container privileged: it may make no namespaces"
    state = "found" if level == "landlock" else "absent"
    return Check(name="sandbox", state=state, finding=finding, mend=mend)


def check_toolkit(home: str | None = None) -> Check:
    """The CANN toolkit, by ASCEND_HOME_PATH, and whether it has what the backends need."""
    home = home if home is not None else os.environ.get("ASCEND_HOME_PATH", "")
    if home and Path(home).is_dir():
        found = facts.toolkit(Path(home))
        state: Literal["found", "absent"] = "absent" if found.lacks else "found"
        return Check(name="CANN toolkit", state=state, finding=found.words, mend=found.lacks)
    finding = f"ASCEND_HOME_PATH names no folder: {home}" if home else "ASCEND_HOME_PATH is not set"
    return Check(
        name="CANN toolkit",
        state="absent",
        finding=finding,
        mend="source /usr/local/Ascend/ascend-toolkit/set_env.sh (only needed for --backend cann)",
    )


def check_headers(asc_headers: str = "") -> Check:
    """The real AscendC headers that kernels would be compiled against, if any are named."""
    try:
        found = facts.asc_headers(asc_headers)
    except InputError as problem:
        return Check(name="AscendC headers", state="missing", finding=str(problem))
    if not found:
        return Check(
            name="AscendC headers",
            state="absent",
            finding="none named: kernels are compiled against our own",
        )
    return Check(name="AscendC headers", state="found", finding=found)


def check_npu(devices: Path = Path("/dev")) -> Check:
    """Ascend NPUs, by their device nodes, with what the driver says of them."""
    nodes = sorted(p.name for p in devices.glob("davinci[0-9]*"))
    if not nodes:
        return Check(
            name="NPU", state="absent", finding="no /dev/davinci*: every time will be simulated"
        )
    found = facts.npus()
    words = ", ".join(nodes) + (f": {found.words}" if found.words else "")
    state: Literal["found", "absent"] = "absent" if found.lacks else "found"
    return Check(name="NPU", state=state, finding=words, mend=found.lacks)


def check_roles(models: Path | None = None, *, ask: bool = False) -> Check:
    """Which roles of `--proposer llm` have a model; `ask` sends each model one tiny request.

    Without `ask` nothing leaves the machine. Raises InputError when `models` cannot be used.
    """
    try:
        roles = facts.roles(models, ask=ask)
    except InputError as problem:
        if models is not None:
            raise
        return Check(name="models", state="absent", finding=str(problem), mend=MODELS_PAGE)
    if not roles.by_model:
        return Check(
            name="models",
            state="absent",
            finding="no language model is configured: --proposer llm cannot be used",
            mend=MODELS_PAGE,
        )
    words = [f"{', '.join(filled)}: {name}" for name, filled in roles.by_model.items()]
    words += [f"{', '.join(roles.by_rules)}: rules"] if roles.by_rules else []
    if roles.faults:
        finding = "; ".join([*words, *roles.faults])
        return Check(name="models", state="absent", finding=finding, mend=MODELS_PAGE)
    answered = "; every model answers" if ask else ""
    return Check(name="models", state="found", finding="; ".join(words) + answered)


def conclude(checks: tuple[Check, ...]) -> Examination:
    """Sum up the checks in sentences."""
    state = {check.name: check.state for check in checks}
    missing = [check.name for check in checks if check.state == "missing"]
    follows = []
    if missing:
        follows.append(f"Not ready: {', '.join(missing)} must be fixed first.")
    else:
        follows.append(
            "Ready: operators are built with g++ and run on the simulator (--backend sim)."
        )
    if state.get("NPU") == "found" and state.get("CANN toolkit") == "found":
        follows.append("An NPU and a toolkit are there: --backend cann can measure real times.")
    else:
        follows.append("No real device can be measured here: all times are simulated times.")
    follows += [f"Sandbox level: {c.finding.rstrip('.')}." for c in checks if c.name == "sandbox"]
    return Examination(checks=checks, ready=not missing, follows=tuple(follows))


def examine(
    models: Path | None = None, *, check_models: bool = False, asc_headers: str = ""
) -> Examination:
    """Look at this machine; `check_models` asks the configured models, which costs some tokens.

    `asc_headers` names real headers, as for evaluate.
    """
    binutils = "kernels cannot be checked for forbidden symbols and lines cannot be named"
    return conclude(
        (
            check_python(),
            check_compiler(),
            check_cpu(),
            check_program(
                "git", "git", "patches can be neither checked nor submitted", needed=True
            ),
            check_program("nm", "binutils", binutils, needed=True),
            check_program("addr2line", "binutils", binutils, needed=True),
            check_sandbox(),
            check_toolkit(),
            check_headers(asc_headers),
            check_npu(),
            check_roles(models, ask=check_models),
        )
    )
