"""Distillation: from a slow/fast pair of measured programs to an experience tuple."""

from __future__ import annotations

import hashlib
import re

from ci.operator import Operator
from ci.source_diff import git_diff
from ci.trial import Frozen, Trial
from experience.tuple import EffectEvidence, ExperienceTuple

_IDENTIFIER = re.compile(r"\b[A-Za-z_]\w*\b(?!\s*[(<:])")
# Words whose place matters to what a diff means; all other names are renamed.
_KEPT = frozenset(
    {"if", "else", "for", "while", "return", "const", "constexpr", "auto", "template", "class"}
    | {"int", "int32_t", "int64_t", "uint32_t", "uint64_t", "float", "half", "bfloat16_t", "bool"}
    | {"void", "typename", "struct", "true", "false"}
)


class Lesson(Frozen):
    """What the pair teaches, in words that hold for other operators too."""

    title: str
    description: str
    bottleneck: str
    classes: tuple[str, ...] = ()
    rule_id: str = ""


def normalised_hash(diff: str) -> str:
    """sha256 of a diff without paths, positions, spaces, and with own names made alike.

    Two operators that gain by the same edit give the same hash, whatever they call things.
    """
    names: dict[str, str] = {}

    def rename(match: re.Match[str]) -> str:
        word = match.group()
        return word if word in _KEPT else names.setdefault(word, f"n{len(names)}")

    digest = hashlib.sha256()
    for line in diff.splitlines():
        if line[:1] not in "+-" or line[:3] in ("+++", "---") or not line[1:].strip():
            continue
        body = _IDENTIFIER.sub(rename, re.sub(r"//.*", "", line[1:]))
        digest.update((line[0] + re.sub(r"\s+", "", body) + "\n").encode())
    return digest.hexdigest()


def distill(
    operator: Operator,
    slow: Trial,
    fast: Trial,
    lesson: Lesson,
    *,
    direction: str,
    noise_floor: float,
    test: str,
    commit: str = "",
) -> ExperienceTuple:
    """The tuple ⟨title, description, bottleneck, diff⟩ of two measured trials of one operator.

    Raises `ValueError` when either trial has no measurement: nothing unmeasured is experience.
    """
    if slow.measurement is None or fast.measurement is None:
        raise ValueError("Both neighbours of an experience tuple must have been measured.")
    diff = git_diff(operator.texts(slow.candidate.files), operator.texts(fast.candidate.files))
    diff_hash = normalised_hash(diff)
    soc = fast.measurement.fingerprint.device
    family = operator.category or "other"
    return ExperienceTuple.model_validate(
        {
            **lesson.model_dump(),
            "id": hashlib.sha256(f"{diff_hash}\n{family}\n{soc}".encode()).hexdigest()[:12],
            "diff": diff,
            "diff_hash": diff_hash,
            "op_family": family,
            "dtype": operator.inputs[0].dtypes[0] if operator.inputs else "",
            "soc": soc,
            "direction": direction,
            "evidence": EffectEvidence(
                slow_us=slow.measurement.score_us,
                fast_us=fast.measurement.score_us,
                samples=min(len(c.samples_us) for c in fast.measurement.cases),
                noise_floor=noise_floor,
                test=test,
            ),
            "operator": operator.name,
            "source_commit": commit,
            "fingerprint": fast.measurement.fingerprint,
        }
    )
