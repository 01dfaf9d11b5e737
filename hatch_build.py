"""Puts all packages into the wheel under one name: `ci/judge/` becomes `ascendopt/ci/judge/`.

The folders stay where they are in the repository, in an editable install and in the sdist. Only
the wheel's copy of a Python file says `from ascendopt.ci.judge import …` where the file says
`from ci.judge import …`. Everything else is copied byte for byte.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NAME: Final = "ascendopt"
PACKAGES: Final = ("bot", "ci", "experience", "rules")
_MODULE: Final = re.compile(rf"({'|'.join(PACKAGES)})(\.\w+)+(:\w+)?", re.ASCII)


def under_one_name(text: str, top: Path, file: str) -> str:
    """`text` of a Python file with imports of our packages, and strings that name one of our
    modules (for `python -m` and `import_module`), said with NAME in front.

    `top` is the folder that holds the packages, `file` the file's name for errors. Raises
    ValueError for a way to import that no word in front could fix.
    """
    places: list[tuple[int, int]] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and not node.level and _ours(node.module or ""):
            places.append((node.lineno, node.col_offset + len("from ")))
        elif isinstance(node, ast.Import):
            for name in node.names:
                if _ours(name.name) and name.asname is None:
                    raise ValueError(
                        f"{file}:{node.lineno}: write `from … import …` or `import {name.name} as"
                        f" …`: in a wheel `import {name.name}` would bind another name."
                    )
                if _ours(name.name):
                    places.append((name.lineno, name.col_offset))
        elif isinstance(node, ast.Constant) and _names_module(node.value, top):
            places.append((node.lineno, node.col_offset + 1))
    lines = [line.encode() for line in text.splitlines(keepends=True)]
    for line, column in sorted(places, reverse=True):
        old = lines[line - 1]
        if not _MODULE.match(old[column:].decode()) and not _ours(old[column:].split()[0].decode()):
            raise ValueError(f"{file}:{line}: say the import on one line, with one blank.")
        lines[line - 1] = old[:column] + f"{NAME}.".encode() + old[column:]
    return b"".join(lines).decode()


def _ours(module: str) -> bool:
    return module.split(".")[0] in PACKAGES


def _names_module(value: object, top: Path) -> bool:
    if not isinstance(value, str) or not _MODULE.fullmatch(value):
        return False
    place = top.joinpath(*value.partition(":")[0].split("."))
    return place.with_suffix(".py").is_file() or (place / "__init__.py").is_file()


class OneName(BuildHookInterface[Any]):
    """Gives hatchling the wheel's files; an editable install reads the repository itself."""

    PLUGIN_NAME = "custom"
    _made: Path | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Lay out every file of the packages for the wheel."""
        if version == "editable":
            return
        top = Path(self.root)
        self._made = Path(tempfile.mkdtemp(prefix="ascendopt-wheel-"))
        included: dict[str, str] = build_data["force_include"]
        for package in (NAME, *PACKAGES):
            for path in self._files(top, package):
                name = path.relative_to(top).as_posix()
                source = path
                if path.suffix == ".py":
                    source = self._made / name
                    source.parent.mkdir(parents=True, exist_ok=True)
                    text = under_one_name(path.read_text(encoding="utf-8"), top, name)
                    source.write_text(text, encoding="utf-8")
                    shutil.copymode(path, source)
                included[str(source)] = name if package == NAME else f"{NAME}/{name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the copies."""
        if self._made is not None:
            shutil.rmtree(self._made)

    def _files(self, top: Path, package: str) -> list[Path]:
        """Every file of a package that git does not ignore."""
        found = []
        for folder, below, names in os.walk(top / package):
            below[:] = sorted(n for n in below if n != "__pycache__")
            found += [Path(folder) / name for name in sorted(names)]
        ignored = self.build_config.path_is_excluded
        return [p for p in found if not ignored(p.relative_to(top).as_posix())]
