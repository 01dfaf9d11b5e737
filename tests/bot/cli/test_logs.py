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
    """The log of the commands that the bot runs as, as new; it is put back afterwards."""
    loggers = [logging.getLogger(name) for name in ("ascendopt", "uvicorn.error")]
    before = [(one, one.handlers[:]) for one in loggers]
    for one in loggers:
        one.handlers[:], one.propagate = [], True
    yield
    for one, handlers in before:
        one.handlers[:] = handlers
        one.propagate = True
        one.setLevel(logging.NOTSET)


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
    ours: object, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step of a CI has no log of its own: Python prints its warnings."""
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # those of the tests
    assert run(["--version"]) == 0
    LOG.warning("something waits: %s", HOSTILE)
    said = capsys.readouterr().err
    assert "something waits" in said
    assert not ORDER.search(said) and not re.search(r"[\x1b\u202e]", said)


def test_a_line_that_cannot_be_written_is_not_printed_raw(
    ours: object, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = io.StringIO()
    monkeypatch.setattr("sys.stderr", gone)
    logs.configure(False)
    gone.close()
    monkeypatch.undo()
    assert run(["--version"]) == 0
    LOG.warning("something waits: %s", HOSTILE)
    assert "something waits" not in capsys.readouterr().err
