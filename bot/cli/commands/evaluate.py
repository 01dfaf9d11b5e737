"""`ascendopt evaluate`: one trial of the original operator, or of a patched one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from pydantic import Field

from bot.base.git import Git
from bot.cli.options import OrdinaryPath, build, json_option, options
from bot.cli.say import say
from bot.report.sarif import write_sarif
from bot.repository.patch import applied, read_patch
from ci.model.frozen import Frozen
from ci.model.operator import Operator
from ci.model.settings import EvaluationSetup, UncertaintyOptions
from ci.model.trial import Candidate, Outcome, Trial
from ci.model.uncertainty import Uncertainty, uncertainty
from ci.session.session import open_session
from rules.constants import where


class PatchOptions(Frozen):
    """A patch to apply before the evaluation."""

    patch: Path | None = Field(
        default=None, description="Unified diff of the operator's own sources to apply first."
    )


class SarifOptions(Frozen):
    """Where faults are written for editors and forges."""

    sarif: Path | None = Field(
        default=None,
        description="Also write races, out-of-bounds accesses and other faults to this SARIF file.",
    )


class Compared(Frozen):
    """A patch against the original operator, over one ensemble."""

    before: Trial
    after: Trial
    uncertainty: Uncertainty | None = Field(
        default=None, description="None where the original operator has no time."
    )

    @classmethod
    def of(cls, before: Trial, after: Trial) -> Compared:
        """Both with what the patch is worth."""
        found = None
        if before.measurement is not None and after.measurement is not None:
            found = uncertainty(before.measurement, after.measurement)
        return cls(before=before, after=after, uncertainty=found)

    def text(self) -> str:
        """Times before and after, the ratio with its range, and the member that decides."""
        from bot.base.text import microseconds

        found, before, after = self.uncertainty, self.before.measurement, self.after.measurement
        if found is None or before is None or after is None:
            return f"The original operator ends as {self.before.outcome.value}: no ratio."
        return (
            f"before: {microseconds(before.score_us)}, after: {microseconds(after.score_us)},"
            f" ratio: {found.speedup:.3f} ({found.interval}; {found.condition})\n"
            f"least: {found.members[found.lowest]:.2f}× {where(found.lowest)}"
        )


def candidate_of(operator: Operator, patch: Path | None) -> Candidate:
    """The original operator as a candidate, or the operator with the changes of `patch`."""
    if patch is None:
        return Candidate()
    files = applied(operator, read_patch(patch), str(patch))
    return Candidate(files=files, stage="kernel", proposer="patch", rationale=f"patch {patch.name}")


def announce(operator: Operator, cases: int) -> None:
    """Say on stderr what is going on: the first run on a machine takes minutes."""
    say(
        f"Building, running and verifying {operator.name}, {cases} case{'s' * (cases != 1)}"
        " (the first run on a machine builds the simulator too).",
        err=True,
    )


def echo_trial(trial: Trial) -> None:
    """Outcome, evidence and times for a person."""
    from bot.base.text import microseconds
    from bot.report.uncertainty import ensemble_lines

    say(f"outcome: {trial.outcome.value}")
    if trial.refusal is not None:
        refusal = trial.refusal
        place = f" ({refusal.place.source})" if refusal.place.file else ""
        by = f"refused by {refusal.gate}: " if refusal.gate else ""
        say(f"  {by}{refusal.message}{place}")
        for line in refusal.evidence.splitlines()[:20]:
            say(f"    {line}")
        for ended in trial.cases:
            say(f"  {ended.case}: {ended.outcome.value}")
    for warning in trial.warnings:
        if warning.kind != "door":
            say(f"warning: {warning.message}")
    for text in sorted({warning.text for warning in trial.warnings if warning.kind == "door"}):
        say(f"note: {text}")
    if trial.measurement is None:
        return
    kind = "simulated time" if trial.measurement.fingerprint.simulated else "time"
    width = max(len(case.case) for case in trial.measurement.cases)
    for case in trial.measurement.cases:
        spread = ""
        if case.low_us != case.high_us:
            spread = f" ({microseconds(case.low_us)} to {microseconds(case.high_us)})"
        say(
            f"  {case.case:<{width}}  {microseconds(case.median_us):>12}{spread}"
            f"  {case.pipes.total_cycles:>10,} cycles  {case.pipes.block_dim:>2} blocks"
            f"  tiling key {case.tiling_key}"
        )
        for line in ensemble_lines(case.members_us):
            say(f"  {'':<{width}}  {line}")
    score = microseconds(trial.measurement.score_us)
    made = trial.measurement.fingerprint
    state = f", {made.state}" if made.simulated else ""
    say(f"score: {score} {kind} on {made.device}{state}")


@options(EvaluationSetup, UncertaintyOptions, PatchOptions, SarifOptions)
@click.command()
@click.argument("operator", type=OrdinaryPath())
@json_option
@click.pass_context
def evaluate(ctx: click.Context, /, operator: Path, as_json: bool, **given: Any) -> None:
    """Build, run, verify and measure OPERATOR once.

    OPERATOR is the folder that holds op_host and op_kernel. Ends with 1 when the outcome is not ok.
    With --patch and --uncertainty the original operator is measured too, and what the patch is
    worth over the machine's uncertainty is said.
    """
    own = build(PatchOptions, given)
    wide = build(UncertaintyOptions, given)
    session = open_session(operator, build(EvaluationSetup, given), conditions=wide)
    candidate = candidate_of(session.operator, own.patch)
    announce(session.operator, len(session.workload.cases))
    trial = session.evaluate(candidate, widened=wide.given())
    if (file := build(SarifOptions, given).sarif) is not None:
        folder = session.operator.root
        write_sarif([(session.operator, trial)], Git(folder).top() or folder, file)
    compared = None
    if own.patch is not None and wide.uncertainty and trial.outcome is Outcome.OK:
        compared = Compared.of(session.evaluate(Candidate(), widened=True), trial)
    if as_json:
        say((compared or trial).model_dump_json(indent=2))
    else:
        echo_trial(trial)
        if compared is not None:
            say(compared.text())
    ctx.exit(0 if trial.outcome is Outcome.OK else 1)
