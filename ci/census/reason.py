"""Puts an error into a class, so that equal reasons can be counted."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Final

from ci.model.census import Failure, Stage
from ci.model.trial import Outcome, Refusal
from ci.source.empty_body import EMPTY_BODY, NOTHING_TO_DO

_TABLE: Final[dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("reasons.toml").read_text(encoding="utf-8")
)

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
    if EMPTY_BODY in refusal.message:
        return "empty kernel", ""
    if NOTHING_TO_DO in refusal.message:
        return "nothing to do", ""
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
    for error in _TABLE["error"]:
        for pattern in error["patterns"]:
            found = re.search(pattern, text)
            if found:
                kind, what, last = error["kind"], found["what"], found["what"].split("::")[-1]
                by = "header" if kind == "missing header" else "symbol"
                unit = _unit(what, by)
                whole = by == "header" or (not unit and kind != "missing symbol")
                return unit or kind, what if whole else last
    return None


def _unit(name: str, by: str) -> str:
    """What a name or a header is part of that is counted on its own; '' for all others."""
    for unit in _TABLE["unit"]:
        if re.search(unit[by], name, re.IGNORECASE | re.VERBOSE):
            return str(unit["name"])
    return ""
