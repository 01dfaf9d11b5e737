"""Forges with their tokens for the commands of the bot: from CI's environment, or from settings."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bot.events.model import Event
from bot.forge import connect
from bot.forge.base import Forge, ForgeError
from bot.forge.read_only import ReadOnlyForge
from bot.forge.settings import ForgeSettings
from bot.repository.connection import Connection, Connections, connection
from bot.repository.settings import BotSettings, ServedRepository, secret
from ci.model.errors import InputError

_REPOSITORY: Final = {
    "github": "GITHUB_REPOSITORY",
    "gitlab": "CI_PROJECT_PATH",
    "gitcode": "ATOMGIT_REPOSITORY",
}


def forge_of_ci(environ: Mapping[str, str]) -> str:
    """The forge whose CI this is, by its own variables; raises InputError when it says nothing."""
    if environ.get("ATOMGIT_EVENT_NAME"):
        return "gitcode"
    if environ.get("GITLAB_CI") == "true":
        return "gitlab"
    if environ.get("GITHUB_ACTIONS") == "true":
        return "github"
    raise InputError(
        "This is no CI job that I know: none of GITHUB_ACTIONS, GITLAB_CI and ATOMGIT_EVENT_NAME"
        " is set. Give --forge and --repository."
    )


@contextmanager
def ci_connection(
    forge: str, repository: str, event: Event | None, *, dry_run: bool = False
) -> Iterator[Connection]:
    """The repository of a CI job, with a mirror that is gone afterwards.

    Errors of the forge become an `InputError`: in CI there is nobody to try again later.
    """
    name = forge if forge != "auto" else event.forge if event else forge_of_ci(os.environ)
    known = repository or (event.repository if event else "")
    known = known or os.environ.get(_REPOSITORY.get(name, ""), "")
    if not known:
        raise InputError("Which repository? Give --repository OWNER/NAME.")
    settings = ForgeSettings.model_validate(
        {
            "forge": name,
            "repository": known,
            "url": os.environ.get("ASCENDOPT_FORGE_URL", ""),
            "api": os.environ.get("ASCENDOPT_FORGE_API", ""),
            "account": os.environ.get("ASCENDOPT_ACCOUNT", ""),
        }
    )
    made = connect(settings)
    if dry_run:
        made = ReadOnlyForge(made)
    with tempfile.TemporaryDirectory(prefix="ascendopt-ci-") as folder:
        try:
            # The forge's own spelling of the name is what events and jobs carry.
            yield connection(name, made.repository().name, made, Path(folder))
        except ForgeError as problem:
            raise InputError(str(problem)) from problem


def served(settings: BotSettings, *, dry_run: bool = False) -> Connections:
    """The repositories that the bot serves; their tokens are looked up at once.

    Raises InputError when a token is missing.
    """
    makers: list[tuple[str, str, Callable[[], Forge]]] = []
    for one in settings.repositories:
        token = "" if one.forge == "local" else secret(one.token_env, f"a token for {one.forge}")
        makers.append((one.forge, one.name, _maker(one, token, dry_run)))
    return Connections(settings.data, makers)


def _maker(one: ServedRepository, token: str, dry_run: bool) -> Callable[[], Forge]:
    def make() -> Forge:
        forge = connect(one, token)
        return ReadOnlyForge(forge) if dry_run else forge

    return make


def webhook_secrets(settings: BotSettings) -> dict[str, list[str]]:
    """Secrets by forge, for the repositories that webhooks can come from."""
    found: dict[str, list[str]] = {}
    for one in settings.repositories:
        value = secret(one.secret_env, f"the webhook secret of {one.forge} {one.repository}")
        if value not in found.setdefault(one.forge, []):
            found[one.forge].append(value)
    return found
