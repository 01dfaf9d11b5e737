"""Every sentence that the bot writes under a merge request: pure text from data, posted elsewhere.

The merge request's own text is a template of bot/report; the help and what is wrong with a command
stand beside the grammar (bot/repository/command.py). A run has one status comment, which is edited
in place. Its first line holds a marker by which it is found again after a crash between posting and
remembering.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.base.text import block, code, plain
from bot.report.facts import (
    headline,
    microseconds,
    outcome_counts,
    remarks,
    score,
    steps,
    time_word,
)
from bot.repository.config import FILE
from bot.repository.job import Job, Record
from ci.model.result import Result
from ci.model.trial import Outcome, Trial

# Longest patch that a comment shows; forges refuse comments beyond 65,536 characters.
_PATCH_LIMIT: Final = 20_000
_TRIALS_SHOWN: Final = 60


def run_mark(job: Job) -> str:
    """Marks the status comment of a run."""
    return f"<!-- ascendopt-run: {job.key} -->"


def ended_mark() -> str:
    """In the status comment of a run that ended with a result."""
    return "<!-- ascendopt-ended -->"


def reply_mark(mark: str) -> str:
    """Marks an answer, so that it is given once."""
    return f"<!-- ascendopt-reply: {mark} -->"


def waiting(job: Job, note: str = "") -> str:
    """The status comment when a run is queued, or waits for another try."""
    extra = f" {plain(note)}" if note else ""
    return _comment(job, "waits for a runner", [f"Queued.{extra}"])


def running(job: Job, progress: str) -> str:
    """The status comment while a run goes on."""
    return _comment(job, "is being optimized", [plain(progress) or "Started."])


def failed(job: Job, state: str, reason: str) -> str:
    """The status comment of a run that failed or was cancelled."""
    lines = [plain(reason, 1500)] if reason else []
    lines.append("`/optimize retry` starts it again.")
    return _comment(job, state, lines)


def concluded(job: Job, result: Result, outcome: str, *, show_patch: bool) -> str:
    """The status comment of a run that ended with a result.

    `outcome`: what became of it, in a sentence; `show_patch`: there is no merge request that
    holds the patch.
    """
    lines = [f"**{plain(headline(result))}**", plain(outcome)]
    lines += _tried(result)
    if result.verdict == "improved" and show_patch and result.diff:
        shown = block(result.diff, "diff", _PATCH_LIMIT)
        lines.append(f"<details><summary>The patch</summary>\n\n{shown}\n\n</details>")
    lines.append(ended_mark())
    return _comment(job, "optimized" if result.verdict == "improved" else "tried", lines)


def _comment(job: Job, state: str, lines: Sequence[str]) -> str:
    origin = f"run {code(job.run)}, commit {code(job.source_commit[:12])}, backend "
    origin += f"{code(job.backend)}, {code(job.device)}, budget {job.budget}"
    if job.requested_by:
        origin += f", asked for by {code(job.requested_by)}"
    body = "\n\n".join(line for line in lines if line)
    return f"{run_mark(job)}\n### {code(job.operator)} {state}\n\n{body}\n\n<sub>{origin}</sub>\n"


def _tried(result: Result) -> list[str]:
    """What was tried and what bounds the operator: nothing found is an answer too."""
    counts = outcome_counts(result)
    words = ", ".join(f"{n} {plain(name.replace('_', ' '))}" for name, n in counts.items())
    lines = [
        f"{result.budget.evaluations} of {result.budget.granted} evaluations:"
        f" {words}. Times are {time_word(result)} on {code(result.fingerprint.device)}."
    ]
    if result.bottleneck_after or result.bottleneck_before:
        bound = plain(result.bottleneck_after or result.bottleneck_before)
        lines.append(f"What bounds it now: {bound}")
    if result.verdict == "not_improved":
        tried = dict.fromkeys(
            t.candidate.rationale for t in result.trials[1:] if t.candidate.rationale
        )
        if tried:
            listed = "\n".join(f"- {plain(words, 200)}" for words in list(tried)[:12])
            lines.append(f"Tried:\n\n{listed}")
    return lines


def overview(records: Sequence[Record]) -> str:
    """The answer to `/optimize status`."""
    if not records:
        return "Nothing was run for this merge request, and nothing waits."
    rows = ["| run | operator | state | |", "|---|---|---|---|"]
    for record in records[:20]:
        note = record.progress if record.state == "running" else record.note
        link = f"merge request {record.merge_request}" if record.merge_request else ""
        words = "; ".join(part for part in (plain(note, 160), link) if part)
        rows.append(
            f"| {code(record.job.run)} | {code(record.job.operator)} | {record.state} | {words} |"
        )
    return "\n".join(rows)


def history(record: Record, result: Result | None) -> str:
    """The answer to `/optimize explain RUN`: why each change was tried, kept or dropped."""
    if result is None:
        said = f" {plain(record.note)}" if record.note else ""
        return f"Run {code(record.job.run)} is {record.state} and has left no result.{said}"
    kept = {step.trial for step in steps(result)}
    why = remarks(result)
    rows = ["| trial | stage | outcome | µs | what and why |", "|---:|---|---|---:|---|"]
    for trial in result.trials[:_TRIALS_SHOWN]:
        rows.append(_row(trial, trial.number in kept, why.get(trial.number, "")))
    left = len(result.trials) - _TRIALS_SHOWN
    if left > 0:
        rows.append(f"| … | | | | {left} more |")
    return f"**{plain(headline(result))}**\n\n" + "\n".join(rows)


def _row(trial: Trial, kept: bool, remark: str) -> str:
    time = score(trial)
    words = plain(trial.candidate.rationale or ("as it stands" if not trial.number else ""), 160)
    if trial.refusal is not None:
        by = f" by {code(trial.refusal.gate)}" if trial.refusal.gate else ""
        words += f" Refused{by}: {plain(trial.refusal.message, 200)}"
    elif remark:
        words += f" Dropped: {plain(remark, 160)}"
    ids = "".join(f" {code(i)}" for i in (*trial.candidate.motif_ids, *trial.candidate.tuple_ids))
    state = "kept" if kept else "ok" if trial.outcome is Outcome.OK else trial.outcome.value
    shown = microseconds(time).removesuffix(" µs") if time is not None else ""
    return f"| {trial.number} | {trial.candidate.stage} | {state} | {shown} | {words}{ids} |"


# Answers to commands

NOTHING_ACTIVE: Final = "Nothing runs or waits for this merge request."
NOTHING_TO_RETRY: Final = "Nothing failed or was cancelled here."
COMMENTS_OFF: Final = f"{code(FILE)} switches comments off."
NOTHING_CHANGED: Final = (
    "This merge request changes no kernel or tiling source of an operator. Name one with"
    " `/optimize op=NAME`."
)


def broken_config(said: str) -> str:
    """To who asks while the configuration cannot be read."""
    return f"The configuration of this repository is broken, so nothing was done: {plain(said)}"


def not_understood(message: str) -> str:
    """To a command with a mistake."""
    return f"I did not understand this: {message} `/optimize help` lists the commands."


def no_permission(needed: str) -> str:
    """To who may not ask."""
    return f"Only people with {needed} permission for this repository can ask for that."


def not_open(state: str) -> str:
    """To a command under a merge request that is closed or merged."""
    return f"This merge request is {state}."


def head_allowed(head: str) -> str:
    """To `/ok-to-optimize`."""
    return f"Commit {code(head[:12])} may be optimized; a newer one may not."


def fork_refused(head: str) -> str:
    """To `/optimize` for a fork's head that nobody allowed."""
    return (
        "This merge request comes from a fork. Read what it changes, then write"
        f" `/ok-to-optimize`; that allows commit {code(head[:12])} only."
    )


def unknown_run(run: str) -> str:
    """To `/optimize explain` of a run that is not this repository's."""
    return f"I know no run {code(run)} of this repository."


def on_record(record: Record) -> str:
    """To a request for work that was asked for before."""
    name, run = code(record.job.operator), code(record.job.run)
    if record.state in ("failed", "cancelled"):
        return f"{name}: run {run} {record.state} before; `/optimize retry` starts it again."
    if record.state == "done":
        came = f" Merge request: {record.merge_request}." if record.merge_request else ""
        return (
            f"{name}: these sources were optimized already, run {run}. {plain(record.note)}{came}"
        )
    return f"{name}: run {run} for these sources is {record.state}."


def unknown_operator(op: str) -> str:
    """To an operator that is not there."""
    return f"There is no operator {code(op)} in this repository."


def several_operators(op: str, folders: Sequence[str]) -> str:
    """To a name that several operators have."""
    listed = ", ".join(code(f) for f in folders[:5])
    return f"There are {len(folders)} operators {code(op)}; give the folder: {listed}."


def left_alone(folder: str) -> str:
    """Of an operator that the configuration excludes."""
    return f"{code(folder)} is left alone: {code(FILE)} says so."


def no_workload(folder: str, branch: str) -> str:
    """Of an operator that nothing judges."""
    return (
        f"{code(folder)} has no workload on {code(branch)}: add"
        f" {code(folder + '/workload.yaml')} there, or name one in {code(FILE)}."
    )


def only_the_first(count: int) -> str:
    """When an event concerns more operators than it may start runs for."""
    return f"Only the first {count} operators are optimized; name others with `op=NAME`."


# What became of a result

NOTHING_TO_PROPOSE: Final = "No merge request: there is nothing to propose."
DRY_RUN: Final = "No merge request: this was a dry run."
INTO_A_FORK: Final = "No merge request into a fork: apply the patch below if you like it."


def below_minimum(speedup: float, minimum: float) -> str:
    """When a gain is not worth a reviewer's time here."""
    return f"No merge request: {speedup:.3f} is below the repository's minimum of {minimum:.3f}."


def too_many_open(count: int) -> str:
    """At the limit of open merge requests."""
    return f"No merge request: {count} of the bot are open, which is the limit here."


def too_many_today(count: int) -> str:
    """At the limit of a day."""
    return f"No merge request: {count} were opened within a day, which is the limit."


def refused(problem: object) -> str:
    """When the result does not fit the repository as it is now."""
    return f"No merge request: {problem}"


def no_result(problem: object) -> str:
    """When a run in CI left nothing."""
    return f"The run left no result ({problem})."


# Merge requests whose base moved


def rebased(result: Result) -> str:
    """When a change still holds on the new base."""
    return f"The base moved; rebased and verified again. {plain(headline(result))}"


def closing(reason: str) -> str:
    """When the bot closes its own merge request."""
    return f"I close this: {reason}"


def operator_gone(folder: str) -> str:
    """Reason to close: nothing is left to optimize."""
    return f"The operator or its workload is gone from {plain(folder)}."


def same_lines(branch: str) -> str:
    """Reason to close: the patch no longer applies."""
    return (
        f"{plain(branch)} changed the same lines, so this patch no longer"
        " applies. Optimize the operator as it is now with `/optimize`."
    )


def worthless(result: Result, commit: str) -> str:
    """Reason to close: no longer faster, or no longer right."""
    return (
        f"measured and verified again on {commit[:12]}, it no longer is worth merging."
        f" {plain(headline(result))}"
    )
