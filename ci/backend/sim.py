"""The simulator as a backend: the machine of `ci/simulator/`, on this computer's own processor."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TypeAlias, Unpack

from ci.backend.base import Backend, RunOptions
from ci.backend.output_shapes import filled, told, with_room
from ci.backend.tiled import TiledBuild
from ci.host.door import FrontDoor
from ci.host.host_tiling import TilingAnswer
from ci.host.kernel_unit import KernelVariant, amended
from ci.host.tiling_request import host_request, platform_facts
from ci.model import layout
from ci.model.decision import Decision
from ci.model.ensemble import Condition
from ci.model.errors import TrialFailure
from ci.model.launch import CaseRun, Expected, Tensors, arrays
from ci.model.operator import Operator
from ci.model.trial import Fingerprint, Outcome
from ci.model.workload import Workload, WorkloadCase
from ci.simulator.decisions import decisions_of, frames
from ci.simulator.elf import code_digest
from ci.simulator.ensemble import members_of, states
from ci.simulator.kernel_cores import CUBE, Cores, computes, cores_of, declared_cores
from ci.simulator.launch import Addresses, asked_addresses, launch, taken_dtypes
from ci.simulator.launch_request import LaunchSpec
from ci.simulator.launch_room import LaunchRoom
from ci.simulator.source_lines import expect_lines
from ci.simulator.symbols import check_symbols, defined_symbols, undefined_symbols
from ci.simulator.toolchain import CHECKED, Flavour, Toolchain
from ci.system.cache import digest
from ci.system.candidate_compiler import lacks_body
from ci.system.compiler import compiler_version
from ci.system.sandbox import Limits
from rules.devices import Device, load_device

_WORD = 8  # an address

OWN_LIMITS = ("limit.stack_bytes", "limit.scalar_instructions")
"""Constants of the machine that bound what a kernel's own code may take."""

LAUNCH_SECONDS = 60.0
"""Wall time of one simulated launch; the longest real one so far takes a tenth of it."""

STATES_FACTOR = 2.0
"""How much longer a launch may take that is timed in the start states besides."""

MEMBERS_SECONDS = 600.0
"""The same for one that is timed as every member of an ensemble: a hundred timings more."""

POISONS = (0xFE, 0xFF, 0x7F)
"""Bytes of what nothing has written, by seed: as float32 -1.7e38, NaN, 3.4e38; as float16 NaN. A
maximum, a minimum or a comparison that drops the one does not drop the other."""

MOST_WAITING = 8
"""Launches whose sandboxes are made ahead; further ones make theirs when it is their turn."""

NO_LIMIT = 1e15
"""No limit of instructions, where seconds end a launch."""

LAUNCH_BYTES = 8 << 30
"""Address space of the machine: tensors, UB of every core, instruction records."""


_Name: TypeAlias = tuple[str, int | None]  # case and seed of a launch
_Kernels: TypeAlias = tuple[Cores, Path, Path | None]


class SimulatorBackend(Backend):
    """Compiles with g++ against our headers and runs on the simulated chip `device`; launches are
    timed as they begin in `state`."""

    def __init__(
        self,
        device: str,
        *,
        door: FrontDoor | None = None,
        launch_seconds: float = LAUNCH_SECONDS,
        state: Condition = "cold",
    ) -> None:
        self.device: Device = load_device(device)
        self.state: Condition = state
        self.toolchain = Toolchain(self.device.architecture, door=door)
        self.limits = Limits(
            seconds=launch_seconds, memory_bytes=LAUNCH_BYTES, processes=1, file_bytes=2 << 30
        )
        self._expected: list[_Rooms] = []
        self.members = cache(partial(members_of, self.device))
        """Members by ensemble and state; worked out once, as they take longer than a launch."""

    def on(self, device: str) -> SimulatorBackend:
        """The same on another chip of the simulator."""
        return SimulatorBackend(
            device,
            door=self.toolchain.door,
            launch_seconds=self.limits.seconds,
            state=self.state,
        )

    def fingerprint(self) -> Fingerprint:
        """The chip, the headers, and a hash over these, machine, compiler and constants."""
        return Fingerprint(
            backend="sim",
            device=self.device.name,
            version=self._version,
            simulated=True,
            headers=self.toolchain.door.name,
            counted_with=Path(compiler_version()).name,
            state=self.state,
        )

    @contextmanager
    def expecting(self, operator: Operator, launches: Sequence[Expected]) -> Iterator[None]:
        """Make the launches' sandboxes while host side and kernel are compiled."""
        rooms = _Rooms(self, operator, launches)
        self._expected.append(rooms)
        try:
            yield
        finally:
            self._expected.remove(rooms)
            rooms.close()

    def make_rooms(self) -> None:
        """Make rooms for what is expected next."""
        for rooms in [*self._expected]:
            rooms.make()

    def take_room(self, name: _Name, inputs: Tensors) -> LaunchRoom | None:
        """The room of a launch that was expected; the caller closes it."""
        for rooms in [*self._expected]:
            if (room := rooms.take(name, inputs)) is not None:
                return room
        return None

    @cached_property
    def _version(self) -> str:
        return f"{self.toolchain.version}-{self.device.version}"

    def build(
        self, operator: Operator, files: dict[str, str], workload: Workload
    ) -> SimulatorBuild:
        """Compile the host side; the kernel follows once a tiling tells its key."""
        return self.built(operator, files, workload, "plain")

    def built(
        self, operator: Operator, files: dict[str, str], workload: Workload, flavour: Flavour
    ) -> SimulatorBuild:
        """The same with other flags."""
        return SimulatorBuild(self, operator, operator.texts(files), workload, flavour)


class _Rooms:
    """Rooms of launches that are expected: as many at a time as one seed's launches take. Safe for
    threads."""

    def __init__(
        self, backend: SimulatorBackend, operator: Operator, launches: Sequence[Expected]
    ) -> None:
        self._backend, self._operator = backend, operator
        self._expected: dict[_Name, Expected] = {(o.case.name, o.seed): o for o in launches}
        first = {one.seed for one in launches[:1]}
        self._most = min(MOST_WAITING, sum(1 for one in launches if one.seed in first))
        self._rooms: dict[_Name, LaunchRoom] = {}
        self._lock = threading.Lock()

    def make(self) -> None:
        runner = self._backend.toolchain.machine_runner
        with self._lock:
            for name in [*self._expected][: max(0, self._most - len(self._rooms))]:
                case, _, inputs, outputs = self._expected.pop(name)
                roomy = with_room(self._operator, case, outputs)
                limits = self._backend.limits
                self._rooms[name] = LaunchRoom(runner, inputs, roomy, limits, ahead=True)

    def take(self, name: _Name, inputs: Tensors) -> LaunchRoom | None:
        with self._lock:
            self._expected.pop(name, None)  # it makes its room itself
            room = self._rooms.get(name)
            return self._rooms.pop(name) if room is not None and room.shows(inputs) else None

    def close(self) -> None:
        with self._lock:
            left, self._rooms = [*self._rooms.values()], {}
            self._expected.clear()
        for room in left:
            room.close()


class SimulatorBuild(TiledBuild):
    """An operator's host program, and its kernels as the cases ask for them."""

    def __init__(
        self,
        backend: SimulatorBackend,
        operator: Operator,
        texts: dict[str, str],
        workload: Workload,
        flavour: Flavour = "plain",
    ) -> None:
        self._backend = backend
        self._amended: dict[KernelVariant, KernelVariant] = {}
        self._built: dict[KernelVariant, _Kernels] = {}
        self._lock = threading.Lock()
        super().__init__(
            backend.toolchain,
            backend.device,
            operator,
            texts,
            workload,
            backend.make_rooms,
            flavour,
        )

    def kernel(self, variant: KernelVariant) -> Path:
        """The variant built for its vector cores, or for cube cores where it has no others."""
        return self.kernels(variant)[1]

    def kernels(self, variant: KernelVariant) -> _Kernels:
        """The variant built for the cores that it runs on: which, and one or two libraries."""
        with self._lock:
            known = self._built.get(variant)
        # Another process may have trimmed the cache.
        if known is None or not all(kernel.exists() for kernel in known[1:] if kernel):
            known = self._kernels(variant)
            with self._lock:
                self._built[variant] = known
        return known

    def _kernels(self, variant: KernelVariant) -> _Kernels:
        try:
            vector = self._kernel(variant, "vector")
        except TrialFailure as stopped:
            if not lacks_body(stopped.refusal):
                raise
            return self._cube_kernel(variant, stopped)
        architecture = self.device.architecture
        cores = cores_of(
            architecture,
            defined_symbols(vector),
            undefined_symbols(vector),
            self._read_by_kernel(),
            lambda: self._used_by_cube(variant, vector),
        )
        if cores.cubes == 0:
            return cores, vector, None
        cube = self._kernel(variant, "cube")
        return (cores, vector, cube) if cores.mixed else (cores, cube, None)

    def _read_by_kernel(self) -> list[str]:
        """The kernel's entry and what it includes: its folder may hold other chips' sources."""
        kernel = {f: t for f, t in self.texts.items() if f.startswith("op_kernel/")}
        entry = self.operator.kernel_entry
        others = layout.IncludeGraph(kernel).reachable([entry]) - {entry}
        return [kernel[entry], *(kernel[file] for file in sorted(others))]

    def _cube_kernel(self, variant: KernelVariant, stopped: TrialFailure) -> _Kernels:
        """The kernel where a vector core has no body for what it calls: the toolkit builds a kernel
        for the cores of its instructions. Raises `stopped` where it declares vector cores."""
        cube = self._kernel(variant, "cube")
        if declared_cores(defined_symbols(cube)) not in (None, CUBE):
            raise stopped
        return CUBE, cube, None

    def _used_by_cube(self, variant: KernelVariant, vector: Path) -> tuple[str, ...]:
        """Symbols that the kernel uses where it is built for a cube core; none for a vector core's
        that does not build for one."""
        try:
            return undefined_symbols(self._kernel(variant, "cube"))
        except TrialFailure:
            if not computes(undefined_symbols(vector)):
                raise
            return ()

    def _kernel(self, variant: KernelVariant, core: str) -> Path:
        """Compile for a kind of core and pass the result through the second guard, once."""
        variant = self._amended.get(variant, variant)
        try:
            kernel = self.toolchain.compile_kernel(
                self.operator,
                self.texts,
                variant,
                core,
                self._backend.make_rooms,
                flavour=self.flavour,
            )
        except TrialFailure as stopped:
            other = amended(self.operator, variant, stopped.refusal)
            if other is None:
                raise
            self._amended[variant] = other
            return self._kernel(other, core)
        if self.flavour != "plain":  # calls that are optimized away otherwise, and tables of checks
            return kernel
        found = check_symbols(
            kernel, self.toolchain.machine_runner, lambda: self._unmodified(variant)
        )
        if found:
            raise TrialFailure(Outcome.REJECTED, found)
        return kernel

    def _unmodified(self, variant: KernelVariant) -> Path | None:
        """The same variant of the original operator; None when that does not compile."""
        try:
            return self.toolchain.compile_kernel(self.operator, self.operator.texts(), variant)
        except TrialFailure:
            return None

    def host_decisions(
        self, case: WorkloadCase, inputs: Tensors | None, outputs: Tensors | None
    ) -> tuple[Decision, ...]:
        """What the host side compares, of a build to be watched; also where it refuses the case.

        Raises TrialFailure(LAUNCH_ERROR) when it does not answer.
        """
        facts, read = platform_facts(self.device), self.value_inputs
        request = host_request(self.operator, case, facts, inputs, outputs, read=read)
        path = self.host.path
        return decisions_of(self.host.watch(request), "host", lambda offsets: frames(path, offsets))

    def program(self, case: WorkloadCase, inputs: Tensors, outputs: Tensors) -> str:
        """A digest of the kernels' code and of the tiling's answer, as far as it was written."""
        answer = self.tile(case, inputs, outputs)
        cores, *kernels = self.kernels(self.variant(case, answer))
        return digest(
            [
                *(code_digest(kernel) for kernel in kernels if kernel),
                *map(str, (cores, answer.block_dim, answer.tiling_key, answer.workspace)),
                *(self._written(case, inputs, outputs, answer).hex(), str(self.initial())),
                str(self.auto_sync),
            ]
        )

    def _written(
        self, case: WorkloadCase, inputs: Tensors, outputs: Tensors, answer: TilingAnswer
    ) -> bytes:
        """The tiling data with zeros in what its author never wrote.

        Hosts fill arrays as far as cores take part; the rest is what the stack held, addresses
        among it that another process has elsewhere.
        """
        if not self.has_arrays(answer.tiling_key):
            return answer.data
        other = self.answer(case, inputs, outputs, anew=True).data
        words = [answer.data[i : i + _WORD] for i in range(0, len(answer.data), _WORD)]
        return b"".join(
            word if other[i * _WORD :].startswith(word) else bytes(len(word))
            for i, word in enumerate(words)
        )

    def run(
        self, case: WorkloadCase, inputs: Tensors, outputs: Tensors, **how: Unpack[RunOptions]
    ) -> CaseRun:
        """Tile, compile the kernel that the tiling selected unless it is there, launch."""
        seed = how.get("seed")
        outputs = with_room(self.operator, case, outputs)
        number = 1 if seed is None else seed
        number += self.flavour in CHECKED  # other bytes than at the launch that counts
        poison = POISONS[number % len(POISONS)]
        spec = self._spec(case, inputs, outputs, poison)
        for library in spec.kernels:
            expect_lines(library)
        state = self._backend.state
        constants = self._backend.device.constants | states(self.device)[state]
        if (
            self.flavour == "watched"
        ):  # what is not optimized is longer, and keeps more on its stack
            constants = {**constants, **{name: constants[name] * 32 for name in OWN_LIMITS}}
        limits, ensemble = self._backend.limits, how.get("ensemble")
        if ensemble is not None:
            spec = replace(spec, members=self._backend.members(ensemble, state))
            most = MEMBERS_SECONDS if ensemble.ranges else STATES_FACTOR * limits.seconds
            limits = replace(limits, seconds=most)
        room = self._backend.take_room((case.name, seed), inputs)
        self._backend.make_rooms()
        runner, timeline = self.toolchain.machine_runner, how.get("timeline")
        result = launch(
            runner,
            self.device,
            spec,
            inputs,
            outputs,
            limits,
            timeline,
            room,
            constants=constants,
            texts=self.texts,
        )
        decisions: tuple[Decision, ...] = ()
        if self.flavour == "watched":
            decisions = (*self.host_decisions(case, inputs, outputs), *result.decisions)
        return CaseRun(
            outputs=told(self.operator, result.outputs),
            samples_us=(result.pipes.total_cycles / self.device.clock_mhz,),
            pipes=result.pipes,
            tiling_key=spec.tiling_key,
            warnings=result.warnings,
            decisions=decisions,
            members_us={n: c / self.device.clock_mhz for n, c in result.members.items()},
        )

    def reads_behind(self, case: WorkloadCase, inputs: Tensors, outputs: Tensors) -> bool:
        """Whether the outputs hang on the bytes behind the inputs. Raises TrialFailure."""
        outputs = with_room(self.operator, case, outputs)
        spec = self._spec(case, inputs, outputs, POISONS[0])
        given = (
            launch(
                self.toolchain.machine_runner,
                self.device,
                replace(spec, behind=byte),
                inputs,
                outputs,
                self._backend.limits,
                texts=self.texts,
            )
            for byte in POISONS[:2]
        )
        first, second = ([array.tobytes() for array in arrays(one.outputs)] for one in given)
        return first != second

    def addresses(
        self, case: WorkloadCase, inputs: Tensors, outputs: Tensors, seconds: float
    ) -> Addresses | None:
        """Which bytes of its tensors the kernel's copies name; the arrays give sizes only.

        None for a kernel of cube cores. Ends after `seconds` of CPU time. Raises TrialFailure.
        """
        spec = self._spec(case, inputs, outputs, poison=0)
        if spec.cores.cubes > 0:
            return None
        sizes = sum(array.nbytes for array in arrays((*inputs, *outputs)))
        limits = replace(self._backend.limits, seconds=seconds, memory_bytes=LAUNCH_BYTES + sizes)
        constants = {**self._backend.device.constants, "limit.scalar_instructions": NO_LIMIT}
        runner = self.toolchain.machine_runner
        return asked_addresses(runner, spec, inputs, outputs, limits, constants)

    def taken_dtypes(self, case: WorkloadCase, inputs: Tensors, outputs: Tensors) -> dict[str, str]:
        """The dtypes as which the kernel takes its tensors, by the names of these, as far as it
        comes; of a build that is checked. Raises TrialFailure where nothing can be launched."""
        spec = self._spec(case, inputs, outputs, POISONS[0])
        constants = self._backend.device.constants
        runner, limits = self.toolchain.machine_runner, self._backend.limits
        found = taken_dtypes(runner, spec, inputs, outputs, limits, constants)
        names = [(f"input {i}", one.name) for i, one in enumerate(self.operator.inputs)]
        names += [(f"output {i}", one.name) for i, one in enumerate(self.operator.outputs)]
        return {name: found[place] for place, name in names if place in found}

    def _spec(
        self, case: WorkloadCase, inputs: Tensors, outputs: Tensors, poison: int
    ) -> LaunchSpec:
        """What the tiling decides of a case, and the kernel of it. Raises TrialFailure."""
        answer = self.tile(case, inputs, outputs[: len(self.operator.outputs)])
        cores, kernel, cube_kernel = self.kernels(self.variant(case, answer))
        return LaunchSpec(
            kernel=kernel,
            cores=cores,
            cube_kernel=cube_kernel,
            block_dim=answer.block_dim,
            tiling_key=answer.tiling_key,
            tiling=answer.data,
            workspace=sum(answer.workspace),
            auto_sync=self.auto_sync,
            aliases=self.aliases(),
            initial=filled(self.operator, outputs) | self.initial(),
            poison=poison,
            elsewhere=self.flavour == "pattern",
            over_read=self.over_read,
            true_offsets=self.toolchain.door.true_offsets,
            checked=self.flavour in CHECKED,
            warnings=answer.warnings,
        )
