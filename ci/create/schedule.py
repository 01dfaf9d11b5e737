"""The way from a layout to a program: phases, sweeps, and what is computed where.

A reduction ends a sweep: what needs its result is computed in the next one, from tensors that are
loaded again. A reduction to one number ends a phase, since all cores must have done their part.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Final

from ci.create.items import Item
from ci.create.layout import Layout
from ci.create.placement import Placement, disagree, given, is_total
from ci.create.program import Argument, Kind, Phase, Program, Statement, Sweep, Value, kind_of
from ci.create.scalars import Scalar
from ci.create.tensors import Tensor, indexed
from ci.model.errors import InputError

FEW: Final = 64
"""Elements: shorter lines of a tensor that is turned are copied as one run and gathered, 5 a cycle.
A copy of such lines takes up to 61 cycles for one that begins within a block."""


def program_of(name: str, layout: Layout) -> Program:
    """The program that computes a layout; raises InputError with what is not lowered."""
    placed = Placement(layout)
    made = [
        _PhaseMaker(layout, placed, n).phase() for n in range(max(placed.stores, default=0) + 1)
    ]
    kept = tuple(tensor for tensor, _ in placed.kept.values())
    return Program(name, layout.groups, layout.inputs, layout.outputs, tuple(made), kept)


@dataclass
class _PhaseMaker:
    layout: Layout
    placed: Placement
    number: int
    needed: list[int] = field(default_factory=list)

    def phase(self) -> Phase:
        self.items = items = self.placed.items(self.number)
        kept = self.placed.kept
        self.totals = [i for i, item in enumerate(items) if is_total(item) and self._ends_here(i)]
        targets = zip(self.layout.targets, self.layout.stored, self.placed.stores, strict=True)
        self.stores = [(t, own) for t, own, phase in targets if phase == self.number]
        self.stores += [(t, (i,)) for i, (t, phase) in kept.items() if phase == self.number]
        self.needed = self._closure()
        used = frozenset().union(*(items[i].groups for i in self.needed))
        used |= frozenset().union(*(items[i].along for i in self.totals))
        active = [g.name for g in self.layout.groups if g.name in used]
        self.rows, self.cols = self._tile_axes(active)
        self.outer = tuple(g for g in active if g not in (self.rows, self.cols))
        folds = [i for i in self.needed if items[i].along and not is_total(items[i])]
        self.sequential = frozenset().union(*(items[i].along for i in folds))
        if disagree(items, self.needed):
            raise InputError(
                "It reduces over different axes in one loop: what is summed over one axis meets"
                " what is summed over another. Make an operator of each reduction."
            )
        self.depth = self._depths()
        self.names = {i: self._name(i) for i in (*self.needed, *self.totals)}
        return self._made()

    def _memory(self) -> tuple[Tensor, ...]:
        """All that can be loaded."""
        kept = (tensor for tensor, _ in self.placed.kept.values())
        return (*self.layout.inputs, *self.layout.parts, *kept)

    def _touched(self) -> list[Tensor]:
        """What this phase loads and stores."""
        known = {t.name: t for t in self._memory()}
        found = [self.items[i].op for i in self.needed]
        loaded = {op.partition("load ")[2] for op in found}
        touched = [t for t in known.values() if t.name in loaded] + [t for t, _ in self.stores]
        for words in (op.split() for op in found if op.startswith("gather ")):
            tensor = known[words[3]]
            rest = tuple(g for g in tensor.groups if g != words[1])
            touched.append(replace(tensor, groups=rest))
        return touched

    def _length(self, group: str) -> int:
        """Return the length of a group in the traced case."""
        return next(g.example for g in self.layout.groups if g.name == group)

    def _tile_axes(self, active: list[str]) -> tuple[str, str]:
        """Rows and columns of tiles: the last group, and the one before it or that which a tensor
        ends with that is turned. Where tiles of a tensor would not be runs in memory, or tensors of
        several dtypes be turned, others are taken."""
        if not active:
            return "", ""
        touched = self._touched()
        windows = [self._window(self.items[i]) for i in self.needed if "window" in self.items[i].op]
        for _, tensor, weights in windows:
            if weights is not None:  # a row for each output, so that a window is gathered for all
                own = [g for g in active if g in weights.groups and g not in tensor.groups]
                if active[-1] in (*tensor.groups, *weights.groups):
                    raise InputError("Its windows leave one place along the last axis.")
                return own[-1] if own else "", active[-1]
        cols = active[-1]
        ends = {t.groups[-1] for t in touched if cols in t.groups[:-1]}
        rows = min(ends) if ends else active[-2] if len(active) > 1 else ""
        if ends and self._length(cols) < min(FEW, self._length(rows)):
            rows, cols = cols, rows  # tiles have long rows
        mixed = bool(ends) and len({t.dtype for t in touched}) > 1
        if not mixed and len(ends) < 2 and _in_runs(touched, rows, cols):
            return rows, cols
        for other_rows, other_cols in permutations(reversed(active), 2):
            turned = any(other_cols in t.groups[:-1] for t in touched)
            if not turned and _in_runs(touched, other_rows, other_cols):
                return other_rows, other_cols
        if len(ends) > 1:
            raise InputError("Tensors end with three different axes; that is not lowered.")
        return rows, cols

    def _ends_here(self, total: int) -> bool:
        wanted, left = False, [i for own in self.layout.stored for i in own]
        seen: set[int] = set()
        while left:
            one = left.pop()
            wanted |= one == total
            if one not in seen:
                seen.add(one)
                left += [a for a in self.items[one].args if isinstance(a, int)]
        return wanted and self.placed.phases[total] == self.number + 1

    def _closure(self) -> list[int]:
        """The items of this phase; of an earlier total only its result."""
        items = self.items
        left = [a for t in self.totals for a in items[t].args if isinstance(a, int)]
        left += [i for _, own in self.stores for i in own]
        found: set[int] = set()
        while left:
            one = left.pop()
            if one in found:
                continue
            found.add(one)
            if not is_total(items[one]):
                left += [a for a in items[one].args if isinstance(a, int)]
        return sorted(found)

    def _swept(self, i: int) -> bool:
        """Whether an item has a value for each tile of a sweep."""
        return bool(self.items[i].groups & self.sequential)

    def _depths(self) -> dict[int, int]:
        """How many sweeps lie before each item."""
        found: dict[int, int] = {}
        for i in self.needed:
            item = self.items[i]
            if is_total(item):
                found[i] = 0
                continue
            before = max((found[a] for a in item.args if isinstance(a, int)), default=0)
            found[i] = before + item.op.startswith("fold")
        return found

    def _kind(self, groups: frozenset[str]) -> Kind:
        return kind_of(groups, self.rows, self.cols)

    def _name(self, i: int) -> Value:
        item = self.items[i]
        base = item.op.split()[-1] if item.op.startswith(("load", "fold")) else item.op.split()[0]
        return Value(
            f"{base}{'' if item.op.startswith('load') else i}", self._kind(item.groups), item.mask
        )

    def _argument(self, given: int | Scalar) -> Argument:
        return given if isinstance(given, Scalar) else self.names[given]

    def _statement(self, i: int) -> Statement:
        item = self.items[i]
        args = tuple(self._argument(a) for a in item.args)
        if item.op.startswith("load "):
            name = item.op.removeprefix("load ")
            tensor = next(t for t in self._memory() if t.name == name)
            return Statement("load", self.names[i], tensor=tensor)
        if item.op.startswith("gather "):
            op, _, name = item.op.partition(" of ")
            tensor = next(t for t in self._memory() if t.name == name)
            return Statement(op, self.names[i], args, tensor=indexed(tensor))
        if item.op.startswith("window "):
            op, tensor, weights = self._window(item)
            return Statement(op, self.names[i], tensor=tensor, weights=weights)
        if item.op.startswith("scan"):
            if item.along not in ({self.cols}, {self.rows}):
                raise InputError(
                    "It scans over an axis that is neither the last nor the one before."
                )
            over: Kind = self._kind(item.groups - item.along)
            carry = Value(f"carry{i}", "cell" if over == "tile" else over)
            way = "rows" if item.along == {self.rows} else "cols"
            return Statement(f"{item.op} {way}", self.names[i], args, carry=carry)
        return Statement(item.op, self.names[i], args, total=is_total(item))

    def _window(self, item: Item) -> tuple[str, Tensor, Tensor | None]:
        """What is done with windows, of which tensor, and by which weights."""
        op, _, names = item.op.partition(" of ")
        name, _, by = names.partition(" by ")
        known = {t.name: t for t in self._memory()}
        return op, known[name], known.get(by)

    def _made(self) -> Phase:
        items, depth = self.items, self.depth
        last = max(depth.values(), default=0)
        sweeps = []
        prelude = self._settled(0)
        for d in range(last + 1):
            body = self._body(d)
            settle = self._settled(d + 1)
            if body or settle:
                sweeps.append(Sweep(tuple(body), tuple(settle)))
        groups = {
            self.names[i].name: tuple(sorted(items[i].groups)) for i in (*self.needed, *self.totals)
        }
        order = tuple(g.name for g in self.layout.groups if g.name in self.sequential)
        return Phase(
            self.number,
            self.cols,
            self.rows,
            self.outer,
            order,
            tuple(prelude),
            tuple(sweeps),
            tuple(groups.items()),
        )

    def _body(self, d: int) -> list[Statement]:
        """What sweep `d` computes: enough for the folds, totals and stores that it can feed."""
        items = self.items
        single = not self.sequential and d == 0
        folds = [
            i
            for i in self.needed
            if items[i].op.startswith("fold")
            and not is_total(items[i])
            and self._argument_depth(i) == d
        ]
        totals = [t for t in self.totals if self._at(t, d, single)]
        stores = [
            (t, own)
            for t, own in self.stores
            if (self._swept(own[0]) or single) and max(self.depth[i] for i in own) == d
        ]
        roots = [a for i in (*folds, *totals) for a in items[i].args if isinstance(a, int)]
        wanted = self._swept_closure([*roots, *(i for _, own in stores for i in own)], single)
        found = [self._statement(i) for i in sorted({*wanted, *folds})]
        found += [self._statement(t) for t in totals]
        return found + [self._stored(t, own) for t, own in stores]

    def _stored(self, tensor: Tensor, own: tuple[int, ...]) -> Statement:
        return Statement("store", None, tuple(self.names[i] for i in own), tensor=tensor)

    def _argument_depth(self, i: int) -> int:
        return max(self.depth[a] for a in self.items[i].args if isinstance(a, int))

    def _at(self, total: int, d: int, single: bool) -> bool:
        (arg,) = (a for a in self.items[total].args if isinstance(a, int))
        return (self._swept(arg) or single) and self.depth[arg] == d

    def _swept_closure(self, roots: list[int], single: bool) -> set[int]:
        items, found, left = self.items, set[int](), list(roots)
        while left:
            one = left.pop()
            here = self._swept(one) or single or self._passes(one)
            if one in found or is_total(items[one]) or not here:
                continue
            found.add(one)
            left += [a for a in items[one].args if isinstance(a, int)]
        return found

    def _passes(self, i: int) -> bool:
        """Whether an item is a tile that no loop collects: it is made again wherever it is used,
        as tiles do not outlive what they are made in."""
        item = self.items[i]
        return self._kind(item.groups) == "tile" and not item.op.startswith("fold")

    def _settled(self, d: int) -> list[Statement]:
        """What is computed once a unit after `d` sweeps."""
        items = self.items
        if not self.sequential:
            return []  # a unit is one tile: all is in its body
        here = {
            i
            for i in self.needed
            if not (self._swept(i) or items[i].op.startswith("fold") or self._passes(i))
            and self.depth[i] == d
        }
        totals = [
            t
            for t in self.totals
            for a in given(items[t])
            if not self._swept(a) and self.depth[a] == d
        ]
        stores = [
            (tensor, own)
            for tensor, own in self.stores
            if not self._swept(own[0]) and max(self.depth[i] for i in own) == d
        ]
        left = [a for i in (*here, *totals) for a in given(items[i])]
        left += [i for _, own in stores for i in own]
        while left:
            one = left.pop()
            if one not in here and self._passes(one) and not self._swept(one):
                here.add(one)
                left += given(items[one])
        found = [self._statement(i) for i in (*sorted(here), *totals)]
        return found + [self._stored(t, own) for t, own in stores]


def _in_runs(tensors: Iterable[Tensor], rows: str, cols: str) -> bool:
    """Whether what a tile has of each tensor are runs in memory."""
    last = {"tile": (rows, cols), "rows": (rows,), "cols": (cols,)}
    kinds = ((kind_of(t.groups, rows, cols), t) for t in tensors)
    return all(kind == "cell" or t.groups[-1] in last[kind] for kind, t in kinds)
