"""Which forge, which repository, which account: from settings, or from a checkout's remote."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from pydantic import Field

from bot.base.git import Git, GitError
from bot.forge.kinds import FORGES, HOSTED, ForgeName, forge_at
from ci.model.errors import InputError
from ci.model.frozen import Frozen

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


class Remote(NamedTuple):
    """What an address of a remote says."""

    server: str  # https://host
    name: str  # owner/name


def parse_remote(url: str) -> Remote | None:
    """Server and repository of an http(s), ssh or scp-like address; None for a folder or file."""
    scp = _SCP.match(url)
    if "://" not in url and scp and not Path(url).exists():
        host, path = scp.groups()
        return Remote(f"https://{host}", _repository(path))
    parts = urlsplit(url)
    if parts.scheme in ("http", "https") and parts.hostname:
        port = f":{parts.port}" if parts.port else ""
        return Remote(f"{parts.scheme}://{parts.hostname}{port}", _repository(parts.path))
    if parts.scheme in ("ssh", "git+ssh") and parts.hostname:
        return Remote(f"https://{parts.hostname}", _repository(parts.path))
    return None


def settings_of(name: str, checkout: Path, remote: str) -> ForgeSettings:
    """Settings for the repository that `remote` of `checkout` (or the address `remote`) names.

    `name` is a forge, or `auto` for the one that the address tells. Raises `InputError` when the
    name is unknown or the address names no repository of that forge.
    """
    if name not in (*FORGES, "auto"):
        raise InputError(f"There is no forge '{name}'; known: auto, {', '.join(FORGES)}.")
    try:
        url = Git(checkout).run("remote", "get-url", "--", remote).strip()
    except GitError:
        url = remote
    found = parse_remote(url)
    if name == "local" or (name == "auto" and found is None):
        return ForgeSettings(forge="local", repository=remote)
    kind = FORGES.get(name) or FORGES["github"]
    if found is None or "/" not in found.name:
        raise InputError(
            f"Remote '{remote}' of {checkout} is no repository on {name}; its address should look"
            f" like {kind.home}/owner/name.git."
        )
    chosen = forge_at(found.server) if name == "auto" else kind
    if chosen is None:
        raise InputError(
            f"{found.server} does not tell which forge it is; say it with --forge:"
            f" {', '.join(HOSTED)}."
        )
    return ForgeSettings(forge=chosen.name, repository=found.name, url=found.server)


def token_of(forge: str, environ: Mapping[str, str] = os.environ) -> str:
    """The token from the environment, '' for a forge without any.

    Raises `InputError` when there is none.
    """
    names = FORGES[forge].tokens
    for name in names:
        if environ.get(name):
            return environ[name]
    if names:
        raise InputError(f"No token for {forge}: set one of {', '.join(names)} in the environment.")
    return ""


def _repository(path: str) -> str:
    return path.strip("/").removesuffix(".git")
