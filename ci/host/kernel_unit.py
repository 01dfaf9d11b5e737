"""Writes the translation unit that makes one kernel variant callable by the machine.

On a device the operator compiler makes one binary for each dtype column and tiling key, with the
`DTYPE_*` macros and the tiling struct filled in. This does the same as a small C++ file that
includes the operator's kernel source.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ci.host.door.unlisted import unlisted, wanted
from ci.host.source_tree import place_below
from ci.model.dtypes import BY_NAME
from ci.model.errors import TrialFailure
from ci.model.operator import Operator
from ci.model.trial import Outcome, Place, Refusal
from ci.source.class_specializations import NOT_THERE
from ci.source.cpp_text import GlobalFunction, global_functions, without_comments
from ci.source.launched.entry import qualified
from ci.source.placed import plain
from ci.source.unset_members import NO_CONSTANT
from ci.system.candidate_compiler import CHANGES_MEANING

SYSTEM_WORKSPACE = 16 << 20
"""Bytes at the workspace's start that belong to the system; GetUserWorkspace skips them."""


@dataclass(frozen=True)
class KernelVariant:
    """What one compiled kernel is specialised for."""

    dtypes: tuple[str, ...]
    """The dtypes of the inputs, then the outputs, in the order of the definition."""
    formats: tuple[str, ...]
    tiling_key: int
    tiling_declarations: str
    """C++ text of the tiling structs."""
    tiling_struct: str
    """Name of the struct that GET_TILING_DATA fills for this key; '' when there is none."""
    tiling_bytes: int = 0
    """What the host lays for it, where the kernel defines the struct itself; else 0."""
    template_arguments: tuple[str, ...] = ()
    """C++ text of the kernel's template arguments, where the tiling key stands for them."""
    unlisted: tuple[str, ...] = ()
    """Names of the toolkit's constants that the kernel uses and that no documentation has."""
    headers: tuple[str, ...] = ()
    """Paths under which the kernel includes the toolkit's headers and that ours do not have."""
    called: tuple[str, ...] = ()
    """Names of the API that the kernel calls with template arguments and without its namespace."""
    changes_meaning: bool = False
    """Whether a class declares a name that it used before for something else, as in
    `static constexpr bool KIND = T::kind == KIND::ROWS`. The device's compiler takes that."""
    refused_at: tuple[tuple[str, int], ...] = ()
    """Source and line of what the compiler refused in a program around its kernel. What is defined
    there and not marked for the device is the host's, which its compiler takes."""
    newer_language: bool = False
    """Whether it has what C++ allows later than the compiler's: specializations within a class, or
    constants whose members a constructor's body sets; see `older_compiler.py`."""


LATER_DTYPES = {
    "DT_COMPLEX32": 33,
    "DT_HIFLOAT8": 34,
    "DT_FLOAT8_E5M2": 35,
    "DT_FLOAT8_E4M3FN": 36,
}
"""Numbers of dtypes that this chip does not compute with. Kernels compare theirs to them all the
same, and the preprocessor would take an unknown name for 0, which is float32."""


_TOOLKIT_HEADER = re.compile(
    r" ((?:(?:\w+/)*(?:adv_api|basic_api)/[\w/]+|kernel_\w+_(?:impl|intf))\.h): No such file"
)
"""What a compiler misses that is a part of the toolkit's kernel headers by its folder or name: each
of them comes with `kernel_operator.h`."""

_HEADER = re.compile(r" ([\w./+-]+): No such file")

_CALLED = re.compile(r"'(\w+)' was not declared in this scope; did you mean 'AscendC::\1'")
"""A name that only an argument leads to. The device's compiler finds it before `<`, too, as C++20
does; in C++17 a template of that name has to be in sight."""

_ERROR_AT = re.compile(r"^(op_kernel/[^\n:]+):(\d+):\d+: error", re.MULTILINE)

_TWICE = re.compile(r"redefinition of .(?:struct|class) (\w+)|reference to .(\w+). is ambiguous")
_KEY = r"TILING_KEY_IS\s*\(\s*[\w']+\s*\)"
_KEY_TEST = re.compile(rf"\bif(\s*\(\s*{_KEY}(?:\s*\|\|\s*{_KEY})*\s*\))")


def selecting_keys(source: str) -> str:
    """The source with tests of nothing but tiling keys made constant: what belongs to other keys is
    then checked, but its templates are not instantiated, which is most of a compilation."""
    return _KEY_TEST.sub(r"if constexpr\1", source)


def kernel_function(operator: Operator, source: str) -> GlobalFunction:
    """The kernel function in the entry source.

    Raises TrialFailure(COMPILE_ERROR) when there is none.
    """
    found = global_functions(source)
    named = [f for f in found if plain(f.name) == plain(operator.op_type)]
    own = [f for f in found if f.name == operator.name] or named or found
    if not own:
        raise TrialFailure(
            Outcome.COMPILE_ERROR,
            Refusal(
                sentence="The kernel source defines no __global__ function.",
                place=Place(file=operator.kernel_entry),
            ),
        )
    return own[0]


def kernel_include(operator: Operator) -> str:
    """The path by which a unit in the operator's folder includes its kernel: from there, or from
    the folder that everything is laid in, for a source that lies elsewhere than its name says."""
    entry = operator.kernel_entry
    return place_below(operator, entry) if operator.laid_elsewhere else entry


def translation_unit(operator: Operator, variant: KernelVariant, entry_source: str) -> str:
    """Text of the unit; it includes the kernel source by `kernel_include`."""
    name, parameters, marks, _ = kernel_function(operator, entry_source)
    given = template_list(variant)
    plain = bool(given) and has_plain_entry(name, entry_source)
    lines = variant_macros(operator, variant)
    lines += [f"#define {m} {n}" for m, n in LATER_DTYPES.items() if m in entry_source]
    lines += [unlisted()[name] for name in variant.unlisted]
    lines += [f"template <typename> void {name}() = delete;" for name in variant.called]
    entry = f"kernel_entry_{name}"
    spaces = qualified(entry_source, name).removesuffix(name)
    lines += [
        f"#define {name} {entry}",
        f'#include "{kernel_include(operator)}"',
        f"#undef {name}",
        *([f"using {spaces}{entry};"] if spaces else ()),
        *_same_struct(variant),
        *(_either(entry, given) if plain else ()),
        'extern "C" __attribute__((visibility("default"))) void ascendopt_entry(uint8_t** a) {',
        *_kernel_type(marks),
        *_call(operator, "ascendopt_either" if plain else entry + given, len(parameters)),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _kernel_type(marks: str) -> list[str]:
    """What the device's compiler makes of `__vector__`, `__cube__` and `__mix__(cubes, vectors)` at
    a kernel's head, as the statement that says the same."""
    mixed = re.search(r"\b__mix__(?:\s*\(\s*(\d)\s*,\s*(\d)\s*\))?", marks)
    cubes, vectors = (mixed[1] or "1", mixed[2] or "2") if mixed else ("0", "0")
    if "__vector__" in marks or (cubes, vectors) == ("0", "1"):
        return ["    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);"]
    if "__cube__" in marks or (cubes != "0" and vectors == "0"):
        return ["    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);"]
    return [f"    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_{vectors});"] if mixed else []


def _same_struct(variant: KernelVariant) -> list[str]:
    if not variant.tiling_bytes:
        return []
    return [
        f"static_assert(sizeof(AscendOptTilingData) == {variant.tiling_bytes},"
        ' "the kernel defines the tiling struct with another size than the host");'
    ]


def amended(operator: Operator, variant: KernelVariant, refusal: Refusal) -> KernelVariant | None:
    """The variant with what the compiler said that it lacks or has too much of; None where no
    amendment helps.

    A kernel that a program launches may have that program around it, which the device's half needs
    no header of."""
    missing = _TOOLKIT_HEADER if operator.launch is None else _HEADER
    header = missing.search(refusal.sentence)
    if header and header.group(1) not in variant.headers:
        return replace(variant, headers=(*variant.headers, header.group(1)))
    said = f"{refusal.sentence}\n{refusal.evidence}"
    called = [name for name in dict.fromkeys(_CALLED.findall(said)) if name not in variant.called]
    if called:
        return replace(variant, called=(*variant.called, *called))
    lacking = wanted(said)
    more = tuple(name for name in lacking if name not in variant.unlisted)
    if more:
        return replace(variant, unlisted=(*variant.unlisted, *more))
    if (NOT_THERE in said or NO_CONSTANT in said) and not variant.newer_language:
        return replace(variant, newer_language=True)
    if CHANGES_MEANING in refusal.sentence and not variant.changes_meaning:
        return replace(variant, changes_meaning=True)
    if operator.launch is not None:
        at = {(file, int(line)) for file, line in _ERROR_AT.findall(said)} - {*variant.refused_at}
        if at:
            return replace(variant, refused_at=(*variant.refused_at, *sorted(at)))
    return twice_defined(variant, refusal)


def twice_defined(variant: KernelVariant, refusal: Refusal) -> KernelVariant | None:
    """The variant for a kernel that defines a tiling struct which its host registers too, where the
    compiler said so; None where it said anything else. The operator compiler takes the kernel's.

    A kernel's in a namespace leaves no room for ours: the plain name would mean either."""
    found = _TWICE.search(refusal.sentence)
    if found is None:
        return None
    name = found.group(1) or found.group(2)
    ours = re.compile(
        rf"^struct alignas\(8\) {name} \{{.*?^\}};\nstatic_assert\(sizeof\({name}\) == (\d+)\);",
        re.MULTILINE | re.DOTALL,
    )
    size = ours.search(variant.tiling_declarations)
    if size is None:
        return None
    if found.group(2):
        used = variant.tiling_struct
        return replace(
            variant,
            tiling_declarations=ours.sub("", variant.tiling_declarations),
            tiling_struct="" if name == used else used,
        )
    return replace(
        variant,
        tiling_declarations=ours.sub(f"struct {name};", variant.tiling_declarations),
        tiling_bytes=int(size.group(1)) if name == variant.tiling_struct else variant.tiling_bytes,
    )


def has_plain_entry(name: str, entry_source: str) -> bool:
    """Whether the source defines the kernel as no template, for this chip or for another: some do
    although the host names template arguments."""
    text = without_comments(entry_source)
    for found in re.finditer(rf"__global__(?:[^;{{}}()]|__\s*\([^()]*\))*\b{name}\s*\(", text):
        head = re.split(r"[;}]|^\s*#.*$", text[: found.start()], flags=re.MULTILINE)[-1]
        if "template" not in head:
            return True
    return False


def _either(entry: str, given: str) -> list[str]:
    """A call with the template arguments where the kernel takes them, else without. A template
    that nothing matches makes the name one that may be asked."""
    return [
        f"template <typename T> void {entry}(T*****) = delete;",
        "template <typename, typename... A> struct AscendOptTakes : std::false_type {};",
        "template <typename... A> struct AscendOptTakes<",
        f"    std::void_t<decltype({entry}{given}(std::declval<A>()...))>, A...>",
        "    : std::true_type {};",
        "template <typename... A> __attribute__((always_inline)) inline void",
        "ascendopt_either(A... a) {",
        "    if constexpr (AscendOptTakes<void, A...>::value) {",
        f"        {entry}{given}(a...);",
        "    } else {",
        f"        {entry}(a...);",
        "    }",
        "}",
    ]


def variant_macros(operator: Operator, variant: KernelVariant) -> list[str]:
    """What the operator compiler fills in: tiling key, dtype macros, tiling structs."""
    lines = [f"#define ASCENDOPT_TILING_KEY {variant.tiling_key}"]
    lines += _dtype_macros(operator, variant)
    lines.append(variant.tiling_declarations)
    if variant.tiling_struct:
        lines.append(f"using AscendOptTilingData = {variant.tiling_struct};")
    return lines


def header_texts(variant: KernelVariant) -> dict[str, str]:
    """The headers to be laid where the unit is compiled, by path."""
    return dict.fromkeys(variant.headers, "#pragma once\n#include <kernel_operator.h>\n")


def template_list(variant: KernelVariant) -> str:
    """`<a, b>` behind the kernel's name, or nothing."""
    given = variant.template_arguments
    return f"<{', '.join(given)}>" if given else ""


def _call(operator: Operator, entry: str, count: int) -> list[str]:
    """The call of the kernel: tensors as they are, then the user's workspace and the tiling.

    Kernels that declare fewer parameters than tensors + 2 leave out the workspace, then tiling. One
    that tells the shape of an output gets room for it behind the outputs.
    """
    tensors = operator.declared_tensors
    shapes = len(operator.inputs) + len(operator.outputs)
    workspace = shapes + operator.tells_output_shape
    given = [f"a[{i}]" for i in range(min(tensors, count))]
    lines: list[str] = []
    if count >= tensors + 2:
        lines = [
            f"    AscendC::SetSysWorkspaceForce(a[{workspace}]);",
            # The operator build puts this before a kernel that multiplies: the cube core empties
            # the mailboxes and lets the vector cores go on.
            "#if defined(ASCENDOPT_REAL_HEADERS) && defined(REGIST_MATMUL_OBJ)",
            "#ifndef ASCENDC_CUBE_ONLY",
            f"    matmul::clearWorkspace(a[{workspace}]);",
            "#endif",
            "#endif",
        ]
        if count == tensors + 3 and operator.tells_output_shape:
            given.append(f"a[{shapes}]")
        given += [f"AscendC::GetUserWorkspace(a[{workspace}])", f"a[{workspace + 1}]"]
    elif count == tensors + 1:
        given.append(f"a[{workspace + 1}]")
    return [*lines, f"    {entry}({', '.join(given)});"]


def _dtype_macros(operator: Operator, variant: KernelVariant) -> list[str]:
    names = [t.name for t in (*operator.inputs, *operator.outputs)]
    lines = []
    # An output may bear an input's name (in-place operators); the operator compiler tells the two
    # apart by an ending.
    seen: set[str] = set()
    for name, dtype, form in zip(names, variant.dtypes, variant.formats, strict=True):
        word = name.upper()
        word += "_REF" if word in seen else ""
        if word in seen:
            continue
        seen.add(word)
        lines += [
            f"#define DTYPE_{word} {BY_NAME[dtype].kernel_type}",
            f"#define ORIG_DTYPE_{word} {BY_NAME[dtype].macro}",
            f"#define FORMAT_{word} FORMAT_{form}",
        ]
    return lines


def formats_of(operator: Operator, column: int) -> tuple[str, ...]:
    """Format of each input and output in a dtype column, ND where the definition says none."""
    return tuple(
        _pick(spec.formats, column, "ND") for spec in (*operator.inputs, *operator.outputs)
    )


def _pick(values: Sequence[str], column: int, otherwise: str) -> str:
    found = values[min(column, len(values) - 1)] if values else otherwise
    return found.removeprefix("ge::").removeprefix("FORMAT_")
