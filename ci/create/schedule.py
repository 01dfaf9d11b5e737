"""The way from a layout to a program: phases, sweeps, and what is computed where.

A reduction ends a sweep: what needs its result is computed in the next one, from tensors that are
loaded again. A reduction to one number ends a phase, since all cores must have done their part.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ci.create.items import Item
from ci.create.layout import Layout
from ci.create.program import Argument, Kind, Phase, Program, Statement, Sweep, Value, kind_of
from ci.create.scalars import Scalar
from ci.create.tensors import Tensor
from ci.model.errors import InputError

FEW: Final = 64
"""Elements: shorter lines of a tensor that is turned are copied as one run and gathered, 5 a cycle.
A copy of such lines takes up to 61 cycles for one that begins within a block."""


def program_of(name: str, layout: Layout) -> Program:
    """The program that computes a layout; raises InputError with what is not lowered."""
    phases = _phases(layout)
    stores = _store_phases(layout, phases)
    made = []
    for number in range(max(stores, default=0) + 1):
        made.append(_PhaseMaker(layout, phases, stores, number).phase())
    return Program(name, layout.groups, layout.inputs, layout.outputs, tuple(made))


def is_total(item: Item) -> bool:
    """Whether an item is a reduction to one number."""
    return item.op.startswith("fold ") and not item.groups


def _phases(layout: Layout) -> list[int]:
    """The phase at whose beginning each item can be computed."""
    found: list[int] = []
    for item in layout.items:
        before = max((found[a] for a in item.args if isinstance(a, int)), default=0)
        found.append(before + is_total(item))
    return found


def _store_phases(layout: Layout, phases: list[int]) -> list[int]:
    """The phase that stores each target. Parts of an output of which one has groups that another
    lacks go over spaces of their own, in phases of their own."""
    found: list[int] = []
    spaces: dict[tuple[str, int], frozenset[str]] = {}
    for tensor, items in zip(layout.targets, layout.stored, strict=True):
        phase, groups = max(phases[i] for i in items), frozenset(tensor.groups)
        while tensor.of and spaces.get((tensor.of, phase), groups) != groups:
            phase += 1
        spaces[tensor.of, phase] = groups
        found.append(phase)
    return found


@dataclass
class _PhaseMaker:
    layout: Layout
    phases: list[int]
    store_phases: list[int]
    number: int
    needed: list[int] = field(default_factory=list)

    def phase(self) -> Phase:
        items = self.layout.items
        self.totals = [i for i, item in enumerate(items) if is_total(item) and self._ends_here(i)]
        self.stores = [
            (tensor, own)
            for tensor, own, phase in zip(
                self.layout.targets, self.layout.stored, self.store_phases, strict=True
            )
            if phase == self.number
        ]
        self.needed = self._closure()
        used = frozenset().union(*(items[i].groups for i in self.needed))
        used |= frozenset().union(*(items[i].along for i in self.totals))
        active = [g.name for g in self.layout.groups if g.name in used]
        self.cols = active[-1] if active else ""
        self.rows, turned = self._rows(active)
        if turned and self._length(self.cols) < min(FEW, self._length(self.rows)):
            self.rows, self.cols = self.cols, self.rows  # tiles have long rows
        self.outer = tuple(g for g in active if g not in (self.rows, self.cols))
        folds = [i for i in self.needed if items[i].along and not is_total(items[i])]
        self.sequential = frozenset().union(*(items[i].along for i in folds))
        for i in folds:
            fold = items[i].op.startswith("fold")
            again = fold and not self._arguments(i) >= self.sequential  # for each of another axis
            if fold and (items[i].groups & self.sequential or again):
                raise InputError(
                    "It reduces over different axes that depend on each other: what is summed over"
                    " one axis meets what is summed over another. That is not one kernel; make an"
                    " operator of each output, or of each reduction."
                )
        self.depth = self._depths()
        self.names = {i: self._name(i) for i in (*self.needed, *self.totals)}
        return self._made()

    def _arguments(self, i: int) -> frozenset[str]:
        """The groups that the arguments of an item vary over."""
        given = (
            self.layout.items[a].groups for a in self.layout.items[i].args if isinstance(a, int)
        )
        return frozenset().union(*given)

    def _length(self, group: str) -> int:
        """Return the length of a group in the traced case."""
        return next(g.example for g in self.layout.groups if g.name == group)

    def _rows(self, active: list[str]) -> tuple[str, bool]:
        """The group around the columns: the last of a tensor that is turned, if there is one; and
        whether there is."""
        loaded = {self.layout.items[i].op.partition("load ")[2] for i in self.needed}
        tensors = [t for t in (*self.layout.inputs, *self.layout.parts) if t.name in loaded]
        tensors += [t for t, _ in self.stores]
        turned = {t.groups[-1] for t in tensors if self.cols in t.groups[:-1]}
        if len(turned) > 1:
            raise InputError("Tensors end with three different axes; that is not lowered.")
        if turned:
            return turned.pop(), True
        return active[-2] if len(active) > 1 else "", False

    def _ends_here(self, total: int) -> bool:
        wanted, left = False, [i for own in self.layout.stored for i in own]
        seen: set[int] = set()
        while left:
            one = left.pop()
            wanted |= one == total
            if one not in seen:
                seen.add(one)
                left += [a for a in self.layout.items[one].args if isinstance(a, int)]
        return wanted and self.phases[total] == self.number + 1

    def _closure(self) -> list[int]:
        """The items of this phase; of an earlier total only its result."""
        items = self.layout.items
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
        return bool(self.layout.items[i].groups & self.sequential)

    def _depths(self) -> dict[int, int]:
        """How many sweeps lie before each item."""
        found: dict[int, int] = {}
        for i in self.needed:
            item = self.layout.items[i]
            if is_total(item):
                found[i] = 0
                continue
            before = max((found[a] for a in item.args if isinstance(a, int)), default=0)
            found[i] = before + item.op.startswith("fold")
        return found

    def _kind(self, groups: frozenset[str]) -> Kind:
        return kind_of(groups, self.rows, self.cols)

    def _name(self, i: int) -> Value:
        item = self.layout.items[i]
        base = item.op.split()[-1] if item.op.startswith(("load", "fold")) else item.op.split()[0]
        return Value(
            f"{base}{'' if item.op.startswith('load') else i}", self._kind(item.groups), item.mask
        )

    def _argument(self, given: int | Scalar) -> Argument:
        return given if isinstance(given, Scalar) else self.names[given]

    def _statement(self, i: int) -> Statement:
        item = self.layout.items[i]
        args = tuple(self._argument(a) for a in item.args)
        if item.op.startswith("load "):
            name = item.op.removeprefix("load ")
            tensors = (*self.layout.inputs, *self.layout.parts)
            tensor = next(t for t in tensors if t.name == name)
            return Statement("load", self.names[i], tensor=tensor)
        if item.op.startswith("window "):
            op, _, name = item.op.partition(" of ")
            tensor = next(t for t in self.layout.inputs if t.name == name)
            return Statement(op, self.names[i], tensor=tensor)
        if item.op.startswith("scan"):
            if item.along not in ({self.cols}, {self.rows}):
                raise InputError(
                    "It scans over an axis that is neither the last nor the one before."
                )
            over: Kind = self._kind(item.groups - item.along)
            carry = Value(f"carry{i}", "cell" if over == "tile" else over)
            way = "rows" if item.along == {self.rows} else "cols"
            return Statement(f"{item.op} {way}", self.names[i], args, carry=carry)
        if item.op == "iota" and item.groups not in ({self.cols}, {self.rows}):
            raise InputError(
                "It counts along an axis that is neither the last nor the one before; give these"
                " positions as an input."
            )
        return Statement(item.op, self.names[i], args, total=is_total(item))

    def _made(self) -> Phase:
        items, depth = self.layout.items, self.depth
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
        items = self.layout.items
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
        return max(self.depth[a] for a in self.layout.items[i].args if isinstance(a, int))

    def _at(self, total: int, d: int, single: bool) -> bool:
        (arg,) = (a for a in self.layout.items[total].args if isinstance(a, int))
        return (self._swept(arg) or single) and self.depth[arg] == d

    def _swept_closure(self, roots: list[int], single: bool) -> set[int]:
        items, found, left = self.layout.items, set[int](), list(roots)
        while left:
            one = left.pop()
            if one in found or is_total(items[one]) or not (self._swept(one) or single):
                continue
            found.add(one)
            left += [a for a in items[one].args if isinstance(a, int)]
        return found

    def _settled(self, d: int) -> list[Statement]:
        """What is computed once a unit after `d` sweeps."""
        items = self.layout.items
        if not self.sequential:
            return []  # a unit is one tile: all is in its body
        here = [
            i
            for i in self.needed
            if not self._swept(i) and self.depth[i] == d and not items[i].op.startswith("fold")
        ]
        found = [self._statement(i) for i in here]
        for total in self.totals:
            (arg,) = (a for a in items[total].args if isinstance(a, int))
            if not self._swept(arg) and self.depth[arg] == d:
                found.append(self._statement(total))
        for tensor, own in self.stores:
            if not self._swept(own[0]) and max(self.depth[i] for i in own) == d:
                found.append(self._stored(tensor, own))
        return found
