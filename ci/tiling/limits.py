"""Statements that a knob writes behind another one: their text, and how they are found again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ci.source.cpp_source import Source
from ci.tiling.template import Knob

VALUE: Final = "{value}"
_TOKEN: Final = re.compile(rf"{re.escape(VALUE)}|\w+|\S")


@dataclass(frozen=True)
class Limit:
    """What keeps a value of the host tiling within bounds that a knob sets."""

    lines: Sequence[str]
    """C++, with {value} for the knob's."""
    remark: str = ""
    """The comment above, which may say {value} too; none when empty."""
    shape: str = ""
    """An expression that the lines ask and that may be null; '' when it is known to be there."""
    spelled: tuple[str, str] = ("", "")
    """An expression of the lines, and the name that the source has for it; '' for none."""

    def form(self, indent: str) -> str:
        """The text, each line behind `indent`, which begins a new one."""
        remark = [f"// {self.remark}"] if self.remark else []
        return "".join(indent + line for line in [*remark, *self._guarded()])

    def after(self, text: str) -> re.Match[str] | None:
        """The statement at the beginning of `text`, whatever its layout; group 1 is the value."""
        ways = (self._guarded(), self.lines)
        return next((found for way in ways if (found := re.match(_pattern(way), text))), None)

    def _guarded(self) -> list[str]:
        expression, name = self.spelled
        if name:
            return [line.replace(expression, name) for line in self.lines]
        if not self.shape:
            return list(self.lines)
        inner = [f"    {line.replace(f'{self.shape}->', 'shape->')}" for line in self.lines]
        return [f"if (const auto* shape = {self.shape}) {{", *inner, "}"]


def at_most(left: str, limit: str) -> tuple[str]:
    """A value that is kept at most at `limit`.

    libstdc++, with which hosts are built, has std::min wherever it has strings or vectors.
    """
    return (f"{left} = std::min<int64_t>({left}, {limit});",)


def limited(
    limit: Limit, source: Source, place: int, indent: str, *, neutral: int = 0, **about: Any
) -> Knob:
    """The knob of a limit behind `place`, be it written there already or not.

    `neutral`: the value that limits nothing. `about`: the other fields of the knob.
    """
    found = limit.after(source.shadow[place:])
    return Knob(
        start=place,
        end=place + (found.end() if found else 0),
        form=limit.form(indent),
        written=int(found.group(1)) if found else neutral,
        neutral=neutral,
        **about,
    )


def _pattern(lines: Sequence[str]) -> str:
    """Return the pattern of the lines, blanks apart; all values are one."""
    parts: list[str] = []
    for token in _TOKEN.findall(" ".join(lines)):
        if token != VALUE:
            parts.append(re.escape(token))
        else:
            parts.append(r"\1" if r"(\d+)" in parts else r"(\d+)")
    return r"\s*" + r"\s*".join(parts)
