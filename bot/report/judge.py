"""The result of `ascendopt bench judge` as Markdown tables."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bot.base.text import code, plain
from bot.report.page import replace_part
from ci.model.bench.judge import MOST_REFUSED, JudgeBench, Ruling

BEGIN: Final = "<!-- measured: written by `ascendopt bench judge --markdown` -->"
END: Final = "<!-- end of what is measured -->"

_SENTENCE: Final = 160
"""Characters of a refusal that a row shows."""


def tables(found: JudgeBench) -> str:
    """The summary, then every ruling with its gate and sentence."""
    head = "| id | operator | candidate | is | verdict | why |\n|---|---|---|---|---|---|\n"
    return f"{summary(found)}\n{head}" + "".join(f"{_row(r)}\n" for r in found.rulings)


def summary(found: JudgeBench) -> str:
    """The figures by class, and what went wrong."""
    operators = len({r.operator for r in found.rulings})
    wrong, honest = found.of("wrong"), found.of("honest")
    lines = [
        f"{len(found.rulings)} candidates of {operators} operators. Wrong and accepted:"
        f" {len(found.of('wrong', 'accepted'))} of {len(wrong)}; wrong, through every gate and only"
        f" not faster: {len(found.of('wrong', 'no gain'))}. Honest and refused:"
        f" {len(found.of('honest', 'refused'))} of {len(honest)} (at most {MOST_REFUSED:.0%} may).",
        "",
        "| class | wrong | accepted | no gain | refused | honest | accepted | no gain | refused |",
        "|---|" + "---:|" * 8,
    ]
    lines += [f"| {plain(kind)} | {_counts(found, kind)} |" for kind in found.kinds]
    lines.append(f"| all | {_counts(found)} |")
    if found.failures:
        lines += ["", "What should not be:", ""]
        lines += [f"- {_failure(ruling)}" for ruling in found.failures]
    if found.unusable:
        lines += ["", "Not judged:", ""]
        lines += [f"- {plain(words, 300)}" for words in found.unusable]
    return "\n".join(lines) + "\n"


def update_page(path: Path, found: JudgeBench) -> None:
    """Replace the measured part of the page at `path`."""
    replace_part(path, BEGIN, END, tables(found))


def _counts(found: JudgeBench, kind: str = "") -> str:
    cells = []
    for truth in ("wrong", "honest"):
        cells.append(len(found.of(truth, kind=kind)))
        cells += [len(found.of(truth, v, kind)) for v in ("accepted", "no gain", "refused")]
    return " | ".join(str(n) for n in cells)


def _failure(ruling: Ruling) -> str:
    said = ruling.sentence or ruling.witness or f"{ruling.speedup or 1.0:.3f} times as fast"
    where = f" by {ruling.gate}" if ruling.gate else ""
    return f"{code(ruling.id)}, {ruling.truth}, {ruling.verdict}{where}: {plain(said, 300)}"


def _row(ruling: Ruling) -> str:
    verdict = ruling.verdict + (f" {ruling.speedup:.3f}×" if ruling.speedup else "")
    why = f"{ruling.gate}: {plain(ruling.sentence, _SENTENCE)}" if ruling.gate else ""
    return (
        f"| {code(ruling.id)} | {plain(ruling.operator)} | {plain(ruling.what, _SENTENCE)} "
        f"| {ruling.truth} | {verdict} | {why or plain(ruling.witness, _SENTENCE)} |"
    )
