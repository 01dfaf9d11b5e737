"""Which forge, which repository, which account: from settings, or from a checkout's remote."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, NamedTuple
from urllib.parse import urlsplit

from pydantic import Field

from bot.base.git import Git, GitError
from ci.model.errors import InputError
from ci.model.frozen import Frozen

Name = Literal["local", "github", "gitlab", "gitcode"]
FORGES: Final[tuple[Name, ...]] = ("local", "github", "gitlab", "gitcode")

# Where a token is looked for, first found wins. The last ones are what the forge's own CI gives.
TOKENS: Final[dict[Name, tuple[str, ...]]] = {
    "local": (),
    "github": ("ASCENDOPT_TOKEN", "GITHUB_TOKEN", "GH_TOKEN"),
    "gitlab": ("ASCENDOPT_TOKEN", "GITLAB_TOKEN"),
    "gitcode": ("ASCENDOPT_TOKEN", "GITCODE_TOKEN", "ATOMGIT_TOKEN"),
}
HOMES: Final[dict[Name, str]] = {
    "local": "",
    "github": "https://github.com",
    "gitlab": "https://gitlab.com",
    "gitcode": "https://gitcode.com",
}
_SCP: Final = re.compile(r"^(?:[^@/]+@)?([^:/]+):(?!//)(.+)$")


class ForgeSettings(Frozen):
    """One repository on one forge."""

    forge: Name = Field(description="local, github, gitlab or gitcode.")
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


def guess(server: str) -> Name | None:
    """The forge that a server's name tells: github.com, gitlab.example.org, gitcode.com."""
    host = urlsplit(server).hostname or ""
    for name in ("github", "gitlab", "gitcode"):
        if name in host.split(".") or any(p.startswith(f"{name}-") for p in host.split(".")):
            return name
    return "gitcode" if host.endswith("atomgit.com") else None


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
    if found is None or "/" not in found.name:
        raise InputError(
            f"Remote '{remote}' of {checkout} is no repository on {name}; its address should look"
            f" like {HOMES.get(name, 'https://github.com')}/owner/name.git."  # type: ignore[call-overload]
        )
    chosen = guess(found.server) if name == "auto" else name
    if chosen is None:
        raise InputError(
            f"{found.server} does not tell which forge it is; say it with --forge"
            " github, gitlab or gitcode."
        )
    return ForgeSettings(forge=chosen, repository=found.name, url=found.server)


def token_of(forge: Name, environ: Mapping[str, str] = os.environ) -> str:
    """The token from the environment; raises `InputError` when there is none."""
    for name in TOKENS[forge]:
        if environ.get(name):
            return environ[name]
    raise InputError(
        f"No token for {forge}: set one of {', '.join(TOKENS[forge])} in the environment."
    )


def _repository(path: str) -> str:
    return path.strip("/").removesuffix(".git")
