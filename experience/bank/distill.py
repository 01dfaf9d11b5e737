"""Distillation: from a slow/fast pair of measured programs to an experience tuple."""

from __future__ import annotations

import hashlib
import re

from ci.model.comparison import compare
from ci.model.frozen import Frozen
from ci.model.objective import gains
from ci.model.operator import Operator
from ci.model.trial import Trial
from ci.source.source_diff import git_diff
from experience.bank.fitting import misfit
from experience.bank.tuple import Direction, EffectEvidence, ExperienceTuple, Neighbour

SIGNIFICANCE = 0.05
"""Level of the rank test where a backend gives several samples."""

_IDENTIFIER = re.compile(r"\b[A-Za-z_]\w*\b(?!\s*[(<:])")
# Words whose place matters to what a diff means; all other names are renamed.
_KEPT = frozenset(
    {"if", "else", "for", "while", "return", "const", "constexpr", "auto", "template", "class"}
    | {"int", "int32_t", "int64_t", "uint32_t", "uint64_t", "float", "half", "bfloat16_t", "bool"}
    | {"void", "typename", "struct", "true", "false"}
)


class Lesson(Frozen):
    """The lesson of a pair, in words that hold for other operators too."""

    title: str
    description: str
    bottleneck: str
    classes: tuple[str, ...] = ()
    motif_id: str = ""


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


class Unfitting(Exception):
    """A lesson that is not about its diff; the message says what shows it."""


class Judgement(Frozen):
    """Whether one trial is truly slower than another, and how that was found."""

    significant: bool
    slowdown: float
    test: str
    p_value: float | None = None


class Provenance(Frozen):
    """Where a tuple comes from, next to its measurements."""

    commit: str = ""
    origin: str = ""
    trajectory: str = ""
    step: int = 0


def judge(slow: Trial, fast: Trial, noise_floor: float) -> Judgement | None:
    """Compare two trials; None when either was not measured.

    Significant means that the whole interval of the slowdown lies beyond the noise floor, in every
    start state that both were timed in; where there are several samples a one-sided Mann-Whitney U
    test must agree.
    """
    if slow.measurement is None or fast.measurement is None:
        return None
    found = compare(slow.measurement, fast.measurement, noise_floor)
    least = min(gains(slow.measurement, fast.measurement).values(), default=found.low)
    beyond = min(found.low, least) > 1 + noise_floor
    if slow.measurement.fingerprint.simulated:
        test = "exact: the simulator is deterministic"
        return Judgement(significant=beyond, slowdown=found.speedup, test=test)
    ratios: tuple[list[float], list[float]] = ([], [])
    for one, two in zip(slow.measurement.cases, fast.measurement.cases, strict=True):
        ratios[0].extend(s / two.median_us for s in one.samples_us)
        ratios[1].extend(s / two.median_us for s in two.samples_us)
    # Loading it takes most of a second, and most runs do without.
    from scipy.stats import mannwhitneyu

    p_value = float(mannwhitneyu(*ratios, alternative="greater").pvalue)
    return Judgement(
        significant=beyond and p_value < SIGNIFICANCE,
        slowdown=found.speedup,
        test="interval of the medians and Mann-Whitney U",
        p_value=p_value,
    )


def distill(
    operator: Operator,
    slow: Trial,
    fast: Trial,
    lesson: Lesson,
    *,
    direction: Direction,
    noise_floor: float,
    test: str,
    p_value: float | None = None,
    source: Provenance | None = None,
    base: dict[str, str] | None = None,
) -> ExperienceTuple:
    """The tuple ⟨title, description, bottleneck, diff⟩ of two trials of one operator.

    `base` are the operator's texts that the trials started from, when the original operator
    has others. Raises `ValueError` when the fast side has no measurement, or the slow side of
    anything but a negative: nothing unmeasured is experience. Raises `Unfitting` when the lesson
    names what its diff lacks.
    """
    if fast.measurement is None or (slow.measurement is None and direction != "negative"):
        raise ValueError("Both neighbours of an experience tuple must have been measured.")
    source, base = source or Provenance(), base or operator.texts()
    diff = git_diff(base | slow.candidate.files, base | fast.candidate.files)
    if wrong := misfit(lesson, diff):
        raise Unfitting(wrong)
    diff_hash = normalised_hash(diff if direction != "negative" else f"+never\n{diff}")
    soc = fast.measurement.fingerprint.device
    family = operator.category or "other"
    return ExperienceTuple(
        **lesson.model_dump(),
        id=hashlib.sha256(f"{diff_hash}\n{family}\n{soc}".encode()).hexdigest()[:12],
        diff=diff,
        diff_hash=diff_hash,
        op_family=family,
        dtype=operator.first_dtype,
        soc=soc,
        direction=direction,
        evidence=EffectEvidence(
            slow_us=slow.measurement.score_us if slow.measurement else None,
            fast_us=fast.measurement.score_us,
            samples=min(len(c.samples_us) for c in fast.measurement.cases),
            noise_floor=noise_floor,
            test=test,
            p_value=p_value,
            failure="" if slow.measurement else slow.outcome.value,
        ),
        slow=Neighbour.of(slow),
        fast=Neighbour.of(fast),
        trajectory=source.trajectory,
        step=source.step,
        operator=operator.name,
        source_commit=source.commit,
        origin=source.origin,
        fingerprint=fast.measurement.fingerprint,
    )
