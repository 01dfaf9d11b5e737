"""Numbers that are too narrow for tensors of gibibytes, of which only addresses are asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from ci.backend.sim import SimulatorBuild
from ci.judge.check.findings import Findings
from ci.judge.check.host_state import as_inferred
from ci.judge.gate_subject import Standard
from ci.judge.varied.huge import Huge, huge_cases
from ci.judge.varied_sweep import WIDE, Taker, known_of
from ci.model.amount import amount
from ci.model.errors import CaseDeclined, CaseTooLarge, InputError, TrialFailure
from ci.model.launch import Tensors, arrays
from ci.model.trial import MachineWarning, Outcome
from ci.model.workload import WorkloadCase
from ci.simulator.launch import Addresses, Cover

SECONDS: Final = 10.0
"""CPU time of a launch: what needs more is not asked."""

MOST_ELEMENTS: Final = 5 << 29
"""More of them hardly anybody has in one tensor: a count of 32 bits without a sign is good, one
with a sign is not, also where the last core begins."""

MOST_LINES: Final = 3
"""Lines that are named for one case."""

NARROW: Final = ("narrowed_field", "wrapped", "narrow_offset", "narrowed", "cut")
"""Numbers that become others, as the machine tells them."""


def far(
    standard: Standard, build: SimulatorBuild, late: Callable[[], bool], findings: Findings
) -> bool:
    """Collect the numbers that do not fit where the workload's cases are so long that a tensor has
    gibibytes, and the kernel then fails or leaves bytes out that it does not leave out of the
    workload's cases. `build` is one to be checked. False where time was up before the end."""
    plain = standard.references.unmodified
    if not isinstance(plain, SimulatorBuild) or plain.value_inputs:
        return True
    if standard.operator.tells_output_shape:
        return True
    known = known_of(standard, Taker(standard, WIDE))
    for huge in huge_cases(known, standard.references, MOST_ELEMENTS):
        if late():
            return False
        if as_inferred(standard, huge.case, huge.outputs) is False:
            continue
        said = _goes_wrong(standard, plain, build, huge)
        if not said:
            continue
        largest = max(one.nbytes for one in arrays((*huge.inputs, *huge.outputs)))
        where = f"With a tensor of {largest / 2**30:.1f} GiB the kernel {said}."
        for cause in _narrow(build, huge):
            place = cause.place.model_copy(update={"case": huge.case.name})
            findings.made_from[huge.case.name] = huge.near.name
            findings.far(cause, place, f"{cause.text} {where}")
    return True


def _goes_wrong(
    standard: Standard, build: SimulatorBuild, checked: SimulatorBuild, huge: Huge
) -> str:
    """How the kernel fails, in words; '' where it does not, or where nothing says that it should
    not."""
    near = standard.references.of(huge.near, standard.workload.seeds[0])
    before = _addresses(build, huge.near, near.inputs, near.outputs)
    now = _addresses(build, huge.case, huge.inputs, huge.outputs)
    if not isinstance(before, Addresses):
        return ""
    if isinstance(now, TrialFailure):
        if now.outcome is Outcome.TIMEOUT:  # it may be slow alone
            again = _addresses(checked, huge.case, huge.inputs, huge.outputs)
            ended = isinstance(again, TrialFailure) and again.outcome is Outcome.LAUNCH_ERROR
            return "does not end" if ended else ""
        told = now.outcome in (Outcome.MEMORY_ERROR, Outcome.LAUNCH_ERROR)
        told = told and bool(now.refusal.place.source)
        return f"fails ({now.refusal.sentence.rstrip('.')})" if told else ""
    pairs = zip(before.covers, now.covers if now else (), strict=False)
    return next((said for one, other in pairs if (said := _left_out(one, other))), "")


def _addresses(
    build: SimulatorBuild, case: WorkloadCase, inputs: Tensors, outputs: Tensors
) -> Addresses | TrialFailure | None:
    try:
        return build.addresses(case, inputs, outputs, SECONDS)
    except (CaseDeclined, CaseTooLarge, InputError):
        return None
    except TrialFailure as failure:
        return failure


def _left_out(near: Cover, now: Cover) -> str:
    if near.written == near.size > 0 and now.written < now.size:
        left = amount(now.size - now.written, "byte")
        return f"leaves {left} of {now.name} unwritten"
    if near.read == near.size > 0 and now.read < now.size:
        return f"leaves {amount(now.size - now.read, 'byte')} of {now.name} unread"
    return ""


def _narrow(build: SimulatorBuild, huge: Huge) -> list[MachineWarning]:
    """What becomes another number on the way, each line once."""
    found = _addresses(build, huge.case, huge.inputs, huge.outputs)
    seen: Iterable[MachineWarning] = found.warnings if found is not None else ()
    narrow = {one.place.source: one for one in seen if one.kind in NARROW and one.place.source}
    return [*narrow.values()][:MOST_LINES]
