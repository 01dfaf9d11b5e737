"""A program that talks to a driver sees its device's nodes and its toolkit, and no more."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from pathlib import Path

import pytest

from ci.system.sandbox import Completed, Level, Limits, run
from ci.system.sandbox_bubblewrap import bubblewrap_command
from ci.system.view import View
from tests.ci.system.levels import CLOSED, LEVELS, PYTHON

SEVERAL = Limits(seconds=20, processes=8)
OWN = Path(PYTHON).parents[1]
"""The interpreter's folder: it may lie outside of what every program sees."""


def openable(path: Path) -> bool:
    """Whether this process may open a node."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))
    except OSError:
        return False
    return True


# A node that no sandbox shows by itself.
NODES = [p for n in ("fuse", "kvm", "loop-control", "net/tun") if openable(p := Path("/dev") / n)]
SPOKEN = "import socket; a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1))"
CALLED = (
    "import socket; s = socket.socket(); s.settimeout(2); s.connect(('127.0.0.1', {port}));"
    " print('through')"
)


def python(
    program: str, folder: Path, level: Level, devices: list[Path], readable: Sequence[Path] = ()
) -> Completed:
    """What the program does with these devices."""
    return run(
        [PYTHON, "-c", program],
        cwd=folder,
        readable=[OWN, *readable],
        writable=[folder],
        limits=SEVERAL,
        level=level,
        devices=devices,
    )


@pytest.mark.parametrize("level", LEVELS)
def test_its_programs_may_talk_among_each_other(tmp_path: Path, level: Level) -> None:
    done = python(SPOKEN, tmp_path, level, [])
    assert done.ok, done.stderr
    assert done.stdout == b"b'x'\n"


@pytest.mark.skipif(not NODES, reason="no node of /dev is here that only some may see")
@pytest.mark.parametrize("level", CLOSED)
def test_only_the_nodes_that_are_named_can_be_opened(tmp_path: Path, level: Level) -> None:
    program = f"import os; os.open('{NODES[0]}', os.O_RDWR | os.O_NONBLOCK)"
    assert not python(program, tmp_path, level, []).ok
    done = python(program, tmp_path, level, NODES[:1])
    assert done.ok, done.stderr


@pytest.mark.parametrize("level", CLOSED)
def test_the_toolkit_can_be_read_and_not_written(tmp_path: Path, level: Level) -> None:
    toolkit, room, home = (tmp_path / name for name in ("toolkit", "room", "home"))
    for folder in (toolkit, room, home):
        folder.mkdir()
        (folder / "file").write_text("inside")
    read = f"print(open('{toolkit}/file').read())"
    assert python(read, room, level, [], readable=[toolkit]).stdout == b"inside\n"
    write = f"open('{toolkit}/file', 'w').write('changed')"
    assert not python(write, room, level, [], readable=[toolkit]).ok
    assert not python(f"open('{home}/file').read()", room, level, [], readable=[toolkit]).ok
    assert (toolkit / "file").read_text() == "inside"


@pytest.mark.parametrize("level", [level for level in CLOSED if level == "bubblewrap"])
def test_with_namespaces_its_sockets_lead_nowhere(tmp_path: Path, level: Level) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        called = CALLED.format(port=server.getsockname()[1])
        assert b"through" not in python(called, tmp_path, level, []).stdout


def test_with_devices_the_kernels_other_files_are_shown_and_the_hosts_processes_are_not() -> None:
    command = bubblewrap_command(Path("/"), View.of([], [], []), -1, -1)
    shown = [command[n + 1] for n, word in enumerate(command) if word.startswith("--ro-bind")]
    assert "/sys" in shown and "/proc" not in shown
    assert command[command.index("--proc") + 1] == "/proc"
