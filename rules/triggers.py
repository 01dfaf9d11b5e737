"""`triggers.yml`: which changed files concern an operator."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from pydantic import Field

from ci.model import layout
from ci.model.frozen import Frozen
from ci.model.yaml_model import read_file

TRIGGERS = Path(__file__).parent / "triggers.yml"


class TriggerRules(Frozen):
    """Globs over paths from the repository's top; `*` matches across folders."""

    tiling: tuple[str, ...] = Field(description="What tiles an operator besides its sources.")
    ignored: tuple[str, ...] = Field(default=(), description="Never a reason to work.")
    ignored_authors: tuple[str, ...] = Field(default=(), description="Accounts that start nothing.")

    def kind(self, path: str) -> str:
        """'kernel', 'tiling', 'shared' or '' for a changed path.

        Sources of an operator and headers that operators may share are those of `ci.model.layout`.
        """
        if self.passes_over(path):
            return ""
        if path.endswith(layout.SOURCES) and (side := layout.side(path)):
            return "kernel" if side == layout.KERNEL else "tiling"
        if _any("/" + path, self.tiling):
            return "tiling"
        return "shared" if path.endswith(layout.HEADERS) else ""

    def passes_over(self, path: str) -> bool:
        """Whether a change of a path is never a reason to work."""
        return _any("/" + path, self.ignored)

    def ignores(self, author: str) -> bool:
        """Whether an account's changes start nothing."""
        return _any(author, self.ignored_authors)


def _any(text: str, globs: tuple[str, ...]) -> bool:
    return any(fnmatchcase(text, glob.replace("[bot]", "[[]bot]")) for glob in globs)


@lru_cache(maxsize=4)
def load_triggers(path: Path = TRIGGERS) -> TriggerRules:
    """The trigger rules. Raises InputError with file and fault."""
    return read_file(TriggerRules, path)
