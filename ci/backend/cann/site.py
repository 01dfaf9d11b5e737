"""Where programs run: a toolkit with a device of ours, or with its simulator of a chip."""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from ci.backend.cann.npu import device_nodes, npu_smi, read_processes
from ci.backend.cann.profile.launches import Launch, read_launches
from ci.backend.cann.profile.pipes import read_pipes
from ci.backend.cann.profile.rows import keep_tables
from ci.backend.cann.profile.simulated import (
    pipe_time,
    read_instructions,
    read_spans,
    timeline_lines,
)
from ci.backend.cann.profiler import (
    PROFILE_METRICS,
    SAMPLE_METRICS,
    SIMULATION_LIMITS,
    device_command,
    nothing_recorded,
    profile,
    simulator_command,
)
from ci.backend.cann.toolkit import Toolkit
from ci.model.launch import TABLES, Sample
from ci.model.trial import PipeTime
from rules.devices import Device

LAUNCHES: Final = 3
"""Launches of one sample: its time is their median, so that one disturbed launch spoils none."""

TRIES: Final = 3
"""Runs of a program whose clock is low, before it is taken as it is."""


@dataclass(frozen=True)
class Measured:
    """Launches of one program, and the profile of the first."""

    samples: tuple[Sample, ...]
    pipes: PipeTime

    @property
    def samples_us(self) -> tuple[float, ...]:
        """Their times."""
        return tuple(sample.us for sample in self.samples)


@dataclass(frozen=True)
class Program:
    """A program that launches one kernel, and what it needs to run."""

    folder: Path
    """A room of its own, which it may write."""
    kernel: str
    """How the names of the launches that count begin."""
    command: tuple[str, ...]
    environment: tuple[str, ...] = ()
    """Further variables as NAME=VALUE."""
    readable: tuple[Path, ...] = ()
    """Further folders that it reads."""

    @property
    def reads(self) -> tuple[Path, ...]:
        """What must be readable, its own file included."""
        return (*self.readable, Path(self.command[0]).parent)


class Site(ABC):
    """A toolkit with what runs the programs. One program at a time: profilers must not meet."""

    launches = 1
    """How often a program launches its kernel."""

    def __init__(self, toolkit: Toolkit, model: Device, device: int) -> None:
        self.toolkit = toolkit
        self.model = model
        """What is known of the chip."""
        self.device = device
        """Logical id, for the programs."""

    @contextmanager
    def room(self) -> Iterator[Path]:
        """A folder for one run. The profiler takes none that others may write, nor links to it."""
        with tempfile.TemporaryDirectory(prefix="ascendopt-cann-") as name:
            yield Path(name).resolve()

    @abstractmethod
    def profiled(self, program: Program, timeline: Path | None = None) -> Measured:
        """Run it for its times and its profile. Raises TrialFailure.

        `timeline` takes what the site has of single instructions, or of its tables.
        """

    @abstractmethod
    def sampled(self, program: Program) -> Sample:
        """Run it for its time alone. Raises TrialFailure."""


class DeviceSite(Site):
    """A real NPU."""

    launches = LAUNCHES

    def profiled(self, program: Program, timeline: Path | None = None) -> Measured:
        """All tables; again when the clock was low, for gates that look at one launch alone."""
        for attempt in range(1, TRIES + 1):
            output = program.folder / f"profile{attempt}"
            found = self._launches(program, output, PROFILE_METRICS)
            if not any(one.sample.throttled for one in found):
                break
        if timeline is not None:
            keep_tables(output, timeline.with_suffix(TABLES))
        samples = tuple(one.sample for one in found)
        return Measured(samples, read_pipes(output, found[0], self.model.clock_mhz))

    def sampled(self, program: Program) -> Sample:
        """The median of the launches; the slowest clock of them."""
        shared = any(p.npu == self.device for p in read_processes(npu_smi()))
        found = self._launches(program, program.folder / "profile", SAMPLE_METRICS)
        samples = [one.sample for one in found]
        clocks = [s.clock for s in samples if s.clock == s.clock]
        return Sample(median(s.us for s in samples), min(clocks, default=float("nan")), shared)

    def _launches(self, program: Program, output: Path, metrics: str) -> list[Launch]:
        """What the profiler, which got the kernel's name, left in `output`."""
        done = profile(
            self.toolkit,
            device_command(
                self.toolkit, output, program.kernel, program.command,
                launches=self.launches, metrics=metrics,
            ),
            program.folder,
            environment=program.environment,
            readable=program.reads,
            devices=device_nodes(self.device),
        )  # fmt: skip
        found = read_launches(output, program.kernel)
        if not found:
            raise nothing_recorded(done)
        return found


class SimulatorSite(Site):
    """The toolkit's own simulator (CAMODEL): no device, and no time that scatters."""

    @property
    def soc(self) -> str:
        """Return the SoC name as --soc-version takes it and as the folder of the simulator's
        libraries is
        called."""
        return f"Ascend{self.model.name}"

    def profiled(self, program: Program, timeline: Path | None = None) -> Measured:
        """One launch; its time is from the first instruction to the last."""
        output = program.folder / "profile"
        libraries = self.toolkit.home / "tools/simulator" / self.soc / "lib"
        search = f"LD_LIBRARY_PATH={libraries}:{self.toolkit.libraries}"
        done = profile(
            self.toolkit,
            simulator_command(
                self.toolkit, output, program.kernel, program.command, soc=self.soc
            ),
            program.folder,
            environment=(search, *program.environment),
            readable=program.reads,
            limits=SIMULATION_LIMITS,
        )  # fmt: skip
        spans = read_spans(output)
        pipes = pipe_time(read_instructions(output), spans, self.model.clock_mhz, block_dim=0)
        if pipes is None:
            raise nothing_recorded(done)
        if timeline is not None:
            lines = timeline_lines(spans, self.model.clock_mhz)
            timeline.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return Measured((Sample(pipes.total_cycles / self.model.clock_mhz),), pipes)

    def sampled(self, program: Program) -> Sample:
        """The same as under the profiler: nothing scatters."""
        return self.profiled(program).samples[0]
