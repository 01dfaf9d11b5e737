"""Connections for the bot's commands: of a CI job's repository, or of those in the settings."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from bot.base.secret import FROM_FILE, Token, renewed
from bot.events.model import Event
from bot.forge import open_forge
from bot.forge.base import Forge, ForgeError
from bot.forge.kinds import FORGES, forge_of_ci, identity, no_ci, no_repository
from bot.forge.read_only import ReadOnlyForge
from bot.forge.settings import OWN_SERVER, ForgeSettings, ci_server
from bot.repository.connection import Connection, Connections
from bot.repository.settings import BotSettings, ServedRepository
from ci.model.errors import InputError


@contextmanager
def ci_connection(
    forge: str, repository: str, event: Event | None, *, dry_run: bool = False
) -> Iterator[Connection]:
    """The repository of a CI job, with a mirror that is gone afterwards.

    Errors of the forge become an `InputError`: in CI there is nobody to try again later.
    """
    if forge == "auto":
        kind = FORGES[event.forge] if event else forge_of_ci(os.environ)
    else:
        kind = FORGES.get(forge)
    if kind is None and forge == "auto":
        raise InputError(f"{no_ci()} Give --forge and --repository.")
    if kind is None:
        raise InputError(f"There is no forge '{forge}'; known: auto, {', '.join(FORGES)}.")
    known = repository or (event.repository if event else "")
    known = known or os.environ.get(kind.ci_repository, "")
    if not known:
        raise InputError("Which repository? Give --repository OWNER/NAME.")
    if kind.home and (problem := no_repository(kind.name, known)):
        raise InputError(f"{problem}.")
    settings = ForgeSettings(
        forge=kind.name,
        repository=known,
        url=os.environ.get(OWN_SERVER, "") or ci_server(kind, os.environ),
        api=os.environ.get("ASCENDOPT_FORGE_API", ""),
        account=os.environ.get("ASCENDOPT_ACCOUNT", ""),
    )
    made = open_forge(settings)
    if dry_run:
        made = ReadOnlyForge(made)
    with tempfile.TemporaryDirectory(prefix="ascendopt-ci-") as folder:
        try:
            # The forge's own spelling of the name is what events and jobs carry.
            yield Connection.mirrored(kind.name, made.repository().name, made, Path(folder))
        except ForgeError as problem:
            raise InputError(str(problem)) from problem


def served_connections(
    settings: BotSettings, secrets: Mapping[str, str], *, dry_run: bool = False
) -> Connections:
    """The repositories that the bot serves; raises InputError when a token is missing."""
    makers: list[tuple[str, str, Callable[[], Forge]]] = []
    for one in settings.repositories:
        needed = FORGES[one.forge].tokens
        taken = _secret(secrets, one.token_env, f"a token for {one.forge}") if needed else ""
        token: Token = renewed(one.token_env, taken) if needed else ""
        makers.append((one.forge, one.name, _maker(one, token, dry_run)))
    return Connections(settings.data, makers)


def _maker(one: ServedRepository, token: Token, dry_run: bool) -> Callable[[], Forge]:
    def make() -> Forge:
        forge = open_forge(one, token)
        return ReadOnlyForge(forge) if dry_run else forge

    return make


def webhook_secrets(
    settings: BotSettings, secrets: Mapping[str, str]
) -> dict[tuple[str, str], Callable[[], str]]:
    """What gives the secret as it is now, by the identity of the repository whose webhooks it
    signs; raises InputError."""
    made: dict[str, Callable[[], str]] = {}
    found: dict[tuple[str, str], Callable[[], str]] = {}
    for one in settings.repositories:
        what = f"the webhook secret of {one.forge} {one.repository}"
        value = _secret(secrets, one.secret_env, what)
        secret = made.setdefault(one.secret_env, renewed(one.secret_env, value))
        found[identity(one.forge, one.repository)] = secret
    return found


def _secret(secrets: Mapping[str, str], variable: str, what: str) -> str:
    if not secrets.get(variable):
        raise InputError(
            f"The environment variable {variable} is not set; it holds {what}, or"
            f" {variable}{FROM_FILE} names a file that does."
        )
    return secrets[variable]
