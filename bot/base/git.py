"""A wrapper around the `git` program: a configuration of our own, errors as sentences."""

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

from bot.base.git_view import Place, place_of
from bot.base.process import TooMuchOutput, run_bounded
from ci.model.errors import EnvironmentProblem
from ci.model.folder_walk import MOST_DEPTH
from ci.model.git_environment import git_environment
from ci.model.loopback import is_loopback

# Seconds after which a git command is given up: pushes to a slow forge stay far below.
TIMEOUT_S: Final = 300

# Of what git prints, which is kept in memory. A few bytes of a commit can name files without number
# or hold gigabytes: a tree may hold one other tree many times, and a file of blanks packs well.
_MOST_BYTES: Final = 600_000_000
# Of a work tree on the disk, unpacked.
_MOST_LAID_OUT: Final = 20_000_000_000

# Of what a server says when it refuses, in characters.
_SERVER_WORDS: Final = 300

# What we want otherwise than git by itself; others' settings are not read (`git_environment`,
# `git_view`).
_SETTINGS: Final = (
    f"core.hooksPath={os.devnull}",
    "core.quotePath=false",
    "core.autocrlf=false",
    # A graph of commits is among the objects, also borrowed ones, and is believed unchecked: it can
    # name other parents and another tree.
    "core.commitGraph=false",
    "credential.helper=",
    "init.templateDir=",
    "protocol.ext.allow=never",
    # A fetch or push would go on in submodules, under settings and to addresses of a stranger.
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "push.recurseSubmodules=no",
    # Two processes behind each fetch; a mirror that is kept is packed by `Mirror.pack`.
    "maintenance.auto=false",
    "gc.autoDetach=false",
)
_SAFETY: Final = tuple(word for setting in _SETTINGS for word in ("-c", setting))

# A diff is text with the usual prefixes and context, whatever attributes say. Of a submodule its
# commit counts: git would run in its work tree, under its configuration, to see whether it changed.
_DIFF: Final = (
    *("--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--no-renames"),
    *("--src-prefix=a/", "--dst-prefix=b/", "--unified=3", "--inter-hunk-context=0"),
    *("--diff-algorithm=myers", "--submodule=short", "--ignore-submodules=dirty"),
    f"-O{os.devnull}",
)

# Above what a tree says of its files, so that they are laid out as they are.
_AS_THEY_ARE: Final = "* -text -filter -ident -working-tree-encoding -diff -merge !eol\n"


def login(url: str, user: str, token: str) -> dict[str, str]:
    """Environment with which git sends `user` and `token` to the server of `url`, no other.

    The token is in no address, argument or file, so in no error message and no process list.
    Helpers and prompts of the person who runs this are not asked.
    """
    server = urlsplit(url)
    scope = f"http.{server.scheme}://{server.netloc}/"
    basic = base64.b64encode(f"{user}:{token}".encode()).decode()
    made: tuple[tuple[str, str], ...] = (
        (f"{scope}.extraHeader", ""),  # forget what the checkout sends, such as the CI's own token
        (f"{scope}.extraHeader", f"Authorization: Basic {basic}"),
        (f"{scope}.sslVerify", "true"),
        ("http.followRedirects", "false"),  # the header would go along
    )
    if is_loopback(server.hostname or ""):  # a proxy would carry it over a network in the clear
        made += ((f"{scope}.proxy", ""),)
    env = {"GIT_CONFIG_COUNT": str(len(made))}
    for place, (key, value) in enumerate(made):
        env |= {f"GIT_CONFIG_KEY_{place}": key, f"GIT_CONFIG_VALUE_{place}": value}
    return env


_AWAY = re.compile(
    r"could not resolve|failed to connect|connection (?:refused|reset|closed)|timed? ?out|early eof"
    r"|unable to access|rpc failed|hung up|could not read from remote"
    r"|returned error: (?:429|5\d\d)",
    re.IGNORECASE,
)
# It is there, and says no: such as 403 for a token that may not write.
_SAID_NO: Final = re.compile(r"returned error: 4(?!29)\d\d")

# A partial clone asks its remote for a file, and does not get it.
_NOT_FETCHED: Final = re.compile(
    rb"promisor remote|unable to access|ould not read from remote|repository '.*' not found"
    rb"|Authentication failed"
)


class GitError(Exception):
    """A git command failed; the message is git's own last words, with the command's name."""

    def __init__(self, message: str, said: Sequence[str] = ()) -> None:
        """`said`: all lines of git's own."""
        super().__init__(message)
        self.said = tuple(said)

    @property
    def away(self) -> bool:
        """Whether the other side could not be reached, as far as git's words tell."""
        words = "\n".join((str(self), *self.said))
        return _AWAY.search(words) is not None and _SAID_NO.search(words) is None


def _last_words(said: Sequence[str]) -> str:
    """The line of git that says why it failed, and what the server said of it."""
    lines = [line for line in said if not line.startswith(("hint:", "warning:"))]
    remote = [line.removeprefix("remote:").strip() for line in lines if line.startswith("remote:")]
    own = [line for line in lines if not line.startswith("remote:")]
    told = next(
        (
            line
            for mark in ("! [", "fatal: ", "error: ", "")
            for line in reversed(own)
            if line.startswith(mark)
        ),
        "",
    )
    server = " ".join(filter(None, remote))[:_SERVER_WORDS].rstrip()
    return f"{told} ({server})" if server else told


class Git:
    """Git commands in one folder, which lies in a repository."""

    def __init__(
        self, folder: Path, *, own: bool = False, login: Mapping[str, str] | None = None
    ) -> None:
        """`own`: the repository is one that we made, so its configuration is ours; of any other
        only what is harmless has effect (`git_view`). `login`: given to each command, for a partial
        clone fetches a file when it is read."""
        self.folder = folder
        self._own = own
        self._login = dict(login or {})

    @classmethod
    def made(cls, folder: Path, *, bare: bool = False, form: str = "sha1") -> Git:
        """A new repository of ours in `folder`, whose objects are named in the form `form`."""
        git = cls(folder, own=True)
        flags = ("--quiet", f"--object-format={form}", *(["--bare"] if bare else []))
        git._run(("init", *flags), None, {})
        return git

    @property
    def _place(self) -> Place | None:
        """Where the repository is, found without asking git, which would read its settings."""
        return place_of(self.folder)

    def run(
        self, *arguments: str, stdin: str | None = None, env: dict[str, str] | None = None
    ) -> str:
        """Run `git ARGUMENTS` and return stdout; raises `GitError` when it fails."""
        return self._run(arguments, stdin, {**self._here(), **(env or {})})

    def _here(self) -> dict[str, str]:
        """Environment with which git works in this repository, and looks for no other."""
        place = self._place
        if place is None:
            return {"GIT_DIR": os.devnull}
        return {**place.variables(own=self._own), **self._login}

    def _run(self, arguments: Sequence[str], stdin: str | None, env: Mapping[str, str]) -> str:
        done = self._done(arguments, None if stdin is None else stdin.encode(), env)
        if done.returncode != 0:
            lines = re.split(r"[\r\n]+", done.stderr.decode(errors="replace"))
            said = [line.strip() for line in lines if line.strip()]
            words = _last_words(said) or f"it ended with code {done.returncode} and said nothing"
            raise GitError(f"git {arguments[0]} failed: {words}", said)
        return done.stdout.decode(errors="replace")

    def _done(
        self, arguments: Sequence[str], stdin: bytes | None, env: Mapping[str, str]
    ) -> subprocess.CompletedProcess[bytes]:
        """`git ARGUMENTS`, ended in whatever way; raises `GitError` when it does not end."""
        program = shutil.which("git")
        if program is None:
            raise EnvironmentProblem("git is missing; install it with: apt-get install -y git")
        try:
            return run_bounded(
                [program, *_SAFETY, *arguments],
                stdin or b"",
                folder=self.folder,
                env={**git_environment(), **env},
                timeout_s=TIMEOUT_S,
                most_bytes=_MOST_BYTES,
            )
        except subprocess.TimeoutExpired as expired:
            raise GitError(f"git {arguments[0]} did not end within {TIMEOUT_S} s") from expired
        except TooMuchOutput:
            raise GitError(
                f"git {arguments[0]} printed more than {_MOST_BYTES // 1_000_000} MB: too many or"
                " too large files"
            ) from None

    def succeeds(self, *arguments: str) -> bool:
        """Whether `git ARGUMENTS` ends with code 0."""
        try:
            self.run(*arguments)
        except GitError:
            return False
        return True

    def diff(self, *arguments: str) -> str:
        """Return what `git diff ARGUMENTS` prints, the same on every machine. Raises `GitError`."""
        return self.run("diff", *_DIFF, *arguments)

    def lay_out(self, commit: str, into: Path) -> None:
        """Put the work tree of a commit into the new folder `into`, byte for byte as it is stored.

        It shares the objects of this repository. No program runs for a file of it, whatever the
        tree's attributes and the configuration of a person name. Raises `GitError`.
        """
        asked = ("rev-parse", "--show-object-format", "--verify", f"{commit}^{{commit}}")
        form, named = self.run(*asked).split()
        self._refuse_too_large(named)
        place = self._place
        assert place is not None, "git has just answered"
        into.mkdir(parents=True, exist_ok=True)
        made, hidden = Git.made(into, form=form), into / ".git"
        alternates = hidden / "objects" / "info" / "alternates"
        alternates.parent.mkdir(exist_ok=True)
        alternates.write_text(f"{place.shared / 'objects'}\n", encoding="utf-8")
        if (place.shared / "shallow").is_file():
            shutil.copy(place.shared / "shallow", hidden)
        (hidden / "info").mkdir(exist_ok=True)
        (hidden / "info" / "attributes").write_text(_AS_THEY_ARE, encoding="utf-8")
        made.run("checkout", "--quiet", "--detach", named)

    def _refuse_too_large(self, commit: str) -> None:
        """Raise `GitError` for a commit that would fill the disk, or that nobody could walk."""
        listed = self.run("ls-tree", "-r", "-z", commit).split("\0")
        found = [(entry.partition("\t")[0].split(), entry.count("/")) for entry in listed if entry]
        if any(depth > MOST_DEPTH for _, depth in found):
            raise GitError(
                f"commit {commit[:12]} is not checked out: a file of it lies more than"
                f" {MOST_DEPTH} folders deep"
            )
        blobs = [words[2] for words, _ in found if words[1] == "blob"]
        sizes = self.sizes(list(dict.fromkeys(blobs)))
        if sum(sizes.get(name, 0) for name in blobs) > _MOST_LAID_OUT:
            raise GitError(
                f"commit {commit[:12]} is not checked out: its files have more than"
                f" {_MOST_LAID_OUT // 1_000_000_000} GB"
            )

    def top(self) -> Path | None:
        """Top folder of the checkout that holds `folder`; None outside git or in a bare one."""
        place = self._place
        return None if place is None else place.top

    def commit(self, revision: str) -> str | None:
        """Full hash of the commit that `revision` names, or None."""
        try:
            return self.run("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}").strip()
        except GitError:
            return None

    def show(self, revision: str, path: str) -> bytes | None:
        """Content of `path` at `revision`, byte for byte, or None when it is not there.

        Raises GitError when a partial clone names it and cannot fetch it.
        """
        done = self._done(("cat-file", "blob", f"{revision}:{path}"), None, self._here())
        if done.returncode != 0 and _NOT_FETCHED.search(done.stderr):
            raise GitError(f"{path} is not in this partial clone, and its remote does not give it")
        return done.stdout if done.returncode == 0 else None

    def sizes(self, names: Sequence[str]) -> dict[str, int]:
        """Sizes of blobs in bytes, by hash; hashes that are no blob are left out."""
        if not names:
            return {}
        listed = "".join(f"{name}\n" for name in names).encode()
        done = self._done(("cat-file", "--batch-check"), listed, self._here())
        lines = zip(names, done.stdout.decode().splitlines(), strict=False)
        words = ((name, line.split()) for name, line in lines)
        return {n: int(w[2]) for n, w in words if len(w) == 3 and w[1] == "blob"}

    def blobs(self, names: Sequence[str], *, largest: int | None = None) -> dict[str, bytes]:
        """Contents of blobs by hash, in one call of git; hashes that are no blob are left out.

        So are those of more than `largest` bytes, unread: what a stranger pushes in a few bytes can
        be gigabytes once it is unpacked.
        """
        if largest is not None:
            names = [name for name, size in self.sizes(names).items() if size <= largest]
        if not names:
            return {}
        listed = "".join(f"{name}\n" for name in names).encode()
        done = self._done(("cat-file", "--batch"), listed, self._here())
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
