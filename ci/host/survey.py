"""Questions about the host side of an operator beyond its workload: valid and invalid requests.

Asking costs microseconds, so that what nobody would launch can be asked too: wrong ranks, lengths
that do not fit each other, absent inputs, foreign dtypes, attributes out of range, other chips.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ci.host.tiling_request import (
    FORMATS,
    UNDEFINED,
    AskedTensor,
    HostRequest,
    Sides,
    with_defaults,
)
from ci.model.amount import amount
from ci.model.dtypes import BY_NAME
from ci.model.frozen import Frozen
from ci.model.operator import Operator

MOST_QUESTIONS = 600
"""Further ones are left out: a survey takes some tenths of a second."""

LENGTHS = (0, 1, 7, 8, 31, 63, 64, 100, 257, 1024, 4099, 65536, 1 << 20)
"""Lengths that a dimension takes in turns, wherever the request has it."""

FACTORS = (2, 3, 10, 100)
"""Times which a dimension is made longer."""

RANKS = (1, 2, 3, 4, 5, 6, 7, 8)
"""What a framework allows."""

FOREIGN = ("float32", "float16", "bfloat16", "float64", "int8", "uint8", "int32", "int64", "bool")
OTHER_FORMS = ("ND", "NCHW", "NHWC", "FRACTAL_NZ")


@dataclass(frozen=True)
class Question:
    """A request, and in words what is special about it."""

    label: str
    request: HostRequest
    case: int = -1
    """Number of the question that this one differs from in an attribute, or in whether results must
    be the same every time, alone; -1 for others."""
    runs: bool = True
    """Whether such a request could reach the tiling; only the inference is asked about lengths that
    are not known yet."""


class InferredTensor(Frozen):
    """An output as the inference tells it; `dtype` is a number of `ge::DataType`."""

    dtype: int
    shape: tuple[int, ...]


class Inference(Frozen):
    """How each inference function ended, 'none' where there is none, and the shapes that they
    gave."""

    dtypes: Literal["ok", "failed", "none"]
    shapes: Literal["ok", "failed", "none"]
    outputs: tuple[tuple[InferredTensor, ...], ...]


class Tiling(Frozen):
    """How the tiling ended, and the digest of what it decided."""

    status: Literal["ok", "failed", "threw"]
    step: str
    message: str
    block_dim: int
    schedule_mode: int
    workspace: tuple[int, ...]
    tiling_key: int
    digest: str
    pattern: str
    """Which words of 32 bits of the tiling data are 0, 1 and more ('n'), a letter each."""
    compared: tuple[tuple[int, int, int | float, int | float], ...] = ()
    """Address, caller's address and operands, where a program is built to be watched, of each
    comparison as it was last met, the last one at the end."""


@dataclass(frozen=True)
class HostAnswer:
    """What a host program answered to a question: None where it was stopped by a signal, or did
    not get as far."""

    inference: Inference | None = None
    tiling: Tiling | None = None
    steady: bool = True
    """It answered the same each time it was asked."""
    inferred_alike: bool = True
    """Its inference did."""


def questions(
    operator: Operator,
    asked: Sequence[tuple[str, HostRequest]],
    chips: Sequence[Mapping[str, str]],
) -> list[Question]:
    """The requests themselves first, then what can be made of them, kinds in turns.

    `asked` has labels and requests of the cases, `chips` the facts of further chips.
    """
    names = [spec.name for spec in operator.inputs]
    found = [Question(label, request) for label, request in asked]
    for label, request in asked:
        for facts in chips:
            other = dataclasses.replace(request, facts=facts)
            found.append(Question(f"{label} on the {facts['soc.version']}", other))
    kinds = [
        _altered(at, label, with_defaults(request, operator), names)
        for at, (label, request) in enumerate(asked)
    ]
    seen = {q.request.text for q in found}
    while kinds and len(found) < MOST_QUESTIONS:
        for kind in tuple(kinds):
            question = next(kind, None)
            if question is None:
                kinds.remove(kind)
            elif question.request.text not in seen:
                seen.add(question.request.text)
                found.append(question)
    return found


def _altered(
    case: int, label: str, request: HostRequest, names: Sequence[str]
) -> Iterator[Question]:
    firm = dataclasses.replace(request, deterministic=not request.deterministic)
    yield Question(f"{label} in {'no ' * request.deterministic}deterministic mode", firm, case)
    for what, changed in _other_attributes(request):
        yield Question(f"{label} with {what}", changed, case)
    for index, tensors in enumerate(request.inputs):
        name = names[index] if index < len(names) else str(index)
        yield Question(f"{label} without input {name}", _with_input(request, index, ()))
        for place, tensor in enumerate(tensors):
            for what, one, runs in _other_tensors(tensor):
                both = (*tensors[:place], one, *tensors[place + 1 :])
                other = _with_input(request, index, both)
                yield Question(f"{label} with {what} of input {name}", other, runs=runs)
    for rank in RANKS:
        yield Question(f"{label} in {amount(rank, 'dimension')}", _in_rank(request, rank))
    for old in dict.fromkeys(d for t in _tensors(request) for d in t.shape or ()):
        for new in (old + 1, old - 1, *(old * f for f in FACTORS), *LENGTHS):
            if new >= 0 and new != old:
                yield Question(f"{label} with {new} for {old}", _resized(request, old, new))


def _tensors(request: HostRequest) -> Iterator[AskedTensor]:
    for side in (request.inputs, request.outputs):
        for tensors in side:
            yield from tensors


def _with_input(request: HostRequest, index: int, tensors: tuple[AskedTensor, ...]) -> HostRequest:
    """The outputs are left to the inference: nothing else says what they are now."""
    inputs = (*request.inputs[:index], tensors, *request.inputs[index + 1 :])
    changed = {t.dtype for t in tensors} != {t.dtype for t in request.inputs[index]}
    outputs = tuple(
        tuple(
            dataclasses.replace(t, shape=None, dtype=UNDEFINED if changed else t.dtype)
            for t in side
        )
        for side in request.outputs
    )
    return dataclasses.replace(request, inputs=inputs, outputs=outputs)


def _other_tensors(tensor: AskedTensor) -> Iterator[tuple[str, AskedTensor, bool]]:
    """What is special, the tensor, and whether the tiling is asked about it."""
    shape = tensor.shape or ()
    shapes = [
        ("one dimension more", (*shape, 1), True),
        ("one dimension more in front", (1, *shape), True),
        ("one dimension less", shape[:-1], True),
        ("all in one dimension", (_product(shape),), True),
        ("no dimension", (), True),
        ("unknown rank", (-2,), False),
    ]
    for axis, length in enumerate(shape):
        for new in (0, length + 1, length - 1, length * 2):
            if new >= 0:
                changed = (*shape[:axis], new, *shape[axis + 1 :])
                shapes.append((f"length {new} in dimension {axis}", changed, True))
        unknown = (*shape[:axis], -1, *shape[axis + 1 :])
        shapes.append((f"an unknown length in dimension {axis}", unknown, False))
    for what, dims, runs in shapes:
        if dims != shape:
            yield what, dataclasses.replace(tensor, shape=dims, data=""), runs
    for name in FOREIGN:
        if BY_NAME[name].number != tensor.dtype:
            other = dataclasses.replace(tensor, dtype=BY_NAME[name].number, data="")
            yield f"dtype {name}", other, True
    for form in OTHER_FORMS:
        if FORMATS[form] != tensor.form:
            yield f"format {form}", dataclasses.replace(tensor, form=FORMATS[form]), True


def _product(shape: Sequence[int]) -> int:
    size = 1
    for length in shape:
        size *= length
    return size


def _in_rank(request: HostRequest, rank: int) -> HostRequest:
    """The tensors of most dimensions in so many; the outputs are left to the inference."""
    most = max((len(t.shape or ()) for t in _tensors(request)), default=0)

    def side(tensors: Sides, *, open_: bool) -> Sides:
        return tuple(
            tuple(
                dataclasses.replace(t, shape=None if open_ else _reshaped(t.shape, rank), data="")
                if t.shape is not None and len(t.shape) == most
                else t
                for t in one
            )
            for one in tensors
        )

    return dataclasses.replace(
        request,
        inputs=side(request.inputs, open_=False),
        outputs=side(request.outputs, open_=True),
    )


def _reshaped(shape: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """Leading dimensions multiplied, or the longest that is even halved."""
    merged = max(1, len(shape) - rank + 1)
    found = [_product(shape[:merged]), *shape[merged:]]
    while len(found) < rank:
        at = max(range(len(found)), key=lambda d: 0 if found[d] % 2 else found[d])
        halves = found[at] % 2 == 0 and found[at] > 2
        found[at : at + 1] = [2, found[at] // 2] if halves else [1, found[at]]
    return tuple(found)


def _other_attributes(request: HostRequest) -> Iterator[tuple[str, HostRequest]]:
    for at, (name, kind, text) in enumerate(request.attrs):
        rest = (*request.attrs[:at], *request.attrs[at + 1 :])
        yield f"no {name}", dataclasses.replace(request, attrs=rest)
        for other in _other_values(kind, text):
            attrs = (*request.attrs[:at], (name, kind, other), *request.attrs[at + 1 :])
            yield f"{name} = '{other}'", dataclasses.replace(request, attrs=attrs)


def _other_values(kind: str, text: str) -> tuple[str, ...]:
    if kind in ("int", "float"):
        return tuple(
            v for v in ("0", "1", "-1", "2", "3", "-7", "1000000", f"-{text}") if v != text
        )
    if kind == "bool":
        return ("0" if text == "1" else "1",)
    if kind == "string":
        return ("", text + "x")
    items = text.split(",") if text else []
    return ("", "-1", "0", ",".join([*items, "1"]), ",".join(items[:-1]), ",".join(items[::-1]))


def _resized(request: HostRequest, old: int, new: int) -> HostRequest:
    def side(tensors: Sides) -> Sides:
        return tuple(
            tuple(
                dataclasses.replace(
                    t, shape=tuple(new if d == old else d for d in t.shape), data=""
                )
                if t.shape is not None and old in t.shape
                else t
                for t in one
            )
            for one in tensors
        )

    return dataclasses.replace(request, inputs=side(request.inputs), outputs=side(request.outputs))
