"""Kernels whose blocks wait for each other: whether all of them run at once, whatever is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ci.backend.sim import SimulatorBuild
from ci.host.host_tiling import TilingAnswer
from ci.host.tiling_request import HostRequest, platform_facts
from ci.judge.check.findings import Findings
from ci.judge.check.host_crashes import askable
from ci.model.amount import amount
from ci.model.errors import TrialFailure
from ci.model.trial import MachineWarning, Place
from ci.model.workload import WorkloadCase
from rules.devices import device_names, load_device


@dataclass
class Meetings:
    """The places where blocks met, by the tiling key of the launch."""

    build: SimulatorBuild
    findings: Findings
    _places: dict[int, tuple[Place, str, str]] = field(default_factory=dict)
    """Place, call, and the fact that says how many blocks run at once."""

    def note(self, case: WorkloadCase, answer: TilingAnswer, met: MachineWarning) -> None:
        """Keep where a launch met, which is a finding where the host side does not say so."""
        cores, *_ = self.build.kernels(self.build.variant(case, answer))
        kind = "cores.aic" if cores.cubes else "cores.aiv"
        self._places.setdefault(answer.tiling_key, (met.place, met.text, kind))
        if answer.schedule_mode == 0:
            self.findings.told(
                "schedule_mode",
                met.place.model_copy(update={"case": case.name}),
                f"{met.text} waits for all {amount(answer.block_dim, 'block')}, and the"
                " host side does not"
                " ask that they start together: with other streams at work, some of them may wait"
                " for cores that never get free.",
            )

    def ask(self, asked: Mapping[str, HostRequest]) -> None:
        """Ask for other lengths and chips: more blocks than cores never end."""
        if not self._places:
            return
        architecture = self.build.device.architecture
        chips = [load_device(name) for name in device_names()]
        facts = [platform_facts(d) for d in chips if d.architecture == architecture]
        questions = askable(self.build.operator, [*asked.items()], facts)
        try:
            answers = self.build.host.answers([one.request for one in questions])
        except TrialFailure:  # a finding of its own
            return
        for question, answer in zip(questions, answers, strict=True):
            said = answer.tiling
            if said is None or said.status != "ok" or said.tiling_key not in self._places:
                continue
            place, call, kind = self._places[said.tiling_key]
            cores = int(question.request.facts[kind])
            if said.block_dim > cores:
                self.findings.told(
                    "many_blocks",
                    place.model_copy(update={"case": question.label}),
                    f"For {question.label} the host side asks for"
                    f" {amount(said.block_dim, 'block')}, and"
                    f" {call} waits for all of them: {cores} run at once, so that it never ends.",
                )
                break
