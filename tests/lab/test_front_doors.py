"""Kernels through real headers: a miniature tree in the manner of a toolkit's device path."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ci.backend import make_backend
from ci.backend.sim import SimulatorBackend
from ci.host.door import open_door, own_headers
from ci.host.door.device_path import real_headers
from ci.host.door.header_tree import chosen_headers, find_header_tree
from ci.host.door.kernel_tiling import tiling_header
from ci.host.door.tiling_library import uses_library
from ci.model.errors import InputError, TrialFailure
from ci.model.trial import Candidate, Outcome
from ci.source.inputs import draw_inputs
from ci.testing.scale_shift import FOLDER, HOST, OPERATOR, WORKLOAD, changed, with_statement
from lab.compare_doors import CaseComparison, Through, compare, summary
from tests.places import HEADER_TREE

TREE = HEADER_TREE
SCALARS_ARE_ORDERED = (
    "SetFlag<HardEvent::V_S>(EVENT_ID1); WaitFlag<HardEvent::V_S>(EVENT_ID1);",
    "SetFlag<HardEvent::S_V>(EVENT_ID1); WaitFlag<HardEvent::S_V>(EVENT_ID1);",
)

Expected = dict[int, Callable[[npt.NDArray[np.float32]], float]]
"""Elements of the output that scalar code changed, from those of the plain kernel."""


@pytest.fixture(scope="module")
def backend() -> SimulatorBackend:
    """The simulator behind the miniature tree."""
    return SimulatorBackend("910B4", door=real_headers(TREE))


def given() -> npt.NDArray[np.float32]:
    values = draw_inputs(WORKLOAD.cases[0], WORKLOAD.seeds[0])[0]
    assert isinstance(values, np.ndarray)
    return np.asarray(values, dtype=np.float32)


def run(backend: SimulatorBackend, files: dict[str, str]) -> npt.NDArray[np.float32]:
    """The output of the first case, in one dimension."""
    build = backend.build(OPERATOR, files, WORKLOAD)
    done = build.run(WORKLOAD.cases[0], [given()], [np.empty_like(given())]).outputs[0]
    assert isinstance(done, np.ndarray)
    return np.asarray(done, dtype=np.float32).reshape(-1)


def with_scalars(body: str) -> Candidate:
    """The kernel with scalar code on its output between the computation and the copy out."""
    after = "            Adds(out, out, 1.0f, tileLength_);\n"
    to_scalar, to_vector = SCALARS_ARE_ORDERED
    there = f"{after}            {to_scalar}\n            {body}\n            {to_vector}\n"
    # The vector unit passes the order on to the copy.
    return changed(after, f"{there}            Muls(out, out, 1.0f, tileLength_);\n")


def test_a_kernel_computes_and_issues_the_same_through_both_doors() -> None:
    rows = list(compare(FOLDER, None, "910B4", (own_headers(), real_headers(TREE))))
    assert [row.case for row in rows] == [case.name for case in WORKLOAD.cases]
    for row in rows:
        assert row.own.verified and row.real.verified, row
        assert row.same_outputs and row.same_counts, row


def test_the_judge_holds_on_the_other_door(backend: SimulatorBackend) -> None:
    wait = "            WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);\n"
    unordered = changed(wait, "").files
    with pytest.raises(TrialFailure) as found:
        run(backend, unordered)
    assert found.value.outcome is Outcome.RACE
    far = with_scalars("PipeBarrier<PIPE_V>(); Muls(in, out[48 * 1024], 1.0f, 64);").files
    with pytest.raises(TrialFailure) as found:
        run(backend, far)
    assert found.value.outcome is Outcome.MEMORY_ERROR
    assert found.value.refusal.place.file == "op_kernel/scale_shift.cpp"


def test_an_instruction_that_the_machine_lacks_is_named(backend: SimulatorBackend) -> None:
    with pytest.raises(TrialFailure) as found:
        run(backend, with_statement("set_aipp_spr_0(1);").files)
    assert found.value.outcome is Outcome.REJECTED
    assert "set_aipp_spr_0" in found.value.refusal.message


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("out.SetValue(5, out.GetValue(4) + 1);", {5: lambda y: y[4] + 1}),
        ("out(7) = 3.0f;", {7: lambda y: 3}),
        # Plain pointers hold offsets: nothing is mapped there on this computer.
        (
            "auto p = reinterpret_cast<__ubuf__ float*>(out.GetPhyAddr()); p[3] = p[2] * 4;",
            {3: lambda y: y[2] * 4},
        ),
        (
            "auto p = reinterpret_cast<__ubuf__ uint8_t*>(out.GetPhyAddr());"
            " for (int i = 0; i < 4; ++i) { p[i + 8] = p[i]; } p[15] ^= 0x80;",
            {2: lambda y: y[0], 3: lambda y: -y[3]},
        ),
        (
            "auto p = reinterpret_cast<__ubuf__ int32_t*>(out.GetPhyAddr()); p[6] += p[9];"
            " p[6] -= p[9]; reinterpret_cast<__ubuf__ double*>(p)[0] = 0.0;",
            {0: lambda y: 0, 1: lambda y: 0, 6: lambda y: y[6]},
        ),
        (
            "struct Part { float values[40]; };"
            " auto p = reinterpret_cast<__ubuf__ Part*>(out.GetPhyAddr()); p[1] = p[0];",
            {40 + i: lambda y, i=i: y[i] for i in range(40)},
        ),
        (
            "auto p = reinterpret_cast<__ubuf__ float*>(out.GetPhyAddr());"
            " memset(p, 0, 12); memcpy(p + 4, p + 8, 8);",
            {**dict.fromkeys(range(3), lambda y: 0), 4: lambda y: y[8], 5: lambda y: y[9]},
        ),
    ],
)  # fmt: skip
def test_scalar_code_reads_and_writes_at_true_offsets(
    backend: SimulatorBackend, body: str, expected: Expected
) -> None:
    tile = run(backend, {})[:80]
    done = run(backend, with_scalars(body).files)
    want = tile.copy()
    for index, value in expected.items():
        want[index] = value(tile)
    np.testing.assert_array_equal(done[:80], want)


def test_the_lowest_local_address_can_be_read(backend: SimulatorBackend) -> None:
    body = "auto p = reinterpret_cast<__ubuf__ float*>(in.GetPhyAddr()); out.SetValue(0, *p);"
    assert run(backend, with_scalars(body).files)[0] == given().reshape(-1)[0]


def test_the_address_of_an_overloaded_function_can_be_taken(backend: SimulatorBackend) -> None:
    tensor = "const LocalTensor<float>&"
    take = f"void (*twice)({tensor}, {tensor}, const float&, const int32_t&) = Muls;"
    after = "            Adds(out, out, 1.0f, tileLength_);\n"
    barrier = "            PipeBarrier<PIPE_V>();\n"
    use = f"{after}{barrier}            {take}\n            twice(out, out, 2.0f, tileLength_);\n"
    np.testing.assert_array_equal(run(backend, changed(after, use).files), 2 * run(backend, {}))


def test_soft_synchronisation_is_a_meeting_of_the_cores(backend: SimulatorBackend) -> None:
    everyone = with_statement("SoftSyncAllImpl<true>(nullptr, nullptr, 0);").files
    np.testing.assert_array_equal(run(backend, everyone), run(backend, {}))
    too_many = with_statement("SoftSyncAllImpl<true>(nullptr, nullptr, get_block_idx() + 2);")
    with pytest.raises(TrialFailure, match="deadlock"):
        run(backend, too_many.files)


def test_the_counter_of_the_chip_goes_on_while_scalar_code_runs(backend: SimulatorBackend) -> None:
    work = "int32_t sum = 0; for (int i = 0; i < 4000; ++i) { sum += out.GetValue(i % 8) > 0; }"
    body = (
        f"const int64_t before = GetSystemCycle(); {work} const int64_t ticks ="
        " GetSystemCycle() - before; out.SetValue(0, float(ticks)); out.SetValue(1, float(sum));"
    )
    ticks, ones = run(backend, with_scalars(body).files)[:2]
    assert ones > 0
    # 4000 elements of some ten cycles, a tick of 50 MHz being 33 cycles of 1650 MHz.
    assert 4000 / 33 < ticks < 4000 * 100 / 33


def test_measurements_name_the_headers(backend: SimulatorBackend, tmp_path: Path) -> None:
    own = SimulatorBackend("910B4").fingerprint()
    real = backend.fingerprint()
    assert own.headers == "own"
    assert real.headers == find_header_tree(TREE).name
    assert real.headers.startswith("header_tree ")
    assert real.version != own.version
    copied = tmp_path / "header_tree"
    for path in TREE.rglob("*.h"):
        place = copied / path.relative_to(TREE)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(path.read_text())
    (copied / "impl/basic_api/vector_impl.h").open("a").write("// another\n")
    changed_tree = SimulatorBackend("910B4", door=real_headers(copied)).fingerprint()
    assert changed_tree.headers != real.headers
    assert changed_tree.version != real.version


def test_a_folder_without_headers_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no AscendC headers: neither an asc-devkit"):
        find_header_tree(tmp_path)
    with pytest.raises(InputError, match="not a folder"):
        make_backend("sim", "910B4", asc_headers=str(tmp_path / "none"))
    with pytest.raises(InputError, match="belongs to the simulator"):
        make_backend("replay", "910B4", asc_headers=str(TREE))


@pytest.mark.parametrize("below", ["x86_64-linux/asc", "compiler/tikcpp/tikcfw", ""])
def test_a_toolkit_is_recognised_wherever_it_keeps_its_headers(below: str, tmp_path: Path) -> None:
    api = tmp_path / below
    (api / "impl").mkdir(parents=True)
    (api / "kernel_operator.h").write_text("")
    assert find_header_tree(tmp_path).api == api


def test_the_option_counts_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASCENDOPT_ASC_HEADERS", raising=False)
    monkeypatch.delenv("ASCEND_HOME_PATH", raising=False)
    assert chosen_headers("") is None
    assert open_door().name == "own"
    with pytest.raises(InputError, match="ASCEND_HOME_PATH is not set"):
        chosen_headers("installed")
    monkeypatch.setenv("ASCEND_HOME_PATH", "/opt/ascend")
    assert chosen_headers("") is None
    assert chosen_headers("installed") == Path("/opt/ascend")
    monkeypatch.setenv("ASCENDOPT_ASC_HEADERS", "/opt/headers")
    assert chosen_headers("") == Path("/opt/headers")
    assert chosen_headers("/other") == Path("/other")


def test_tiling_structs_are_made_from_their_definitions() -> None:
    text, names = tiling_header([(TREE / "include/adv_api/miniature_tilingdata.h").read_text()])
    assert names == {"MiniatureTiling"}
    assert "struct alignas(8) MiniatureTiling {" in text
    assert "    uint32_t rows = {};" in text
    assert "    uint16_t sizes[4] = {};" in text
    assert "using AscendC::tiling::MiniatureTiling;" in text


@pytest.mark.long
def test_host_code_calls_the_tiling_library_of_the_tree(backend: SimulatorBackend) -> None:
    answer = "context->SetBlockDim("
    include = '#include "tiling/tiling_api.h"\n'
    size = "AscendC::GetMiniatureTmpSize(ge::Shape({2}), {})"
    called = changed(answer, f"{answer}{size} + 0 * ", HOST).files
    files = {HOST: include + called[HOST]}
    case = WORKLOAD.cases[0]
    build = backend.build(OPERATOR, files, WORKLOAD)
    assert build.tile(case, [given()], [np.empty_like(given())]).block_dim == 2
    with pytest.raises(TrialFailure, match="GetMiniatureTmpSize"):
        SimulatorBackend("910B4").build(OPERATOR, files, WORKLOAD)


def test_only_host_code_that_calls_the_library_is_built_with_it() -> None:
    assert uses_library(["matmul_tiling::MultiCoreMatmulTiling cube(platform);"])
    assert uses_library(["AscendC::SoftMaxTilingFunc(shape, 4, size, tiling.softmax);"])
    assert not uses_library(['#include "tiling/tiling_api.h"\n', "int GetTiling();"])
    library = real_headers(TREE).tiling
    assert library is not None
    assert [path.name for path in library.sources][-1] == "host_log.cpp"


def test_figures_count_an_operator_when_all_its_cases_do() -> None:
    ok = Through(outcome="ok", verified=True, cycles=10)
    failed = Through(outcome="compile_error", message="no such header")
    rows = [
        CaseComparison(operator="A", case="1", own=ok, real=ok, same_outputs=True),
        CaseComparison(operator="A", case="2", own=ok, real=ok, same_outputs=True,
                       counts={"vadd": (1, 2)}),
        CaseComparison(operator="B", case="1", own=ok, real=failed),
    ]  # fmt: skip
    assert summary(rows, ["C: no workload"]) == {
        "operators": 3, "unreadable": 1, "compile_own": 2, "compile_real": 1, "run_own": 2,
        "run_real": 1, "verified_real": 1, "run_both": 1, "same_outputs": 1, "same_counts": 0,
    }  # fmt: skip
