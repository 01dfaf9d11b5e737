"""A pool on a Ray cluster: an actor a seat, which keeps a worker process on its host.

Actors hold an NPU of the cluster, which Ray names to them in ASCEND_RT_VISIBLE_DEVICES, or a
processor. Questions and answers travel as text that is checked here; the worker's environment is
made again on its host, whatever the cluster's own holds. Candidates' code runs in the sandbox
there.
"""

from __future__ import annotations

import logging
import os
import platform
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from ci.backend.pool import trees
from ci.backend.pool.base import Answer, Pool, Question, Seat, Sent, WorkerLate, WorkerLost
from ci.backend.pool.leases import VISIBLE, Lease
from ci.backend.pool.process import WorkerProcess
from ci.model.errors import EnvironmentProblem, InputError
from ci.system.program import program_digest

try:
    ray: Any = import_module("ray")
except ImportError as missing:
    raise EnvironmentProblem(
        "--pool ray:ADDRESS needs the library ray: pip install 'ascendopt[ray]'."
    ) from missing

READY_SECONDS: Final = 60.0
"""An actor that does not start within this has no place in the cluster."""

AGAIN_SECONDS: Final = 15.0
"""The same for one whose host was lost: others go on meanwhile."""

GRACE_SECONDS: Final = 30.0
"""What an answer may take beyond what the worker itself is granted, for the way to it."""


class _Desk:
    """What runs in an actor: a worker process on the actor's host."""

    def __init__(self, npu: bool) -> None:
        self._lease: Lease | None = None
        if npu:
            device = int(os.environ[VISIBLE].split(",")[0])
            self._lease = Lease.take(device)
            if self._lease is None:
                raise RuntimeError(f"device {device} of {platform.node()} is leased to another run")
        held = self._lease
        self._process = WorkerProcess(held.environment if held else {}, [held.file] if held else [])

    def where(self) -> tuple[str, str]:
        """The host's name with the device's, and which program is installed there."""
        device = "" if self._lease is None else f"device {self._lease.device} of "
        return f"{device}{platform.node()} (process {os.getpid()})", program_digest()

    def ask(self, sent: str, seconds: float) -> str:
        """The worker's answer, or one of the words for a lost one and why."""
        try:
            question = Sent.model_validate_json(sent)
            return self._process.ask(question, seconds).model_dump_json()
        except WorkerLate as problem:
            return f"{_LATE}{problem}"
        except WorkerLost as problem:
            return f"{_LOST}{problem}"


_LOST: Final = "lost: "
_LATE: Final = "late: "


class RaySeat(Seat):
    """An actor; a new one is asked for, on whatever host has room, when the last is gone."""

    def __init__(self, options: Mapping[str, Any], npu: bool) -> None:
        self.name = "an actor of the cluster"
        self._options, self._npu = dict(options), npu
        self._actor: Any = None
        self._where: Any = None
        self._trees: dict[str, str] = {}

    def begin(self) -> None:
        """Ask the cluster for an actor, without waiting for it."""
        if self._actor is None:
            kind = ray.remote(**self._options)(_Desk)
            self._actor = kind.remote(self._npu)
            self._where = self._actor.where.remote()

    def ready(self, seconds: float) -> bool:
        """Whether the actor is there within so long."""
        self.begin()
        if self._where is not None:
            try:
                name, program = ray.get(self._where, timeout=seconds)
            except ray.exceptions.RayError:
                self._drop()
                return False
            self.name, self._where = str(name), None
            if program != program_digest():
                self._drop()
                raise EnvironmentProblem(
                    f"{name} has another version of ascendopt than this host; install the same one."
                )
        return True

    def ask(self, sent: Sent, seconds: float) -> Answer:
        """The worker's answer."""
        if not self.ready(AGAIN_SECONDS):
            raise EnvironmentProblem("The cluster has no place left for this worker.")
        try:
            said = ray.get(
                self._actor.ask.remote(sent.model_dump_json(), seconds),
                timeout=seconds + GRACE_SECONDS,
            )
        except ray.exceptions.RayError as problem:
            self._drop()
            first = str(problem).strip().splitlines()[0]
            raise WorkerLost(f"{type(problem).__name__}: {first}") from problem
        if str(said).startswith(_LATE):
            raise WorkerLate(str(said).removeprefix(_LATE))
        if not isinstance(said, str) or said.startswith(_LOST):
            raise WorkerLost(str(said).removeprefix(_LOST))
        try:
            found = Answer.model_validate_json(said)
        except ValidationError as nonsense:
            raise WorkerLost("the worker sent a malformed answer") from nonsense
        if found.number != sent.number:
            self._drop()
            raise WorkerLost("the worker answered another question")
        return found

    def folders(self, folders: Mapping[str, Path]) -> dict[str, str]:
        """Copies on the actor's host, made when they are not there yet."""
        if not self.ready(AGAIN_SECONDS):
            raise EnvironmentProblem("The cluster has no place left for this worker.")
        found = {}
        for name, path in folders.items():
            digest, archive = trees.packed(path.resolve())
            if digest not in self._trees:
                place = self._tree(trees.question(digest, None))
                if place is None:
                    place = self._tree(trees.question(digest, archive))
                self._trees[digest] = str(place)
            found[name] = self._trees[digest]
        return found

    def _tree(self, question: Question) -> object:
        sent = Sent(number=0, handler=question.handler, text=question.text)
        said = self.ask(sent, question.seconds)
        if said.kind != "done":
            raise EnvironmentProblem(str(said.text))
        return said.text

    def close(self) -> None:
        """End the actor, and with it the worker."""
        self._drop()

    def _drop(self) -> None:
        actor, self._actor, self._where = self._actor, None, None
        self._trees.clear()  # the next actor may be on another host
        if actor is not None:
            with suppress(Exception):  # whatever ray says of one that is gone
                ray.kill(actor)


class RayPool(Pool):
    """A pool with at most as many workers as the cluster has NPUs or processors."""

    def __init__(self, address: str, *, npu: bool = False, most: int | None = None) -> None:
        """`npu`: each worker needs one. Raises EnvironmentProblem when no cluster answers."""
        self._npu, self._most = npu, most
        self._joined = not ray.is_initialized()
        if self._joined:
            try:
                ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
            except (ConnectionError, ValueError, RuntimeError) as problem:
                first = str(problem).strip().splitlines()[0]
                raise EnvironmentProblem(
                    f"No Ray cluster answers at {address}: {first} See `ray status`; a driver needs"
                    " a node of the cluster on its own host, or ray://HOST:10001."
                ) from problem

    @property
    def capacity(self) -> int:
        """Workers that the cluster has room for, were nobody else at work."""
        kind = "NPU" if self._npu else "CPU"
        found = int(ray.cluster_resources().get(kind, 0))
        if found == 0:
            raise InputError(f"The Ray cluster has no {kind}: `ray status` says what it has.")
        return found if self._most is None else min(self._most, found)

    def seats(self) -> Sequence[RaySeat]:
        """One a worker that started in time. Raises EnvironmentProblem when none does."""
        resources = {"resources": {"NPU": 1}, "num_cpus": 0} if self._npu else {"num_cpus": 1}
        options = {**resources, "max_restarts": 0, "scheduling_strategy": "SPREAD"}
        seats = [RaySeat(options, self._npu) for _ in range(self.capacity)]
        for seat in seats:
            seat.begin()
        end = time.monotonic() + READY_SECONDS
        ready = [seat for seat in seats if seat.ready(max(1.0, end - time.monotonic()))]
        if not ready:
            raise EnvironmentProblem(
                f"No worker started on the Ray cluster within {READY_SECONDS:.0f} s: it is taken by"
                " others, or ascendopt is not installed on its hosts; see `ray status`."
            )
        return ready

    def close(self) -> None:
        """Leave the cluster."""
        if self._joined:
            ray.shutdown()
