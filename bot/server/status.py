"""What the bot writes under a merge request: pure text from data, posted elsewhere.

A run has one status comment, which is edited in place. Its first line holds a marker by which it
is found again after a crash between posting and remembering.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
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
from bot.repository.job import Job, Record
from bot.server.merge_request import read_result
from ci.model.errors import InputError
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


def finished(job: Job, result: Result, outcome: str, *, show_patch: bool) -> str:
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


def history(record: Record, folder: Path) -> str:
    """The answer to `/optimize explain RUN`: why each change was tried, kept or dropped."""
    try:
        result = read_result(folder)
    except InputError:
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
