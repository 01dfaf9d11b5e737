"""Finds an installed CANN toolkit and the NPU that it drives, and reads their versions."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ci.backend.cann.npu import leased_device, npu_smi, read_npus
from ci.model.errors import EnvironmentProblem
from rules.architectures import architectures

USUAL_HOME = Path("/usr/local/Ascend/ascend-toolkit/latest")

DRIVER = Path("/usr/local/Ascend/driver")

_VERSION = re.compile(r"^\s*(?:Version|version|runtime_running_version)\s*=\s*\[?([^\]\s:]+)", re.M)


@dataclass(frozen=True)
class Toolkit:
    """An installed toolkit."""

    home: Path
    compiler: Path
    profiler: tuple[str, ...]
    """Program and leading words that profile the operators of a command."""
    cann: str
    driver: str
    """Version; '' where there is none."""

    @property
    def libraries(self) -> str:
        """LD_LIBRARY_PATH of programs that use the runtime."""
        driver = DRIVER / "lib64"
        return ":".join(
            map(str, (self.home / "lib64", driver, driver / "common", driver / "driver"))
        )

    @property
    def readable(self) -> list[Path]:
        """What of it a sandboxed program sees; links and what they lead to."""
        places = [self.home, self.home.resolve(), DRIVER, Path(self.profiler[0]).parent]
        return list(dict.fromkeys(p for p in places if p.exists()))

    @property
    def environment(self) -> list[str]:
        """The words of `env` that let a program find it."""
        return [
            "/usr/bin/env",
            f"LD_LIBRARY_PATH={self.libraries}",
            f"ASCEND_HOME_PATH={self.home}",
            f"ASCEND_OPP_PATH={self.home / 'opp'}",
        ]

    @property
    def set_env(self) -> Path | None:
        """The script that sets everything which a build needs."""
        places = [self.home / "set_env.sh", self.home.parent / "set_env.sh",
                  self.home / "bin/setenv.bash"]  # fmt: skip
        return _first(places)


@dataclass(frozen=True)
class Device:
    """The NPU that is ours."""

    chip: str
    number: int
    """Logical id."""


def find_toolkit() -> Toolkit:
    """The toolkit of this machine. Raises EnvironmentProblem saying what is missing."""
    return toolkit_in(_home())


def toolkit_in(home: Path) -> Toolkit:
    """The toolkit in a folder. Raises EnvironmentProblem saying what is missing of it."""
    compiler = _first(
        [home / "bin/bisheng", home / "compiler/ccec_compiler/bin/bisheng",
         home / "tools/bisheng_compiler/bin/bisheng"]
    )  # fmt: skip
    if compiler is None:
        raise EnvironmentProblem(
            f"The CANN toolkit in {home} has no bisheng compiler; install the toolkit package "
            "(Ascend-cann-toolkit), not only the runtime."
        )
    return Toolkit(
        home=home,
        compiler=compiler,
        profiler=_profiler(home),
        cann=_version([home / "version.cfg", home / "compiler/version.info"]),
        driver=_version([DRIVER / "version.info"]),
    )


def find_device() -> Device:
    """The NPU that is leased to this process. Raises EnvironmentProblem, InputError."""
    said = npu_smi()
    npus, number = read_npus(said), leased_device()
    known = [re.compile(one.chip_pattern) for one in architectures()]
    if not any(pattern.fullmatch(npu.chip) for pattern in known for npu in npus):
        raise EnvironmentProblem(
            f"npu-smi info names no {' or '.join(one.soc_family for one in architectures())}; the "
            "cann backend supports no other chip."
        )
    if number >= len(npus):
        raise EnvironmentProblem(
            f"There is no device {number}: npu-smi info names {len(npus)}, counted from 0."
        )
    npu = npus[number]
    if npu.health not in ("OK", "Warning"):
        raise EnvironmentProblem(
            f"Device {number} is not fit to measure on: npu-smi info calls its health {npu.health}."
        )
    return Device(npu.chip, number)


def parse_version(text: str) -> str:
    """The version in a CANN version file; 'unknown' when it has none."""
    found = _VERSION.search(text)
    return found.group(1) if found else "unknown"


def _home() -> Path:
    for variable in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"):
        given = os.environ.get(variable, "")
        if given:
            if Path(given).is_dir():
                return Path(given)
            raise EnvironmentProblem(f"{variable} names {given}, which is not a folder.")
    if USUAL_HOME.is_dir():
        return USUAL_HOME
    raise EnvironmentProblem(
        "The cann backend needs an installed CANN toolkit; source its set_env.sh so that "
        "ASCEND_HOME_PATH is set, or use --backend sim."
    )


def _profiler(home: Path) -> tuple[str, ...]:
    """Return the command of the profiler: msopprof of newer toolkits, `msprof op` of older ones."""
    newer = shutil.which("msopprof") or _first([home / "bin/msopprof"])
    if newer:
        return (str(newer),)
    older = shutil.which("msprof") or _first(
        [home / "bin/msprof", home / "tools/profiler/bin/msprof"]
    )
    if older:
        return (str(older), "op")
    raise EnvironmentProblem(f"The CANN toolkit in {home} has neither msopprof nor msprof.")


def _first(paths: Iterable[Path]) -> Path | None:
    return next((path for path in paths if path.is_file()), None)


def _version(files: Iterable[Path]) -> str:
    found = _first(files)
    return parse_version(found.read_text(errors="replace")) if found else "unknown"
