"""Lets a sandboxed Python import modules of ours by their files.

Python's finder lists the folder that holds a package. A sandbox shows a program the few files that
it needs, and at some levels a folder can only be listed together with all that lies below it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import ModuleType


class OwnModules:
    """Modules of ours, with the packages that they lie in; a package given comes whole."""

    def __init__(self, modules: Iterable[ModuleType]) -> None:
        self.files: dict[str, Path] = {}
        for module in modules:
            self._take(module)

    @property
    def readable(self) -> list[Path]:
        """What the program must be shown: these files and nothing beside them."""
        return list(self.files.values())

    def code(self) -> str:
        """A line of Python after which they can be imported, by their names here."""
        files = {name: str(file) for name, file in self.files.items()}
        return (
            "import importlib.util, sys; "
            "sys.meta_path.insert(0, type('OwnModules', (), {'find_spec': staticmethod("
            "lambda name, path=None, target=None, files="
            f"{files!r}: importlib.util.spec_from_file_location(name, files[name])"
            " if name in files else None)})); "
        )

    def _take(self, module: ModuleType) -> None:
        file = Path(str(module.__file__))
        if file.name == "__init__.py":
            for inner in sorted(file.parent.rglob("*.py")):
                steps = inner.relative_to(file.parent).with_suffix("").parts
                name = ".".join((module.__name__, *steps)).removesuffix(".__init__")
                self.files[name] = inner
        self.files[module.__name__] = file
        package, place = module.__name__, file.parent
        if file.name == "__init__.py":
            place = place.parent
        while package := package.rpartition(".")[0]:
            if (place / "__init__.py").is_file():
                self.files[package] = place / "__init__.py"
            place = place.parent
