"""Sorting becomes comparisons and folds: what numpy gives, of equal elements and NaN, too."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ci.create.golden_text import golden_text
from ci.create.graph import Graph
from ci.create.operator_files import Made, make
from ci.create.simplify import simplified
from ci.create.sorting import MOST_COUNTED, MOST_ROUNDS
from ci.create.task import task_of
from ci.model.errors import InputError
from tests.ci.create.traced import LocalTracer

WITHOUT_ORDER = np.array(
    [
        [3.0, 1.0, 3.0, -2.0, 1.0, 3.0, 0.0],
        [np.inf, -np.inf, 0.0, np.inf, -np.inf, 1.0, 2.0],
        [np.nan, 2.0, np.nan, 1.0, 2.0, 0.0, 1.0],
        [5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0],
    ]
)

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "in order": lambda x: np.sort(x, axis=-1),
    "places": lambda x: np.argsort(x, axis=1, kind="stable"),
    "down columns": lambda x: np.argsort(x, axis=0, kind="stable"),
    "from the end": lambda x: np.argsort(x, kind="stable")[:, ::-1],
    "smallest": lambda x: np.argsort(x, kind="stable")[:, :3],
    "largest": lambda x: np.argsort(x, kind="stable")[:, ::-1][:, :3],
    "last": lambda x: np.argsort(x, kind="stable")[:, -3:],
    "some in the middle": lambda x: np.sort(x)[:, 2:4],
    "two before the last": lambda x: np.sort(x)[:, -3:-1],
    "every other": lambda x: np.sort(x)[:, ::2],
    "ranks": lambda x: np.argsort(np.argsort(x, kind="stable"), kind="stable"),
    "median": lambda x: np.median(x, axis=-1),
    "median of all": lambda x: np.median(x[:2]),
    "third": lambda x: np.quantile(np.where(np.isfinite(x), x, 0.0), 1 / 3, axis=0),
    "of another": lambda x: np.take_along_axis(
        x[:, ::-1] * 2, np.argsort(x, kind="stable"), axis=1
    ),
    "few of another": lambda x: np.take_along_axis(
        x[:, ::-1] * 2, np.argsort(x, kind="stable")[:, :2], axis=1
    ),
}


def graph_of(function: Callable[[Any], Any], *shapes: tuple[int, ...]) -> Graph:
    """What a function is traced as, for inputs of these shapes."""
    given = [(shape, "float64") for shape in shapes]
    return simplified(LocalTracer(function).trace(given, {}, []))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_sorted_is_what_numpy_gives(name: str) -> None:
    function = FUNCTIONS[name]
    space: dict[str, Any] = {}
    exec(golden_text(graph_of(function, WITHOUT_ORDER.shape), ["x"], {}), space)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(space["golden"](WITHOUT_ORDER), function(WITHOUT_ORDER))


def made(function: Callable[..., Any], folder: Path, shape: list[int]) -> Made:
    """What `create` makes of a function of one input before it is built."""
    cases = [{"inputs": {"x": {"shape": shape, "dtype": "float32"}}}]
    (folder / "cases.yaml").write_text("{}")
    tracer = LocalTracer(function)
    task = task_of("", "sorted_out", {"cases": cases}, tracer.parameters, folder / "cases.yaml")
    return make(task, tracer)  # type: ignore[arg-type]


def few(x: Any, count: int = 3) -> Any:
    return np.sort(x, axis=-1)[..., :count]


def test_the_host_refuses_fewer_elements_than_are_taken_and_another_number(tmp_path: Path) -> None:
    guards = made(few, tmp_path, [4, 9]).layouts[0].guards
    told = {(op, left.name, right.constant) for op, left, right in guards}
    assert told >= {("ge", "x.1", 3.0), ("eq", "count", 3.0)}


def middle(x: Any) -> Any:
    return np.sort(x, axis=-1)[..., x.shape[-1] // 2]


def test_a_place_that_follows_the_length_is_asked_of_no_other_length(tmp_path: Path) -> None:
    guards = made(middle, tmp_path, [4, 9]).layouts[0].guards
    assert not [op for op, _, _ in guards if op == "eq"]


def marked(x: Any, places: Any) -> Any:
    found = np.zeros_like(x)
    np.put_along_axis(found, places, 1.0, axis=-1)
    return found


def test_the_host_asks_for_as_many_places_as_were_written() -> None:
    given = [((4, 9), "float32"), ((4, 2), "int64")]
    graph = LocalTracer(marked).trace(given, {}, [])
    sizes = [(op, graph.nodes[a].args, graph.nodes[b].params) for op, a, b in graph.guards]
    assert ("eq", (1,), {"value": 2.0}) in sizes


def test_what_is_not_followed_of_a_quantile_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="numpy.quantile with weights"):
        made(lambda x: np.quantile(x, 0.5, weights=x, method="linear"), tmp_path, [9])


def test_too_many_elements_are_refused_and_the_host_knows_how_many_are(tmp_path: Path) -> None:
    guards = made(lambda x: np.sort(x, axis=-1), tmp_path, [4, 9]).layouts[0].guards
    told = {(op, left.name, right.constant) for op, left, right in guards}
    assert ("le", "x.1", float(MOST_COUNTED)) in told
    with pytest.raises(InputError, match=f"sorts {MOST_COUNTED + 1} elements at a time"):
        made(lambda x: np.sort(x, axis=-1), tmp_path, [4, MOST_COUNTED + 1])


def test_a_sort_that_leaves_open_which_equal_element_comes_first_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="which of two equal elements"):
        made(lambda x: x.argsort(axis=-1), tmp_path, [4, 9])


@pytest.mark.parametrize(("count", "phases"), [(MOST_ROUNDS, 1), (MOST_ROUNDS + 1, 2)])
def test_a_few_are_found_one_after_the_other_and_more_by_counting(
    count: int, phases: int, tmp_path: Path
) -> None:
    program = made(lambda x: np.sort(x, axis=-1)[..., :count], tmp_path, [4, 40]).program
    assert len(program.phases) == phases
