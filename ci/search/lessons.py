"""What a finished search teaches: rewrites that helped, and those that did not, as tuples.

A kernel step that was significantly faster than its parent becomes a forward tuple. One that was
slower, made no difference or failed becomes a negative, inverted: its diff leads from the rewrite
back to the kernel as it was, so that its fast side is fast as everywhere in the bank.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Sequence

from ci.model.diagnosis import Diagnosis
from ci.model.errors import ModelUnavailable
from ci.model.operator import Operator
from ci.model.result import Result
from ci.model.trial import Outcome, Trial
from ci.proposer.base import Proposer
from ci.proposer.rules.diagnosing import diagnose_by_rules
from ci.source.source_diff import git_diff
from experience.bank.distill import Judgement, Lesson, Provenance, distill, judge
from experience.bank.patching import Misfit, undo
from experience.bank.tuple import ExperienceTuple

NOISE_FLOOR = 0.01
"""Relative difference below which a rewrite made none; the search's own least step."""


def lessons(
    operator: Operator,
    trials: Sequence[Trial],
    proposer: Proposer,
    source: Provenance,
    base: dict[str, str] | None = None,
) -> list[ExperienceTuple]:
    """The tuples of every kernel step among the trials whose parent was measured."""
    by_hash = {t.candidate.hash: t for t in reversed(trials) if t.measurement is not None}
    found = []
    for trial in trials:
        parent = by_hash.get(trial.candidate.parent)
        if trial.candidate.stage != "kernel" or trial.cached or parent is None:
            continue
        earned = lesson_of(operator, parent, trial, proposer, source, base)
        if earned is not None:
            found.append(earned)
    return found


def lesson_of(
    operator: Operator,
    before: Trial,
    after: Trial,
    proposer: Proposer,
    source: Provenance,
    base: dict[str, str] | None = None,
) -> ExperienceTuple | None:
    """The tuple of one rewrite; None when it teaches nothing that can be told apart.

    A rewrite of several motifs at once teaches only when it helps: which of them was at fault is
    not known. What a guard refused teaches nothing. What is not fit to be inherited counts as
    failed, however fast.
    """
    rules = after.candidate.motif_ids
    if after.outcome is Outcome.UNFIT:
        after = after.model_copy(update={"measurement": None})
    elif after.outcome is Outcome.REJECTED:
        return None
    faster = judge(before, after, NOISE_FLOOR)
    if faster is not None and faster.significant:
        return _tuple(operator, before, after, "forward", faster, proposer, source, base)
    if len(rules) != 1:
        return None
    slower = judge(after, before, NOISE_FLOOR)
    return _tuple(operator, after, before, "negative", slower, proposer, source, base)


def from_result(
    result: Result, operator: Operator, proposer: Proposer, *, origin: str = ""
) -> list[ExperienceTuple]:
    """The lessons of a stored run, for example of one whose merge request was merged.

    The operator may hold the result already: its earlier sources are then had by taking the
    result's diff back. Raises `Misfit` when they cannot be had.
    """
    prefix = "" if result.operator_path == "." else result.operator_path + "/"
    base = operator.texts()
    if not _same_sources(result, operator):
        restored = undo(result.diff, {prefix + p: t for p, t in base.items()})
        base = {p.removeprefix(prefix): t for p, t in restored.items()}
        if git_diff(base, base | result.best.candidate.files) == "":
            raise Misfit("the operator's sources are neither those before nor those after the run")
    source = Provenance(commit=result.base_commit, origin=origin or f"run {result.run}")
    return lessons(operator, result.trials, proposer, source, base)


def _same_sources(result: Result, operator: Operator) -> bool:
    return all(
        (operator.root / p).is_file()
        and hashlib.sha256((operator.root / p).read_bytes()).hexdigest() == digest
        for p, digest in result.base_hashes.items()
    )


def _tuple(
    operator: Operator,
    slow: Trial,
    fast: Trial,
    direction: str,
    found: Judgement | None,
    proposer: Proposer,
    source: Provenance,
    base: dict[str, str] | None,
) -> ExperienceTuple:
    rewrite = fast if direction == "forward" else slow
    told_by = slow if slow.measurement is not None else fast
    diagnosis = _diagnosis(operator, told_by, proposer, direction, fast)
    rules = rewrite.candidate.motif_ids
    title = rewrite.candidate.rationale.partition(" at ")[0] or "A rewrite"
    if direction == "negative":
        how = "failed" if slow.measurement is None else "did not help"
        title = f"No gain: {title}"
        why = f"On {operator.name} this rewrite {how}: {_ended(slow, found)}."
    else:
        why = f"On {operator.name} this rewrite helped: {rewrite.candidate.rationale}"
    lesson = Lesson(
        title=title,
        description=why,
        bottleneck=diagnosis.bottleneck,
        classes=diagnosis.classes,
        rule_id=rules[0] if len(rules) == 1 else "",
    )
    if direction == "forward":  # a negative is not worth a model's tokens
        with contextlib.suppress(ModelUnavailable):
            lesson = proposer.distill(operator, slow, fast, lesson)
    return distill(
        operator,
        slow,
        fast,
        lesson,
        direction=direction,
        noise_floor=NOISE_FLOOR,
        test=found.test if found else "the rewrite did not pass",
        p_value=found.p_value if found else None,
        source=source,
        base=base,
    )


def _diagnosis(
    operator: Operator, told_by: Trial, proposer: Proposer, direction: str, fast: Trial
) -> Diagnosis:
    """What the kernel suffers from; a negative is not worth a model's tokens."""
    if direction != "negative":
        with contextlib.suppress(ModelUnavailable):
            return proposer.diagnose(operator, told_by)
    return diagnose_by_rules(operator, fast if direction == "negative" else told_by)


def _ended(slow: Trial, found: Judgement | None) -> str:
    if found is None:
        return slow.outcome.value.replace("_", " ")
    return f"{found.slowdown:.3f} times the time"
