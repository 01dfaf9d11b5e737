"""Tidies the best program as a person would before submitting it; it runs as before."""

from __future__ import annotations

from ci.model.comparison import MINIMUM_EFFECT
from ci.model.operator import Operator
from ci.model.trial import Candidate, Trial
from ci.search.combine import left_of, without
from ci.search.ending import BudgetSpent
from ci.search.run import Run
from ci.source.layout_style import laid_out
from ci.tiling.synthesize import follow, synthesize


def tidied(run: Run, operator: Operator, trial: Trial) -> Trial:
    """The trial without steps that are idle or earn too little, laid out as the repository wants
    its sources.

    So what is verified last is what is submitted. The same program costs no evaluation.
    """
    line = run.line(trial)
    idle, files = _idle(run, operator, trial, line)
    bare = run.evaluate(left_of(line, idle, files)) if idle else trial
    return _in_style(run, operator, _without_weak(run, operator, bare, line, idle))


def _idle(
    run: Run, operator: Operator, trial: Trial, line: list[Trial]
) -> tuple[list[Trial], dict[str, str]]:
    """Earlier steps whose removal gives the same program on every case, and the texts without.

    Such as a limit that a later, tighter one made idle.
    """
    files, idle = trial.candidate.files, list[Trial]()
    for step in line[:-1] if trial.program else ():
        whole = _with(trial, files)
        parent = run.parent(step)
        undone = (without(operator, whole, parent, step), _moved_back(run, operator, whole, step))
        for bare in undone:
            if bare is not None and run.evaluator.program(bare) == trial.program:
                idle.append(step)
                files = bare.files
                break
    return idle, files


def _without_weak(
    run: Run, operator: Operator, trial: Trial, line: list[Trial], idle: list[Trial]
) -> Trial:
    """The trial without the steps of its line that earn less than the minimum effect.

    All at once where that loses no more than each may, else one by one, as far as what was kept of
    the budget reaches: another may rest on one. Where nothing else earns anything they stay.
    """
    weak = [step for step in run.weak(line[-1]) if step not in idle]
    if len(weak) + len(idle) == len(line):
        return trial
    kept, out = trial, list[Trial]()
    singles = [[step] for step in reversed(weak)]  # on later ones less rests
    for some in [weak, *singles] if len(weak) > 1 else [weak]:
        files = kept.candidate.files
        for step in some:
            bare = without(operator, _with(kept, files), run.parent(step), step)
            files = bare.files if bare is not None else files
        if not files or files == kept.candidate.files:
            continue
        candidate = left_of(line, [*idle, *out, *some], files)
        try:
            made = _tried(run, candidate) or run.evaluate(candidate, dropping=True)
        except BudgetSpent:
            break
        if run.faster(made, kept, (1 + MINIMUM_EFFECT) ** -len(some)):
            kept, out = made, [*out, *some]
        if out == weak:
            break
    return kept


def _tried(run: Run, candidate: Candidate) -> Trial | None:
    """Return the trial of this very program in the history, which holds final verdicts, too."""
    own = (t for t in run.history[1:] if t.candidate.hash == candidate.hash and not t.cached)
    return next(own, None)


def _with(trial: Trial, files: dict[str, str]) -> Trial:
    """The trial as if its candidate had these texts."""
    return trial.model_copy(
        update={"candidate": trial.candidate.model_copy(update={"files": files})}
    )


def _moved_back(run: Run, operator: Operator, best: Trial, step: Trial) -> Candidate | None:
    """`best` with the tiling's knobs that a step moved where they were before it; None where it
    moved none, or others after it."""
    assert run.baseline.measurement is not None
    device = run.baseline.measurement.fingerprint.device
    template = synthesize(operator, device, cut=run.cut)
    known = follow(operator, template, [*run.history, best])
    now, after = known.get(best.candidate.hash), known.get(step.candidate.hash)
    if now is None or after is None:
        return None
    before = known.get(run.parent(step).candidate.hash, template).values
    back = {k: before[k] for k, v in after.values.items() if k in before and before[k] != v}
    if not back or any(now.values.get(k) != after.values[k] for k in back):
        return None
    files = {**best.candidate.files, **now.changes(back)}
    own = {path: text for path, text in files.items() if text != operator.read(path)}
    return best.candidate.model_copy(update={"files": own})


def _in_style(run: Run, operator: Operator, trial: Trial) -> Trial:
    """Where lines make another program, and nothing is left for it or it is no gain, the trial
    stays as it was written."""
    files = laid_out(operator, trial.candidate.files)
    if files == trial.candidate.files:
        return trial
    try:
        style = trial.candidate.model_copy(update={"files": files})
        styled = run.evaluate(style, dropping=True)
    except BudgetSpent:
        return trial
    return styled if run.faster(styled, run.baseline) else trial
