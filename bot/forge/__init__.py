"""Forges by name."""

from __future__ import annotations

from pathlib import Path

from bot.forge.base import Forge
from bot.forge.settings import FORGES, HOMES, ForgeSettings, settings_of, token_of

__all__ = ["FORGES", "ForgeSettings", "connect", "find_forge"]


def connect(settings: ForgeSettings, token: str = "") -> Forge:
    """The forge of `settings`; `token` from the environment when not given.

    Raises `InputError` when there is no token, or no such folder for the local forge.
    """
    name = settings.forge
    if name == "local":
        from bot.forge.local import LocalForge

        return LocalForge(Path(settings.repository))
    token = token or token_of(name)
    home = (settings.url or HOMES[name]).rstrip("/")
    if name == "github":
        from bot.forge.github import API, GitHubForge

        implied = API if home == HOMES[name] else f"{home}/api/v3"
        return GitHubForge(
            settings.repository, token, api=settings.api or implied, account=settings.account
        )
    if name == "gitlab":
        from bot.forge.gitlab import GitLabForge

        return GitLabForge(settings.repository, token, url=home, account=settings.account)
    from bot.forge.gitcode import API as GITCODE
    from bot.forge.gitcode import GitCodeForge

    implied = GITCODE if home == HOMES[name] else f"{home}/api/v5"
    return GitCodeForge(
        settings.repository,
        token,
        url=home,
        api=settings.api or implied,
        account=settings.account,
    )


def find_forge(name: str, checkout: Path, remote: str) -> Forge:
    """The forge `name` (or `auto`) for the repository that `remote` of `checkout` names.

    Raises `InputError` when the name is unknown or the remote is none of that forge's.
    """
    settings = settings_of(name, checkout, remote)
    if settings.forge == "local":
        from bot.forge.local import LocalForge

        return LocalForge.of_remote(checkout, remote)
    return connect(settings)
