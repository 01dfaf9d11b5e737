"""Installs the stand-ins: a toolkit's home, npu-smi on the PATH, an operator repository."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from ci.model.operator import Operator
from ci.source.discovery import load_operator
from ci.testing.scale_shift import FOLDER

HERE = Path(__file__).parent

NPU_SMI = """\
+---------------------------------------------------------------------------------------+
| npu-smi 24.1.rc2                 Version: 24.1.rc2                                    |
+---------------------------+---------------+-------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages   |
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage   |
+===========================+===============+===========================================+
| 0     910B4               | OK            | 85.5        42                0    / 0    |
| 0                         | 0000:C1:00.0  | 0           0    / 0          3390 / 32768|
+===========================+===============+===========================================+
| 1     910B4               | Alarm         | 85.5        42                0    / 0    |
| 0                         | 0000:C2:00.0  | 0           0    / 0          3390 / 32768|
+---------------------------+---------------+-------------------------------------------+
| NPU     Chip              | Process id    | Process name             | Process memory |
+===========================+===============+===========================================+
| No running processes found in NPU 0                                                   |
| 1       0                 | 4711          | python                   | 1234           |
+===========================+===============+===========================================+
"""


def install_toolkit(home: Path) -> Path:
    """A toolkit in `home`."""
    for folder in ("bin", "lib64", "include/acl", "include/aclnn", "opp"):
        (home / folder).mkdir(parents=True)
    (home / "tools/simulator/Ascend910B4/lib").mkdir(parents=True)
    for name in ("bisheng", "msprof"):
        shutil.copy(HERE / f"{name}.py", home / "bin" / name)
        (home / "bin" / name).chmod(0o755)
    shutil.copy(HERE / "acl.h", home / "include/acl/acl.h")
    shutil.copy(HERE / "acl_meta.h", home / "include/aclnn/acl_meta.h")
    (home / "set_env.sh").write_text("export ASCEND_TOOLKIT_WAS_SET=1\n")
    (home / "version.cfg").write_text("# version\nruntime_running_version=[8.2.RC1:8.2.RC1]\n")
    for library in ("ascendcl", "nnopbase"):
        subprocess.run(
            ["g++", "-shared", "-fPIC", f"-I{home / 'include'}", str(HERE / "ascendcl.cpp"),
             "-o", str(home / "lib64" / f"lib{library}.so")],
            check=True,
        )  # fmt: skip
    return home


def install_npu_smi(folder: Path, said: str = NPU_SMI) -> Path:
    """`npu-smi` in a folder for the PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "said").write_text(said)
    (folder / "npu-smi").write_text(f"#!/bin/sh\n/bin/cat '{folder}/said'\n")
    (folder / "npu-smi").chmod(0o755)
    return folder


def make_repository(top: Path, layout: str) -> Operator:
    """A repository of one operator, scale_shift, with a build.sh of this layout."""
    category = "src/math" if layout == "cann-ops" else "math"
    place = top / category / "scale_shift"
    shutil.copytree(FOLDER, place)
    for name in ("aclnn_scale_shift.h", "scale_shift_api.cpp"):
        shutil.copy(HERE / name, top / name)
    (top / "build.sh").write_text((HERE / "build.sh").read_text().replace("LAYOUT", layout))
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    return load_operator(place)
