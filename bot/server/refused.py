"""Refusals of people, for good or until a date, and what the bot passes over by itself.

A no is about an operator or an idea. It is remembered by name among the facts, by what it is about
and not by the bytes of the sources.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import Final, Literal, NamedTuple, get_args

Kind = Literal["operator", "idea"]
PREFIX: Final = "no "
"""Begins the name of such a fact; the state branch keeps them all."""
PASSED: Final = "passed "


class No(NamedTuple):
    """One refusal."""

    kind: Kind
    what: str
    """Operator's folder, or id of a motif."""
    until: str = ""
    """Last day, YYYY-MM-DD; '' for good."""
    by: str = ""
    """Login of who said so."""

    def fact(self, forge: str, repository: str) -> tuple[str, str]:
        """Name and value under which it is remembered."""
        value = json.dumps({"until": self.until, "by": self.by})
        return self._name(forge, repository), value

    def withdrawn(self, forge: str, repository: str) -> tuple[str, str]:
        """The same fact once it is no longer so."""
        return self._name(forge, repository), ""

    def _name(self, forge: str, repository: str) -> str:
        return f"{PREFIX}{forge} {repository} {self.kind} {self.what}"


def passed_over(forge: str, repository: str, what: str, reason: str) -> tuple[str, str]:
    """Name and value under which it is remembered why no push starts a search of an operator, or,
    with `what` '', why a push was not looked at; without a `reason` it is no longer so."""
    return f"{PASSED}{forge} {repository} {what}".rstrip(), reason


def all_passed_over(facts: Mapping[str, str], forge: str, repository: str) -> dict[str, str]:
    """The reasons for what is passed over, by the operator's folder or ''."""
    name = passed_over(forge, repository, "", "")[0]
    return {
        key.removeprefix(name).strip(): reason
        for key, reason in sorted(facts.items())
        if reason and (key == name or key.startswith(f"{name} "))
    }


def refusals(facts: Mapping[str, str], forge: str, repository: str, now: float) -> list[No]:
    """Return the refusals that hold at `now` (Unix time, s), by name."""
    start, found = f"{PREFIX}{forge} {repository} ", list[No]()
    today = datetime.fromtimestamp(now, UTC).date()
    for name, value in sorted(facts.items()):
        kind, _, what = name.removeprefix(start).partition(" ")
        if not name.startswith(start) or not value or kind not in get_args(Kind):
            continue
        with suppress(ValueError, TypeError, AttributeError):  # the branch can be written by others
            said = json.loads(value)
            until = str(said.get("until", ""))
            if not until or date.fromisoformat(until) >= today:
                found.append(No(kind, what, until, str(said.get("by", ""))))  # type: ignore[arg-type]
    return found
