"""A number and its word agree, everywhere."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from bot.base.language import language, translated
from bot.report.sentences import local
from ci.model.amount import amount
from tests.bot.test_language import messages
from tests.places import TOP

VERBS: Final = re.compile(
    "adds|as|asks|begins|changes|contains|declares|defines|demands|differs|does|errs|exists|fails"
    "|gives|hands|has|holds|is|its|keeps|lacks|leads|leaves|lies|makes|matches|moves|names|needs"
    "|passes|reaches|reads|refuses|renames|replaces|runs|says|searches|starts|takes|tells|this"
    "|times|touches|uses|verifies|waits|was|works|writes"
)
"""Words with an s at their end that follow a value and are no plural."""
MODELS_TEXT: Final = ("proposer", "steps.py")
"""What is written for a model, and keys of a recording: to be kept letter by letter."""
ALONE: Final = ("tracing", "golden_child.py", "standin")
"""What runs in the sandbox without our modules."""
UNCOUNTED: Final = re.compile(
    r"_?[A-Z][A-Z0-9_.]+( .*)?|.*\.(op_type|name|source)|.*\.replace\(.*|list\(.*|how"
)
"""Constants, which are more than one, and names."""


@pytest.mark.parametrize(
    ("number", "words", "said"),
    [
        (1, ("core",), "1 core"),
        (0, ("core",), "0 cores"),
        (2048, ("copy", "copies"), "2,048 copies"),
        (1, ("case is", "cases are"), "1 case is"),
    ],
)
def test_a_number_has_the_word_that_fits_it(number: int, words: tuple[str, ...], said: str) -> None:
    assert amount(number, *words) == said


def test_a_message_gives_its_numbers_their_words() -> None:
    message = "{spent} of {granted:evaluation|evaluations}"
    assert translated(message, spent=1, granted=1) == "1 of 1 evaluation"
    assert translated(message, spent=1, granted="2") == "1 of 2 evaluations"
    with language("zh"):
        assert local("Busy on 1 core: MTE2 9%.") == "1 个核上的忙碌占比：MTE2 9%。"
        assert local("Busy on 8 cores: MTE2 9%.") == "8 个核上的忙碌占比：MTE2 9%。"


def plurals(text: str) -> bool:
    """Whether what follows a value is a plural."""
    word = re.match(r" (?:more |other |new )?([a-z]+s)\b", text)
    return bool(word) and not VERBS.fullmatch(word[1])


def test_no_message_has_a_plural_that_one_thing_would_have_too() -> None:
    found = [m for m in messages() for after in re.split(r"\{\w+\}", m)[1:] if plurals(after)]
    assert not found


def bare(file: Path) -> Iterator[str]:
    """Each value of an f-string that a plural follows, whatever the value is."""
    text = file.read_text()
    if not re.search(r"\}\"?\s*f?\"? (?:more |other |new )?[a-z]+s\b", text):
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.JoinedStr):
            for value, after in zip(node.values, node.values[1:], strict=False):
                match value, after:
                    case ast.FormattedValue(what, _, spec), ast.Constant(str(words)):
                        measured = spec is not None and re.search("[fg%]'", ast.unparse(spec))
                        name = ast.unparse(what)
                        if plurals(words) and not measured and not UNCOUNTED.fullmatch(name):
                            yield f"{file.relative_to(TOP)}:{value.lineno}: {{{name}}}{words[:30]}"


def test_no_sentence_has_a_plural_that_one_thing_would_have_too() -> None:
    files = [
        f for top in ("bot", "ci", "experience", "ascendopt") for f in (TOP / top).rglob("*.py")
    ]
    read = [f for f in files if not {*MODELS_TEXT, *ALONE} & {*f.relative_to(TOP).parts}]
    assert len(read) > 400
    assert not [one for file in read for one in bare(file)]
