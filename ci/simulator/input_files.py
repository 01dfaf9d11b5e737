"""Input tensors as files that the machine maps, written once for all launches that read them.

The evaluator keeps the inputs of a case and seed, read-only, for the whole run, so their files
can be kept too. The machine maps them privately: what a kernel writes into an input stays in its
launch.
"""

from __future__ import annotations

import tempfile
import threading
import weakref
from pathlib import Path

import numpy as np

from ci.model.launch import Array
from ci.source.repeated import pattern_of
from ci.system.scratch import scratch_on_disk

_files: dict[int, tuple[Path, tempfile.TemporaryDirectory[str]]] = {}
"""The files by the array's identity, for as long as the array lives."""

_lock = threading.RLock()  # a collected array may call `_forget` in the midst of `shared_file`


def shared_file(tensor: Array) -> Path | None:
    """The file with a read-only tensor's bytes; None for one that may still change."""
    if tensor.flags.writeable:
        return None
    with _lock:
        if id(tensor) not in _files:
            folder = scratch_on_disk("input")
            path = Path(folder.name) / "tensor"
            pattern = pattern_of(tensor)
            np.ascontiguousarray(tensor if pattern is None else pattern).tofile(path)
            _files[id(tensor)] = path, folder
            weakref.finalize(tensor, _forget, id(tensor))
        return _files[id(tensor)][0]


def _forget(identity: int) -> None:
    with _lock:
        _, folder = _files.pop(identity)
    folder.cleanup()
