"""What code of a folder may read: what lies in it, and nothing that leads out of it.

What leads out is a symbolic link, `..`, a way through /proc, what is mounted into the folder, a
hard link to a file that has another name elsewhere, and every hidden entry.
"""

from __future__ import annotations

import os
import re
import stat
import sysconfig
from collections import Counter
from collections.abc import Iterator
from functools import cached_property, lru_cache
from pathlib import Path

from ci.model.errors import InputError
from ci.model.folder_walk import MOST_DEPTH, walk
from ci.system.view import Part, Readable

MOST_ENTRIES = 200_000
"""Most entries of a folder that is looked through, with all below it."""

MOST_PARTS = 1000
"""Most parts of a folder that is shown in parts; the sandbox takes each as words of a command."""


def home(folder: Path) -> Path:
    """Where all that a workload in `folder` names has to lie: the repository.

    Outside of one it is the folder above, where workloads keep what they share.
    """
    folder = folder.resolve()
    around = (folder, *folder.parents)
    return next((one for one in around if (one / ".git").exists()), folder.parent)


def within(place: Path, top: Path, beside: Path | None = None) -> bool:
    """Whether `place` lies in `top` with all links followed, and by no other way than its name.

    Not so below a hidden folder or a mounted one, and for a file with another name elsewhere.
    Folders that also lead to `beside` do not count.
    """
    real, top = Path(os.path.realpath(place)), top.resolve()
    if not real.is_relative_to(top):
        return False
    start = Path(os.path.commonpath((real, beside.resolve()))) if beside else top
    if any(map(_hidden, real.relative_to(start).parts)):
        return False
    return not borrowed(real, top, start)


def borrowed(place: Path, top: Path, start: Path | None = None) -> bool:
    """Whether `place` is mounted below `start` (`top` when not given), or is a file that has a name
    outside of `top`, too. All three are real paths, without links."""
    above = start or top
    if ({place, *place.parents} - {above, *above.parents}) & _mounted():
        return True
    try:
        return _Names(top).elsewhere(place, place.stat())
    except OSError:  # there is nothing: whoever reads it says so
        return False


def shown(folder: Path) -> list[Readable]:
    """The least list of paths that shows a folder without what is hidden, at any depth.

    Hidden is what begins with a dot, such as .git and .ssh. A link is shown where it leads to
    something that `within` finds in the folder or in its repository. Others are left out, so that
    a sandbox which follows links follows none of them.

    Raises InputError for a folder that is too large to be looked through.
    """
    folder = folder.resolve()
    top = home(folder)
    look = _Look(top if (top / ".git").exists() and within(folder, top) else folder)
    parts = look.parts(folder)
    found: list[Readable] = [*([folder] if parts is None else parts), *look.targets]
    if sum(len(one.entries) + 1 if isinstance(one, Part) else 1 for one in found) > MOST_PARTS:
        raise InputError(
            f"{folder} has hidden files in too many places to show the rest of it to a golden;"
            " put the golden in a folder of its own."
        )
    return list(dict.fromkeys(found))


class _Look:
    """One walk through a folder, which follows no link."""

    def __init__(self, top: Path) -> None:
        self._top = top
        self._left = MOST_ENTRIES
        self._mounted = _mounted()
        self._names = _Names(top)
        self.targets: list[Path] = []
        """Where links lead to that may be followed."""

    def parts(self, folder: Path) -> list[Part] | None:
        """What to show of `folder`; None for all of it.

        No level of the sandbox follows the links of a folder that is shown whole, so these may
        lead anywhere.
        """
        if len(folder.parts) - len(self._top.parts) > MOST_DEPTH:
            return []
        whole, found, deeper = True, list[Path](), list[Part]()
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda one: one.name)
        except OSError:  # nobody reads it, the sandbox's program neither
            return []
        self._left -= len(entries)
        if self._left < 0:
            raise InputError(
                f"{folder} and the folders around it hold more than {MOST_ENTRIES:,} files; put"
                " the golden in a folder of its own."
            )
        for entry in entries:
            place = folder / entry.name
            if _hidden(entry.name) or place in self._mounted:
                whole = False
            elif entry.is_symlink():
                if self._followed(place):
                    found.append(place)
            elif entry.is_dir(follow_symlinks=False):
                below = self.parts(place)
                if below is None:
                    found.append(place)
                else:
                    whole = False
                    deeper += below
            elif not self._own(place, entry.stat(follow_symlinks=False)):
                whole = False
            else:
                found.append(place)
        return None if whole else [Part(folder, tuple(found)), *deeper]

    def _own(self, place: Path, found: os.stat_result) -> bool:
        """Whether this is a file of the folder; a pipe, say, leads to another process."""
        return stat.S_ISREG(found.st_mode) and not self._names.elsewhere(place, found)

    def _followed(self, link: Path) -> bool:
        """Whether a link leads to a file, or a folder without hidden files, that may be shown."""
        try:
            target = link.resolve(strict=True)
        except (OSError, RuntimeError):  # it leads nowhere, or in a circle
            return False
        if not within(target, self._top) or link.is_relative_to(target):
            return False
        if not (target.is_file() or target.is_dir()):
            return False
        if target.is_dir() and _Look(self._top).parts(target) is not None:
            return False
        self.targets.append(target)
        return True


class _Names:
    """The names that files have in a folder, hidden ones left out."""

    def __init__(self, top: Path) -> None:
        self._top = top

    def elsewhere(self, file: Path, found: os.stat_result) -> bool:
        """Whether a file has a name outside of the folder, too: it may be anybody's.

        What an installer has put next to Python is often linked to its cache, and open to all.
        """
        if found.st_nlink == 1 or not stat.S_ISREG(found.st_mode):
            return False
        installed = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
        if any(file.is_relative_to(Path(one).resolve()) for one in installed):
            return False
        return self._counted[found.st_dev, found.st_ino] < found.st_nlink

    @cached_property
    def _counted(self) -> Counter[tuple[int, int]]:
        made = Counter[tuple[int, int]]()
        for number, found in enumerate(_files(self._top)):
            if number >= MOST_ENTRIES:
                break
            made[found.st_dev, found.st_ino] += 1
        return made


def _files(folder: Path) -> Iterator[os.stat_result]:
    """All files below a folder that are neither hidden nor links."""
    for place, folders, names in walk(folder):
        folders[:] = [name for name in folders if not _hidden(name)]
        for name in names:
            if not _hidden(name):
                try:
                    yield (place / name).lstat()
                except OSError:
                    continue


def _mounted() -> frozenset[Path]:
    """Where something is mounted, a single file among them."""
    try:
        return _mounts(Path("/proc/self/mountinfo").read_text(errors="surrogateescape"))
    except OSError:
        return frozenset()


@lru_cache(maxsize=1)
def _mounts(table: str) -> frozenset[Path]:
    """The places in the kernel's table, which is the same for thousands of files."""
    places = (line.split(" ")[4] for line in table.splitlines())
    return frozenset(
        Path(re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), place))
        for place in places
    )


def _hidden(name: str) -> bool:
    return name.startswith(".")
