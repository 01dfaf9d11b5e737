"""An agent's process: all that it starts ends with it, its output is cut, its files are its own."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ascendopt.agent.process import MOST_SAID, AgentProcess
from ci.model.errors import InputError
from ci.system.sandbox import sandbox_level


@pytest.fixture(params=["", "limits"], ids=["strongest", "limits"])
def level(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param:
        monkeypatch.setenv("ASCENDOPT_SANDBOX", request.param)
    return sandbox_level()


def agent(folder: Path, script: str, *fixed: Path) -> AgentProcess:
    command = ["sh", "-c", script]
    return AgentProcess(command, "the task", folder, folder.parent / "log", fixed)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "checkout").mkdir()
    return tmp_path / "checkout"


def running(words: str) -> bool:
    places = (p for p in Path("/proc").iterdir() if p.name.isdigit())
    told = []
    for place in places:
        try:
            told.append((place / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return any(words in one for one in told)


@pytest.mark.usefixtures("level")
def test_what_it_leaves_in_the_background_ends_with_it(checkout: Path) -> None:
    seconds = f"77{os.getpid()}"
    script = f"setsid sleep {seconds} & (setsid sh -c 'sleep {seconds}' &) ; touch ready; sleep 99"
    with agent(checkout, script):
        while not (checkout / "ready").exists() or not running(f"sleep {seconds}"):
            time.sleep(0.01)
    assert not running(f"sleep {seconds}")


@pytest.mark.usefixtures("level")
def test_what_it_says_is_cut_and_its_task_is_its_input(checkout: Path) -> None:
    with agent(checkout, "cat; yes | head -c 3000000; exit 3") as one:
        while one.code is None:
            time.sleep(0.01)
    assert one.code == 3
    said = (checkout.parent / "log").read_bytes()
    assert said.startswith(b"the task")
    assert len(said) == MOST_SAID


def test_it_cannot_change_what_it_is_judged_by(checkout: Path, level: str) -> None:
    if level != "bubblewrap":
        pytest.skip("without namespaces the run looks afterwards")
    fixed = checkout.parent / "operator"
    fixed.mkdir()
    with agent(checkout, f"echo x > {fixed}/golden.py; echo mine > own", fixed) as one:
        while one.code is None:
            time.sleep(0.01)
    assert not [*fixed.iterdir()]
    assert (checkout / "own").read_text() == "mine\n"


def test_a_program_that_is_not_there_is_a_sentence(checkout: Path) -> None:
    with pytest.raises(InputError, match="no program nobody"):
        AgentProcess(["nobody"], "", checkout, checkout / "log", [])
