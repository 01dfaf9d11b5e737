"""What the families make of a workload when everything that they make is taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ci.judge.varied.base import Family, Known, tensors
from ci.judge.varied.lengths import Lengths, OwnThresholds
from ci.judge.varied.numbers import changed_numbers, tiling_numbers
from ci.judge.varied.structure import Dtypes, ListLengths, Presence, Rank
from ci.judge.varied.values import Attributes, GivenValues, Ranges
from ci.model.operator import AttrSpec, Operator
from ci.model.workload import AttrValue, TensorCase, Workload, WorkloadCase
from ci.testing.scale_shift import HOST, OPERATOR, changed

Shapes = list[tuple[int, ...]]


def case(*given: tuple[int, ...], dtype: str = "float32", name: str = "c") -> WorkloadCase:
    return WorkloadCase(name=name, inputs=tuple(TensorCase(shape=s, dtype=dtype) for s in given))


def known(
    *cases: WorkloadCase,
    takes: Callable[[WorkloadCase], bool] = lambda _: True,
    operator: Operator = OPERATOR,
    numbers: tuple[float, ...] = (),
) -> Known:
    workload = Workload(operator="X", cases=cases, folder=Path())
    return Known(operator, workload, takes, numbers, cores=4)


def made(family: Family, given: Known) -> list[WorkloadCase]:
    return [c for ladder in family.ladders(given) for c in ladder if given.takes(c)]


def shapes(family: Family, given: Known) -> list[Shapes]:
    return [[t.shape for t in tensors(c)] for c in made(family, given)]


def test_what_is_equal_in_every_case_changes_together() -> None:
    one, two = case((512, 1024), (768, 1024)), case((200, 200), (300, 200), name="d")
    found = shapes(Lengths(), known(one, two))
    assert [(512, 1025), (768, 1025)] in found
    assert [(513, 1024), (768, 1024)] in found
    assert [(201, 200), (300, 200)] in found  # not its columns, equal only by chance


def test_of_equal_dimensions_the_last_is_treated_as_last_too() -> None:
    found = shapes(Lengths(), known(case((512, 512), (512,))))
    assert [(512, 5121), (5121,)] in found
    assert [(5121, 512), (512,)] in found
    assert [(513, 513), (513,)] in found


def test_multiples_that_the_operator_wants_are_kept() -> None:
    def whole(one: WorkloadCase) -> bool:
        return all(length % 16 == 0 for t in tensors(one) for length in t.shape)

    found = {x[-1] for (x,) in shapes(Lengths(), known(case((64, 512)), takes=whole))}
    assert {528, 496, 512 * 10 + 16, 512 * 100} <= found


@pytest.mark.parametrize(("least", "axes"), [(16, [528]), (1000, [])])
def test_a_step_that_is_not_passed_is_noted_whether_or_not_a_longer_one_is(
    least: int, axes: list[int]
) -> None:
    given = known(case((512,)), takes=lambda c: tensors(c)[0].shape[0] % least == 0)
    assert [x[-1] for (x,) in shapes(Lengths(), given) if x[-1] == 528] == axes
    (longer,) = given.probed.values()
    assert [tensors(c)[0].shape[0] for c in longer][:2] == [513, 520]


def test_indices_stay_within_the_length_that_they_point_along() -> None:
    table = TensorCase(shape=(100, 8), dtype="float32")
    index = TensorCase(shape=(7,), dtype="int32", range=(-100, 99))
    one = WorkloadCase(name="c", inputs=(table, index), attrs={"depth": 100})
    shorter = next(c for c in made(Lengths(), known(one)) if tensors(c)[0].shape == (99, 8))
    assert tensors(shorter)[1].range == (-99, 98)
    assert shorter.attrs == {"depth": 99}


def test_tensors_of_given_values_keep_their_shapes() -> None:
    given = TensorCase(shape=(3,), dtype="int32", values=(0, 1, 2))
    one = WorkloadCase(name="c", inputs=(TensorCase(shape=(8, 3), dtype="float32"), given))
    found = shapes(Lengths(), known(one))
    assert found and all(index == (3,) for _, index in found)


@pytest.mark.parametrize(
    ("short", "long", "longer"),
    [((4, 24), (4, 48), [(4, 25), (4, 50)]), ((24, 4), (96, 4), [(25, 4), (100, 4)])],
)
def test_what_is_a_multiple_of_the_same_dimension_changes_with_it(
    short: tuple[int, ...], long: tuple[int, ...], longer: Shapes
) -> None:
    d = longer[0].index(25)

    def fit(one: WorkloadCase) -> bool:
        a, b = (t.shape for t in tensors(one))
        return b[d] * short[d] == a[d] * long[d] and a[1 - d] == b[1 - d]

    assert longer in shapes(Lengths(), known(case(short, long), takes=fit))


def test_a_tensor_with_one_value_for_all_changes_with_the_others() -> None:
    zeros = TensorCase(shape=(8,), dtype="int32", values=(0,))
    one = WorkloadCase(name="c", inputs=(TensorCase(shape=(8, 3), dtype="float32"), zeros))
    found = shapes(Lengths(), known(one))
    assert [(9, 3), (9,)] in found
    (first,) = OPERATOR.inputs
    read = first.model_copy(update={"value_depend": True})
    asking = OPERATOR.model_copy(update={"inputs": (first, read)})
    found = shapes(Lengths(), known(one, operator=asking))
    assert found and all(index == (8,) for _, index in found)


def test_sizes_are_made_around_the_numbers_of_the_changed_lines() -> None:
    candidate = changed("TILE_LENGTH = 1024", "TILE_LENGTH = (1 << 11) + 96 * 0x10", HOST)
    numbers = changed_numbers(OPERATOR, candidate.files)
    assert numbers == (2048, 1536)
    assert 1024 in tiling_numbers(OPERATOR)
    found = shapes(OwnThresholds(), known(case((16, 64)), numbers=numbers[:1]))
    assert [(2049, 64)] in found  # the dimension
    assert [(33, 64)] in found and [(32, 64)] in found  # the elements
    assert [(129, 64)] in found  # of each of four cores


@pytest.mark.parametrize(
    ("type_", "now", "others"),
    [
        ("bool", True, {False}),
        ("int", 3, {0, -3, 4, 6}),
        ("float", 0.5, {0.0, -0.5, 8.0}),
        ("list_int", (1, 2), {(2, 1), (0, 2), (1,), (1, 2, 0), (1, 2, 3)}),
        ("list_bool", (True,), {(False,), (True, False)}),
    ],
)
def test_attributes_take_other_values(type_: str, now: AttrValue, others: set[AttrValue]) -> None:
    attr = AttrSpec.model_validate({"name": "a", "type": type_})
    operator = OPERATOR.model_copy(update={"attrs": (attr,)})
    one = case((8, 8)).model_copy(update={"attrs": {"a": now}})
    given = known(one, operator=operator, numbers=(8.0,))
    found = {c.attrs["a"] for c in made(Attributes(), given)}
    assert others <= found
    assert now not in found


def test_a_number_of_a_list_is_longer_than_any_dimension_where_the_others_are_0() -> None:
    """A host side may hold a width against a length only where both sides have one."""
    spec = AttrSpec.model_validate({"name": "a", "type": "list_int"})
    operator = OPERATOR.model_copy(update={"attrs": (spec,)})
    own = case((4, 9)).model_copy(update={"attrs": {"a": (1, 2)}})
    found = {c.attrs["a"] for c in made(Attributes(), known(own, operator=operator))}
    assert {(10, 0), (0, 10)} <= found
    widths = TensorCase(shape=(2,), dtype="int64", values=(1, 2))
    both = own.model_copy(update={"inputs": (*own.inputs, widths)})
    given = [tensors(c)[1].values for c in made(GivenValues(), known(both))]
    assert (10, 0) in given
    assert (0, 10) in given


def test_tensors_of_a_list_get_shapes_of_their_own_however_many_the_case_has() -> None:
    for length in (1, 2):
        own = WorkloadCase(
            name="c", inputs=((TensorCase(shape=(4, 8), dtype="float32"),) * length,)
        )
        found = shapes(ListLengths(), known(own))
        for rest in ((4, 16), (8, 8), (8, 16), (4, 4), (2, 8)):
            assert [(4, 8), rest] in found


def test_lists_are_made_around_the_numbers_of_the_kernel() -> None:
    """It may keep room for so many tensors."""
    own = WorkloadCase(name="c", inputs=((TensorCase(shape=(4, 8), dtype="float32"),) * 2,))
    given = replace(known(own), kernel_constants=(3.0, 31.0, 0.5, 4096.0))
    lengths = {len(found) for found in shapes(ListLengths(), given)}
    assert lengths == {1, 2, 3, 5, 17, 31, 32}


def test_every_declared_dtype_is_tried_on_every_case() -> None:
    spec = OPERATOR.inputs[0].model_copy(update={"dtypes": ("float32", "float16", "bfloat16")})
    operator = OPERATOR.model_copy(update={"inputs": (spec,)})
    given = known(case((4, 8)), case((2, 9), dtype="float16", name="d"), operator=operator)
    found = [(c.inputs[0].shape, c.inputs[0].dtype) for c in made(Dtypes(), given)
             if isinstance(c.inputs[0], TensorCase) and "wider" not in c.name]  # fmt: skip
    assert found[:2] == [((4, 8), "bfloat16"), ((2, 9), "bfloat16")]  # what nobody tried is first
    assert set(found[2:]) == {((4, 8), "float16"), ((2, 9), "float32")}


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_an_input_that_is_left_out_is_given_as_long_as_another_one(dtype: str) -> None:
    spec = OPERATOR.inputs[0]
    optional = spec.model_copy(update={"param_type": "optional", "dtypes": (dtype,)})
    operator = OPERATOR.model_copy(update={"inputs": (spec, spec, optional)})
    given = [TensorCase(shape=shape, dtype="float32") for shape in ((4, 8), (8,))]
    for shape, shapes in (((0,), [(8,), (4, 8)]), ((3,), [(3,)])):
        left_out = TensorCase(shape=shape, dtype=dtype, present=False)
        own = WorkloadCase(name="c", inputs=(*given, left_out))
        asked = [c.inputs[2] for c in made(Presence(), known(own, operator=operator))]
        found = [one.shape for one in asked if isinstance(one, TensorCase) and one.present]
        assert found == ([] if dtype == "int32" and 0 in shape else shapes)
    undeclared = operator.model_copy(
        update={"inputs": (spec, spec, optional.model_copy(update={"dtypes": ()}))}
    )
    absent = TensorCase(shape=(0,), dtype="float16", present=False)
    own = WorkloadCase(name="c", inputs=(*given, absent))
    dtypes = {c.inputs[2].dtype for c in made(Presence(), known(own, operator=undeclared))
              if isinstance(c.inputs[2], TensorCase)}  # fmt: skip
    assert dtypes == {"float16"}


def test_ranks_change_with_the_elements_kept() -> None:
    found = shapes(Rank(), known(case((6, 4))))
    assert [(1, 6, 4)] in found and [(24,)] in found and [(2, 3, 4)] in found


def test_values_go_around_the_numbers_of_the_changed_lines_and_indices_below_and_beyond() -> None:
    index = TensorCase(shape=(7,), dtype="int32", range=(0, 63))
    one = WorkloadCase(name="c", inputs=(TensorCase(shape=(64, 8), dtype="float32"), index))
    found = [[t.range for t in tensors(c)] for c in made(Ranges(), known(one, numbers=(0.01,)))]
    assert [(-0.02, 0.02), (0, 63)] in found
    assert {index for _, index in found} >= {(-17, 63), (0, 80), (-17, 80)}


def test_the_first_input_is_moved_far_before_a_bias_is_moved_along() -> None:
    # Beside a bias that is moved as far, E[x²] - mean² in place of the variance is not seen.
    data = TensorCase(shape=(8, 64), dtype="float32", range=(-3, 3))
    bias = TensorCase(shape=(64,), dtype="float32", range=(-1, 1))
    one = WorkloadCase(name="c", inputs=(data, bias))
    ladder = [*Ranges().ladders(known(one))][1]
    moved = [[t.range[0] for t in tensors(c)] for c in ladder]
    assert moved[:3] == [[5997, -1], [597, -1], [57, -1]]
    assert [5997, 1999] in moved[3:]


@pytest.mark.parametrize("family", [Lengths(), Ranges(), Rank()])
def test_cases_that_differ_have_different_names(family: Family) -> None:
    # References and launches are kept by name.
    found = made(family, known(case((512, 512), (512,)), case((16, 8), (8,), name="d")))
    by_name = {c.name: c.model_copy(update={"name": ""}) for c in found}
    assert all(by_name[c.name] == c.model_copy(update={"name": ""}) for c in found)
