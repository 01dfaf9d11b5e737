import os
import subprocess
import sys
import venv
from pathlib import Path

import numpy as np
import pytest

from ci.model.dtypes import BY_NAME, from_bfloat16, pack, to_bfloat16, unpack
from ci.model.errors import InputError
from ci.model.workload import TensorCase, Workload, WorkloadCase
from ci.source.discovery import load_operator
from ci.source.golden import MOST_BYTES, Golden
from tests.ci.small_operator import DEFINITION, TILING, write_operator

pytestmark = pytest.mark.every_level


def workload(folder: Path, source: str, golden: str = "golden.py:f") -> Workload:
    (folder / "golden.py").write_text(source)
    case = WorkloadCase(name="c", inputs=(TensorCase(shape=(2,), dtype="bfloat16"),))
    return Workload(operator="Op", cases=(case,), golden=golden, folder=folder)


def case(dtype: str, output: str, shape: tuple[int, ...] = (2,)) -> WorkloadCase:
    return WorkloadCase(
        name="c",
        inputs=(TensorCase(shape=shape, dtype=dtype),),
        outputs=(TensorCase(shape=shape, dtype=output),),
        attrs={"scale": 2.0, "unused": 1},
    )


def test_bfloat16_comes_as_float32_and_goes_back_rounded(tmp_path: Path) -> None:
    golden = Golden(workload(tmp_path, "def f(x, scale):\n    return x * scale + 2**-12\n"))
    (out,) = golden.outputs(case("bfloat16", "bfloat16"), [to_bfloat16([1.0, 2.0])])
    assert isinstance(out, np.ndarray) and out.dtype == np.uint16
    assert from_bfloat16(out).tolist() == [2.0, 4.0]


def test_scipy_can_be_used(tmp_path: Path) -> None:
    source = "from scipy import special\n\ndef f(x):\n    return special.erf(x)\n"
    (out,) = Golden(workload(tmp_path, source)).outputs(case("float32", "float32"), [np.zeros(2)])
    assert isinstance(out, np.ndarray) and out.tolist() == [0, 0]


def test_equal_elements_keep_their_order_where_a_golden_sorts(tmp_path: Path) -> None:
    source = (
        "import numpy as np\n\ndef f(x):\n    return np.argsort(x), np.argsort(-x, kind=None)\n"
    )
    ties = np.arange(600, dtype=np.float32) // 7 % 3
    golden = Golden(workload(tmp_path, source))
    up, down = golden.outputs(case("float32", "int64", (600,)), [ties])
    np.testing.assert_array_equal(up, np.argsort(ties, kind="stable"))
    np.testing.assert_array_equal(down, np.argsort(-ties, kind="stable"))


def test_integers_are_rounded_and_saturated(tmp_path: Path) -> None:
    golden = Golden(workload(tmp_path, "def f(x):\n    return x * 100\n"))
    (out,) = golden.outputs(case("float32", "int8"), [np.array([1.3, 0.025], np.float32)])
    assert isinstance(out, np.ndarray) and out.tolist() == [127, 2]


def test_inputs_are_copies_that_a_golden_may_change(tmp_path: Path) -> None:
    golden = Golden(workload(tmp_path, "def f(x):\n    x += 1\n    return x\n"))
    x = np.zeros(2, np.float32)
    golden.outputs(case("float32", "float32"), [x])
    assert x.tolist() == [0, 0]


def test_exact_outputs_are_computed_and_left_in_float64(tmp_path: Path) -> None:
    golden = Golden(workload(tmp_path, "def f(x):\n    return x / 3\n"))
    given = case("bfloat16", "float16")
    (exact,) = golden.outputs(given, [to_bfloat16([1.0, 2.0])], exact=True)
    assert isinstance(exact, np.ndarray) and exact.tolist() == [1 / 3, 2 / 3]
    (whole,) = golden.outputs(case("float32", "int8"), [np.ones(2, np.float32)], exact=True)
    assert isinstance(whole, np.ndarray) and whole.dtype == np.int8


def test_without_a_declared_dtype_that_of_the_result_stands(tmp_path: Path) -> None:
    golden = Golden(workload(tmp_path, "def f(x):\n    return x > 0, [x, x]\n"))
    plain = WorkloadCase(name="c", inputs=(TensorCase(shape=(2,), dtype="float32"),))
    flags, items = golden.outputs(plain, [np.array([1, -1], np.float32)])
    assert isinstance(flags, np.ndarray) and flags.dtype == np.bool_
    assert isinstance(items, list) and len(items) == 2


def test_a_list_of_all_outputs_is_what_a_tuple_of_them_is(tmp_path: Path) -> None:
    host = DEFINITION.replace(
        'this->Attr("scale")',
        'this->Output("z").ParamType(REQUIRED)'
        '.DataType({ge::DT_FLOAT, ge::DT_FLOAT});\n this->Attr("scale")',
    )
    operator = load_operator(write_operator(tmp_path, host=TILING + host))
    assert len(operator.outputs) == 2
    golden = Golden(workload(tmp_path, "def f(x):\n    return [x, x[:1]]\n"), operator)
    plain = WorkloadCase(name="c", inputs=(TensorCase(shape=(2,), dtype="float32"),))
    found = golden.outputs(plain, [np.array([1, -1], np.float32)])
    assert [np.shape(one) for one in found] == [(2,), (1,)]


@pytest.mark.parametrize(
    ("source", "golden", "words"),
    [
        ("def f(x):\n    return x\n", "", "names no golden function"),
        ("def f(x):\n    return x\n", "golden.py", "not of the form"),
        ("def f(x):\n    return x\n", "lost.py:f", "there is no file"),
        ("def f(x):\n    return x\n", "golden.py:g", "defines no function 'g'"),
        ("def f(x:\n", "golden.py:f", "cannot be loaded: SyntaxError"),
        ("import no_such_package_here\n", "golden.py:f", "needs the Python package"),
    ],
)
def test_goldens_that_cannot_be_loaded(
    tmp_path: Path, source: str, golden: str, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        Golden(workload(tmp_path, source, golden))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def f(x):\n    return x[5]\n", "failed on case 'c' at line 2 of golden.py: IndexError"),
        ("def f(x, y):\n    return x\n", "cannot be called with the 1 inputs"),
        ("def f(x):\n    return x[:1]\n", "shape \\[1\\], but the case declares \\[2\\]"),
        ("def f(x):\n    return 'text'\n", "not an array of numbers"),
    ],
)
def test_goldens_that_fail_say_where(tmp_path: Path, source: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Golden(workload(tmp_path, source)).outputs(
            case("float32", "float32"), [np.zeros(2, np.float32)]
        )


def test_outputs_that_are_far_too_large_are_refused_and_spoil_no_other_case(
    tmp_path: Path,
) -> None:
    large = MOST_BYTES // 8 + 1
    source = f"import numpy as np\n\ndef f(x):\n    return np.zeros({large}) if x[0] else x\n"
    golden = Golden(workload(tmp_path, source))
    free = case("float32", "float32").model_copy(update={"outputs": ()})
    with pytest.raises(InputError, match="returned more than 1024 MiB for case 'c'"):
        golden.outputs(free, [np.ones(2, np.float32)])
    (out,) = golden.outputs(free, [np.zeros(2, np.float32)])
    assert isinstance(out, np.ndarray) and out.tolist() == [0, 0]


def test_parameters_named_like_the_inputs_may_stand_in_any_order(tmp_path: Path) -> None:
    host = (TILING + DEFINITION).replace('"mask"', '"alpha"')
    operator = load_operator(write_operator(tmp_path, host=host))
    source = "def f(alpha: float, weights, scale, x):\n    return x * alpha + scale\n"
    golden = Golden(workload(tmp_path, source), operator)
    plain = WorkloadCase(
        name="c",
        inputs=(
            TensorCase(shape=(2,), dtype="float32"),
            TensorCase(shape=(1,), dtype="uint8"),
            (TensorCase(shape=(2,), dtype="float32"),),
        ),
        attrs={"scale": 1.0},
    )
    x = np.array([1, 2], np.float32)
    (out,) = golden.outputs(plain, [x, np.array([3], np.uint8), [x]])
    assert isinstance(out, np.ndarray) and out.tolist() == [4, 7]


def test_int4_goes_in_and_comes_out_as_one_number_an_element(tmp_path: Path) -> None:
    golden = Golden(workload(tmp_path, "def f(x):\n    return x.astype(float) * 1.5\n"))
    packed = pack(np.array([-8, 3, 1]), BY_NAME["int4"])
    (out,) = golden.outputs(case("int4", "int4", (3,)), [packed])
    assert isinstance(out, np.ndarray) and out.dtype == np.uint8 and out.shape == (2,)
    assert unpack(out, BY_NAME["int4"])[:3].tolist() == [-8, 4, 2]
    unshaped = WorkloadCase(name="c", inputs=(TensorCase(shape=(3,), dtype="int4"),))
    operator = load_operator(write_operator(tmp_path / "operator"))
    spec = operator.outputs[0].model_copy(update={"dtypes": ("int4",)})
    quantized = operator.model_copy(update={"outputs": (spec,), "inputs": ()})
    with pytest.raises(InputError, match="int4: say its shape under the case's outputs"):
        Golden(workload(tmp_path, "def f(x):\n    return x\n"), quantized).outputs(
            unshaped, [packed]
        )


def test_a_golden_runs_where_the_environment_has_a_copy_of_the_interpreter(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", symlinks=False)
    folder = tmp_path / "operator"
    folder.mkdir()
    loaded = workload(folder, "def f(x):\n    return x\n").model_dump_json()
    code = (
        "from ci.source.golden import Golden; from ci.model.workload import Workload;"
        f"Golden(Workload.model_validate_json({loaded!r})).close()"
    )
    done = subprocess.run(
        [tmp_path / "venv/bin/python", "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
