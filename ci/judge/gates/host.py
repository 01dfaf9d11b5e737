"""Host: the operator is registered, infers, checks its inputs and tiles as the unmodified one does.

A launch shows the tiling at work on a few valid requests; the framework asks the host side many
other things, before it and without any launch.
"""

from __future__ import annotations

import json
from typing import Any

from ci.backend.tiled import MOST_BLOCKS, MOST_WORKSPACE, TiledBuild
from ci.host.host_tiling import HostProgram
from ci.host.survey import HostAnswer, Inference, Question, Tiling, questions
from ci.host.tiling_request import host_request, platform_facts
from ci.judge.gate_subject import Standard, Subject
from ci.judge.gates.base import Gate
from ci.model.dtypes import BY_NAME
from ci.model.errors import TrialFailure
from ci.model.trial import Outcome
from rules.devices import device_names, load_device

_NAMES = {d.number: d.name for d in BY_NAME.values()}

_USELESS = "asks for a launch that no device makes"


class HostGate(Gate):
    """Compares what both host programs say of themselves and answer to valid and invalid requests.

    What the tiling decides may differ: that is the optimization. Whether it succeeds may not, nor
    may it depend on anything but the request. Where the unmodified operator crashes or answers one
    request in two ways, any answer will do.
    """

    name = "host"
    phase = "admit"

    def check(self, subject: Subject) -> TrialFailure | None:
        """Refuses the first difference."""
        build, before = subject.build(), subject.standard.references.unmodified
        if not (isinstance(build, TiledBuild) and isinstance(before, TiledBuild)):
            return None  # no host side runs on this computer
        if build.host.path == before.host.path:
            return None
        try:
            return self._compare(subject.standard, before, build.host)
        except TrialFailure as failure:
            return self.refuse(
                Outcome.UNFIT, failure.refusal.sentence, evidence=failure.refusal.evidence
            )

    def _compare(
        self, standard: Standard, before: TiledBuild, now: HostProgram
    ) -> TrialFailure | None:
        changed = _changed(before.host.definition(), now.definition())
        if changed:
            return self.refuse(Outcome.UNFIT, f"It registers the operator differently: {changed}.")
        asked = _questions(standard, before)
        often = len(standard.workload.cases)
        own = standard.baseline.surveyed(lambda: before.host.survey(asked, often))
        other = now.survey(asked, often)
        for question, then, after in zip(asked, own, other, strict=True):
            sentence = _difference(question, then, after)
            if not sentence and question.case >= 0:
                pairs = (own[question.case], then), (other[question.case], after)
                mode = question.request.deterministic != asked[question.case].request.deterministic
                sentence = (_by_mode if mode else _ignored)(question, *pairs)
            if sentence:
                return self.refuse(Outcome.UNFIT, sentence, evidence=question.request.text)
        return None


def _questions(standard: Standard, build: TiledBuild) -> list[Question]:
    operator, seed = standard.operator, standard.workload.seeds[0]
    facts = platform_facts(build.device)
    requests = []
    for case in standard.workload.cases:
        known = standard.references.of(case, seed)
        request = host_request(
            operator, case, facts, known.inputs, known.outputs, read=build.value_inputs
        )
        requests.append((f"case '{case.name}'", request))
    others = [load_device(name) for name in device_names() if name != build.device.name]
    chips = [platform_facts(d) for d in others if d.architecture == build.device.architecture]
    return questions(operator, requests, chips)


def _changed(before: Any, now: Any, place: str = "") -> str:
    """The first place at which two trees of JSON differ, and how; '' when they are equal."""
    if isinstance(before, dict) and isinstance(now, dict) and before.keys() == now.keys():
        return next(filter(None, (_changed(before[k], now[k], f"{place}.{k}") for k in before)), "")
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        both = enumerate(zip(before, now, strict=True))
        return next(filter(None, (_changed(a, b, f"{place}[{i}]") for i, (a, b) in both)), "")
    if before == now:
        return ""
    return f"{place.lstrip('.')} is {json.dumps(now)[:500]}, was {json.dumps(before)[:500]}"


def _difference(question: Question, before: HostAnswer, now: HostAnswer) -> str:
    if before.steady and not now.steady:
        return (
            f"Its host side answers {question.label} differently when it is asked again, in another"
            " order or in another process; the original operator does not."
        )
    if before.inference is not None and before.steady:
        ours, theirs = _inferred(now.inference), _inferred(before.inference)
        if ours != theirs:
            return (
                f"For {question.label} its inference gives {ours}, that of the original operator "
                f"{theirs}."
            )
    if before.tiling is not None and before.steady and question.runs:
        ours, theirs = _ending(now.tiling), _ending(before.tiling)
        if ours != theirs and not (theirs == _USELESS and ours == "succeeds"):
            return (
                f"For {question.label} its tiling {ours}, that of the original operator {theirs}."
            )
        if ours == theirs == "succeeds" and _together(before.tiling) and not _together(now.tiling):
            return (
                f"For {question.label} its tiling no longer asks that all cores run at once (the "
                "schedule mode), as that of the original operator does."
            )
    return ""


def _together(answer: Tiling | None) -> bool:
    return answer is not None and answer.schedule_mode != 0


def _ignored(
    question: Question,
    before: tuple[HostAnswer, HostAnswer],
    now: tuple[HostAnswer, HostAnswer],
) -> str:
    """Why the tiling no longer tells the kernel an attribute that it did tell; '' if it does.

    The pairs are the answers to the request of a case and to the same with another attribute.
    """
    if not all(a.tiling and a.tiling.status == "ok" for a in (*before, *now)):
        return ""
    told, tells = (len({a.tiling.digest for a in pair if a.tiling}) > 1 for pair in (before, now))
    if not told or tells:
        return ""
    return (
        f"Its tiling decides the same for {question.label} as without that change, so that the "
        "kernel cannot know the attribute; that of the original operator does."
    )


def _by_mode(
    question: Question,
    before: tuple[HostAnswer, HostAnswer],
    now: tuple[HostAnswer, HostAnswer],
) -> str:
    """Whether only the candidate decides otherwise where results must be the same every time."""
    if not all(a.tiling and a.tiling.status == "ok" for a in (*before, *now)):
        return ""
    asks, asks_now = (len({_decided(a) for a in pair}) > 1 for pair in (before, now))
    if asks or not asks_now:
        return ""
    return (
        f"Its tiling decides otherwise for {question.label}, which no case runs; that of the "
        "original operator does not."
    )


def _decided(answer: HostAnswer) -> object:
    assert answer.tiling
    return answer.tiling.model_copy(update={"compared": ()}).model_dump_json()


def _inferred(answer: Inference | None) -> str:
    """Result of the inference; of a part that failed or is not there, only that."""
    if answer is None:
        return "a crash"
    tensors = [tensor for output in answer.outputs for tensor in output]
    dtypes: str = answer.dtypes
    if dtypes == "ok":
        dtypes = ", ".join(_NAMES.get(t.dtype, str(t.dtype)) for t in tensors)
    shapes: str = answer.shapes
    if shapes == "ok":
        shapes = ", ".join(str(list(t.shape)) for t in tensors)
    return f"dtypes {dtypes} and shapes {shapes}"


def _ending(answer: Tiling | None) -> str:
    """How a tiling ended; one that says it went well and asks for no possible launch is useless.

    A candidate may put that right: nothing could be launched, and nobody knew.
    """
    if answer is None:
        return "crashes"
    if answer.status != "ok":
        return "refuses"
    usable = 1 <= answer.block_dim <= MOST_BLOCKS and sum(answer.workspace) <= MOST_WORKSPACE
    return "succeeds" if usable else _USELESS
