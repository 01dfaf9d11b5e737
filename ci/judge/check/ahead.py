"""Kernels that are compiled while something else goes on: compiling is most of a check."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

from ci.backend.sim import SimulatorBackend
from ci.judge.gate_subject import Standard
from ci.judge.reference import empty_like
from ci.model.errors import CaseDeclined, EnvironmentProblem, InputError, TrialFailure


@contextmanager
def compiled_ahead(standard: Standard) -> Iterator[None]:
    """Compile what checks the workload's own cases, in a thread of its own, one case after the
    other. Whoever needs one of these kernels waits for it, and sees why there is none."""
    backend = standard.backend
    if not isinstance(backend, SimulatorBackend):
        yield
        return
    enough = threading.Event()
    with ThreadPoolExecutor(1, "ahead") as thread:
        thread.submit(_compile, standard, backend, enough)
        try:
            yield
        finally:
            enough.set()


def _compile(standard: Standard, backend: SimulatorBackend, enough: threading.Event) -> None:
    with suppress(TrialFailure, EnvironmentProblem):
        build = backend.built(standard.operator, {}, standard.workload, "checked")
        for case in standard.workload.cases:
            if enough.is_set():
                return
            with suppress(TrialFailure, InputError, CaseDeclined):
                right = standard.references.of(case, standard.workload.seeds[0])
                answer = build.tile(case, right.inputs, empty_like(right.outputs))
                build.kernels(build.variant(case, answer))
