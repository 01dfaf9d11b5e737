import json
import re
from pathlib import Path

import pytest

from bot.cli import commands
from bot.cli.main import complain
from bot.cli.say import harmless, say


def test_what_steers_a_terminal_is_spelled_and_json_means_the_same() -> None:
    text = "a\x1b[31m\x9b2J\u202e\U000e0041 b\n\tc"
    assert harmless(text) == "a\\u001b[31m\\u009b2J\\u202e\\udb40\\udc41 b\n\tc"
    given = {"said": text}
    assert json.loads(harmless(json.dumps(given, ensure_ascii=False))) == given


@pytest.mark.parametrize("order", ["::error::x", "  ::add-mask::x", "##[group]x", "##vso[task]x"])
def test_no_line_is_an_order_to_a_runner(order: str) -> None:
    for line in harmless(f"said\n{order}").splitlines():
        assert not re.match(r"\s*(::|##)", line)
    assert harmless("## A heading\na::b") == "## A heading\na::b"


def test_an_error_steers_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    complain("no file \x1b]0;title\x07")
    say("one\x08two", err=True)
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", capsys.readouterr().err)


def test_commands_print_by_nothing_else() -> None:
    for file in Path(str(commands.__path__[0])).glob("*.py"):
        text = file.read_text()
        assert "click.echo" not in text, file
