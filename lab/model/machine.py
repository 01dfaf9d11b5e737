"""What `bench machine` is asked, and how fast the simulator evaluated candidates."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import Field

from ci.model.frozen import Frozen
from ci.model.settings import DEFAULT_DEVICE
from ci.model.trial import Fingerprint

Kind: TypeAlias = Literal["kernel", "tiling", "built"]

KINDS: tuple[Kind, ...] = ("kernel", "tiling", "built")


class MachineBenchSettings(Frozen):
    """What is measured, and how often."""

    sample: int = Field(
        default=12,
        ge=0,
        description="Operators that are measured, spread evenly over those there are; 0: all."
        " The default ends after about four minutes on two idle processors.",
    )
    evaluations: int = Field(
        default=3, ge=1, description="Fresh candidates of each kind and operator."
    )
    jobs: int = Field(default=2, ge=2, description="Evaluations side by side.")
    device: str = Field(default=DEFAULT_DEVICE, description="Device model (rules/devices).")


class Share(Frozen):
    """Where the wall time of the evaluations of one kind went, in seconds."""

    kind: Kind
    evaluations: int
    seconds: float
    compile: float
    tiling: float
    run: float
    verify: float
    own: float = Field(description="The rest: sandboxes, files, guards, this program itself.")

    @property
    def per_hour(self) -> float:
        """Evaluations an hour, one after the other."""
        return 3600 * self.evaluations / self.seconds


class OperatorTime(Frozen):
    """Median wall seconds of one evaluation."""

    operator: str
    cases: int
    kernel: float
    tiling: float
    built: float


class SideBySide(Frozen):
    """The same number of fresh kernel candidates one after the other, and side by side."""

    jobs: int
    evaluations: int
    alone_seconds: float
    together_seconds: float

    @property
    def speedup(self) -> float:
        """How much sooner all of them are done."""
        return self.alone_seconds / self.together_seconds

    @property
    def per_hour(self) -> float:
        """Evaluations an hour, `jobs` at a time."""
        return 3600 * self.evaluations / self.together_seconds


class Stream(Frozen):
    """The machine's program on one case of the streaming kernel, CPU time of one host core."""

    case: str
    bytes: int = Field(description="Read from and written to simulated global memory.")
    execute_seconds: float = Field(description="Instructions executed, results and checks.")
    timing_seconds: float = Field(description="The timing pass.")
    other_seconds: float = Field(description="Loading, inputs and outputs, report.")

    @property
    def gigabytes_per_second(self) -> float:
        """Bytes over all of the CPU time."""
        return self.bytes / (self.execute_seconds + self.timing_seconds + self.other_seconds) / 1e9


class MachineBench(Frozen):
    """Everything that one run measured."""

    host: str
    processors: int
    load: float = Field(description="Processes that wanted a processor when it began.")
    offered: int = Field(description="Operators that the measured ones were taken from.")
    fingerprint: Fingerprint
    sandbox_seconds: float = Field(description="Start of an empty sandboxed program, a median.")
    ready_seconds: float = Field(
        description="The same program in a sandbox that was made before, a median."
    )
    cache_hit_seconds: float = Field(
        description="Median time to look up a built kernel and host program."
    )
    shares: tuple[Share, ...]
    operators: tuple[OperatorTime, ...]
    side_by_side: SideBySide
    streams: tuple[Stream, ...]
