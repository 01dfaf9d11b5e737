"""Sources as they are built to be checked: casts to narrower integers tell of what they cut off."""

from __future__ import annotations

import re
from collections.abc import Mapping

_TYPE = r"(?:std::)?(?P<{0}>u?int(?:8|16|32)_t)"
_KEPT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<d>[^()\\\s]{0,16})\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"
      |'(?:\\.|[^'\\\n])*'|^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*"""
    rf"|\bstatic_cast\s*<\s*{_TYPE.format('type')}\s*>(?=\s*\()"
    rf"|(?<=[=,(\[{{+*/%<>?:&|-])(?P<gap>\s*)\(\s*{_TYPE.format('plain')}\s*\)(?=\s*[\w(])",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


def checked_texts(texts: Mapping[str, str]) -> dict[str, str]:
    """The kernel's texts by path with their casts replaced; lines keep their numbers."""
    return {
        file: _KEPT.sub(_checked, text) if file.startswith("op_kernel/") else text
        for file, text in texts.items()
    }


def _checked(found: re.Match[str]) -> str:
    if found["type"]:
        return f"::AscendC::cut<{found['type']}>"
    if found["plain"]:
        return f"{found['gap']}::AscendC::Cut<{found['plain']}>() ->*"
    return found.group()
