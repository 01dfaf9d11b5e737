"""The source that jobs of a CI install: this project at one commit, from where this copy came."""

from __future__ import annotations

import json
import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

from bot.base.git import Git, GitError
from bot.forge.settings import parse_remote
from ci.model.errors import InputError

NAME: Final = "ASCENDOPT_SOURCE"
FORM: Final = "git+https://HOST/OWNER/ascendopt@COMMIT"
# A name alone, a branch or a tag can mean another program tomorrow.
_PINNED: Final = (
    re.compile(
        r"git\+(https|ssh|file)://[^\s@\"'\\$`]+(@[^\s@\"'\\$`/]+/[^\s@\"'\\$`]+)?@[0-9a-f]{40}"
    ),
    re.compile(r"https://[^\s\"'\\$`]+\.whl#sha256=[0-9a-f]{64}"),
)


def checked_source(given: str) -> str:
    """`given` when it says what to install and cannot mean another program tomorrow.

    Raises InputError when it does not.
    """
    if not any(form.fullmatch(given) for form in _PINNED):
        raise InputError(
            f"'{given}' does not pin what is installed: give {FORM} with all 40 digits of the"
            " commit, or the address of a wheel that ends with #sha256=DIGEST."
        )
    return given


def own_source() -> str:
    """Where this copy was installed from, pinned; '' when it is not known or only this machine
    has it."""
    try:
        told = json.loads(distribution("ascendopt").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        told = {}
    commit = told.get("vcs_info", {}).get("commit_id", "")
    url = str(told.get("url", ""))
    if commit:
        # A folder or a key of this machine: no other runner has it.
        return f"git+{url}@{commit}" if url.startswith("https://") else ""
    return _of_checkout(Git(Path(__file__).parent))


def _of_checkout(git: Git) -> str:
    """The commit of a checkout of the project, when its remote is an address that others reach."""
    top = git.top()
    if top is None or not (top / "hatch_build.py").is_file():
        return ""
    try:
        remote = parse_remote(git.run("remote", "get-url", "origin").strip())
    except GitError:
        return ""
    commit = git.commit("HEAD")
    if remote is None or commit is None or not remote.server.startswith("https://"):
        return ""
    return f"git+{remote.server}/{remote.name}@{commit}"
