"""A call of a command in a build, and how its arguments are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

_COMMENT = re.compile(r"#\[(=*)\[.*?\]\1\]|#[^\n]*", re.DOTALL)
_CALL = re.compile(r"^[ \t]*([A-Za-z_]\w*)[ \t]*\(([^()]*(?:\([^()]*\)[^()]*)*)\)", re.MULTILINE)
_OPENED = re.compile(r"^[ \t]*([A-Za-z_]\w*)[ \t]*\(", re.MULTILINE)
_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"|([^\s;"]+)')
_KEYWORD = re.compile(r"(?!(?:TRUE|FALSE|OFF|YES|ALL)$)[A-Z][A-Z0-9_]{2,}")


@dataclass(frozen=True)
class Call:
    """One call as it was written in a CMakeLists.txt, its arguments expanded.

    `file` is a path from the repository's top.
    """

    command: str
    arguments: tuple[str, ...]
    file: str
    line: int

    @property
    def place(self) -> str:
        """'file:line', for people; the file alone of a script, which runs as a whole."""
        return f"{self.file}:{self.line}" if self.line else self.file

    def after(self, *keywords: str) -> list[str]:
        """Arguments behind one of the keywords, up to the next keyword in capitals."""
        found: list[str] = []
        taking = False
        for word in self.arguments:
            if _KEYWORD.fullmatch(word):
                taking = word in keywords
            elif taking:
                found.append(word)
        return found


def calls_in_text(text: str, file: str, variables: Mapping[str, str]) -> Iterator[Call]:
    """Calls as the text of a CMakeLists.txt has them, whatever their conditions: what there is
    where cmake cannot evaluate it. Variables that are not given stay as they are."""
    text = _COMMENT.sub(lambda m: "\n" * m.group().count("\n"), text)
    for match in _CALL.finditer(text):
        words = [quoted or plain for quoted, plain in _WORD.findall(match.group(2))]
        for name, value in variables.items():
            words = [word.replace("${" + name + "}", value) for word in words]
        line = text.count("\n", 0, match.start()) + 1
        yield Call(match.group(1), tuple(words), file, line)


def called_commands(texts: Iterable[str]) -> set[str]:
    """Names, in small letters, of the commands that the texts call."""
    return {name.lower() for text in texts for name in _OPENED.findall(text)}
