"""Goldens become programs, and the programs, run tile by tile in numpy, compute what goldens do."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from ci.create.graph import LEAVES, Graph, Node
from ci.create.interpret import Tiles, run
from ci.create.layout import Layout, layout_of
from ci.create.schedule import program_of
from ci.create.simplify import simplified
from ci.create.tracer import Tracer
from ci.model.errors import InputError
from tests.ci.create import goldens
from tests.ci.system.levels import needs_hidden_files

FILE = Path(goldens.__file__)
Shapes = tuple[tuple[int, ...], ...]


@cache
def tracer(name: str) -> Tracer:
    return Tracer(FILE, name)


def traced(name: str, shapes: Shapes, **attrs: Any) -> Graph:
    found = tracer(name)
    known = [p.name for p in found.parameters[len(shapes) :]]
    return simplified(found.trace([(s, "float32") for s in shapes], attrs, known))


def layout(name: str, shapes: Shapes, **attrs: Any) -> Layout:
    graph = traced(name, shapes, **attrs)
    inputs = {i: (p.name, "T") for i, p in enumerate(tracer(name).parameters[: len(shapes)])}
    return layout_of(graph, inputs, [(f"y{i}", "T") for i in range(len(graph.outputs))])


@pytest.mark.few(10)
@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("gelu", ((7, 11),)),
        ("rms_norm_grad", ((7, 12), (7, 12), (12,))),
        ("attention", ((2, 6, 4), (2, 7, 4), (2, 7, 5))),
        ("causal_attention", ((2, 6, 4), (2, 6, 4), (2, 6, 5))),
        ("gated_by_keys", ((3, 7, 11), (3, 6, 11))),
        ("sum_before", ((5, 12),)),
        ("scaled_by_diagonal", ((6,), (6, 13))),
        ("by_own_diagonal", ((13, 13), (6, 13))),
        ("transposed_product", ((12, 7), (12, 5))),
        ("squeeze_and_excite", ((2, 6, 3, 5), (6, 4), (4, 6))),
        ("sums_each_way", ((2, 6, 13),)),
        ("sums_of_rows_and_columns", ((6, 13),)),
        ("total_variation", ((6, 13),)),
        ("product_normalized", ((7, 12), (5, 12))),
        ("of_two_lengths", ((4, 6), (4, 11))),
        ("leaky", ((3, 5, 7),)),
        ("softmax", ((5, 23),)),
        ("softmax", ((2, 4, 9),)),
        ("group_norm", ((3, 8, 13), (8,), (8,))),
        ("batch_norm", ((4, 6, 17),)),
        ("middle_product", ((3, 7, 12),)),
        ("cosine_loss", ((6, 19), (6, 19))),
        ("step", ((5, 14), (5, 14), (5, 14))),
        ("from_the_end", ((4, 12, 6),)),
        ("running", ((5, 12),)),
        ("is_large", ((5, 12),)),
        ("first_largest", ((5, 12),)),
        ("bounded", ((5, 12),)),
        ("columns_first", ((2, 7, 11), (11,))),
        ("columns_first", ((2, 11, 3), (3,))),
        ("heads_first", ((2, 3, 4, 5),)),
        ("turned_softmax", ((6, 13),)),
        ("turned_softmax", ((13, 6),)),
        ("sum_of_turned", ((5, 12), (12, 5))),
        ("rotary", ((2, 3, 5, 12), (5, 6), (5, 6))),
        ("rotary_of_whole", ((2, 5, 12), (5, 12), (5, 12))),
        ("gated", ((3, 4, 14),)),
        ("first_rows", ((3, 7, 5), (5,))),
        ("beside", ((4, 6), (4, 11))),
        ("on_top", ((4, 6), (4, 6))),
        ("of_class_token", ((3, 4, 5),)),
        ("normalized_parts", ((4, 6, 5),)),
        ("every_other", ((4, 14),)),
        ("every_third_row", ((3, 12, 7), (7,))),
        ("steps_of_steps", ((5, 22),)),
        ("rotary_of_pairs", ((2, 5, 14), (5, 7), (5, 7))),
        ("pairs_of_whole", ((2, 5, 14), (5, 14), (5, 14))),
        ("rows_in_turn", ((4, 7), (4, 7))),
    ],
)
def test_a_program_computes_what_its_golden_does(name: str, shapes: Shapes) -> None:
    made = layout(name, shapes)
    stream = np.random.default_rng(3)
    inputs = [stream.uniform(0.5, 1.5, s) for s in shapes]
    function: Callable[..., Any] = getattr(goldens, name)
    right = function(*inputs)
    attrs = {p.name: float(p.default or 0) for p in tracer(name).parameters[len(shapes) :]}
    attrs |= {
        f"{t.name}.{axis}": n
        for t, shape in zip(made.inputs, shapes, strict=True)
        for axis, n in enumerate(shape)
    }
    named = {t.name: v for t, v in zip(made.inputs, inputs, strict=True)}
    for tiles in (Tiles(3, 5), Tiles(100, 100), Tiles(1, 2)):
        found = run(program_of(name, made), made, named, attrs, tiles)
        for one, wanted in zip(found, right if isinstance(right, tuple) else [right], strict=True):
            np.testing.assert_allclose(one.reshape(np.shape(wanted)), wanted, rtol=1e-9)


def test_the_largest_element_is_an_infinity_or_the_first_that_is_no_number() -> None:
    made = layout("first_largest", ((3, 4),))
    x = np.array([[1, np.inf, 2, np.inf], [-np.inf] * 4, [3, np.inf, np.nan, np.nan]])
    attrs = {"x.0": 3.0, "x.1": 4.0}
    (found,) = run(program_of("first_largest", made), made, {"x": x}, attrs, Tiles(2, 4))
    np.testing.assert_array_equal(found.reshape(3), goldens.first_largest(x))


def test_sines_of_many_turns_are_right_to_a_unit_of_float32() -> None:
    made = layout("waves", ((40, 50),))
    x = np.random.default_rng(3).uniform(-100, 100, (40, 50))
    attrs = {"x.0": 40.0, "x.1": 50.0}
    (found,) = run(program_of("waves", made), made, {"x": x}, attrs, Tiles(7, 11))
    np.testing.assert_allclose(found.reshape(x.shape), goldens.waves(x), atol=2e-7)


def test_windows_of_an_input_fold_as_numpy_does() -> None:
    found = Graph(
        nodes=(
            Node(op="input", shape=(2, 6, 7), dtype="float32", params={"number": 0}),
            Node(
                op="window_max",
                args=(0,),
                shape=(2, 3, 4),
                dtype="float32",
                params={"axes": [1, 2], "size": [3, 2], "step": [2, 2], "pad": [1, 1]},
            ),
        ),
        outputs=(1,),
    )
    made = layout_of(found, {0: ("x", "T")}, [("y", "T")])
    x = np.random.default_rng(2).normal(size=(2, 6, 7))
    (y,) = run(program_of("pool", made), made, {"x": x}, {}, Tiles(2, 3))
    padded = np.pad(x, [(0, 0), (1, 1), (1, 1)], constant_values=-np.inf)
    right = [
        [
            [padded[n, 2 * r : 2 * r + 3, 2 * c : 2 * c + 2].max() for c in range(4)]
            for r in range(3)
        ]
        for n in range(2)
    ]
    np.testing.assert_array_equal(y.reshape(2, 3, 4), right)


def test_an_element_picked_by_an_index_is_a_masked_sum() -> None:
    found = tracer("picked").trace([((4, 9), "float32"), ((4,), "int32")], {}, [])
    made = layout_of(found, {0: ("x", "T"), 1: ("label", "int32")}, [("y", "T")])
    x, label = np.random.default_rng(0).normal(size=(4, 9)), np.array([0, 8, 3, 5])
    (y,) = run(program_of("picked", made), made, {"x": x, "label": label}, {})
    np.testing.assert_allclose(y, x[np.arange(4), label])


def test_the_program_does_not_depend_on_the_rank_of_what_it_treats_as_rows() -> None:
    assert layout("softmax", ((5, 23),)).text() == layout("softmax", ((2, 3, 4, 23),)).text()


def test_a_number_of_the_golden_and_an_attribute_stay_apart() -> None:
    assert "slope" in layout("leaky", ((9,),), slope=0.25).text()
    assert "0.25" not in layout("leaky", ((9,),), slope=0.25).text()


def test_a_reduction_to_one_number_makes_all_cores_meet() -> None:
    text = program_of("step", layout("step", ((5, 14),) * 3)).text()
    assert text.count("all cores meet") == 1
    assert text.count("for all cores") == 2


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("decides", "decides by a value"),
        ("searches", "sorts or searches"),
        pytest.param("reads_secrets", "cannot be traced", marks=needs_hidden_files),
        ("nothing_of_this_name", "defines no function"),
    ],
)
def test_what_cannot_be_traced_is_said_in_a_sentence(name: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        Tracer(FILE, name).trace([((4, 4), "float32")], {}, [])


@pytest.mark.parametrize(
    "node",
    [
        {"op": "system", "dtype": "float32"},
        {"op": "attr", "dtype": "float64", "params": {"name": "x; rm"}},
        {"op": "const", "dtype": "float64", "params": {"value": "1; rm"}},
        {"op": "exp", "args": [1], "dtype": "float32"},
        {"op": "input", "shape": [4], "dtype": "object", "params": {"number": 0}},
        {
            "op": "input",
            "shape": [4],
            "dtype": "float32",
            "params": {"number": 0, "again": "x; rm"},
        },
        {"op": "transpose", "shape": [4, 4], "dtype": "float32", "params": {"order": [0, "x"]}},
        {"op": "reduce_sum", "dtype": "float32", "params": {"axes": [[]]}},
        {"op": "sort", "dtype": "float32", "params": {"axis": None, "places": True}},
    ],
)
def test_a_graph_that_a_hostile_function_made_up_is_refused(node: dict[str, Any]) -> None:
    given = {"op": "input", "shape": [4, 4], "dtype": "float32", "params": {"number": 0}}
    args = [] if node["op"] in LEAVES else [0]
    with pytest.raises(ValidationError):
        Graph(nodes=(given, {"args": args, **node}), outputs=(1,))  # type: ignore[arg-type]


def test_a_quotient_that_is_rounded_is_divided_for() -> None:
    made = layout("whole_times", ((3, 4), (3, 1)))
    y = np.array([[49], [3], [7]], np.float32)
    x = y * np.array([[1, 2, 49, 98], [49, 98, 147, 1], [7, 14, 49, 98]], np.float32)
    attrs = {"x.0": 3.0, "x.1": 4.0, "y.0": 3.0}
    (found,) = run(program_of("whole_times", made), made, {"x": x, "y": y}, attrs, Tiles(2, 4))
    np.testing.assert_array_equal(found, goldens.whole_times(x, y))


def test_a_range_in_steps_backwards_is_refused() -> None:
    with pytest.raises(InputError, match="in steps of -2; a tensor is read forwards"):
        layout("backwards", ((4, 6),))


def test_inputs_say_the_lengths_of_what_takes_turns() -> None:
    made = layout("pairs_of_whole", ((2, 5, 14), (5, 14), (5, 14)))
    said = {"x.0": 3.0, "x.1": 5.0, "x.2": 20.0, "cos.1": 20.0, "sin.1": 20.0}
    assert [g.size.evaluate(said, {}) for g in made.groups[-2:]] == [10, 20]


def test_a_range_in_steps_is_as_long_as_the_shape_says() -> None:
    made = layout("every_other", ((4, 14),))
    lengths = {g.name: g.size.evaluate({"x.0": 4.0, "x.1": 15.0}, {}) for g in made.groups}
    ((group, other),) = made.checks
    assert (lengths[group], other.evaluate({"x.1": 15.0}, {})) == (8, 7)  # the host refuses 15


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("raise SystemExit(0)", "cannot be loaded: SystemExit"),
        ("import no_such_package", "needs the Python package 'no_such_package'"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_said_in_a_sentence(
    tmp_path: Path, text: str, says: str
) -> None:
    file = tmp_path / "golden.py"
    file.write_text(f"{text}\n")
    with pytest.raises(InputError, match=says):
        Tracer(file, "f")
