"""Where evaluations run besides this process: workers on this host, or on a Ray cluster.

`open_pool` is the way in.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ci.backend.pool.base import Pool
from ci.backend.pool.dispatch import Dispatcher
from ci.model.errors import EnvironmentProblem, InputError
from ci.model.settings import ON_DEVICE, pool_of

_open: dict[tuple[str, bool, int | None], Dispatcher] = {}
_lock = threading.Lock()


def open_pool(
    spec: str,
    backend: str = "sim",
    *,
    most: int | None = None,
    tell: Callable[[str], None] = lambda said: None,
) -> Dispatcher:
    """The workers of `local:N` or `ray:ADDRESS`, at most `most`; equal ones are opened once.

    Raises InputError for another spec, EnvironmentProblem when it cannot be opened. It is closed
    when the process ends.
    """
    key = spec, backend in ON_DEVICE, most
    with _lock:
        if key not in _open:
            made = Dispatcher(_pool(spec, backend, most), tell)
            atexit.register(made.close)
            _open[key] = made
        return _open[key]


@contextmanager
def workers(spec: str, backend: str = "sim", *, most: int | None = None) -> Iterator[Dispatcher]:
    """The same for one piece of work, closed after it."""
    made = Dispatcher(_pool(spec, backend, most))
    try:
        yield made
    finally:
        made.close()


def capacity(spec: str) -> int:
    """Workers that a pool has room for, were nobody else at work; none is started."""
    kind, value = pool_of(spec)
    if kind == "local":
        return int(value)
    from ci.backend.pool.ray import RayPool

    pool = RayPool(value)
    try:
        return pool.capacity
    finally:
        pool.close()


def _pool(spec: str, backend: str, most: int | None) -> Pool:
    kind, value = pool_of(spec)
    on_device = backend in ON_DEVICE
    if kind == "ray":
        from ci.backend.pool.ray import RayPool

        return RayPool(value, npu=on_device, most=most)
    from ci.backend.pool.local import LocalPool

    count = int(value) if most is None else min(most, int(value))
    if backend == "camodel" and count > 1:
        raise InputError(
            "The toolkit's simulator runs under its profiler, which takes one task at a time on a"
            " host: give --pool local:1, or ray:ADDRESS with hosts of one processor each."
        )
    if not on_device:
        return LocalPool(count)
    from ci.backend.cann.npu import npu_smi, read_npus

    devices = len(read_npus(npu_smi()))
    if devices == 0:
        raise EnvironmentProblem("npu-smi info names no device; --backend sim needs none.")
    return LocalPool(count, devices)
