"""Which folders of an operator are for the chip that we know, and which for another generation.

Repositories keep a generation's sources in a folder of its own below op_host and op_kernel. What
the folders are called is each build's choice: it keeps a list of chips, and next to it a list of as
many folders.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from ci.model.layout import HOST, KERNEL
from ci.source.build.calls import Call, calls_in_text
from ci.source.build.evaluation import Tree
from rules.architectures import architectures

_USUAL = re.compile(r"arch\d+")
"""What such folders are called where no build names them."""
_CHIP = re.compile(r"(?:ascend|kirin)\w*|mc\d\w*", re.IGNORECASE)


@dataclass(frozen=True)
class ChipFolders:
    """Names of folders of chip generations."""

    ours: frozenset[str]
    others: frozenset[str] = frozenset()

    def another_s(self, path: str) -> bool:
        """Whether a path leads into a folder of another chip generation, and into none of ours."""
        folders = PurePosixPath(path).parts[:-1]
        foreign = any(
            one in self.others or (_USUAL.fullmatch(one) and one not in self.ours)
            for one in folders
        )
        return foreign and self.ours.isdisjoint(folders)

    def of_operator(self, sources: Iterable[str], named: Iterable[str]) -> ChipFolders:
        """The folders with what an operator's own build says: it takes some of `sources`, the
        `named` ones, and leaves others."""
        all_, taken = (
            {one for path in paths for one in PurePosixPath(path).parts[:-1] if self._is_one(one)}
            for paths in (sources, named)
        )
        if not taken or taken == all_:
            return self
        return ChipFolders(self.ours | taken, self.others | (all_ - taken - self.ours))

    def _is_one(self, folder: str) -> bool:
        return bool(_USUAL.fullmatch(folder)) or folder in self.ours | self.others


def chip_folders(tree: Tree, own: str) -> ChipFolders:
    """The folders for an operator: the toolkit's own name for ours, and what the lists say of the
    CMakeLists.txt that is nearest to it, in its own folder or above.

    `own`: what the paths of the operator's files begin with.
    """
    usual = frozenset(one.source_folder for one in architectures())
    lists = _lists(tree)
    near = [path for path in lists if path.startswith(own) or own.startswith(_folder_of(path))]
    if not near:
        return ChipFolders(usual)
    nearest = max(near, key=lambda path: path.count("/"))
    ours, others = lists[nearest]
    return ChipFolders(ours | usual, others - usual)


def _folder_of(path: str) -> str:
    above, slash, _ = path.rpartition("/")
    return above + slash


@lru_cache(maxsize=8)
def _lists(tree: Tree) -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """Names of folders for our chip and for others by CMakeLists.txt that pairs them with chips."""
    there = {
        inner
        for path in tree.files
        if (parts := PurePosixPath(path).parts)
        and (at := next((i for i, one in enumerate(parts) if one in (HOST, KERNEL)), None))
        for inner in parts[at + 1 : -1]
    }
    words = [one.definition_word for one in architectures()]
    found = {}
    for path in tree.listings:
        text = tree.text(path)
        if not path.endswith("CMakeLists.txt") or not any(word in text.lower() for word in words):
            continue
        lists = [call.arguments[1:] for call in calls_in_text(text, path, {}) if _sets(call)]
        chips = [one for one in lists if all(map(_CHIP.fullmatch, one)) and {*words} & {*one}]
        pairs = {
            (chip, folder)
            for some in chips
            for folders in lists
            if len(some) == len(folders)
            and not any(map(_CHIP.fullmatch, folders))
            and not there.isdisjoint(folders)
            for chip, folder in zip(some, folders, strict=True)
        }
        if pairs:
            ours = frozenset(folder for chip, folder in pairs if chip in words)
            found[path] = ours, frozenset(folder for _, folder in pairs) - ours
    return found


def _sets(call: Call) -> bool:
    return call.command.lower() == "set" and len(call.arguments) > 1
