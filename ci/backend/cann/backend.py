"""The backends of a CANN toolkit: a device through aclnn, a device directly, the simulator.

State: written from the documentation of the toolkit and of the repositories. Everything up to the
device is tested against stand-ins of its programs; nothing has yet run on an NPU
(docs/hardware.md).
"""

from __future__ import annotations

import platform
import tempfile
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias, Unpack

from ci.backend.base import Backend, Build, RunOptions
from ci.backend.cann.aclnn import (
    arguments_of,
    caller_unit,
    compile_caller,
    find_function,
    write_call,
)
from ci.backend.cann.direct import SOURCES, DirectBuild
from ci.backend.cann.package import Packages
from ci.backend.cann.site import DeviceSite, Program, SimulatorSite, Site
from ci.backend.cann.toolkit import find_device, find_toolkit
from ci.model.errors import EnvironmentProblem, InputError, TrialFailure
from ci.model.launch import CaseRun, Sample, Tensors
from ci.model.operator import Operator
from ci.model.trial import Fingerprint, Outcome
from ci.model.workload import Workload, WorkloadCase
from ci.simulator.launch import read_outputs
from ci.system.candidate_compiler import COMPILE_LIMITS, compile_evidence
from ci.system.sandbox import run
from rules.devices import load_device

Way: TypeAlias = Literal["aclnn", "direct"]


class CannBackend(Backend):
    """Runs on the NPU that is leased to this process."""

    scatters = True

    def __init__(self, device: str, way: Way = "aclnn") -> None:
        """`device` is the chip asked for. Raises EnvironmentProblem and InputError."""
        toolkit = find_toolkit()
        self.npu = find_device()
        if device != self.npu.chip:
            raise InputError(
                f"This machine has an Ascend {self.npu.chip}, not the {device} asked for."
            )
        self.site: Site = DeviceSite(toolkit, load_device(device), self.npu.number)
        self.way = way

    def fingerprint(self) -> Fingerprint:
        """The chip that the driver reports, with the versions of driver and toolkit."""
        toolkit = self.site.toolkit
        version = f"driver {toolkit.driver}, CANN {toolkit.cann}, {self.way}"
        return Fingerprint(backend="cann", device=self.npu.chip, version=version, simulated=False)

    @property
    def unit(self) -> str:
        """The host with the device's number: two chips of one kind differ."""
        return f"{platform.node()}:{self.npu.number}, {super().unit}"

    def check_fit(self) -> None:
        """Asks the driver for the device's health again."""
        find_device()

    @cached_property
    def _packages(self) -> Packages:
        return Packages(self.site.toolkit, self.site.model.architecture.definition_word)

    def build(self, operator: Operator, files: dict[str, str], workload: Workload) -> Build:
        """Build with the repository's build.sh, or the host side alone and the kernel
        when it is run."""
        if operator.launch is not None:
            raise InputError(
                f"{operator.name} is a kernel that a program launches, which runs on the simulator"
                " only so far."
            )
        if self.way == "direct":
            return DirectBuild(self.site, operator, operator.texts(files), workload)
        return PackageBuild(self.site, self._packages, operator, files)


class CamodelBackend(CannBackend):
    """Runs on the toolkit's simulator of a chip (CAMODEL), with no device at hand."""

    scatters = False

    def __init__(self, device: str) -> None:
        """Raises EnvironmentProblem when the toolkit has no simulator of the chip."""
        toolkit = find_toolkit()
        self.site = SimulatorSite(toolkit, load_device(device), 0)
        self.way = "direct"
        self._chip = device
        libraries = toolkit.home / "tools/simulator" / f"Ascend{device}"
        if not libraries.is_dir():
            raise EnvironmentProblem(
                f"The CANN toolkit in {toolkit.home} has no simulator of the {device}:"
                f" {libraries} is missing."
            )

    def fingerprint(self) -> Fingerprint:
        """The chip that is simulated, with the toolkit's version."""
        version = f"CANN {self.site.toolkit.cann}"
        return Fingerprint(backend="camodel", device=self._chip, version=version, simulated=True)

    def check_fit(self) -> None:
        """There is no device."""

    @property
    def unit(self) -> str:
        """The fingerprint: every host gives the same."""
        return f"{self._chip}, {self.fingerprint().version}"


class PackageBuild(Build):
    """An operator in an installed package, with the program that calls it."""

    def __init__(
        self, site: Site, packages: Packages, operator: Operator, files: dict[str, str]
    ) -> None:
        if operator.tells_output_shape:
            raise InputError(
                f"The kernel of {operator.op_type} tells the shape of an output, which only the"
                " cann-direct backend reads."
            )
        self._site = site
        self._operator = operator
        self._package = packages.build(operator, files)
        self._function = find_function(self._package, operator)
        self._arguments = arguments_of(self._function, operator)
        self._folder = tempfile.TemporaryDirectory(prefix="ascendopt-cann-")
        self._caller = self._compile(Path(self._folder.name).resolve())

    def run(
        self, case: WorkloadCase, inputs: Tensors, outputs: Tensors, **how: Unpack[RunOptions]
    ) -> CaseRun:
        """Call under the profiler; a device gives no timeline of instructions."""
        with self._site.room() as folder:
            program, files = self._program(folder, case, inputs, outputs)
            measured = self._site.profiled(program, how.get("timeline"))
            found = read_outputs(files, outputs)
        return CaseRun(found, measured.samples_us, measured.pipes, tiling_key=0)

    def sample(
        self, case: WorkloadCase, inputs: Tensors, outputs: Tensors, **how: Unpack[RunOptions]
    ) -> Sample:
        """The median of a few calls in a process of its own."""
        with self._site.room() as folder:
            program, _ = self._program(folder, case, inputs, outputs)
            return self._site.sampled(program)

    def _program(
        self, folder: Path, case: WorkloadCase, inputs: Tensors, outputs: Tensors
    ) -> tuple[Program, list[list[Path]]]:
        self._arguments.check(self._operator, case, inputs)
        request, files = write_call(
            folder, self._operator, case, inputs, outputs,
            device=self._site.device, launches=self._site.launches,
        )  # fmt: skip
        package = self._package.vendor
        program = Program(
            folder,
            self._operator.op_type,
            (str(self._caller), str(request)),
            environment=(f"ASCEND_CUSTOM_OPP_PATH={package}",),
            readable=(package,),
        )
        return program, files

    def _compile(self, folder: Path) -> Path:
        unit = caller_unit(self._function, self._operator)
        (folder / "caller.cpp").write_text(unit, encoding="utf-8")
        toolkit = self._site.toolkit
        done = run(
            compile_caller(toolkit.home, self._package, SOURCES),
            cwd=folder,
            readable=[*toolkit.readable, SOURCES, self._package.vendor],
            writable=[folder],
            limits=COMPILE_LIMITS,
        )
        if not done.ok:
            raise TrialFailure(Outcome.COMPILE_ERROR, compile_evidence(done, "call"))
        return folder / "caller"
