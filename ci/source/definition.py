"""Reads an op definition (a class derived from OpDef) out of host source text, without compiling.

What plain text cannot tell (dtypes computed by loops, say) is left empty: the built host program's
`describe` answer has the full truth (ci/host/host_tiling.py). That takes seconds of a compiler an
operator and needs one that compiles; this lists a repository's hundreds, broken ones too, in a few.
A syntax tree would not tell more: what is in the way is macros, which are expanded here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ci.model.dtypes import BY_MACRO
from ci.model.operator import AttrSpec, TensorSpec
from ci.source.cpp_text import closing, object_macros, split_arguments, without_comments
from ci.source.op_classes import compiled_text, expanded, op_classes
from ci.source.written_out import Known, open_name, written_out
from rules.architectures import architectures

_PARAM_TYPES = {"REQUIRED": "required", "OPTIONAL": "optional", "DYNAMIC": "dynamic"}
_ATTR_TYPES = {
    "Int": "int",
    "Float": "float",
    "Bool": "bool",
    "String": "string",
    "ListInt": "list_int",
    "ListFloat": "list_float",
    "ListBool": "list_bool",
}


@dataclass(frozen=True)
class Definition:
    """What an op definition declares."""

    op_type: str
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    attrs: tuple[AttrSpec, ...]
    socs: tuple[str, ...]
    open_name: str = ""
    """What an input or output is called by, where only running the definition tells its name."""


@dataclass
class _Names:
    """Lists of dtypes or formats that the text gives a name."""

    lists: dict[str, list[str]] = field(default_factory=dict)
    objects: dict[str, str] = field(default_factory=dict)

    def words(self, argument: str) -> list[str]:
        """The `DT_*`/`FORMAT_*` words of an argument: a brace list or a name."""
        text = argument.strip()
        for _ in range(4):
            if text in self.objects:
                text = self.objects[text].strip()
        bare = text.strip("{} \n\t")
        if bare in self.lists:
            return self.lists[bare]
        if not text.startswith("{") and (repeat := re.match(r"[\w:<>]+\((\d+),\s*(.*)\)", text)):
            return self.words(repeat.group(2)) * int(repeat.group(1))
        found: list[str] = []
        for part in split_arguments(text.strip().removeprefix("{").removesuffix("}")):
            if part in self.lists:
                found += self.lists[part]
            else:
                found += re.findall(r"\b(?:DT|FORMAT)_\w+", self.objects.get(part, part))
        return found


def find_definitions(text: str, shared: str = "") -> list[Definition]:
    """The op definitions in `text` (one host source), in its order.

    `shared` is the text of headers that it includes, whose macros and names it may use.
    """
    own, other = compiled_text(text), compiled_text(shared)
    whole = expanded(own, other)
    classes = op_classes(whole, other)
    if not classes:
        return []
    known = other + "\n" + whole
    names, values, words = _named_lists(known, whole), _values(known), Known(known)
    return [
        _definition(op_type, written_out(body, words), names, values) for op_type, body in classes
    ]


def _definition(op_type: str, body: str, names: _Names, values: dict[str, str]) -> Definition:
    config = _chip_config(body)
    return Definition(
        op_type=op_type,
        inputs=tuple(_tensor(n, chain, names) for n, chain in _chains(body, "Input", config)),
        outputs=tuple(_tensor(n, chain, names) for n, chain in _chains(body, "Output", config)),
        attrs=tuple(_attr(n, chain, values) for n, chain in _chains(body, "Attr", config)),
        socs=tuple(dict.fromkeys(re.findall(r'\bAddConfig\s*\(\s*"([^"]+)"', body))),
        open_name=open_name(body),
    )


def tiling_functions(text: str) -> tuple[str, ...]:
    """Names of the tiling functions that `text` registers or defines, without namespaces; that of a
    lambda is `operator()`."""
    clean = without_comments(text)
    names = re.findall(r"\bSetTiling\(\s*&?([\w:]+)", clean)
    names += re.findall(r"\.\s*Tiling\(\s*&?([\w:]+)", clean)
    names += re.findall(r"\b(\w+)\s*\(\s*(?:gert::)?TilingContext\s*\*\s*\w+\s*\)\s*\{", clean)
    if re.search(r"\]\s*\(\s*(?:gert::)?TilingContext\s*\*\s*\w+\s*\)", clean):
        names.append("operator()")
    return tuple(dict.fromkeys(n.split("::")[-1] for n in names))


def _named_lists(text: str, own: str) -> _Names:
    """Lists that `text` names; what `own` text writes out goes before what code would fill."""
    names = _Names(objects=object_macros(text))
    pattern = (
        r"\b(?:vector<\s*(?:ge::)?(?:DataType|Format)\s*>|(?:ge::)?(?:DataType|Format))\s+(\w+)"
    )
    for match in re.finditer(pattern + r"\s*(?:\[\w*\])?\s*=?\s*(?=[{(])", text):
        end = closing(text, match.end())
        if end < 0:
            continue
        inner = text[match.end() + 1 : end]
        if text[match.end()] == "(":
            sized = re.match(r"\s*([\w.]+?)(?:\.size\(\))?\s*,\s*(?:ge::)?(\w+)", inner)
            if sized:
                other = names.lists.get(sized.group(1), [])
                count = int(sized.group(1)) if sized.group(1).isdigit() else len(other)
                names.lists[match.group(1)] = [sized.group(2)] * count
        else:
            names.lists[match.group(1)] = names.words("{" + inner + "}")
    _mapped_lists(own, text, names)
    return names


def _mapped_lists(own: str, text: str, names: _Names) -> None:
    """Lists filled by for_each over another list through a `switch` function of dtypes."""
    pattern = r"for_each\(\s*(\w+)\.c?begin\(\).*?(\w+)\.push_back\(\s*(\w+)\("
    for source, target, function in re.findall(pattern, text, re.DOTALL):
        if re.search(rf"\b{target}\s*(?:=\s*)?\{{", own):
            continue  # written out
        start = re.search(rf"\bDataType\s+{function}\s*\([^)]*\)\s*\{{", text)
        if start is None or source not in names.lists:
            continue
        body = text[start.end() : closing(text, start.end() - 1)]
        mapping: dict[str, str] = {}
        waiting: list[str] = []
        for case, result in re.findall(r"case\s+(?:ge::)?(\w+)\s*:|return\s+(?:ge::)?(\w+)", body):
            if case:
                waiting.append(case)
            else:
                mapping |= dict.fromkeys(waiting, result)
                waiting = []
        names.lists[target] = [mapping.get(d, "DT_UNDEFINED") for d in names.lists[source]]


def _values(text: str) -> dict[str, str]:
    constants = object_macros(text)
    found = re.findall(r"\b(?:constexpr|const)\s+[\w:]+\s+(\w+)\s*=\s*([^;{}]+);", text)
    return constants | dict(found)


def _chip_config(body: str) -> tuple[str, int]:
    """Name of the OpAICoreConfig object that is registered for our chip, or '', and where: what is
    said of the object behind that is for the next chip."""
    chips = "|".join(re.escape(one.definition_word) for one in architectures())
    found = re.search(rf'\bAddConfig\(\s*"(?:{chips})"\s*,\s*(\w+)\s*\)', body)
    return (found.group(1), found.start()) if found else ("", 0)


def _chains(body: str, method: str, config: tuple[str, int]) -> list[tuple[str, dict[str, str]]]:
    """Each `Input("name").A(x).B(y)` as (name, {A: x, B: y}).

    A declaration on the chip's own configuration goes before the general one of the same name,
    the last one first, and that before one for another chip.
    """
    found: dict[str, tuple[int, dict[str, str]]] = {}
    start = re.compile(rf'(?:\b(\w+)\s*(?:->|\.)\s*|(?<![\w.>])){method}\s*\(\s*"(\w+)"\s*\)')
    for match in start.finditer(body):
        calls: dict[str, str] = {}
        at = match.end()
        while call := re.compile(r"\s*\.\s*(\w+)\s*(?=\()").match(body, at):
            end = closing(body, call.end())
            if end < 0:
                break
            calls.setdefault(call.group(1), body[call.end() + 1 : end].strip())
            at = end + 1
        own = match.group(1) == config[0] and match.start() < config[1]
        rank = 0 if own else 1 if match.group(1) in ("this", None) else 2
        known = found.get(match.group(2))
        if known is None or rank < known[0] or rank == 0:
            found[match.group(2)] = (rank, calls)
    return [(name, calls) for name, (_, calls) in found.items()]


def _tensor(name: str, calls: dict[str, str], names: _Names) -> TensorSpec:
    macros = names.words(calls.get("DataType", calls.get("DataTypeList", "")))
    formats = names.words(calls.get("Format", calls.get("FormatList", "")))
    # What stands until code fills it in for each chip says nothing.
    macros = [m for m in macros if m != "DT_MAX"]
    formats = [f for f in formats if f != "FORMAT_END"]
    kind = _PARAM_TYPES.get(calls.get("ParamType", "REQUIRED").split("::")[-1], "required")
    return TensorSpec.model_validate(
        {
            "name": name,
            "param_type": kind,
            "dtypes": tuple(BY_MACRO[m].name if m in BY_MACRO else m.lower() for m in macros),
            "formats": tuple(f.removeprefix("FORMAT_") for f in formats),
            "scalar": "Scalar" in calls or "ScalarList" in calls,
            "value_depend": "ValueDepend" in calls,
            "shape_depends": "OutputShapeDependOnCompute" in calls,
        }
    )


def _attr(name: str, calls: dict[str, str], values: dict[str, str]) -> AttrSpec:
    kind, text = "int", ""
    for method, label in _ATTR_TYPES.items():
        if method in calls:
            kind, text = label, calls[method]
    required = calls.get("AttrType", "REQUIRED").split("::")[-1] != "OPTIONAL"
    default = _literal(values.get(text, text), kind) if text else None
    return AttrSpec.model_validate(
        {"name": name, "type": kind, "required": required and default is None, "default": default}
    )


def _literal(
    text: str, kind: str
) -> int | float | bool | str | tuple[int, ...] | tuple[float, ...] | None:
    if kind == "string":
        return "".join(re.findall(r'"((?:\\.|[^"\\])*)"', text))
    if kind == "bool":
        return text.strip() in ("true", "1")
    numbers = [_number(p) for p in split_arguments(text.strip().strip("{}"))]
    if kind == "list_int":
        return tuple(int(n) for n in numbers if n is not None)
    if kind in ("list_float", "list_bool"):
        return tuple(float(n) for n in numbers if n is not None)
    if not numbers or numbers[0] is None:
        return None
    return int(numbers[0]) if kind == "int" else float(numbers[0])


_LIMIT = re.compile(r"U?INT(8|16|32|64)_(MAX|MIN)|U?(SHRT|INT|LONG|LLONG)_(MAX|MIN)")
_BITS = {"SHRT": 16, "INT": 32, "LONG": 64, "LLONG": 64}
_LIMIT_OF_TYPE = re.compile(r"(?:std::)?numeric_limits<\s*(u?)int(\d+)_t\s*>::(max|min)\(\s*\)")


def _limit(text: str) -> int | None:
    """The value of a limit of an integer type, by its macro or by the library's template."""
    named, typed = _LIMIT.fullmatch(text), _LIMIT_OF_TYPE.fullmatch(text)
    if typed:
        unsigned, bits, end = bool(typed.group(1)), int(typed.group(2)), typed.group(3).upper()
    elif named:
        unsigned = text.startswith("U")
        bits = int(named.group(1) or 0) or _BITS[named.group(3)]
        end = named.group(2) or named.group(4)
    else:
        return None
    if end == "MIN":
        return 0 if unsigned else -(1 << (bits - 1))
    return (1 << (bits if unsigned else bits - 1)) - 1


def _number(text: str) -> float | int | None:
    if (limit := _limit(text.strip())) is not None:
        return limit
    bare = re.sub(r"(?<=[\d.])[fFuUlL]+$", "", text.strip())
    try:
        return int(bare, 0)
    except ValueError:
        pass
    try:
        return float(bare)
    except ValueError:
        return {"true": 1, "false": 0}.get(bare)
