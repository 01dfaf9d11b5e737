"""Runs the published cases, judges them, and writes the page that says how near they come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ci.lab.published.figures import load_pairs, load_versions, rebuilt_families
from ci.lab.published.page import misses, summary, write_page
from ci.lab.published.runs import simulate
from ci.lab.published.statistics import FamilyResult, judge
from ci.model.errors import InputError


@dataclass(frozen=True)
class Validation:
    """The families that were judged, and what that comes to."""

    families: tuple[FamilyResult, ...]

    @property
    def ordered(self) -> bool:
        """Whether every published pair that differs enough comes out in the right order."""
        return all(p.ordered for one in self.families for p in one.pairs if p.judged)

    def lines(self) -> list[str]:
        """The figures, then what was missed, for a person."""
        return [*summary(self.families), *(f"missed: {said}" for said in misses(self.families))]


def validate(
    family: str, version: str, page: Path | None, tell: Callable[[str], None]
) -> Validation:
    """Run and judge one family ('' for all), or those versions of it (separated by commas).

    `page` is the folder that takes validation.md and its plots. Raises InputError for a family or
    version that there is not.
    """
    known, every = rebuilt_families(), load_versions()
    if family and family not in known:
        raise InputError(f"There is no family '{family}'; known are {', '.join(known)}.")
    wanted = {name.strip() for name in version.split(",") if name.strip()}
    results = []
    for name in [family] if family else known:
        versions = [one for one in every if one.family == name]
        unknown = wanted - {one.version for one in versions}
        if unknown:
            raise InputError(f"{name} has no version {', '.join(sorted(unknown))}.")
        runs = []
        for run in simulate([one for one in versions if not wanted or one.version in wanted]):
            runs.append(run)
            tell(
                f"{name} {run.version.version}: {run.time:,.1f} simulated,"
                f" {run.version.time:,.1f} published"
            )
        results.append(judge(name, runs, load_pairs()))
    if page is not None:
        missing = [one for one in every if one.family not in known]
        names = sorted({run.version.device for one in results for run in one.versions})
        tell(f"wrote {write_page(page, results, missing, ', '.join(names))}")
    return Validation(tuple(results))
