"""What a program hands to an operator, as what an example tells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final, NamedTuple

from ci.derive.example_facts import Example, ToldTensor, is_called
from ci.derive.example_run import Argument, Call, GivenTensor, calls_of, prototype
from ci.derive.program import Program
from ci.derive.project import own_folder
from ci.model.dtypes import find_dtype
from ci.model.errors import InputError
from ci.model.operator import Operator
from ci.model.regular_file import file_text
from ci.source.cpp_text import without_comments

_OWN: Final = 2
"""The last parameters of each such function: the size of its workspace, and what comes next."""
_MOST_EXAMPLES: Final = 8
"""The most that one program gives."""
_MOST_HEADERS: Final = 200
_MOST_BYTES: Final = 200_000
_DTYPES: Final = {"bf16": "bfloat16", "double": "float64"}
_PORTS: Final = {"required": "INPUT", "optional": "OPTIONAL_INPUT", "dynamic": "DYNAMIC_INPUT"}
"""How REG_OP calls an input."""
_WORD = re.compile(r"[A-Za-z_]\w*")
_IS_CONSTANT = re.compile(r"\bconst\b")


class _Parameter(NamedTuple):
    names: tuple[str, ...]
    is_output: bool
    given: Argument


def called_examples(operator: Operator, program: Program) -> list[Example]:
    """What a program gives to `operator`: its calls of the one whose name is most like its own.

    Empty where the program calls nothing, or does not run here. Raises EnvironmentProblem without a
    compiler.
    """
    wanted = operator.op_type.lower()
    program = replace(program, prototypes={operator.op_type: _prototype(operator)})
    calls = [
        call
        for call in calls_of(program)
        if not _is_named(call) or call.name.lower() == wanted  # a graph has others, too
    ]
    if not calls:
        return []
    nearest = max(
        (call.name for call in calls),
        key=lambda one: SequenceMatcher(None, one.lower(), wanted, autojunk=False).ratio(),
    )
    found: list[Example] = []
    for call in calls:
        if call.name == nearest and (one := _example(operator, call)).tensors and one not in found:
            found.append(one)
    return found[:_MOST_EXAMPLES]


def _example(operator: Operator, call: Call) -> Example:
    tensors: list[ToldTensor] = []
    arrays: list[ToldTensor] = []
    values: dict[str, str] = {}
    absent: list[str] = []
    for parameter in _meant(operator, _parameters(operator, call)):
        absent += parameter.names if parameter.given.null else ()
        tensors += _tensors(parameter)
        value, array = _value(parameter)
        arrays += array
        if value:
            values |= dict.fromkeys((name.lower() for name in parameter.names if name), value)
    return Example(tuple(tensors), values, arrays=tuple(arrays), absent=tuple(absent), ran=True)


def _is_named(call: Call) -> bool:
    """Whether it says which parameter each argument is for: an operator of a graph does."""
    return any(one.name for one in call.arguments)


def _prototype(operator: Operator) -> str:
    """The class of the operator in a graph, where no header has it: as its definition says."""
    words = [f"{_PORTS[spec.param_type]}({spec.name})" for spec in operator.inputs]
    for spec in operator.outputs:
        words.append(f"{'DYNAMIC_' if spec.param_type == 'dynamic' else ''}OUTPUT({spec.name})")
    for attr in operator.attrs:
        kind = "".join(part.capitalize() for part in attr.type.split("_"))
        words.append(f"ATTR({attr.name}, {kind})")
    return prototype(operator.op_type, ".".join(words))


def _meant(operator: Operator, parameters: list[_Parameter]) -> list[_Parameter]:
    """The parameters, called as in the op definition where one is meant that is in it: by its name,
    or by its place between two that are."""
    names = [
        *(spec.name for spec in operator.inputs),
        *(spec.name for spec in operator.attrs),
        *(spec.name for spec in operator.outputs),
    ]
    fitting = [*[_holds] * len(operator.inputs), *[_tells] * len(operator.attrs)]
    fitting += [_holds] * len(operator.outputs)
    places: dict[int, int] = {}
    for number, wanted in enumerate(names):
        for place, one in enumerate(parameters):
            named = any(is_called(name, wanted) for name in one.names)
            if named and place not in places.values() and fitting[number](one.given):
                places[number] = place
                break
    ends = [(-1, -1), *sorted(places.items()), (len(names), len(parameters))]
    for (before, first), (after, last) in pairwise(ends):
        open_ = range(before + 1, after)
        free = [p for p in range(first + 1, last) if p not in places.values()]
        pairs = list(zip(open_, free, strict=False))
        if len(open_) == len(free) and all(fitting[n](parameters[p].given) for n, p in pairs):
            places |= pairs
    meant = dict(zip(places.values(), places, strict=True))
    return [
        one._replace(names=(names[meant[place]], *one.names)) if place in meant else one
        for place, one in enumerate(parameters)
    ]


def _holds(given: Argument) -> bool:
    """Whether it may be a tensor: lists of numbers become one."""
    return given.number is None and given.text is None


def _tells(given: Argument) -> bool:
    """Whether it may be an attribute."""
    return given.tensor is None and given.tensors is None


def _tensors(parameter: _Parameter) -> list[ToldTensor]:
    argument = parameter.given
    if argument.tensor is not None:
        return [_told(parameter, argument.tensor)]
    parts = tuple(_told(parameter, one) for one in argument.tensors or () if one is not None)
    return [replace(parts[0], parts=parts)] if parts else []


def _value(parameter: _Parameter) -> tuple[str, list[ToldTensor]]:
    """The text of an argument that is no tensor, and its numbers where it is a list of them."""
    argument = parameter.given
    if argument.text is not None:
        return f'"{argument.text}"', []
    if argument.number is not None:
        return _text(argument.number), []
    if argument.scalar is not None:
        return ", ".join(map(_text, argument.scalar.values)), []
    numbers: Sequence[bool | int | float | None] = argument.array or ()
    if argument.scalars is not None:
        numbers = [v for one in argument.scalars if one is not None for v in one.values]
    if not numbers or None in numbers:
        return "", []
    data = tuple(float(number) for number in numbers if number is not None)
    told = ToldTensor(parameter.names[0], (len(data),), "int64", data, names=parameter.names[1:])
    return ", ".join(map(_text, numbers)), [told]


def _text(number: bool | int | float | None) -> str:
    return "" if number is None else str(number).lower()


def _told(parameter: _Parameter, given: GivenTensor) -> ToldTensor:
    name = given.dtype.lower()
    dtype = find_dtype(_DTYPES.get(name, name))
    span = given.range if given.range is not None and None not in given.range else ()
    return ToldTensor(
        parameter.names[0],
        given.shape,
        dtype.name if dtype else "",
        tuple(v for v in given.values if v is not None) if None not in given.values else (),
        parameter.is_output,
        parameter.names[1:],
        tuple(v for v in span if v is not None),
    )


def _parameters(operator: Operator, call: Call) -> list[_Parameter]:
    """What each argument is called in the function's declaration and by the program."""
    if _is_named(call):
        return [_Parameter((one.name,), one.is_output, one) for one in call.arguments]
    given = call.arguments[:-_OWN]
    spelled = [_last_word(part) for part in _split(call.spelled)][: len(given)]
    spelled += [""] * (len(given) - len(spelled))
    declared = _declared(operator, call.name)
    if len(declared) != len(given):
        declared = [(name, False) for name in spelled]
    return [
        _Parameter(tuple(dict.fromkeys((name, own or name))), is_output, argument)
        for (name, is_output), own, argument in zip(declared, spelled, given, strict=True)
    ]


def _declared(operator: Operator, name: str) -> list[tuple[str, bool]]:
    """Name of each parameter in the declaration of the operator's own headers, and whether it is an
    output; empty where there is none."""
    declaration = re.compile(rf"\b{name}GetWorkspaceSize\s*\(([^;{{}}]*)\)\s*;")
    for text in _headers(operator, f"{name}GetWorkspaceSize"):
        if found := declaration.search(without_comments(text)):
            parts = _split(found[1])[:-_OWN]
            return [(_last_word(part), not _IS_CONSTANT.search(part)) for part in parts]
    return []


def _headers(operator: Operator, word: str) -> Iterator[str]:
    """The texts of headers in the operator's own folder in which a word stands."""
    top = own_folder(operator)
    for number, path in enumerate(sorted(top.rglob("*.h"))):
        if number >= _MOST_HEADERS:
            return
        try:
            text = file_text(path, top, most_bytes=_MOST_BYTES)
        except (InputError, OSError):
            continue
        if word in text:
            yield text


def _split(text: str) -> list[str]:
    """The parts between commas that are in no bracket."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{<") - (letter in ")]}>")
        if letter == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _last_word(text: str) -> str:
    """The variable in an argument or a parameter: x in `const aclTensor *x`, and in `x.get()`."""
    words = _WORD.findall(re.sub(r"\.\s*(?:get|data|c_str)\s*\(\s*\)", "", text))
    return words[-1] if words else ""
