"""Forges by name."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Protocol

from bot.base.secret import Token
from bot.forge.base import Forge
from bot.forge.kinds import FORGES
from bot.forge.settings import ForgeSettings, refuse_clear, settings_of, token_of

__all__ = ["FORGES", "ForgeSettings", "forge_of_checkout", "open_forge"]


class _Opens(Protocol):
    """What a forge's class offers next to `Forge`."""

    def opened(self, settings: ForgeSettings, token: Token) -> Forge:
        """The forge of the repository that `settings` name, its `url` filled in."""


def open_forge(settings: ForgeSettings, token: Token = "") -> Forge:
    """The forge of `settings`; `token`, which belongs to it, from the environment when not given.

    Raises `InputError` when there is no token for that server, when a token would go there in the
    clear, or when there is no such folder for the local forge.
    """
    kind = FORGES[settings.forge]
    module, _, name = kind.forge.partition(":")
    chosen: _Opens = getattr(import_module(module), name)
    home = (settings.url or kind.home).rstrip("/")
    if kind.home:
        refuse_clear(home)
        refuse_clear(settings.api or home)
    given = token or token_of(kind.name, server=home)
    return chosen.opened(settings.model_copy(update={"url": home}), given)


def forge_of_checkout(name: str, checkout: Path, remote: str) -> Forge:
    """The forge `name` (or `auto`) for the repository that `remote` of `checkout` names.

    Raises `InputError` when the name is unknown or the remote is none of that forge's.
    """
    settings = settings_of(name, checkout, remote)
    if settings.forge == "local":
        from bot.forge.local import LocalForge

        return LocalForge.of_remote(checkout, remote)
    return open_forge(settings)
