"""A place for one question to a host program, which can be made while that is being compiled."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from ci.system.ledger import booked
from ci.system.sandbox import Completed, Limits, run
from ci.system.startable import copy_startable
from ci.system.waiting import Room, Waiting

LIMITS = Limits(seconds=20.0, memory_bytes=2 << 30, processes=1, file_bytes=64 << 20)
"""Limits of one describe or tile: real tilings need milliseconds and megabytes."""

COMMANDS = {
    "describe": ("answer",),
    "tile": ("request", "answer"),
    "survey": ("request", "answer"),
}
"""The files in the room's folder that each command takes."""


class HostRoom(Room):
    """Folder and sandbox of one question."""

    def __init__(self, command: str, words: Sequence[str] = (), *, ahead: bool = False) -> None:
        """`words` are what the command takes behind its files. `ahead`: make the sandbox now, for a
        program that comes later."""
        self.command = command
        self._words = words
        super().__init__("tiling")
        self.folder = self.top / "question"
        """What the program can write."""
        self._program = self.top / "program"
        self.folder.mkdir()
        self._program.mkdir()
        if ahead:
            self._waiting = Waiting(
                self._argv(self._program / "host_program"),
                cwd=self.folder,
                readable=[self._program],
                writable=[self.folder],
                limits=LIMITS,
            )

    def run(self, program: Path) -> Completed:
        """Ask the program what is in the folder."""
        if self._waiting is not None:
            copy_startable(program, self._program / "host_program")
            with booked("tiling", ready=True):
                return self._waiting.run()
        with booked("tiling"):
            return run(
                self._argv(program),
                cwd=self.folder,
                readable=[program],
                writable=[self.folder],
                limits=LIMITS,
            )

    def _argv(self, program: Path) -> list[str]:
        files = [str(self.folder / name) for name in COMMANDS[self.command]]
        return [str(program), self.command, *files, *self._words]


class HostRooms:
    """Rooms that were made ahead: one for the description, some for tilings. Safe for threads."""

    def __init__(self) -> None:
        self._rooms: list[HostRoom] = []
        self._lock = threading.Lock()

    def make(self, tilings: int) -> None:
        """Make the rooms."""
        for command in ("describe", *["tile"] * tilings):
            self._rooms.append(HostRoom(command, ahead=True))

    def take(self, command: str) -> HostRoom:
        """A room for the command, one that was made ahead if there is one. The caller closes it."""
        with self._lock:
            for at, room in enumerate(self._rooms):
                if room.command == command:
                    return self._rooms.pop(at)
        return HostRoom(command)

    def close(self) -> None:
        """Close what nobody took."""
        with self._lock:
            left, self._rooms = self._rooms, []
        for room in left:
            room.close()
