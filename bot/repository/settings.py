"""Settings of the person who runs the bot: `serve` and `watch` read them from one YAML file.

Tokens and secrets are not in it: it names the environment variables that hold them, or that with
_FILE at their end name the files that do.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Final

from pydantic import Field, model_validator

from bot.base.git import Git, GitError
from bot.base.text import WEB_ADDRESS
from bot.forge.kinds import FORGES, identity, server_of
from bot.forge.settings import ForgeSettings, belongs, not_its_server, settings_of
from ci.model.errors import InputError
from ci.model.frozen import Frozen
from ci.model.yaml_model import read_file

LOCAL_POLL_S: Final = 5.0
"""Between two polls of a folder, which costs next to nothing."""


class ServedRepository(ForgeSettings):
    """One repository that the bot serves."""

    token_env: str = Field(
        default="ASCENDOPT_TOKEN", description="Environment variable that holds the bot's token."
    )
    secret_env: str = Field(
        default="ASCENDOPT_WEBHOOK_SECRET",
        description="Environment variable that holds the webhook's secret.",
    )

    @property
    def name(self) -> str:
        """Return the repository's name in events."""
        if self.forge == "local":
            return Path(self.repository).resolve().name.removesuffix(".git")
        return self.repository


class BotSettings(Frozen):
    """How the bot runs on this machine."""

    repositories: tuple[ServedRepository, ...] = Field(
        min_length=1, description="Repositories that are served."
    )
    data: Path = Field(
        default=Path("ascendopt-bot"), description="Folder for queue, mirrors and runs."
    )
    bank: Path | None = Field(
        default=None, description="Experience bank; bank.duckdb in the data folder when not given."
    )
    models: Path | None = Field(default=None, description="Models for the proposer llm.")
    model_keys: tuple[str, ...] = Field(
        default=(), description="Environment variables with models' keys that runs may see."
    )
    allow_unsandboxed: bool = Field(
        default=False,
        description="Run what merge requests bring although this machine has no sandbox that closes"
        " files: it can then read and write what the bot's user can.",
    )
    workers: int = Field(default=1, ge=1, le=64, description="Runs side by side.")
    slots: dict[str, int] = Field(
        default_factory=dict,
        description="Runs at once on a device, such as sim:910B4 or cann:910B4; 1 when not named.",
    )
    progress_seconds: float = Field(
        default=60.0, ge=5.0, description="Least time between two edits of a status comment, in s."
    )
    look_again_minutes: float = Field(
        default=15.0, gt=0, description="Time between looks at open merge requests, in minutes."
    )
    keep_days: int = Field(
        default=90,
        ge=1,
        description="Days after which a run that ended is removed with its folder; a merge request"
        " that is merged later teaches the bank nothing.",
    )
    poll_seconds: float = Field(
        default=60.0, ge=1.0, description="Time between two polls of `watch`, in s."
    )
    refresh_hour: int | None = Field(
        default=None,
        ge=0,
        le=23,
        description="Hour (UTC) of the nightly bank refresh; none: no.",
    )
    host: str = Field(default="127.0.0.1", description="Address that `serve` listens on.")
    port: int = Field(default=8080, ge=0, le=65535, description="Port; 0 takes a free one.")
    dashboard_url: str = Field(
        default="",
        pattern=WEB_ADDRESS,
        description="Web address of the dashboard as people reach it; merge requests then name the"
        " run's page there.",
    )
    dashboard_env: str = Field(
        default="ASCENDOPT_DASHBOARD_PASSWORD",
        description="Environment variable with the dashboard's password. Without one the dashboard"
        " answers on loopback addresses only.",
    )

    @model_validator(mode="after")
    def _each_once(self) -> BotSettings:
        known: dict[tuple[str, str], ServedRepository] = {}
        for one in self.repositories:
            other = known.setdefault(identity(one.forge, one.repository), one)
            if other is not one and server_of(other.url) != server_of(one.url):
                raise ValueError(
                    f"'{one.repository}' is listed for two servers of {FORGES[one.forge].title}:"
                    " give each server a file of settings and a bot of its own"
                )
            if other is not one:
                raise ValueError("a repository is listed twice")
        return self

    @property
    def secret_variables(self) -> frozenset[str]:
        """Names of all secrets that the bot itself needs."""
        each = ((r.token_env, r.secret_env) for r in self.repositories)
        return frozenset({self.dashboard_env, *(name for names in each for name in names)})

    @property
    def bank_file(self) -> Path:
        """Where the bank is."""
        return self.bank or self.data / "bank.duckdb"


def read_settings(file: Path) -> BotSettings:
    """The settings in a file, its paths relative to it. Raises InputError with line and key."""
    settings = read_file(BotSettings, file)
    home = file.resolve().parent
    paths = {"data": home / settings.data}
    for name in ("bank", "models"):
        value = getattr(settings, name)
        if value is not None:
            paths[name] = home / value
    return settings.model_copy(update=paths)


def checkout_settings(checkout: Path, home: Path) -> BotSettings:
    """The settings under which the repository that a checkout's `origin` names is watched.

    `home` takes a folder for it. Raises InputError when it is no checkout or names none.
    """
    git = Git(checkout)
    if not checkout.is_dir() or git.top() is None:
        raise InputError(f"{checkout} is neither a file of settings nor a git checkout.")
    found = settings_of("auto", checkout, "origin").model_dump()
    chosen: dict[str, float] = {}
    if found["forge"] == "local":
        try:
            address = git.run("remote", "get-url", "--", "origin").strip()
        except GitError:
            raise InputError(
                f"{checkout} has no remote 'origin', which names the repository to watch: add it"
                " with `git remote add origin ADDRESS`, or give a file of settings."
            ) from None
        place = Path(address.removeprefix("file://"))
        found["repository"] = str((git.top() or checkout) / place)
        chosen["poll_seconds"] = LOCAL_POLL_S
    one = ServedRepository.model_validate(found)
    kind = FORGES[one.forge]
    if kind.tokens and not belongs(one.token_env, kind, one.url, os.environ):
        raise InputError(not_its_server(kind, one.url))
    digest = hashlib.sha256(f"{one.url} {one.repository}".encode()).hexdigest()[:8]
    data = home / f"{Path(one.name).name}-{digest}"
    return BotSettings.model_validate({"repositories": (one,), "data": data, **chosen})
