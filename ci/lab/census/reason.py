"""Puts an error into a class, so that equal reasons can be counted."""

from __future__ import annotations

import re

from ci.model.census import Failure, Stage
from ci.model.trial import Outcome, Refusal

_HEADER = re.compile(r"(?P<what>[\w./+-]+\.(?:h|hpp|inc)): No such file or directory")
_SYMBOL = (
    re.compile(r"'(?P<what>[\w:~]+)' (?:was not declared in this scope|has not been declared)"),
    re.compile(r"'(?P<what>[\w:~]+)' is not a member of '[^']+'"),
    re.compile(r"'(?P<what>[\w:~]+)' does not name a (?:template )?type"),
    re.compile(r"'(?P<what>[\w:~]+)' (?:is not a class|was not declared)"),
    re.compile(r"no type named '(?P<what>\w+)' in"),
    re.compile(r"undefined reference to [`'](?P<what>[^'(]+)"),
    re.compile(r"there are no arguments to '(?P<what>\w+)'"),
    re.compile(r"'(?P<what>[\w:]+)' (?:is not a template|has no member)"),
    re.compile(r"expected (?:primary-expression|template-name|class-name).*before '(?P<what>\w+)'"),
)
_MEMBER = re.compile(r"has no member named '(?P<what>\w+)'")
_FORM = (
    re.compile(r"no matching function for call to '(?:[\w:]+::)?(?P<what>\w+)[<(]"),
    re.compile(r"call of overloaded '(?P<what>\w+)\("),
    re.compile(r"no match for call to '\((?:[\w:]+::)?(?P<what>\w+)"),
    re.compile(r"too (?:few|many) arguments to function '[^']*?(?P<what>\w+)\("),
    re.compile(r"cannot convert .* to '(?P<what>[^']+)'"),
)
_CUBE = re.compile(
    r"^(?:Matmul\w*|MatMul\w*|matmul|Mmad\w*|LoadData\w*|Fixpipe\w*|SetFixPipe\w*|SetFmatrix|"
    r"TCubeTiling|TConv\w*|Conv\w*|Nd2Nz\w*|CubeFormat|MatmulType|TSCM|InitConstValue\w*|"
    r"mad|copy_gm_to_cbuf\w*|load_cbuf\w*|copy_matrix_cc\w*|L0\w*|kernel_operator_mm.*|"
    r"SetHF32\w*|REGIST_MATMUL_OBJ|\w*TilingMatmul|\w*MatmulApiTiling|CFG_\w+|Get\w*MDLConfig)$",
    re.IGNORECASE,
)
_HCCL = re.compile(r"hccl|mc2|GetHcclContext|AllReduce|ReduceScatter|AllGather", re.IGNORECASE)
_PLAIN_HEADERS = {"hccl": _HCCL, "cube": re.compile(r"matmul|conv|cube|mmad", re.IGNORECASE)}

_OUTCOMES = {
    Outcome.RACE: "race",
    Outcome.MEMORY_ERROR: "memory error",
    Outcome.TIMEOUT: "timeout",
    Outcome.WRONG_RESULT: "wrong result",
    Outcome.REJECTED: "foreign symbol",
}


def failure(stage: Stage, outcome: Outcome, refusal: Refusal) -> Failure:
    """The classified failure of a stage that raised `TrialFailure(outcome, refusal)`."""
    kind, what = classify(stage, outcome, refusal)
    return Failure(
        stage=stage,
        kind=kind,
        what=what,
        message=" ".join(refusal.message.split())[:600],
        place=refusal.place.source,
    )


def classify(stage: Stage, outcome: Outcome, refusal: Refusal) -> tuple[str, str]:
    """(kind, thing) of an error: ('missing header', 'lib/x.h'), ('cube', 'Mmad'), ('race', '')."""
    if outcome is Outcome.COMPILE_ERROR:
        return _compile(refusal.message) or _compile(refusal.evidence) or ("does not compile", "")
    if outcome is Outcome.REJECTED:
        found = re.search(r"does not offer: ([\w:]+)", refusal.message)
        return _OUTCOMES[outcome], found[1] if found else ""
    if outcome in _OUTCOMES:
        return _OUTCOMES[outcome], ""
    if stage is Stage.TILING_RUNS:
        crashed = re.search(r"killed by (SIG\w+)|was stopped", refusal.message)
        return ("tiling crashes", "") if crashed else ("tiling refuses the case", "")
    crashed = re.search(r"killed by (SIG\w+)", refusal.message)
    return ("kernel crashes", crashed[1]) if crashed else ("launch error", "")


def _compile(text: str) -> tuple[str, str] | None:
    if re.search(r"call to '(?:\w+::)*kernel_entry_\w+", text):
        return "kernel's template arguments", ""
    header = _HEADER.search(text)
    if header:
        name = header["what"]
        unit = next((u for u, pattern in _PLAIN_HEADERS.items() if pattern.search(name)), "")
        return (unit, name) if unit else ("missing header", name)
    member = _MEMBER.search(text)
    if member:
        return _unit(member["what"]) or ("missing member", member["what"])
    for pattern in _SYMBOL:
        found = pattern.search(text)
        if found:
            name = found["what"].split("::")[-1]
            return _unit(found["what"]) or ("missing symbol", name)
    for pattern in _FORM:
        found = pattern.search(text)
        if found:
            return _unit(found["what"]) or ("missing call form of", found["what"])
    return None


def _unit(name: str) -> tuple[str, str] | None:
    last = name.split("::")[-1]
    if _HCCL.search(name):
        return "hccl", last
    if _CUBE.match(last) or re.match(r"matmul(?:_tiling)?::", name):
        return "cube", last
    return None
