"""The comment grammar: what people may write to the bot, read as data.

    /optimize [op=NAME] [stage=tiling|kernel|both] [budget=N] [target=SoC] [dry-run]
    /optimize status | cancel | retry [RUN] | explain RUN | help
    /ok-to-optimize COMMIT
    /create [NAME] [target=SoC] [dry-run]
    /measure [op=NAME]
    /ignore [operator [NAME] | idea [MOTIF]] [until YYYY-MM-DD], /unignore of the same form

A command is a line of its own in a top-level paragraph, its verb in letters of any case. What a
forge renders as code, as a quote, as a list or as a heading is not one; CommonMark decides
(markdown-it). `/create` takes the code blocks of its comment along: one of Python, the golden
function, and one of YAML, its shapes. Every word that is not understood is answered with that word
and, when one is near, what was probably meant.
"""

from __future__ import annotations

import difflib
import re
from datetime import UTC, date, datetime
from typing import Final, Literal, cast

from markdown_it import MarkdownIt
from pydantic import Field

from bot.base.text import code, visible
from ci.model.frozen import Frozen
from rules.devices import device_names

VERB: Final = "/optimize"
ALLOW: Final = "/ok-to-optimize"
CREATE: Final = "/create"
MEASURE: Final = "/measure"
IGNORE: Final = "/ignore"
UNIGNORE: Final = "/unignore"
VERBS: Final = (VERB, ALLOW, CREATE, MEASURE, IGNORE, UNIGNORE)
# Comments longer than this hold a log, not a conversation; commands after it are not read.
MAX_CHARACTERS: Final = 65_536
# More commands in one comment are a mistake or an attempt to keep the bot busy.
MAX_COMMANDS: Final = 5
MAX_BUDGET: Final = 1000

Action = Literal[
    "optimize",
    "status",
    "cancel",
    "retry",
    "explain",
    "help",
    "allow",
    "create",
    "measure",
    "ignore",
    "unignore",
]
Stage = Literal["both", "tiling", "kernel"]

_ACTIONS: Final = ("status", "cancel", "retry", "explain", "help")
_STAGES: Final = ("tiling", "kernel", "both")
_OPTIONS: Final = ("op", "stage", "budget", "target")
_SCOPES: Final = ("operator", "idea", "until")
_FLAGS: Final = ("dry-run",)
_LANGUAGES: Final = {
    **dict.fromkeys(("python", "py", "python3"), "python"),
    **dict.fromkeys(("yaml", "yml"), "yaml"),
}
"""Words that mark a code block's language."""
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*){0,7}\Z")
_COMMIT: Final = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_RUN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}\Z")


class Command(Frozen):
    """One thing that a comment asks for."""

    action: Action
    op: str = Field(
        default="", description="Operator's name or folder; '' for all, or the golden function's."
    )
    stage: Stage | None = None
    budget: int | None = None
    target: str = ""
    dry_run: bool = False
    run: str = Field(default="", description="What `explain` or `retry` is about.")
    commit: str = Field(
        default="", description="Of `allow`: the whole hash; '' where none is given."
    )
    golden: str = Field(default="", description="Of `create`: Python, which nobody has run.")
    shapes: str = Field(default="", description="Of `create`: YAML.")
    idea: str | None = Field(
        default=None, description="Of `ignore`: a motif, '' for those at hand; None: an operator."
    )
    until: str = Field(default="", description="Of `ignore`: the last day, YYYY-MM-DD.")


class Mistake(Frozen):
    """A command that cannot be carried out, and what to tell its author."""

    line: str
    message: str


def parse(text: str) -> tuple[Command | Mistake, ...]:
    """Commands of a comment, in order; empty when it has none. Never raises."""
    found: list[Command | Mistake] = []
    lines, blocks = _read(text.removeprefix("\ufeff")[:MAX_CHARACTERS])
    for line in lines:
        words = line.split()
        if not words:
            continue
        words[0] = words[0].lower().rstrip(".,:;!")
        if words[0] not in VERBS:
            continue
        if len(found) == MAX_COMMANDS:
            found.append(
                Mistake(line="", message=f"Only the first {MAX_COMMANDS} commands were read.")
            )
            break
        if words[0] == CREATE:
            found.append(_create(words[1:], blocks))
        elif words[0] == MEASURE:
            found.append(_measure(words[1:]))
        elif words[0] in (IGNORE, UNIGNORE):
            found.append(_ignore(words))
        else:
            found.append(_allow(words[1:]) if words[0] == ALLOW else _optimize(words[1:]))
    return tuple(found)


def _read(text: str) -> tuple[list[str], dict[str, list[str]]]:
    """Lines of the top-level paragraphs as they read, in which a code span is another character;
    and the fenced code blocks outside of quotes and lists, by language."""
    # Only blocks and code spans matter: `op=a*b*` is one word here, not emphasis.
    reader = MarkdownIt("commonmark").disable(
        ["emphasis", "link", "image", "autolink", "entity", "escape"]
    )
    lines: list[str] = []
    blocks: dict[str, list[str]] = {"python": [], "yaml": []}
    tokens = reader.parse(text.replace("\0", ""))
    for token in tokens:
        language = _LANGUAGES.get(token.info.strip().lower(), "")
        if token.type == "fence" and token.level == 0 and language:
            blocks[language].append(token.content)
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
    return lines, blocks


def _create(rest: list[str], blocks: dict[str, list[str]]) -> Command | Mistake:
    """`/create` with the blocks of its comment."""
    line = [CREATE, *rest]
    named = rest[:1] if rest and "=" not in rest[0] and rest[0] not in _FLAGS else []
    if named and not re.fullmatch(r"[A-Za-z]\w{0,63}", named[0], re.ASCII):
        what = f"{_word(named)} is no name for an operator: letters, digits and `_` make one."
        return _mistake(line, what)
    given = _options(rest[len(named) :], ("target",), line, CREATE)
    if isinstance(given, Mistake):
        return given
    chip = _chip(given.get("target"), line)
    if isinstance(chip, Mistake):
        return chip
    for language, what in (("python", "the golden function"), ("yaml", "its shapes")):
        count = len(blocks[language])
        if count != 1:
            some = "has none" if not count else f"has {count}"
            words = f"`{CREATE}` needs one code block of {language}, {what}; the comment {some}."
            return _mistake(line, words)
    return Command(
        action="create",
        op=named[0] if named else "",
        target=chip,
        dry_run="dry-run" in given,
        golden=blocks["python"][0],
        shapes=blocks["yaml"][0],
    )


def _allow(rest: list[str]) -> Command | Mistake:
    # Part of a hash would name another commit as well, which a stranger can make beforehand.
    if rest and (len(rest) > 1 or not _COMMIT.match(rest[0].lower())):
        return _mistake(
            [ALLOW, *rest], f"`{ALLOW}` takes the whole hash of a commit, but got {_word(rest)}."
        )
    return Command(action="allow", commit=rest[0].lower() if rest else "")


def _measure(rest: list[str]) -> Command | Mistake:
    """`/measure`, of one operator or of all that changed."""
    line = [MEASURE, *rest]
    given = _options(rest, ("op",), line, MEASURE)
    made = given if isinstance(given, Mistake) else _with_values(given, line)
    return made if isinstance(made, Mistake) else made.model_copy(update={"action": "measure"})


def _ignore(line: list[str]) -> Command | Mistake:
    """`/ignore` or `/unignore` with what it is about."""
    given: dict[str, str] = {}
    rest = line[1:]
    while rest:
        word, rest = rest[0], rest[1:]
        if word not in _SCOPES:
            return _mistake(line, _unknown(word, _SCOPES))
        if word in given or {word, *given} >= {"operator", "idea"}:
            return _mistake(line, "One operator or one idea at a time.")
        value, rest = (rest[0], rest[1:]) if rest and rest[0] not in _SCOPES else ("", rest)
        if value and not _NAME.match(value):
            return _mistake(line, f"{_word([value])} is no name.")
        given[word] = value
    until = given.get("until")
    if until is not None and not _is_day(until):
        return _mistake(line, "`until` needs a day that is to come, as 2027-01-31.")
    if until is not None and line[0] == UNIGNORE:
        return _mistake(line, f"`{UNIGNORE}` takes no `until`.")
    return Command(
        action="ignore" if line[0] == IGNORE else "unignore",
        op=given.get("operator", ""),
        idea=given.get("idea"),
        until=until or "",
    )


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text) >= datetime.now(UTC).date()
    except ValueError:
        return False


def _optimize(rest: list[str]) -> Command | Mistake:
    """The command of the words after `/optimize`."""
    line = [VERB, *rest]
    if rest and rest[0] in _ACTIONS:
        return _verb(rest[0], rest[1:], line)
    given = _options(rest, _OPTIONS, line, VERB)
    return given if isinstance(given, Mistake) else _with_values(given, line)


def _options(
    rest: list[str], known: tuple[str, ...], line: list[str], verb: str
) -> dict[str, str] | Mistake:
    """The values of `name=value` words and flags, by name."""
    given: dict[str, str] = {}
    verbs = _ACTIONS if verb == VERB else ()
    for word in rest:
        key, equals, value = word.partition("=")
        if not equals:
            if word not in _FLAGS or verb == MEASURE:
                return _mistake(line, _unknown(word, (*verbs, *_FLAGS, *known)))
            key, value = word, "yes"
        elif key not in known:
            return _mistake(line, _unknown(key, known))
        if key in given:
            return _mistake(line, f"`{key}` is given twice.")
        given[key] = value
    return given


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
    chip = _chip(target, line)
    if isinstance(chip, Mistake):
        return chip
    return Command(
        action="optimize",
        op=op or "",
        stage=cast(Stage | None, stage),
        budget=None if budget is None else int(budget),
        target=chip,
        dry_run="dry-run" in given,
    )


def _chip(target: str | None, line: list[str]) -> str | Mistake:
    """The device of `target=`, '' where it is not given."""
    chip = _device(target) if target is not None else ""
    if target is not None and not chip:
        # No guess: 910C is not a misspelt 910B4 but another chip.
        known = ", ".join(f"`{name}`" for name in device_names())
        return _mistake(line, f"`target` cannot be {_word([target])}. Known: {known}.")
    return chip


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
    """Return the command that was probably meant, or all that there are."""
    close = difflib.get_close_matches(word.lower(), [k.lower() for k in known], n=1, cutoff=0.6)
    for name in known:
        if close and name.lower() == close[0]:
            return f" Did you mean `{name}`?"
    return " Known: " + ", ".join(f"`{name}`" for name in known) + "."


def _mistake(words: list[str], message: str) -> Mistake:
    return Mistake(line=visible(" ".join(words), 200), message=message)
