"""Which folders of an operator are for the chip that we know, and which for another generation.

Repositories keep a generation's sources in a folder of its own below op_host and op_kernel. What
the folders are called is each build's choice: it keeps a list of chips, and next to it a list of as
many folders. A list that holds our chip is one of chips, and what else it holds are chips too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import PurePosixPath

from ci.model.layout import HOST, KERNEL
from ci.source.build.calls import Call, calls_in_text
from ci.source.build.evaluation import Tree
from rules.architectures import architectures

_USUAL = re.compile(r"arch\d+")
"""What such folders are called where no build names them."""
_WORD = re.compile(r"[A-Za-z]\w*")


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
    ours = _our_words()
    known = chip_words(tree)
    found = {}
    for path, lists in _set_lists(tree).items():
        if not path.endswith("CMakeLists.txt"):
            continue
        chips = [one for one in lists if not ours.isdisjoint(map(str.lower, one))]
        pairs = {
            (chip.lower(), folder)
            for some in chips
            for folders in lists
            if len(some) == len(folders)
            and not any(is_chip(one, known) for one in folders)
            and not there.isdisjoint(folders)
            for chip, folder in zip(some, folders, strict=True)
        }
        if pairs:
            for_us = frozenset(folder for chip, folder in pairs if chip in ours)
            found[path] = for_us, frozenset(folder for _, folder in pairs) - for_us
    return found


@lru_cache(maxsize=8)
def chip_words(tree: Tree) -> frozenset[str]:
    """The chips that the build names, in small letters: what is in a list with ours."""
    ours = _our_words()
    return ours | {
        word.lower()
        for lists in _set_lists(tree).values()
        for one in lists
        if not ours.isdisjoint(map(str.lower, one))
        for word in one
        if _WORD.fullmatch(word)
    }


def is_chip(word: str, known: Collection[str]) -> bool:
    """Whether a word of a build means a chip: one of those `known`, or a number of our chip's
    series."""
    small = word.lower()
    return small in known or _numbers().fullmatch(small) is not None


@cache
def _numbers() -> re.Pattern[str]:
    """The numbers of our chips' series."""
    series = {re.split(r"\d", word, maxsplit=1)[0] for word in _our_words()}
    return re.compile(rf"(?:{'|'.join(sorted(series))})\d\w*")


@cache
def _our_words() -> frozenset[str]:
    return frozenset(one.definition_word for one in architectures())


@lru_cache(maxsize=8)
def _set_lists(tree: Tree) -> dict[str, list[tuple[str, ...]]]:
    """The lists that variables are set to, by file that names our chip."""
    ours = _our_words()
    found = {}
    for path in tree.listings:
        text = tree.text(path)
        if any(word in text.lower() for word in ours):
            calls = calls_in_text(text, path, {})
            found[path] = [_items(call) for call in calls if _sets(call)]
    return found


def _items(call: Call) -> tuple[str, ...]:
    """What a variable is set to: its words, lists in quotes taken apart."""
    words = [part for word in call.arguments[1:] for part in word.split(";") if part]
    end = next((i for i, word in enumerate(words) if word in ("CACHE", "PARENT_SCOPE")), None)
    return tuple(words[:end])


def _sets(call: Call) -> bool:
    return call.command.lower() == "set" and len(call.arguments) > 1
