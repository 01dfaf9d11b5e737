"""Forges by name."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bot.forge.base import Forge
from ci.errors import InputError

FORGES: Final = ("local",)


def find_forge(name: str, checkout: Path, remote: str) -> Forge:
    """The forge `name` for the repository that `remote` of `checkout` names.

    Raises `InputError` when the name is unknown or the remote is none of that forge's.
    """
    if name == "local":
        from bot.forge.local import LocalForge

        return LocalForge.of_remote(checkout, remote)
    raise InputError(f"There is no forge '{name}'; known: {', '.join(FORGES)}.")
