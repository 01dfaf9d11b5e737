"""Cases that an operator might take: from its examples and tests, else of generic shapes.

Nobody has tried them: the host tiling says which it takes, and a launch whether they are right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from math import prod

from ci.derive.example import find_examples
from ci.derive.example_facts import Example, ToldTensor, is_called
from ci.model.columns import output_dtypes
from ci.model.dtypes import BY_NAME
from ci.model.errors import InputError
from ci.model.operator import AttrSpec, Operator, TensorSpec
from ci.model.workload import AttrValue, Entry, TensorCase, WorkloadCase
from ci.source.quoted_words import quoted_words
from ci.source.workload_model import absent, attr_value

GENERIC_SHAPES: tuple[tuple[int, ...], ...] = (
    (32, 1024),
    (8, 2048),
    (4, 16, 64),
    (2, 16, 16, 16),
    (2, 16, 8, 8, 8),
    (4096,),
    (2, 2, 8, 8, 16),
)
"""Divide evenly by usual tiles; of each rank that operators ask for."""

MOST_MIXED = 160
"""Generic cases whose inputs have shapes of their own."""

_ROW_NAMES = ("gamma", "beta", "weight", "bias", "scale", "offset", "zero_point", "mean", "smooth")
"""Parts of names of inputs that often hold one value a column."""
_INDEX_NAMES = ("index", "indices", "idx", "sorted", "segment", "offsets", "label", "target")
_LIST_LENGTH = 2
_CHOSEN = ("float32", "float16", "bfloat16")
"""Dtypes of the first input to try first, most usual one first."""
_ROLE = re.compile(r"^(?:attr|input)|(?:(?:host)?data|value|val|vec|array|arr|list|attr|num)$")
"""What variables have around the name of what they hold."""
_MOST_WORDS = 24
_INNER = -1
_READ = (0, 1, _INNER)
"""What integers that the tiling reads may be: an axis, or a count; or 0 for the first two
dimensions and 1 for the others, as paddings are."""
_LISTS = ((1,), (0,), (-2,), (0, 2))
"""Shapes of such integers: one number, one a dimension, or two."""
_MOST_VALUES = 256
"""Most values of an example's tensor whose values are taken over as they are."""

TEST_OUTPUTS = "test's outputs"
"""Source of the cases of tests with the outputs that these name."""

GENERIC = "generic shapes"
"""Source of the cases that nothing in the repository names."""

Sourced = tuple[str, WorkloadCase]
"""Where a case comes from, and the case."""


def candidate_cases(operator: Operator) -> Iterator[Sourced]:
    """The cases to try, the likeliest first."""
    examples = find_examples(operator)
    for again in (False, True):
        for example in examples:
            case = _from_example(operator, example, exact=again != example.ran)
            if case is not None:
                yield f"{example.source} shapes", case
    for example in examples:
        case = _from_example(operator, example, exact=True, outputs=True)
        if case is not None and case.outputs and example.source == "test":
            yield TEST_OUTPUTS, case
    read = any(spec.value_depend for spec in operator.inputs)
    for case in (*_plain(operator), *islice(_mixed(operator), MOST_MIXED)):
        for lengths, number in product(_LISTS, _READ) if read else [(_LISTS[0], 0)]:
            yield GENERIC, _read_as(operator, case, lengths, number)


def _plain(operator: Operator) -> Iterator[WorkloadCase]:
    for column in usual_columns(operator)[:2]:
        for full in (True, False):
            for shape in GENERIC_SHAPES:
                yield _generic(operator, column, shape, full)


def _read_as(
    operator: Operator, case: WorkloadCase, lengths: tuple[int, ...], number: int
) -> WorkloadCase:
    """The case with `number` in the integer inputs whose values the tiling may read.

    Their shape is `lengths`, where 0 stands for the rank of the first input and -2 for twice that.
    """
    first = next((e for e in case.inputs if isinstance(e, TensorCase)), None)
    rank = len(first.shape) if first else 1
    shape = tuple(rank if n == 0 else -n * rank if n < 0 else n for n in lengths)
    count = prod(shape)
    outer = 2 * count // max(1, rank)
    inner = (*(0,) * outer, *(1,) * (count - outer)) if 0 < outer < count else (1,)
    values = inner if number == _INNER else (number,)
    inputs = tuple(
        entry.model_copy(update={"values": values, "shape": shape})
        if spec.value_depend and isinstance(entry, TensorCase) and _is_whole(entry.dtype)
        else entry
        for spec, entry in zip(operator.inputs, case.inputs, strict=True)
    )
    return case.model_copy(update={"inputs": inputs})


def _is_whole(dtype: str) -> bool:
    known = BY_NAME[dtype]
    return not (known.is_float or known.is_complex)


def other_attributes(operator: Operator, case: WorkloadCase) -> Iterator[WorkloadCase]:
    """The case with other lists of one length, then with another value of one attribute: what a
    sketch leaves out or has in words."""
    rank = max((len(t.shape) for t in case.inputs if isinstance(t, TensorCase)), default=1)
    first = next((t.shape for t in case.inputs if isinstance(t, TensorCase) and t.present), (1,))
    others: dict[str, Sequence[AttrValue]] = {
        "int": (prod(first), first[-1] if first else 1, -1, 0, 1, 2),
        "float": (0.0, 0.5, 1.0),
        "bool": (True, False),
        "string": quoted_words(operator)[:_MOST_WORDS],
        "list_int": [(v,) * n for v in (1, 2, 0) for n in (1, 2, 3, 4, rank)] + [(-1,), (0, 1)],
        "list_float": [(1.0,) * n for n in (1, 2, 3, 4)],
        "list_bool": [(v,) * n for v in (True, False) for n in (1, 2, 3)],
    }
    ones: dict[str, tuple[int | float | bool, ...]] = {
        "list_int": (1,),
        "list_float": (1.0,),
        "list_bool": (True,),
    }
    lists = {spec.name: ones[spec.type] for spec in operator.attrs if spec.type in ones}
    if len(lists) > 1:  # each of them too short ends the host side
        for length in dict.fromkeys((2, 3, 4, rank)):
            longer = {name: one * length for name, one in lists.items()}
            yield case.model_copy(update={"attrs": {**case.attrs, **longer}})
    for spec in operator.attrs:
        for value in dict.fromkeys(others[spec.type]):
            if value != case.attrs.get(spec.name, spec.default):
                yield case.model_copy(update={"attrs": {**case.attrs, spec.name: value}})


def generic_case(operator: Operator) -> WorkloadCase:
    """A case without meaning, for parts that want one."""
    return _generic(operator, usual_columns(operator)[0], GENERIC_SHAPES[0], full=True)


def usual_columns(operator: Operator) -> list[int]:
    """The dtype columns of the definition, that of the first input's most usual dtype first."""
    first = next((t.dtypes for t in operator.inputs if t.dtypes), ())
    usual = [first.index(d) for d in _CHOSEN if d in first]
    return list(dict.fromkeys([*usual, *range(max(1, len(first)))]))


def _generic(operator: Operator, column: int, shape: tuple[int, ...], full: bool) -> WorkloadCase:
    """All inputs of one shape; `full`: parameter-like inputs one value a column."""
    shapes = [
        shape[-1:] if full and any(part in spec.name.lower() for part in _ROW_NAMES) else shape
        for spec in operator.inputs
    ]
    return case_of_shapes(operator, column, shapes, "x".join(map(str, shape)))


def _mixed(operator: Operator) -> Iterator[WorkloadCase]:
    """Cases in which required inputs after the first have shapes that follow from the first's, or
    one value for each tensor of a list."""
    later = list(enumerate(operator.inputs))[1:]
    required = [i for i, s in later if s.param_type == "required"][:3]
    if not required:
        return
    lists = any(spec.param_type == "dynamic" for spec in operator.inputs)
    for shape in ((32, 1024), (4, 16, 64), (2, 16, 16, 16), (4096,)):
        parts = dict.fromkeys(
            (
                *([(_LIST_LENGTH,)] if lists else []),
                *(shape, shape[-1:], shape[:1], shape[:-1], (*shape[:-1], 1), (1,), shape[1:]),
            )
        )
        for chosen in product([p for p in parts if p], repeat=len(required)):
            shapes: list[tuple[int, ...]] = [shape] * len(operator.inputs)
            for index, part in zip(required, chosen, strict=True):
                shapes[index] = part
            name = "_".join("x".join(map(str, s)) for s in (shape, *chosen))
            yield case_of_shapes(operator, usual_columns(operator)[0], shapes, name)


def case_of_shapes(
    operator: Operator, column: int, shapes: Sequence[tuple[int, ...]], name: str
) -> WorkloadCase:
    """The case of a shape for each input: optional ones left out, two tensors in a list."""
    inputs: list[Entry] = []
    for spec, shape in zip(operator.inputs, shapes, strict=True):
        # A scalar, or a list of scalars with one for each tensor of a list.
        single = spec.scalar and shape != (_LIST_LENGTH,)
        one = _tensor(spec, (1,) if single else shape, _dtype(spec, column))
        if spec.param_type == "dynamic":
            inputs.append((one,) * _LIST_LENGTH)
        elif spec.param_type == "optional":
            inputs.append(absent(spec))
        else:
            inputs.append(one)
    return WorkloadCase(name=f"generic_{name}", inputs=tuple(inputs), attrs=_attrs(operator, {}))


def _from_example(
    operator: Operator, example: Example, exact: bool, outputs: bool = False
) -> WorkloadCase | None:
    """The example's tensors given to the inputs in order; None when they do not fit.

    `exact`: integers have the example's values, where only their range is taken otherwise.
    `outputs`: those that a test names, too, which are often not thought through.
    """
    made = [t for t in example.tensors if t.is_output]
    left = [t for t in example.tensors if not t.is_output]
    told: list[ToldTensor | None] = []
    for number, spec in enumerate(operator.inputs):
        # What a program hands over to be changed in place is an input, too.
        own = next((t for t in (*left, *made, *example.arrays) if _names(t, spec.name)), None)
        if own is None and any(is_called(name, spec.name) for name in example.absent):
            told.append(None)
            continue
        if own is None and spec.param_type == "required" and spec.value_depend:
            told.append(ToldTensor(spec.name, (1,), "", (_value_of(spec, example),)))
            continue
        if own is None and spec.param_type != "optional":
            later = [other.name for other in operator.inputs[number + 1 :]]
            free = [t for t in left if not any(_names(t, name) for name in later)]
            own = next(iter(free or left), None)
            if own is None:
                return None
        told.append(own)
        left = [t for t in left if t is not own]
        made = [t for t in made if t is not own]
    column = _column(operator, told)
    inputs: list[Entry] = []
    for spec, one in zip(operator.inputs, told, strict=True):
        left_out = example.source == "test" and spec.param_type == "optional" and one is not None
        if one is None or (left_out and not one.shape):
            inputs.append(() if spec.param_type == "dynamic" else absent(spec))
            continue
        parts = one.parts or (one,) * (_LIST_LENGTH if spec.param_type == "dynamic" else 1)
        given = tuple(
            _with_data(_tensor(spec, shape, _dtype(spec, column)), spec, part, exact)
            for part in parts
            for shape in [_in_memory(spec, _unpacked(part, _dtype(spec, column)), column)]
        )
        inputs.append(given if spec.param_type == "dynamic" else given[0])
    case = WorkloadCase(
        name=example.source, inputs=tuple(inputs), attrs=_attrs(operator, example.values)
    )
    rest = made if outputs else left if example.source == "test" else [*left, *made]
    given_to = {spec.name: one for spec, one in zip(operator.inputs, told, strict=True)}
    made_by = _outputs(operator, case, column, rest, given_to, example.absent)
    return case.model_copy(update={"outputs": made_by})


def _column(operator: Operator, told: Sequence[ToldTensor | None]) -> int:
    """The dtype column that most of the example's tensors are in, the usual one first."""

    def fitting(column: int) -> int:
        pairs = zip(operator.inputs, told, strict=True)
        return sum(one is not None and one.dtype == _dtype(spec, column) for spec, one in pairs)

    return max(usual_columns(operator), key=fitting)


def _with_data(tensor: TensorCase, spec: TensorSpec, told: ToldTensor, exact: bool) -> TensorCase:
    """The tensor with the example's values, or drawn from their range where it holds integers."""
    dtype, data = BY_NAME[tensor.dtype], told.data
    if len({*told.span}) > 1 and not (dtype.is_float or dtype.is_complex):
        return tensor.model_copy(update={"range": told.span})
    count = 1
    for length in tensor.shape:
        count *= length
    if not data or dtype.is_complex or len(data) != count:
        return tensor
    whole = not dtype.is_float and all(value.is_integer() for value in data)
    if count <= _MOST_VALUES and (spec.value_depend or spec.scalar or (exact and whole)):
        values = tuple(map(int, data)) if whole else data
        return tensor.model_copy(update={"values": values[:1] if len({*values}) == 1 else values})
    return tensor.model_copy(update={"range": (min(data), max(data))}) if whole else tensor


def _outputs(
    operator: Operator,
    case: WorkloadCase,
    column: int,
    left: list[ToldTensor],
    given_to: Mapping[str, ToldTensor | None],
    left_out: Sequence[str],
) -> tuple[Entry, ...]:
    """The example's outputs where it creates them all, with the dtypes that go with the inputs.

    An output with the name of an input is that tensor. None otherwise: then the tiling is asked for
    their shapes.
    """
    outputs: list[Entry] = []
    try:
        dtypes = output_dtypes(operator, case)
    except InputError:
        return ()
    named = [
        next((t for t in left if _names(t, spec.name)), None) or given_to.get(spec.name)
        for spec in operator.outputs
    ]
    absent_ones = [
        own is None and any(is_called(name, spec.name) for name in left_out)
        for spec, own in zip(operator.outputs, named, strict=True)
    ]
    # Programs create the outputs last.
    unnamed = [t for t in left if not any(t is one for one in named)]
    rest = iter(unnamed[max(0, len(unnamed) - named.count(None) + sum(absent_ones)) :])
    for spec, own, dtype, is_absent in zip(
        operator.outputs, named, dtypes, absent_ones, strict=True
    ):
        if is_absent:
            none = TensorCase(shape=(0,), dtype=dtype, present=spec.param_type == "required")
            outputs.append(() if spec.param_type == "dynamic" else none)
            continue
        told = own or next(rest, None)
        if told is None or (spec.param_type == "dynamic" and not told.parts):
            return ()
        made = tuple(
            TensorCase(shape=_in_memory(spec, _unpacked(one, dtype), column), dtype=dtype)
            for one in told.parts or (told,)
        )
        outputs.append(made if spec.param_type == "dynamic" else made[0])
    return tuple(outputs)


def _unpacked(told: ToldTensor, dtype: str) -> tuple[int, ...]:
    """The shape of a tensor in elements of the definition's dtype: a program gives numbers of four
    bits as integers of 32, eight in each."""
    bits = BY_NAME[dtype].bits
    if bits >= 8 or told.dtype != "int32" or not told.shape:
        return told.shape
    return (*told.shape[:-1], told.shape[-1] * BY_NAME["int32"].bits // bits)


def _value_of(spec: TensorSpec, example: Example) -> float:
    """What the example has in a variable of an input that is no tensor there; 0 where in none."""
    names = ("axis", "dim") if spec.name.lower() in ("axis", "dim") else (spec.name,)
    text = next((found for n in names if (found := _variable(example.values, n))), "0")
    try:
        return float(text.rstrip("fFuUlL"))
    except ValueError:
        return 0.0


def _names(told: ToldTensor, name: str) -> bool:
    """Whether a tensor is called so: 'inputXShape', a shape's variable, is 'x'."""
    return any(is_called(one, name) for one in (told.name, *told.names))


def _tensor(spec: TensorSpec, shape: tuple[int, ...], dtype: str) -> TensorCase:
    indices = any(part in spec.name.lower() for part in _INDEX_NAMES)
    low, high = (0.0, 1.0) if indices else (0.5, 1.5)
    if dtype.startswith(("int", "uint")) and not indices:
        low, high = 1.0, 3.0
    return TensorCase(shape=shape, dtype=dtype, range=(low, high))


def _in_memory(spec: TensorSpec, shape: tuple[int, ...], column: int) -> tuple[int, ...]:
    """The shape that a kernel gets: an example has plain shapes where the definition asks for
    channels in blocks, which the framework makes before the launch.

    NC1HWC0 is (N, channels / C0, H, W, C0), C0 being 32 for bytes and else 16 (asc-devkit, docs of
    asc_copy_l12l0a).
    """
    declared = spec.formats[min(column, len(spec.formats) - 1)] if spec.formats else ""
    if not declared.endswith("NC1HWC0") or not 2 <= len(shape) <= 4:
        return shape
    rows, channels, *rest = shape
    block = 32 if BY_NAME[_dtype(spec, column)].bytes == 1 else 16
    return (rows, -(-channels // block), *rest, *(1,) * (2 - len(rest)), block)


def _dtype(spec: TensorSpec, column: int) -> str:
    return spec.dtypes[min(column, len(spec.dtypes) - 1)] if spec.dtypes else "float32"


def _attrs(operator: Operator, values: dict[str, str]) -> dict[str, AttrValue]:
    """Values for attributes: the example's where it names them, else something harmless."""
    found: dict[str, AttrValue] = {}
    texts = [text for text in values.values() if text[:1] == '"']
    unnamed = [s for s in operator.attrs if s.type == "string" and not _variable(values, s.name)]
    wanted = [s.name for s in unnamed if s.default is None] or [s.name for s in unnamed]
    for spec in operator.attrs:
        text = _variable(values, spec.name)
        if not text and wanted == [spec.name] and len(texts) == 1:
            text = texts[0]  # nothing else can be meant
        given = _read(text, spec.type) if text else None
        if given is not None:
            found[spec.name] = given
        elif spec.default is None:  # an optional one too: a call of the operator gives them all
            found[spec.name] = _harmless(spec)
    return found


def _variable(values: dict[str, str], name: str) -> str:
    """What a program has in the variable for `name`: paddings in paddingData, n in attrN."""
    wanted = _bare(name)
    return next((text for variable, text in values.items() if _bare(variable) == wanted), "")


def _bare(name: str) -> str:
    plain = name.lower().replace("_", "")
    return _ROLE.sub("", plain).removesuffix("s") or plain


def _read(text: str, kind: str) -> AttrValue | None:
    """The C++ literal `text` as an attribute value, or None."""
    if kind == "string":
        return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else None
    parts = [p.strip().rstrip("fFuUlL") for p in text.split(",") if p.strip()]
    read: list[int | float | bool] = []
    for part in parts:
        if part in ("true", "fals", "false"):
            read.append(part == "true")
            continue
        try:
            read.append(float(part) if set(part) & set(".e") else int(part, 0))
        except ValueError:
            return None
    if kind.startswith("list_"):
        return attr_value(read, kind) if read else None
    return attr_value(read[0], kind) if len(read) == 1 else None


def _harmless(spec: AttrSpec) -> AttrValue:
    values: dict[str, AttrValue] = {
        "int": 1,
        "float": 1.0,
        "bool": False,
        "string": "",
        "list_int": (1,),
        "list_float": (1.0,),
        "list_bool": (False,),
    }
    return values[spec.type]
