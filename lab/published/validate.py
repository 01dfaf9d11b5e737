"""Runs the published cases, judges them, and writes the page that says how near they come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ci.host.door import FrontDoor, open_door, own_headers
from ci.model.errors import InputError
from lab.model.validation import ValidateSettings
from lab.published.doors import DoorResult, recommended
from lab.published.figures import Simulated, Version, load_pairs, load_versions, rebuilt_families
from lab.published.kept import KeptRuns, kept_runs
from lab.published.page import misses, summary, totals, write_page
from lab.published.runs import simulate
from lab.published.statistics import FamilyResult, judge


@dataclass(frozen=True)
class Validation:
    """The families that were judged, and what that comes to."""

    doors: tuple[DoorResult, ...]
    """Through our own headers; where real ones were given, also through them."""

    @property
    def families(self) -> tuple[FamilyResult, ...]:
        """The families through the recommended door."""
        return recommended(self.doors).families

    @property
    def ordered(self) -> bool:
        """Whether every published pair that differs enough comes out in the right order."""
        door = recommended(self.doors)
        return door.ordered == len(door.judged)

    def lines(self) -> list[str]:
        """The figures, then what was missed, for a person."""
        return [
            *summary(self.families),
            "",
            *totals(self.doors),
            "",
            *(f"missed: {said}" for said in misses(self.families)),
        ]


def validate(settings: ValidateSettings, tell: Callable[[str], None]) -> Validation:
    """Run and judge what `settings` choose, and write the page where it is asked for.

    Raises InputError for a family or version that there is not, and for headers that are none.
    """
    family = settings.family
    known, every = rebuilt_families(), load_versions()
    if family and family not in known:
        raise InputError(f"There is no family '{family}'; known are {', '.join(known)}.")
    wanted = {name.strip() for name in settings.version.split(",") if name.strip()}
    own, chosen = own_headers(), open_door(settings.asc_headers)
    doors = [own] if chosen.name == own.name else [own, chosen]
    runs: list[list[list[Simulated]]] = []
    kept = kept_runs(settings.out)
    for name in [family] if family else known:
        versions = [one for one in every if one.family == name]
        unknown = wanted - {one.version for one in versions}
        if unknown:
            raise InputError(f"{name} has no version {', '.join(sorted(unknown))}.")
        asked = [one for one in versions if not wanted or one.version in wanted]
        runs.append([_runs(asked, door, kept, tell) for door in doors])
    found = Validation(_judged([door.name for door in doors], runs))
    if settings.page is not None:
        missing = [one for one in every if one.family not in known]
        tell(f"wrote {write_page(settings.page, found.doors, missing)}")
    return found


def _judged(names: list[str], runs: list[list[list[Simulated]]]) -> tuple[DoorResult, ...]:
    """Each door's families; `runs` holds the runs of a family by door."""
    ways = [list(way) for way in zip(*runs, strict=True)]
    pairs = load_pairs()
    return tuple(
        DoorResult(
            door=name,
            families=tuple(judge(one[0].version.family, one, pairs) for one in way),
        )
        for name, way in zip(names, ways, strict=True)
    )


def _runs(
    versions: list[Version], door: FrontDoor, kept: KeptRuns, tell: Callable[[str], None]
) -> list[Simulated]:
    runs = []
    for run in simulate(versions, door, kept):
        runs.append(run)
        tell(
            f"{run.version.family} {run.version.version}: {run.time:,.1f} simulated,"
            f" {run.version.time:,.1f} published (headers: {door.name})"
        )
    return runs
