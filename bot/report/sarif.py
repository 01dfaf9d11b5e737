"""Faults of trials as SARIF 2.1.0, which forges show on the lines of a pull request.

Format: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from ci.model.finding import CheckReport
from ci.model.trial import Place, Trial

VERSION = "2.1.0"
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


class _Found(NamedTuple):
    rule: str
    level: str
    text: str
    place: Place
    operator: Path


def write_sarif(trials: Sequence[tuple[Path, Trial]], root: Path, file: Path) -> None:
    """Write `sarif` of the trials to `file`, whose folder is made."""
    _write(sarif(trials, root), file)


def write_check_sarif(reports: Sequence[CheckReport], root: Path, file: Path) -> None:
    """Write `check_sarif` of the reports to `file`, whose folder is made."""
    _write(check_sarif(reports, root), file)


def _write(log: dict[str, Any], file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(log, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def check_sarif(reports: Sequence[CheckReport], root: Path) -> dict[str, Any]:
    """Return one run with a result for each finding of the checks; `root` as for `sarif`."""
    results = [
        _Found(
            one.kind,
            one.severity.value,
            "\n".join(filter(None, (one.text, one.evidence, one.advice))),
            one.place,
            report.folder,
        )
        for report in reports
        for one in report.findings
    ]
    return _log(results, root)


def sarif(trials: Sequence[tuple[Path, Trial]], root: Path) -> dict[str, Any]:
    """Return one run with a result for each refusal and for each warning of the machine.

    `trials` are operators' folders with their trials, `root` is the folder that paths are relative
    to (the top of the checkout). What names no source is placed on the first kernel source.
    """
    return _log([found for operator, trial in trials for found in _found(trial, operator)], root)


def _log(results: Sequence[_Found], root: Path) -> dict[str, Any]:
    rules = sorted({found.rule for found in results})
    return {
        "$schema": SCHEMA,
        "version": VERSION,
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "ascendopt",
                        "informationUri": "https://arxiv.org/abs/2603.23566",
                        "rules": [{"id": rule, "name": _title(rule)} for rule in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {"SRCROOT": {"uri": root.resolve().as_uri() + "/"}},
                "results": [
                    {
                        "ruleId": found.rule,
                        "ruleIndex": rules.index(found.rule),
                        "level": found.level,
                        "message": {"text": found.text},
                        "locations": [_location(found, root)],
                    }
                    for found in results
                ],
            }
        ],
    }


def _found(trial: Trial, operator: Path) -> Iterator[_Found]:
    if trial.refusal is not None:
        refusal = trial.refusal
        text = "\n".join(filter(None, (refusal.message, refusal.evidence)))
        yield _Found(trial.outcome.value, "error", text, refusal.place, operator)
    for warning in trial.warnings:
        if warning.kind != "door":
            level = "warning" if warning.is_fault else "note"
            yield _Found(warning.kind, level, warning.message, warning.place, operator)


def _title(rule: str) -> str:
    return "".join(word.capitalize() for word in rule.replace("-", "_").split("_"))


def _location(found: _Found, root: Path) -> dict[str, Any]:
    operator, place = found.operator, found.place
    file = place.file or next(
        (
            path.relative_to(operator).as_posix()
            for path in sorted((operator / "op_kernel").glob("*.cpp"))
        ),
        "",
    )
    inside = PurePosixPath(operator.resolve().relative_to(root.resolve()).as_posix())
    location: dict[str, Any] = {
        "artifactLocation": {"uri": str(inside / file), "uriBaseId": "SRCROOT"}
    }
    if place.file and place.line:
        location["region"] = {"startLine": place.line}
    return {"physicalLocation": location}
