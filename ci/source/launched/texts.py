"""A launch as C++: the host side that counts its numbers, and the kernel that passes them on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ci.model.dtypes import BY_NAME
from ci.model.errors import InputError
from ci.model.operator import AttrSpec, LaunchNumber, TensorSpec
from ci.model.yaml_model import Place
from ci.source.launch_expression import CHIP, Code, Known, Written, code
from ci.source.launched.entry import REAL, WHOLE, KernelEntry, Parameter
from ci.source.launched.structures import Structure
from ci.source.workload_model import Fields, GivenLaunch, GivenOutput, as_dtype

WORD: Final = 8
"""Bytes that each number takes in the tiling data, and that each structure is rounded up to."""

WORKSPACE_UNIT: Final = 512
"""Bytes that each workspace is rounded up to: a line of the L2 cache."""

WORKSPACE: Final = "ascendopt_workspace"
TILING: Final = "ascendopt_tiling"
"""The two parameters of the call that no parameter of the kernel is named like."""

LEAST_CHANGED: Final = 8
"""Smaller whole numbers, but for the blocks, are no sizes: an axis, a dtype, a factor."""

_HOST_HEAD = Path(__file__).parent / "host_head.h"
_HOST_WORDS = Path(__file__).parent / "host_words.h"
_KERNEL_HEAD = Path(__file__).parent / "kernel_head.h"


@dataclass(frozen=True)
class Launch:
    """All that is known of a launch."""

    given: GivenLaunch
    op_type: str
    source: str
    """The kernel's source, as one next to it includes it."""
    entry: KernelEntry
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    attrs: tuple[AttrSpec, ...]
    structures: Mapping[str, Structure]
    """The definitions of those whose fields are given, by parameter."""
    wrong: Callable[[Place, str], InputError]
    """The error for a place below `launch`, and what is wrong there."""
    span: Callable[[Place], tuple[int, int] | None]
    """Where the text of a scalar below `launch` begins and ends, as `YamlFile.span` says."""


@dataclass(frozen=True)
class _Texts:
    host: str
    kernel: str


class LaunchTexts:
    """Writes both texts. Raises InputError where the workload does not fit the kernel's entry."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._data: list[str] = []
        """Host statements that fill the tiling data."""
        self._bytes = 0
        self._changeable: dict[int, LaunchNumber] = {}

    def write(self) -> _Texts:
        """The host side's source and the kernel's."""
        launch = self._launch
        numbers = list(self._numbers())
        arguments = [self._argument(one) for one in launch.entry.parameters]
        blocks = self._code(("blocks",), launch.given.blocks, self._known())
        if not blocks.whole:
            raise launch.wrong(("blocks",), "is no whole number")
        return _Texts(self._host(numbers, blocks), self._kernel(arguments))

    @property
    def numbers(self) -> tuple[LaunchNumber, ...]:
        """The numbers that a search may change, in the order of the workload's text."""
        found = [self._changeable[start] for start in sorted(self._changeable)]
        names = [one.name for one in found]
        return tuple(
            one
            if names.count(one.name) == 1
            else one.model_copy(update={"name": f"{one.name}.{names[:number].count(one.name)}"})
            for number, one in enumerate(found)
        )

    def _known(self, most: int | None = None) -> Known:
        """What expressions may name: all values, or those before number `most`."""
        launch = self._launch
        whole = {a.name: a.type != "float" for a in launch.attrs} | dict.fromkeys(CHIP, True)
        known = Known([spec.name for spec in launch.inputs], whole)
        for name, written in [*launch.given.values.items()][:most]:
            whole[name] = self._code(("values", name), written, Known(known.inputs, whole)).whole
        return Known(known.inputs, whole)

    def _code(self, place: Place, written: Written, known: Known) -> Code:
        def literal(column: int, value: int) -> str:
            span = self._launch.span(place)
            least = 1 if place == ("blocks",) else LEAST_CHANGED
            if span is None or value < least or not str(written).isascii():
                return str(value)
            start = span[0] + column
            self._changeable[start] = LaunchNumber(
                name=".".join(("launch", *map(str, place))),
                start=start,
                end=start + len(str(value)),
                value=value,
                blocks=place == ("blocks",),
            )
            return LaunchNumber.stands_for(start)

        try:
            return code(written, replace(known, literal=literal))
        except ValueError as problem:
            raise self._launch.wrong(place, str(problem)) from None

    def _fixed(self, place: Place, written: Written, known: Known) -> Code:
        """The code of an expression of which no search changes a number."""
        try:
            return code(written, known)
        except ValueError as problem:
            raise self._launch.wrong(place, str(problem)) from None

    def _numbers(self) -> Iterator[str]:
        """Host statements for the attributes and values."""
        launch = self._launch
        yield from self._attributes()
        for number, (name, written) in enumerate(launch.given.values.items()):
            found = self._code(("values", name), written, self._known(number))
            kind = "int64_t" if found.whole else "double"
            yield f"const {kind} v_{name} = {found.text};"
            yield f'if (!given.Possible()) return Refused("launch.values.{name}");'

    def _attributes(self) -> Iterator[str]:
        """Host statements for the attributes."""
        for number, attr in enumerate(self._launch.attrs):
            kind = "double" if attr.type == "float" else "int64_t"
            asked = f"context->GetAttrs()->Get{_getter(attr)}({number})"
            yield f"const {kind} v_{attr.name} = *{asked};"

    def _argument(self, one: Parameter) -> str:
        """The kernel's argument, once the tiling data holds what it needs."""
        launch = self._launch
        if one.name in launch.given.structs:
            return self._structure(one)
        if one.name in launch.given.workspace:
            return self._workspace(one.name)
        tensors = [spec.name for spec in (*launch.inputs, *launch.outputs)]
        if one.name in tensors:
            return f"Pointer{{{one.name}}}"
        if one.pointer and one.name not in launch.given.values:
            raise launch.wrong(
                (),
                f"leaves open what the pointer '{one.name}' of {launch.entry.name} is: an input of"
                " the cases, or one of outputs, structs, workspace and values (an address)",
            )
        return self._number(one)

    def _number(self, one: Parameter) -> str:
        launch = self._launch
        known = self._known()
        if one.name not in known.whole or one.name in CHIP:
            what = f"lacks '{one.name}', which {launch.entry.name} takes as {one.type}"
            raise launch.wrong(("values",), what)
        if not REAL.fullmatch(one.type) and not known.whole[one.name]:
            what = f"is no whole number, but {launch.entry.name} takes it as {one.type}"
            raise launch.wrong(("values", one.name), what)
        if WHOLE.fullmatch(one.type):
            value, carried = f"int64_t(given.Fitting<{one.type}>(v_{one.name}))", "int64_t"
        else:
            carried = {"double": "double"}.get(one.type, "float")
            carried = carried if REAL.fullmatch(one.type) else "int64_t"
            value = f"{carried}(v_{one.name})"
        at = self._put(f"Put(data + {{}}, {value});", WORD)
        self._data.append(f'if (!given.Possible()) return Refused("launch.values.{one.name}");')
        return f"Number<{carried}>{{Read<{carried}>({TILING} + {at})}}"

    def _structure(self, one: Parameter) -> str:
        given = self._launch.given.structs[one.name]
        held = f"held_{one.name}"
        if given.words:
            self._data.append(f"const uint32_t {held}[] = {{{', '.join(map(str, given.words))}}};")
        else:
            self._fields(one, held, given.fields)
        self._data.append(f"std::memcpy(data + at, &{held}, sizeof({held}));")
        offset = self._put("Put(data + {}, int64_t(at));", WORD)
        self._data.append(f"at += (sizeof({held}) + {WORD - 1}) / {WORD} * {WORD};")
        where = f"{TILING} + Read<int64_t>({TILING} + {offset})"
        size = 4 * len(given.words)
        return f"Pointer{{{where}}}" if one.pointer else f"Structure<{size}>{{{where}}}"

    def _fields(self, one: Parameter, held: str, given: Mapping[str, Fields]) -> None:
        """Host statements that make a structure and fill it."""
        launch = self._launch
        structure = launch.structures[one.name]
        kind = structure.name.rpartition("::")[2]
        place = ("structs", one.name, "fields")
        for name in given.keys() - {*structure.fields}:
            what = f"is no field of {kind}, which has {', '.join(structure.fields)}"
            raise launch.wrong((*place, name), what)
        if missing := [name for name in structure.fields if name not in given]:
            raise launch.wrong(place, f"leaves out {', '.join(missing)} of {kind}")
        lines = [f"launched::{kind} {held} {{}};"]
        for name, written in given.items():
            several = isinstance(written, tuple)
            for number, item in enumerate(written if isinstance(written, tuple) else (written,)):
                to = f"{held}.{name}" + (f"[{number}]" if several else "")
                found = self._code((*place, name), item, self._known())
                lines.append(f"Fill(given, {to}, {found.text});")
            lines.append(
                f'if (!given.Possible()) return Refused("launch.structs.{one.name}.{name}");'
            )
        self._data += lines

    def _workspace(self, name: str) -> str:
        found = self._code(("workspace", name), self._launch.given.workspace[name], self._known())
        if not found.whole:
            raise self._launch.wrong(("workspace", name), "is no whole number of bytes")
        at = self._put("Put(data + {}, int64_t(workspace));", WORD)
        self._data += [
            f"given.Possible({found.text} >= 0);",
            f'if (!given.Possible()) return Refused("launch.workspace.{name}");',
            f"workspace += given.RoundedUp({found.text}, {WORKSPACE_UNIT}) * {WORKSPACE_UNIT};",
        ]
        return f"Pointer{{{WORKSPACE} + Read<int64_t>({TILING} + {at})}}"

    def _put(self, statement: str, size: int) -> int:
        at = self._bytes
        self._bytes += size
        self._data.append(statement.format(at))
        return at

    def _host(self, numbers: list[str], blocks: Code) -> str:
        launch = self._launch
        defined = dict.fromkeys(text for one in launch.structures.values() for text in one.texts)
        lines = [
            _HOST_HEAD.read_text(encoding="utf-8"),
            *(("namespace launched {", *defined, "}") if defined else ()),
            "template <class G, class T, class V> void Fill(G& given, T& field, V value)",
            "{",
            "    if constexpr (std::is_integral_v<T> && std::is_integral_v<V>) {",
            "        field = given.template Fitting<T>(value);",
            "    } else {",
            "        field = static_cast<T>(value);",
            "    }",
            "}",
            "",
            "static ge::graphStatus Tiling(gert::TilingContext* context)",
            "{",
            "    Given<gert::TilingContext> given(context);",
            "    platform_ascendc::PlatformAscendC chip(context->GetPlatformInfo());",
            "    uint64_t bytes = 0;",
            "    chip.GetCoreMemSize(platform_ascendc::CoreMemType::UB, bytes);",
            "    const int64_t v_cores = chip.GetCoreNumAiv();",
            "    const int64_t v_cube_cores = chip.GetCoreNumAic();",
            "    const int64_t v_ub = bytes;",
            *(f"    {line}" for line in numbers),
            "    auto* data = static_cast<uint8_t*>(context->GetRawTilingData()->GetData());",
            f"    [[maybe_unused]] size_t at = {self._bytes};",
            "    [[maybe_unused]] int64_t workspace = 0;",
            *(f"    {line}" for line in self._data),
            f"    const int64_t blocks = {blocks.text};",
            "    given.Possible(blocks >= 1 && blocks <= 65535);",
            '    if (!given.Possible()) return Refused("launch.blocks");',
            "    context->SetBlockDim(blocks);",
            f"    context->GetRawTilingData()->SetDataSize(std::max<size_t>(at, {WORD}));",
            "    context->GetWorkspaceSizes(1)[0] = chip.GetLibApiWorkSpaceSize() + workspace;",
            "    return ge::GRAPH_SUCCESS;",
            "}",
            "",
            *self._inference(),
            *self._definition(),
        ]
        return "\n".join(lines) + "\n"

    def _inference(self) -> Iterator[str]:
        launch = self._launch
        inputs = [spec.name for spec in launch.inputs]
        whole = {a.name: a.type != "float" for a in launch.attrs}
        yield "static ge::graphStatus InferShape(gert::InferShapeContext* context)"
        yield "{"
        yield "    Given<gert::InferShapeContext> given(context);"
        yield from (f"    {line}" for line in self._attributes())
        for number, (name, one) in enumerate(launch.given.outputs.items()):
            if isinstance(one, GivenOutput):
                yield f"    *context->GetOutputShape({number}) = gert::Shape();"
                for axis, written in enumerate(one.shape):
                    place = ("outputs", name, "shape", axis)
                    found = self._fixed(place, written, Known(inputs, whole))
                    if not found.whole:
                        raise launch.wrong(place, "is no whole number")
                    yield f"    context->GetOutputShape({number})->AppendDim({found.text});"
            else:
                like = inputs.index(one)
                yield f"    *context->GetOutputShape({number}) = *context->GetInputShape({like});"
        yield '    return given.Possible() ? ge::GRAPH_SUCCESS : Refused("launch.outputs");'
        yield "}"
        yield "static ge::graphStatus InferDataType(gert::InferDataTypeContext* context)"
        yield "{"
        for number, (_, one) in enumerate(launch.given.outputs.items()):
            named = one.dtype if isinstance(one, GivenOutput) else one
            dtype = (
                f"context->GetInputDataType({inputs.index(named)})"
                if named in inputs
                else f"ge::{BY_NAME[as_dtype(named)].macro}"
            )
            yield f"    context->SetOutputDataType({number}, {dtype});"
        yield "    return ge::GRAPH_SUCCESS;"
        yield "}"

    def _definition(self) -> Iterator[str]:
        launch = self._launch
        yield "namespace ops {"
        yield f"class {launch.op_type} : public OpDef {{"
        yield "public:"
        yield f"    explicit {launch.op_type}(const char* name) : OpDef(name)"
        yield "    {"
        for side, specs in (("Input", launch.inputs), ("Output", launch.outputs)):
            for spec in specs:
                dtypes = ", ".join(f"ge::{BY_NAME[dtype].macro}" for dtype in spec.dtypes)
                formats = ", ".join("ge::FORMAT_ND" for _ in spec.dtypes)
                yield f'        this->{side}("{spec.name}").ParamType(REQUIRED)'
                yield f"            .DataType({{{dtypes}}}).Format({{{formats}}});"
        for attr in launch.attrs:
            value = str(attr.default).lower()
            yield f'        this->Attr("{attr.name}").AttrType(OPTIONAL).{_getter(attr)}({value});'
        yield "        this->SetInferShape(InferShape).SetInferDataType(InferDataType);"
        yield "        this->AICore().SetTiling(Tiling);"
        yield '        this->AICore().AddConfig("ascend910b");'
        yield "    }"
        yield "};"
        yield f"OP_ADD({launch.op_type});"
        yield "}  // namespace ops"

    def _kernel(self, arguments: list[str]) -> str:
        launch = self._launch
        tensors = [spec.name for spec in (*launch.inputs, *launch.outputs)]
        types = ", ".join(launch.given.template)
        marks = " ".join(launch.entry.marks.replace("__aicore__", "").split())
        called = launch.entry.qualified + (f"<{types}>" if types else "")
        lines = [
            '#include "kernel_operator.h"',
            _HOST_WORDS.read_text(encoding="utf-8"),
            f'#include "{launch.source}"',
            _KERNEL_HEAD.read_text(encoding="utf-8"),
            f'extern "C" __global__ __aicore__ {marks} void launched_{launch.entry.name}(',
            "    " + ", ".join(f"GM_ADDR {name}" for name in (*tensors, WORKSPACE, TILING)) + ")",
            "{",
            "    using namespace ascendopt_launch;",
            f"    {called}(",
            ",\n".join(f"        {one}" for one in arguments) + ");",
            "}",
        ]
        return "\n".join(lines) + "\n"


def _getter(attr: AttrSpec) -> str:
    """How the toolkit calls an attribute's type."""
    return {"float": "Float", "bool": "Bool"}.get(attr.type, "Int")
