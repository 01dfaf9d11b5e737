"""Each command that a page shows is one that the command line, make or the shell takes."""

from __future__ import annotations

import importlib.util
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from bot.cli.main import root
from tests.places import TOP

GLOBS = ("*.md", ".github/**/*.md", "docs/**/*.md", "examples/**/*.md", "tests/*.md")
SHIPPED = ("ascendopt/**/*.md", "rules/**/*.md")
HISTORY = "CHANGELOG.md"
PAGES = sorted({p for glob in GLOBS + SHIPPED for p in TOP.glob(glob)} - {TOP / HISTORY})

STARTS = r"(?:\$ |sudo |[A-Z_]+=\S+ )*(?:ascendopt|make|\S*\.ci/[a-z_]+|python3? -m) (?=[^<\s])"
PROGRAM = re.compile(r"^(?:\$ |sudo |[A-Z_]+=\S+ )*")


GIVEN = (str, tuple, bool)
"""Types of what click's parser has read; anything else marks what was left out."""


def without_folder(line: str) -> str:
    return re.sub(r"\S*\.venv/bin/", "", line)


def blocks(text: str) -> Iterator[str]:
    """Lines of fenced and of indented blocks, without comments, continued lines as one."""
    fenced = False
    code = []
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            code.append(line.strip())
    whole = re.sub(r"\\\n\s*", " ", "\n".join(code))
    for line in whole.splitlines():
        yield re.split(r"\s#|\s[|>]|&&|;", without_folder(line))[0].strip()


def mentions(text: str) -> Iterator[str]:
    """Inline code outside blocks."""
    prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)
    for span in re.findall(r"`([^`]+)`", prose):
        yield without_folder(" ".join(span.split()))


def begins(line: str) -> bool:
    return re.match(STARTS, line) is not None and " makes " not in line


def name_of(path: Path) -> str:
    return path.relative_to(TOP).as_posix()


SHOWN = [(page, line) for page in PAGES for line in blocks(page.read_text()) if begins(line)]
NAMED = [(page, span) for page in PAGES for span in mentions(page.read_text()) if begins(span)]


def words_of(line: str) -> list[str]:
    """The words of a command; what is in [brackets] may be given, so it is."""
    return shlex.split(re.sub(r"\[([^\]]*)\]", r"\1", PROGRAM.sub("", line)))


def is_placeholder(value: str) -> bool:
    """Whether a value stands for what the reader has: OPERATOR, FILE, $x."""
    return re.match(r"^[A-Z$…]", value) is not None or not value


def misuse(words: list[str], mention: bool) -> str:
    """What the command line has against `ascendopt` with these words; '' for nothing.

    A mention may leave its arguments out. Nothing runs, and no file is looked at.
    """
    command: click.Command = root
    context = click.Context(root, info_name="ascendopt")
    while isinstance(command, click.Group):
        if not words or words[0] == "…":
            return "" if mention else "has no command"
        if words[0].startswith("-"):
            break
        found = command.get_command(context, words[0])
        if found is None:
            return f"{words[0]} is no command"
        command, context = found, click.Context(found, context, words[0])
        words = words[1:]
    try:
        parsed, rest, _ = command.make_parser(context).parse_args([*words])
        values = {name: value for name, value in parsed.items() if isinstance(value, GIVEN)}
        for parameter in command.params:
            _value_fits(parameter, values.get(parameter.name or ""), context)
    except click.BadOptionUsage as problem:  # a sentence may name an option without its value
        return "" if mention else problem.format_message()
    except click.UsageError as problem:
        return problem.format_message()
    if rest:
        return f"too much: {rest}"
    lacking = [p.name for p in command.params if p.required and not values.get(p.name or "")]
    asks = any(p.is_eager and values.get(p.name or "") for p in command.params)
    return f"lacks {lacking}" if lacking and not asks and not mention else ""


def _value_fits(parameter: click.Parameter, value: object, context: click.Context) -> None:
    """Refuses a value that is none of the choices, or no number where one is asked for."""
    kinds = (click.Choice, click.types.IntParamType, click.types.FloatParamType)
    if isinstance(value, str) and isinstance(parameter.type, kinds) and not is_placeholder(value):
        parameter.type.convert(value, parameter, context)


@pytest.mark.parametrize(("page", "line"), SHOWN, ids=lambda v: v if isinstance(v, str) else "")
def test_a_command_that_a_page_shows_is_taken(page: Path, line: str) -> None:
    assert fault(line, mention=False) == "", name_of(page)


@pytest.mark.parametrize("page", sorted({page for page, _ in NAMED}), ids=name_of)
def test_commands_that_a_sentence_names_are_taken(page: Path) -> None:
    faults = {span: fault(span, mention=True) for one, span in NAMED if one == page}
    assert {span: said for span, said in faults.items() if said} == {}


def fault(line: str, mention: bool) -> str:
    """What is wrong with the command; '' for nothing."""
    program, *words = words_of(line)
    if program == "ascendopt":
        return misuse(words, mention)
    if program == "make":
        return "; ".join(filter(None, map(of_make, words)))
    if program.startswith("python"):
        return of_module(words[1], words[2:])
    return of_script(program, words)


def of_make(word: str) -> str:
    """A target of the Makefile, a variable that it reads, or an option of make."""
    makefile = (TOP / "Makefile").read_text()
    name, given, _ = word.partition("=")
    known = f"$({name})" in makefile if given else re.search(rf"^{name}:", makefile, re.M)
    return "" if known or word.startswith("-") else f"{word} is not in the Makefile"


def of_module(module: str, words: list[str]) -> str:
    """A module that is there and reads the options; files given to pytest exist."""
    spec = importlib.util.find_spec(module)
    if spec is None:
        return f"no module {module}"
    if module == "pytest":
        paths = [w.partition("::")[0] for w in words if w.startswith("tests/") and "<" not in w]
        return "; ".join(f"no {path}" for path in paths if not (TOP / path).exists())
    assert spec.origin is not None
    main = Path(spec.origin).with_name("__main__.py")
    read = (main if Path(spec.origin).name == "__init__.py" else Path(spec.origin)).read_text()
    return "; ".join(f"{w} is not read" for w in words if w.startswith("-") and w not in read)


def of_script(program: str, words: list[str]) -> str:
    """A script of this repository that reads the options."""
    script = TOP / program
    if not script.is_file():
        return f"no {program}"
    text = script.read_text()
    return "; ".join(f"{w} is not read" for w in words if w.startswith("--") and w not in text)


def test_pages_of_every_folder_show_commands() -> None:
    assert len(SHOWN) > 90
    assert len(NAMED) > 90
    parts = {name_of(page).rpartition("/")[0] for page, _ in SHOWN}
    assert {"", "docs", "docs/zh", "examples", "rules/skill/references"} <= parts


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ascendopt optimise PATH", "optimise is no command"),
        ("ascendopt optimize PATH --no-such-option", "No such option"),
        ("ascendopt optimize", "lacks ['operator']"),
        ("ascendopt optimize ONE TWO", "too much"),
        ("ascendopt optimize PATH --budget many", "not a valid integer"),
        ("ascendopt optimize PATH --strategy luck", "is not one of"),
        ("make nothing", "nothing is not in the Makefile"),
        ("make demo NO_SUCH=1", "NO_SUCH=1 is not in the Makefile"),
        (".ci/fresh trixie --nobody", "--nobody is not read"),
        (".ci/nothing", "no .ci/nothing"),
        ("python -m lab.nothing", "no module lab.nothing"),
        ("python -m pytest tests/test_nothing.py", "no tests/test_nothing.py"),
    ],
)
def test_a_wrong_command_is_found(line: str, said: str) -> None:
    assert said in fault(line, mention=False)


def test_a_mention_may_leave_its_arguments_out_but_names_no_wrong_option() -> None:
    assert fault("ascendopt optimize", mention=True) == ""
    assert "No such option" in fault("ascendopt optimize --nothing", mention=True)
