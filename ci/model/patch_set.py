"""A unified diff as its files and hunks."""

from __future__ import annotations

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from ci.model.errors import InputError


def patch_set(diff: str) -> PatchSet:
    """The files that `diff` changes; raises InputError with the reason when it is no diff."""
    try:
        return PatchSet(diff)
    except (UnidiffParseError, ValueError) as problem:  # also a number of thousands of digits
        said = str(problem).splitlines()[0][:200].rstrip(".") if str(problem) else ""
        raise InputError(said or "no hunk was read") from None
