"""The summary of a refresh in Markdown, for a CI job to publish."""

from __future__ import annotations

from experience.jobs.refresh import Refreshed


def markdown(done: Refreshed) -> str:
    """What held, what was retired and why, what was learnt, and what the bank holds now."""
    held = sum(c.verdict == "holds" for c in done.checked)
    retired = [c for c in done.checked if c.verdict == "retired"]
    unplaced = [c for c in done.checked if c.verdict.startswith("not placed")]
    stats = done.stats
    lines = [
        "# Experience bank refreshed",
        "",
        f"{done.started:%Y-%m-%d %H:%M} to {done.finished:%H:%M} UTC on "
        f"{done.backend or 'no backend'}.",
        "",
        f"- re-verified: {held} of {len(done.checked)} hold, {len(retired)} retired, "
        f"{len(unplaced)} without a place",
        f"- retired as useless: {len(done.useless)}; as near-duplicates: {len(done.duplicates)}",
        f"- rewound: {', '.join(f'{o} ({n} new)' for o, n in done.rewound.items()) or 'nothing'}",
        f"- the bank holds {stats.tuples} tuples: "
        + ", ".join(f"{n} {status}" for status, n in stats.by_status.items()),
        "",
    ]
    if retired or unplaced:
        lines += ["| tuple | operator | was | now | verdict |", "|---|---|---|---|---|"]
        for c in (*retired, *unplaced):
            lines.append(
                f"| `{c.id}` | {_cell(c.operator)} | {_times(c.before)} | {_times(c.now)} "
                f"| {_cell(c.verdict)} |"
            )
        lines.append("")
    for name, why in done.failed.items():
        lines.append(f"- {_cell(name)} does not pass: {_cell(why)}")
    return "\n".join(lines) + "\n"


def _times(value: float | None) -> str:
    return "failed" if value is None else f"{value:.3f}x"


def _cell(text: str) -> str:
    """Plain text in a table: nothing that Markdown, HTML or a forge would act on."""
    kept = "".join(c if c.isalnum() or c in " .,:;_-%()/+=" else " " for c in text)
    return " ".join(kept.split())[:200]
