"""A repository as our git sees it: its commits and references, under a configuration of our own.

Whoever made a checkout wrote its `.git/config`, `.git/info` and hooks. Much of it names programs to
run or decides what a diff, a commit or a push is, and git has more of it with every version. So git
is given a folder of ours in place of `.git`: links to what holds the commits, and of the settings
only those that say how they are stored and what the remotes are.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
import tempfile
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from ci.model.errors import InputError
from ci.model.git_environment import git_environment, setting_line

_HARMLESS: Final = re.compile(
    r"core\.(repositoryformatversion|filemode|symlinks|ignorecase|precomposeunicode"
    r"|sparsecheckout|sparsecheckoutcone)"
    r"|extensions\.(?!worktreeconfig)\w+"
    # A remote with an address as its name would stand for that address.
    r"|remote\.[^/:][^:]*\.(url|pushurl|fetch|promisor|partialclonefilter)"
    r"|branch\..+\.(remote|merge)",
    re.DOTALL,
)
"""How commits and files are stored, what the remotes are, and what branches follow."""

_OF_ALL: Final = ("objects", "refs", "packed-refs", "reftable", "shallow")
"""Entries of a git folder that all work trees of a repository share."""
_OF_ONE: Final = ("index", "FETCH_HEAD", "ORIG_HEAD", "info/sparse-checkout")
_READ_S: Final = 30
_MOST_ENTRIES: Final = 20_000
"""Folders and links that are looked at: a repository has a few hundred."""
_MOST_BORROWED: Final = 100


class Place(NamedTuple):
    """Where a repository is."""

    own: Path
    """Folder of HEAD and index: `.git`, or the repository itself where it is a bare one."""
    shared: Path
    """Folder of commits, references and settings; another one in a second work tree."""
    top: Path | None
    """The work tree; None for a bare one. Nothing that the repository says decides it."""

    def variables(self, *, own: bool) -> dict[str, str]:
        """Environment with which git works here, and looks for no other repository.

        `own`: its configuration is ours and counts.
        """
        tree = {} if self.top is None else {"GIT_WORK_TREE": str(self.top)}
        return {"GIT_DIR": str(self.own if own else _view(self)), **tree}


def place_of(folder: Path) -> Place | None:
    """The repository that `folder` is or lies in, None where there is none."""
    start = folder.resolve()
    if _holds_commits(start):
        return Place(start, start, None)
    for top in (start, *start.parents):
        own = _named(top / ".git")
        if own is not None:
            shared = _shared(own)
            return Place(own, shared, top) if _holds_commits(shared) else None
    return None


def _holds_commits(folder: Path) -> bool:
    return (folder / "HEAD").is_file() and all((folder / n).is_dir() for n in ("objects", "refs"))


def _named(entry: Path) -> Path | None:
    """The folder that `.git` is, or names where it is a file: a second work tree, a submodule."""
    if entry.is_dir():
        return _followed(entry)
    if not entry.is_file():
        return None
    word, _, path = _text(entry).partition(": ")
    return _followed(entry.parent / path.strip()) if word == "gitdir" else None


def _shared(own: Path) -> Path:
    named = own / "commondir"
    return _followed(own / _text(named).strip()) if named.is_file() else own


def _followed(path: Path) -> Path:
    """A path that a file of a repository spells, with its links followed as far as they lead."""
    with suppress(OSError, ValueError):  # it can be no path of this machine
        found = Path(os.path.realpath(path))
        found.exists()  # raises for a name that is too long
        return found
    return Path("/nonexistent")


def _text(file: Path) -> str:
    with file.open("rb") as opened:
        return opened.read(10_000).decode(errors="surrogateescape")


def _view(place: Place) -> Path:
    """The folder of ours that stands for the repository; it follows HEAD and the settings."""
    name = sha256(f"{place.own}\0{place.shared}".encode(errors="surrogateescape")).hexdigest()[:16]
    folder = Path(_views().name) / name
    if not folder.is_dir():
        linked = _linked(place)
        _refuse_pipes([*linked.values(), *_borrowed(place.shared / "objects")])
        folder.parent.mkdir(mode=0o700, exist_ok=True)  # somebody may have tidied up
        made = Path(tempfile.mkdtemp(dir=folder.parent))
        (made / "info").mkdir()
        for one, target in linked.items():
            (made / one).symlink_to(target)
        try:
            made.rename(folder)
        except OSError:
            assert folder.is_dir(), "another thread was faster"
    _write(folder / "HEAD", _text(place.own / "HEAD"))
    _write(folder / "config", _settings(place))
    return folder


def _linked(place: Place) -> dict[str, Path]:
    """Return the folders that ours links to, by the path of the link."""
    shared = {one: place.shared / one for one in _OF_ALL}
    own = (*_OF_ONE, *(part.name for part in place.own.glob("sharedindex.*")))
    return {**shared, **{one: place.own / one for one in own}}


def _borrowed(objects: Path) -> list[Path]:
    """The folders of commits that a repository borrows, and those that they borrow."""
    found = [objects]
    for near in found:  # which grows meanwhile
        listed = near / "info" / "alternates"
        if len(found) > _MOST_BORROWED or not listed.is_file():
            continue
        named = dict.fromkeys(_followed(near / line) for line in _text(listed).splitlines())
        found += [one for one in named if one not in found]
    return found[1:]


def _refuse_pipes(places: list[Path]) -> None:
    """Raise InputError where git would wait for a pipe or read a device to no end."""
    pending, seen = [*places], 0
    while pending and seen < _MOST_ENTRIES:
        path = pending.pop()
        seen += 1
        try:
            mode = path.stat().st_mode
        except OSError:
            continue  # it is not there, or leads nowhere
        if stat.S_ISDIR(mode):
            with suppress(OSError), os.scandir(path) as entries:
                found = (e for e in entries if not e.is_file(follow_symlinks=False))
                pending += [Path(entry.path) for entry in found]
        elif not stat.S_ISREG(mode):
            raise InputError(f"{path} is a pipe or a device, which is no part of a repository.")


def _write(file: Path, text: str) -> None:
    """Replace a file at once, where it does not hold the text already."""
    raw = text.encode(errors="surrogateescape")
    if file.is_file() and file.read_bytes() == raw:
        return
    with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as made:
        made.write(raw)
    Path(made.name).replace(file)


def _settings(place: Place) -> str:
    """The text of the configuration: what is harmless of the repository's, and no journal."""
    files = (place.shared / "config", place.own / "config.worktree")
    kept = "".join(_kept(f, *_state(f)) for f in files if f.is_file())
    return f"{kept}[core]\n\tbare = {str(place.top is None).lower()}\n\tlogAllRefUpdates = false\n"


def _state(file: Path) -> tuple[int, int, int]:
    found = file.stat()
    return found.st_ino, found.st_mtime_ns, found.st_size


@cache
def _kept(file: Path, *state: int) -> str:
    """Return the harmless settings of a file in that state, without the files that it includes.

    Raises InputError when git cannot read it.
    """
    done = subprocess.run(
        ["git", "config", "--file", str(file), "--no-includes", "--list", "-z"],
        cwd="/",
        env=git_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_READ_S,
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ")
        raise InputError(f"The settings of the checkout cannot be read: {said or file}.")
    listed = done.stdout.decode(errors="surrogateescape").split("\0")[:-1]
    entries = [entry.partition("\n") for entry in listed]
    return "".join(
        setting_line(key, value if newline else "true")
        for key, newline, value in entries
        if _HARMLESS.fullmatch(key)
    )


@cache
def _views() -> tempfile.TemporaryDirectory[str]:
    """Gone when the process ends."""
    return tempfile.TemporaryDirectory(prefix="ascendopt-git-")
