"""Addresses: on tensors of gibibytes the candidate asks for the bytes that the operator did."""

from __future__ import annotations

from functools import partial

from ci.backend.sim import SimulatorBuild
from ci.judge.gate_subject import Subject
from ci.judge.gates.base import Gate
from ci.judge.varied.huge import Huge, huge_cases
from ci.judge.varied_sweep import WIDE, Taker, known_of
from ci.model.amount import amount
from ci.model.errors import InputError, TrialFailure
from ci.model.trial import Outcome, Place
from ci.simulator.launch import Cover

SECONDS = 40.0
"""CPU time of the unmodified operator on one case."""

SLACK = 3.0
"""The candidate may take so many times as long to be simulated: its tiles may be smaller."""


class AddressesGate(Gate):
    """Runs tiling and kernel on tensors of more than 2 and 8 GiB, without their data.

    A number of 16, 24 or 32 bits wraps there, and a limit that somebody set is passed. The bytes
    that the copies name are compared with those of the unmodified operator, where that covers its
    outputs.
    """

    name = "addresses"
    phase = "confirm"

    def check(self, subject: Subject) -> TrialFailure | None:
        """Refuses the first case in which it writes or reads less, or elsewhere."""
        standard = subject.standard
        build, before = subject.build(), standard.references.unmodified
        if not (isinstance(build, SimulatorBuild) and isinstance(before, SimulatorBuild)):
            return None
        if not standard.changed(subject.candidate.files) or before.value_inputs:
            return None
        if standard.operator.tells_output_shape:
            return None
        taker = Taker(standard, WIDE)
        taker.cover_regimes()
        known = known_of(standard, taker)
        for huge in standard.baseline.huge(lambda: list(huge_cases(known, standard.references))):
            right = standard.baseline.cover(huge.case, partial(_cover, before, huge))
            if right is None:
                continue
            failure = self._compare(huge, right, build)
            if failure is not None:
                return failure
        return None

    def _compare(
        self, huge: Huge, right: tuple[Cover, ...], build: SimulatorBuild
    ) -> TrialFailure | None:
        place = Place(case=huge.case.name)
        try:
            now = build.addresses(huge.case, huge.inputs, huge.outputs, SECONDS * SLACK)
        except TrialFailure as failure:
            cause = failure.refusal
            return self.refuse(
                failure.outcome,
                f"On a tensor of gibibytes it fails ({failure.outcome.value}), where the original "
                f"operator does not: {cause.sentence}",
                place=cause.place if cause.place.file else place,
                evidence="addresses",
            )
        for one, other in zip(right, now.covers if now else (), strict=False):
            said = _difference(one, other)
            if said:
                return self.refuse(
                    Outcome.REJECTED,
                    f"On a tensor of gibibytes it {said}: a number is too narrow, or a limit is "
                    "passed.",
                    place=place,
                    evidence="addresses",
                )
        return None


def _cover(build: SimulatorBuild, huge: Huge) -> tuple[Cover, ...] | None:
    """What the unmodified operator asks for; None where it fails or leaves part of an output."""
    try:
        found = build.addresses(huge.case, huge.inputs, huge.outputs, SECONDS)
    except (TrialFailure, InputError):
        return None
    if found is None or any(0 < one.written < one.size for one in found.covers):
        return None
    return found.covers


def _difference(right: Cover, now: Cover) -> str:
    if (now.written, now.digest) != (right.written, right.digest):
        return (
            f"writes {amount(now.written, 'byte')} of {right.name}, where the operator writes"
            f" {right.written}"
        )
    if right.read == right.size and now.read != right.read:
        return f"reads {now.read} of the {amount(right.size, 'byte')} of {right.name}"
    return ""
