import io
import json
import logging
import re

import pytest

from bot.cli import logs
from bot.cli.main import run
from tests.bot.base.test_text import ORDER

LOG = logging.getLogger("ascendopt.test")
HOSTILE = "no src/##[add-mask]x \x1b[31m\u202e\n::set-output name=a::b"


@pytest.fixture
def ours() -> object:
    """The log of the commands that the bot runs as, which is put back afterwards."""
    names = ("ascendopt", "uvicorn.error")
    before = [(name, logging.getLogger(name).handlers[:]) for name in names]
    yield
    for name, handlers in before:
        logging.getLogger(name).handlers[:] = handlers
        logging.getLogger(name).propagate = True
        logging.getLogger(name).setLevel(logging.NOTSET)


@pytest.mark.parametrize("as_json", [False, True])
def test_no_line_of_the_log_is_an_order(
    as_json: bool, ours: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = io.StringIO()
    monkeypatch.setattr("sys.stderr", said)
    logs.configure(as_json)
    LOG.warning("merge request 3: %s", HOSTILE)
    (line,) = said.getvalue().splitlines()
    assert not ORDER.search(line) and not re.search(r"[\x1b\u202e]", line)
    assert not as_json or json.loads(line)["message"] == f"merge request 3: {HOSTILE}"


def test_no_warning_of_a_command_is_an_order(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step of a CI has no log of its own: Python prints its warnings."""
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # those of the tests
    assert run(["--version"]) == 0
    LOG.warning("something waits: %s", HOSTILE)
    said = capsys.readouterr().err
    assert "something waits" in said
    assert not ORDER.search(said) and not re.search(r"[\x1b\u202e]", said)
