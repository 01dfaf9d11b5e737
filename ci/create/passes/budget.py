"""The UB budget: bytes that a tile takes, from which the host computes the tile for any shape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ci.create.passes.base import BYTES, VECTOR, Budget, Plan, Room, Slot, same_for_all, splits
from ci.create.passes.steps import apart, in_steps, in_turns, leads, room, together
from ci.create.passes.windows import Window
from ci.create.tensors import Tensor
from ci.model.amount import amount
from ci.model.errors import InputError

EVENTS = 8
"""Events of a pair of pipes: each buffer of each queue takes one."""

SMALLEST = 32
"""Columns of the smallest tile: a block of bytes."""

SMALLEST_UB = 180 * 1024
"""Bytes of UB that every chip of the family leaves to a kernel."""


PARTS_BYTES = 8 * 1024
"""Parts bytes of what the cores that share a unit folded, as one of them reads it, and no more of
its own."""


_ROOMS: Final = {
    "tile": Room(1, 0, 0, VECTOR),
    "rows": Room(0, 1, 0, VECTOR),
    "cols": Room(0, 0, 1, VECTOR),
    "cell": Room(0, 0, 0, VECTOR),
}
"""Elements that a queue needs of what may share it."""


@dataclass(frozen=True)
class Queue:
    """A queue for one tensor; `kind` is the largest thing that goes through it."""

    tensor: Tensor
    out: bool
    kind: str
    depth: int
    room: Room | None = None
    others: tuple[Tensor, ...] = ()
    """What goes through it in other phases."""
    kinds: frozenset[str] = frozenset()
    """What all of that is."""


def queues(plans: Sequence[Plan]) -> list[Queue]:
    """The queues of a kernel. Where there are not enough events for all tensors, those of different
    phases share one. Raises InputError for more than the events allow even so."""
    size = {"cell": 0, "rows": 1, "cols": 2, "tile": 3, "turned": 4, "halo": 5}
    kinds: dict[tuple[Tensor, bool], str] = {}
    rooms: dict[Tensor, Room] = {}
    ahead = set[Tensor]()
    phases: dict[tuple[Tensor, bool], set[int]] = {}
    for plan in plans:
        for region, statement in ((r, s) for r in plan.regions for s in r.statements):
            if statement.tensor is None or not leads(plan, region.statements, statement):
                continue
            looped = plan.one_tile or statement in plan.looped
            if looped and statement.op == "load" and not same_for_all(plan, statement):
                ahead.add(statement.tensor)
            out = statement.op == "store"
            value = statement.args[0] if out else statement.value
            kind = getattr(value, "kind", "cell")
            if kind == "tile" and plan.phase.turns(statement.tensor):
                kind = "turned"
            if statement.op.startswith("window"):
                kind = "halo"
                rooms[statement.tensor] = Window.read(statement.op).halo
            if in_steps(statement) or in_turns(statement) or apart(plan, statement):
                kind, own = "halo", room(plan, statement)
                rooms[statement.tensor] = together(rooms.get(statement.tensor, own), own)
            key = statement.tensor, out
            phases.setdefault(key, set()).add(plan.phase.number)
            kinds[key] = max(kinds.get(key, "cell"), kind, key=lambda k: size[k])
    short = [side for side in (False, True) if sum(out == side for _, out in kinds) > EVENTS]
    paired = {t for plan in plans for pair in plan.pairs for t in (pair.first, pair.second)}
    shared = _shared({k: v for k, v in kinds.items() if k[1] in short}, phases, paired)
    others: dict[tuple[Tensor, bool], tuple[Tensor, ...]] = {}
    through = {key: {kind} for key, kind in kinds.items()}
    for one, first in shared.items():
        through[first].add(kinds[one])
        others[first] = (*others.get(first, ()), one[0])
        ahead |= {first[0]} if one[0] in ahead else set()
        if kinds[first] != kinds[one]:
            rooms[first[0]] = together(
                rooms.get(first[0], _ROOMS[kinds[first]]), _ROOMS[kinds[one]]
            )
    for first in {first for one, first in shared.items() if kinds[first] != kinds[one]}:
        kinds[first] = "halo"
    kinds = {key: kind for key, kind in kinds.items() if key not in shared}
    inputs = sum(not out for _, out in kinds)
    if inputs > EVENTS or len(kinds) - inputs > EVENTS:
        raise InputError(
            f"It has {amount(max(inputs, len(kinds) - inputs), 'tensor')} on one side; a kernel has"
            f" {EVENTS} events for them."
        )
    whole = ("tile", "turned")
    tiles = sum(not out and kind in whole for (_, out), kind in kinds.items())
    parts = any(p.phase.totals for p in plans) + any(map(splits, plans))
    spare = EVENTS - inputs - tiles - parts
    double = spare >= 0
    given = [kind in (*whole, "halo") for (_, out), kind in kinds.items() if out]
    double_out = EVENTS - len(given) - sum(given) - parts >= 0
    further = len(ahead - {t for (t, out), kind in kinds.items() if not out and kind in whole})
    deep = spare >= further

    def depth(tensor: Tensor, out: bool, kind: str) -> int:
        if out:
            return 2 if double_out and kind in (*whole, "halo") else 1
        if kind in whole:
            return 2 if double else 1
        return 2 if deep and tensor in ahead else 1

    return [
        Queue(
            tensor,
            out,
            kind,
            depth(tensor, out, kind),
            rooms.get(tensor),
            others.get((tensor, out), ()),
            frozenset(through[tensor, out]),
        )
        for (tensor, out), kind in kinds.items()
    ]


def _shared(
    kinds: Mapping[tuple[Tensor, bool], str],
    phases: Mapping[tuple[Tensor, bool], set[int]],
    paired: set[Tensor],
) -> dict[tuple[Tensor, bool], tuple[Tensor, bool]]:
    """What goes through the queue of something else, as large if there is such a one: they belong
    to different phases, between which all queues are empty."""
    found: dict[tuple[Tensor, bool], tuple[Tensor, bool]] = {}
    busy: dict[tuple[Tensor, bool], set[int]] = {}
    for key, kind in kinds.items():
        if kind not in _ROOMS or key[0] in paired:
            continue
        alike = [k for k in busy if (k[1], k[0].dtype) == (key[1], key[0].dtype)]
        alike.sort(key=lambda k: kinds[k] != kind)
        first = next((k for k in alike if not busy[k] & phases[key]), None)
        if first is not None:
            found[key] = first
        busy.setdefault(first or key, set()).update(phases[key])
    return found


def budget(
    slots: Iterable[Slot], used: Iterable[Queue], narrow: bool, totals: int, split: bool
) -> Budget:
    """Bytes of UB of a kernel's buffers for T of 2 bytes (`narrow`) or 4."""
    tile, row, column, fixed = 0.0, 0, 0, 1024 + totals * 1024 + split * 2 * PARTS_BYTES
    for slot in slots:
        if slot.pool == "narrow" and not narrow:
            continue
        fixed += 512  # each is rounded up to whole vectors
        match slot.kind:
            case "tile":
                tile += 4
            case "mask":
                tile += 1 / 8
            case "rows":
                row += 4
            case "wide":
                row += 32
            case "cols":
                column += 4
            case "lines":  # a tile turned round, its rows rounded up to a block, and a line more
                tile, row, column = tile + 4, row + 4, column + 28
            case "turned":  # its rows are the columns, each rounded up to a block
                tile, column = tile + 4, column + 4 * SMALLEST
            case "halo":
                assert slot.room is not None
                tile, row = tile + 4 * slot.room.tile, row + 4 * slot.room.row
                column, fixed = column + 4 * slot.room.column, fixed + 4 * slot.room.fixed
    for queue in used:
        size = BYTES[queue.tensor.dtype] or (2 if narrow else 4)
        fixed += 256 * queue.depth
        match queue.kind:
            case "halo":
                assert queue.room is not None
                tile += size * queue.room.tile * queue.depth
                row += size * queue.room.row * queue.depth
                column += size * queue.room.column * queue.depth
                fixed += size * queue.room.fixed * queue.depth
            case "tile":
                tile += size * queue.depth
            case "turned":
                tile += size * queue.depth
                column += size * SMALLEST * queue.depth
            case "rows":
                row += size * queue.depth
            case "cols":
                column += size * queue.depth
    made = Budget(tile, row, column, fixed)
    if made.of(1, SMALLEST) > SMALLEST_UB:
        raise InputError(
            f"Its values need {made.of(1, SMALLEST):.0f} bytes of UB for the smallest tile."
        )
    return made
