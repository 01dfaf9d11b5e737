"""The comment grammar: what people may write to the bot, read as data.

    /optimize [op=NAME] [stage=tiling|kernel|both] [budget=N] [target=SoC] [dry-run]
    /optimize status | cancel | retry [RUN] | explain RUN | help
    /ok-to-optimize

A command is a line of its own in a top-level paragraph. What a forge renders as code, as a quote,
as a list or as a heading is not one; CommonMark decides (markdown-it). Every word that is not
understood is answered with that word and, when one is near, what was probably meant.
"""

from __future__ import annotations

import difflib
import re
from typing import Final, Literal, cast

from markdown_it import MarkdownIt
from pydantic import Field

from bot.base.text import code, visible
from ci.model.frozen import Frozen
from rules.devices import device_names

VERB: Final = "/optimize"
ALLOW: Final = "/ok-to-optimize"
# Comments longer than this hold a log, not a conversation; commands after it are not read.
MAX_CHARACTERS: Final = 65_536
# More commands in one comment are a mistake or an attempt to keep the bot busy.
MAX_COMMANDS: Final = 5
MAX_BUDGET: Final = 1000

Action = Literal["optimize", "status", "cancel", "retry", "explain", "help", "allow"]
Stage = Literal["both", "tiling", "kernel"]

_ACTIONS: Final = ("status", "cancel", "retry", "explain", "help")
_STAGES: Final = ("tiling", "kernel", "both")
_OPTIONS: Final = ("op", "stage", "budget", "target")
_FLAGS: Final = ("dry-run",)
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*){0,7}\Z")
_RUN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}\Z")

HELP: Final = """\
| command | does |
|---|---|
| `/optimize` | optimizes every operator that this merge request changes |
| `/optimize op=NAME` | only the operator of that name or folder |
| `/optimize stage=tiling\\|kernel\\|both` | only the tiling, only the kernel, or both |
| `/optimize budget=N` | grants N evaluations, as far as the configuration allows |
| `/optimize target=SoC` | measures for another chip, such as 910B1 |
| `/optimize dry-run` | searches and reports, but opens no merge request |
| `/optimize status` | says what runs and what waits for this merge request |
| `/optimize cancel` | stops what runs and drops what waits |
| `/optimize retry` | runs again what failed or was cancelled for this merge request |
| `/optimize retry RUN` | runs that run again, also one of a push or of another merge request |
| `/optimize explain RUN` | says why each change of a run was tried, kept or dropped |
| `/ok-to-optimize` | allows the present head commit of a fork's merge request |
"""


class Command(Frozen):
    """One thing that a comment asks for."""

    action: Action
    op: str = Field(default="", description="Operator's name or folder; '' for all that changed.")
    stage: Stage | None = None
    budget: int | None = None
    target: str = ""
    dry_run: bool = False
    run: str = Field(default="", description="What `explain` or `retry` is about.")


class Mistake(Frozen):
    """A command that cannot be carried out, and what to tell its author."""

    line: str
    message: str


def parse(text: str) -> tuple[Command | Mistake, ...]:
    """Commands of a comment, in order; empty when it has none. Never raises."""
    found: list[Command | Mistake] = []
    for line in _lines(text[:MAX_CHARACTERS]):
        words = line.split()
        if not words or words[0] not in (VERB, ALLOW):
            continue
        if len(found) == MAX_COMMANDS:
            found.append(
                Mistake(line="", message=f"Only the first {MAX_COMMANDS} commands were read.")
            )
            break
        found.append(_allow(words[1:]) if words[0] == ALLOW else _optimize(words[1:]))
    return tuple(found)


def _lines(text: str) -> list[str]:
    """Lines of the top-level paragraphs as they read; code spans become a space."""
    # Only blocks and code spans matter: `op=a*b*` is one word here, not emphasis.
    reader = MarkdownIt("commonmark").disable(
        ["emphasis", "link", "image", "autolink", "entity", "escape"]
    )
    lines: list[str] = []
    tokens = reader.parse(text.replace("\0", ""))
    for opened, inline in zip(tokens, tokens[1:], strict=False):
        if opened.type != "paragraph_open" or opened.level != 0:
            continue
        line = ""
        for child in inline.children or ():
            if child.type in ("softbreak", "hardbreak"):
                lines.append(line)
                line = ""
            else:
                # A code span before a command makes the line start with something else.
                line += child.content if child.type == "text" else "\ufffd"
        lines.append(line)
    return lines


def _allow(rest: list[str]) -> Command | Mistake:
    if rest:
        return _mistake([ALLOW, *rest], f"`{ALLOW}` takes nothing after it, but got {_word(rest)}.")
    return Command(action="allow")


def _optimize(rest: list[str]) -> Command | Mistake:
    """The command of the words after `/optimize`."""
    line = [VERB, *rest]
    if rest and rest[0] in _ACTIONS:
        return _verb(rest[0], rest[1:], line)
    given: dict[str, str] = {}
    for word in rest:
        key, equals, value = word.partition("=")
        if not equals:
            if word not in _FLAGS:
                return _mistake(line, _unknown(word, (*_ACTIONS, *_FLAGS, *_OPTIONS)))
            key, value = word, "yes"
        elif key not in _OPTIONS:
            return _mistake(line, _unknown(key, _OPTIONS))
        if key in given:
            return _mistake(line, f"`{key}` is given twice.")
        given[key] = value
    return _with_values(given, line)


def _with_values(given: dict[str, str], line: list[str]) -> Command | Mistake:
    op, stage, budget = given.get("op"), given.get("stage"), given.get("budget")
    target = given.get("target")
    if op is not None and not _NAME.match(op):
        return _mistake(
            line, f"{_word([op])} is no operator name: letters, digits, `_`, `-` and `/` make one."
        )
    if stage is not None and stage not in _STAGES:
        return _mistake(line, f"`stage` cannot be {_word([stage])}.{_near(stage, _STAGES)}")
    if budget is not None and not (
        budget.isascii() and budget.isdigit() and len(budget) < 6 and 3 <= int(budget) <= MAX_BUDGET
    ):
        return _mistake(
            line,
            f"`budget` cannot be {_word([budget])}; it is a number of evaluations from 3 to"
            f" {MAX_BUDGET}.",
        )
    chip = _device(target) if target is not None else ""
    if target is not None and not chip:
        # No guess: 910C is not a misspelt 910B4 but another chip.
        known = ", ".join(f"`{name}`" for name in device_names())
        return _mistake(line, f"`target` cannot be {_word([target])}. Known: {known}.")
    return Command(
        action="optimize",
        op=op or "",
        stage=cast(Stage | None, stage),
        budget=None if budget is None else int(budget),
        target=chip,
        dry_run="dry-run" in given,
    )


def _device(word: str) -> str:
    """The device that a SoC name means (`Ascend910B4`, `910b4` and `910B4` are one), '' if none."""
    plain = re.sub(r"^ascend[_-]?", "", word, flags=re.IGNORECASE).upper()
    return plain if plain in device_names() else ""


def _verb(action: str, rest: list[str], line: list[str]) -> Command | Mistake:
    """`status`, `cancel`, `retry [RUN]`, `explain RUN` or `help`."""
    if action == "explain":
        if len(rest) != 1 or not _RUN.match(rest[0]):
            return _mistake(
                line, "`explain` needs one run, as the status comment names it: `explain RUN`."
            )
        return Command(action="explain", run=rest[0])
    if action == "retry" and len(rest) == 1 and _RUN.match(rest[0]):
        return Command(action="retry", run=rest[0])
    if rest:
        return _mistake(line, f"`{action}` takes nothing after it, but got {_word(rest)}.")
    return Command(action=cast(Action, action))


def _word(words: list[str]) -> str:
    """The first of `words` as code that cannot be anything else."""
    return code(words[0], 60) or "an empty word"


def _unknown(word: str, known: tuple[str, ...]) -> str:
    return f"{_word([word])} is not known.{_near(word, known)}"


def _near(word: str, known: tuple[str, ...]) -> str:
    """What was probably meant, or what there is."""
    close = difflib.get_close_matches(word.lower(), [k.lower() for k in known], n=1, cutoff=0.6)
    for name in known:
        if close and name.lower() == close[0]:
            return f" Did you mean `{name}`?"
    return " Known: " + ", ".join(f"`{name}`" for name in known) + "."


def _mistake(words: list[str], message: str) -> Mistake:
    return Mistake(line=visible(" ".join(words), 200), message=message)
