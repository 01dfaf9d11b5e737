"""What the host side says of itself: definitions that do not fit together, memory between calls,
numbers that nothing set, and inference functions that tell other outputs than there are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Final, NamedTuple

from ci.backend.base import Build
from ci.backend.tiled import TiledBuild
from ci.host.survey import Inference
from ci.host.tiling_request import HostRequest, host_request, platform_facts
from ci.judge.check.findings import Findings
from ci.judge.check.host_crashes import crashes, inferred
from ci.judge.gate_subject import Standard
from ci.judge.host_regimes import requests_of
from ci.judge.reference import Reference, declared_outputs
from ci.model.amount import amount
from ci.model.columns import output_dtypes
from ci.model.dtypes import BY_NAME
from ci.model.errors import InputError, TrialFailure
from ci.model.launch import Tensor, Tensors, arrays
from ci.model.operator import Operator
from ci.model.trial import Place
from ci.model.workload import TensorCase, Workload, WorkloadCase

_INFERENCE: Final = {
    "InferShape": re.compile(r"\bInferShapeContext\s*\*"),
    "InferDataType": re.compile(r"\bInferDataTypeContext\s*\*"),
}
"""How the functions are defined whose registered names are these."""


def ask_again(
    standard: Standard,
    own: Sequence[WorkloadCase],
    varied: Sequence[WorkloadCase],
    further: Sequence[WorkloadCase],
    findings: Findings,
) -> None:
    """Collect what differs between the inference functions and the outputs of the workload's `own`
    cases and of `varied` ones that are right, between the lists of the definition, and what ends
    the host side's process, of `further` cases, too."""
    build, seed = standard.references.unmodified, standard.workload.seeds[0]
    if not isinstance(build, TiledBuild):
        return
    facts, read = platform_facts(build.device), build.value_inputs
    references, operator = standard.references, standard.operator
    # Where there is none, the launch that would have made it failed, a finding of its own.
    right = [(case, known) for case in (*own, *varied) if (known := references.known(case, seed))]
    ours = sum(case in own for case, _ in right)
    asked = [
        (case.name, host_request(operator, case, facts, one.inputs, one.outputs, read=read))
        for case, one in right
    ]
    try:
        answers = build.host.answers([request for _, request in asked])
    except TrialFailure:  # what it fails at is a finding of its own
        return
    for (case, one), answer in zip(right, answers, strict=True):
        if answer.inference is not None:
            outputs = _written(operator, standard.workload, one.outputs)
            for function, said in _contradictions(operator, case, outputs, answer.inference):
                place = first_line(build.texts, _INFERENCE[function])
                place = place.model_copy(update={"case": case.name})
                doubt = _doubt(standard, build, case, outputs, function)
                findings.told("inference", place, said, doubt)
    if (name := _uneven(build.columns)) is not None:
        side, _, tensor = name.partition(" ")
        declared = re.compile(rf'\b{side.capitalize()}\s*\(\s*"{re.escape(tensor)}"')
        dtypes, formats = build.columns[name]
        findings.told(
            "definition",
            first_line(build.texts, declared),
            f"The {name} has {amount(dtypes, 'dtype')} and {amount(formats, 'format')},"
            " other tensors have another"
            " number: which of them belong together is not defined.",
        )
    for name, request in asked[:ours]:
        odd = build.odd(inferred(request))
        findings.warnings([one for one in odd if one.kind == "attribute_type"], name)
    others = [
        (case.name, request)
        for case, request in zip(further, requests_of(standard, further), strict=True)
        if request is not None
    ]
    crashes(build, operator, asked[:ours], [*asked[ours:], *others], findings)


def _doubt(
    standard: Standard, build: TiledBuild, case: WorkloadCase, outputs: Tensors, function: str
) -> str:
    """Why an inference function may be right to contradict the outputs of a case that no golden
    function takes: the host side reads values that were drawn, or another value of an attribute
    has it give the dtypes that were tried. '' where nothing is in doubt."""
    if standard.workload.golden:
        return ""
    operator = standard.operator
    drawn = [
        spec.name
        for spec, entry in zip(operator.inputs, case.inputs, strict=False)
        for tensor in (entry if isinstance(entry, tuple) else (entry,))
        if spec.name in build.value_inputs and tensor.present and tensor.values is None
    ]
    if drawn:
        return (
            f"The host side reads values of {drawn[0]}, and no golden function says which are"
            " right."
        )
    name = _otherwise(build, operator, case, outputs) if function == "InferDataType" else ""
    if not name:
        return ""
    return (
        f"It gives the dtype that was tried for another value of {name}, and no golden function"
        " says which one belongs to it."
    )


def _otherwise(build: TiledBuild, operator: Operator, case: WorkloadCase, outputs: Tensors) -> str:
    """The attribute for another value of which InferDataType gives the dtypes of the outputs, ''
    where there is none: a value is taken for a dtype's number."""
    others = [
        (spec.name, case.model_copy(update={"attrs": {**case.attrs, spec.name: dtype.number}}))
        for spec in operator.attrs
        if spec.type == "int"
        for dtype in BY_NAME.values()
    ]
    facts = platform_facts(build.device)
    try:
        answers = build.host.answers([host_request(operator, one, facts) for _, one in others])
    except (InputError, TrialFailure):
        return ""
    for (name, other), answer in zip(others, answers, strict=True):
        told = answer.inference
        if told is not None and told.dtypes == "ok":
            said = _contradictions(operator, other, outputs, told)
            if all(function != "InferDataType" for function, _ in said):
                return name
    return ""


def _uneven(columns: Mapping[str, tuple[int, int]]) -> str | None:
    """The first tensor whose lists are not as long as most are; None where all are alike."""
    lengths = [(name, length) for name, both in columns.items() for length in both if length]
    counts = Counter(length for _, length in lengths).most_common()
    return next((name for name, length in lengths if length != counts[0][0]), None)


def remembers(build: TiledBuild, asked: Mapping[str, HostRequest], findings: Findings) -> None:
    """Collect a tiling that depends on the calls before it, of a `build` where all that nothing
    sets holds the same bytes at each call. `asked` has the requests of cases by their names."""
    try:
        answers = build.host.repeated([*asked.values()])
    except TrialFailure:  # what it fails at is a finding of its own
        return
    for name, answer in zip(asked, answers, strict=True):
        if answer.tiling is not None and not answer.steady:
            place = Place()
            if not answer.inferred_alike:
                place = first_line(build.texts, _INFERENCE["InferShape"])
            findings.told(
                "host_state",
                place.model_copy(update={"case": name}),
                "The host side answers otherwise when it is called again, or behind calls for other"
                " cases, in the same process: it keeps something between calls, or takes what they"
                " left in memory that it has not set.",
            )
            return


def as_inferred(
    standard: Standard, case: WorkloadCase, outputs: Tensors | None = None
) -> bool | None:
    """Whether the `outputs` of a case, the declared ones by default, have as many elements as
    InferShape gives them; None where it gives none."""
    build, operator = standard.references.unmodified, standard.operator
    if not isinstance(build, TiledBuild):
        return None
    told = _inference(build, operator, case)
    if told is None or told.shapes != "ok":
        return None
    if outputs is None and not case.outputs and not standard.workload.golden:
        lengths = [n for many in told.outputs for one in many for n in one.shape]
        return None if any(n < 0 for n in lengths) else True  # they are made as it gives them
    try:
        if outputs is None:
            outputs = declared_outputs(operator, case)
    except InputError:
        return None
    said = _contradictions(operator, case, outputs, told)
    return all(function != "InferShape" for function, _ in said)


def refused_by_inference(standard: Standard, case: WorkloadCase) -> bool:
    """Whether InferShape turns a case down, though not one of the workload: it says what the
    operator is made for as the tiling does."""
    build, operator = standard.references.unmodified, standard.operator
    if not isinstance(build, TiledBuild):
        return False

    def ends(one: WorkloadCase, how: str) -> bool:
        told = _inference(build, operator, one)
        return told is not None and told.shapes == how

    return ends(case, "failed") and any(ends(one, "ok") for one in standard.workload.cases)


def _inference(build: TiledBuild, operator: Operator, case: WorkloadCase) -> Inference | None:
    """What the inference functions say of a case; None where they cannot be asked."""
    try:
        request = host_request(operator, case, platform_facts(build.device))
        return build.host.answers([request])[0].inference
    except (InputError, TrialFailure):
        return None


def _written(operator: Operator, workload: Workload, right: Tensors) -> Tensors:
    """The outputs, without those that keep values of before: where the operator leaves bytes as
    they were, nothing says how many there are. Nor does a case without a golden function that
    declares an empty one: it may not ask for it."""
    named = zip(operator.outputs, right, strict=False)
    return [
        None if spec.name in workload.initial or not (workload.golden or _any(one)) else one
        for spec, one in named
    ]


def _any(output: Tensor) -> bool:
    """Whether an output has elements."""
    return any(one.size for one in arrays([output]))


def _contradictions(
    operator: Operator, case: WorkloadCase, right: Tensors, told: Inference
) -> Iterator[tuple[str, str]]:
    """Which inference function contradicts the `right` outputs of a case, and how. Shapes of as
    many elements are taken for the same: a golden function may be loose about them."""
    for function, ending in (("InferShape", told.shapes), ("InferDataType", told.dtypes)):
        if ending == "failed":
            yield function, f"{function} fails, though the tiling takes the case."
    dtypes = output_dtypes(operator, case)
    named = zip(operator.outputs, right, dtypes, strict=False)
    absent = {
        spec.name
        for spec, entry in zip(operator.outputs, case.outputs, strict=False)
        if isinstance(entry, TensorCase) and not entry.present
    }
    own = [one for one in named if not one[0].in_place]
    for (spec, output, dtype), tensors in zip(own, told.outputs, strict=False):
        if output is None or spec.name in absent:
            continue
        for given, tensor in zip(arrays([output]), tensors, strict=False):
            known = all(length >= 0 for length in tensor.shape)
            size = prod(tensor.shape)
            bits = BY_NAME[dtype].bits if dtype in BY_NAME else 8
            if bits < 8:  # several elements share a byte
                size = -(-size * bits // 8)
            # Of a shape that the kernel tells, inference gives the most there may be.
            other = size < given.size if spec.shape_depends else size != given.size
            if told.shapes == "ok" and known and other:
                yield (
                    "InferShape",
                    f"InferShape gives {spec.name} the shape {list(tensor.shape)}; it is"
                    f" {list(given.shape)}.",
                )
            if told.dtypes == "ok" and dtype in BY_NAME and tensor.dtype != BY_NAME[dtype].number:
                names = {one.number: one.name for one in BY_NAME.values()}
                yield (
                    "InferDataType",
                    f"InferDataType gives {spec.name} the dtype"
                    f" {names.get(tensor.dtype, 'undefined')}; it is {dtype}.",
                )


_STRUCTURE: Final = re.compile(r"\bGetTilingData\s*<|\bGetRawTilingData\s*\(")
"""Where a host side takes tiling data that no macro declares."""


def left_unset(plain: Build, other: Build, case: WorkloadCase, right: Reference) -> Unset | None:
    """The numbers of the tiling data that differ in a build where other bytes are in what nothing
    sets; None where none does. Raises TrialFailure."""
    if not isinstance(plain, TiledBuild) or not isinstance(other, TiledBuild):
        return None
    first, second = (b.answer(case, right.inputs, right.outputs) for b in (plain, other))
    fields = plain.fields_apart(first, second)
    if first.data == second.data or fields == ():
        return None
    if fields is None:
        pairs = zip(first.data, second.data, strict=False)
        byte = next((at for at, (a, b) in enumerate(pairs) if a != b), len(first.data))
        return Unset(f"byte {byte} of the tiling data", first_line(other.texts, _STRUCTURE))
    setter = re.compile(rf"\bset_{re.escape(fields[0])}\s*\(")
    return Unset(" and ".join(fields), first_line(other.texts, setter))


class Unset(NamedTuple):
    """What of the tiling data holds anything, in words, and where the host side gives it that."""

    what: str
    place: Place


def first_line(texts: Mapping[str, str], wanted: re.Pattern[str]) -> Place:
    """The first line of the host side with a text; nowhere when there is none."""
    for file, text in sorted(texts.items()):
        found = wanted.search(text) if file.startswith("op_host/") else None
        if found:
            return Place(file=file, line=text.count("\n", 0, found.start()) + 1)
    return Place()
