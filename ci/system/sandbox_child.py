"""How a program is confined without namespaces: by a small program that becomes it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ci.system.cache import BuildCache, digest
from ci.system.compiler import compile_trusted, compiler_version
from ci.system.view import DEVICES, View

SOURCE = Path(__file__).with_suffix(".cpp")
OPTIONS = ("-std=c++17", "-O1", "-Wl,--as-needed")


def child_command(view: View, level: str, own_tmp: Path, program: bytes) -> list[str]:
    """The words before the program's own; see `sandbox.run`.

    `program` is the system-call filter, empty for none. Raises EnvironmentProblem where there is
    no compiler to build the small program with, the first time.
    """
    built = BuildCache().get("sandbox", _key(), _build)
    paths = (
        *(f"={path}" for path in (*DEVICES, *view.readable)),
        *(f"/{path}" for path in view.listed),
        *(f"+{path}" for path in (own_tmp, "/dev/null", *view.writable, *(view.devices or ()))),
    )
    return [str(built / SOURCE.stem), program.hex(), level, *paths, "--"]


@cache
def _key() -> str:
    return digest([compiler_version(), *OPTIONS, SOURCE.read_bytes()])


def _build(folder: Path) -> None:
    compile_trusted([*OPTIONS, "-o", SOURCE.stem, str(SOURCE)], folder)
