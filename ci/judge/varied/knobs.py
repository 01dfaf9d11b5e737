"""What of a case can be turned to move an operand: lengths, attributes, lists, ranks, values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ci.judge.varied.axes import axes
from ci.judge.varied.base import Known, tensors, with_tensors
from ci.judge.varied.structure import MOST_LIST, relisted, with_rank
from ci.model.dtypes import BY_NAME
from ci.model.workload import WorkloadCase

MOST_RANK = 8


@dataclass(frozen=True)
class Knob:
    """One number that a case is made of."""

    name: str
    value: float
    step: float
    """The least change that makes another case."""
    turned: Callable[[float], WorkloadCase | None]
    """The case with another value in its place; None where there is none."""
    whole: bool = True
    least: float = float("-inf")
    most: float = float("inf")

    def set(self, value: float) -> tuple[float, WorkloadCase] | None:
        """The nearest value that there is, and its case; None where that is its own value."""
        bounded = min(max(value, self.least), self.most)
        if self.whole:
            bounded = self.value + round((bounded - self.value) / self.step) * self.step
        if bounded == self.value or not self.least <= bounded <= self.most:
            return None
        case = self.turned(bounded)
        return None if case is None else (bounded, case)


def knobs(known: Known, case: WorkloadCase) -> Iterator[Knob]:
    """All of a case, those first that sizes depend on."""
    for axis in axes(known, case):

        def longer(length: float, axis=axis) -> WorkloadCase:  # type: ignore[no-untyped-def]
            found: WorkloadCase = axis.resized(known, int(length))
            return found

        yield Knob(f"length {axis.length}", axis.length, axis.step, longer, least=0)
    yield from attribute_knobs(known, case)
    lengths = {len(e) for e in case.inputs if isinstance(e, tuple) and e}
    for length in lengths:

        def listed(count: float, length: int = length) -> WorkloadCase:
            return relisted(known, case, length, int(count))

        yield Knob(f"list of {length}", length, 1, listed, least=1, most=MOST_LIST)
    rank = max((len(t.shape) for t in tensors(case)), default=0)
    for only in (False, True):

        def ranked(value: float, only: bool = only) -> WorkloadCase | None:
            return with_rank(known, case, int(value), only=only)

        yield Knob("rank", rank, 1, ranked, least=0, most=MOST_RANK)
    yield from _given(known, case)


def attribute_knobs(known: Known, case: WorkloadCase) -> Iterator[Knob]:
    """Each attribute that is a number, and each number of one that is a list."""
    for spec in known.operator.attrs:
        now = case.attrs.get(spec.name, spec.default)
        if isinstance(now, bool) or (now is None and spec.type not in ("int", "float")):
            continue
        if now is None or isinstance(now, (int, float)):

            def given(value: float, spec=spec) -> WorkloadCase:  # type: ignore[no-untyped-def]
                made = int(value) if spec.type == "int" else float(value)
                name = f"{case.name} with {spec.name}={made}"
                attrs = {**case.attrs, spec.name: made}
                return known.free(case.model_copy(update={"name": name, "attrs": attrs}))

            yield Knob(spec.name, now or 0, 1, given, whole=spec.type == "int")
        elif isinstance(now, tuple):
            for index, item in enumerate(now[:4]):
                if isinstance(item, bool) or not isinstance(item, (int, float)):
                    continue

                def placed(value: float, spec=spec, now=now, index=index) -> WorkloadCase:  # type: ignore[no-untyped-def]
                    made = type(now[index])(value)
                    changed = (*now[:index], made, *now[index + 1 :])
                    name = f"{case.name} with {spec.name}={changed}"
                    attrs = {**case.attrs, spec.name: changed}
                    return known.free(case.model_copy(update={"name": name, "attrs": attrs}))

                yield Knob(spec.name, item, 1, placed, whole=isinstance(item, int))


def _given(known: Known, case: WorkloadCase) -> Iterator[Knob]:
    own = tensors(case)
    for number, tensor in enumerate(own):
        values = tensor.values or ()
        if not values or not tensor.present or any(isinstance(v, complex) for v in values):
            continue
        whole = not BY_NAME[tensor.dtype].is_float

        def valued(value: float, number=number, tensor=tensor, whole=whole) -> WorkloadCase:  # type: ignore[no-untyped-def]
            made = int(value) if whole else float(value)
            changed = [*own]
            count = len(tensor.values or ())
            changed[number] = tensor.model_copy(update={"values": (made,) * count})
            return known.free(with_tensors(case, f"{made} as tensor {number}", changed))

        yield Knob(f"tensor {number}", float(values[0].real), 1, valued, whole=whole)
