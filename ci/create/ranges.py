"""Ranges of axes brought to the ends of a graph: cut out of inputs, put together in outputs.

A range of what an operation computes is what the operation computes of ranges, and what it computes
of parts that were put together are such parts. So between the ends all is as without ranges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from ci.create.graph import ELEMENTWISE, GATHER, Graph, Node
from ci.create.nodes import Nodes
from ci.model.errors import InputError

_JOINED_BY = {
    "reduce_sum": "add",
    "reduce_prod": "mul",
    "reduce_max": "max",
    "reduce_min": "min",
}


@dataclass(frozen=True)
class Joined:
    """Parts that lie in a row along an axis; or, `laced`, that take turns, element by element."""

    axis: int
    parts: tuple[Form, ...]
    laced: bool = False


Form = int | Joined
"""What a node becomes: a node of the new graph, or parts that are put together."""


def at_ends(graph: Graph) -> Graph:
    """The same graph with ranges of inputs alone and with parts in outputs alone.

    Raises InputError for ranges of what does not take them.
    """
    needed = graph.needed()
    if not any(graph.nodes[i].op in ("slice", "concat") for i in needed):
        return graph
    return _Mover(graph, needed).graph()


class _Mover(Nodes):
    def __init__(self, graph: Graph, needed: set[int]) -> None:
        super().__init__()
        self.old, self.needed = graph, needed
        self.forms: dict[int, Form] = {}

    def graph(self) -> Graph:
        for place, node in enumerate(self.old.nodes):
            if place in self.needed or node.op == "input":
                self.forms[place] = self._form(node)
        outputs = tuple(self._whole(self.forms[i]) for i in self.old.outputs)
        return Graph(nodes=tuple(self.nodes), outputs=outputs)

    # Nodes of the new graph

    def _like(self, node: Node, args: Sequence[int], shape: Sequence[int]) -> int:
        """A node of the same operation on other arguments; `node` is one of the new graph."""
        return self.write(node.op, args, shape, node.dtype, **node.params)

    def _number(self, op: str, *args: int) -> int:
        """A number that is computed of others."""
        return self.write(op, args, (), "float64")

    def _zero(self) -> int:
        return self.write("const", (), (), "float64", value=0.0)

    def _times(self, number: int, factor: int) -> int:
        if factor == 1:
            return number
        by = self.write("const", (), (), "float64", value=float(factor))
        return self._number("mul", number, by)

    def _extent(self, form: Form, axis: int) -> int:
        """The number of elements along an axis."""
        if isinstance(form, Joined):
            if form.axis != axis:
                return self._extent(form.parts[0], axis)
            found = [self._extent(part, axis) for part in form.parts]
            total = found[0]
            for one in found[1:]:
                total = self._number("add", total, one)
            return total
        made = self.nodes[form]
        told = made.params.get("sizes") or [None] * len(made.shape)
        if made.op in ELEMENTWISE or (made.op == "broadcast" and told[axis] is None):
            for arg in made.args:  # one that is as long
                shape = self.nodes[arg].shape
                along = axis - len(made.shape) + len(shape)
                if along >= 0 and shape[along] == made.shape[axis]:
                    return self._extent(arg, along)
            return self.write("const", (), (), "float64", value=float(made.shape[axis]))
        return self.write("extent", (form,), (), "float64", axes=[axis])

    def _shape(self, form: Form) -> tuple[int, ...]:
        if isinstance(form, int):
            return self.nodes[form].shape
        shapes = [self._shape(part) for part in form.parts]
        along = sum(s[form.axis] for s in shapes)
        return (*shapes[0][: form.axis], along, *shapes[0][form.axis + 1 :])

    def _whole(self, form: Form) -> int:
        if isinstance(form, int):
            return form
        parts = [self._whole(part) for part in form.parts]
        dtype = self.nodes[parts[0]].dtype
        laced = {"laced": True} if form.laced else {}
        return self.write("concat", parts, self._shape(form), dtype, axis=form.axis, **laced)

    # What becomes of the old ones

    def _form(self, node: Node) -> Form:
        args = [self.forms[a] for a in node.args]
        if node.op == "slice":
            return self._sliced(node, args[0])
        if node.op == "concat":
            return Joined(node.axes()[0], tuple(args))
        params = dict(node.params)
        if "sizes" in params:
            params["sizes"] = [None if s is None else self._scalar(s) for s in params["sizes"]]
        node = node.model_copy(update={"params": params})
        if all(isinstance(a, int) for a in args):
            return self._like(node, [a for a in args if isinstance(a, int)], node.shape)
        return self._of_joined(node, args)

    def _scalar(self, old: int) -> int:
        form = self.forms[old]
        assert isinstance(form, int)
        return form

    def _sliced(self, node: Node, form: Form) -> Form:
        step = int(node.params["step"])
        (axis,) = node.axes()
        ends = (int(node.params["start"]), int(node.params["stop"]))
        told = (self._scalar(node.params["sizes"][0]), self._scalar(node.params["sizes"][1]))
        return self._cut(form, axis, ends, told, step)

    def _cut(
        self, form: Form, axis: int, ends: tuple[int, int], told: tuple[int, int], step: int = 1
    ) -> Form:
        """A range of an axis; `told` are the nodes of its ends."""
        if isinstance(form, int):
            return self._range(form, axis, ends, told, step)
        if form.axis != axis:
            parts = (self._cut(p, axis, ends, told, step) for p in form.parts)
            return Joined(form.axis, tuple(parts), form.laced)
        if form.laced:
            if step != len(form.parts) or len(range(*ends, step)) < self._shape(form)[axis] // step:
                raise InputError("It takes a part of what it has put together of others.")
            return form.parts[ends[0]]
        if step > 1:
            raise InputError("It takes a part of what it has put together of others.")
        found: list[Form] = []
        at, begin = 0, self._zero()
        for part in form.parts:
            size, length = self._shape(part)[axis], self._extent(part, axis)
            first, last = max(ends[0] - at, 0), min(ends[1] - at, size)
            if first < last:
                start = self._number("sub", told[0], begin) if first else self._zero()
                stop = self._number("sub", told[1], begin) if last < size else length
                found.append(self._cut(part, axis, (first, last), (start, stop)))
            at, begin = at + size, self._number("add", begin, length)
        return found[0] if len(found) == 1 else Joined(axis, tuple(found))

    def _range(
        self, place: int, axis: int, ends: tuple[int, int], told: tuple[int, int], step: int
    ) -> int:
        """A range of an axis of a node, cut out of the inputs that it is computed of."""
        node = self.nodes[place]
        if ends == (0, node.shape[axis]) and step == 1:
            return place
        shape = (*node.shape[:axis], len(range(*ends, step)), *node.shape[axis + 1 :])

        def cut(arg: int, along: int) -> int:
            return self._range(arg, along, ends, told, step)

        def met(arg: int) -> int:
            """Return the axis of an argument that the axis may be new to."""
            along = axis - len(node.shape) + len(self.nodes[arg].shape)
            whole = along < 0 or self.nodes[arg].shape[along] == 1
            return arg if whole else cut(arg, along)

        kept = node.op.startswith(("reduce_", "scan_")) and axis not in node.axes()
        if node.op in ELEMENTWISE or node.op == "broadcast":
            return self._like(node, [met(a) for a in node.args], shape)
        if node.op == "transpose":
            return self._like(node, [cut(node.args[0], node.params["order"][axis])], shape)
        if node.op == "input" or (node.op == "slice" and node.axes() != (axis,)):
            params = {"axis": axis, "start": ends[0], "stop": ends[1], "step": step}
            return self.write("slice", [place], shape, node.dtype, **params, sizes=list(told))
        if node.op == "slice":
            first, wide = int(node.params["start"]), int(node.params["step"])
            begin = node.params["sizes"][0]
            start, stop = (self._number("add", begin, self._times(t, wide)) for t in told)
            both = (first + ends[0] * wide, first + ends[1] * wide)
            return self._range(node.args[0], axis, both, (start, stop), wide * step)
        if node.op == "reshape":
            along = _axis_before(self.nodes[node.args[0]].shape, node.shape, axis)
            if along is not None:
                sizes = list(node.params.get("sizes") or [None] * len(node.shape))
                sizes[axis] = None
                made = node.model_copy(update={"params": {**node.params, "sizes": sizes}})
                return self._like(made, [cut(node.args[0], along)], shape)
        turned = node.params.get("reverse")
        if node.op.startswith("scan_") and not node.params.get("exclusive") and not kept:
            last = ends == (0, 1) if turned else ends == (node.shape[axis] - 1, node.shape[axis])
            if last and (turned or self._at_end(told[1])):  # all of it, folded
                op = node.op.replace("scan", "reduce")
                return self.write(op, node.args, shape, node.dtype, axes=[axis])
        first = ends[1] == node.shape[axis] if turned else ends[0] == 0
        begun = node.op.startswith("scan_") and first and step == 1  # the same scan of fewer
        if kept or begun:
            return self._like(node, [cut(node.args[0], axis)], shape)
        if node.op == GATHER:
            (along,), (table, index) = node.axes(), node.args
            count = len(self.nodes[index].shape)
            if node.params.get("each"):
                table = table if axis == along else cut(table, axis)
                return self._like(node, [table, cut(index, axis)], shape)
            if along <= axis < along + count:
                return self._like(node, [table, cut(index, axis - along)], shape)
            own = axis if axis < along else axis - count + 1
            return self._like(node, [cut(table, own), index], shape)
        if node.op == "iota":
            counted = self._like(node, [cut(node.args[0], axis)], shape)
            if step > 1:
                factor = self.write("const", (), (), "float64", value=float(step))
                counted = self.write("mul", (counted, factor), shape, node.dtype)
            return self.write("add", (counted, told[0]), shape, node.dtype)
        raise InputError(f"It takes a part of what '{node.op}' gives; that is not lowered.")

    def _at_end(self, number: int) -> bool:
        """Whether a number is the length of an axis, in its own words."""
        node = self.nodes[number]
        if node.op == "add" and self.nodes[node.args[1]].params.get("value") == 0:
            node = self.nodes[node.args[0]]
        return node.op == "extent"

    def _of_joined(self, node: Node, args: list[Form]) -> Form:
        """An operation on parts: what it makes of each of them, put together."""
        if node.op == "extent":
            length, *more = [self._extent(args[0], a) for a in node.axes()]
            for one in more:
                length = self._number("mul", length, one)
            return length
        if node.op in ELEMENTWISE or node.op == "broadcast":
            return self._elementwise(node, args)
        if node.op == GATHER:
            raise InputError(
                "It indexes what was put together of parts, or by such places; that is not lowered."
            )
        (form,) = args
        assert isinstance(form, Joined)
        axis, shape = form.axis, self._shape(form)
        after: int | None = axis
        if node.op == "transpose":
            after = list(node.params["order"]).index(axis)
        elif node.op == "reshape":
            after = _axis_before(node.shape, shape, axis)
            sizes = list(node.params.get("sizes") or [None] * len(node.shape))
            single = all(self._shape(p)[axis] == 1 for p in form.parts)
            if after is None and single and not form.laced:
                nested = self._nested(node, form)
                if nested is not None or axis:
                    return self._laced(node, form) if nested is None else nested
            if after is not None:
                sizes[after] = None
                node = node.model_copy(update={"params": {**node.params, "sizes": sizes}})
        elif node.op in _JOINED_BY and axis in node.axes():
            reduced = [self._applied(node, part, axis, 1) for part in form.parts]
            all_of_it = reduced[0]
            for part in reduced[1:]:
                all_of_it = self._operated(_JOINED_BY[node.op], node, all_of_it, part)
            return all_of_it
        elif not node.op.startswith(("reduce_", "scan_")) or axis in node.axes():
            after = None
        if after is None:
            raise InputError(f"'{node.op}' of what was put together of parts is not lowered.")
        parts = (self._applied(node, p, after, self._shape(p)[axis]) for p in form.parts)
        return Joined(after, tuple(parts), form.laced)

    def _nested(self, node: Node, form: Joined) -> Form | None:
        """Single elements that were stacked, put together along several axes; None where the
        reshape does not cut their axis."""
        shape, axis = self._shape(form), form.axis
        rest = len(shape) - axis - 1
        inner = node.shape[axis : len(node.shape) - rest]
        around = (*node.shape[:axis], *node.shape[len(node.shape) - rest :])
        if around != (*shape[:axis], *shape[axis + 1 :]) or prod(inner) != len(form.parts):
            return None
        sizes = list(node.params.get("sizes") or [None] * len(node.shape))
        sizes[axis : axis + len(inner)] = [None] * len(inner)
        node = node.model_copy(update={"params": {**node.params, "sizes": sizes}})
        single = (*shape[:axis], *(1 for _ in inner), *shape[axis + 1 :])
        parts = [self._like(node, [self._whole(p)], single) for p in form.parts]

        def nest(own: list[int], along: int) -> Form:
            if along == axis + len(inner):
                return own[0]
            each = len(own) // inner[along - axis]
            cut = (own[i : i + each] for i in range(0, len(own), each))
            return Joined(along, tuple(nest(one, along + 1) for one in cut))

        return nest(parts, axis)

    def _laced(self, node: Node, form: Joined) -> Form:
        """Lines that were stacked behind the others' elements, joined with the axis before: the
        parts take turns in it."""
        *outer, before, count = self._shape(form)[: form.axis + 1]
        place = next(
            (
                i
                for i in range(len(node.shape))
                if prod(node.shape[:i]) == prod(outer) and node.shape[i] == before * count
            ),
            None,
        )
        if place is None:
            raise InputError("It reshapes what was put together of parts; that is not lowered.")
        sizes = list(node.params.get("sizes") or [None] * len(node.shape))
        sizes[place] = None
        node = node.model_copy(update={"params": {**node.params, "sizes": sizes}})
        return Joined(place, tuple(self._applied(node, p, place, before) for p in form.parts), True)

    def _applied(self, node: Node, part: Form, axis: int, size: int) -> Form:
        """An operation on a part, of which it makes `size` elements along an axis."""
        shape = (*node.shape[:axis], size, *node.shape[axis + 1 :])
        if isinstance(part, int):
            return self._like(node, [part], shape)
        return self._of_joined(node.model_copy(update={"shape": shape}), [part])

    def _operated(self, op: str, node: Node, a: Form, b: Form) -> Form:
        made = Node(op=op, args=(0, 0), shape=node.shape, dtype=node.dtype)
        if isinstance(a, int) and isinstance(b, int):
            return self._like(made, [a, b], node.shape)
        return self._elementwise(made, [a, b])

    def _elementwise(self, node: Node, args: list[Form]) -> Form:
        first = next(a for a in args if isinstance(a, Joined))
        axis = first.axis + len(node.shape) - len(self._shape(first))
        parts, at, begin = list[Form](), 0, self._zero()
        count, whole = len(first.parts), self._shape(first)[first.axis]
        for place, part in enumerate(first.parts):
            size = self._shape(part)[first.axis]
            end = self._number("add", begin, self._extent(part, first.axis))
            ends, told, step = (at, at + size), (begin, end), 1
            if first.laced:
                start = self.write("const", (), (), "float64", value=float(place))
                ends, told, step = (place, whole), (start, self._extent(first, first.axis)), count
            given = [self._met(a, axis, node, ends, told, step) for a in args]
            shape = (*node.shape[:axis], size, *node.shape[axis + 1 :])
            if all(isinstance(g, int) for g in given):
                parts.append(self._like(node, [g for g in given if isinstance(g, int)], shape))
            else:
                parts.append(self._elementwise(node.model_copy(update={"shape": shape}), given))
            at, begin = at + size, end
        return Joined(axis, tuple(parts), first.laced)

    def _met(
        self,
        form: Form,
        axis: int,
        node: Node,
        ends: tuple[int, int],
        told: tuple[int, int],
        step: int,
    ) -> Form:
        """The range of an argument that meets a part."""
        shape = self._shape(form)
        along = axis - len(node.shape) + len(shape)
        if along < 0 or shape[along] == 1:
            return form
        return self._cut(form, along, ends, told, step)


def _axis_before(before: Sequence[int], after: Sequence[int], axis: int) -> int | None:
    """The axis of `before` that is the axis of `after` when one is reshaped to the other."""
    outer = prod(after[:axis])
    for place, size in enumerate(before):
        if size == after[axis] and prod(before[:place]) == outer:
            return place
    return None
