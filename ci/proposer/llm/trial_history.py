"""Earlier trials as they happened: what each gave, and why it was kept or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ci.model.comparison import STEP_EFFECT, compare
from ci.model.operator import Operator
from ci.model.trial import Measurement, Trial
from ci.source.source_diff import git_diff

SHOWN_TRIALS: Final = 16
"""Earlier trials that a prompt lists, the latest of them."""

SHOWN_CASES: Final = 4
"""Cases that a trial moved most, each with by how much."""

NEAR: Final = 0.95
"""A trial within 5 % of the present best may be right together with something else."""

MOVED: Final = 0.001
"""Simulated times repeat to the cycle: a smaller relative difference is none."""

NEAR_MISSES: Final = 2
DIFF: Final = 2400
"""Characters of a near miss's diff."""


def told(trial: Trial, best: Trial, history: Sequence[Trial]) -> str:
    """A trial in a line or two: what it changed, what that gave, and what became of it."""
    what = trial.candidate.rationale or "the original operator"
    parent = _parent(trial, history)
    source = f" of trial {parent.number}" if parent is not None and parent is not trial else ""
    head = f"trial {trial.number}, {trial.candidate.stage}{source}: {what[:400]}"
    refusal = trial.refusal
    if trial.measurement is None:
        why = f": {refusal.message[:400]}" if refusal else ""
        return f"{head}\n  -> {trial.outcome.value.replace('_', ' ')}{why}"
    came = f"{trial.measurement.score_us:.3f} us"
    if parent is not None and parent is not trial and parent.measurement is not None:
        came += _against(trial.measurement, parent.measurement, parent.number)
    if refusal is not None:
        came += f"; refused by the gate '{refusal.gate}', so not built on: {refusal.message[:400]}"
    elif trial.cached:
        came += "; the same program as an earlier trial"
    elif trial.candidate.hash == best.candidate.hash:
        came += "; this is the present program"
    elif trial.candidate.hash in _line(best, history):
        came += "; kept: the present program holds it"
    elif trial.number:
        came += f"; {_why_not(trial, parent, best, history[0])}"
    return f"{head}\n  -> {came}"


def _why_not(trial: Trial, parent: Trial | None, best: Trial, baseline: Trial) -> str:
    """Why a trial that no gate refused is not part of the present program."""
    before = parent.measurement if parent is not None else None
    if parent is None or before is None or trial.measurement is None:
        return "not built on"
    gain = before.score_us / trial.measurement.score_us
    if gain < 1 + MOVED:
        return "no gain, so not built on"
    if baseline.measurement is not None:
        whole = compare(baseline.measurement, trial.measurement)
        if whole.verdict == "worse":
            return f"not built on, for against trial 0 {whole.reason}"
    if parent.candidate.hash == best.candidate.hash:
        if gain < 1 + STEP_EFFECT:
            return f"a gain of less than {STEP_EFFECT:.0%}, so not built on yet"
        return (
            "a gain in these launches, not in all of the ensemble (cold and warm ones, what the "
            "machine's constants leave open), so not built on"
        )
    return (
        "a gain that the present program lacks, for it was made from another one or the gain was "
        "not sure in all of the ensemble"
    )


def earlier(history: Sequence[Trial], best: Trial) -> list[str]:
    """The baseline and the latest trials of all stages."""
    kept = [t for t in history[1:] if not t.cached]
    return [told(t, best, history) for t in (*history[:1], *kept[-SHOWN_TRIALS:])]


def near_misses(operator: Operator, history: Sequence[Trial], best: Trial) -> list[str]:
    """Trials not held by the present program that came near, or that it misses most, with diffs."""
    if best.measurement is None:
        return []
    line = _line(best, history) | {best.candidate.hash}
    scored = []
    for trial in history[1:]:
        if trial.measurement is None or trial.cached or trial.candidate.hash in line:
            continue
        ratio = best.measurement.score_us / trial.measurement.score_us
        if _times(trial.measurement) == _times(best.measurement):
            continue  # the present program has all that it gave
        won = max(_ratios(best.measurement, trial.measurement).values(), default=1.0)
        if ratio >= NEAR or won > 1 + 10 * MOVED:
            scored.append((max(ratio, won), trial))
    scored.sort(key=lambda s: (-s[0], s[1].number))
    return [
        f"Trial {t.number} against its parent:\n{_diff(operator, t, history)}"
        for _, t in scored[:NEAR_MISSES]
    ]


def _times(measurement: Measurement) -> list[float]:
    return [c.median_us for c in measurement.cases]


def _diff(operator: Operator, trial: Trial, history: Sequence[Trial]) -> str:
    parent = _parent(trial, history)
    before = operator.texts(parent.candidate.files if parent is not None else {})
    found = git_diff(before, operator.texts(trial.candidate.files))
    return (
        found if len(found) <= DIFF else f"{found[:DIFF]}\n… ({len(found) - DIFF} more characters)"
    )


def _parent(trial: Trial, history: Sequence[Trial]) -> Trial | None:
    made_from = trial.candidate.parent
    found = next((t for t in history if t.candidate.hash == made_from), None)
    return found if found is not None else (history[0] if history else None)


def _line(best: Trial, history: Sequence[Trial]) -> set[str]:
    """Hashes of the programs that the present one was made from, step by step."""
    by_hash = {t.candidate.hash: t for t in reversed(history)}
    found: set[str] = set()
    at: Trial | None = by_hash.get(best.candidate.parent) if best.candidate.parent else None
    while at is not None and at.candidate.hash not in found:
        found.add(at.candidate.hash)
        at = by_hash.get(at.candidate.parent) if at.candidate.parent else None
    return found


def _ratios(before: Measurement, after: Measurement) -> Mapping[str, float]:
    """Time before over time after, by case."""
    earlier_us = {c.case: c.median_us for c in before.cases}
    return {c.case: earlier_us[c.case] / c.median_us for c in after.cases if c.case in earlier_us}


def _against(after: Measurement, before: Measurement, number: int) -> str:
    gain = before.score_us / after.score_us
    moved = {c: r for c, r in _ratios(before, after).items() if abs(r - 1) >= MOVED}
    if not moved:
        return f", to the cycle as trial {number}: the change does nothing in these cases"
    most = sorted(moved.items(), key=lambda m: -abs(m[1] - 1))[:SHOWN_CASES]
    cases = ", ".join(f"{case} {ratio:.3f}x" for case, ratio in most)
    word = "faster" if gain >= 1 else "slower"
    factor = gain if gain >= 1 else 1 / gain
    return f", {factor:.3f} times {word} than trial {number} ({cases})"
