"""Whether the host side answers a case in the same way when it is asked again."""

from __future__ import annotations

from ci.backend.tiled import TiledBuild
from ci.host.survey import Question
from ci.host.tiling_request import host_request, platform_facts
from ci.judge.gate_subject import Standard
from ci.model.errors import TrialFailure
from ci.model.workload import WorkloadCase


def unsteady(standard: Standard, cases: list[WorkloadCase]) -> list[str]:
    """Names of the cases whose tiling differs between two calls of a process, in another order or
    in another process. Tiling data with arrays, which need not be filled, are left out."""
    build, seed = standard.references.unmodified, standard.workload.seeds[0]
    if not isinstance(build, TiledBuild):
        return []
    facts = platform_facts(build.device)
    asked = []
    for case in cases:
        known = standard.references.of(case, seed)
        request = host_request(
            standard.operator, case, facts, known.inputs, known.outputs, read=build.value_inputs
        )
        asked.append(Question(case.name, request))
    try:
        answers = build.host.survey(asked, 0)
    except TrialFailure:  # what it fails at is a finding of its own
        return []
    return [
        case.name
        for case, answer in zip(cases, answers, strict=True)
        if answer.tiling is not None
        and not answer.steady
        and not build.has_arrays(answer.tiling.tiling_key)
    ]
