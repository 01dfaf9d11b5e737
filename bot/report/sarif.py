"""Faults of trials as SARIF 2.1.0, which forges show on the lines of a pull request.

Format: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from bot.base.text import printable
from ci.model.finding import CheckReport
from ci.model.operator import Operator
from ci.model.trial import Place, Trial
from rules.findings import finding_rule

VERSION: Final = "2.1.0"
SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT: Final = "SRCROOT"
"""The name of the top of the checkout."""

FINGERPRINT: Final = "ascendoptFinding/v1"
"""The name under which a forge knows a fault again after lines have moved."""


class _Found(NamedTuple):
    rule: str
    level: str
    text: str
    place: Place
    operator: Path
    kernel: str
    """The source with the operator's kernel, seen from its folder."""
    other: Place = Place()


def write_sarif(trials: Sequence[tuple[Operator, Trial]], root: Path, file: Path) -> None:
    """Write `sarif` of the trials to `file`, whose folder is made."""
    _write(sarif(trials, root), file)


def write_check_sarif(reports: Sequence[CheckReport], root: Path, file: Path) -> None:
    """Write `check_sarif` of the reports to `file`, whose folder is made."""
    _write(check_sarif(reports, root), file)


def _write(log: dict[str, Any], file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(log, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def check_sarif(reports: Sequence[CheckReport], root: Path) -> dict[str, Any]:
    """Return one run with a result for each finding of the checks; `root` as for `sarif`.

    What was not checked, and why, are notifications of the run.
    """
    results = [
        _Found(
            one.kind,
            one.severity.value,
            "\n".join(filter(None, (one.text or one.title, one.evidence, one.advice))),
            one.place,
            report.folder,
            report.kernel,
            one.other,
        )
        for report in reports
        for one in report.findings
    ]
    unsaid = [(report, "error", report.unchecked) for report in reports if report.unchecked]
    unsaid += [(report, "note", note) for report in reports for note in report.notes]
    log = _log(results, root)
    log["runs"][0]["invocations"] = [
        {
            "executionSuccessful": not any(report.unchecked for report in reports),
            "toolExecutionNotifications": [
                {"level": level, "message": {"text": _plain(f"{report.operator}: {text}")}}
                for report, level, text in unsaid
            ],
        }
    ]
    return log


def sarif(trials: Sequence[tuple[Operator, Trial]], root: Path) -> dict[str, Any]:
    """Return one run with a result for each refusal and for each warning of the machine.

    `trials` are operators with their trials, `root` is the folder that paths are relative to (the
    top of the checkout). What names no source is placed on the source with the kernel.
    """
    return _log([found for operator, trial in trials for found in _found(trial, operator)], root)


def _log(given: Sequence[_Found], root: Path) -> dict[str, Any]:
    results = [one._replace(rule=printable(one.rule)) for one in given]
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
                        "rules": [_rule(rule) for rule in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {ROOT: {"uri": _uri(root.resolve(), folder=True)}},
                "results": [
                    {
                        "ruleId": found.rule,
                        "ruleIndex": rules.index(found.rule),
                        "level": found.level,
                        "message": {"text": _plain(found.text)},
                        "locations": [_location(found.operator, _shown(found), root)],
                        **_related(found, root),
                        "partialFingerprints": {FINGERPRINT: fingerprint},
                    }
                    for found, fingerprint in zip(
                        results, _fingerprints(results, root), strict=True
                    )
                ],
            }
        ],
    }


def _rule(rule: str) -> Mapping[str, Any]:
    known = finding_rule(rule)
    described = {"shortDescription": {"text": known.title}}
    if known.advice:
        described["help"] = {"text": known.advice}
    return {"id": rule, "name": _title(rule), **described}


def _found(trial: Trial, operator: Operator) -> Iterator[_Found]:
    kernel = operator.seen_from_folder(operator.kernel_entry)

    def found(rule: str, level: str, text: str, place: Place) -> _Found:
        lies = place.model_copy(update={"file": operator.seen_from_folder(place.file)})
        return _Found(rule, level, text, lies, operator.root, kernel)

    if trial.refusal is not None:
        refusal = trial.refusal
        text = "\n".join(filter(None, (refusal.message, refusal.evidence)))
        yield found(trial.outcome.value, "error", text, refusal.place)
    for warning in trial.warnings:
        if warning.kind != "door":
            level = "warning" if warning.is_fault else "note"
            yield found(warning.kind, level, warning.message, warning.place)


def _title(rule: str) -> str:
    return "".join(word.capitalize() for word in rule.replace("-", "_").split("_"))


def _plain(text: str) -> str:
    return "\n".join(printable(line) for line in text.splitlines())


def _shown(found: _Found) -> Place:
    """Where a fault is shown: what names no source, on the one with the kernel."""
    return found.place if found.place.file else Place(case=found.place.case, file=found.kernel)


def _location(operator: Path, place: Place, root: Path) -> dict[str, Any]:
    """A place with the first line where none is known: forges show nothing without a line."""
    path = Path(os.path.normpath(operator.resolve() / place.file))
    region = {"startLine": max(place.line, 1)}
    try:
        inside = path.relative_to(root.resolve())
    except ValueError:
        artifact = {"uri": _uri(path)}
    else:
        artifact = {"uri": quote(os.fsencode(inside)), "uriBaseId": ROOT}
    return {"physicalLocation": {"artifactLocation": artifact, "region": region}}


def _uri(path: Path, *, folder: bool = False) -> str:
    """The address of a file; a folder's ends with a slash."""
    return "file://" + quote(os.fsencode(path)) + "/" * (folder and path != Path("/"))


def _related(found: _Found, root: Path) -> dict[str, Any]:
    if not found.other.file:
        return {}
    text = "The earlier of the two accesses."
    place = _location(found.operator, found.other, root)
    return {"relatedLocations": [{"id": 1, **place, "message": {"text": text}}]}


def _fingerprints(results: Sequence[_Found], root: Path) -> Iterator[str]:
    """Yield names of faults that last as long as their line reads the same, wherever it moves."""
    seen = Counter[str]()
    for found in results:
        shown = _shown(found)
        artifact = _location(found.operator, shown, root)["physicalLocation"]["artifactLocation"]
        line = _line(found.operator / shown.file, shown.line) or found.place.case
        words = "\0".join((found.rule, artifact["uri"], line))
        name = hashlib.sha256(words.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        seen[name] += 1
        yield f"{name}:{seen[name]}"


def _line(file: Path, number: int) -> str:
    """A source line without its blanks; '' where there is none."""
    try:
        lines = file.read_bytes().decode("utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    return "".join(lines[number - 1].split()) if 0 < number <= len(lines) else ""
