"""Windows that numpy slides over a tensor are folds of it, or products with weights."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ci.create.emit_kernel import kernel_text
from ci.create.golden_text import golden_text
from ci.create.interpret import Tiles, run
from ci.create.layout import layout_of
from ci.create.lower import lower
from ci.create.schedule import program_of
from ci.create.simplify import simplified
from ci.model.errors import InputError
from tests.ci.create import goldens
from tests.ci.create.traced import LocalTracer

X = (2, 4, 7, 9)
TRACED = [
    ("convolved", (X, (5, 4, 3, 3), (5,))),
    ("windows_apart", (X, (5, 4, 3, 2))),
    ("each_channel", (X, (4, 3, 3))),
    ("contracted", (X, (5, 4, 3, 2))),
    ("filtered", ((60,), (5,))),
    ("in_volumes", ((2, 3, 4, 5, 6), (4, 3, 2, 3, 2))),
    ("convolved_and_normed", (X, (5, 4, 3, 3))),
    ("convolved_twice", (X, (5, 4, 3, 3), (3, 5, 3, 3))),
    ("convolved_and_pooled", ((2, 4, 21), (6, 4, 5))),
    ("smallest_around", ((3, 8, 11),)),
    ("mean_around", ((3, 4, 20),)),
]


@pytest.mark.parametrize(("name", "shapes"), TRACED, ids=[name for name, _ in TRACED])
def test_a_function_of_windows_computes_what_numpy_does(
    name: str, shapes: tuple[tuple[int, ...], ...]
) -> None:
    golden = getattr(goldens, name)
    tracer = LocalTracer(golden)
    graph = simplified(tracer.trace([(shape, "float32") for shape in shapes], {}, []))
    names = [parameter.name for parameter in tracer.parameters]
    layout = layout_of(graph, {i: (n, "T") for i, n in enumerate(names)}, [("y", "T")])
    stream = np.random.default_rng(4)
    arrays = [stream.normal(size=shape) for shape in shapes]
    attrs = {
        f"{n}.{a}": float(s)
        for n, shape in zip(names, shapes, strict=True)
        for a, s in enumerate(shape)
    }
    right = golden(*arrays)
    given = dict(zip(names, arrays, strict=True))
    (found,) = run(program_of(name, layout), layout, given, attrs, Tiles(2, 3))
    np.testing.assert_allclose(found.reshape(right.shape), right, rtol=1e-9, atol=1e-12)
    space: dict[str, Any] = {}
    exec(golden_text(graph, names, {}), space)
    np.testing.assert_allclose(space["golden"](*arrays), right, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("step", "pad", "apart", "more"),
    [((1, 1), (0, 0), (1, 1), (0, 0)), ((2, 3), (1, 0), (1, 2), (1, 0))],
)
def test_what_goes_back_through_windows_is_computed_tile_by_tile(
    step: Any, pad: Any, apart: Any, more: Any
) -> None:
    x, w = (np.random.default_rng(8).normal(size=s) for s in ((2, 1, 4, 4, 5), (1, 3, 4, 3, 2)))

    def spread(x: Any, w: Any) -> Any:
        return x.undots(w, step, pad, apart, more)

    graph = simplified(LocalTracer(spread).trace([(v.shape, "float32") for v in (x, w)], {}, []))
    layout = layout_of(graph, {0: ("x", "T"), 1: ("w", "T")}, [("y", "T")])
    attrs = {f"{n}.{a}": float(s) for n, v in (("x", x), ("w", w)) for a, s in enumerate(v.shape)}
    program = program_of("spread", layout)
    (found,) = run(program, layout, {"x": x, "w": w}, attrs, Tiles(2, 3))
    assert "Undots<" in kernel_text(lower(program), "title")
    space: dict[str, Any] = {}
    exec(golden_text(graph, ["x", "w"], {}), space)
    right = space["golden"](x, w)
    np.testing.assert_allclose(found.reshape(right.shape), right, rtol=1e-9, atol=1e-12)
    whole = [
        (n - 1) * s + (k - 1) * d + 1 + m
        for n, s, k, d, m in zip((4, 5), step, (3, 2), apart, more, strict=True)
    ]
    slow = np.zeros((2, 1, 3, *whole))
    for r, c, y, z in np.ndindex(4, 5, 3, 2):
        added = x[:, :, :, r, c] @ w[0, :, :, y, z].T
        slow[..., r * step[0] + y * apart[0], c * step[1] + z * apart[1]] += added
    inside = slow[..., pad[0] : whole[0] - pad[0], pad[1] : whole[1] - pad[1]]
    np.testing.assert_allclose(right, inside.reshape(right.shape), rtol=1e-9, atol=1e-12)


def slid(x: Any, *size: int, **more: Any) -> Any:
    return np.lib.stride_tricks.sliding_window_view(x, size, **more)


@pytest.mark.parametrize(
    ("function", "shapes", "says"),
    [
        (lambda x: slid(x, 3, axis=0).sum(-1), [(8, 5)], "other axes than the last"),
        (lambda x: slid(x, 3, 3, axis=(1, 0)).sum((2, 3)), [(8, 5)], "other axes than the last"),
        (lambda x: slid(x, 3, axis=1) * 2, [(8, 5)], "does more with windows"),
        (lambda x: slid(x, 3, axis=1).sum(0), [(8, 5)], "does more with windows"),
        (lambda x: slid(x, 3, axis=1)[:, 1:].sum(-1), [(8, 5)], "does more with windows"),
        (
            lambda x, w: np.einsum("nchwij,ijco->nohw", slid(x, 3, 3, axis=(2, 3)), w),
            [X, (3, 3, 4, 5)],
            "not the last ones of an input",
        ),
        (
            lambda x, w: np.einsum("nclk,ock->nol", slid(x, 3, axis=2), w * w),
            [(2, 4, 9), (5, 4, 3)],
            "weights that it has computed",
        ),
        (
            lambda x, w: np.einsum("nclk,ock->nol", slid(x, 9, axis=2), w),
            [(2, 4, 9), (5, 4, 9)],
            "leave one place",
        ),
    ],
)
def test_what_is_not_lowered_of_windows_is_said(
    function: Callable[..., Any], shapes: list[tuple[int, ...]], says: str
) -> None:
    tracer = LocalTracer(function)
    with pytest.raises(InputError, match=says):
        graph = tracer.trace([(shape, "float32") for shape in shapes], {}, [])
        names = {i: (p.name, "T") for i, p in enumerate(tracer.parameters)}
        program_of("made", layout_of(simplified(graph), names, [("y", "T")]))
