"""One launch on the simulated machine: writes the request, runs it, reads outputs and report."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from pydantic import TypeAdapter, ValidationError

from ci.host.kernel_unit import SYSTEM_WORKSPACE
from ci.host.tiling_keys import missed_key
from ci.model.amount import amount
from ci.model.decision import Decision
from ci.model.dtypes import BY_NAME
from ci.model.errors import TrialFailure
from ci.model.launch import Array, Tensors, wrote_nothing
from ci.model.trial import MachineWarning, Outcome, PipeTime, Place, Refusal, Unwritten
from ci.simulator.decisions import Frame, decisions_of, frames
from ci.simulator.launch_request import LaunchSpec, write_request
from ci.simulator.launch_room import LaunchRoom
from ci.simulator.source_lines import operator_frames
from ci.source.empty_body import wrote_nothing_because
from ci.source.scalar_reads import used_too_late
from ci.system.ledger import book_machine
from ci.system.sandbox import Limits
from rules.devices import Device

_OUTPUT = re.compile(r"output (\d+)")
"""An output in the report: "output 1", or "output 1[2]" of a list."""

CUBE_SITE = 0x80000000
"""Bit of a code address in a report: it lies in the kernel of the cube cores."""

HOT_LINES = 12
"""Source lines that a profile lists."""

KEPT = "kept"
"""The machine's word for a variable that outlives the launch; of those of the headers, too."""

MEETS = "meets"
"""The machine's word for a place where all blocks of a launch wait for each other."""

TRAPPED = "The kernel called trap()."
"""The machine's sentence for a kernel that calls trap()."""

ASSERTED = "The kernel's own assertion `"
"""How the headers' sentence for an `ascendc_assert` that fails begins."""

REPORT_BYTES = 8 << 20
"""A larger report is not one of the machine's."""


@dataclass(frozen=True)
class LaunchResult:
    """What a launch that ended well gave."""

    outputs: Tensors
    pipes: PipeTime
    warnings: tuple[MachineWarning, ...]
    decisions: tuple[Decision, ...]
    """The decisions of a kernel that is built to be watched."""
    members: dict[str, float]
    """Cycles of the same launch with the constants of each member."""


def launch(
    runner: Path,
    device: Device,
    spec: LaunchSpec,
    inputs: Tensors,
    outputs: Tensors,
    limits: Limits,
    timeline: Path | None = None,
    room: LaunchRoom | None = None,
    *,
    constants: Mapping[str, float] | None = None,
    texts: Mapping[str, str] | None = None,
) -> LaunchResult:
    """Run the kernel once. `outputs` gives shapes and dtypes; `room` was made for these inputs.

    `texts` are the operator's sources by path: they say when a value that was read is used.

    Raises TrialFailure(LAUNCH_ERROR, RACE, MEMORY_ERROR or TIMEOUT).
    """
    with room or LaunchRoom(runner, inputs, outputs, limits) as place:
        folder = place.folder
        asked = replace(spec, least_workspace=SYSTEM_WORKSPACE + 32)
        files = write_request(
            folder, constants or device.constants, asked, inputs, outputs, timeline is not None
        )
        report = _reported(place, spec, texts or {})
        nothing = wrote_nothing(report.get("tensor_write_bytes"), inputs, outputs)
        _check_written(report, nothing, asked, texts or {})
        book_machine(_host_seconds(report))
        if timeline:
            shutil.move(folder / "timeline.jsonl", timeline)  # may be another file system
        return LaunchResult(
            outputs=read_outputs(files, outputs),
            pipes=_pipe_time(report, spec),
            warnings=_warnings(report, spec),
            members=_members(report, spec),
            decisions=decisions_of(
                report.get("decisions"),
                spec.kernel.parent.name,
                lambda offsets: _raw_places(spec, offsets),
            ),
        )


def stops_itself(sentence: str) -> bool:
    """Whether a kernel refused what it was given, as the sentence of its launch says."""
    return sentence == TRAPPED or sentence.startswith(ASSERTED)


def _reported(
    place: LaunchRoom, spec: LaunchSpec, texts: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    """Run what was asked for; what the machine reports of a launch that ended well."""
    done = place.run(spec.kernels)
    report = _read_report(place.folder / "report.json")
    if report is None or done.timed_out:
        outcome = Outcome.TIMEOUT if done.timed_out else Outcome.LAUNCH_ERROR
        said = (done.stderr or done.stdout).decode(errors="replace").strip()
        raise TrialFailure(
            outcome,
            Refusal(sentence=f"The kernel's run {done.ending()}.", evidence=said[-2000:]),
        )
    races = races_of(report, spec, texts)
    if report.get("outcome") == "ok" and races:
        first, *others = races
        raise TrialFailure(Outcome.RACE, refusal_of(first), (*others, *_warnings(report, spec)))
    if report.get("outcome") != "ok":
        raise _failure(report, spec, races)
    return report


class Cover(NamedTuple):
    """What a launch asks for of one tensor's memory, in bytes; of alike ones the digest of the
    places written is the same."""

    name: str
    size: int
    read: int
    written: int
    digest: str


class Addresses(NamedTuple):
    """What a launch without data asks for of each tensor, and what was odd."""

    covers: tuple[Cover, ...]
    warnings: tuple[MachineWarning, ...]


def asked_addresses(
    runner: Path,
    spec: LaunchSpec,
    inputs: Tensors,
    outputs: Tensors,
    limits: Limits,
    constants: Mapping[str, float],
) -> Addresses:
    """Run a kernel without its data: which bytes its copies name.

    The arrays give sizes only. Raises TrialFailure(LAUNCH_ERROR, MEMORY_ERROR or TIMEOUT).
    """
    with LaunchRoom(runner, [], [], limits) as place:
        asked = replace(spec, addresses=True, least_workspace=SYSTEM_WORKSPACE + 32)
        write_request(place.folder, constants, asked, inputs, outputs, timeline=False)
        report = _reported(place, asked)
    try:
        covers = TypeAdapter(list[Cover]).validate_python(report.get("cover"))
    except ValidationError as problem:
        raise TrialFailure(
            Outcome.LAUNCH_ERROR,
            Refusal(sentence="The run's report is not one of the machine's."),
        ) from problem
    return Addresses(tuple(covers), _warnings(report, spec))


def taken_dtypes(
    runner: Path,
    spec: LaunchSpec,
    inputs: Tensors,
    outputs: Tensors,
    limits: Limits,
    constants: Mapping[str, float],
) -> dict[str, str]:
    """Run a kernel that is built to be checked: the dtypes as which it takes its tensors, by
    'input 0' and the like. How it ends does not matter."""
    with LaunchRoom(runner, inputs, outputs, limits) as place:
        asked = replace(spec, least_workspace=SYSTEM_WORKSPACE + 32)
        write_request(place.folder, constants, asked, inputs, outputs, timeline=False)
        place.run(spec.kernels)
        report = _read_report(place.folder / "report.json") or {}
    try:
        said = TypeAdapter(dict[str, str]).validate_python(report.get("taken_as", {}))
    except ValidationError:  # a kernel may have written it
        return {}
    return {tensor: dtype for tensor, dtype in said.items() if dtype in BY_NAME}


def _read_report(path: Path) -> dict[str, Any] | None:
    try:
        if path.stat().st_size > REPORT_BYTES:
            return None
        report = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return report if isinstance(report, dict) else None


def read_outputs(files: Sequence[Sequence[Path]], outputs: Tensors) -> Tensors:
    """The outputs as the machine wrote them; a file of another size is a launch error."""
    found: Tensors = []
    for paths, expected in zip(files, outputs, strict=True):
        if isinstance(expected, list):
            pairs = zip(paths, expected, strict=True)
            found.append([_read_array(path, like) for path, like in pairs])
        else:
            found.append(None if expected is None else _read_array(paths[0], expected))
    return found


def _read_array(path: Path, like: Array) -> Array:
    size = path.stat().st_size if path.is_file() else 0
    if size != like.nbytes:
        raise TrialFailure(
            Outcome.LAUNCH_ERROR,
            Refusal(
                sentence=f"An output has {amount(size, 'byte')} after the run, not {like.nbytes}."
            ),
        )
    return np.fromfile(path, dtype=like.dtype).reshape(like.shape)


def races_of(
    report: dict[str, Any], spec: LaunchSpec, texts: Mapping[str, str]
) -> list[MachineWarning]:
    """The races of a report, the surest first, without values that were used in time."""
    rows = [row for row in report.get("races", []) if isinstance(row, dict)]
    places = [_places(spec, [str(r.get("site", "")), str(r.get("other_site", ""))]) for r in rows]
    found = []
    for row, (here, other) in zip(rows, places, strict=True):
        text = texts.get(other[0])
        if row.get("scalar_read") and not (
            text is not None
            and here[0] == other[0]
            and used_too_late(text, read=other[1], written=here[1])
        ):
            continue
        found.append(
            MachineWarning(
                kind=Outcome.RACE.value,
                place=Place(file=here[0], line=here[1]),
                other=Place(file=other[0], line=other[1]),
                text=str(row.get("message", ""))[:1000],
            )
        )
    return found


def refusal_of(warning: MachineWarning) -> Refusal:
    """The refusal for what a launch fails with."""
    other = warning.other.source
    return Refusal(
        sentence=warning.text,
        place=warning.place,
        other=warning.other,
        evidence=f"the other access: {other}" if other else "",
    )


def _failure(
    report: dict[str, Any], spec: LaunchSpec, races: Sequence[MachineWarning]
) -> TrialFailure:
    try:
        outcome = Outcome(str(report.get("outcome")))
    except ValueError:
        outcome = Outcome.LAUNCH_ERROR
    if outcome not in (Outcome.LAUNCH_ERROR, Outcome.RACE, Outcome.MEMORY_ERROR):
        outcome = Outcome.LAUNCH_ERROR
    sites = [str(report.get(name, "")) for name in ("site", "other_site")]
    places = _places(spec, sites)
    details = str(report.get("details", ""))[:2000]
    if places[1][0]:
        details = f"{details}\nthe other access: {places[1][0]}:{places[1][1]}".strip()
    return TrialFailure(
        outcome,
        Refusal(
            sentence=_words(report)[:1000],
            place=Place(file=places[0][0], line=places[0][1]),
            other=Place(file=places[1][0], line=places[1][1]),
            evidence=details,
        ),
        (*races[outcome is Outcome.RACE :], *_warnings(report, spec)),
    )


def _words(report: Mapping[str, Any]) -> str:
    """What the machine says of a failure: it reports bytes, and a kernel's own words are UTF-8."""
    said = str(report.get("message", ""))
    return said.encode("latin-1", "replace").decode("utf-8", "replace")


def _check_written(
    report: dict[str, Any], nothing: bool, spec: LaunchSpec, texts: Mapping[str, str]
) -> None:
    """Raises TrialFailure(MEMORY_ERROR) for an output of which bytes were left as they were.

    `nothing`: all of them were.
    """
    for name, first, count, size, added, near in report.get("unwritten", []):
        place, next_to = (
            Place(file=file, line=line) for file, line in _places(spec, [str(added), str(near)])
        )
        output = int(_OUTPUT.findall(name)[0])
        sentence = (
            f"The kernel leaves {count:,} of the {amount(size, 'byte')} of {name} unwritten, from "
            f"byte {first} on{': atomic stores add to what is there' if place.line else ''}."
        )
        if next_to.line:
            sentence += " What writes the bytes next to them leaves them out."
        if nothing:
            sentence = wrote_nothing_because(texts)
            if missed := missed_key(texts, spec.tiling_key):
                place, sentence = missed
        raise TrialFailure(
            Outcome.MEMORY_ERROR,
            Refusal(
                sentence=sentence,
                place=place,
                other=next_to,
                unwritten=Unwritten(
                    output=output, first=first, count=count, size=size, added=bool(place.line)
                ),
                evidence="Atomic stores add to what is there and do not count. If the caller "
                "fills the output first, name it in the workload under initial.",
            ),
            _warnings(report, spec),
        )


def _places(spec: LaunchSpec, sites: Sequence[str]) -> list[tuple[str, int]]:
    """Source places of the report's code addresses; ('', 0) where none is the operator's."""
    return [frames[0] if frames else ("", 0) for frames in _own_frames(spec, sites)]


def _own_frames(spec: LaunchSpec, sites: Sequence[str]) -> list[tuple[tuple[str, int], ...]]:
    """The operator's own places of code addresses, in the kernel that each belongs to."""
    offsets = [_offset(site) for site in sites]
    on_cube = [bool(offset & CUBE_SITE) for offset in offsets]
    words = [hex(offset & ~CUBE_SITE) for offset in offsets]
    found = operator_frames(spec.kernel, words)
    if any(on_cube) and spec.cube_kernel:
        others = operator_frames(spec.cube_kernel, words)
        found = [o if cube else p for p, o, cube in zip(found, others, on_cube, strict=True)]
    return found


def _raw_places(spec: LaunchSpec, offsets: Sequence[int]) -> list[Frame]:
    """The innermost frames, in the kernel that each address belongs to."""
    words = [offset & ~CUBE_SITE for offset in offsets]
    found = frames(spec.kernel, words)
    if spec.cube_kernel and any(offset & CUBE_SITE for offset in offsets):
        others = frames(spec.cube_kernel, words)
        pairs = zip(found, others, offsets, strict=True)
        found = [o if offset & CUBE_SITE else p for p, o, offset in pairs]
    return found


def _offset(text: str) -> int:
    try:
        return max(0, int(text, 16))
    except ValueError:
        return 0


def _host_seconds(report: dict[str, Any]) -> dict[str, float]:
    """CPU seconds of the machine's program by phase."""
    given = report.get("host_seconds")
    if not isinstance(given, dict):
        return {}
    return {str(k): float(v) for k, v in given.items() if isinstance(v, int | float)}


def _pipe_time(report: dict[str, Any], spec: LaunchSpec) -> PipeTime:
    fields = {name: report[name] for name in PipeTime.model_fields if name in report}
    try:
        ran = _own_frames(spec, [str(site) for site in fields.pop("ran", [])])
        hot = [(str(s), float(c)) for s, c in fields.pop("hot_lines", [])]
        places = _places(spec, [s for s, _ in hot])
        by_line: dict[tuple[str, int], float] = {}
        for place, (_, cycles) in zip(places, hot, strict=True):
            if place[0]:
                by_line[place] = by_line.get(place, 0.0) + cycles
        order = sorted(by_line.items(), key=lambda item: (-item[1], item[0]))[:HOT_LINES]
        lines = tuple((f, n, c) for (f, n), c in order)
        return PipeTime(**fields, hot_lines=lines, ran=_lines_of(ran))
    except (ValidationError, TypeError, ValueError) as problem:
        raise TrialFailure(
            Outcome.LAUNCH_ERROR,
            Refusal(
                sentence="The run's report is not one of the machine's.", evidence=str(problem)
            ),
        ) from problem


def _lines_of(frames: Sequence[tuple[tuple[str, int], ...]]) -> dict[str, tuple[int, ...]]:
    """The lines of each file."""
    places = sorted({place for one in frames for place in one})
    return {
        file: tuple(line for _, line in group) for file, group in groupby(places, lambda p: p[0])
    }


def _members(report: dict[str, Any], spec: LaunchSpec) -> dict[str, float]:
    given = report.get("members")
    found = given if isinstance(given, dict) else {}
    try:
        return {name: float(found[name]) for name in spec.members}
    except (KeyError, TypeError, ValueError) as problem:
        raise TrialFailure(
            Outcome.LAUNCH_ERROR,
            Refusal(
                sentence="The run's report lacks times that it was asked for.",
                evidence=str(problem),
            ),
        ) from problem


def _warnings(report: dict[str, Any], spec: LaunchSpec) -> tuple[MachineWarning, ...]:
    """Warnings of host side and machine with the operator's source place."""
    given = [w for w in report.get("warnings", []) if isinstance(w, dict)]
    lines = _raw_places(spec, [_offset(str(w.get("site", ""))) for w in given])
    pairs = zip(given, lines, strict=True)
    rows = [w for w, (file, _) in pairs if w.get("kind") != KEPT or "op_kernel/" in file]
    places = _places(spec, [str(w.get("site", "")) for w in rows])
    others = _places(spec, [str(w.get("other_site", "")) for w in rows])
    return spec.warnings + tuple(
        MachineWarning(
            kind=str(w.get("kind", "")),
            subject=str(w.get("subject", "")),
            place=Place(file=file, line=line),
            other=Place(file=other, line=at),
            text=str(w.get("message", "")),
        )
        for w, (file, line), (other, at) in zip(rows, places, others, strict=True)
    )
