"""The settings of a build in `.ascendopt.yml`, for what no build file says."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from ci.model.frozen import Frozen

CONFIG_FILE: Final = ".ascendopt.yml"


def _relative(value: str) -> str:
    if value.startswith("/") or ".." in value.split("/") or "\\" in value:
        raise ValueError("must be a path inside the repository, without '..'")
    return value.strip("/")


def _definition(value: str) -> str:
    name = value.partition("=")[0]
    if not name.isidentifier() or "\n" in value:
        raise ValueError("must be NAME or NAME=value")
    return value


Inside = Annotated[str, AfterValidator(_relative)]
"""A path from the repository's top."""


class BuildSetting(Frozen):
    """Build facts of some operators that the repository's own build does not say."""

    operators: tuple[str, ...] = Field(
        default=("*",),
        description="Operator folders that it holds for, as globs from the repository's top; `*`"
        " matches across folders.",
    )
    include: tuple[Inside, ...] = Field(
        default=(), description="Folders that includes start from, ahead of all others."
    )
    definitions: tuple[Annotated[str, AfterValidator(_definition)], ...] = Field(
        default=(), description="Macros for the kernel: `NAME` or `NAME=value`."
    )
    options: tuple[str, ...] = Field(
        default=(), description="Options of the kernel's compiler, as the toolkit takes them."
    )
    auto_sync: bool | None = Field(
        default=None,
        description="Whether the compiler inserts missing waits, whatever the build says.",
    )

    def holds_for(self, folder: str) -> bool:
        """Whether it is about the operator in `folder`, a path from the repository's top."""
        return any(fnmatchcase(folder, glob) for glob in self.operators)
