"""Loads `findings.yml`: how bad each kind of finding is, and what to do about it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ci.model.finding import Severity
from ci.model.frozen import Frozen
from ci.model.yaml_model import read_file

FOLDER = Path(__file__).parent


class FindingRule(Frozen):
    """One kind of finding; the file's head says what the fields mean."""

    id: str
    severity: Severity
    title: str
    advice: str


class _Findings(Frozen):
    findings: tuple[FindingRule, ...]


@cache
def load_findings() -> dict[str, FindingRule]:
    """Every kind of finding by its id."""
    return {rule.id: rule for rule in read_file(_Findings, FOLDER / "findings.yml").findings}


def finding_rule(kind: str) -> FindingRule:
    """The rule of a kind; an unknown one is a warning under its own name."""
    unknown = FindingRule(
        id=kind, severity=Severity.WARNING, title=kind.replace("_", " "), advice=""
    )
    return load_findings().get(kind, unknown)
