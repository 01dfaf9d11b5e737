"""Two versions of an operator: which findings of a check are new, and which are gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from ci.model.finding import CheckReport, CheckSettings, Finding
    from ci.session.operator_check import OperatorCheck

Key: TypeAlias = tuple[str, ...]


def check_both(
    before: OperatorCheck | None, after: OperatorCheck, settings: CheckSettings
) -> tuple[CheckReport, tuple[Finding, ...], tuple[Finding, ...], tuple[Finding, ...]]:
    """The check of `after`, with its findings that are new, those that `before` has, too, and
    those that only `before` has; notes are left out.

    Raises InputError and EnvironmentProblem as a check does.
    """
    report = after.report(settings)
    now = [found for found in report.findings if found.fails]
    if before is None:
        return report, tuple(now), (), ()
    was = [found for found in before.report(settings).findings if found.fails]
    texts = _texts(before), _texts(after)
    new = beyond(now, texts[1], was, texts[0])
    gone = beyond(was, texts[0], now, texts[1])
    return report, new, tuple(found for found in now if found not in new), gone


def _texts(check: OperatorCheck) -> dict[str, str]:
    """The sources by the paths that findings have."""
    operator = check.operator
    return {operator.seen_from_folder(name): text for name, text in operator.texts().items()}


def beyond(
    findings: Sequence[Finding],
    texts: Mapping[str, str],
    others: Sequence[Finding],
    other_texts: Mapping[str, str],
) -> tuple[Finding, ...]:
    """The findings that the others do not hold, by the text of their lines: an edit moves these."""
    left = Counter(_key(found, other_texts) for found in others)
    kept = []
    for found in findings:
        key = _key(found, texts)
        if left[key]:
            left[key] -= 1
        else:
            kept.append(found)
    return tuple(kept)


def _key(found: Finding, texts: Mapping[str, str]) -> Key:
    lines = texts.get(found.place.file, "").split("\n")
    if 0 < found.place.line <= len(lines):
        return found.kind, found.place.file, " ".join(lines[found.place.line - 1].split())
    return found.kind, found.place.file, found.text.partition(":")[0]
