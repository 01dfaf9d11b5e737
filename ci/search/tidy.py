"""What a person would still do to the best program before handing it in; it runs as before."""

from __future__ import annotations

from ci.model.operator import Operator
from ci.model.trial import Candidate, Trial
from ci.search.base import BudgetSpent
from ci.search.combine import without
from ci.search.run import Run
from ci.source.layout_style import laid_out
from ci.tiling.synthesize import follow, synthesize


def tidied(run: Run, operator: Operator, trial: Trial) -> Trial:
    """The trial without steps that became idle, laid out as the repository wants its sources.

    So what is verified last is what is handed in. The same program costs no evaluation.
    """
    return _in_style(run, operator, _without_idle(run, operator, trial))


def _without_idle(run: Run, operator: Operator, trial: Trial) -> Trial:
    """The trial without earlier steps whose removal gives the same program on every case.

    Such as a limit that a later, tighter one made idle.
    """
    line, files = _line(run, trial), trial.candidate.files
    idle: list[Trial] = []
    for step in line[:-1] if trial.program else ():
        whole = trial.model_copy(
            update={"candidate": trial.candidate.model_copy(update={"files": files})}
        )
        parent = run.parent(step)
        undone = (without(operator, whole, parent, step), _moved_back(run, operator, whole, step))
        for bare in undone:
            if bare is not None and run.evaluator.program(bare) == trial.program:
                idle.append(step)
                files = bare.files
                break
    if not idle:
        return trial
    later = [s.candidate for s in line[line.index(idle[0]) :] if s not in idle]
    told = {
        "files": files,
        "parent": run.parent(idle[0]).candidate.hash,
        "rationale": " ".join(step.rationale for step in later),
        "motif_ids": tuple(dict.fromkeys(m for step in later for m in step.motif_ids)),
        "tuple_ids": tuple(dict.fromkeys(t for step in later for t in step.tuple_ids)),
        "knobs": {},
    }
    return run.evaluate(trial.candidate.model_copy(update=told))


def _moved_back(run: Run, operator: Operator, best: Trial, step: Trial) -> Candidate | None:
    """`best` with the tiling's knobs that a step moved where they were before it; None where it
    moved none, or others after it."""
    assert run.baseline.measurement is not None
    template = synthesize(operator, run.baseline.measurement.fingerprint.device)
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


def _line(run: Run, trial: Trial) -> list[Trial]:
    """The steps that led to the trial, the oldest first, itself last."""
    line = [trial]
    while (above := run.parent(line[-1])) is not run.baseline and above not in line:
        line.append(above)
    return line[::-1]


def _in_style(run: Run, operator: Operator, trial: Trial) -> Trial:
    """Where lines make another program, and nothing is left for it or it is no gain, the trial
    stays as it was written."""
    files = laid_out(operator, trial.candidate.files)
    if files == trial.candidate.files:
        return trial
    try:
        styled = run.evaluate(trial.candidate.model_copy(update={"files": files}))
    except BudgetSpent:
        return trial
    return styled if run.faster(styled, run.baseline) else trial
