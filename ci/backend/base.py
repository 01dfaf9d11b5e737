"""What a backend is: builds an operator's sources and runs them on one case."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TypedDict, Unpack

from ci.model.ensemble import Ensemble
from ci.model.errors import InputError
from ci.model.launch import CaseRun, Expected, Sample, Tensors
from ci.model.operator import Operator
from ci.model.trial import Fingerprint
from ci.model.workload import Workload, WorkloadCase


class RunOptions(TypedDict, total=False):
    """Optional arguments of `Build.run`, apart from its tensors."""

    seed: int | None
    """What the inputs were drawn from: with the case it names the launch among the expected."""
    timeline: Path | None
    """A file that takes one JSON line an instruction, where the backend can; else a folder with the
    ending `.tables` in its place takes the tables of a profiler, where there is one."""
    ensemble: Ensemble | None
    """What the launch is timed as besides, where the backend can."""


class Build(ABC):
    """An operator's sources, built; runs cases of the workload it was built for."""

    @abstractmethod
    def run(
        self, case: WorkloadCase, inputs: Tensors, outputs: Tensors, **how: Unpack[RunOptions]
    ) -> CaseRun:
        """Launch once: host tiling, then the kernel with what it returned.

        `outputs` gives shapes and dtypes (contents unused). Raises `TrialFailure` with a named
        outcome. Called by the evaluator only.
        """

    def sample(
        self, case: WorkloadCase, inputs: Tensors, outputs: Tensors, **how: Unpack[RunOptions]
    ) -> Sample:
        """One time of a case that `run` has run well, for pairs of programs sampled in turn.

        Each under the same conditions: warm, with the same state of the cache. Only where the
        backend `scatters`. Raises `TrialFailure` as `run` does.
        """
        raise NotImplementedError(f"{type(self).__name__} gives no samples")

    def program(self, case: WorkloadCase, inputs: Tensors, outputs: Tensors) -> str:
        """Names what `run` would launch: two of one name differ neither in outputs nor in time.

        '' where the backend cannot tell. Raises `TrialFailure` as `run` does.
        """
        return ""


class Backend(ABC):
    """Builds and runs candidates; one a device. Every figure carries its fingerprint."""

    scatters = False
    """Whether times scatter, so that programs are compared by `Build.sample` in turn."""

    @property
    def unit(self) -> str:
        """Which single device this is, for what is learnt of its noise."""
        found = self.fingerprint()
        return f"{found.device}, {found.version}"

    @abstractmethod
    def fingerprint(self) -> Fingerprint:
        """Which device and which versions give the figures."""

    def check_fit(self) -> None:  # noqa: B027
        """Raises EnvironmentProblem when the device is not fit any more."""

    def on(self, device: str) -> Backend:
        """The same on another chip. Raises InputError where there is no choice."""
        raise InputError(f"This backend cannot run on a {device} as well.")

    def expecting(
        self, operator: Operator, launches: Sequence[Expected]
    ) -> AbstractContextManager[None]:
        """A context in which the operator is built and these of its launches will be asked for,
        unless an earlier one fails.

        A backend may get ready for them while it builds. It changes no result.
        """
        return nullcontext()

    @abstractmethod
    def build(self, operator: Operator, files: dict[str, str], workload: Workload) -> Build:
        """Build the operator with a candidate's changed `files` laid over its sources.

        Raises `TrialFailure(COMPILE_ERROR)` with the compiler's words cut to the point, and
        `EnvironmentProblem` when this machine cannot build at all.
        """
