"""The NPUs of this machine, as `npu-smi` tells them, and which of them is ours.

Tables of `npu-smi info`: https://www.hiascend.com/document/detail/zh/Atlas%20200I%20A2/2520/re/npu/
A device that a scheduler or a pool has leased to this process is named by
ASCEND_RT_VISIBLE_DEVICES, as logical id. Programs that we start do not inherit the variable: the
toolkit's profilers do not support it from CANN 9.0 on ("maintenref/envvar/envref_07_0028": not
together with Profiling). They get the logical id instead, and call aclrtSetDevice with it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ci.model.errors import EnvironmentProblem, InputError

LEASE: Final = "ASCEND_RT_VISIBLE_DEVICES"

DEVICES: Final = Path("/dev")

_SECONDS: Final = 20.0
"""`npu-smi` answers within one; a driver that hangs is reported."""

# | 0     910B4               | OK            | 85.5        42                ... |
_NPU: Final = re.compile(r"^\|\s*(\d+)\s+(?:Ascend)?([0-9A-Z]+)\s*\|\s*([A-Za-z]+)\s*\|", re.M)
# | 0       0                 | 12345         | python                   | 1234  |
_PROCESS: Final = re.compile(r"^\|\s*(\d+)\s+(\d+)\s*\|\s*(\d+)\s*\|\s*(\S[^|]*?)\s*\|", re.M)
_CLOCK: Final = re.compile(r"Aicore (Freq|curFreq)\(MHZ\)\s*:\s*(\d+)", re.I)


@dataclass(frozen=True)
class Npu:
    """One device."""

    number: int
    chip: str
    """Such as 910B4."""
    health: str
    """OK, Warning, Alarm, Critical or UNKNOWN."""


@dataclass(frozen=True)
class Process:
    """A process that uses a device."""

    npu: int
    pid: int
    name: str


def npu_smi(*words: str) -> str:
    """What `npu-smi info …` prints. Raises EnvironmentProblem."""
    program = shutil.which("npu-smi")
    if program is None:
        raise EnvironmentProblem(
            "npu-smi is not on the PATH, so there is no Ascend driver or no NPU here; "
            "use --backend sim."
        )
    try:
        done = subprocess.run(
            [program, "info", *words],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise EnvironmentProblem(
            f"npu-smi info does not answer within {_SECONDS:.0f} s: the driver hangs; see dmesg,"
            " and reset the device with `npu-smi set -t reset -i ID -c 0`."
        ) from late
    return done.stdout


def read_npus(text: str) -> list[Npu]:
    """The devices in the table of `npu-smi info`, in the order of their logical ids."""
    return [Npu(int(n), chip, health) for n, chip, health in _NPU.findall(text)]


def read_processes(text: str) -> list[Process]:
    """The processes in that table."""
    below = text[text.find("Process id") :] if "Process id" in text else ""
    return [Process(int(n), int(p), name) for n, _, p, name in _PROCESS.findall(below)]


def read_clock(text: str) -> tuple[int, int] | None:
    """Current and rated clock in MHz of `npu-smi info -t common -i ID`; None when it says none.

    The current one is that of this moment: an idle device clocks down.
    """
    found = {name.lower(): int(mhz) for name, mhz in _CLOCK.findall(text)}
    return (found["curfreq"], found["freq"]) if {"curfreq", "freq"} <= set(found) else None


def leased_device() -> int:
    """The logical id of the device that this process may use: the first that is leased, else 0.

    Raises InputError when the variable names none.
    """
    given = os.environ.get(LEASE)
    if given is None:
        return 0
    first = given.split(",")[0].strip()
    if not first.isdigit():
        raise InputError(f"{LEASE} is '{given}', which does not begin with the id of a device.")
    return int(first)


def device_nodes(number: int) -> list[Path]:
    """The nodes of /dev that a program needs for one device, those that are there.

    As `docker run --device` of the toolkit's installation guide names them. The number of a node
    is that of the logical id on a host whose devices are all visible.
    """
    names = (f"davinci{number}", "davinci_manager", "devmm_svm", "hisi_hdc")
    return [path for name in names if (path := DEVICES / name).exists()]
