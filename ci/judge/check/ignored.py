"""Attributes and tensors of lists that a result should hang on and does not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from ci.backend.tiled import TiledBuild
from ci.host.host_tiling import TilingAnswer
from ci.judge.check.findings import Findings
from ci.judge.check.host_state import first_line
from ci.judge.gate_subject import Standard
from ci.judge.launch_record import Launched, digest_of
from ci.model.errors import InputError, TrialFailure
from ci.model.trial import Place
from ci.model.workload import Entry, WorkloadCase


def ignored(
    standard: Standard,
    case: WorkloadCase,
    found: Launched | TrialFailure,
    others: Iterable[WorkloadCase],
    findings: Findings,
) -> None:
    """Collect the attribute that changes nothing, where a `case` whose attributes are varied fails
    or gives wrong outputs, and is tiled as one of the `others`, or gives the outputs of that."""
    build, seed = standard.references.unmodified, standard.workload.seeds[0]
    unlike = (one for one in others if one.inputs == case.inputs and one.attrs != case.attrs)
    before = next(unlike, None)
    if before is None or not isinstance(build, TiledBuild):
        return
    names = [spec.name for spec in standard.operator.attrs]
    apart = [name for name in names if case.attrs.get(name) != before.attrs.get(name)]
    unchanged = case.model_copy(update={"attrs": before.attrs})
    try:
        right = standard.references.of(case, seed)
        answers = [build.answer(c, right.inputs, right.outputs) for c in (case, unchanged)]
        alike = _alike(*answers)
        if isinstance(found, Launched):
            again = build.run(unchanged, right.inputs, right.outputs, seed=seed)
            alike = digest_of(again.outputs) == found.digest
        if not apart or not alike:
            return
    except (InputError, TrialFailure):
        return
    name = apart[0]
    values = f"{name}={case.attrs.get(name)} and {name}={before.attrs.get(name)}"
    if _alike(*answers):
        same = "outputs are" if isinstance(found, Launched) else "tiling is"
        declared = first_line(build.texts, re.compile(rf'\bAttr\s*\(\s*"{re.escape(name)}"'))
        place = asked(answers[0], "attribute", names.index(name)) or declared
        text = (
            f"The {same} the same with {values}: the host side gives nothing of it to the kernel."
        )
    else:
        place, fields = Place(), build.fields_apart(*answers) or ()
        for field in map(re.escape, fields[:1]):
            setter = re.compile(rf"\bset_{field}\s*\(|\b{field}\s*=(?!=)")
            place = first_line(build.texts, setter)
        of_it = " and ".join(fields) or "something"
        text = (
            f"The outputs are the same with {values}, though the tiling data differ in {of_it}: the"
            " kernel makes nothing of it."
        )
    place = place.model_copy(update={"case": case.name})
    findings.together("ignored", place, text, "attribute")


def only_first(
    standard: Standard, case: WorkloadCase, findings: Findings, family: str = ""
) -> None:
    """Collect the list of which the first tensor alone decides the tiling, where a `case` with
    tensors of several shapes in a list fails or gives wrong outputs."""
    build, seed = standard.references.unmodified, standard.workload.seeds[0]
    if not isinstance(build, TiledBuild):
        return
    for index, start in _mixed(case):
        tensors = case.inputs[index]
        assert isinstance(tensors, tuple)
        inputs = (*case.inputs[:index], (tensors[0],) * len(tensors), *case.inputs[index + 1 :])
        name = f"{case.name} alike"
        alike = case.model_copy(update={"name": name, "inputs": inputs, "outputs": ()})
        try:
            answers = [
                build.answer(one, right.inputs, right.outputs)
                for one in (case, alike)
                for right in (standard.references.of(one, seed),)
            ]
        except (InputError, TrialFailure):
            continue
        place = asked(answers[0], "tensor", start)
        if place is not None and _alike(*answers):
            of = standard.operator.inputs[index].name
            findings.together(
                "only_first",
                place.model_copy(update={"case": case.name}),
                f"The tiling is the same where all tensors of {of} have the shape of the first: the"
                " host side makes nothing of the others' shapes.",
                family,
            )


def _mixed(case: WorkloadCase) -> Iterator[tuple[int, int]]:
    """The inputs that are lists of tensors of several shapes, each with the number of its first."""
    start = 0
    for index, entry in enumerate(case.inputs):
        several: tuple[Entry, ...] = entry if isinstance(entry, tuple) else (entry,)
        if len({one.shape for one in several if not isinstance(one, tuple)}) > 1:
            yield index, start
        start += sum(isinstance(one, tuple) or one.present for one in several)


def _alike(first: TilingAnswer, second: TilingAnswer) -> bool:
    return (first.data, first.tiling_key) == (second.data, second.tiling_key)


def asked(answer: TilingAnswer, what: Literal["attribute", "tensor"], number: int) -> Place | None:
    """The last line that asks for it: behind the inference comes the tiling."""
    places = [one.place for one in answer.asked if (one.what, one.number) == (what, number)]
    return places[-1] if places else None
