"""Prompts: Jinja files of rules/prompts, and the facts that they are given, as plain text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ci.model.operator import Operator
from ci.model.trial import Measurement, Trial
from ci.model.workload import TensorCase, Workload
from ci.proposer.llm.chat import Message
from ci.proposer.llm.settings import Role
from rules.devices import Device, device_names, load_device
from rules.load import RULES

PROMPTS: Final = RULES / "prompts"
SHOWN_TRIALS: Final = 12  # earlier trials that a prompt lists, the latest of them
SHOWN_LINES: Final = 6  # costly source lines that a prompt lists for a case


def messages(role: Role, device: str, **values: Any) -> tuple[Message, ...]:
    """The system and the user message of a role, with the facts of the device."""
    chip = load_device(device) if device in device_names() else None
    facts = {"device": device, "chip": chip, "machine": machine(device, chip)}
    system = _environment().get_template("system.md.j2").render(facts)
    user = _environment().get_template(f"{role}.md.j2").render(facts | values)
    return (Message(role="system", content=system), Message(role="user", content=_tidy(user)))


def repair(answer: str, mistake: str) -> tuple[Message, ...]:
    """What is added to a conversation to show the model its mistake, once."""
    text = _environment().get_template("repair.md.j2").render(mistake=mistake)
    return (
        Message(role="assistant", content=answer or "(nothing)"),
        Message(role="user", content=_tidy(text)),
    )


@cache
def _environment() -> Environment:
    jinja = Environment(
        loader=FileSystemLoader(PROMPTS),
        autoescape=False,  # noqa: S701  (prompts are plain text, and fenced)
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    jinja.filters["fenced"] = fenced
    return jinja


def _tidy(text: str) -> str:
    return text.strip() + "\n"


def fenced(text: str, language: str = "") -> str:
    """`text` between fences that nothing inside can close."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def attributes(operator: Operator, workload: Workload | None) -> str:
    """The static attributes S: the declaration and the cases that are optimized for."""
    lines = [f"Operator {operator.op_type} (category {operator.category or 'other'})."]
    for kind, specs in (("input", operator.inputs), ("output", operator.outputs)):
        lines += [f"{kind} {s.name}: {s.param_type}, {', '.join(s.dtypes)}" for s in specs]
    lines += [f"attribute {a.name}: {a.type}" for a in operator.attrs]
    for case in workload.cases if workload is not None else ():
        shapes = [_tensor(t) for t in case.inputs]
        given = ", ".join(f"{k}={v}" for k, v in case.attrs.items())
        lines.append(f"case {case.name}: {'; '.join(shapes)}{'; ' + given if given else ''}")
    return "\n".join(lines)


def _tensor(one: TensorCase | tuple[TensorCase, ...]) -> str:
    if isinstance(one, tuple):
        return f"list of {len(one)}: " + ", ".join(_tensor(t) for t in one[:4])
    return f"{one.dtype}{list(one.shape)}" if one.present else "absent"


def machine(device: str, chip: Device | None) -> str:
    """The chip in one line."""
    if chip is None:
        return f"Device {device}, an Ascend NPU; each core has its own unified buffer (UB)."
    return (
        f"Device {device}: {chip.vector_cores} vector cores and {chip.cube_cores} cube cores at "
        f"{chip.clock_mhz:.0f} MHz; each vector core has "
        f"{chip.architecture.memory_bytes('UB') // 1024} KiB of unified buffer (UB)."
    )


def figures(measurement: Measurement | None, texts: dict[str, str]) -> str:
    """What was measured, a paragraph a case: time, pipes, waits, traffic, costly lines."""
    if measurement is None:
        return "Not measured."
    lines = []
    for case in measurement.cases:
        pipes = case.pipes
        total = max(1, pipes.total_cycles)
        busy = ", ".join(f"{p} {c / total:.0%}" for p, c in sorted(pipes.busy_cycles.items()))
        waits = sorted(pipes.wait_cycles.items(), key=lambda w: (-w[1], w[0]))[:4]
        waited = ", ".join(f"{w} {c / total:.0%}" for w, c in waits)
        lines += [
            f"{case.case}: {case.median_us:.3f} us, {pipes.total_cycles} cycles, "
            f"{pipes.block_dim} cores, tiling key {case.tiling_key}",
            f"  busy: {busy}",
            f"  waits (who for whom): {waited or 'none'}",
            f"  GM read {pipes.gm_read_bytes} B, written {pipes.gm_write_bytes} B; UB in use "
            f"{pipes.ub_peak_bytes} B; slowest core {pipes.imbalance:.2f} of the mean; bank "
            f"conflicts {pipes.bank_conflict_cycles:.0f} cycles a core",
        ]
        for file, line, cycles in pipes.hot_lines[:SHOWN_LINES]:
            source = texts.get(file, "").splitlines()
            said = source[line - 1].strip()[:120] if 0 < line <= len(source) else ""
            lines.append(f"  {file}:{line} {cycles:.0f} cycles of core 0: {said}")
    return "\n".join(lines)


def told(trial: Trial, best: Trial) -> str:
    """An earlier trial in one line: what it was and what came of it."""
    what = trial.candidate.rationale or "the operator as it stands"
    if trial.measurement is not None:
        mark = " (the best so far)" if trial.number == best.number else ""
        refusal = trial.refusal
        warned = f"; not inherited: {refusal.message[:200]}" if refusal else ""
        came = f"{trial.measurement.score_us:.3f} us{mark}{warned}"
    else:
        refusal = trial.refusal
        came = trial.outcome.value + (f": {refusal.message[:300]}" if refusal else "")
    return f"trial {trial.number}, {trial.candidate.stage}: {what[:200]} -> {came}"


def earlier(history: Sequence[Trial], best: Trial, stage: str) -> list[str]:
    """The latest trials of a stage, with the baseline first."""
    mine = [t for t in history if t.candidate.stage == stage][-SHOWN_TRIALS:]
    return [told(t, best) for t in (*history[:1], *(t for t in mine if t.number))]
