"""Finds an installed CANN toolkit and the NPU, and reads what their tools print."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ci.model.errors import EnvironmentProblem
from rules.architectures import architectures

USUAL_HOME = Path("/usr/local/Ascend/ascend-toolkit/latest")

_CHIP = re.compile(rf"\b({'|'.join(one.chip_pattern for one in architectures())})\b")
_VERSION = re.compile(r"^\s*(?:Version|version|runtime_running_version)\s*=\s*\[?([^\]\s:]+)", re.M)


@dataclass(frozen=True)
class Toolkit:
    """An installed toolkit with the device it drives."""

    home: Path
    compiler: Path
    profiler: tuple[str, ...]
    """Program and leading words that profile the operators of a command."""
    cann: str
    driver: str
    chip: str

    @property
    def libraries(self) -> str:
        """LD_LIBRARY_PATH of programs that use the runtime."""
        driver = Path("/usr/local/Ascend/driver/lib64")
        return ":".join(
            map(str, (self.home / "lib64", driver, driver / "common", driver / "driver"))
        )


def find_toolkit() -> Toolkit:
    """The toolkit of this machine. Raises EnvironmentProblem saying what is missing."""
    home = _home()
    compiler = _first(
        [home / "bin/bisheng", home / "compiler/ccec_compiler/bin/bisheng",
         home / "tools/bisheng_compiler/bin/bisheng"]
    )  # fmt: skip
    if compiler is None:
        raise EnvironmentProblem(
            f"The CANN toolkit in {home} has no bisheng compiler; install the toolkit package "
            "(Ascend-cann-toolkit), not only the runtime."
        )
    smi = shutil.which("npu-smi")
    if smi is None:
        raise EnvironmentProblem(
            "npu-smi is not on the PATH, so there is no Ascend driver or no NPU here; "
            "use --backend sim."
        )
    said = subprocess.run([smi, "info"], capture_output=True, text=True, errors="replace")
    chip = parse_chip(said.stdout)
    if chip is None:
        raise EnvironmentProblem(
            f"npu-smi info names no {' or '.join(one.soc_family for one in architectures())}; the "
            "cann backend supports no other chip."
        )
    return Toolkit(
        home=home,
        compiler=compiler,
        profiler=_profiler(home),
        cann=_version([home / "version.cfg", home / "compiler/version.info"]),
        driver=_version([Path("/usr/local/Ascend/driver/version.info")]),
        chip=chip,
    )


def parse_chip(text: str) -> str | None:
    """The first chip that the table of `npu-smi info` names."""
    found = _CHIP.search(text)
    return found.group(1) if found else None


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
    """msopprof of newer toolkits, `msprof op` of older ones."""
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
