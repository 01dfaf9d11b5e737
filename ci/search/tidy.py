"""What a person would still do to the best program before handing it in; it runs as before."""

from __future__ import annotations

from ci.model.operator import Operator
from ci.model.trial import Trial
from ci.search.base import BudgetSpent
from ci.search.combine import without
from ci.search.run import Run
from ci.source.layout_style import laid_out


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
        bare = without(operator, whole, run.parent(step), step)
        if bare is not None and run.evaluator.program(bare) == trial.program:
            idle.append(step)
            files = bare.files
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
