import re
from pathlib import Path

import pytest

from bot.cli import commands
from bot.cli.main import complain
from bot.cli.say import say


def test_an_error_steers_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    complain("no file \x1b]0;title\x07")
    say("one\x08two", err=True)
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", capsys.readouterr().err)


def test_commands_print_by_nothing_else() -> None:
    for file in Path(str(commands.__path__[0])).glob("*.py"):
        text = file.read_text()
        assert "click.echo" not in text, file
