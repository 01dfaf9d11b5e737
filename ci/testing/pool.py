"""What every pool must do: subclass `PoolContract` and provide the `pool` fixture, two seats."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pytest
from pydantic import JsonValue

from ci.backend import make_backend
from ci.backend.pool.base import Question
from ci.backend.pool.dispatch import Dispatcher, Quarantined
from ci.model.errors import EnvironmentProblem, InputError

SECRET: Final = "ASCENDOPT_TEST_TOKEN"
"""A variable of the environment that no worker may see."""


def _ask(handler: str, text: JsonValue = None, seconds: float = 60.0, **folders: Path) -> Question:
    return Question(handler=f"{__name__}:{handler}", text=text, seconds=seconds, folders=folders)


def echo(text: JsonValue, folders: dict[str, Path]) -> JsonValue:
    """The text, and the process that answers."""
    return [text, os.getpid()]


def names_of_environment(text: JsonValue, folders: dict[str, Path]) -> JsonValue:
    """What a worker sees of the environment."""
    return [*sorted(os.environ)]


def device(text: JsonValue, folders: dict[str, Path]) -> JsonValue:
    """The devices that a worker sees."""
    return os.environ.get("ASCEND_RT_VISIBLE_DEVICES")


def measuring_device(text: JsonValue, folders: dict[str, Path]) -> JsonValue:
    """The device that the backend `text` of a 910B4 measures on, when it is fit."""
    return make_backend(str(text), "910B4").unit


def listed(text: JsonValue, folders: dict[str, Path]) -> JsonValue:
    """Files of the folders with their texts."""
    return {
        f"{name}/{file.relative_to(top)}": file.read_text()
        for name, top in folders.items()
        for file in sorted(top.rglob("*"))
        if file.is_file()
    }


def counted(text: JsonValue, folders: dict[str, Path]) -> JsonValue:
    """Note in the file `text` that it was called, and sleep a little."""
    assert isinstance(text, list)
    with Path(str(text[0])).open("a") as file:
        file.write(f"{text[1]}\n")
    time.sleep(0.05)
    return text[1]


def deadly(text: JsonValue, folders: dict[str, Path]) -> JsonValue:
    """End the worker as often as `text` says, counted by the file that it names; then answer."""
    assert isinstance(text, list)
    file, times = Path(str(text[0])), int(str(text[1]))
    with file.open("a") as log:
        log.write("called\n")
    if len(file.read_text().splitlines()) <= times:
        os.kill(os.getpid(), signal.SIGKILL)
    return "survived"


def slow(text: JsonValue, folders: dict[str, Path]) -> JsonValue:
    """Take longer than anybody waits."""
    time.sleep(600)
    return None


def refused(text: JsonValue, folders: dict[str, Path]) -> JsonValue:
    """What the user gave is wrong."""
    raise InputError("The golden has no such function.")


def unfit(text: JsonValue, folders: dict[str, Path]) -> JsonValue:
    """The host is not fit, but for as many calls as `text` says."""
    assert isinstance(text, list)
    file = Path(str(text[0]))
    with file.open("a") as log:
        log.write("called\n")
    if len(file.read_text().splitlines()) <= int(str(text[1])):
        raise EnvironmentProblem("The device is dead.")
    return "fit"


class PoolContract:
    """The behaviour that whoever asks relies on."""

    def test_an_answer_is_what_the_handler_returned(self, pool: Dispatcher) -> None:
        said = pool.ask(_ask("echo", {"a": [1, 2.5, "ü\n"]}))
        assert isinstance(said, list) and said[0] == {"a": [1, 2.5, "ü\n"]}
        assert said[1] != os.getpid()

    def test_a_worker_sees_no_token(self, pool: Dispatcher) -> None:
        assert SECRET in os.environ, "the fixture sets it before the pool begins"
        said = pool.ask(_ask("names_of_environment"))
        assert isinstance(said, list) and "PATH" in said
        assert [n for n in said if "TOKEN" in str(n) or "KEY" in str(n)] == []

    def test_folders_are_found_with_what_they_hold(self, pool: Dispatcher, tmp_path: Path) -> None:
        (tmp_path / "top" / "deep").mkdir(parents=True)
        (tmp_path / "top" / "deep" / "a.cpp").write_text("int a;")
        (tmp_path / "secret").write_text("no")
        (tmp_path / "top" / "link").symlink_to(tmp_path / "secret")
        said = pool.ask(_ask("listed", top=tmp_path / "top"))
        assert isinstance(said, dict) and said["top/deep/a.cpp"] == "int a;"

    def test_what_the_user_gave_wrong_is_said_at_once(self, pool: Dispatcher) -> None:
        with pytest.raises(InputError, match="no such function"):
            pool.ask(_ask("refused"))

    def test_a_question_whose_worker_died_is_answered_by_another(
        self, pool: Dispatcher, tmp_path: Path
    ) -> None:
        log = tmp_path / "log"
        assert pool.ask(_ask("deadly", [str(log), 1])) == "survived"
        assert log.read_text().splitlines() == ["called"] * 2
        assert pool.size == 2

    def test_a_question_that_two_workers_were_lost_over_is_asked_no_more(
        self, pool: Dispatcher, tmp_path: Path
    ) -> None:
        log = tmp_path / "log"
        question = _ask("deadly", [str(log), 9])
        for _ in range(2):
            with pytest.raises(Quarantined, match="Two workers were lost over it.*SIGKILL"):
                pool.ask(question)
        assert log.read_text().splitlines() == ["called"] * 2
        assert pool.ask(_ask("echo", "on"))[0] == "on"  # type: ignore[index]

    def test_an_unfit_host_is_passed_over(self, pool: Dispatcher, tmp_path: Path) -> None:
        assert pool.ask(_ask("unfit", [str(tmp_path / "log"), 1])) == "fit"

    def test_where_no_host_is_fit_that_is_said(self, pool: Dispatcher, tmp_path: Path) -> None:
        with pytest.raises(EnvironmentProblem, match="The device is dead"):
            pool.ask(_ask("unfit", [str(tmp_path / "log"), 99]))
        assert pool.ask(_ask("echo", "on"))[0] == "on"  # type: ignore[index]

    def test_a_question_has_its_time(self, pool: Dispatcher) -> None:
        with pytest.raises(Quarantined, match="not done after 0.5 s"):
            pool.ask(_ask("slow", seconds=0.5))

    def test_many_questions_are_each_answered_once(self, pool: Dispatcher, tmp_path: Path) -> None:
        log = tmp_path / "log"
        with ThreadPoolExecutor(4) as threads:
            asked = [_ask("counted", [str(log), n]) for n in range(12)]
            said = list(threads.map(pool.ask, asked))
        assert said == list(range(12))
        assert sorted(map(int, log.read_text().split())) == list(range(12))
