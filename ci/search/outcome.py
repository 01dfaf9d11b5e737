"""The end of a run: verify the best thoroughly, give the verdict, make the diff."""

from __future__ import annotations

import hashlib
import shutil
import subprocess

from ci.judge.diagnose import diagnose
from ci.judge.roofline import rooflines
from ci.model.comparison import STEP_EFFECT, compare
from ci.model.operator import Operator
from ci.model.result import Result, UsedTuple, Verification
from ci.model.trial import Fingerprint, Outcome, Refusal, Trial
from ci.search.base import BudgetSpent
from ci.search.run import Run
from ci.source.source_diff import git_diff

_GIT_SECONDS = 20.0


def conclude(
    run: Run,
    operator: Operator,
    settings: dict[str, int | float | str | bool],
    used: list[UsedTuple],
) -> Result:
    """The Result of a run whose search is over.

    The fastest trial is verified with more seeds than a trial takes. One that fails there is
    passed over for the next fastest: a result that does not hold up is never reported.
    """
    baseline, seed = run.baseline, int(settings["seed"])
    best, verification, verdict, reason = baseline, None, "not_improved", ""
    if baseline.outcome is not Outcome.OK:
        verdict = "baseline_failed"
        words = baseline.refusal.message if baseline.refusal else baseline.outcome.value
        reason = f"The operator as it stands does not pass its workload: {words}"
    else:
        best, verification, reason = _verified_best(run, operator)
        if best.number:
            verdict = "improved"
    run.end()
    measured = baseline.measurement
    speedup = 1.0
    if best.number and measured is not None and best.measurement is not None:
        speedup = compare(measured, best.measurement).speedup
    return Result(
        run=_run_id(run, operator, seed),
        operator=operator.name,
        op_type=operator.op_type,
        operator_path=_operator_path(operator),
        base_commit=base_commit(operator),
        base_hashes={
            p: hashlib.sha256(operator.path(p).read_bytes()).hexdigest() for p in operator.sources
        },
        shared_paths=operator.shared_paths,
        fingerprint=measured.fingerprint
        if measured
        else Fingerprint(backend="sim", device="unknown", version="unknown", simulated=True),
        seed=seed,
        settings=settings,
        verdict=verdict,
        verdict_reason=reason,
        baseline=baseline,
        best=best,
        speedup=speedup,
        diff=repository_diff(operator, best.candidate.files) if best.number else "",
        trials=tuple(run.history),
        retrieved=tuple(used),
        verification=verification,
        budget=run.budget.use(),
        floors_us={r.case: r.floor_us for r in rooflines(best.measurement)}
        if best.measurement
        else {},
        bottleneck_before=_bottleneck(baseline),
        bottleneck_after=_bottleneck(best),
    )


def _verified_best(run: Run, operator: Operator) -> tuple[Trial, Verification | None, str]:
    """The fastest trial that the final check confirms; the baseline when there is none."""
    baseline = run.baseline
    assert baseline.measurement is not None
    failed = _refused_before(run)
    left = [t for t in run.history[1:] if t.outcome is Outcome.OK and not t.cached]
    while left:
        trial = _first(run, operator, left)
        left.remove(trial)
        assert trial.measurement is not None
        comparison = compare(baseline.measurement, trial.measurement)
        if comparison.verdict != "improved":
            continue
        trial = run.admit(trial)  # costs no evaluation, so that one refused takes nobody's place
        if trial.refusal is not None:
            failed = f"Trial {trial.number} is not fit to be reported: {trial.refusal.message}"
            continue
        try:
            found = run.confirm(trial)
        except BudgetSpent:
            continue  # a slower one may have passed already
        if isinstance(found, Refusal):
            failed = f"Trial {trial.number} failed the final verification: {found.message}"
            continue
        return trial, found, comparison.reason[0].upper() + comparison.reason[1:] + "."
    return baseline, None, failed or "No candidate was faster beyond the minimum effect."


def _first(run: Run, operator: Operator, left: list[Trial]) -> Trial:
    """The preferred one; else of those whose difference is not worth a reader's time the one that
    changes least."""
    preferred = next((t for t in left if t.candidate.hash == run.preferred), None)
    if preferred is not None:
        return preferred
    times = {t.number: t.measurement.score_us for t in left if t.measurement}
    near = min(times.values()) * (1 + STEP_EFFECT)
    close = [t for t in left if times[t.number] <= near]
    changed = {t.number: _changed_lines(operator, t) for t in close}
    return min(close, key=lambda t: (changed[t.number], times[t.number], t.number))


def _changed_lines(operator: Operator, trial: Trial) -> int:
    lines = repository_diff(operator, trial.candidate.files).splitlines()
    return sum(line[:1] in ("+", "-") for line in lines)


def _refused_before(run: Run) -> str:
    """Which trial the final check refused while the search went on; '' when none."""
    for trial in reversed(run.history):
        found = run.confirmed.get(trial.candidate.hash)
        if isinstance(found, Refusal) and not trial.cached:
            return f"Trial {trial.number} failed the final verification: {found.message}"
    return ""


def repository_diff(operator: Operator, files: dict[str, str]) -> str:
    """Unified diff that `git apply` takes at the repository's top; '' when nothing differs."""
    before, after = {}, {}
    for path, new in files.items():
        raw = operator.path(path).read_bytes().decode("utf-8", errors="surrogateescape")
        if "\r\n" in raw:  # sources are read with universal newlines
            new = new.replace("\r\n", "\n").replace("\n", "\r\n")
        name = operator.repository_path(path)
        before[name], after[name] = raw, new
    return git_diff(before, after)


def _operator_path(operator: Operator) -> str:
    if operator.repository is None:
        return "."
    return operator.root.resolve().relative_to(operator.repository.resolve()).as_posix()


def base_commit(operator: Operator) -> str:
    """The commit that the operator's repository is at; '' outside git."""
    git = shutil.which("git")
    if git is None or operator.repository is None:
        return ""
    done = subprocess.run(
        [git, "-C", str(operator.repository), "rev-parse", "--verify", "-q", "HEAD"],
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
