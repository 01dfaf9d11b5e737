"""The simulator as a backend: the machine of `ci/simulator/`, on this computer's own processor."""

from __future__ import annotations

import threading
from functools import cached_property, lru_cache
from pathlib import Path

from ci.backend.base import Backend, Build, CaseRun, Tensors
from ci.columns import case_dtypes, find_column, output_dtypes
from ci.errors import TrialFailure
from ci.operator import Operator
from ci.sandbox import Limits, run
from ci.simulator.host_tiling import HostProgram, OpDescription, TilingAnswer, platform_facts
from ci.simulator.kernel_unit import KernelVariant, formats_of
from ci.simulator.launch import LaunchSpec, launch
from ci.simulator.symbols import check_symbols
from ci.simulator.tiling_layout import TilingStruct, declarations
from ci.simulator.toolchain import Toolchain
from ci.trial import Evidence, Fingerprint, Outcome
from ci.workload import Workload, WorkloadCase
from rules.devices import DEFAULT_DEVICE, Device, load_device

LAUNCH_SECONDS = 60.0
"""Wall time of one simulated launch; the longest real one so far takes a tenth of it."""

LAUNCH_BYTES = 8 << 30
"""Address space of the machine: tensors, UB of every core, instruction records."""

MOST_BLOCKS = 65535
"""Largest block dim that a launch takes."""

MOST_WORKSPACE = 4 << 30
"""Largest workspace in bytes that a launch takes."""


class SimulatorBackend(Backend):
    """Compiles with g++ against our headers and runs on the simulated chip `device`."""

    def __init__(
        self,
        device: str = DEFAULT_DEVICE,
        *,
        toolchain: Toolchain | None = None,
        launch_seconds: float = LAUNCH_SECONDS,
    ) -> None:
        self.device: Device = load_device(device)
        self.toolchain = toolchain or Toolchain()
        self.limits = Limits(
            seconds=launch_seconds, memory_bytes=LAUNCH_BYTES, processes=1, file_bytes=2 << 30
        )

    def fingerprint(self) -> Fingerprint:
        """The chip, and a hash over machine, headers, compiler and the chip's constants."""
        return Fingerprint(
            backend="sim", device=self.device.name, version=self._version, simulated=True
        )

    @cached_property
    def _version(self) -> str:
        return f"{self.toolchain.version}-{self.device.version}"

    def build(
        self, operator: Operator, files: dict[str, str], workload: Workload
    ) -> SimulatorBuild:
        """Compile the host side; the kernel follows once a tiling tells its key."""
        return SimulatorBuild(self, operator, operator.texts(files), workload)


class SimulatorBuild(Build):
    """An operator's host program, and its kernels as the cases ask for them."""

    def __init__(
        self,
        backend: SimulatorBackend,
        operator: Operator,
        texts: dict[str, str],
        workload: Workload,
    ) -> None:
        self._backend = backend
        self._operator = operator
        self._texts = texts
        self._auto_sync = operator.auto_sync if workload.auto_sync is None else workload.auto_sync
        self._host = HostProgram(backend.toolchain.compile_host(operator, texts))
        self._description = _describe(self._host.path, operator)
        self._checked: set[Path] = set()
        self._lock = threading.Lock()
        # The kernel of the first case is compiled at once, so that a build tells its errors.
        first = workload.cases[0]
        if not self._needs_values(first):
            self._kernel(first, self._tile(first, None, None))

    def run(
        self,
        case: WorkloadCase,
        inputs: Tensors,
        outputs: Tensors,
        *,
        timeline: Path | None = None,
    ) -> CaseRun:
        """Tile, compile the kernel that the tiling selected unless it is there, launch."""
        answer = self._tile(case, inputs, outputs)
        spec = LaunchSpec(
            kernel=self._kernel(case, answer),
            block_dim=answer.block_dim,
            tiling_key=answer.tiling_key,
            tiling=answer.data,
            workspace=sum(answer.workspace),
            auto_sync=self._auto_sync,
            aliases=self._aliases(),
            initial=self._initial(),
        )
        result = launch(
            self._backend.toolchain.machine_runner,
            self._backend.device,
            spec,
            inputs,
            outputs,
            self._backend.limits,
            timeline,
        )
        microseconds = result.pipes.total_cycles / self._backend.device.clock_mhz
        return CaseRun(
            outputs=result.outputs,
            samples_us=(microseconds,),
            pipes=result.pipes,
            tiling_key=answer.tiling_key,
            warnings=result.warnings,
        )

    def _needs_values(self, case: WorkloadCase) -> bool:
        """The tiling reads an input's values, or output shapes that only the reference tells."""
        return bool(self._description.value_inputs) or not case.outputs

    def _tile(
        self, case: WorkloadCase, inputs: Tensors | None, outputs: Tensors | None
    ) -> TilingAnswer:
        facts = platform_facts(dict(self._backend.device.constants))
        answer = self._host.tile(run, self._operator, case, facts, inputs, outputs)
        for name, value, most in (
            ("block dim", answer.block_dim, MOST_BLOCKS),
            ("workspace size", sum(answer.workspace), MOST_WORKSPACE),
        ):
            if not 0 <= value <= most:
                raise TrialFailure(
                    Outcome.LAUNCH_ERROR,
                    Evidence(message=f"The host tiling asks for a {name} of {value}."),
                )
        return answer

    def _kernel(self, case: WorkloadCase, answer: TilingAnswer) -> Path:
        """The kernel library for a case's dtypes and tiling key."""
        operator = self._operator
        dtypes = case_dtypes(case)
        column = find_column(operator, dtypes)
        declared = [t.dtypes[min(column, len(t.dtypes) - 1)] if t.dtypes else "float32"
                    for t in operator.inputs]  # fmt: skip
        own = [d or declared[i] for i, d in enumerate(dtypes)] + declared[len(dtypes) :]
        struct = self._description.struct_for(answer.tiling_key)
        variant = KernelVariant(
            dtypes=(*own, *output_dtypes(operator, case)),
            formats=formats_of(operator, column),
            tiling_key=answer.tiling_key,
            tiling_declarations=self._declarations(struct),
            tiling_struct=struct.name if struct else "",
        )
        kernel = self._backend.toolchain.compile_kernel(operator, self._texts, variant)
        self._check(kernel)
        return kernel

    def _declarations(self, used: TilingStruct | None) -> str:
        try:
            others = [s for _, s in self._description.tilings]
            return declarations([used, *others] if used else others)
        except ValueError as problem:
            raise TrialFailure(
                Outcome.COMPILE_ERROR, Evidence(message=f"The tiling data is unusable: {problem}.")
            ) from problem

    def _check(self, kernel: Path) -> None:
        """The second guard, once for each kernel."""
        with self._lock:
            if kernel in self._checked:
                return
        found = check_symbols(kernel, self._backend.toolchain.machine_runner)
        if found:
            raise TrialFailure(Outcome.REJECTED, found)
        with self._lock:
            self._checked.add(kernel)

    def _aliases(self) -> dict[int, int]:
        """An output that bears an input's name shares its memory: the operator works in place."""
        names = [spec.name for spec in self._operator.inputs]
        return {
            index: names.index(spec.name)
            for index, spec in enumerate(self._operator.outputs)
            if spec.name in names
        }

    def _initial(self) -> dict[int, float]:
        """Outputs that the framework fills before the launch, by index."""
        names = [spec.name for spec in self._operator.outputs]
        values = self._description.init_values
        return {names.index(n): v for n, v in values.items() if n in names}


@lru_cache(maxsize=256)
def _describe(program: Path, operator: Operator) -> OpDescription:
    """What a host program says of itself; equal programs have equal paths."""
    return HostProgram(program).describe(run, operator)
