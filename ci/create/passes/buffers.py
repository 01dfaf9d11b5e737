"""Queues and buffers: a home in UB for each value, shared where lives do not overlap."""

from __future__ import annotations

from ci.create.passes.base import Plan, Region, SlotKind, broken, same_for_all
from ci.create.passes.steps import apart, in_steps
from ci.create.program import Statement, Value

APART = ("where", "expand", "iota", "load", "store", "gather")
"""Operations whose result must not lie where an argument lies."""


def buffers(plan: Plan) -> None:
    """Fill `plan.homes` and `plan.slots`. Checks that every value has a home before it is read."""
    _owned(plan)
    for region in plan.regions:
        _claims(plan, region)
    free: dict[tuple[str, str], list[str]] = {}
    for region in plan.regions:
        _tiles(plan, region, free)
    _others(plan)
    for statement in plan.phase.statements:
        value = statement.value
        folded = statement.op.startswith("fold") and value is not None and value.kind == "tile"
        if folded and value is not None and value.name not in plan.homes:
            plan.homes[value.name] = plan.slot("tile")
    for region in plan.regions:
        known: set[str] = set()
        for statement in region.statements:
            for arg in statement.args:
                at_home = isinstance(arg, Value) and arg.name in {**plan.homes, **region.homes}
                if isinstance(arg, Value) and not at_home and arg.name not in known:
                    raise broken(plan, f"'{arg.name}' is read before it is computed.")
            if statement.value is not None:
                known.add(statement.value.name)


def _owned(plan: Plan) -> None:
    """Loads that may not stay in the queue: what outlives a tile, and what is compared."""
    for statement in plan.phase.statements:
        compared = statement.op in ("lt", "le", "gt", "ge", "eq", "ne")
        if compared:
            plan.owned |= {a.name for a in statement.args if isinstance(a, Value)}
        single = in_steps(statement) or bool(apart(plan, statement))
        single |= statement.value is not None and statement.value.kind != "tile"
        turned = statement.tensor is not None and plan.phase.turns(statement.tensor)
        taken = statement.op == "load" or statement.gathers
        if taken and statement.value and (turned or single):
            plan.owned.add(statement.value.name)


def _claims(plan: Plan, region: Region) -> None:
    """Results that can be computed right where they are copied out from."""
    made = {s.value.name: s for s in region.statements if s.value is not None}
    for store in region.statements:
        (arg,) = store.args if store.op == "store" and len(store.args) == 1 else (None,)
        if not isinstance(arg, Value) or store.tensor is None or arg.name in region.claimed:
            continue
        if plan.phase.turns(store.tensor) or apart(plan, store):
            continue
        compared = arg.name in plan.owned
        by = made.get(arg.name)
        plain = by is not None and not by.op.startswith(("load", "fold", "scan", "gather"))
        if plain and arg.kind == "tile" and store.tensor.dtype in ("T", "float32") and not compared:
            region.claimed[arg.name] = store.tensor


def _reads(statement: Statement) -> list[Value]:
    return [a for a in statement.args if isinstance(a, Value)]


def _tiles(plan: Plan, region: Region, free: dict[tuple[str, str], list[str]]) -> None:
    """Homes of tiles and masks: the first slot that is free from definition to last use; all are
    free again after the region."""
    last: dict[str, int] = {}
    for place, statement in enumerate(region.statements):
        for read in _reads(statement):
            last[read.name] = place
        if statement.value is not None:
            last.setdefault(statement.value.name, place)
    homes: dict[str, str] = {}

    def give_back(name: str) -> None:
        slot = plan.slots.get(homes.pop(name))
        if slot is not None:
            free.setdefault((slot.kind, slot.pool), []).append(slot.name)

    def release(place: int, statement: Statement) -> None:
        for read in _reads(statement):
            if last[read.name] == place and read.name in homes:
                give_back(read.name)

    for place, statement in enumerate(region.statements):
        value = statement.value
        in_place = not statement.op.startswith((*APART, "fold", "scan")) and not (
            statement.op == "div" and not isinstance(statement.args[0], Value)
        )
        if in_place and value is not None and not _spread(statement):
            release(place, statement)
        if value is not None and value.kind == "tile" and not statement.op.startswith("fold"):
            home = _home(plan, region, statement, free)
            region.homes[value.name] = homes[value.name] = home
        release(place, statement)
    for name in tuple(homes):
        give_back(name)


def _spread(statement: Statement) -> bool:
    """Whether an argument is masked, so that its bits are no room for numbers."""
    return any(v.mask for v in _reads(statement))


def _home(
    plan: Plan, region: Region, statement: Statement, free: dict[tuple[str, str], list[str]]
) -> str:
    value = statement.value
    assert value is not None
    kind = "mask" if value.mask else "tile"
    pool = "calc"
    if statement.op == "load" and statement.tensor is not None:
        if statement.tensor.dtype == "float32" and value.name not in plan.owned:
            return value.name
        if statement.tensor.dtype == "T" and value.name not in plan.owned:
            pool = "narrow"
    elif value.name in region.claimed:
        if region.claimed[value.name].dtype == "float32":
            return value.name
        pool = "narrow"
    spare = free.get((kind, pool), [])
    return spare.pop(0) if spare else plan.slot(kind, pool)  # type: ignore[arg-type]


def _others(plan: Plan) -> None:
    """Homes of values that are no tiles. They may live through many tiles, so a value that a loop
    reads or collects keeps its home for the whole loop."""
    lives = _lives(plan)
    free: dict[SlotKind, list[str]] = {}
    ends: list[tuple[int, SlotKind, str]] = []
    for value, (begin, end) in sorted(lives.items(), key=lambda one: one[1][0]):
        for one in [e for e in ends if e[0] < begin]:
            ends.remove(one)
            free.setdefault(one[1], []).append(one[2])
        kind: SlotKind = "mask" if value.mask else value.kind
        spare = free.get(kind)
        home = plan.homes[value.name] = spare.pop(0) if spare else plan.slot(kind)
        ends.append((end, kind, home))
    for statement in plan.phase.totals:
        assert statement.value is not None
        plan.homes[statement.value.name] = plan.slot("cell")
    for statement in plan.phase.statements:
        for value in _reads(statement):
            if value.kind == "cell" and value.name not in plan.homes:  # of an earlier phase
                plan.homes[value.name] = f"total_{value.name}"


def _lives(plan: Plan) -> dict[Value, tuple[int, int]]:
    """Return the first and the last statement of each value that is no tile and no
    total."""
    found: dict[Value, tuple[int, int]] = {}
    totals = {s.value for s in plan.phase.totals}
    count = sum(len(region.statements) for region in plan.regions)
    place = 0
    for region in plan.regions:
        first, last = place, place + len(region.statements) - 1
        for statement in region.statements:
            whole = region.loops or statement.carry is not None
            begin, end = (first, last) if whole else (place, place)
            if statement.op == "load" and same_for_all(plan, statement):
                begin, end = 0, count
            for value in (statement.value, statement.carry, *_reads(statement)):
                if value is None or value.kind == "tile" or value in totals:
                    continue
                if value in found or value in (statement.value, statement.carry):
                    known = found.get(value, (begin, end))
                    found[value] = min(known[0], begin), max(known[1], end)
            place += 1
    return found
