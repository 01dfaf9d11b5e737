"""Which NPUs of this host may be used, and one lease each.

ASCEND_RT_VISIBLE_DEVICES names devices of the host by number, first to last, and a process that has
it counts from 0: its device 0 is the first that is named. Leases are of numbers on the host, and a
process that sees some devices leases among these alone: so nested values compose. A lease is a lock
on a file, which the system gives back when the last process that holds it is gone, however it went.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ci.model.amount import amount
from ci.model.errors import EnvironmentProblem

VISIBLE: Final = "ASCEND_RT_VISIBLE_DEVICES"


def visible(count: int, value: str | None) -> tuple[int, ...]:
    """Numbers on the host of the devices that a process sees, in the order of its own.

    `count` devices are on the host; `value` is that of the variable, None where it is not set. A
    list is read up to the first number that no device has or that comes again.
    """
    if value is None:
        return tuple(range(count))
    found: list[int] = []
    for word in value.split(","):
        number = int(word) if word.strip().isdigit() else -1
        if not 0 <= number < count or number in found:
            break
        found.append(number)
    return tuple(found)


def lease_file(device: int, folder: Path | None = None) -> Path:
    """The file whose lock is the lease of a device, by its number on the host."""
    return (folder or Path(tempfile.gettempdir())) / f"ascendopt-npu-{device}.lock"


class Lease:
    """A device that no other process of this program uses meanwhile."""

    def __init__(self, device: int, file: int) -> None:
        self.device = device
        """Its number on the host."""
        self.file = file
        """The locked file; a process that inherits it holds the lease too."""

    @classmethod
    def take(cls, device: int, folder: Path | None = None) -> Lease | None:
        """The lease, or None when a living process holds it. Raises EnvironmentProblem."""
        place = lease_file(device, folder)
        try:
            file = _opened(place)
        except OSError as problem:
            raise EnvironmentProblem(
                f"The lease of device {device} cannot be taken: {place}: {problem.strerror}."
            ) from problem
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return None
        return cls(device, file)

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment variables with which a process sees this device alone."""
        return {VISIBLE: str(self.device)}

    def give_back(self) -> None:
        """Let others have it, as soon as no process that inherited it lives."""
        if self.file >= 0:
            os.close(self.file)
            self.file = -1


def _opened(place: Path) -> int:
    """The file, made when it is not there: for reading, so that any user may lock it."""
    try:
        return os.open(place, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        # Only then: in a folder for all, systems refuse O_CREAT for a file of another user.
        return os.open(place, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)


def take_leases(count: int, devices: Sequence[int], folder: Path | None = None) -> list[Lease]:
    """`count` leases among these devices; all or none. Raises EnvironmentProblem."""
    taken: list[Lease] = []
    for device in devices:
        if len(taken) == count:
            break
        lease = Lease.take(device, folder)
        if lease is not None:
            taken.append(lease)
    if len(taken) < count:
        free = len(taken)
        for lease in taken:
            lease.give_back()
        raise EnvironmentProblem(
            f"{amount(count, 'device is', 'devices are')} asked for and {free} of the"
            f" {len(devices)} that are visible here are free; the others are leased to"
            " runs that live. Ask for fewer, or wait."
        )
    return taken
