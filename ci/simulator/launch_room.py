"""A place for one launch, which can be made while the kernel is still being compiled.

It has a folder for what travels to and from the machine, and a sandbox that shows this folder,
the inputs, and the machine's program. Both are this launch's own and are gone when it is closed.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from ci.model.launch import Tensors, arrays
from ci.simulator.input_files import shared_file
from ci.system.ledger import booked
from ci.system.sandbox import Completed, Limits, run
from ci.system.waiting import Room, Waiting


class _View(TypedDict):
    """What a sandbox shows and grants."""

    cwd: Path
    readable: Sequence[Path]
    writable: Sequence[Path]
    limits: Limits


class LaunchRoom(Room):
    """Folder and sandbox of one launch."""

    def __init__(
        self,
        runner: Path,
        inputs: Tensors,
        outputs: Tensors,
        limits: Limits,
        *,
        ahead: bool = False,
    ) -> None:
        """`ahead`: make the sandbox now, for a launch of one kernel that comes later."""
        super().__init__("launch", sum(a.nbytes for a in arrays((*inputs, *outputs))))
        self.folder = self.top / "launch"
        """What the machine's program can write."""
        self._kernel = self.top / "kernel"
        self.folder.mkdir()
        self._kernel.mkdir()
        self._runner = runner
        self._limits = limits
        self._shared = _shared_files(inputs)
        if ahead:
            kernel = self._kernel / "kernel.so"
            self._waiting = Waiting(self._command([kernel]), **self._view([self._kernel]))

    def shows(self, inputs: Tensors) -> bool:
        """Whether the files of these inputs are those that the room was made for."""
        return _shared_files(inputs) == self._shared

    def run(self, kernels: Sequence[Path]) -> Completed:
        """Run the machine's program on the request in the folder."""
        if self._waiting is not None and len(kernels) == 1:
            shutil.copy(kernels[0], self._kernel / "kernel.so")
            with booked("run", ready=True):
                return self._waiting.run()
        with booked("run"):
            view = self._view([kernel.parent for kernel in kernels])
            return run(self._command(kernels), **view)

    def _command(self, kernels: Sequence[Path]) -> list[str]:
        return [str(self._runner), str(self.folder / "request"), *map(str, kernels)]

    def _view(self, kernels: Sequence[Path]) -> _View:
        return {
            "cwd": self.folder,
            "readable": [self._runner.parent, *kernels, *self._shared],
            "writable": [self.folder],
            "limits": self._limits,
        }


def _shared_files(inputs: Tensors) -> list[Path]:
    files = [shared_file(array) for array in arrays(inputs)]
    return [file for file in files if file is not None]
