"""What backends share that run the host tiling on this computer: which kernel, with what."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from weakref import finalize

from ci.backend.base import Build
from ci.host.host_room import HostRooms
from ci.host.host_tiling import HostCrash, HostProgram, OpDescription, TilingAnswer
from ci.host.kernel_unit import KernelVariant, formats_of, has_plain_entry, kernel_function
from ci.host.source_tree import neighbours
from ci.host.survey import Tiling
from ci.host.template_key import cpp_arguments, declared_kinds
from ci.host.tiling_layout import TilingStruct, declarations, pattern
from ci.host.tiling_request import HostRequest, platform_facts
from ci.model.amount import amount
from ci.model.columns import case_column, case_dtypes, output_dtypes
from ci.model.errors import CaseTooLarge, TrialFailure
from ci.model.launch import Tensors
from ci.model.operator import Operator
from ci.model.trial import MachineWarning, Outcome, Place, Refusal
from ci.model.workload import Workload, WorkloadCase
from ci.simulator.source_lines import operator_lines
from ci.simulator.toolchain import CHECKED, Flavour, Toolchain
from ci.system.sandbox import nothing
from rules.devices import Device

MOST_BLOCKS = 65535
"""Largest block dim that a launch takes."""

MOST_WORKSPACE = 4 << 30
"""Largest workspace in bytes that a launch takes."""

UNSET_BYTE = 0xFE
"""What tiling data hold that the host side has not set, in builds to be checked: GCC's pattern of
variables that nothing sets."""

NO_VALUES = (
    "Before, it asked for the values of input {}, which the definition does not mark with"
    " ValueDepend: it got a null pointer."
)

MOST_AHEAD = 4
"""Sandboxes for tilings that are made while the host side is compiled."""


class TiledBuild(Build):
    """An operator whose host program is built; kernels follow as the cases' tilings ask."""

    def __init__(
        self,
        toolchain: Toolchain,
        device: Device,
        operator: Operator,
        texts: dict[str, str],
        workload: Workload,
        meanwhile: Callable[[], object] = nothing,
        flavour: Flavour = "plain",
    ) -> None:
        """`meanwhile` is called while the host side is compiled, where it has to be."""
        self.flavour = flavour
        self.toolchain = toolchain
        self.device = device
        self.operator = operator
        self.texts = texts
        self.auto_sync = operator.auto_sync if workload.auto_sync is None else workload.auto_sync
        self._initial = workload.initial
        self.over_read = workload.over_read
        rooms = HostRooms()
        finalize(self, rooms.close)
        tilings = min(MOST_AHEAD, len(workload.cases))

        def ready() -> None:
            rooms.make(tilings)
            meanwhile()

        program = toolchain.compile_host(operator, texts, ready, flavour=flavour)
        self._host = _host_program(program)
        self._host.use(rooms)
        self._description = _describe(program, operator, device.architecture.definition_word)

    @property
    def host(self) -> HostProgram:
        """The built host side."""
        return self._host

    @property
    def columns(self) -> Mapping[str, tuple[int, int]]:
        """Lengths of each tensor's lists in the definition; see `OpDescription`."""
        return self._description.columns

    def watched_host(self) -> HostProgram:
        """The host side as it is built to be watched. Raises TrialFailure."""
        program = self.toolchain.compile_host(self.operator, self.texts, flavour="watched")
        return _host_program(program)

    @property
    def value_inputs(self) -> frozenset[str]:
        """Inputs whose values the host side reads, by name."""
        return frozenset(self._description.value_inputs)

    @abstractmethod
    def kernel(self, variant: KernelVariant) -> Path:
        """The built kernel of a variant. Raises TrialFailure(COMPILE_ERROR or REJECTED)."""

    def answer(
        self, case: WorkloadCase, inputs: Tensors, outputs: Tensors, *, anew: bool = False
    ) -> TilingAnswer:
        """What the host tiling says, whatever that is. Raises TrialFailure(LAUNCH_ERROR)."""
        facts, read = platform_facts(self.device), self.value_inputs
        try:
            return self._host.tile(
                self.operator,
                case,
                facts,
                inputs,
                outputs,
                read=read,
                anew=anew,
                filling=UNSET_BYTE if self.flavour in CHECKED else 0,
            )
        except HostCrash as crash:
            raise self._placed(crash) from None

    def crash(self, request: HostRequest) -> TrialFailure | None:
        """The signal that ends the host side of a request, with its line; None where none does."""
        try:
            self._host.watch(request)
        except HostCrash as crash:
            return self._placed(crash)
        except TrialFailure:
            return None
        return None

    def odd(self, request: HostRequest) -> tuple[MachineWarning, ...]:
        """What the host side asks of a request that is odd, such as an attribute as another type;
        also where it refuses."""
        return self._host.odd(request)

    def _placed(self, crash: HostCrash) -> TrialFailure:
        """The failure with the operator's innermost line."""
        lines = operator_lines(self._host.path, crash.frames)
        file, line = next(((file, line) for file, line in lines if file), ("", 0))
        found: dict[str, object] = {"place": Place(file=file, line=line)}
        if crash.without is not None and crash.without < len(self.operator.inputs):
            name = self.operator.inputs[crash.without].name
            found["sentence"] = f"{crash.refusal.sentence} {NO_VALUES.format(name)}"
        refusal = crash.refusal.model_copy(update=found)
        return TrialFailure(crash.outcome, refusal)

    def tile(self, case: WorkloadCase, inputs: Tensors, outputs: Tensors) -> TilingAnswer:
        """Run the host tiling. Raises TrialFailure(LAUNCH_ERROR), and CaseTooLarge where it asks
        for more workspace than a launch has."""
        answer = self.answer(case, inputs, outputs)
        if not 0 <= answer.block_dim <= MOST_BLOCKS:
            sentence = f"The host tiling asks for a block dim of {answer.block_dim}."
            raise TrialFailure(Outcome.LAUNCH_ERROR, Refusal(sentence=sentence))
        size, most = sum(answer.workspace), MOST_WORKSPACE >> 30
        if 0 <= size <= MOST_WORKSPACE:
            return answer
        sentence = (
            f"The host tiling asks for {amount(size, 'byte')} of workspace; a launch has {most} GiB"
            " here."
        )
        fits = 0 <= size <= self.device.number("hbm.bytes")
        kind = CaseTooLarge if fits else TrialFailure
        raise kind(Outcome.LAUNCH_ERROR, Refusal(sentence=sentence))

    def pattern(self, said: Tiling) -> str:
        """How the tiling data of an answer cut the work, without the numbers."""
        return pattern(self._description.struct_for(said.tiling_key), said.pattern)

    def has_arrays(self, tiling_key: int) -> bool:
        """Whether the tiling data of a key hold arrays, which need not be filled."""
        struct = self._description.struct_for(tiling_key)
        return struct is None or any(field.count for field in struct.fields)

    def fields_apart(self, one: TilingAnswer, other: TilingAnswer) -> tuple[str, ...] | None:
        """Fields of the tiling data in which two answers differ, arrays left out, which need not be
        filled; None where the data's layout is not known."""
        struct = self._description.struct_for(one.tiling_key)
        if struct is None:
            return None
        return tuple(
            field.name
            for field in struct.fields
            for span in [slice(field.offset, field.offset + field.bytes)]
            if not field.count and one.data[span] != other.data[span]
        )

    def variant(self, case: WorkloadCase, answer: TilingAnswer) -> KernelVariant:
        """What the kernel of a case is specialised for: its dtypes and the tiling's key."""
        operator = self.operator
        given = case_dtypes(case)
        column = case_column(operator, case)
        declared = [
            t.dtypes[min(column, len(t.dtypes) - 1)] if t.dtypes else "float32"
            for t in operator.inputs
        ]
        own = [d or declared[i] for i, d in enumerate(given)] + declared[len(given) :]
        struct = self._description.struct_for(answer.tiling_key)
        return KernelVariant(
            dtypes=(*own, *output_dtypes(operator, case)),
            formats=formats_of(operator, column),
            tiling_key=answer.tiling_key,
            tiling_declarations=self._declarations(struct),
            tiling_struct=struct.name if struct else "",
            template_arguments=self._template_arguments(answer),
        )

    def _template_arguments(self, answer: TilingAnswer) -> tuple[str, ...]:
        chosen, key = answer.template_arguments, answer.tiling_key
        selected = answer.template_selected or self._has_plain_kernel
        if chosen is None and selected:
            # A tiling that sets the key itself: it is the one argument's value.
            ones = [kinds for kinds in declared_kinds(self._read) if len(kinds) == 1]
            if not ones or self._has_plain_kernel:
                return ()
            chosen = ((ones[0][0], key),)
        if not selected and chosen is None:
            refusal = Refusal(
                sentence=f"No arguments of ASCENDC_TPL_ARGS_DECL have the tiling key {key}."
            )
        elif not selected:
            values = ", ".join(str(value) for _, value in chosen or ())
            refusal = Refusal(
                sentence=f"No ASCENDC_TPL_ARGS_SEL lists the template arguments {values}, which the"
                f" tiling chose by the key {key}: the build makes no kernel for them."
            )
        else:
            try:
                return cpp_arguments(chosen or ())
            except ValueError as unknown:
                refusal = Refusal(sentence=f"The tiling key {key} is unusable: {unknown}.")
        raise TrialFailure(Outcome.COMPILE_ERROR, refusal)

    @cached_property
    def _read(self) -> list[str]:
        """The operator's sources, and those around it that they include."""
        return [*self.texts.values(), *neighbours(self.operator, self.texts).values()]

    @cached_property
    def _has_plain_kernel(self) -> bool:
        """Whether the kernel is no template, for some chip."""
        entry = self.texts[self.operator.kernel_entry]
        return has_plain_entry(kernel_function(self.operator, entry).name, entry)

    def aliases(self) -> dict[int, int]:
        """An output that bears an input's name shares its memory: the operator works in place."""
        names = [spec.name for spec in self.operator.inputs]
        return {
            index: names.index(spec.name)
            for index, spec in enumerate(self.operator.outputs)
            if spec.name in names
        }

    def initial(self) -> dict[int, float]:
        """Outputs that the framework fills before the launch, by index."""
        names = [spec.name for spec in self.operator.outputs]
        values = self._description.init_values | self._initial
        return {names.index(n): v for n, v in values.items() if n in names}

    def _declarations(self, used: TilingStruct | None) -> str:
        try:
            others = [s for _, s in self._description.tilings]
            structs = [used, *others] if used else others
            return declarations(structs, self.toolchain.door.library_structs)
        except ValueError as problem:
            raise TrialFailure(
                Outcome.COMPILE_ERROR, Refusal(sentence=f"The tiling data is unusable: {problem}.")
            ) from problem


@lru_cache(maxsize=256)
def _host_program(program: Path) -> HostProgram:
    """A host program with what it has answered; equal programs have equal paths."""
    return HostProgram(program)


@lru_cache(maxsize=256)
def _describe(program: Path, operator: Operator, chip: str) -> OpDescription:
    """What a host program says of itself."""
    return _host_program(program).describe(operator, chip)
