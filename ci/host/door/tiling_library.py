"""The host-side tiling library of a header tree, where the tree holds its sources.

An installed toolkit has it as a binary that wants the toolkit's own runtime; an asc-devkit checkout
has the sources, which compile against our host headers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ci.host.door.header_tree import HeaderTree
from ci.host.door.kernel_tiling import HEADER
from ci.system.cache import digest

FLAG = "-DASCENDOPT_ASC_TILING"
"""Our host headers then include the tree's tiling API instead of their own."""

_ENTRY = "include/adv_api/tiling_api.h"
_SOURCES = "impl/adv_api/tiling"
_LOG = "impl/adv_api/detail/host_log.cpp"
_FOREIGN = "hccl"  # asks for the communication library
_USES = re.compile(
    r"\b(?:TCubeTiling|matmul_tiling|(?:MultiCore|Batch)?Matmul(?:Api)?Tiling|SoftMaxTiling"
    r"|Get\w+(?:TmpSize|TmpBufferFactorSize)|(?:Soft[Mm]ax|LayerNorm|GroupNorm|TopK|Sort"
    r"|ConfusionTranspose)\w*Tiling(?:Func|Info))\b"
)


@dataclass(frozen=True)
class TilingLibrary:
    """Sources of a tiling library, and what host code needs to be compiled against it."""

    sources: tuple[Path, ...]
    folders: tuple[Path, ...]
    """Include folders, behind our own host headers."""
    structs: str
    """Text of `kernel_tiling/kernel_tiling.h`, which host and kernel share."""
    digest: str

    def include_arguments(self) -> list[str]:
        """`-I` words of the folders."""
        return [f"-I{folder}" for folder in self.folders]


def tiling_library(tree: HeaderTree, structs: str) -> TilingLibrary | None:
    """The library of `tree`, None when the tree does not hold its sources.

    `structs` is the header that was made from the tree, '' when the tree brings its own.
    """
    sources = sorted(
        path
        for path in (tree.api / _SOURCES).rglob("*.cpp")
        if _FOREIGN not in path.relative_to(tree.api).parts
    )
    log = tree.api / _LOG
    if not sources or not structs or not log.is_file() or not (tree.api / _ENTRY).is_file():
        return None
    found = (*sources, log)
    parts = [part for path in found for part in (str(path), path.read_bytes())]
    folders = (tree.api / "include", tree.api / "include" / "utils")
    return TilingLibrary(found, folders, structs, digest([tree.digest, HEADER, structs, *parts]))


def uses_library(texts: Iterable[str]) -> bool:
    """Whether host sources call the tiling library; the others are spared its headers."""
    return any(_USES.search(text) for text in texts)
