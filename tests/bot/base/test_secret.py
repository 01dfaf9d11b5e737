"""Secrets are read once; afterwards no other process of the same user finds them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot.base.secret import as_of_now, renewed, take
from ci.model.errors import InputError
from ci.system.sandbox import Level, works

SECRET = "s3cret-value"
LEVELS: list[Level] = [level for level in ("bubblewrap", "landlock") if works(level)]
TAKING = """
import os
from bot.base.secret import as_of_now, renewed, take
print(take(["TOKEN", "TOKEN", "NONE"]) == {"TOKEN": "s3cret-value", "NONE": ""})
print("TOKEN" in os.environ, "s3cret" in open("/proc/self/environ").read())
print(open("/proc/self/environ").read().count("KEPT=also"), os.environ["KEPT"])
"""
ASKING = """
import os, sys
from pathlib import Path
from bot.base.secret import hide
from ci.system.sandbox import Limits, run
if sys.argv[2] == "hidden":
    hide()
python = Path(sys.executable).resolve()
code = f"print(open('/proc/{os.getpid()}/{sys.argv[3]}', 'rb').read(1000))"
done = run([str(python), "-I", "-S", "-c", code], cwd=Path(sys.argv[4]),
           writable=[Path(sys.argv[4])], readable=[python.parents[1]], level=sys.argv[1],
           limits=Limits(seconds=20))
print("closed" if not done.ok and not done.stdout else "open")
"""


def said(code: str, *arguments: str) -> str:
    env = {**os.environ, "TOKEN": SECRET, "KEPT": "also"}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_secret_that_was_taken_is_gone_from_the_environment_and_from_proc() -> None:
    assert said(TAKING) == "True\nFalse False\n1 also\n"


@pytest.mark.parametrize("entry", ["environ", "maps", "fd/0"])
@pytest.mark.parametrize("level", [*LEVELS, "limits"])
def test_a_sandboxed_program_cannot_look_into_a_process_that_hides(
    tmp_path: Path, level: Level, entry: str
) -> None:
    assert said(ASKING, level, "hidden", entry, str(tmp_path)) == "closed\n"
    if level == "limits" and os.getuid():  # root's is closed to those without its rights
        assert said(ASKING, level, "", entry, str(tmp_path)) == "open\n"


def test_a_secret_may_come_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "token"
    file.write_text(f"{SECRET}\n")
    monkeypatch.setenv("ASCENDOPT_TOKEN_FILE", str(file))
    assert take(["ASCENDOPT_TOKEN"]) == {"ASCENDOPT_TOKEN": SECRET}
    monkeypatch.setenv("ASCENDOPT_TOKEN_FILE", str(tmp_path / "none"))
    with pytest.raises(InputError, match="ASCENDOPT_TOKEN_FILE: .*none cannot be read"):
        take(["ASCENDOPT_TOKEN"])


def test_a_token_whose_file_is_renewed_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token"
    file.write_text("first\n")
    monkeypatch.setenv("ASCENDOPT_TOKEN_FILE", str(file))
    now = renewed("ASCENDOPT_TOKEN", "first")
    assert now() == "first"
    file.write_text("second\n")
    assert now() == "second"
    file.write_text("")
    assert now() == "second"
    file.unlink()
    assert now() == "second"


def test_a_token_that_did_not_come_from_the_file_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token"
    file.write_text("another's")
    monkeypatch.setenv("ASCENDOPT_TOKEN_FILE", str(file))
    assert renewed("ASCENDOPT_TOKEN", "own")() == "own"
    monkeypatch.delenv("ASCENDOPT_TOKEN_FILE")
    assert renewed("ASCENDOPT_TOKEN", "own")() == "own"


def test_a_token_is_asked_for_each_time_or_given_as_it_is() -> None:
    values = iter(["first", "second"])
    asked = as_of_now(lambda: next(values))
    assert (asked(), asked()) == ("first", "second")
    assert as_of_now("fixed")() == "fixed"
