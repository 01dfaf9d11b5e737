"""Knobs of the block dim: limits on the core count where the host tiling asks for it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from tree_sitter import Node

from ci.source.cpp_source import Source, ancestors, squeeze, walk
from ci.tiling.counting_calls import counting_call, only_given
from ci.tiling.limits import VALUE, Limit, at_most, limited
from ci.tiling.settled import SAID, settled
from ci.tiling.template import Kind, Knob

NO_CAP = 0
CORE_WORK = (
    0, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144,
)  # fmt: skip
"""Least elements of the input that is cut, a core: 128 is one 256-byte repeat of fp16."""

CORE_ROOT = (0, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
"""Elements that a core gets through while another one is started. Where starting n cores takes n
times as long as one, and each takes an n-th of the work, the root of (work / value) takes least:
hundreds where sines are computed, thousands where the memory bounds."""

ROW = 2048
"""Elements in whose time a kernel that goes row by row gets through the shortest row: two copies
and a few short instructions, half a microsecond in all."""

_SIZE = re.compile(r"(\w+)(?:\[\w+\])?\s*=[^;=]*\bGetShapeSize\(\)")
_ADDED = re.compile(r"(\w+)\s*\+=\s*([^;]+);")
_METHOD = re.compile(r"(\w+)::\w+\(")
_CORE_CALL = re.compile(r"^[\w.:()>\-]*\bGetCoreNum(?:Aiv|Aic|Vector)?\(\)$")
_CORE_NAME = re.compile(r"core_?num|num_?cores?|total_?core|ai[vc]_?num", re.I)
_COMPILED = re.compile(r"compile_?info\w*(?:->|\.)(\w+)$", re.I)
_NUMBER = re.compile(r"(\d+)[uUlL]*$")
_CAST = re.compile(r"^(?:static_cast<[\w:]+>|\((?:u?int\d+_t|int|unsigned)\))\(?(.*?)\)?$")
_ASKED = re.compile(
    r"(\w+)\s*->\s*(?:GetInput|GetOutput|GetAttrs|GetPlatformInfo|GetCompileInfo|SetBlockDim"
    r"|SetTilingKey|GetRawTilingData)"
)
_LIMITED = re.compile(
    r"^\(?(?:[\w>-]+\(\d+\)==nullptr\?[\w.\->]+GetCoreNum(?:Aiv|Aic|Vector)?\(\):)?"
    r"std::min<uint32_t>\([\w.\->]+GetCoreNum(?:Aiv|Aic|Vector)?\(\),(?P<limit>[^?:]+)\)\)?$"
)
_LOWERED = re.compile(
    r"^\(?(?:[\w>-]+\(\d+\)==nullptr\?[\w.\->]+GetCoreNum(?:Aiv|Aic|Vector)?\(\):)?"
    r"\[&\]\{uint32_t paying=[\w.\->]+GetCoreNum(?:Aiv|Aic|Vector)?\(\);"
    r"while\(paying>1&&static_cast<int64_t>\(paying\)\*paying\*(?P<value>\d+)>[^{}]*\)"
    r"\{paying-=1;\}return paying;\}\(\)\)?$"
)
_CALL = re.compile(r"[\w.>-]+GetCoreNum(?:Aiv|Aic|Vector)?\(\)")
_MADE = "GetOutputShape(0)->GetStorageShape().GetShapeSize()"


def elements_of(cut: int) -> str:
    """What the context tells of the amount of work: the elements of the input that is cut."""
    return f"GetInputShape({cut})->GetStorageShape().GetShapeSize()"


WHY_WORK = "Starting a core costs time, so each should have enough to do."
WHY_ROOT = "Starting a core costs time, so the work must grow faster than the number of cores."
_REMARK_READ = "At least {value} elements a core: starting one costs time."
_REMARK_MADE = "At least {value} elements of the output a core: starting one costs time."
_REMARK_ROWS = (
    "A core gets through {value} elements while another one starts, and a row takes as long as "
    f"{ROW} or more: as many as pay."
)
_REMARK_ROOT = "A core gets through {value} elements while another one starts: as many as pay."
WHY_CAP = "Fewer cores start faster and may divide the work more evenly."
_WHY = {
    "core_work": WHY_WORK, "core_root": WHY_ROOT, "core_rows": WHY_ROOT, "core_cap": WHY_CAP,
}  # fmt: skip
_VALUES = {"core_work": CORE_WORK, "core_root": CORE_ROOT, "core_rows": CORE_ROOT}
_WIDE = re.compile(r"auto|(?:std::)?(?:u?int64_t|size_t)")
_CHANGED = (
    r"(?<!&)&\s*NAME\b|\bNAME\s*(?:[-+*/%&|^]|<<|>>)?=[^=]"
    r"|(?:\+\+|--)\s*NAME\b|\bNAME\s*(?:\+\+|--)"
)
"""What may give a variable another value, of any variable of that name further down."""


def find_core_knobs(
    source: Source, path: str, caps: tuple[int, ...], cut: int, counting: Collection[str] = ()
) -> list[Knob]:
    """The limits on the core count, as statements of their own or within an expression.

    `caps` are the core counts worth trying, `cut` the number of the input that limits go by,
    `counting` the functions that limits are written behind: `counting_functions`.
    """
    return [
        *_core_knobs(source, path, caps, cut, counting),
        *_expression_core_knobs(source, path, caps, cut, counting),
    ]


def _core_knobs(
    source: Source, path: str, caps: tuple[int, ...], cut: int, counting: Collection[str]
) -> list[Knob]:
    """Limits by the work where the core count is asked for, or a cap where nothing tells the work.

    A limit by the work adapts to other shapes, a fixed one fits the workload's.
    """
    knobs = []
    for stored, statement, calls in _values_from(source, max(caps, default=0), counting):
        left, node = _where(source, stored, statement, cut, calls=calls)
        place, indent = node.end_byte, "\n" + source.indent(node.start_byte)
        limits = _limits(source, left, node, cut, calls=calls)
        for name, kind, limit in [*limits, ("cap", "core_cap", _cap(left))]:
            knob = limited(
                limit,
                source,
                place,
                indent,
                name=f"{left.split('.')[-1].split('->')[-1]}.{name}",
                kind=kind,
                file=path,
                values=_VALUES.get(kind, (NO_CAP, *caps)),
                decides="block_dim",
                why=_WHY[kind],
            )
            if kind != "core_cap" or not limits or knob.end > place:
                knobs.append(knob)
            place = knob.end
    return knobs


def _where(
    source: Source, stored: str, statement: Node, cut: int, *, calls: bool
) -> tuple[str, Node]:
    """The variable to limit, and the statement to do so behind: where a limit is already, else
    where the number of cores is settled."""
    places = [*settled(source, stored, statement)]
    for left, node in places:
        rest = source.shadow[node.end_byte :]
        limits = [limit for _, _, limit in _limits(source, left, node, cut, calls=calls)]
        if any(limit.after(rest) for limit in [*limits, _cap(left)]):
            return left, node
    return places[-1]


def _limits(
    source: Source, left: str, node: Node, cut: int, *, calls: bool
) -> list[tuple[str, Kind, Limit]]:
    """The limits by the work behind a statement; none where nothing tells it."""
    summed = _summed(source, node) if calls else ""
    if summed:
        return [("root", "core_root", Limit(_lowered(left, summed), _REMARK_ROOT))]
    context = context_name(source, node)
    return _by_work(source, node, left, context, cut) if context else []


def _by_work(
    source: Source, node: Node, left: str, context: str, cut: int
) -> list[tuple[str, Kind, Limit]]:
    """(name, kind, limit) by what is read, by what is made, by the root of what is read, and by the
    root of the rows that are made."""
    found: list[tuple[str, Kind, Limit]] = []
    lines: tuple[str, ...]
    for name, elements, remark in (
        ("work", elements_of(cut), _REMARK_READ),
        ("output", _MADE, _REMARK_MADE),
    ):
        total = f"{context}->{elements}"
        lines = at_most(left, f"{total} / {VALUE} + 1")
        found.append((name, "core_work", limit_by(lines, remark, source, node, total)))
    total = f"{context}->{elements_of(cut)}"
    root = limit_by(_lowered(left, total), _REMARK_ROOT, source, node, total, compared=True)
    found.append(("root", "core_root", root))
    made = f"{context}->GetOutputShape(0)"
    size = f"{made}->GetStorageShape().GetShapeSize()"
    # No quotient, no maximum and no test of the rank: what these compare with nobody would see go
    # the other way in an operator whose rows are never empty, or that takes no scalars.
    pays = f"static_cast<int64_t>({left}) * {left} * {VALUE}"
    lines = (
        "int64_t rowLength = 1;",
        f"for (size_t i = 0; i < {made}->GetStorageShape().GetDimNum(); i++) {{",
        f"    rowLength = {made}->GetStorageShape().GetDim(i);",
        "}",
        f"while ({left} > 1 && {pays} > {size} && {pays} * rowLength > {size} * {ROW}) {{",
        f"    {left} -= 1;",
        "}",
    )
    return [*found, ("rows", "core_rows", Limit(lines, _REMARK_ROWS, made))]


def _lowered(left: str, total: str) -> tuple[str, ...]:
    pays = f"{left} > 1 && static_cast<int64_t>({left}) * {left} * {VALUE} > {total}"
    return (f"while ({pays}) {{", f"    {left} -= 1;", "}")


def _cap(left: str) -> Limit:
    return Limit((f"if ({left} > {VALUE}) {{", f"    {left} = {VALUE};", "}"))


def _expression_core_knobs(
    source: Source, path: str, caps: tuple[int, ...], cut: int, counting: Collection[str]
) -> list[Knob]:
    """The same where the count goes into a const or into a call: one limit, in the expression.

    By the root of the work, or by the work where that is the limit which is there.
    """
    knobs: list[Knob] = []
    for node in walk(source.root):
        named = _core_expression(source, node)
        if named is None or any(k.start <= node.start_byte < k.end for k in knobs):
            continue  # or what a limit that was found limits
        name, value = named
        code = source.code(value)
        limited, lowered = _LIMITED.match(code), _LOWERED.match(code)
        if not limited and not lowered and not _CORE_CALL.search(code):
            continue
        if not limited and not lowered and counting_call(source, value, counting):
            continue  # the limit is behind the call
        call = _CALL.findall(source.of(value))[-1] if limited or lowered else source.of(value)
        context, summed = context_name(source, node), _summed(source, node)
        total = summed or (f"{context}->{elements_of(cut)}" if context else "")
        kind: Kind = "core_cap" if not total else "core_work" if limited else "core_root"
        asked = total and not summed and unasked_shape(source, node, total)
        total = name_of(source, node, total, compared=kind == "core_root") or total
        if kind == "core_root":
            form = _lowered_within(call, total, "\n" + source.indent(value.start_byte))
        else:
            form = (
                f"std::min<uint32_t>({call}, {f'{total} / {{value}} + 1' if total else '{value}'})"
            )
        if asked:
            form = f"{asked} == nullptr ? {call} : {form}"
        held = NO_CAP
        if limited:
            held = int(re.findall(r"\d+", limited.group("limit"))[-2 if total else -1])
        elif lowered:
            held = int(lowered.group("value"))
        knobs.append(
            Knob(
                name=f"{name}.{kind.removeprefix('core_')}",
                kind=kind,
                file=path,
                start=value.start_byte,
                end=value.end_byte,
                form=f"({form})" if asked and value.parent != node else form,
                values=_VALUES.get(kind, (NO_CAP, *caps)),
                written=held,
                decides="block_dim",
                why=_WHY[kind],
                neutral=NO_CAP,
                neutral_text=call,
            )
        )
    return knobs


def _lowered_within(call: str, total: str, indent: str) -> str:
    """The expression of a core count that a limit by the root of the work has lowered."""
    limit = f"paying > 1 && static_cast<int64_t>(paying) * paying * {{value}} > {total}"
    lines = [
        "[&] {",
        f"    uint32_t paying = {call};",
        f"    // {_REMARK_ROOT}",
        f"    while ({limit}) {{",
        "        paying -= 1;",
        "    }",
        "    return paying;",
        "}()",
    ]
    return indent.join(lines)


def _summed(source: Source, node: Node) -> str:
    """Name of the class member in which another method sums the tensors' elements; '' if none."""
    own = _class_of(source, node)
    sizes = set(_SIZE.findall(source.shadow))
    for function in source.functions if own else ():
        body = source.of(function.body)
        for found in _ADDED.finditer(body):
            name, added = str(found.group(1)), found.group(2)
            sum_of_sizes = "GetShapeSize" in added or sizes & set(re.findall(r"\w+", added))
            local = re.search(rf"\b\w+\s+{name}\s*(?:=[^=]|;|\{{)", body)
            if sum_of_sizes and not local and _class_of(source, function.body) == own:
                return name
    return ""


def _class_of(source: Source, node: Node) -> str:
    """The class of whose methods the node's function is one, defined outside of it; ''."""
    function = next((up for up in ancestors(node) if up.type == "function_definition"), None)
    declarator = function.child_by_field_name("declarator") if function is not None else None
    found = _METHOD.search(source.code(declarator)) if declarator is not None else None
    return str(found.group(1)) if found else ""


def limit_by(
    lines: Sequence[str],
    remark: str,
    source: Source,
    node: Node,
    total: str,
    *,
    compared: bool = False,
) -> Limit:
    """The limit behind `node` whose lines ask for `total`: by its name, where the source has one.

    `compared`: they compare it with a signed number.
    """
    named = total, name_of(source, node, total, compared=compared)
    return Limit(lines, remark, unasked_shape(source, node, total), named)


def name_of(source: Source, node: Node, expression: str, *, compared: bool = False) -> str:
    """The local variable that holds an expression from before `node` on; '' if there is none.

    It has 64 bits, and nothing else is assigned to it. One without a sign is cast if it is
    `compared`, which compilers would warn of.
    """
    inside = node
    for up in ancestors(node):
        if up.type == "compound_statement":
            before = [one for one in up.named_children if one.end_byte <= inside.start_byte]
            for declared in before:
                for kind, name in _held_by(source, declared, expression):
                    changed = _CHANGED.replace("NAME", name)
                    if not re.search(changed, source.shadow[declared.end_byte :]):
                        cast = compared and not kind.startswith(("auto", "int", "std::int"))
                        return f"static_cast<int64_t>({name})" if cast else name
        if up.type == "function_definition":
            break
        inside = up
    return ""


def _held_by(source: Source, declared: Node, expression: str) -> Iterator[tuple[str, str]]:
    """Type and name of a declaration's variables that begin with the value of an expression."""
    kind = declared.child_by_field_name("type")
    if declared.type != "declaration" or kind is None or not _WIDE.fullmatch(source.code(kind)):
        return
    for one in declared.children_by_field_name("declarator"):
        name, value = one.child_by_field_name("declarator"), one.child_by_field_name("value")
        if name is None or value is None or name.type != "identifier":
            continue
        if source.code(value) == squeeze(expression):
            yield source.code(kind), source.code(name)


def unasked_shape(source: Source, node: Node, total: str) -> str:
    """The shape that `total` asks, if the function has not asked it before the node; else ''.

    A framework may ask for a tiling without an input: what refuses such a request must not crash.
    """
    shape = total.split("->GetStorageShape")[0]
    function = next((up for up in ancestors(node) if up.type == "function_definition"), node)
    before = source.shadow[function.start_byte : node.start_byte]
    return "" if f"{shape}->" in before else shape


def _core_expression(source: Source, node: Node) -> tuple[str, Node] | None:
    """(name, expression) of a core count in the initialiser of a const or in an argument."""
    if node.type == "init_declarator" and node.parent is not None:
        left, right = node.child_by_field_name("declarator"), node.child_by_field_name("value")
        if left is None or right is None or not re.search(r"\bconst\b", source.code(node.parent)):
            return None
        return source.code(left), right
    up = node.parent
    if up is None or up.type != "argument_list" or up.parent is None:
        return None
    called = up.parent.child_by_field_name("function")
    if called is None or SAID.search(source.code(called)):
        return None
    return ("cores", node) if node.type in ("call_expression", "parenthesized_expression") else None


def _values_from(
    source: Source, most: int, counting: Collection[str]
) -> list[tuple[str, Node, bool]]:
    """(left side, statement, False) of the statements that store how many cores there are; where a
    counting function alone is given that number, (…, True) of the one that stores its answer."""
    found = []
    for node in walk(source.root):
        if node.type == "init_declarator":
            left, right = node.child_by_field_name("declarator"), node.child_by_field_name("value")
            holder = node.parent
        elif node.type == "assignment_expression":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            holder = node.parent
        else:
            if node.parent is not None and node.parent.type == "argument_list":
                counted = counting_call(source, node, counting)
                if counted and _is_core_count("", source.code(node), most):
                    found.append((*counted, True))
            continue
        if left is None or right is None or holder is None:
            continue
        if holder.type not in ("declaration", "expression_statement"):
            continue
        if any(up.type == "lambda_expression" for up in ancestors(holder)):
            continue  # a limit within an expression
        if re.search(r"\bconst(?:expr)?\b", source.code(holder)):
            continue
        if left.type in ("identifier", "field_expression"):
            name = source.code(left)
            if not _COMPILED.search(name) and _is_core_count(name, source.code(right), most):
                used = only_given(source, name, holder)
                counted = counting_call(source, used, counting) if used is not None else None
                found.append((*counted, True) if counted else (name, holder, False))
    return found


def _is_core_count(left: str, code: str, most: int) -> bool:
    """Whether a value is the number of cores there are.

    Asked of the platform, kept in the compile info, either of the two by a condition, or written
    out under a name that says so, as many as a device has.
    """
    cast = _CAST.match(code)
    if cast:
        code = cast.group(1)
    condition, question, values = code.partition("?")
    if question and condition:
        return all(_is_core_count(left, value, most) for value in values.split(":", 1))
    kept, number = _COMPILED.search(code), _NUMBER.fullmatch(code)
    if number:
        return bool(_CORE_NAME.search(left)) and most // 3 <= int(number.group(1)) <= most
    return bool(_CORE_CALL.search(code) or (kept and _CORE_NAME.search(kept.group(1))))


def context_name(source: Source, node: Node) -> str:
    """What the function around a node asks of shapes: the parameter or member; '' for nothing.

    A method that asks nothing itself asks what another method of its class asks.
    """
    for up in ancestors(node):
        if up.type == "function_definition":
            declarator = up.child_by_field_name("declarator")
            head = source.code(declarator) if declarator is not None else ""
            found = re.search(r"TilingContext\s*\*\s*(?:const\s+)?(\w+)", head)
            if found or "TilingParseContext" in head:
                return found.group(1) if found else ""
            members = re.findall(r"TilingContext\s*\*\s*(?:const\s+)?(\w+)\s*[;={]", source.shadow)
            asked = _ASKED.findall(source.of(up))
            return next((name for name in (*asked, *members) if name in members), "")
    return ""
