"""How many parts a kernel's work has, and which of its cores share a part."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.sequence import namespace
from ci.source.cpp_source import Edit, Source

MOST_PARTS = 20
"""Parts of a kernel that are shared: with more each has hardly two cores on any device."""

_NUMBER = re.compile(r"\bGetBlockIdx\s*\(\s*\)")
_NUMBERS = re.compile(r"\bGetBlockNum\s*\(\s*\)")
_ASKED = re.compile(r"\bGetBlockIdx\b|\bget_block_idx\b|\bblock_idx\b|\bGetSubBlockIdx\b")
_TOGETHER = re.compile(
    r"\bget_block_(?:idx|num)\b|\bblock_(?:idx|num)\b|\bGetSubBlock|\bSyncAll\b|\bCrossCore|\bIBSet\b"
    r"|\bIBWait\b|\bREGIST_MATMUL_OBJ\b"
)
_DIM = re.compile(r"\b\w+\s*(?:->|\.)\s*GetBlockDim\s*\(\s*\)")
_INDENT = " " * 8
_WORK = "CORE_START"
_INCLUDE = re.compile(r"^#include[^\n]*\n", re.MULTILINE)
_HEADERS = {
    "platform_ascendc": "tiling/platform/platform_ascendc.h",
    "std::max": "algorithm",
    "std::sqrt": "cmath",
}


@dataclass(frozen=True)
class Crews:
    """The cores of a kernel by the part of the work that they share."""

    parts: int
    """Cores that the original host asks for; 1 where the kernel never asks for its number."""
    asks: bool
    """Whether the kernel asks for its core's number."""
    at: str = ""
    """What is before names of the API."""

    def named(self, at: str) -> Crews:
        """The same, in a source that writes `at` before names of the API."""
        return Crews(self.parts, self.asks, at)

    @property
    def count(self) -> str:
        """Cores of a part, as an expression."""
        number = f"{self.at}GetBlockNum()"
        return number if self.parts == 1 else f"({number} / {self.parts})"

    @property
    def index(self) -> str:
        """Which of its part's cores this one is, as an expression."""
        number = f"{self.at}GetBlockIdx()"
        return number if self.parts == 1 else f"({number} % {self.count})"

    @property
    def part(self) -> str:
        """The number of this core's part, as an expression."""
        return "0" if self.parts == 1 else f"({self.at}GetBlockIdx() / {self.count})"

    def renumbered(self, source: Source) -> list[Edit]:
        """The edits that give a kernel its part's number where it asks for its own."""
        if not self.asks:
            return []
        new = {_NUMBER: self.named(namespace(source)).part, _NUMBERS: str(self.parts)}
        return [
            Edit(source.begin(found.start()), found.end(), text)
            for pattern, text in new.items()
            for found in pattern.finditer(source.shadow)
        ]


def crews(host: Mapping[str, Source], kernel: Mapping[str, Source]) -> Crews | None:
    """How the kernel's work is shared out; None where that is not known, or not be changed.

    Cores that wait for each other, and those of a cube unit, stay as many as they are.
    """
    code = [source.shadow for source in kernel.values()]
    if not any(_ASKED.search(text) for text in code):
        return Crews(1, asks=False)
    if any(_TOGETHER.search(text) for text in code):
        return None
    asked = {
        value
        for _, _, values in _block_dims(host)
        for value in (values if len(values) == 1 else {""})
    }
    if len(asked) != 1 or not (number := asked.pop()).isdigit():
        return None
    return Crews(int(number), asks=True) if 1 <= int(number) <= MOST_PARTS else None


def more_blocks(host: Mapping[str, Source], shared: Crews, work: int) -> dict[str, Match] | None:
    """The edits that ask for more cores; {} when the host does already, None when it is unknown.

    The root of (elements of the first input or output / `work`): where a core gets through `work`
    elements while another one is started, that many take the least time for both.
    """
    found: dict[str, list[Edit]] = {}
    dims = list(_block_dims(host))
    for path, place, values in dims:
        if values != {str(shared.parts)}:
            continue
        source = host[path]
        context = source.text[: place.start].rstrip().removesuffix("(").rpartition("SetBlockDim")[0]
        name = re.search(r"(\w+)\s*(?:->|\.)\s*$", context)
        if name is None:
            return None
        found.setdefault(path, []).append(
            Edit(place.start, place.end, _cores(name[1], shared.parts))
        )
    if not dims or (not found and shared.asks):
        return None
    for path, source in host.items() if shared.asks else ():
        for dim in _DIM.finditer(source.shadow):
            edit = Edit(source.begin(dim.start()), dim.end(), str(shared.parts))
            found.setdefault(path, []).append(edit)
    return {path: _with_heads(host[path], edits, work) for path, edits in found.items()}


def _cores(context: str, parts: int) -> str:
    """A multiple of `parts`: all cores, as far as they have work enough."""
    platform = f"platform_ascendc::PlatformAscendC({context}->GetPlatformInfo())"
    most = f"{platform}.GetCoreNumAiv()" + (f" / {parts}" if parts > 1 else "")
    read, made = (
        f"{context}->Get{side}Shape(0)->GetStorageShape().GetShapeSize()"
        for side in ("Input", "Output")
    )
    enough = f"std::sqrt(std::max<int64_t>({read},\n{_INDENT}{made}) / {_WORK})"
    enough += f" / {parts}" if parts > 1 else ""
    count = f"std::max<int64_t>(1, std::min<int64_t>({most},\n{_INDENT}{enough}))"
    return count if parts == 1 else f"{parts} * {count}"


def _with_heads(source: Source, edits: list[Edit], work: int) -> Match:
    """The edits with the headers that they need, and the constant behind all headers."""
    place = max(source.text.find("#include"), 0)
    for name, header in _HEADERS.items():
        if header not in source.text and any(name in edit.new for edit in edits):
            written = f"<{header}>" if "/" not in header else f'"{header}"'
            edits = [*edits, Edit(place, place, f"#include {written}\n")]
    if any(_WORK in edit.new for edit in edits) and not re.search(rf"\b{_WORK}\b", source.text):
        last = max((m.end() for m in _INCLUDE.finditer(source.text)), default=0)
        says = f"constexpr int64_t {_WORK} = {work};  // elements done while another core starts"
        edits = [*edits, Edit(last, last, f"\n{says}\n")]
    return Match(edits[0].start, tuple(edits))


def _block_dims(host: Mapping[str, Source]) -> list[tuple[str, Edit, set[str]]]:
    """(path, the argument's place, what it can be) of every call of SetBlockDim."""
    known = "\n".join(source.shadow for source in host.values())
    found = []
    for path, source in host.items():
        for method in source.methods:
            if method.name == "SetBlockDim" and len(method.arguments) == 1:
                node = method.argument_nodes[0]
                place = Edit(node.start_byte, node.end_byte, "")
                found.append((path, place, _values(known, source.code(node))))
    return found


def _values(text: str, given: str) -> set[str]:
    """What a name is defined or set to, or the literal itself."""
    if given.isdigit():
        return {given}
    name = re.escape(given)
    set_to = re.findall(rf"\b{name}\s*=\s*([^;=][^;]*);", text)
    defined = re.findall(rf"#define[ \t]+{name}[ \t]+(\S+)", text)
    return {value.strip().rstrip("uUlL") for value in (*set_to, *defined)}
