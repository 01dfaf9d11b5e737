"""Says in words what a setting of knobs does, for the author of the operator."""

from __future__ import annotations

from collections.abc import Mapping

from ci.tiling.template import Knob, KnobValue, TilingTemplate

_WORDS = {
    "core_work": "At least {value} elements a core, so that small inputs start fewer cores",
    "core_cap": "At most {value} cores",
    "ub_share": "Tiles for {value}/16 of the unified buffer",
    "ub_work": "At most {value} bytes of the unified buffer for an element, so that small inputs"
    " have more tiles",
}
_NEUTRAL = {
    "core_work": "As many cores for small inputs as for large ones",
    "core_cap": "As many cores as there are",
    "ub_share": "Tiles for all of the unified buffer",
    "ub_work": "Tiles of small inputs as large as those of large ones",
}


def set_to(knob: Knob, before: KnobValue, value: KnobValue) -> str:
    """What it means that a knob goes from one value to another, without a full stop."""
    where = knob.name.split(".")[0]
    if knob.kind not in _WORDS:
        return f"{knob.name} is {value} instead of {before}"
    was = "" if before == knob.neutral else f", before {before}"
    said = _NEUTRAL if value == knob.neutral else _WORDS
    text = said[knob.kind].format(value=value)
    if ".output" in knob.name:
        text = text.replace("elements", "elements of the output", 1)
    return f"{text} ({where}{was})"


def moved(template: TilingTemplate, values: Mapping[str, KnobValue]) -> str:
    """What a setting of several knobs changes, a sentence for each."""
    now = template.values
    changed = [k for k in template.knobs if k.name in values and values[k.name] != now[k.name]]
    return " ".join(f"{set_to(k, now[k.name], values[k.name])}." for k in changed)
