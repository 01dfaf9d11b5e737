"""Halves of rows: short runs that lie side by side go in one copy, and are parted in UB.

A copy moves whole lines of global memory, and a run that begins within one whole windows: halves
of some 64 bytes, as rotary embeddings and gated units have them, cost many times their bytes. Those
of whole lines do not. Where T has 2 bytes they are converted to float anyway, and conversion reads
or writes each half of a row as well as the whole.
"""

from __future__ import annotations

from collections import defaultdict

from ci.create.passes.base import Pair, Plan, has_two_forms
from ci.create.program import Statement
from ci.create.tensors import Tensor


def pairs(plan: Plan) -> None:
    """Fill `plan.pairs`: what a phase that does a unit in one go loads, or stores, once each."""
    alone = len(plan.program.phases) == 1 and not has_two_forms(plan.phase)
    if not alone or not plan.one_tile or len(plan.regions) != 1:
        return
    found: dict[tuple[str, bool], list[Statement]] = defaultdict(list)
    for statement in plan.regions[0].statements:
        if statement.tensor is not None:
            found[statement.tensor.memory, statement.op == "store"].append(statement)
    for (_, out), statements in found.items():
        tensors = [s.tensor for s in statements if s.tensor is not None]
        if len(tensors) != 2 or not all(_plain(plan, s) for s in statements):
            continue
        for first, second in (tensors, tensors[::-1]):
            if _side_by_side(plan, first, second):
                plan.pairs.append(Pair(first, second, out))


def pair_of(plan: Plan, tensor: Tensor, out: bool) -> Pair | None:
    """The pair that a tensor is of."""
    return next((p for p in plan.pairs if p.out == out and tensor in (p.first, p.second)), None)


def _plain(plan: Plan, statement: Statement) -> bool:
    """Whether it is a tile in T that goes between its queue and the vector unit by conversion."""
    value = statement.args[0] if statement.op == "store" else statement.value
    tensor = statement.tensor
    assert tensor is not None
    tile = getattr(value, "kind", "") == "tile" and not getattr(value, "mask", False)
    kept = statement.op == "load" and getattr(value, "name", "") in plan.owned
    known = statement.op in ("load", "store")
    return known and tile and tensor.dtype == "T" and not kept and not plan.phase.turns(tensor)


def _side_by_side(plan: Plan, first: Tensor, second: Tensor) -> bool:
    rows, cols = plan.phase.rows, plan.phase.cols
    if not rows or not first.runs or first.groups != second.groups:
        return False
    before, last = first.runs[:-1], first.runs[-1]
    other = second.runs[-1]
    if last.step != 1 or other.step != 1:
        return False
    whole = last.groups == other.groups == (cols,) and last.whole == other.whole
    starts = last.start == "0" and other.start == cols
    same = before == second.runs[:-1] and not any(r.ranged or r.start != "0" for r in before)
    return whole and starts and same and first.behind(rows) == (last.whole,)
