"""The end of a run: verify the best thoroughly, give the verdict, make the diff."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ci.judge.diagnose import diagnose
from ci.judge.gates.coverage import CoverageGate
from ci.judge.roofline import rooflines
from ci.model.comparison import MINIMUM_EFFECT, STEP_EFFECT, compare
from ci.model.errors import TrialFailure
from ci.model.git_environment import git_environment
from ci.model.operator import Operator
from ci.model.result import Result, UsedTuple, Verdict, Verification
from ci.model.trial import Fingerprint, Outcome, Refusal, Trial
from ci.model.uncertainty import Uncertainty, uncertainty
from ci.proposer.sources import left_alone
from ci.search.changes import summed
from ci.search.ending import BudgetSpent
from ci.search.run import ENSEMBLE, Run, measured
from ci.search.tidy import tidied
from ci.source.discovery import other_chips
from ci.source.source_diff import git_diff
from rules.constants import where

_GIT_SECONDS = 20.0


def conclude(
    run: Run,
    operator: Operator,
    settings: dict[str, int | float | str | bool],
    used: list[UsedTuple],
    done: str = "",
) -> Result:
    """The Result of a run whose search is over; `done` says why there was nothing to search for.

    The fastest trial is verified with more seeds than a trial takes, and its time is measured over
    the ensemble. One that fails there is passed over for the next fastest: a result that does not
    hold up is never reported, nor is one that gains less than the minimum effect in some start
    state. Where no gain is sure and verified, the verdict is "unverified" for the fastest sure one
    of which too little could be tried, else "unknown" for the fastest verified one whose gain hangs
    on what the machine's constants leave open; if none passes, the reason says why the fastest did
    not.
    """
    baseline, seed = run.baseline, int(settings["seed"])
    if baseline.outcome is not Outcome.OK:
        words = baseline.refusal.message if baseline.refusal else baseline.outcome.value
        reason = f"The original operator does not pass its workload: {words}"
        found = _Found("baseline_failed", baseline, baseline, reason)
    else:
        found = _verified_best(run, operator)
        if done and not found.best.number:
            found = replace(found, reason=done)
    baseline, best, spread = found.baseline, found.best, found.spread
    run.end()
    reason = " ".join(filter(None, (found.reason, left_alone(operator))))
    before = baseline.measurement
    speedup = 1.0
    if best.number and before is not None and best.measurement is not None:
        speedup = spread.speedup if spread else compare(before, best.measurement).speedup
    return Result(
        run=_run_id(run, operator, seed),
        operator=operator.name,
        op_type=operator.op_type,
        operator_path=_operator_path(operator),
        base_commit=base_commit(operator),
        base_hashes={p: hashlib.sha256(operator.raw(p)).hexdigest() for p in operator.sources},
        shared_paths=_paths_elsewhere(operator),
        fingerprint=before.fingerprint
        if before
        else Fingerprint(backend="sim", device="unknown", version="unknown", simulated=True),
        seed=seed,
        settings=settings,
        verdict=found.verdict,
        verdict_reason=reason,
        baseline=baseline,
        best=best,
        speedup=speedup,
        diff=repository_diff(operator, best.candidate.files) if best.number else "",
        trials=tuple(run.history),
        retrieved=tuple(used),
        verification=found.verification,
        uncertainty=spread,
        budget=run.budget.use(),
        floors_us={r.case: r.floor_us for r in rooflines(best.measurement)}
        if best.measurement
        else {},
        changes=summed(run, operator, best) if best.number else (),
        other_chips=other_chips(operator),
        bottleneck_before=_bottleneck(baseline),
        bottleneck_after=_bottleneck(best),
    )


@dataclass(frozen=True)
class _Found:
    """The summary of a run's trials at its end."""

    verdict: Verdict
    baseline: Trial
    best: Trial
    """The baseline when nothing held up."""
    reason: str
    verification: Verification | None = None
    spread: Uncertainty | None = None


def _verified_best(run: Run, operator: Operator) -> _Found:
    """The fastest trial that the final check confirms and whose gain the ensemble leaves."""
    baseline = run.baseline
    assert baseline.measurement is not None
    failed, little = "", ""
    untried: _Found | None = None
    for trial, spread in _surest_first(run, operator):
        if isinstance(spread, Refusal):
            reason = f"Trial {trial.number} failed where its time was measured: {spread.message}"
            failed = failed or reason
            continue
        if spread is not None and not spread.lasts:
            little = little or _too_little(trial, spread)
            continue
        trial = run.admit(trial)  # costs no evaluation, so that one refused takes nobody's place
        if trial.refusal is not None:
            reason = f"Trial {trial.number} is not fit to be reported: {trial.refusal.message}"
            failed = failed or reason
            continue
        try:
            found = run.confirm(trial)
        except BudgetSpent:
            continue  # a slower one may have passed already
        if isinstance(found, Refusal):
            if found.gate == CoverageGate.name:
                untried = untried or _untried(run, trial, spread, found)
            reason = f"Trial {trial.number} failed the final verification: {found.message}"
            failed = failed or reason
            continue
        if spread is None:
            reason = compare(baseline.measurement, measured(trial)).reason
            return _Found("improved", baseline, trial, _sentence(reason), found)
        verdict, reason = _judged(spread)
        if verdict != "improved" and untried is not None:
            return untried
        return _Found(verdict, run.widened(baseline), run.widened(trial), reason, found, spread)
    if untried is not None:
        return untried
    reason = (
        failed
        or _refused_before(run)
        or little
        or _undecided(run)
        or _refused_by_the_ensemble(run)
        or "No candidate was faster beyond the minimum effect."
    )
    return _Found("not_improved", baseline, baseline, reason)


def _too_little(trial: Trial, spread: Uncertainty) -> str:
    """Why a gain as measured is not worth a verification."""
    return (
        f"Trial {trial.number} is faster by a factor of {spread.speedup:.3f} as measured"
        f" ({spread.condition}), but of {spread.held:.3f} in some start state and of"
        f" {spread.mean:.3f} in their mean: a gain of at least"
        f" {MINIMUM_EFFECT:.0%} in the mean is reported that loses nothing in any."
    )


def _untried(run: Run, trial: Trial, spread: Uncertainty | None, refusal: Refusal) -> _Found | None:
    """A trial that is faster and of which too little could be tried; None where that is not
    sure."""
    if spread is None:
        baseline, faster = run.baseline, compare(measured(run.baseline), measured(trial)).reason
    elif spread.doubt is None:
        baseline, faster = run.widened(run.baseline), _judged(spread)[1]
        trial = run.widened(trial)
    else:
        return None
    reason = f"{_sentence(faster.rstrip('.'))} Not verified: {refusal.sentence}"
    return _Found("unverified", baseline, trial, reason, None, spread)


def _undecided(run: Run) -> str:
    """The fastest of the trials that pairs of samples could not decide; '' when there is none."""
    base = measured(run.baseline)
    left = [
        (found.speedup, trial.number, found.reason)
        for trial in run.history[1:]
        if trial.outcome is Outcome.OK and trial.measurement and trial.measurement.paired
        if (found := compare(base, trial.measurement)).verdict == "unknown" and found.speedup > 1
    ]
    if not left:
        return ""
    speedup, number, reason = max(left)
    return (
        f"No candidate was surely faster. Trial {number} may be, by a factor of {speedup:.3f}:"
        f" {reason}."
    )


def _surest_first(
    run: Run, operator: Operator
) -> Iterator[tuple[Trial, Uncertainty | Refusal | None]]:
    """The trials that are faster, each with its gain over the ensemble.

    The best first, but for those whose gain some member takes away: these come last.
    """
    doubtful: list[tuple[Trial, Uncertainty]] = []
    told = set[str]()
    for trial in _ranked(run, operator):
        if compare(measured(run.baseline), measured(trial)).verdict != "improved":
            continue
        trial = tidied(run, operator, trial)
        if trial.candidate.hash in told:
            continue  # what is left of a faster one
        told.add(trial.candidate.hash)
        try:
            spread = uncertainty(measured(run.widened(run.baseline)), measured(run.widened(trial)))
        except TrialFailure as failure:
            yield trial, failure.refusal
            continue
        if spread is not None and spread.doubt is not None:
            doubtful.append((trial, spread))
        else:
            yield trial, spread
    yield from doubtful


def _judged(spread: Uncertainty) -> tuple[Verdict, str]:
    """The verdict on a gain that was verified, and why."""
    least = f", and of at least {spread.held:.3f} in every start state"
    held = least if spread.held < spread.speedup else ""
    factor = f"{spread.speedup:.3f} ({spread.condition}){held}"
    said = f"Faster by a factor of {factor}: {spread.interval}."
    if spread.doubt is None:
        least = f"{where(spread.lowest)}: {spread.members[spread.lowest]:.2f}×."
        lost = f" Less than half of the gain remains {least}" if spread.hangs_on else ""
        return "improved", said + lost
    member, gain = spread.doubt
    return "unknown", f"{said} That may be no gain {where(member)}: {gain:.2f}×."


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:] + "."


def _ranked(run: Run, operator: Operator) -> Iterator[Trial]:
    """The trials that may be reported, the best first."""
    left = [t for t in run.history[1:] if t.outcome is Outcome.OK and not t.cached]
    while left:
        trial = _first(run, operator, left)
        left.remove(trial)
        yield trial


def _first(run: Run, operator: Operator, left: list[Trial]) -> Trial:
    """The preferred one; else of those whose difference is not worth a reader's time the one that
    changes least."""
    preferred = next((t for t in left if t.candidate.hash == run.preferred), None)
    if preferred is not None:
        return preferred
    times = {t.number: run.score(t) for t in left}
    # What is made from one that was refused mostly fails of the same.
    sound = [t for t in left if not run.doubted(t)] or left
    near = min(times[t.number] for t in sound) * (1 + STEP_EFFECT)
    close = [t for t in sound if times[t.number] <= near]
    changed = {t.number: _changed_lines(operator, t) for t in close}
    return min(close, key=lambda t: (changed[t.number], times[t.number], t.number))


def _changed_lines(operator: Operator, trial: Trial) -> int:
    lines = repository_diff(operator, trial.candidate.files).split("\n")
    return sum(line[:1] in ("+", "-") for line in lines)


def _refused_before(run: Run) -> str:
    """Which trial the final check refused while the search went on; '' when none."""
    for trial in reversed(run.history):
        found = run.confirmed.get(trial.candidate.hash)
        if isinstance(found, Refusal) and not trial.cached:
            return f"Trial {trial.number} failed the final verification: {found.message}"
    return ""


def _refused_by_the_ensemble(run: Run) -> str:
    """The fastest as measured of the trials that the ensemble refused; '' when there is none."""
    gates = [(t, t.refusal) for t in run.history if t.refusal and t.refusal.gate == ENSEMBLE]
    timed = [(measured(t).score_us, t.number, r.message) for t, r in gates if t.measurement]
    if not timed:
        return ""
    _, number, message = min(timed)
    return f"Trial {number} was faster as measured, but no gain: {message}"


def repository_diff(operator: Operator, files: dict[str, str]) -> str:
    """Unified diff that `git apply` takes at the repository's top; '' when nothing differs."""
    before, after = {}, {}
    for path, new in files.items():
        raw = operator.raw(path).decode("utf-8", errors="surrogateescape")
        if "\r\n" in raw:  # sources are read with universal newlines
            new = new.replace("\r\n", "\n").replace("\n", "\r\n")
        name = operator.repository_path(path)
        before[name], after[name] = raw, new
    return git_diff(before, after)


def _operator_path(operator: Operator) -> str:
    if operator.repository is None:
        return "."
    return operator.place.resolve().relative_to(operator.repository.resolve()).as_posix()


def _paths_elsewhere(operator: Operator) -> dict[str, str]:
    """Paths from the repository's top of the sources that do not lie in `operator.place`, by
    name."""
    if not operator.shares_folder:
        return operator.shared_paths
    return {source: operator.repository_path(source) for source in operator.sources}


def base_commit(operator: Operator) -> str:
    """The commit that the operator's repository is at; '' outside git."""
    git = shutil.which("git")
    if git is None or operator.repository is None:
        return ""
    done = subprocess.run(
        [git, "rev-parse", "--verify", "-q", "HEAD"],
        cwd=operator.repository,
        env=git_environment(),
        capture_output=True,
        text=True,
        timeout=_GIT_SECONDS,
        check=False,
    )
    return done.stdout.strip() if done.returncode == 0 else ""


def _bottleneck(trial: Trial) -> str:
    """Always by the figures: a report says what was measured, whoever proposed."""
    return diagnose(trial.measurement).bottleneck if trial.measurement else ""


def _run_id(run: Run, operator: Operator, seed: int) -> str:
    digest = hashlib.sha256()
    for trial in run.history:
        digest.update(trial.candidate.hash.encode())
    return f"{operator.name}-{seed}-{digest.hexdigest()[:8]}"
