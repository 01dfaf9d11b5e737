from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ci.backend.pool.base import Sent
from ci.backend.pool.worker import answer, check_room
from ci.model.errors import EnvironmentProblem

ECHO = Sent(number=3, handler="ci.testing.pool:echo", text="hello")


def test_a_full_disk_is_the_hosts_fault_and_no_answer() -> None:
    def full() -> None:
        check_room(shutil.disk_usage(Path.home()).total + 1)

    said = answer(ECHO, full)
    assert (said.number, said.kind) == (3, "environment")
    assert "is full" in str(said.text) and "remove" in str(said.text)


def test_a_disk_that_fills_up_meanwhile_makes_the_answer_none() -> None:
    calls = []

    def fills_up() -> None:
        calls.append(1)
        if len(calls) == 2:
            raise EnvironmentProblem("The disk is full.")

    assert answer(ECHO, fills_up).kind == "environment"


@pytest.mark.parametrize("handler", ["os:system", "subprocess:run", "tests.conftest:x"])
def test_only_handlers_of_this_program_are_called(handler: str) -> None:
    said = answer(Sent(number=1, handler=handler, text="true"))
    assert said.kind == "defect" and "no handler of ours" in str(said.text)
