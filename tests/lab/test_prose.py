from __future__ import annotations

import pytest

from lab.prose import checked_files, findings, load_rules

RULES = load_rules()


def rules_against(path: str, text: str) -> set[str]:
    return {finding.rule for finding in findings(path, text, RULES)}


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("The figures are told apart.", "Banned"),
        ("It is handed in.", "Banned"),
        ("The key stands in the file.", "Use"),
        ("What leaves the core waits.", "Headless"),
        (" ".join(["word"] * 41) + ".", "Length"),
    ],
)
def test_a_sentence_against_a_rule_is_found(text: str, rule: str) -> None:
    assert rules_against("docs/page.md", text) == {rule}


@pytest.mark.parametrize(
    "text", ["`told`", "```\ntold\n```", "The table at hand in short.", "A figure stands for it."]
)
def test_code_and_other_uses_of_the_words_are_let_pass(text: str) -> None:
    assert not rules_against("docs/page.md", text)


def test_docstrings_and_texts_of_python_are_read_and_docstrings_begin_with_a_sentence() -> None:
    source = 'told = 1\ndef f():\n    """Of the inputs."""\n    return "anew", f"{1} is told."\n'
    found = {(one.rule, one.line) for one in findings("a.py", source, RULES)}
    assert found == {("Docstring", 3), ("Banned", 4)}
    assert not rules_against("a.py", 'def f():\n    """Return the inputs."""\n    "anew"\n')


def test_docs_templates_and_rules_are_checked() -> None:
    names = set(checked_files())
    assert {"README.md", "docs/bot.md", "rules/constants.toml"} <= names
    assert "bot/report/templates/merge_request.md.j2" in names
    assert {"bot/setup/templates/github.yml", ".github/ISSUE_TEMPLATE/bug.yml"} <= names
    assert {"examples/README.md", "tests/README.md", "ci/simulator/machine/copy.cpp"} <= names
    assert not any(name.startswith("tests/") and name.endswith(".py") for name in names)


def test_texts_of_the_machine_are_read_and_its_comments_are_not() -> None:
    source = (
        '#include "told a"\n// told\nf("It is "  // as told\n  "told.");\nf("It is "\n  "told.");\n'
    )
    assert [(one.rule, one.line) for one in findings("a.cpp", source, RULES)] == [("Banned", 5)]
