"""Says in words what a setting of knobs does, for the author of the operator and for the bank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ci.model.trial import Change
from ci.tiling.core_knobs import ROW
from ci.tiling.template import Knob, KnobValue, TilingTemplate
from experience.bank.tuple import TILING

WORDS: Final = {
    "core_work": "At least {value} elements a core, so that small inputs start fewer cores",
    "core_root": "At most √(elements / {value}) cores",
    "core_rows": "At most √(elements / {value}) cores, where a row counts as at least "
    f"{ROW} elements",
    "core_cap": "At most {value} cores",
    "ub_share": "Tiles for {value}/16 of the unified buffer",
    "ub_work": "At most {value} bytes of the unified buffer for an element, so that small inputs"
    " have more tiles",
}
NEUTRAL: Final = {
    "core_work": "As many cores for small inputs as for large ones",
    "core_root": "As many cores for small inputs as for large ones",
    "core_rows": "As many cores for small inputs as for large ones",
    "core_cap": "As many cores as there are",
    "ub_share": "Tiles for all of the unified buffer",
    "ub_work": "Tiles of small inputs as large as those of large ones",
}

_TIGHTER_WHEN_LARGER: Final = ("core_work", "core_root", "core_rows")


def set_to(knob: Knob, before: KnobValue, value: KnobValue) -> str:
    """What it means that a knob goes from one value to another, without a full stop."""
    where, _, place = knob.name.partition(".")
    if knob.kind not in WORDS:
        which = f"{where} (place {int(place) + 1})" if place.isdigit() else knob.name
        return f"{which} is {value} instead of {before}"
    was = "" if before == knob.neutral else f", {before} before"
    said = NEUTRAL if value == knob.neutral else WORDS
    text = said[knob.kind].format(value=value)
    if ".output" in knob.name:
        text = text.replace("elements", "elements of the output", 1)
    return f"{text} ({where}{was})"


def reason(knob: Knob, before: KnobValue, value: KnobValue) -> str:
    """Why a knob's new value may be faster, a sentence; '' where it loosens a limit.

    The reason of a limit speaks for a tighter one.
    """
    if knob.kind not in WORDS:
        return knob.why
    tighter = value > before if knob.kind in _TIGHTER_WHEN_LARGER else value < before
    loosened = value == knob.neutral or (before != knob.neutral and not tighter)
    return "" if loosened else knob.why


def limit(kind: str, value: KnobValue) -> str:
    """A limit in words, within a sentence: 'at most 8 cores'. Raises KeyError for other knobs."""
    words = WORDS[kind].format(value=value)
    return words[:1].lower() + words[1:]


def moved(template: TilingTemplate, values: Mapping[str, KnobValue]) -> str:
    """What a setting of several knobs changes, a sentence for each."""
    now = template.values
    changed = [k for k in template.knobs if k.name in values and values[k.name] != now[k.name]]
    return " ".join(f"{set_to(k, now[k.name], values[k.name])}." for k in changed)


def knob_changes(template: TilingTemplate, values: Mapping[str, KnobValue]) -> tuple[Change, ...]:
    """Each knob that `values` move away from where the template has it, in words."""
    now = template.values
    return tuple(
        Change(
            what=set_to(knob, now[knob.name], values[knob.name]),
            why=reason(knob, now[knob.name], values[knob.name]),
            path=knob.file,
            knob=knob.name,
        )
        for knob in template.knobs
        if values.get(knob.name, now[knob.name]) != now[knob.name]
    )


_DECIDED = {
    "partition": "what a tile or a core takes",
    "block_dim": "the number of blocks",
    "tiling_key": "the choice of the tiling key",
    "buffer_number": "the buffers of a queue",
    "alignment": "the alignment",
}


def move_id(knob: Knob, before: KnobValue, value: KnobValue) -> str:
    """What moving one knob means on any operator, as the bank knows it: `tiling.core_work.8192`.

    A number that only this operator's tiling has counts by its direction.
    """
    if knob.kind in WORDS:
        return f"{TILING}{knob.kind}.{'none' if value == knob.neutral else value}"
    return f"{TILING}{knob.decides}.{'larger' if value > before else 'smaller'}"


def move_title(move: str) -> str:
    """What a `move_id` means in words; '' when it is none."""
    what, _, value = move.removeprefix(TILING).rpartition(".")
    if what in WORDS:
        return NEUTRAL[what] if value == "none" else WORDS[what].format(value=value)
    return f"A {value} number for {_DECIDED[what]}" if what in _DECIDED else ""
