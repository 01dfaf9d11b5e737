"""Checks prose against the style rules in `.vale/Plain`: docs, templates, docstrings and texts.

Usage: python -m lab.prose [--level warning] [FILES]

It reads Markdown, templates, rules, issue templates, the CI files that `init` writes, and the texts
of Python and of the machine's C++. Tests, operators and prompts are left out.

The rules are in Vale's format, so that Vale reads them too. The package `vale` downloads a binary
when it first runs; this checker needs no download. It knows the kinds of rules that we use:
existence, substitution and occurrence, in the scopes text, sentence and docstring. A string of
several words in the code is a text: help, an error, a line of the terminal.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

TOP: Final = Path(__file__).parents[1]
RULES: Final = TOP / ".vale" / "Plain"
LEVELS: Final = ("warning", "error")
CHECKED: Final = (
    *("*.md", "*.py", "bot/*.j2", "lab/*.j2", "rules/*.yml", "rules/*.toml"),
    *(".github/ISSUE_TEMPLATE/*.yml", "bot/setup/templates/*.yml", "examples/models.yml"),
    *("ci/simulator/*.cpp", "ci/simulator/*.h", "ci/host/*.cpp", "ci/host/*.h"),
)
"""Patterns of git for the files to check."""
SKIPPED: Final = (
    *("examples/attacks/", "examples/workloads/", "examples/sample_repository/src/"),
    *("docs/style.md", "THIRD_PARTY", "rules/prompts/"),
)
_CODE: Final = re.compile(r"```.*?```|`[^`\n]*`|<!--.*?-->|\{#.*?#\}|\{%.*?%\}", re.DOTALL)
_ALL: Final = re.compile(r".+", re.DOTALL)
_CPP_STRINGS: Final = re.compile(
    r'^\s*#\s*include[^\n]*|//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*',
    re.MULTILINE | re.DOTALL,
)
"""Strings that follow each other, and what is passed over: comments and includes."""
_SENTENCE: Final = re.compile(r"[^.!?|\n]+(?:\n(?!\n|[-|#*])[^.!?|\n]+)*")


@dataclass(frozen=True)
class Rule:
    """One file of `.vale/Plain`."""

    name: str
    level: str
    scope: str
    message: str
    pattern: re.Pattern[str]
    better: dict[str, str]
    most: int


@dataclass(frozen=True)
class Finding:
    """A place in a file that a rule complains about."""

    path: str
    line: int
    level: str
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.level}: {self.message} ({self.rule})"


def load_rules(folder: Path = RULES) -> list[Rule]:
    """The rules in `folder`. Raises KeyError for a rule without `extends`, `message` or `level`."""
    return [_rule(path.stem, yaml.safe_load(path.read_text())) for path in sorted(folder.glob("*"))]


def _rule(name: str, given: dict[str, Any]) -> Rule:
    flags = re.IGNORECASE if given.get("ignorecase") else re.NOFLAG
    swap: dict[str, str] = given.get("swap", {})
    words = [*given.get("tokens", []), *swap]
    parts = [rf"\b(?:{word})\b" for word in words] + given.get("raw", [])
    if "token" in given:
        parts = [given["token"]]
    return Rule(
        name=name,
        level=given["level"],
        scope=given.get("scope", "text"),
        message=given["message"],
        pattern=re.compile("|".join(parts), flags),
        better=swap,
        most=given.get("max", 0),
    )


def findings(path: str, text: str, rules: list[Rule]) -> Iterator[Finding]:
    """The complaints about one file, in no order; only docstrings and texts count in Python."""
    if path.endswith(".py"):
        for line, words, docstring in strings(text):
            yield from _in_text(path, line, words, rules, docstring=docstring)
    elif path.endswith((".cpp", ".h")):
        for line, words in cpp_strings(text):
            yield from _in_text(path, line, words, rules, docstring=False)
    else:
        yield from _in_text(path, 1, text, rules, docstring=False)


def strings(text: str) -> Iterator[tuple[int, str, bool]]:
    """Line and text of every string of several words; True for docstrings, also below fields."""
    tree = ast.parse(text)
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value, id(node) in alone


def cpp_strings(text: str) -> Iterator[tuple[int, str]]:
    """Line and text of every string of several words in C++, with those that follow it at once."""
    for found in _CPP_STRINGS.finditer(text):
        words = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', found.group()))
        if " " in words and found.group().startswith('"'):
            yield text.count("\n", 0, found.start()) + 1, words


def _in_text(
    path: str, first: int, text: str, rules: list[Rule], *, docstring: bool
) -> Iterator[Finding]:
    prose = _CODE.sub(lambda m: re.sub(r"[^\n]", "`", m.group()), text)
    for rule in rules:
        if rule.scope == "docstring" and not docstring:
            continue
        whole = prose.split("\n", 1)[0] if rule.scope == "docstring" else prose
        split = _SENTENCE if rule.scope == "sentence" else _ALL
        for piece in split.finditer(whole):
            words = piece.group()
            words = words.lstrip(" \n#*-|") if rule.scope == "sentence" else words
            found = list(rule.pattern.finditer(words))
            if len(found) <= rule.most:
                continue
            offset = piece.start() + piece.group().find(found[0].group())
            for match in found if not rule.most else found[:1]:
                at = offset if rule.scope == "sentence" else match.start()
                line = first + whole.count("\n", 0, at)
                yield Finding(path, line, rule.level, rule.name, _said(rule, match.group()))


def _said(rule: Rule, words: str) -> str:
    better = [new for old, new in rule.better.items() if re.fullmatch(old, words, re.IGNORECASE)]
    values = (*better, words)[: rule.message.count("%s")]
    return rule.message % values


def checked_files() -> list[str]:
    """The tracked files with prose, from the repository's top."""
    names = subprocess.run(
        ["git", "ls-files", *CHECKED], cwd=TOP, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    return [
        name
        for name in names
        if not name.startswith(SKIPPED) and "published" not in name
        if not (name.startswith("tests/") and name.endswith(".py"))
    ]


def main() -> int:
    """Print the complaints; 1 when one of them is an error."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--level", choices=LEVELS, default="error")
    given = parser.parse_args()
    rules = [r for r in load_rules() if LEVELS.index(r.level) >= LEVELS.index(given.level)]
    worst = 0
    for name in given.files or checked_files():
        for finding in findings(name, (TOP / name).read_text(encoding="utf-8"), rules):
            print(finding)
            worst |= finding.level == "error"
    return worst


if __name__ == "__main__":
    sys.exit(main())
