"""The result of `ascendopt bench sanitizers` as Markdown tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bot.base.text import code, plain
from bot.report.page import replace_part
from ci.model.bench.sanitizers import KINDS, Explanation, Mutant, SanitizerBench, Verdict

BEGIN: Final = "<!-- measured: written by `ascendopt bench sanitizers --markdown` -->"
END: Final = "<!-- end of what is measured -->"

COLUMNS: Final[tuple[Verdict, ...]] = ("found", "put back", "not reached", "not found")


def tables(found: SanitizerBench, explanations: Sequence[Explanation]) -> str:
    """The figures by fault and by finding, then every mutant that was not found with its reason."""
    missed = [m for m in found.mutants if m.verdict == "not found"]
    reasons = [
        (mutant, next((e for e in explanations if e.explains(mutant)), None)) for mutant in missed
    ]
    harmless = sum(why is not None and not why.miss for _, why in reasons)
    holes = sum(why is not None and why.miss for _, why in reasons)
    operators = len({m.operator for m in found.mutants})
    lines = [
        f"{found.built:,} mutants of {operators} operators were built: {found.count('found'):,}"
        f" found, {found.count('put back'):,} put back by automatic synchronisation,"
        f" {found.count('not reached'):,} in code that the workload does not run,"
        f" {found.count('not found'):,} not found. Of those that run and that nothing puts back,"
        f" {found.share():.1%} are found. Of the {len(missed):,} others {harmless:,} change nothing"
        f" on these workloads, as explained below, {holes:,} are real misses and"
        f" {len(missed) - harmless - holes:,} are not explained.",
        "",
        "| fault | built | found | put back | not run | not found | share |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for kind in KINDS:
        counts = [found.count(v, kind) for v in COLUMNS]
        if sum(counts):
            cells = " | ".join(f"{n:,}" for n in counts)
            lines.append(f"| {kind} | {sum(counts):,} | {cells} | {found.share(kind):.1%} |")
    outcomes = Counter(
        "a warning" if m.outcome == "ok" else m.outcome.replace("_", " ")
        for m in found.mutants
        if m.verdict == "found"
    )
    if outcomes:
        lines += ["", "| found as | mutants |", "|---|---:|"]
        lines += [f"| {name} | {n:,} |" for name, n in outcomes.most_common()]
    if reasons:
        lines += ["", "| not found in | fault | statement | why |"]
        lines.append("|---|---|---|---|")
        lines += [
            f"| {plain(m.operator)} | {m.fault} | {code(m.words, 80)} ({code(_place(m))}) "
            f"| {_words(why)} |"
            for m, why in reasons
        ]
    if found.unusable:
        lines += ["", "Left out, because they do not pass as they stand:", ""]
        lines += [f"- {plain(words, 200)}" for words in found.unusable]
    return "\n".join(lines) + "\n"


def update_page(path: Path, found: SanitizerBench, explanations: Sequence[Explanation]) -> None:
    """Replace the measured part of the page at `path`."""
    replace_part(path, BEGIN, END, tables(found, explanations))


def _place(mutant: Mutant) -> str:
    return f"{mutant.file.rpartition('/')[2]}:{mutant.line}"


def _words(why: Explanation | None) -> str:
    if why is None:
        return "not explained"
    return f"**A real miss.** {why.why}" if why.miss else why.why
