"""Runs a program under the operator profiler, on the device or on the toolkit's simulator.

Options: https://gitcode.com/Ascend/msopprof/blob/master/docs/en/user_guide/msopprof_user_guide.md
(and msopprof_simulator_user_guide.md). The replay of a kernel warms up and clears the L2 cache
before each launch that counts ("Replays include repeated operator warm-up and L2 cache clearing",
development_guide/architecture.md), so every sample begins with the same state.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ci.backend.cann.toolkit import Toolkit
from ci.model.errors import TrialFailure
from ci.model.trial import Outcome, Refusal
from ci.system.sandbox import Completed, Limits, run

WARM_UP: Final = 5
"""Launches before those that count: the clock rises from idle. msopprof's own default."""

PROFILE_METRICS: Final = "Default"
SAMPLE_METRICS: Final = "PipeUtilization"
"""One table needs fewer replays than seven, and OpBasicInfo.csv comes with any."""

LAUNCH_LIMITS: Final = Limits(
    seconds=180, memory_bytes=1 << 46, processes=256, file_bytes=4 << 30, files=4096
)
"""Limits of a profiled launch; the runtime reserves terabytes of address space."""

SIMULATION_MINUTES: Final = 30
"""A simulated launch takes minutes; the simulator is stopped, and what it has is read."""

SIMULATION_LIMITS: Final = Limits(
    seconds=60 * (SIMULATION_MINUTES + 5), memory_bytes=1 << 46, processes=256,
    file_bytes=16 << 30, files=4096,
)  # fmt: skip

_EVIDENCE: Final = 2000
"""Last characters of what the tools said that are kept."""


def device_command(
    toolkit: Toolkit, output: Path, kernel: str, program: Sequence[str], *, launches: int,
    metrics: str = PROFILE_METRICS,
) -> list[str]:  # fmt: skip
    """Profiles the first `launches` of the kernels whose names begin so."""
    return [
        *toolkit.profiler,
        f"--kernel-name={kernel}",
        f"--launch-count={launches}",
        f"--aic-metrics={metrics}",
        "--replay-mode=kernel",
        f"--warm-up={WARM_UP}",
        f"--output={output}",
        *program,
    ]


def simulator_command(
    toolkit: Toolkit, output: Path, kernel: str, program: Sequence[str], *, soc: str
) -> list[str]:
    """Profiles the first launch on the toolkit's simulator of a chip."""
    return [
        *toolkit.profiler,
        "simulator",
        f"--soc-version={soc}",
        f"--kernel-name={kernel}",
        f"--timeout={SIMULATION_MINUTES}",
        f"--output={output}",
        *program,
    ]


def profile(
    toolkit: Toolkit,
    command: Sequence[str],
    folder: Path,
    *,
    environment: Sequence[str] = (),
    readable: Sequence[Path] = (),
    devices: Sequence[Path] = (),
    limits: Limits = LAUNCH_LIMITS,
) -> Completed:
    """Run the command in `folder`, which it may write.

    Raises TrialFailure(TIMEOUT or LAUNCH_ERROR) with what the tools said.
    """
    done = run(
        [*toolkit.environment, *environment, *command],
        cwd=folder,
        readable=[*toolkit.readable, *readable],
        writable=[folder],
        devices=devices,
        limits=limits,
    )
    if not done.ok:
        outcome = Outcome.TIMEOUT if done.timed_out else Outcome.LAUNCH_ERROR
        message = f"The kernel's run under the profiler {done.ending()}."
        raise TrialFailure(outcome, Refusal(sentence=message, evidence=_said(done)))
    return done


def nothing_recorded(done: Completed) -> TrialFailure:
    """The failure when the profiler ended well and left no launch of the kernel."""
    message = "The profiler recorded no launch of the kernel."
    return TrialFailure(Outcome.LAUNCH_ERROR, Refusal(sentence=message, evidence=_said(done)))


def _said(done: Completed) -> str:
    return (done.stderr or done.stdout).decode(errors="replace")[-_EVIDENCE:]
