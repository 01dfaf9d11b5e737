"""Sources as they are built to be watched: every choice between two values stays a comparison.

Even without optimization the compiler makes a minimum of `a < b ? a : b`, which calls no hook. A
product with an object of our own keeps it from seeing that the values are those that it compared.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_KEPT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<d>[^()\\\s]{0,16})\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"
      |'(?:\\.|[^'\\\n])*'|^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*|\?""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_DIGITS = re.compile(r"(?<=\d)'(?=\d)")

_SAME = """\
#ifndef WATCHED_SAME
#define WATCHED_SAME
struct WatchedSame {};
template <typename T> constexpr inline T operator*(WatchedSame, T value) { return value; }
#endif
#line 1
"""


def watched_texts(texts: Mapping[str, str]) -> dict[str, str]:
    """The texts by path, with `?` made so in all of them; lines keep their numbers."""
    return {file: _watched(text) for file, text in texts.items()}


def _watched(text: str) -> str:
    plain = _DIGITS.sub("", text)  # a separator of digits begins no character
    made = _KEPT.sub(lambda m: "? WatchedSame() *" if m.group() == "?" else m.group(), plain)
    return text if made == plain else _SAME + made
