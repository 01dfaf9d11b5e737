"""The forges that there are: each declared once, looked up by name.

What a forge's own classes need is in its modules; what tells one forge from another is here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Final, NamedTuple
from urllib.parse import urlsplit

from pydantic import AfterValidator, WithJsonSchema

from bot.base.text import visible


class ForgeKind(NamedTuple):
    """Facts about a kind of forge that need no connection."""

    name: str
    title: str
    """Name of the forge as the forge writes it."""
    forge: str
    """Module and class of the `Forge`, as module:class."""
    events: str = ""
    """Module that verifies and reads its webhooks and CI events; '' when it sends none."""
    home: str = ""
    """Address of the public one."""
    per_minute: int = 0
    """Requests that it allows an account in a minute, where it does not say so in its answers."""
    hosts: tuple[str, ...] = ()
    """Hosts that are it next to those with its name in theirs."""
    ssh_hosts: tuple[str, ...] = ()
    """Hosts by which ssh reaches the public one where its own port is closed."""
    tokens: tuple[str, ...] = ()
    """Variables where a token is looked for, first found wins; the last are those of its own CI."""
    ci: str = ""
    """Variable that is set in jobs of its CI."""
    ci_repository: str = ""
    """Variable of its CI that holds owner/name."""
    ci_server: str = ""
    """Variable of its CI that holds the server's address; '' where it is always the public one."""
    right: str = ""
    """The right to open merge requests, named as on the forge's pages; follows a colon."""

    def at(self, host: str) -> bool:
        """Whether a host's name tells that it is this forge: github.com, gitlab.example.org."""
        parts = host.split(".")
        named = any(p == self.name or p.startswith(f"{self.name}-") for p in parts)
        return (bool(self.home) and named) or any(host.endswith(one) for one in self.hosts)


_ALL: Final = (
    ForgeKind(
        "local",
        "the local forge",
        "bot.forge.local:LocalForge",
        right="write or admin for the bot's name in members.json",
    ),
    ForgeKind(
        "github",
        "GitHub",
        "bot.forge.github:GitHubForge",
        events="bot.events.github",
        home="https://github.com",
        ssh_hosts=("ssh.github.com",),
        tokens=("ASCENDOPT_TOKEN", "GITHUB_TOKEN", "GH_TOKEN"),
        ci="GITHUB_ACTIONS",
        ci_repository="GITHUB_REPOSITORY",
        ci_server="GITHUB_SERVER_URL",
        right='Settings, Actions, General, "Workflow permissions": tick "Allow GitHub Actions to'
        ' create and approve pull requests"; or a token with Pull requests: Read and write',
    ),
    ForgeKind(
        "gitlab",
        "GitLab",
        "bot.forge.gitlab:GitLabForge",
        events="bot.events.gitlab",
        home="https://gitlab.com",
        ssh_hosts=("altssh.gitlab.com",),
        tokens=("ASCENDOPT_TOKEN", "GITLAB_TOKEN"),
        ci="GITLAB_CI",
        ci_repository="CI_PROJECT_PATH",
        ci_server="CI_SERVER_URL",
        right="Settings, Access tokens: a token with the role Developer and the scope api",
    ),
    ForgeKind(
        "gitcode",
        "GitCode",
        "bot.forge.gitcode:GitCodeForge",
        events="bot.events.gitcode",
        home="https://gitcode.com",
        per_minute=50,
        hosts=("atomgit.com",),
        tokens=("ASCENDOPT_TOKEN", "GITCODE_TOKEN", "ATOMGIT_TOKEN"),
        ci="ATOMGIT_EVENT_NAME",
        ci_repository="ATOMGIT_REPOSITORY",
        right="an access token of an account that may write merge requests of the repository",
    ),
)
FORGES: Final = {kind.name: kind for kind in _ALL}
HOSTED: Final = tuple(kind.name for kind in _ALL if kind.home)
"""Hosted: those that are reached over the network."""


def _known(name: str) -> str:
    if name not in FORGES:
        raise ValueError(f"there is no forge '{name}'; known: {', '.join(FORGES)}")
    return name


ForgeName = Annotated[
    str, AfterValidator(_known), WithJsonSchema({"type": "string", "enum": list(FORGES)})
]


def forge_at(server: str) -> ForgeKind | None:
    """The forge that a server's address tells, None when it tells none."""
    _, host, _ = server_of(server)
    return next((kind for kind in _ALL if kind.at(host)), None)


def forge_of_host(host: str) -> ForgeKind | None:
    """The public forge that a host of an ssh address is, None where it is none."""
    name = host.lower()
    return next(
        (k for k in _ALL if k.home and name in (urlsplit(k.home).hostname, *k.ssh_hosts)), None
    )


def no_repository(forge: str, name: str) -> str:
    """Why `name` is no repository's on a forge of the network, as a clause; '' when it is one.

    Events name it so, and it is part of addresses: another form would never match or lead
    elsewhere.
    """
    parts, groups = name.split("/"), forge == "gitlab"
    form = "group/name, with all of its groups" if groups else "owner/name"
    plain = all(_NAME.fullmatch(part) and not set(part) <= {"."} for part in parts)
    if not plain or len(parts) < 2 or (len(parts) > 2 and not groups):
        return f"'{visible(name, 80)}' is no repository of {FORGES[forge].title}: write {form}"
    if name.lower().endswith(".git"):
        return f"'{name}' is an address and no name: write {name[:-4]}"
    return ""


def identity(forge: str, repository: str) -> tuple[str, str]:
    """Return the identity of a repository: forges on the network ignore the case of letters."""
    kind = FORGES.get(forge)
    return forge, folded(repository) if kind is not None and kind.home else repository


def folded(name: str) -> str:
    """A name of a forge with the letters A to Z made small, and no others.

    Forges take these for equal; `casefold` takes `ſ` for `s` and the sign of Kelvin for `k`, too.
    """
    return name.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


def forge_of_ci(environ: Mapping[str, str]) -> ForgeKind | None:
    """The forge whose CI this is, by its own variables; None outside of CI.

    Later ones first: what runs workflows of an earlier forge may set its variables too.
    """
    return next(
        (k for k in reversed(_ALL) if k.ci and environ.get(k.ci, "") not in ("", "false")), None
    )


def no_ci() -> str:
    """Return the sentence for a command that was started outside of CI."""
    *some, last = (kind.ci for kind in _ALL if kind.ci)
    return f"This is no CI job that I know: none of {', '.join(some)} and {last} is set."


_NAME: Final = re.compile(r"[\w.-]+", re.ASCII)
ODD: Final = re.compile(r"[\\\s\x00-\x1f\x7f]")
"""What no address holds, and programs take differently."""


def server_of(address: str) -> tuple[str, str, int | None]:
    """Scheme, host and port of an address: where a token that belongs there may be sent.

    All are empty for what is no address, such as one with a port above 65535, and for one that
    programs read differently: to some a backslash ends the host, to others it is part of a name.
    """
    if ODD.search(address):
        return "", "", None
    try:
        parts = urlsplit(address)
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme)
    except ValueError:
        return "", "", None
    return parts.scheme, (parts.hostname or "").lower(), port
