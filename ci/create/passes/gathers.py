"""Elements at places that values name: a copy for each row, or one element at a time."""

from __future__ import annotations

from ci.create.passes.base import Plan, Region, Step, broken
from ci.create.passes.copies import brought, extent, factors, offset, queue_of
from ci.create.program import Statement, Value
from ci.create.tensors import Tensor


def gathers(plan: Plan) -> None:
    """Fill what becomes of gathers. The places are read before anything is copied, so these copies
    are not issued ahead."""
    for region in plan.regions:
        for place, statement in enumerate(region.statements):
            if statement.gathers:
                steps = [_copied(plan, region, statement), brought(plan, region, statement)]
                region.at[place] = [*steps, *region.at.get(place, [])]


def one_by_one(plan: Plan, statement: Statement) -> bool:
    """Whether a gather takes single elements, not runs."""
    return statement.gathers and not _runs(plan, statement)


def _runs(plan: Plan, statement: Statement) -> bool:
    """Whether what lies at one place is a run of the tile's last axis."""
    tensor, value, (places,) = statement.tensor, statement.value, statement.args
    assert tensor is not None and value is not None and isinstance(places, Value)
    phase = plan.phase
    last = {"tile": phase.cols, "cols": phase.cols, "rows": phase.rows}.get(value.kind, "")
    if last in ("", statement.op.split()[1]) or tensor.groups[-1] != last or tensor.behind(last):
        return False
    return places.kind == "cell" or (places.kind == "rows" and value.kind == "tile")


def _copied(plan: Plan, region: Region, statement: Statement) -> Step:
    """The step that brings the elements into the tensor's queue.

    Raises InputError where the tile lies across the rows of the tensor.
    """
    tensor, value, (places,) = statement.tensor, statement.value, statement.args
    assert tensor is not None and value is not None and isinstance(places, Value)
    phase, along = plan.phase, statement.op.split()[1]
    if value.kind == "tile" and phase.turns(tensor):
        raise broken(plan, f"'{tensor.name}' is turned round and indexed by values.")
    home, queue = plan.home(region, places.name), queue_of(tensor, False)
    reads, length = frozenset([home]), f"length{along}"
    in_runs = _runs(plan, statement)
    if in_runs and places.kind == "cell":
        plan.helpers |= {"PlaceAt", "CopyIn"}
        where = offset(plan, tensor, {along: "place"})
        lines = [
            "{",
            "    AwaitVector();",
            f"    const uint64_t place = PlaceAt({home}, 0, {length});",
            f"    CopyIn({queue}, {tensor.memory}Gm[{where}], {extent(plan, tensor, value.kind)});",
            "}",
        ]
        return Step(lines, reads)
    source = f"{tensor.memory}Gm[{offset(plan, tensor, {along: ''})}]"
    begin = f"{queue}, {source}, {home}, {length}, {_step(tensor, along)}"
    row, col = (
        "0" if group == along else _step(tensor, group) for group in (phase.rows, phase.cols)
    )
    if in_runs:
        plan.helpers.add("GatherRows")
        return Step([f"GatherRows({begin}, {row}, rows, cols);"], reads)
    plan.helpers.add("GatherElements")
    place_row = {"tile": "width", "rows": "1"}.get(places.kind, "0")
    place_col = str(int(places.kind in ("tile", "cols")))
    sizes = {
        "tile": f"rows, cols, width, {row}, {col}, {place_row}, {place_col}",
        "rows": f"1, rows, rows, 0, {row}, 0, {place_row}",
        "cols": f"1, cols, pitch, 0, {col}, 0, {place_col}",
        "cell": "1, 1, 1, 0, 0, 0, 0",
    }[value.kind]
    return Step([f"GatherElements({begin}, {sizes});"], reads)


def _step(tensor: Tensor, group: str) -> str:
    """Elements from one of a group to the next; 0 where the tensor lacks it."""
    return " * ".join(factors(tensor, group)) or "1" if group in tensor.groups else "0"
