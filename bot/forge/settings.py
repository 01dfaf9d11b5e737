"""Which forge, which repository, which account: from settings, or from a checkout's remote."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from bot.base.git import Git, GitError
from bot.base.text import visible
from bot.forge.kinds import (
    FORGES,
    HOSTED,
    ODD,
    ForgeKind,
    ForgeName,
    forge_at,
    no_repository,
    server_of,
)
from bot.forge.ssh_name import web_server
from ci.model.errors import InputError
from ci.model.frozen import Frozen
from ci.model.loopback import is_loopback

OWN_SERVER: Final = "ASCENDOPT_FORGE_URL"
"""Variable with the address of the server that the bot's own token belongs to."""

_SCP: Final = re.compile(r"^(?:[^@/]+@)?([^:/]+):(?!//)(.+)$")


class ForgeSettings(Frozen):
    """One repository on one forge."""

    forge: ForgeName = Field(description=f"One of {', '.join(FORGES)}.")
    repository: str = Field(
        description="owner/name (on GitLab with its groups); a folder on the local forge."
    )
    url: str = Field(
        default="",
        description="Address of a forge of one's own, such as https://github.example.com;"
        " the public one when not given.",
    )
    api: str = Field(
        default="", description="Address of its API, when it is not where `url` implies."
    )
    account: str = Field(
        default="",
        description="Login of the bot, for tokens that cannot ask for it (a GitHub App's).",
    )

    @model_validator(mode="after")
    def _named(self) -> ForgeSettings:
        problem = no_repository(self.forge, self.repository) if self.forge in HOSTED else ""
        if problem:
            raise ValueError(problem)
        return self


class Remote(NamedTuple):
    """Server and repository that the address of a remote names."""

    server: str  # https://host
    name: str  # owner/name


def parse_remote(url: str) -> Remote | None:
    """Server and repository of an http(s), ssh or scp-like address; None for a folder or file.

    Raises `InputError` for an address whose host or port cannot be read.
    """
    scp = _SCP.match(url)
    if "://" not in url and scp and not os.path.exists(url):  # noqa: PTH110 (of any length)
        host, path = scp.groups()
        return Remote(web_server(host), _repository(path))
    try:
        if "://" in url and ODD.search(url):
            raise ValueError
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        raise InputError(
            f"The host or the port of the address {_without_login(url)} cannot be read."
        ) from None
    if parts.scheme in ("http", "https") and parts.hostname:
        return Remote(f"{parts.scheme}://{parts.hostname}{port}", _repository(parts.path))
    if parts.scheme in ("ssh", "git+ssh") and parts.hostname:
        return Remote(web_server(parts.hostname), _repository(parts.path))
    return None


def settings_of(name: str, checkout: Path, remote: str) -> ForgeSettings:
    """Settings for the repository that `remote` of `checkout` (or the address `remote`) names.

    `name` is a forge, or `auto` for the one that the address tells. Raises `InputError` when the
    name is unknown or the address names no repository of that forge.
    """
    if name not in (*FORGES, "auto"):
        raise InputError(f"There is no forge '{name}'; known: auto, {', '.join(FORGES)}.")
    url = _address(Git(checkout), remote)
    found = parse_remote(url)
    if name == "local" or (name == "auto" and found is None):
        return ForgeSettings(forge="local", repository=remote)
    kind = FORGES.get(name) or FORGES["github"]
    if found is None or "/" not in found.name:
        raise InputError(
            f"Remote '{_without_login(remote)}' of {checkout} is no repository on {name};"
            f" its address should look like {kind.home}/owner/name.git."
        )
    chosen = forge_at(found.server) if name == "auto" else kind
    if chosen is None:
        raise InputError(
            f"{found.server} does not tell which forge it is; say it with --forge:"
            f" {', '.join(HOSTED)}."
        )
    if problem := no_repository(chosen.name, found.name):
        raise InputError(f"Remote '{_without_login(remote)}' of {checkout}: {problem}.")
    return ForgeSettings(forge=chosen.name, repository=found.name, url=found.server)


def _address(git: Git, remote: str) -> str:
    """Where a remote is: as it is written when that names a forge, for git may fetch from a mirror
    of it (`insteadOf`); else as git spells it out. `remote` itself where there is none."""
    try:
        written = git.run("config", "--get-all", f"remote.{remote}.url").partition("\n")[0]
        named = parse_remote(written)
        if named is not None and forge_at(named.server) is not None:
            return written
        return git.run("remote", "get-url", "--", remote).strip()
    except GitError:
        return remote


def token_of(forge: str, environ: Mapping[str, str] = os.environ, server: str = "") -> str:
    """The token from the environment for a server, '' for a forge without any.

    `server`: its address, the public one when not given. Raises `InputError` when there is none.
    """
    kind, other = FORGES[forge], False
    for name in kind.tokens:
        if environ.get(name):
            if belongs(name, kind, server or kind.home, environ):
                return environ[name]
            other = True
    if other:
        raise InputError(not_its_server(kind, server))
    if kind.tokens:
        named = ", ".join(kind.tokens)
        raise InputError(f"No token for {forge}: set one of {named} in the environment.")
    return ""


def belongs(variable: str, kind: ForgeKind, server: str, environ: Mapping[str, str]) -> bool:
    """Whether the token in `variable` belongs to a server: to the public one, to that of the CI
    that set it, or, of the bot's own token, to the one that `OWN_SERVER` names in their place."""
    named = environ.get(OWN_SERVER, "") if variable == kind.tokens[0] else ""
    public = [kind.home, *(f"https://{host}" for host in kind.hosts)]
    servers = [named] if named else [*public, ci_server(kind, environ)]
    return server_of(server) in [server_of(one) for one in servers if one]


def ci_server(kind: ForgeKind, environ: Mapping[str, str]) -> str:
    """The server of the CI that this runs in, '' outside of that forge's CI."""
    inside = kind.ci and environ.get(kind.ci, "") not in ("", "false")
    return environ.get(kind.ci_server, "") if inside else ""


def not_its_server(kind: ForgeKind, server: str) -> str:
    """Return the sentence for a token that belongs to another server."""
    return (
        f"The repository is at {server}, and the token in the environment belongs to {kind.home},"
        f" so it is not sent there. If {kind.tokens[0]} is a token of {server}, say so:"
        f" {OWN_SERVER}={server}"
    )


def refuse_clear(address: str) -> None:
    """Raise `InputError` when a token would go to `address` in the clear, over a network."""
    scheme, host, _ = server_of(address)
    if scheme != "https" and not is_loopback(host):
        raise InputError(f"{address} is not https: a token would go there in the clear.")


def _without_login(url: str) -> str:
    """An address without the name and password that it may hold."""
    return re.sub(r"(?<=//)[^/]*@", "", visible(url))


def _repository(path: str) -> str:
    return path.strip("/").removesuffix(".git")
