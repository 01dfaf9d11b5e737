"""A pool on this host: worker processes, one a device where there are devices to lease."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path

from ci.backend.pool.base import Answer, Pool, Seat, Sent
from ci.backend.pool.leases import VISIBLE, Lease, take_leases, visible
from ci.backend.pool.process import WorkerProcess


class LocalSeat(Seat):
    """A worker on this host, with the lease of its device if it has one."""

    def __init__(self, number: int, lease: Lease | None = None) -> None:
        self.name = f"worker {number}" if lease is None else f"device {lease.device}"
        self.name += f" of {platform.node()}"
        self._lease = lease
        environment = lease.environment if lease is not None else {}
        self.process = WorkerProcess(environment, [lease.file] if lease is not None else [])

    def ask(self, sent: Sent, seconds: float) -> Answer:
        """The worker's answer."""
        return self.process.ask(sent, seconds)

    def folders(self, folders: Mapping[str, Path]) -> dict[str, str]:
        """The folders themselves."""
        return {name: str(path.resolve()) for name, path in folders.items()}

    def close(self) -> None:
        """End the worker and give its device back."""
        self.process.close()
        if self._lease is not None:
            self._lease.give_back()


class LocalPool(Pool):
    """So many workers on this host."""

    def __init__(self, count: int, devices: int = 0, leases: Path | None = None) -> None:
        """`devices` are on the host, of which each worker leases one; 0: they need none.

        `leases` is the folder of the leases, that for temporary files when it is not given.
        """
        self._count, self._devices, self._leases = count, devices, leases

    def seats(self) -> Sequence[LocalSeat]:
        """One a worker. Raises EnvironmentProblem when too few devices are free."""
        if not self._devices:
            return [LocalSeat(number) for number in range(1, self._count + 1)]
        seen = visible(self._devices, os.environ.get(VISIBLE))
        leases = take_leases(self._count, seen, self._leases)
        return [LocalSeat(number, lease) for number, lease in enumerate(leases, 1)]

    def close(self) -> None:
        """Nothing is left: each seat gave its device back."""
