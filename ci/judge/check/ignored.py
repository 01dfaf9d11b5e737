"""Attributes that a result should hang on and does not."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ci.backend.tiled import TiledBuild
from ci.judge.check.findings import Findings
from ci.judge.check.host_state import first_line
from ci.judge.gate_subject import Standard
from ci.judge.launch_record import Launched, digest_of
from ci.model.errors import TrialFailure
from ci.model.trial import Place
from ci.model.workload import WorkloadCase


def ignored(
    standard: Standard, wrong: Launched, own: Iterable[WorkloadCase], seed: int, findings: Findings
) -> None:
    """Collect the attribute that changes nothing, where a case whose attributes are varied gives
    wrong outputs, and the same ones with the attributes of its `own` case."""
    build, given = standard.references.unmodified, wrong.case.attrs
    before = next((case for case in own if case.inputs == wrong.case.inputs), None)
    if before is None or not isinstance(build, TiledBuild):
        return
    names = [spec.name for spec in standard.operator.attrs]
    apart = [name for name in names if given.get(name) != before.attrs.get(name)]
    unchanged = wrong.case.model_copy(update={"attrs": before.attrs})
    right = standard.references.of(wrong.case, seed)
    try:
        again = build.run(unchanged, right.inputs, right.outputs, seed=seed)
        answers = [build.answer(c, right.inputs, right.outputs) for c in (wrong.case, unchanged)]
    except TrialFailure:
        return
    if not apart or digest_of(again.outputs) != wrong.digest:
        return
    name = apart[0]
    values = f"{name}={given.get(name)} and {name}={before.attrs.get(name)}"
    same = f"The outputs are the same with {values}"
    if answers[0].data == answers[1].data and answers[0].tiling_key == answers[1].tiling_key:
        place = first_line(build.texts, re.compile(rf'\bAttr\s*\(\s*"{re.escape(name)}"'))
        text = f"{same}: the host side gives nothing of it to the kernel."
    else:
        place, fields = Place(), build.fields_apart(*answers) or ()
        for field in map(re.escape, fields[:1]):
            setter = re.compile(rf"\bset_{field}\s*\(|\b{field}\s*=(?!=)")
            place = first_line(build.texts, setter)
        of_it = " and ".join(fields) or "something"
        text = f"{same}, though the tiling data differ in {of_it}: the kernel makes nothing of it."
    place = place.model_copy(update={"case": wrong.case.name})
    findings.together("ignored", place, text, "attribute")
