"""Prompts: Jinja files of rules/prompts, and the facts that they are given, as plain text."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ci.model.operator import Operator
from ci.model.workload import TensorCase, Workload
from ci.proposer.llm.chat import Message
from ci.proposer.llm.machine_card import card, chip_of
from ci.proposer.llm.quoting import Ours, fenced, listed, printed
from ci.proposer.llm.settings import Role
from rules.load import RULES

PROMPTS: Final = RULES / "prompts"
STEP: Final = "step"
"""The template of both halves' steps: one prompt, whatever a step may change."""

_TEMPLATES: Final[dict[Role, str]] = {"mutation": STEP, "rewriting": STEP}


def messages(role: Role, device: str, **values: Any) -> tuple[Message, ...]:
    """The system and the user message of a role, with the facts of the device."""
    chip = chip_of(device)
    facts = {"device": device, "chip": chip, "machine": card(device, chip)}
    system = _environment().get_template("system.md.j2").render(facts)
    user = _environment().get_template(f"{_TEMPLATES.get(role, role)}.md.j2").render(facts | values)
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
        autoescape=False,  # noqa: S701  (prompts are plain text; `printed` marks what is not ours)
        finalize=printed,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    jinja.filters |= {"fenced": fenced, "listed": listed, "ours": Ours}
    jinja.filters["template_text"] = lambda name: (PROMPTS / name).read_text(encoding="utf-8")
    return jinja


def _tidy(text: str) -> str:
    return text.strip() + "\n"


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
