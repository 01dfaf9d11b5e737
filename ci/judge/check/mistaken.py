"""What an operator takes for something else: its wrong outputs are right for other attributes, for
inputs in another order, or for elements of another type."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from typing import Any, NamedTuple

import numpy as np

from ci.backend.tiled import TiledBuild
from ci.judge.check.findings import Findings
from ci.judge.check.ignored import asked
from ci.judge.compare_outputs import compare_outputs
from ci.judge.gate_subject import Standard
from ci.judge.reference import Reference, empty_like
from ci.judge.varied.base import elements, tensors, with_tensors
from ci.model.columns import case_dtypes, output_dtypes
from ci.model.dtypes import BY_NAME, DType, from_bfloat16
from ci.model.errors import InputError, TrialFailure
from ci.model.launch import Tensor, Tensors, arrays
from ci.model.trial import Place
from ci.model.workload import AttrValue, TensorCase, WorkloadCase
from ci.source.inputs import store

MOST_ELEMENTS = 1 << 20
"""Elements of the inputs up to which a wrong case is tried."""

MOST_TRIED = 12
"""Suppositions that a wrong case is tried with, of each kind."""

COMPUTED = ("float32", "float16", "bfloat16", "int8", "uint8", "int16", "uint16", "int32", "uint32")
"""Types of elements that a kernel computes with."""


class _Supposed(NamedTuple):
    """Something that an operator may have taken for something else."""

    kind: str
    attributes: tuple[str, ...]
    case: WorkloadCase
    inputs: Tensors
    words: str


def mistaken(standard: Standard, case: WorkloadCase, findings: Findings, family: str) -> bool:
    """Collect what the operator takes for something else in a `case` with wrong outputs; False
    where none of it gives its outputs."""
    references, seed = standard.references, standard.workload.seeds[0]
    build, names = references.unmodified, [spec.name for spec in standard.operator.outputs]
    if not standard.workload.golden or elements(case) > MOST_ELEMENTS:
        return False
    try:
        right, dtypes = references.of(case, seed), output_dtypes(standard.operator, case)
        run = build.run(case, right.inputs, empty_like(right.outputs), seed=seed)
    except (InputError, TrialFailure):
        return False
    for one in _supposed(standard, case, right):
        try:
            outputs = references.supposed(one.case, one.inputs)
            found = compare_outputs(run.outputs, outputs, names, dtypes, {})
        except (InputError, ValueError):
            continue
        if found.agrees:
            place = _asked(standard, case, right, one.attributes)
            findings.together(
                one.kind, place.model_copy(update={"case": case.name}), one.words, family
            )
            return True
    for dtype, other in _other_types(case):
        if _taken_for(standard, case, right, run.outputs, (dtype, other)):
            findings.together(
                "element_type",
                _instantiated(standard, case, right, other),
                f"The outputs are right where the bytes of {dtype.name} elements are taken for"
                f" {other.name}: the kernel computes in {other.kernel_type}, and the case has"
                f" {dtype.kernel_type}.",
                family,
            )
            return True
    return False


def _supposed(standard: Standard, case: WorkloadCase, right: Reference) -> Iterator[_Supposed]:
    specs = standard.operator.attrs
    values = {spec.name: case.attrs.get(spec.name, spec.default) for spec in specs}
    tried = 0
    for a, b in combinations(values, 2):
        if _exchangeable(values[a], values[b]) and tried < MOST_TRIED:
            tried += 1
            attrs = {**case.attrs, a: values[b], b: values[a]}
            words = (
                f"The outputs are right for {a}={values[b]} and {b}={values[a]}: each is taken for"
                " the other."
            )
            yield _with(case, right, "exchanged", (a, b), attrs, words)
    for a, b in permutations(values, 2):
        if _exchangeable(values[a], values[b]) and tried < MOST_TRIED:
            tried += 1
            words = f"The outputs are right for {a}={values[b]}: {b} is taken for {a}."
            attrs = {**case.attrs, a: values[b]}
            yield _with(case, right, "exchanged", (a,), attrs, words)
    for spec in specs:
        now = values[spec.name]
        other = spec.default is not None and now != spec.default
        if other and not _counts(standard, spec.name, now, spec.default):
            words = (
                f"The outputs are right for {spec.name}={spec.default}, its default; the case has"
                f" {spec.name}={now}."
            )
            attrs = {**case.attrs, spec.name: spec.default}
            yield _with(case, right, "ignored", (spec.name,), attrs, words)
        if isinstance(now, float) and now != int(now):
            words = (
                f"The outputs are right for {spec.name}={int(now)}; the case has {spec.name}={now}:"
                " its fraction is lost."
            )
            attrs = {**case.attrs, spec.name: float(int(now))}
            yield _with(case, right, "lost_fraction", (spec.name,), attrs, words)
    for i, j in [*combinations(range(len(right.inputs)), 2)][:MOST_TRIED]:
        if (
            _alike(right.inputs[i], right.inputs[j])
            and case_dtypes(case)[i] == case_dtypes(case)[j]
        ):
            inputs = [*right.inputs]
            inputs[i], inputs[j] = inputs[j], inputs[i]
            a, b = (standard.operator.inputs[n].name for n in (i, j))
            words = f"The outputs are right where {a} and {b} are exchanged."
            yield _Supposed("exchanged", (), case, inputs, words)


def _counts(
    standard: Standard, name: str, value: AttrValue | None, default: AttrValue | None
) -> bool:
    """Whether a case of the workload has the value of an attribute, is right, and would not be for
    its default."""
    references, seed = standard.references, standard.workload.seeds[0]
    for case in standard.workload.cases:
        if default is None or case.attrs.get(name) != value:
            continue
        as_default = case.model_copy(update={"attrs": {**case.attrs, name: default}})
        try:
            right = references.of(case, seed)
            plain = references.supposed(as_default, right.inputs)
            alike = zip(arrays(right.outputs), arrays(plain), strict=True)
            differ = any(one.tobytes() != other.tobytes() for one, other in alike)
            if differ and standard.baseline.at(case, seed).compared.agrees:
                return True
        except (InputError, TrialFailure, ValueError):
            continue
    return False


def _with(
    case: WorkloadCase,
    right: Reference,
    kind: str,
    names: tuple[str, ...],
    attrs: dict[str, AttrValue | None],
    words: str,
) -> _Supposed:
    given = {name: value for name, value in attrs.items() if value is not None}
    changed = case.model_copy(update={"attrs": given})
    return _Supposed(kind, names, changed, right.inputs, words)


def _exchangeable(a: AttrValue | None, b: AttrValue | None) -> bool:
    return a is not None and type(a) is type(b) and a != b


def _alike(a: Tensor, b: Tensor) -> bool:
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
        return False
    return a.shape == b.shape and a.dtype == b.dtype


def _other_types(case: WorkloadCase) -> Iterator[tuple[DType, DType]]:
    for name in dict.fromkeys(case_dtypes(case)):
        if name in COMPUTED:
            same = [BY_NAME[n] for n in COMPUTED if BY_NAME[n].bits == BY_NAME[name].bits]
            yield from ((BY_NAME[name], other) for other in same if other.name != name)


def _taken_for(
    standard: Standard,
    case: WorkloadCase,
    right: Reference,
    outputs: Tensors,
    types: tuple[DType, DType],
) -> bool:
    """Whether the outputs are right where all elements of a type are taken for another one; not
    where what is right looks the same then, as tiny numbers do."""
    dtype, other = types
    names = [spec.name for spec in standard.operator.outputs]
    own = output_dtypes(standard.operator, case)
    dtypes = [other.name if name == dtype.name else name for name in own]

    def seen(tensors: Tensors, given: Sequence[str | None]) -> Tensors:
        pairs = zip(tensors, given, strict=True)
        return [_each(t, other.numpy) if name == dtype.name else t for t, name in pairs]

    inputs = seen(right.inputs, case_dtypes(case))
    try:
        supposed = _computed(standard, case, inputs, types, dtypes)
        found, wanted = (
            compare_outputs(seen(tensors, own), supposed, names, dtypes, {})
            for tensors in (outputs, right.outputs)
        )
    except (InputError, ValueError):
        return False
    return found.agrees and not wanted.agrees


def _computed(
    standard: Standard,
    case: WorkloadCase,
    inputs: Tensors,
    types: tuple[DType, DType],
    dtypes: Sequence[str],
) -> Tensors:
    """What is right for the inputs with the second of two types instead of the first."""
    dtype, other = types
    references = standard.references

    def turned(tensor: TensorCase) -> TensorCase:
        return (
            tensor.model_copy(update={"dtype": other.name})
            if tensor.dtype == dtype.name
            else tensor
        )

    try:
        as_other = with_tensors(case, other.name, map(turned, tensors(case)))
        if output_dtypes(standard.operator, as_other) == dtypes:
            return references.supposed(as_other, inputs)
    except InputError:  # the operator does not declare it
        pass
    wide: Tensors = [
        _values(tensor, other.name if name == dtype.name else name)
        for tensor, name in zip(inputs, case_dtypes(case), strict=True)
    ]
    exact = references.supposed(case, wide, exact=True)
    return [
        [store(a, BY_NAME[name]) for a in arrays([tensor])]
        if isinstance(tensor, list)
        else None
        if tensor is None
        else store(tensor, BY_NAME[name])
        for tensor, name in zip(exact, dtypes, strict=True)
    ]


def _instantiated(standard: Standard, case: WorkloadCase, right: Reference, other: DType) -> Place:
    """Where the kernel names the type for the case's tiling key, else where it does at all."""
    build, place = standard.references.unmodified, Place(case=case.name)
    if not isinstance(build, TiledBuild):
        return place
    key = build.answer(case, right.inputs, right.outputs).tiling_key
    named = rf"[<,]\s*{re.escape(other.kernel_type)}\b"
    for wanted in (rf"TILING_KEY_IS\(\s*{key}[uUlL]*\s*\)[^;]*{named}", named):
        for file in standard.operator.kernel_sources:
            text = standard.operator.read(file)
            found = re.search(wanted, text)
            if found:
                line = text.count("\n", 0, found.end()) + 1
                return place.model_copy(update={"file": file, "line": line})
    return place


def _each(tensor: Tensor, dtype: np.dtype[Any]) -> Tensor:
    """The bytes of a tensor as elements of another type of as many bytes."""
    if isinstance(tensor, list):
        return [a.view(dtype) for a in tensor]
    return None if tensor is None else tensor.view(dtype)


def _values(tensor: Tensor, dtype: str | None) -> Tensor:
    """The numbers of a tensor: of bfloat16, which is held as bits, the values."""
    if isinstance(tensor, list):
        return [from_bfloat16(a) if dtype == "bfloat16" else a for a in tensor]
    return from_bfloat16(tensor) if dtype == "bfloat16" and tensor is not None else tensor


def _asked(standard: Standard, case: WorkloadCase, right: Reference, names: Sequence[str]) -> Place:
    """Where the host side asks for the first of some attributes; nowhere without any."""
    build = standard.references.unmodified
    if not names or not isinstance(build, TiledBuild):
        return Place()
    numbers = [spec.name for spec in standard.operator.attrs]
    try:
        answer = build.answer(case, right.inputs, right.outputs)
    except TrialFailure:
        return Place()
    return asked(answer, "attribute", numbers.index(names[0])) or Place()
