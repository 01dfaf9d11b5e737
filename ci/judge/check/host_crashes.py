"""Lengths and values of attributes by which a signal ends the host side, with its process."""

from __future__ import annotations

from collections.abc import Sequence

from ci.backend.tiled import TiledBuild
from ci.host.survey import questions
from ci.host.tiling_request import HostRequest, with_defaults
from ci.judge.check.findings import Findings
from ci.model.errors import TrialFailure
from ci.model.operator import Operator

MOST_CRASHES = 8
"""Requests that are asked again for the line: equal causes are many."""


def crashes(
    build: TiledBuild,
    operator: Operator,
    asked: Sequence[tuple[str, HostRequest]],
    findings: Findings,
) -> None:
    """Collect what ends the host side of requests that are made from the `asked` ones.

    Dtypes, formats, absent inputs and attributes stay: the framework lets nobody give others. So do
    ranks; and empty tensors are left out, which most callers never launch.
    """
    like = {_signature(with_defaults(request, operator)) for _, request in asked}
    made = [
        question
        for question in questions(operator, asked, ())
        if question.runs
        and _signature(with_defaults(question.request, operator)) in like
        and all(0 not in (t.shape or ()) for side in question.request.inputs for t in side)
    ]
    try:
        answers = build.host.answers([question.request for question in made])
    except TrialFailure:  # it fails at the workload's own cases
        return
    ended = [q for q, one in zip(made, answers, strict=True) if one.tiling is None]
    for question in ended[:MOST_CRASHES]:
        crash = build.crash(question.request)
        if crash is not None and crash.refusal.place.source:
            place = crash.refusal.place.model_copy(update={"case": question.label})
            findings.told("host_crash", place, crash.refusal.sentence)


def _signature(request: HostRequest) -> tuple[object, ...]:
    tensors = tuple(
        tuple((t.dtype, t.form, len(t.shape or ())) for t in side) for side in request.inputs
    )
    return tensors, frozenset(name for name, _, _ in request.attrs)
