"""A task made to an operator's files: traced case by case, scheduled, lowered, written as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ci.create.emit_host import Attribute, Interface, host_files
from ci.create.emit_kernel import kernel_text
from ci.create.graph import ELEMENTWISE, LEAVES, Graph, Parameter
from ci.create.layout import Layout, layout_of
from ci.create.lower import Lowered, lower
from ci.create.passes.base import BYTES
from ci.create.program import Program
from ci.create.schedule import program_of
from ci.create.simplify import simplified
from ci.create.task import FLOATS, Task, TaskCase
from ci.create.tracer import Tracer
from ci.model.amount import amount
from ci.model.errors import InputError

_KINDS = {float: "Float", int: "Int", bool: "Bool", str: "Str"}
_ALTERED = 1.375
"""Factor of an attribute in a probe: a trace that changes with it has forgotten it."""


@dataclass(frozen=True)
class Made:
    """An operator that is not written yet."""

    interface: Interface
    program: Program
    layouts: tuple[Layout, ...]
    lowered: Lowered
    files: dict[str, str]

    @property
    def rounded(self) -> tuple[str, ...]:
        """The dtypes of one byte that outputs are rounded to (quantisation): the error of float32
        decides on which side of a half a value lies."""
        statements = (s for phase in self.program.phases for s in phase.statements)
        if "rint" not in {s.op for s in statements}:
            return ()
        whole = (t.dtype for t in self.program.outputs if t.dtype in ("int8", "uint8"))
        return tuple(dict.fromkeys(whole))


def make(task: Task, tracer: Tracer) -> Made:
    """The operator of a task; raises InputError with what stops it."""
    return _Maker(task, tracer).made()


def assembled(
    task: Task,
    program: Program,
    layouts: Sequence[Layout],
    classes: Sequence[str],
    attributes: tuple[Attribute, ...],
) -> Made:
    """The files of a program; `layouts` say how the host computes its lengths, `classes` the
    dtypes of its inputs. Raises InputError with what a pass finds broken."""
    lowered = lower(program)
    outputs = [(t.name, t.dtype) for t in program.outputs]
    columns = _columns([*zip(task.inputs, classes, strict=True), *outputs])
    names = tuple(n for n, _ in outputs)
    interface = Interface(task.name, columns, task.inputs, names, attributes)
    title = f"{task.name}, made from the golden function {task.function}."
    files = host_files(lowered, list(layouts), interface)
    files[f"op_kernel/{task.name}.cpp"] = kernel_text(lowered, title)
    return Made(interface, program, tuple(layouts), lowered, files)


class _Maker:
    def __init__(self, task: Task, tracer: Tracer) -> None:
        self.task, self.tracer = task, tracer
        self.classes = classes_of(task)

    def made(self) -> Made:
        task = self.task
        graphs = [self._graph(case, shapes=_without_ones(case, task.cases)) for case in task.cases]
        count = len(graphs[0].outputs)
        names = task.outputs or (("y",) if count == 1 else tuple(f"y{i}" for i in range(count)))
        names = tuple(f"{n}_out" if n in task.inputs else n for n in names)
        dtypes = self._output_dtypes(graphs, count)
        outputs = list(zip(names, dtypes, strict=True))
        layouts = [self._layout(g, outputs) for g in graphs]
        for case, layout in zip(task.cases[1:], layouts[1:], strict=True):
            _same(task.cases[0].name, layouts[0], case.name, layout)
        attributes = tuple(self._attribute(p, outputs, layouts[0]) for p in task.attributes)
        probe = self._other_rank(outputs, layouts[0])
        known = [*layouts, probe] if probe is not None else layouts
        return assembled(task, program_of(task.name, layouts[0]), known, self.classes, attributes)

    def _graph(self, case: TaskCase, **changed: Any) -> Graph:
        shapes = changed.get("shapes", case.shapes)
        dtypes = changed.get("dtypes", case.dtypes)
        attrs = {**case.attrs, **changed.get("attrs", {})}
        listed = [p.name for p in self.task.attributes]
        graph = self.tracer.trace(list(zip(shapes, dtypes, strict=True)), attrs, listed)
        return simplified(graph)

    def _layout(self, graph: Graph, outputs: Sequence[tuple[str, str]]) -> Layout:
        inputs = dict(enumerate(zip(self.task.inputs, self.classes, strict=True)))
        return layout_of(graph, inputs, outputs)

    def _output_dtypes(self, graphs: list[Graph], count: int) -> list[str]:
        """'T' where an output follows the inputs; traces with float16 and with float32 tell, and a
        dtype that both give is the one that the function states."""
        case = self.task.cases[0]
        narrow, wide = (
            self._graph(
                case,
                dtypes=tuple(
                    one if kind == "T" else d
                    for kind, d in zip(self.classes, case.dtypes, strict=True)
                ),
            )
            for one in ("float16", "float32")
        )
        found = []
        for place in range(count):
            kind = narrow.nodes[narrow.outputs[place]].dtype
            stated = kind == "float16" == wide.nodes[wide.outputs[place]].dtype
            if (
                kind in ("float16", "float64")
                and not stated
                or (
                    "int" in kind
                    and graphs[0].nodes[graphs[0].outputs[place]].dtype.startswith("float")
                )
            ):
                found.append("T" if "T" in self.classes else "float32")
            elif kind in BYTES:
                found.append(kind)
            else:
                raise InputError(
                    f"Output {place} is of dtype {kind}; lowered are {', '.join(list(BYTES)[1:])}."
                )
        return found

    def _attribute(
        self, parameter: Parameter, outputs: Sequence[tuple[str, str]], layout: Layout
    ) -> Attribute:
        case = self.task.cases[0]
        value = case.attrs.get(parameter.name, parameter.default)
        if not isinstance(value, int | float) or isinstance(value, bool):
            return attribute(self.task, parameter, free=False)
        other = value * _ALTERED if isinstance(value, float) else value + 1
        try:
            altered = self._layout(self._graph(case, attrs={parameter.name: other}), outputs)
            free = altered.text() == layout.text()
        except InputError:
            free = False
        return attribute(self.task, parameter, free=free)

    def _other_rank(self, outputs: Sequence[tuple[str, str]], layout: Layout) -> Layout | None:
        """The layout with one axis more, where that is the same program."""
        case = self.task.cases[0]
        rank = max((len(s) for s in case.shapes), default=0)
        if task_fixes_rank(self.task, self._graph(case)):
            return None
        if rank in (0, 7) or len({len(c.shapes[0]) for c in self.task.cases}) > 1:
            return None
        shapes = tuple((3, *s) if len(s) == rank else s for s in case.shapes)
        try:
            other = self._layout(self._graph(case, shapes=shapes), outputs)
            if other.text() != layout.text():
                return None
            from ci.create.shapes import equal_lengths, group_formulas, output_segments

            equal_lengths([layout, other])
            group_formulas([layout, other])
            output_segments([layout, other])
        except InputError:
            return None
        return other


def attribute(task: Task, parameter: Parameter, *, free: bool) -> Attribute:
    """An attribute of the operator, that takes any number or, when it is not `free`, the one value
    of all cases. Raises InputError where there is no such value."""
    name, default = parameter.name, parameter.default if parameter.given else None
    value = task.cases[0].attrs.get(name, parameter.default)
    if value is None or isinstance(value, list | tuple):
        raise InputError(f"The attribute '{name}' is neither a number nor a text.")
    kind = _KINDS[type(parameter.default if parameter.given else value)]
    given: Any = default
    if free:
        return Attribute(name, kind, given)
    if any(c.attrs.get(name, default) != value for c in task.cases):
        raise InputError(
            f"The attribute '{name}' decides how the result is computed, and differs from case"
            " to case; such an attribute can have one value."
        )
    if kind == "Str":
        raise InputError(f"The attribute '{name}' is a text; give it its value in the golden.")
    return Attribute(name, kind, given, str(value).lower() if kind == "Bool" else value)


def _columns(tensors: Sequence[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """The dtypes of each tensor in the definition: one column for each T, or one in all."""
    many = len(FLOATS) if "T" in (kind for _, kind in tensors) else 1
    return {name: FLOATS if kind == "T" else (kind,) * many for name, kind in tensors}


def task_fixes_rank(task: Task, graph: Graph) -> bool:
    """Whether the judge's function is for one rank: one that was written of a trace names axes."""
    named = [n.op for n in graph.nodes if n.op not in ELEMENTWISE | set(LEAVES)]
    return task.generated and bool(named)


def _without_ones(case: TaskCase, cases: Sequence[TaskCase]) -> tuple[tuple[int, ...], ...]:
    """The shapes of a case with axes of one element as long as they are in a case where they are
    longer: an axis that happens to have one element is no broadcast."""
    for other in cases:
        ranks = [len(s) for s in other.shapes] == [len(s) for s in case.shapes]
        single = [(i, a) for i, s in enumerate(case.shapes) for a, n in enumerate(s) if n == 1]
        if ranks and single and any(other.shapes[i][a] != 1 for i, a in single):
            return other.shapes
    return case.shapes


def classes_of(task: Task) -> tuple[str, ...]:
    """For each input 'T' if it has the dtype that the operator is built for, else its dtype."""
    first = next(
        (i for i in range(len(task.inputs)) if all(c.dtypes[i] in FLOATS for c in task.cases)),
        None,
    )
    found = []
    for i, name in enumerate(task.inputs):
        seen = {c.dtypes[i] for c in task.cases}
        same = first is not None and all(c.dtypes[i] == c.dtypes[first] for c in task.cases)
        if same:
            found.append("T")
        elif len(seen) == 1:
            found.append(seen.pop())
        else:
            raise InputError(f"Input '{name}' has dtypes that vary by themselves: {sorted(seen)}.")
    return tuple(found)


def _same(first: str, one: Layout, second: str, other: Layout) -> None:
    if one.text() == other.text():
        return
    counts = [len(x.items) for x in (one, other)]
    many = (
        f": {amount(counts[1], 'operation')} against {counts[0]}" if counts[0] != counts[1] else ""
    )
    raise InputError(
        f"The golden function computes case '{second}' another way than '{first}'{many}. A Python"
        " loop over a length does that, and a choice by a shape. Use array functions instead of the"
        " loop, or give such cases operators of their own."
    )
