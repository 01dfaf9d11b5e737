"""Text from outside, made harmless before it reaches Markdown.

Rationales, tuple titles, compiler messages and file names come from models, from other people's
banks and from candidate code. In a merge request they must not mention people, close issues, run
quick actions, load pictures, smuggle links or HTML, or hide behind invisible characters.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from typing import Final

# A web address that a page may link; '' is none.
WEB_ADDRESS: Final = r"^(https?://[\w.:/%~-]+)?$"

# Longest piece of outside text that a report shows in one place, in characters.
LIMIT: Final = 600

# Room for what closes a text that is cut, in characters.
_CLOSING: Final = 60

# Control, format (bidirectional, zero width), private-use and surrogate characters.
_INVISIBLE: Final = ("Cc", "Cf", "Co", "Cs")
_ZERO_WIDTH: Final = "\u200b"
# What begins markup anywhere in a line, in CommonMark and in GitHub's and GitLab's dialects: code,
# emphasis, links, HTML, tables, strike-through, mathematics.
_MARKUP: Final = re.compile(r"([\\`*_\[\]|~$])")
# What begins a block at the start of a line: heading, quote, list, rule, quick action.
_BLOCK_START: Final = re.compile(r"^([#>+=/-])")
# The same for a list with numbers.
_NUMBER: Final = re.compile(r"^(\d{1,9})(?=[.)](?:\s|$))")
# What forges find after Markdown is parsed: mentions, issues, merge requests, milestones, epics,
# labels, snippets, emoji. Broken by an invisible space, because a backslash would not stop them.
_REFERENCE: Final = re.compile(r"([@#!%^:]|\\[~$]|&)(?=[\w\"'])")
# Orders to a CI: in brackets, or between asterisks.
_CI_ORDER: Final = re.compile(r"\[(?=[^\]]*(?i:\b(?:skip|no|ci)\b))|\*(?=\*\*?NO_CI)")
# Keys of issues as trackers that forges are connected to have them.
_ISSUE_KEY: Final = re.compile(r"\b(?:[A-Z][A-Z0-9_]+|[Gg][Hh])-(?=\d)")
# What programs of a forge find in a title or a commit's message, which nothing escapes: mentions,
# references, addresses.
_IN_RAW: Final = re.compile(
    rf"[@#!%^:&~$](?=[\w\"'])|\[(?=\s?\w)|\*(?=\*)|:(?=//)|\b[Ww]{{3}}(?=\.)|{_ISSUE_KEY.pattern}"
)
# What git and forges read as a trailer of a message: Signed-off-by, skip-checks.
_TRAILER: Final = re.compile(r"^[A-Za-z]+(?:-[A-Za-z]+)+(?=\s?:)")
# The same where the text is code in Markdown, which a squash may make a commit's message of; what
# code is full of stays whole.
_IN_CODE: Final = re.compile(
    rf"@(?=\w)|[#!](?=\d)|\[(?=[a-z_]+:[^\]]*\d\])|:(?=//)|{_CI_ORDER.pattern}|{_ISSUE_KEY.pattern}"
)


# What a runner of a CI takes for an order: the one form at the start of a line, the other anywhere.
_FIRST_IN_A_LINE: Final = re.compile(r"^(?=[^\S\n]*::)", re.MULTILINE)
_ANYWHERE: Final = re.compile(r"(?<=#)#(?=\w*\[)")


def harmless(text: str) -> str:
    """`text` with its lines and blanks, and every other invisible character as JSON spells it.

    A string of JSON keeps its meaning so. Nothing in it steers a terminal or the log of a CI.
    """
    shown = "".join(
        _spelled(c) if c not in "\n\t" and unicodedata.category(c) in _INVISIBLE else c
        for c in text
    )
    # No line of JSON begins with colons, so this changes none.
    return _FIRST_IN_A_LINE.sub(_ZERO_WIDTH, _ANYWHERE.sub(lambda found: _spelled(found[0]), shown))


def _spelled(character: str) -> str:
    raw = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{raw[i : i + 4]}" for i in range(0, len(raw), 4))


def printable(line: str) -> str:
    """One line with its spaces kept, tabs as four, and nothing that steers a terminal or page."""
    spaced = line.replace("\t", "    ")
    return "".join(c for c in spaced if unicodedata.category(c) not in _INVISIBLE)


def visible(text: str, limit: int = LIMIT) -> str:
    """`text` on one line, without control, bidirectional or other invisible characters."""
    kept = (" " if c in "\n\r\t" else c for c in text)
    shown = "".join(c for c in kept if unicodedata.category(c) not in _INVISIBLE)
    shown = " ".join(shown.split())
    return shown if len(shown) <= limit else shown[: limit - 1].rstrip() + "…"


def plain(text: str, limit: int = LIMIT) -> str:
    """`text` as Markdown that renders as exactly these words: no markup, mention, link or HTML."""
    shown = _CI_ORDER.sub(r"\g<0>" + _ZERO_WIDTH, visible(text, limit))
    shown = _MARKUP.sub(r"\\\1", shown)
    shown = _REFERENCE.sub(r"\1" + _ZERO_WIDTH, shown)
    shown = shown.replace("&", "&amp;").replace("<", "&lt;")
    shown = re.sub(r"(?i)\b(www)\.", r"\1" + _ZERO_WIDTH + ".", shown)
    shown = shown.replace("://", ":" + _ZERO_WIDTH + "//")
    shown = _ISSUE_KEY.sub(r"\g<0>" + _ZERO_WIDTH, shown)
    return _NUMBER.sub(r"\1\\", _BLOCK_START.sub(r"\\\1", shown))


def code(text: str, limit: int = LIMIT) -> str:
    """`text` as inline code, safe in a table cell; backticks inside become apostrophes.

    It means nothing in a commit's message either: some forges squash a description into one.
    """
    shown = visible(text, limit).replace("`", "'").replace("|", "\u2502")
    shown = _IN_CODE.sub(r"\g<0>" + _ZERO_WIDTH, shown)
    return f"`{shown}`" if shown else ""


def inert(text: str, limit: int = LIMIT) -> str:
    """`text` as one line of a title or of a commit's message, where nothing can be escaped.

    No mention, reference, closing keyword, address, code or order to the CI in it is one.
    """
    shown = _IN_RAW.sub(r"\g<0>" + _ZERO_WIDTH, visible(text, limit).replace("`", "'"))
    shown = _TRAILER.sub(r"\g<0>" + _ZERO_WIDTH, shown)
    return _BLOCK_START.sub(_ZERO_WIDTH + r"\1", shown)


def encoded(text: str) -> str:
    """`text` with its bytes as `=XX` where they are no letter, digit or one of `_./-`.

    An ordinary path stays as it is. Nothing in the answer ends a comment of HTML or means anything
    in a commit's message; `decoded` gives the text again.
    """
    return re.sub(r"[^\w./-]|(?<=\w)-(?=\d)|--", _bytes, text, flags=re.ASCII)


def decoded(text: str) -> str:
    """Return the text that `encoded` was given."""
    raw = re.sub(r"=([0-9A-F]{2})", lambda found: chr(int(found[1], 16)), text)
    return raw.encode("latin-1", "replace").decode("utf-8", "replace")


def _bytes(found: re.Match[str]) -> str:
    return "".join(f"={byte:02X}" for byte in found.group().encode("utf-8", "replace"))


def shell_word(text: str) -> str:
    """`text` as one word of a shell command; what a forge would read in it is broken by quotes."""
    return _IN_CODE.sub(r"\g<0>''", shlex.quote(text))


def shortened(text: str, limit: int) -> str:
    """Markdown of ours in at most `limit` characters, cut at a line's end.

    What the cut leaves open is closed: a code block, folds, and half a comment of HTML is dropped.
    """
    if len(text) <= limit:
        return text
    kept = text[: max(0, limit - _CLOSING)].rpartition("\n")[0]
    if kept.rfind("<!--") > kept.rfind("-->"):
        kept = kept[: kept.rfind("<!--")]
    fence = ""
    for mark in re.findall(r"^(`{3,})", kept, re.MULTILINE):
        fence = mark if not fence else "" if len(mark) >= len(fence) else fence
    folds = kept.count("<details>") - kept.count("</details>")
    ends = [f"\n{fence}"] if fence else []
    return "\n".join([kept, *ends, "\n…", *["\n</details>"] * folds])[:limit]


def block(text: str, language: str = "", limit: int = 4000) -> str:
    """`text` as a fenced code block that nothing inside can close."""
    clean = "\n".join(printable(line) for line in text.splitlines())
    if len(clean) > limit:
        clean = clean[:limit].rsplit("\n", 1)[0] + "\n…"
    longest = max((len(run) for run in re.findall(r"`+", clean)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{clean}\n{fence}"


def microseconds(value: float) -> str:
    """A time with as many digits as it deserves: 0.417 µs, 12.35 µs, 1204.0 µs."""
    digits = 3 if value < 10 else 2 if value < 100 else 1
    return f"{value:.{digits}f} µs"
