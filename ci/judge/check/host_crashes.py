"""Lengths and values of attributes by which a signal ends the host side, with its process."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ci.backend.tiled import TiledBuild
from ci.host.survey import Question, questions
from ci.host.tiling_request import (
    FORMATS,
    UNDEFINED,
    AskedTensor,
    HostRequest,
    with_defaults,
)
from ci.judge.check.findings import Findings
from ci.model.errors import TrialFailure
from ci.model.operator import Operator

MOST_CRASHES = 8
"""Requests, of all those that a signal ended, that are asked again for the line: equal causes are
many."""

AT_ONCE = 500
"""Requests that one process is asked."""

SECONDS = 8.0
"""Time after which no further ones are asked: some tilings need as long as a launch."""


def crashes(
    build: TiledBuild,
    operator: Operator,
    asked: Sequence[tuple[str, HostRequest]],
    varied: Sequence[tuple[str, HostRequest]],
    findings: Findings,
) -> None:
    """Collect what ends the host side of requests that are made from the `asked` ones, and of
    `varied` ones as they are."""
    made = askable(operator, asked, ())
    made += [Question(label, request) for label, request in varied]
    ended: list[Question] = []
    started = time.monotonic()
    for first in range(0, len(made), AT_ONCE):
        if time.monotonic() - started > SECONDS:
            break
        part = made[first : first + AT_ONCE]
        try:
            answers = build.host.answers([question.request for question in part])
        except TrialFailure:  # it fails at the workload's own cases, or takes too long
            break
        pairs = zip(part, answers, strict=True)
        ended += [q for q, one in pairs if one.tiling is None or one.inference is None]
    for question in ended[:: max(1, len(ended) // MOST_CRASHES)]:
        crash = build.crash(question.request) or build.crash(inferred(question.request))
        if crash is not None and crash.refusal.place.source:
            place = crash.refusal.place.model_copy(update={"case": question.label})
            findings.told("host_crash", place, crash.refusal.sentence)


def askable(
    operator: Operator,
    asked: Sequence[tuple[str, HostRequest]],
    chips: Sequence[Mapping[str, str]],
) -> list[Question]:
    """Requests that are made from the `asked` ones, and that a caller may make.

    Dtypes, formats and attributes stay: the framework lets nobody give others. So do ranks, the
    lengths of lists, tensors whose values the host side reads, and inputs but for those that are
    optional; and empty tensors are left out, which most callers never launch. `chips` has the facts
    of further chips.
    """
    own = [with_defaults(request, operator) for _, request in asked]
    like = {_signature(one) for request in own for one in (request, *_without(request, operator))}
    return [
        question
        for question in questions(operator, asked, chips)
        if question.runs
        and _signature(with_defaults(question.request, operator)) in like
        and all(0 not in (t.shape or ()) for side in question.request.inputs for t in side)
    ]


def _without(request: HostRequest, operator: Operator) -> Iterator[HostRequest]:
    """The request without each optional input in turn."""
    for index, spec in enumerate(operator.inputs[: len(request.inputs)]):
        if spec.param_type == "optional":
            rest = (*request.inputs[:index], (), *request.inputs[index + 1 :])
            yield replace(request, inputs=rest)


def inferred(request: HostRequest) -> HostRequest:
    """The request with its outputs left to the inference."""
    unknown = AskedTensor(UNDEFINED, FORMATS["ND"], None)
    return replace(request, outputs=tuple((unknown,) * len(side) for side in request.outputs))


def _signature(request: HostRequest) -> tuple[object, ...]:
    tensors = tuple(
        tuple((t.dtype, t.form, len(t.shape or ()), t.data and t.shape) for t in side)
        for side in request.inputs
    )
    attrs = (
        (name, len(text.split(",")) if text and kind.startswith("list") else 0)
        for name, kind, text in request.attrs
    )
    return tensors, frozenset(attrs)
