"""The numbers of a host tiling that a parametric step may set, with their ranges.

Found in the text, not configured: where the core count and the UB size are asked for, the
constants that the tiling uses, and the literals that UB is divided by. Of constants the name says
which are knobs, but for what shows in their use: a block dim is one whatever it is called, and what
is compared for equality, or divides a dimension of the request, is none. What a knob wrote into a
text that was merged since is found again as the same knob.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from tree_sitter import Node

from ci.source.cpp_source import Source, ancestors, identifiers, walk
from ci.tiling.core_counts import core_counts
from ci.tiling.core_knobs import (
    context_name,
    elements_of,
    find_core_knobs,
    limit_by,
)
from ci.tiling.limits import VALUE, Limit, at_most, limited
from ci.tiling.template import LARGEST_DIVISOR, Decides, Kind, Knob

UB_SHARES = 16
"""UB is shared out in sixteenths: one of them is a small tile for most kernels."""
UB_SHARE_VALUES = (1, 2, 3, 4, 6, 8, 10, 12, 14, 16)
UB_WORK = (0, 1, 2, 4, 8, 16, 32)
"""Bytes of UB for each element of the input that is cut: a tile of all there is takes 8 to 64."""
BUFFERS = (1, 2, 3, 4)
"""Buffers of a queue: a larger number of such a name is a size."""
LEAST_UB = 16384
"""Bytes of UB that the smallest input has, for what tilings hold back of it."""

_REMARK_UB = f"{VALUE} bytes an element beyond {LEAST_UB}: more cores share small inputs."
_UB_CALL = re.compile(r"GetCoreMemSize\(.*CoreMemType::UB,([\w.\->]+)\)$")
_NUMBER = re.compile(r"^(\d+)([uUlL]*)$")
_PRODUCT = re.compile(r"^\(?\d+[uUlL]*(?:\*\d+[uUlL]*)+\)?$")
_WANTED = re.compile(
    r"tile|buf(?:fer)?_?num|chunk|slice|split|factor|rows?|unroll|ub_?|loop|batch"
    r"|(?:max|min|base|proc|part|data|once|per)_?\w*(?:len|length|num|size|count|elem)"
    r"|core_?num|block_?dim|num_?blocks|used_?core|len(?:gth)?$|threshold",
    re.I,
)
_UNWANTED = re.compile(
    r"index|idx|dims?_|_dims?$|dim_?num|key|attr|d_?type|type_?size|bytes?_?len|sizeof|work_?space|align"
    r"|version|shape|input|output|fp16|fp32|bf16|float|half|block_?size|block_?bytes?|_per_block|mode"
    r"|offset|limit|error|invalid|param|^block_|int8|_ms$|version",
    re.I,
)
_BUFFER = re.compile(r"buf(?:fer)?_?num|double_?buf|queue_?depth", re.I)
_CORES = re.compile(r"core_?num|block_?dim|num_?blocks|used_?core", re.I)
_KEY_NAME = re.compile(r"key", re.I)
_BLOCK_DIM = re.compile(r"SetBlockDim\((\w+)\)$")
_DIMENSION = re.compile(r"[.>]GetDim\(\w+\)$")
_SUM = re.compile(r"[\w+*():]+")
_UB_NAME = re.compile(r"ub", re.I)


def find_knobs(
    source: Source,
    path: str,
    lines: Sequence[tuple[int, int]],
    device: str,
    cut: int,
    counting: Collection[str] = (),
) -> list[Knob]:
    """The knobs of one host source whose places lie within the given line runs.

    `cut` is the number of the input whose elements limits go by, `counting` the functions that
    limits on the cores are written behind.
    """
    caps = core_counts(device).steps()
    found = [
        *find_core_knobs(source, path, caps, cut, counting),
        *_ub_share_knobs(source, path, cut),
        *_constant_knobs(source, path, caps),
        *_divisor_knobs(source, path),
        *_block_dim_literals(source, path, caps),
    ]

    def inside(knob: Knob) -> bool:
        line = source.line(max(0, knob.start - 1))
        return any(first <= line <= last for first, last in lines)

    return [k for k in found if inside(k)]


def _ub_share_knobs(source: Source, path: str, cut: int) -> list[Knob]:
    """How much of UB the tile is computed from: smaller tiles overlap copies and computing.

    As a share of it, and in proportion to the work, which leaves the tiles of large inputs whole.
    """
    knobs = []
    for node in walk(source.root):
        if node.type != "expression_statement":
            continue
        found = _UB_CALL.search(source.code(node).rstrip(";"))
        if not found:
            continue
        variable = found.group(1)
        place, indent = node.end_byte, "\n" + source.indent(node.start_byte)
        name = variable.split(".")[-1].split("->")[-1]
        share = limited(
            Limit((f"{variable} = {variable} / {UB_SHARES} * {VALUE};",)),
            source,
            place,
            indent,
            name=f"{name}.share",
            kind="ub_share",
            file=path,
            values=UB_SHARE_VALUES,
            decides="partition",
            why="Several smaller tiles a core let copies run while the vector unit computes.",
            neutral=UB_SHARES,
        )
        knobs.append(share)
        context = context_name(source, node)
        if not context:
            continue
        total = f"{context}->{elements_of(cut)}"
        lines = at_most(variable, f"{total} * {VALUE} + {LEAST_UB}")
        knobs.append(
            limited(
                limit_by(lines, _REMARK_UB, source, node, total),
                source,
                share.end,
                indent,
                name=f"{name}.work",
                kind="ub_work",
                file=path,
                values=UB_WORK,
                decides="partition",
                why="Smaller tiles of a small input let more cores share it, or copies overlap.",
            )
        )
    return knobs


def _constant_knobs(source: Source, path: str, caps: tuple[int, ...]) -> list[Knob]:
    knobs = []
    blocks = _block_dims(source)
    none = (_summands_of_keys(source) | _numbering(source)) - blocks
    for node in walk(source.root):
        named = _constant(source, node)
        if named is None or named[0] in none:
            continue
        name, value_node, value, suffix = named
        wanted = _WANTED.search(name) and not _UNWANTED.search(name)
        if value == 0 or not (wanted or name in blocks):
            continue
        kind: Kind = "constant"
        values: tuple[int, ...] = ()
        decides: Decides = "partition"
        if _BUFFER.search(name) and value <= max(BUFFERS):
            values, decides = BUFFERS, "buffer_number"
        elif name in blocks or _CORES.search(name):
            kind, values, decides = "block_constant", caps, "block_dim"
        knobs.append(
            Knob(
                name=name,
                kind=kind,
                file=path,
                start=value_node.start_byte,
                end=value_node.end_byte,
                form="{value}" + suffix,
                values=values,
                written=value,
                decides=decides,
                why="",  # nothing but its name says what a constant is for
            )
        )
    return knobs


def _summands_of_keys(source: Source) -> frozenset[str]:
    """Names that tiling keys are added up from: they number kernels and measure nothing."""
    names: set[str] = set()
    for node in walk(source.root):
        if node.type in ("init_declarator", "assignment_expression"):
            left = node.child_by_field_name("declarator") or node.child_by_field_name("left")
            value = node.child_by_field_name("value") or node.child_by_field_name("right")
            keyed = left is not None and bool(_KEY_NAME.search(source.code(left)))
        elif node.type == "call_expression":
            called = node.child_by_field_name("function")
            value = node.child_by_field_name("arguments")
            keyed = called is not None and source.code(called).endswith("SetTilingKey")
        else:
            continue
        if keyed and value is not None and _SUM.fullmatch(source.code(value)):
            names |= identifiers(source.code(value))
    return frozenset(names)


def _block_dims(source: Source) -> frozenset[str]:
    """Names that are the block dim as they are."""
    calls = (source.code(n) for n in walk(source.root) if n.type == "call_expression")
    return frozenset(found.group(1) for code in calls if (found := _BLOCK_DIM.search(code)))


def _numbering(source: Source) -> frozenset[str]:
    """Names that something is equal to or not, and that dimensions of the request are divided by.

    Such a number tells things apart, or says what the operator means: the work is not cut by it.
    """
    names: set[str] = set()
    for node in walk(source.root):
        if node.type == "case_statement" and (value := node.child_by_field_name("value")):
            names.add(source.code(value))
        if node.type != "binary_expression":
            continue
        operation = node.child_by_field_name("operator")
        sides = [node.child_by_field_name(side) for side in ("left", "right")]
        if operation is None or None in sides:
            continue
        left, right = (source.code(side) for side in sides if side is not None)
        if operation.type in ("==", "!="):
            names |= {left, right}
        elif operation.type in ("/", "%") and _DIMENSION.search(left):
            names.add(right)
    return frozenset(names)


def _divisor_knobs(source: Source, path: str) -> list[Knob]:
    """Literals that a UB size is divided by, directly or through a variable."""
    divisors: set[str] = set()
    direct: list[Node] = []
    for node in walk(source.root):
        if node.type != "binary_expression":
            continue
        operation = node.child_by_field_name("operator")
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if operation is None or operation.type != "/" or left is None or right is None:
            continue
        if not _UB_NAME.search(source.code(left)):
            continue
        if right.type == "identifier":
            divisors.add(source.code(right))
        elif right.type == "number_literal":
            direct.append(right)
    knobs = [
        _divisor(source, path, node, "ubDivisor")
        for node in direct
        if not re.match(rf"{UB_SHARES} \*", source.shadow[node.start_byte :])
    ]
    for node in walk(source.root):
        name = _assigned_name(source, node)
        if name in divisors and not _unwanted_divisor(name):
            value = node.child_by_field_name("value") or node.child_by_field_name("right")
            literals = [n for n in walk(value) if n.type == "number_literal"] if value else []
            literals = [n for n in literals if not _in_condition(n)]
            if len(literals) <= 4:
                knobs += [_divisor(source, path, n, name) for n in literals]
    return [k for k in knobs if k is not None]


def _divisor(source: Source, path: str, node: Node, name: str) -> Knob | None:
    found = _NUMBER.match(source.code(node))
    if not found or not 2 <= int(found.group(1)) <= LARGEST_DIVISOR:
        return None
    return Knob(
        name=name,
        kind="divisor",
        file=path,
        start=node.start_byte,
        end=node.end_byte,
        form="{value}" + found.group(2),
        written=int(found.group(1)),
        decides="partition",
        why="UB is divided by this: more parts make smaller tiles, fewer make larger ones.",
    )


def _block_dim_literals(source: Source, path: str, caps: tuple[int, ...]) -> list[Knob]:
    knobs = []
    for node in walk(source.root):
        if node.type != "call_expression":
            continue
        found = re.search(r"SetBlockDim\((\d+)\)$", source.code(node))
        arguments = node.child_by_field_name("arguments")
        if found and arguments is not None and arguments.named_children:
            literal = arguments.named_children[0]
            knobs.append(
                Knob(
                    name="SetBlockDim",
                    kind="literal",
                    file=path,
                    start=literal.start_byte,
                    end=literal.end_byte,
                    form="{value}",
                    values=caps,
                    written=int(found.group(1)),
                    decides="block_dim",
                    why="The number of cores that share the work.",
                )
            )
    return knobs


def _constant(source: Source, node: Node) -> tuple[str, Node, int, str] | None:
    """(name, value node, value, suffix) of a numeric constant or `#define`."""
    if node.type == "preproc_def":
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    elif node.type == "init_declarator" and node.parent is not None:
        if not re.search(r"\bconst(expr)?\b", source.code(node.parent)):
            return None
        name, value = node.child_by_field_name("declarator"), node.child_by_field_name("value")
    else:
        return None
    if name is None or value is None:
        return None
    code = source.code(value)
    found = _NUMBER.match(code)
    if found:
        return source.code(name), value, int(found.group(1)), found.group(2)
    if _PRODUCT.match(code):
        total = 1
        for factor in re.findall(r"\d+", code):
            total *= int(factor)
        return source.code(name), value, total, ""
    return None


def _assigned_name(source: Source, node: Node) -> str:
    if node.type == "init_declarator":
        left = node.child_by_field_name("declarator")
    elif node.type == "assignment_expression":
        left = node.child_by_field_name("left")
    else:
        return ""
    return source.code(left) if left is not None else ""


def _unwanted_divisor(name: str) -> bool:
    return bool(re.search(r"type|byte|block|align|sizeof|int8|half|float", name, re.I))


def _in_condition(node: Node) -> bool:
    """Whether a literal only takes part in a comparison."""
    return any(
        up.type == "binary_expression"
        and any(c.type in ("==", "!=", "<", ">", "<=", ">=") for c in up.children)
        for up in ancestors(node)
    )
