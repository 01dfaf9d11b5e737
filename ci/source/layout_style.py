"""Lays changed lines out as the repository's own `.clang-format` says.

Blanks and line ends only: text whose tokens or comments clang-format would change (it can sort
includes, add braces, split strings) stays as it was written.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from ci.model import layout
from ci.model.operator import Operator
from ci.source.cpp_tokens import tokens
from ci.system.sandbox import Limits, run

STYLES: Final = (".clang-format", "_clang-format")
"""Names of style files, as clang-format looks for them."""

_OPERATOR: Final = re.compile(r"<<=|>>=|->\*|\+\+|--|<<|>>|&&|\|\||->|[-+*/%&|^<>=!]=")
"""Operator of several characters, which a blank would take apart; a token is one character."""

_BLANK: Final = re.compile(r"[\s*/\\]+")
"""What is between the words of a comment, and at the beginnings of its lines."""

_LIMITS: Final = Limits(seconds=20.0, memory_bytes=1 << 30)


def laid_out(operator: Operator, files: Mapping[str, str]) -> dict[str, str]:
    """The texts `files` of an operator's sources with the lines that differ from its own laid out.

    The style is the nearest style file from the source's folder up to the repository's top. A text
    is returned as it came when there is none, and when clang-format is missing or would change
    more than blanks.
    """
    return {
        path: _laid_out(operator, path, text) if path.endswith(layout.SOURCES) else text
        for path, text in files.items()
    }


def _laid_out(operator: Operator, path: str, text: str) -> str:
    place = operator.path(path)
    style, program = style_file(place, operator.repository or operator.root), clang_format()
    ranges = changed_lines(operator.read(path), text)
    if style is None or program is None or not ranges:
        return text
    command = [str(program), f"--style=file:{style}", f"--assume-filename={place.name}", *ranges]
    # A style file is data of the repository, and the sources are a candidate's.
    done = run(
        command,
        cwd=program.parent,
        readable=(style, program.parent),
        limits=_LIMITS,
        stdin=text.encode("utf-8", errors="replace"),
    )
    if not done.ok:
        return text
    made = done.stdout.decode("utf-8", errors="replace").replace("\r\n", "\n")
    return made if _said(made) == _said(text) else text


def style_file(source: Path, top: Path) -> Path | None:
    """The nearest style file above `source`, no higher than `top`; None when there is none."""
    for folder in source.parents:
        for name in STYLES:
            if (folder / name).is_file():
                return folder / name
        if folder == top:
            return None
    return None


def changed_lines(before: str, after: str) -> list[str]:
    """Which lines of `after` differ from `before`, as arguments of clang-format."""
    matcher = difflib.SequenceMatcher(None, before.split("\n"), after.split("\n"), autojunk=False)
    codes = matcher.get_opcodes()
    return [f"--lines={c + 1}:{d}" for tag, _, _, c, d in codes if tag != "equal" and c < d]


def clang_format() -> Path | None:
    """The program of the package `clang-format`; None where it is not installed."""
    spec = find_spec("clang_format")
    if spec is None or spec.origin is None:
        return None
    found = Path(spec.origin).parent / "data" / "bin" / "clang-format"
    return found if found.is_file() else None


def _said(text: str) -> tuple[object, ...]:
    """What a text says apart from its layout: tokens, operators, and the words of comments."""
    found, directive = list[tuple[str, str]](), False
    for token in tokens(text):
        directive = directive or token.kind == "directive"
        if token.kind != "newline":
            found.append((token.kind, token.text))
        elif directive:  # ends with its line; elsewhere the end of a line means nothing
            found.append(("newline", ""))
            directive = False
    return found, _OPERATOR.findall(text), _BLANK.sub("", text)
