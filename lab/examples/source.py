"""An example's folder: what its CMakeLists.txt says, and its text as host and as device code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ci.model.errors import InputError
from ci.model.frozen import Frozen
from ci.source.cpp_text import blanked, closing, split_arguments, without_comments
from ci.system.compiler import compiler
from ci.system.sandbox import Limits, run

CHIP = "dav-2201"
"""The architecture of the chips that the machine models."""

SOURCES = (".asc", ".h", ".hpp", ".cpp")

_COMMAND = re.compile(r"^[ \t]*(\w+)[ \t]*\(([^()]*(?:\([^()]*\)[^()]*)*)\)", re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*$", re.MULTILINE | re.DOTALL)
_DEVICE = re.compile(r"\b(?:__aicore__|__global__|__simd_vf__|constexpr)\b")
_OPENS = re.compile(r"\bnamespace\b[^;{()]*$|\bextern\s*\"C\"\s*$")
_TYPE = re.compile(r"(?:^|[\s>])(?:class|struct|union|enum)\b[^()]*$")
_LAUNCH = re.compile(r"<<<(.*?)>>>\s*\(", re.DOTALL)


class Example(Frozen):
    """One example, configured."""

    folder: Path
    source: str
    """Its .asc file."""
    definitions: tuple[str, ...]
    """What its build defines: NAME=VALUE."""

    @property
    def name(self) -> str:
        """A word for its kernel's files."""
        return re.sub(r"\W", "_", self.folder.name)

    def texts(self) -> dict[str, str]:
        """All sources of the folder by name."""
        files = sorted(path for path in self.folder.iterdir() if path.suffix in SOURCES)
        return {path.name: path.read_text(errors="replace") for path in files}


def load_example(folder: Path, options: Mapping[str, str]) -> Example:
    """The example at `folder`, its build configured by `options` (NAME to VALUE).

    Raises InputError where it is none, or is not for the chip.
    """
    path = folder / "CMakeLists.txt"
    if not path.is_file():
        raise InputError(f"{folder} holds no example: it has no CMakeLists.txt.")
    text = re.sub(r"#[^\n]*", "", path.read_text(errors="replace"))
    told = re.findall(r"CMAKE_ASC_ARCHITECTURES[^)]*?STRING\s*\"([^\"]*)\"", text)
    if told and CHIP not in " ".join(told):
        raise InputError(f"{folder.name} is for other chips: {told[0]}.")
    variables = {"CMAKE_ASC_ARCHITECTURES": CHIP, "CMAKE_ASC_RUN_MODE": "npu", **options}
    sources: list[str] = []
    definitions: list[str] = []
    for command, words in _commands(text, variables):
        if command == "set" and words and words[0] not in variables:
            variables[words[0]] = words[1] if len(words) > 1 else ""
        elif command == "add_executable":
            sources += [word for word in words[1:] if word.endswith(".asc")]
        elif command == "target_compile_definitions":
            definitions += [w for w in words[1:] if w not in ("PRIVATE", "PUBLIC", "INTERFACE")]
        elif command == "message" and words[:1] == ["FATAL_ERROR"]:
            raise InputError(f"{folder.name}: {' '.join(words[1:])}")
    if len(sources) != 1:
        raise InputError(f"{folder.name} is not built of one .asc file but of {len(sources)}.")
    return Example(folder=folder, source=sources[0], definitions=tuple(definitions))


def _commands(text: str, variables: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """The commands that are reached, with their words; variables are looked up by their words."""
    # For each open `if`: whether its present part is taken, and whether some part was.
    open_ifs: list[tuple[bool, bool]] = []
    for found in _COMMAND.finditer(text):
        command = found.group(1).lower()
        if command in ("if", "elseif", "else"):
            outer = all(taken for taken, _ in (open_ifs if command == "if" else open_ifs[:-1]))
            before = False if command == "if" else open_ifs.pop()[1]
            holds = command == "else" or (outer and _holds(found.group(2), variables))
            open_ifs.append((outer and not before and holds, before or holds))
        elif command == "endif":
            open_ifs.pop()
        elif all(taken for taken, _ in open_ifs):
            yield command, _words(found.group(2), variables)


def _words(text: str, variables: Mapping[str, str]) -> list[str]:
    known = re.sub(r"\$\{(\w+)\}", lambda m: variables.get(m.group(1), ""), text)
    return [quoted or plain for quoted, plain in re.findall(r"\"([^\"]*)\"|([^\s\"]+)", known)]


def _holds(condition: str, variables: Mapping[str, str]) -> bool:
    """A condition of comparisons joined by AND, or by OR."""
    if " OR " in condition:
        return any(_holds(part, variables) for part in condition.split(" OR "))
    if " AND " in condition:
        return all(_holds(part, variables) for part in condition.split(" AND "))
    words = _words(condition, variables)
    if words[:1] == ["NOT"]:
        return not _holds(condition.replace("NOT", "", 1), variables)
    if words[:1] == ["DEFINED"]:
        return words[1] in variables
    if len(words) == 3:
        left = variables.get(words[0], words[0])
        if words[1] == "MATCHES":
            return re.search(words[2], left) is not None
        return left == variables.get(words[2], words[2])
    return bool(words) and variables.get(words[0], words[0]) not in ("", "OFF", "0", "FALSE")


def host_text(text: str) -> str:
    """The text as a host program: launches become calls of `launch.h`."""
    at = 0
    while found := _LAUNCH.search(text, at):
        end = closing(text, found.end() - 1)
        begin = _kernel_begin(text, found.start())
        kernel, blocks = text[begin : found.start()], split_arguments(found.group(1))[0]
        given = text[found.end() : end]
        call = f"::ascendopt_example::Launch<({kernel.strip()})>::with({blocks}"
        call += f", {given})" if given.strip() else ")"
        text = text[:begin] + call + text[end + 1 :]
        at = begin + len(call)
    return text


def _kernel_begin(text: str, end: int) -> int:
    """Where the kernel that is launched at `end` begins: `name` or `name<…>`."""
    i = end
    while text[i - 1].isspace():
        i -= 1
    if text[i - 1] == ">":
        depth = 0
        while True:
            i -= 1
            depth += {">": 1, "<": -1}.get(text[i], 0)
            if depth == 0:
                break
        while text[i - 1].isspace():
            i -= 1
    while re.match(r"[\w:]", text[i - 1]):
        i -= 1
    return i


def device_text(text: str) -> str:
    """The text as device code: functions that are for the host alone are blanked."""
    plain = without_comments(text)
    plain = _DIRECTIVE.sub(blanked, plain)
    kept = list(text)
    start = at = 0
    while (at := _next(plain, at)) < len(plain):
        if plain[at] != "{":
            at += 1
            start = at
            continue
        head = plain[start:at]
        if _OPENS.search(head):
            at += 1
            start = at
            continue
        end = closing(plain, at)
        if end < 0:
            break
        function = "(" in head and not _TYPE.search(head) and not head.rstrip().endswith("=")
        if function and not _DEVICE.search(head):
            for i in range(start, end + 1):
                if kept[i] != "\n" and not _in_directive(text, i):
                    kept[i] = " "
        at = end + 1
        if function or _OPENS.search(head):
            start = at
    return "".join(kept)


def conditioned(text: str, definitions: Sequence[str]) -> str:
    """The text without the parts that `#if` leaves out for the chip under these definitions."""
    words = [f"-D{one}" for one in (*definitions, f"__NPU_ARCH__={CHIP.removeprefix('dav-')}")]
    plain = re.sub(r"^[ \t]*#[ \t]*include\b[^\n]*", "", text, flags=re.MULTILINE)
    done = run(
        [compiler(), "-E", "-P", "-x", "c++", *words, "-"],
        cwd=Path("/"),
        readable=[],
        limits=Limits(processes=16),
        stdin=plain.encode(),
    )
    return done.stdout.decode(errors="replace") if done.ok else plain


def _next(text: str, at: int) -> int:
    found = re.compile(r"[{};]").search(text, at)
    return found.start() if found else len(text)


def _in_directive(text: str, at: int) -> bool:
    return text[text.rfind("\n", 0, at) + 1 :].lstrip(" \t").startswith("#")
