"""AccelOpt (arXiv 2511.15915): beam search with an optimization memory of the run's own pairs."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from pydantic import Field

from ci.model.frozen import Frozen
from ci.model.trial import Outcome, Trial
from ci.search.base import Strategy

if TYPE_CHECKING:
    from ci.search.run import Run
    from ci.search.steps import Steps
    from experience.bank.tuple import ExperienceTuple


class Options(Frozen):
    """The paper's B, N, K, TopK and ExpN, made smaller: it spends 2,300 evaluations, not 40."""

    beam: int = Field(default=3, ge=1, description="AccelOpt: programs B in the beam.")
    plans: int = Field(default=2, ge=1, description="AccelOpt: plans N for each of them.")
    samples: int = Field(default=2, ge=1, description="AccelOpt: attempts K at each plan.")
    learnt: int = Field(
        default=4, ge=0, description="AccelOpt: pairs TopK that an iteration adds to the memory."
    )
    memory: int = Field(default=16, ge=0, description="AccelOpt: pairs ExpN that it keeps.")


class AccelOpt(Strategy):
    """Iterations of a beam: each program gets plans, each plan attempts, the best go on.

    The planner is the proposer's diagnosis, the executor its step in a stage, the summariser its
    distillation. What differs from the paper: a plan is a stage with the diagnosis of the program,
    not free text, so that the plans of a program take the stages in turns; the attempts at a plan
    are the proposer's next ideas instead of samples of one; and the memory reaches kernel steps
    alone, as experience next to whatever the bank offers, because nothing else is asked with any.
    As in the paper an iteration keeps the best attempt of every plan, and a program whose plan
    failed stands for it behind all that ran; slower children may displace their parents.
    """

    name = "accelopt"
    summary = "AccelOpt's beam search with a memory of this run's own wins and inverted failures"
    Options = Options

    def search(self, run: Run, steps: Steps) -> None:
        """Iterations until the beam has no step left."""
        # Loads the numeric libraries, which the help must do without.
        from ci.search.memory import recalled, summarised

        options = self.options
        assert isinstance(options, Options)
        pairs: deque[ExperienceTuple] = deque(maxlen=options.memory)
        beam = [steps.start()]
        while True:
            tried = [_attempts(steps, program, options) for program in beam]
            made = [t for plans in tried for attempts in plans for t in attempts]
            if not made:
                run.note("No program of the beam has a step left to try.")
                return
            known = {p.id for p in pairs}
            taught = summarised(steps.task, [*beam, *made], options.learnt)
            pairs.extend(pair for pair in taught if pair.id not in known)
            steps.memory = recalled(pairs)
            beam = _best(run, beam, tried, options.beam)


def _attempts(steps: Steps, program: Trial, options: Options) -> list[list[Trial]]:
    """The trials of each plan for one program; an empty list where it had no step left."""
    found = []
    for plan in range(options.plans):
        stage = steps.stages[plan % len(steps.stages)]
        taken = (steps.take(stage, program) for _ in range(options.samples))
        found.append([trial for trial in taken if trial is not None])
    return found


def _best(run: Run, beam: list[Trial], tried: list[list[list[Trial]]], most: int) -> list[Trial]:
    """The best attempt of each plan, the fastest first; then programs whose plans failed."""

    def score(trial: Trial) -> tuple[float, int]:
        return run.score(trial), trial.number

    ran: dict[str, Trial] = {}
    failed: dict[str, Trial] = {}
    for program, plans in zip(beam, tried, strict=True):
        for attempts in plans:
            best = min(filter(_runs, attempts), key=score, default=None)
            kept, chosen = (failed, program) if best is None else (ran, best)
            kept.setdefault(chosen.candidate.hash, chosen)
    return [*sorted(ran.values(), key=score), *failed.values()][:most]


def _runs(trial: Trial) -> bool:
    return trial.outcome is Outcome.OK and trial.measurement is not None and not trial.cached
