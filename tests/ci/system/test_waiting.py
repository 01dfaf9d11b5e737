"""A sandbox made before its program: it waits, holds back the same, and ends unused."""

import threading
import time
from pathlib import Path

import pytest

from ci.system.sandbox import Level
from ci.system.waiting import Room, Waiting
from tests.ci.system.levels import CLOSED, NAMESPACES, PYTHON, attempt, granted


def waiting(code: str, folder: Path, level: Level, **limits: float) -> Waiting:
    return Waiting([PYTHON, "-I", "-S", "-c", code], **granted(folder, level, limits))


def test_a_program_waits_in_its_sandbox_until_it_is_told(tmp_path: Path, level: Level) -> None:
    sandbox = waiting("print(open('late').read()); open('ran', 'w')", tmp_path, level, seconds=0.2)
    time.sleep(0.7)  # longer than its wall time would be: that begins when it is told
    assert not (tmp_path / "ran").exists()
    (tmp_path / "late").write_text("laid after the sandbox was made")
    done = sandbox.run()
    assert done.ok, done.stderr
    assert done.stdout == b"laid after the sandbox was made\n"
    assert (tmp_path / "ran").exists()
    sandbox.close()


def test_a_program_runs_although_the_thread_that_made_its_sandbox_has_ended(
    tmp_path: Path, level: Level
) -> None:
    made: list[Waiting] = []

    def make() -> None:
        made.append(waiting("print('ran')", tmp_path, level))
        time.sleep(0.5)  # until it has asked to be told of this thread's end

    maker = threading.Thread(target=make)
    maker.start()
    maker.join()
    time.sleep(0.2)
    done = made[0].run()
    assert done.ok, done
    assert done.stdout == b"ran\n"


def test_a_program_that_is_not_wanted_any_more_never_runs(tmp_path: Path, level: Level) -> None:
    sandbox = waiting("open('ran', 'w')", tmp_path, level)
    sandbox.close()
    sandbox.close()
    time.sleep(0.2)
    assert not (tmp_path / "ran").exists()


class Held(Room):
    """A folder with a sandbox that nobody uses."""

    def __init__(self, level: Level) -> None:
        super().__init__("held")
        self._waiting = waiting("", self.top, level)


def children() -> set[str]:
    """Processes that this one has started and that have not ended."""
    tasks = Path("/proc/self/task").iterdir()
    return {pid for task in tasks for pid in (task / "children").read_text().split()}


def test_a_room_that_is_left_ends_what_waits_in_it(level: Level) -> None:
    before = children()
    with Held(level) as room:
        while level == "bubblewrap" and children() == before:
            time.sleep(0.01)
        assert room.top.is_dir()
    assert children() == before
    assert not room.top.exists()


def test_a_sandbox_made_before_holds_back_the_same(tmp_path: Path, level: Level) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    own.mkdir()
    other.mkdir()
    for code in (
        "import os; os.fork(); print('done')",
        "import os; os.kill(-1, 9); print('done')",
        "import socket; socket.socket(); print('done')",
        "b = bytearray(2 << 30); print('done')",
    ):
        done = waiting(code, own, level, memory_bytes=1 << 30).run()
        assert not done.ok, code
        assert b"done" not in done.stdout
    done = waiting("while True: pass", own, level, seconds=0.3).run()
    assert done.timed_out
    if level in CLOSED:
        (other / "report").write_text("the other launch's")
        done = waiting(f"open({str(other / 'report')!r})", own, level).run()
        assert not done.ok
        done = waiting(f"open({str(other / 'report')!r}, 'w')", own, level).run()
        assert not done.ok
        assert (other / "report").read_text() == "the other launch's"


@pytest.mark.parametrize("sandbox", NAMESPACES)
def test_one_sandbox_cannot_end_another(tmp_path: Path, sandbox: Level) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    other = waiting("print('alive')", second, sandbox)
    attempt("import os; os.kill(-1, 9)", first, sandbox, processes=8)
    assert other.run().stdout == b"alive\n"
