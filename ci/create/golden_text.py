"""A traced graph as a numpy function: the golden of an operator whose reference needs PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import getsource
from typing import Final

from ci.create.graph import DOTS, UNDOT, Graph, Node, further_numbers
from ci.create.layout import Shaper
from ci.create.scalars import Scalar
from ci.create.tracing.array import FOLDED_BY, NEUTRAL
from ci.create.tracing.window_values import products, spread_products, windows

_PRECISION: Final = "float_"
"""What the written function calls the dtype that it computes in."""
_SIGNS: Final = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "pow": "**",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
    "and": "&",
    "or": "|",
}
_CALLS: Final = {
    **{n: f"np.{n}" for n in ("exp", "log", "sqrt", "tanh", "square", "sign", "floor", "ceil")},
    **{n: f"np.{n}" for n in ("rint", "trunc", "log1p", "expm1", "exp2", "log2", "log10")},
    **{n: f"np.{n}" for n in ("sinh", "cosh", "sin", "cos", "logaddexp", "abs")},
    "max": "np.maximum",
    "min": "np.minimum",
    "erf": "erf",
    "erfc": "erfc",
    "neg": "np.negative",
    "not": "np.logical_not",
    "reciprocal": "1.0 / ",
    "where": "np.where",
}


def golden_text(graph: Graph, inputs: Sequence[str], attributes: dict[str, float | int]) -> str:
    """Python source of a function `golden` that computes what the graph says, in float64, and of
    `golden_in_float32`, which tells where float32 does not hold it."""
    shaper = Shaper(graph, dict(enumerate(inputs)))
    given = ", ".join([*inputs, *(f"{n}={v!r}" for n, v in attributes.items())])
    names = ", ".join([*inputs, *attributes])
    needed = graph.needed()
    lines = []
    for place, node in enumerate(graph.nodes):
        if place in needed:
            lines.append(f"    v{place} = {_text(node, place, inputs, shaper)}")
    gives = ", ".join(f"v{o}" for o in graph.outputs)
    erf = "from scipy.special import erf, erfc\n" if "erf" in "".join(lines) else ""
    called = (
        f for f in (windows, products, spread_products) if f" = {f.__name__}(" in "".join(lines)
    )
    needs = "".join(f"\n{getsource(f)}\n" for f in called)
    if needs:
        needs = f"from typing import Any\n{needs}"
    body = "\n".join(lines)
    return (
        '"""What the operator computes, in double precision."""\n\nimport numpy as np\n'
        f"{erf}{needs}\n\ndef golden({given}):\n    return computed(np.float64, {names})\n"
        f"\n\ndef golden_in_float32({given}):\n    return computed(np.float32, {names})\n"
        f"\n\ndef computed({_PRECISION}, {names}):\n{body}\n    return {gives}\n"
    )


def _text(node: Node, place: int, inputs: Sequence[str], shaper: Shaper) -> str:
    args = [f"v{a}" for a in node.args]
    match node.op:
        case "input":
            name = inputs[int(node.params["number"])]
            return f"{name}.astype({_PRECISION})" if node.dtype.startswith("float") else name
        case "const":
            return f"float({node.params['value']!r})"
        case "attr":
            return str(node.params["name"])
        case "rank":
            return f"{args[0]}.ndim"
        case "extent":
            return f"float(np.prod([{args[0]}.shape[a] for a in {list(node.axes())}]))"
        case "cast":
            to = _PRECISION if node.dtype.startswith("float") else repr(node.dtype)
            return f"np.asarray({args[0]}).astype({to})"
        case "copy":
            return args[0]
        case "rsqrt":
            return f"1.0 / np.sqrt({args[0]})"
        case "sigmoid":
            return f"1.0 / (1.0 + np.exp(-{args[0]}))"
        case "reshape":
            return f"{args[0]}.reshape(({_shape(shaper.shape(place))}))"
        case "broadcast":
            return f"np.broadcast_to({args[0]}, ({_shape(shaper.shape(place))}))"
        case "transpose":
            return f"np.transpose({args[0]}, {list(node.params['order'])})"
        case "slice":
            begin, end = (f"int(v{s})" for s in node.params["sizes"])
            before = "slice(None), " * node.axes()[0]
            return f"{args[0]}[({before}slice({begin}, {end}, {node.params['step']}),)]"
        case "gather":
            call = "np.take_along_axis" if node.params.get("each") else "np.take"
            return f"{call}({args[0]}, {args[1]}.astype(np.int64), axis={node.axes()[0]})"
        case "concat":
            return f"np.concatenate([{', '.join(args)}], axis={node.axes()[0]})"
        case "iota":
            (axis,) = node.axes()
            ones = ", ".join("-1" if a == axis else "1" for a in range(len(node.shape)))
            return f"np.arange({args[0]}.shape[{axis}]).reshape({ones})"
    if node.op.startswith("reduce_"):
        kind = node.op.removeprefix("reduce_")
        return f"np.{kind}({args[0]}, axis={node.axes()}, keepdims=True)"
    if node.op.startswith("scan_"):
        return _scan(node, args[0])
    if node.op in DOTS:  # summed over C already: the sum that follows finds one element
        words = ("step", "pad", *further_numbers(node.op))
        numbers = ", ".join(str(list(node.params[k])) for k in words)
        call = "spread_products" if node.op == UNDOT else "products"
        return f"{call}({args[0]}, {args[1]}, {numbers})"
    if node.op.startswith("window_"):
        fold = node.op.removeprefix("window_")
        fill = "0.0" if fold == "sum" else "-np.inf"
        numbers = ", ".join(str(list(node.params[k])) for k in ("size", "step", "pad"))
        return f"windows(np.{fold}, {args[0]}, {numbers}, {fill})"
    if node.op in _SIGNS:
        return f"{args[0]} {_SIGNS[node.op]} {args[1]}"
    return f"{_CALLS[node.op]}({', '.join(args)})"


def _scan(node: Node, arg: str) -> str:
    (axis,) = node.axes()
    kind = node.op.removeprefix("scan_")
    call = f"np.{FOLDED_BY[kind].__name__}.accumulate"
    back = node.params.get("reverse")
    given = f"np.flip({arg}, {axis})" if back else arg
    found = f"{call}({given}, axis={axis})"
    if node.params.get("exclusive"):
        neutral = f"float('{NEUTRAL[kind]}')"
        first = f"np.full_like(np.take({arg}, [0], {axis}), {neutral})"
        found = f"np.concatenate([{first}, np.delete({found}, -1, {axis})], axis={axis})"
    return f"np.flip({found}, {axis})" if back else found


def _shape(dims: Sequence[Scalar]) -> str:
    return "".join(f"{_number(d)}, " for d in dims)


def _number(scalar: Scalar) -> str:
    if scalar.op == "const":
        return str(int(scalar.value))
    if scalar.op == "attr":
        name, _, axis = scalar.name.partition(".")
        return f"{name}.shape[{axis}]" if axis else f"int({name})"
    if scalar.op == "floor":  # of a quotient, which is whole here
        return _number(scalar.args[0])
    signs = {"mul": "*", "div": "//", "add": "+", "sub": "-"}
    return f"({_number(scalar.args[0])} {signs[scalar.op]} {_number(scalar.args[1])})"
