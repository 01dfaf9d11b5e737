"""No text of others means anything in a prompt, whichever field it is in."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from jinja2 import meta
from markdown_it import MarkdownIt

from ci.proposer.llm.prompts import PROMPTS, _environment, attributes
from ci.proposer.llm.quoting import fenced, quoted
from ci.testing.scale_shift import OPERATOR, WORKLOAD

MARK = "HARK"
TEXTS = (
    f"```\n{MARK}",
    f"``\n{MARK} ` {MARK}",
    f"`````{MARK}\n~~~\n\n{MARK}\r`````\u2028{MARK}",
    f"`{MARK}`",
    f"\n\n# {MARK}\n\n- {MARK}",
    f"</pre>\n\n{MARK} ",
)
TEMPLATES = sorted(p.name for p in PROMPTS.glob("*.j2"))
OURS = {"auto_sync", "card", "costs", "machine", "may_change", "task", "chip"}
"""What prompts say of the machine and of their task, word for word from this project."""


def prose(text: str) -> str:
    """What a reader of Markdown takes for the writer's own words."""
    said = []
    for block in MarkdownIt("commonmark").parse(text):
        if block.type not in ("fence", "code_block"):
            said += [t.content for t in block.children or () if t.type != "code_inline"]
    return "\n".join(said)


def values(name: str, text: str) -> dict[str, object]:
    """A value for each name that a template prints, all of them of that text."""
    jinja = _environment()
    source = (PROMPTS / name).read_text("utf-8")
    one = SimpleNamespace(id=text, effect=text, text=text, diff=text)
    draft = SimpleNamespace(title=text, bottleneck=text)
    made: dict[str, object] = {
        "tuples": [one],
        "draft": draft,
        "best": SimpleNamespace(number=1),
        "most_lines": 60,
        "chip": None,
    }
    made |= dict.fromkeys(("sources", "shared", "kernel"), {text: text})
    made |= dict.fromkeys(("vain", "near", "earlier", "evidence", "functions", "knobs"), [text])
    made |= dict.fromkeys(("inputs", "cases", "taxonomy", "removed"), [text])
    names = meta.find_undeclared_variables(jinja.parse(source))
    free = {n: "ours" if n in OURS else [text] if n == "attributes" else text for n in names}
    if name != "creation.md.j2" and "attributes" in free:
        free["attributes"] = text
    return {n: made.get(n, free[n]) for n in names}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", TEMPLATES)
def test_no_field_of_a_prompt_leaves_its_fence(name: str, text: str) -> None:
    given = values(name, text)
    shown = _environment().get_template(name).render(given)
    assert MARK not in prose(shown)
    if given.keys() - OURS - {"best", "most_lines"}:
        assert MARK in shown


@pytest.mark.parametrize("text", TEXTS)
def test_nothing_closes_a_fence_or_the_backticks_around_it(text: str) -> None:
    assert prose(f"Before.\n\n{fenced(text)}\n\nAfter.") == "Before.\nAfter."
    assert MARK not in prose(f"Before {quoted(text)} after.")


def test_the_words_of_a_case_are_shown_in_a_fence() -> None:
    case = WORKLOAD.cases[0].model_copy(update={"name": TEXTS[0], "attrs": {"a": TEXTS[0]}})
    said = attributes(OPERATOR, WORKLOAD.model_copy(update={"cases": (case,)}))
    assert MARK in said
    assert MARK not in prose(fenced(said))
