"""A small wrapper around the `git` program: fixed environment, no hooks, errors as sentences."""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from ci.model.errors import EnvironmentProblem

# Seconds after which a git command is given up: pushes to a slow forge stay far below.
TIMEOUT_S: Final = 300

# No prompts, English messages, and no program that the configuration of a repository or of a person
# names: hooks, monitors, filters and encodings of attributes, checks of signatures, submodules.
_ENVIRONMENT: Final = {
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ATTR_NOSYSTEM": "1",
}
_SETTINGS: Final = (
    f"core.hooksPath={os.devnull}",
    "core.fsmonitor=false",
    "protocol.ext.allow=never",
    "core.quotePath=false",
    "commit.gpgSign=false",
    "push.gpgSign=false",
    "log.showSignature=false",
    f"core.attributesFile={os.devnull}",
    "init.templateDir=",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "push.recurseSubmodules=no",
)
_SAFETY: Final = tuple(word for setting in _SETTINGS for word in ("-c", setting))

# Above what a tree says of its files, so that they are laid out as they are.
_AS_THEY_ARE: Final = "* -text -filter -ident -working-tree-encoding -diff -merge !eol\n"

# Names of the environment through which git takes configuration that no file holds.
_COUNT: Final = "GIT_CONFIG_COUNT"


def login(url: str, user: str, token: str) -> dict[str, str]:
    """Environment with which git sends `user` and `token` to the server of `url`, no other.

    The token is in no address, argument or file, so in no error message and no process list.
    Helpers and prompts of the person who runs this are not asked.
    """
    server = urlsplit(url)
    scope = f"{server.scheme}://{server.netloc}/"
    basic = base64.b64encode(f"{user}:{token}".encode()).decode()
    made = {f"http.{scope}.extraHeader": f"Authorization: Basic {basic}", "credential.helper": ""}
    made["http.followRedirects"] = "false"  # the header would go along
    first = int(os.environ.get(_COUNT) or 0)
    env = {_COUNT: str(first + len(made))}
    for place, (key, value) in enumerate(made.items(), first):
        env |= {f"GIT_CONFIG_KEY_{place}": key, f"GIT_CONFIG_VALUE_{place}": value}
    return env


_AWAY = re.compile(
    r"could not resolve|failed to connect|connection (?:refused|reset|closed)|timed? ?out|early eof"
    r"|unable to access|rpc failed|hung up|could not read from remote"
    r"|returned error: (?:429|5\d\d)",
    re.IGNORECASE,
)


class GitError(Exception):
    """A git command failed; the message is git's own last words, with the command's name."""

    @property
    def away(self) -> bool:
        """Whether the other side could not be reached, as far as git's words tell."""
        return _AWAY.search(str(self)) is not None


class Git:
    """Git commands in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(
        self, *arguments: str, stdin: str | None = None, env: dict[str, str] | None = None
    ) -> str:
        """Run `git ARGUMENTS` and return stdout; raises `GitError` when it fails."""
        done = self._done(arguments, None if stdin is None else stdin.encode(), env or {})
        if done.returncode != 0:
            words = done.stderr.decode(errors="replace").strip().splitlines() or ["no message"]
            raise GitError(f"git {arguments[0]} failed: {words[0]}")
        return done.stdout.decode(errors="replace")

    def _done(
        self, arguments: Sequence[str], stdin: bytes | None, env: Mapping[str, str]
    ) -> subprocess.CompletedProcess[bytes]:
        """`git ARGUMENTS`, ended in whatever way; raises `GitError` when it does not end."""
        program = shutil.which("git")
        if program is None:
            raise EnvironmentProblem("git is missing; install it with: apt-get install -y git")
        try:
            return subprocess.run(
                [program, *_SAFETY, *arguments],
                cwd=self.folder,
                input=stdin,
                stdin=subprocess.DEVNULL if stdin is None else None,
                capture_output=True,
                env={**os.environ, **_ENVIRONMENT, **env},
                timeout=TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as expired:
            raise GitError(f"git {arguments[0]} did not end within {TIMEOUT_S} s") from expired

    def succeeds(self, *arguments: str) -> bool:
        """Whether `git ARGUMENTS` ends with code 0."""
        try:
            self.run(*arguments)
        except GitError:
            return False
        return True

    def lay_out(self, commit: str, into: Path) -> None:
        """Put the work tree of a commit into the new folder `into`, byte for byte as it is stored.

        It shares the objects of this repository. No program runs for a file of it, whatever the
        tree's attributes and the configuration of a person name. Raises `GitError`.
        """
        source = self.run("rev-parse", "--absolute-git-dir").strip()
        self.run("clone", "--quiet", "--shared", "--no-checkout", "--", source, str(into.resolve()))
        attributes = into / ".git" / "info" / "attributes"
        attributes.parent.mkdir(exist_ok=True)
        attributes.write_text(_AS_THEY_ARE, encoding="utf-8")
        Git(into).run("checkout", "--quiet", "--detach", commit)

    def top(self) -> Path | None:
        """Top folder of the checkout that holds `folder`; None outside git or in a bare one."""
        try:
            return Path(self.run("rev-parse", "--show-toplevel").rstrip("\n"))
        except GitError:
            return None

    def commit(self, revision: str) -> str | None:
        """Full hash of the commit that `revision` names, or None."""
        try:
            return self.run("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}").strip()
        except GitError:
            return None

    def show(self, revision: str, path: str) -> bytes | None:
        """Content of `path` at `revision`, byte for byte, or None when it is not there."""
        done = self._done(("cat-file", "blob", f"{revision}:{path}"), None, {})
        return done.stdout if done.returncode == 0 else None

    def blobs(self, names: Sequence[str]) -> dict[str, bytes]:
        """Contents of blobs by hash, in one call of git; hashes that are no blob are left out."""
        if not names:
            return {}
        listed = "".join(f"{name}\n" for name in names).encode()
        done = self._done(("cat-file", "--batch"), listed, {})
        found, place = {}, 0
        for name in names:
            end = done.stdout.find(b"\n", place)
            head = done.stdout[place:end].split()
            place = end + 1
            if len(head) == 3:
                size = int(head[2])
                if head[1] == b"blob":
                    found[name] = done.stdout[place : place + size]
                place += size + 1
        return found
