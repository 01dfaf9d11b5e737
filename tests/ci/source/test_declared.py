"""Folders with several operators, or with a definition of one for each chip."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ci.backend.sim import SimulatorBackend
from ci.judge.evaluate import Evaluator
from ci.model.errors import InputError
from ci.model.trial import Candidate, Outcome
from ci.source.discovery import (
    find_operators,
    for_chip,
    load_operator,
    operator_places,
    places_in,
)
from ci.source.workload_file import find_workload, load_workload
from ci.testing.scale_shift import FOLDER, HOST, KERNEL, OPERATOR

BACKEND = SimulatorBackend("910B4", launch_seconds=20)


def renamed(text: str, name: str) -> str:
    """The text of the operator scale_shift for one of another name, with its own structs."""
    op_type = "".join(part.capitalize() for part in name.split("_"))
    return text.replace("ScaleShift", op_type).replace("scale_shift", name)


def pair(top: Path, *, one_file: bool = False, header: bool = False) -> Path:
    """math/scale_shift with scale_shift and scale_shift_grad, which triples instead of doubling."""
    (top / ".git").mkdir(parents=True)
    root = top / "math" / "scale_shift"
    shutil.copytree(FOLDER, root)
    grad = "scale_shift_grad"
    tiling = root / "op_host" / "scale_shift_tiling.h"
    tiling.with_name(f"{grad}_tiling.h").write_text(renamed(tiling.read_text(), grad))
    host, kernel = OPERATOR.read(HOST), OPERATOR.read(KERNEL)
    if one_file:
        (root / HOST).write_text(host + renamed(host, grad))
    else:
        (root / "op_host" / f"{grad}.cpp").write_text(renamed(host, grad))
    other = renamed(kernel, grad).replace("Muls(out, in, 2.0f", "Muls(out, in, 3.0f")
    (root / "op_kernel" / f"{grad}.cpp").write_text(other)
    if header:
        (root / "op_kernel" / "step.h").write_text("constexpr float SHIFT = 1.0f;\n")
        for file in (root / "op_kernel").glob("*.cpp"):
            text = file.read_text().replace("Adds(out, out, 1.0f", "Adds(out, out, SHIFT")
            file.write_text('#include "step.h"\n' + text)
    (root / grad).mkdir()
    golden = (root / "golden.py").read_text().replace("def scale_shift", f"def {grad}")
    (root / grad / "golden.py").write_text(golden.replace("float32(2)", "float32(3)"))
    workload = renamed((root / "workload.yaml").read_text(), grad)
    (root / grad / "workload.yaml").write_text(workload)
    return root


@pytest.mark.parametrize("one_file", [False, True])
def test_each_of_a_pair_is_an_operator_of_its_own_sources(tmp_path: Path, one_file: bool) -> None:
    root = pair(tmp_path, one_file=one_file)
    assert operator_places(tmp_path) == [root / "scale_shift", root / "scale_shift_grad"]
    found = {one.op_type: one for one in find_operators(tmp_path)}
    assert [*found] == ["ScaleShift", "ScaleShiftGrad"]
    for one, name in zip(found.values(), ("scale_shift", "scale_shift_grad"), strict=True):
        assert (one.name, one.root, one.place) == (name, root, root / name)
        assert one.kernel_sources == (f"op_kernel/{name}.cpp",)
        files = ("scale_shift", "scale_shift_grad") if one_file else (name,)
        headers = {f"op_host/{file}_tiling.h" for file in files}
        assert {*one.host_sources} == {f"op_host/{files[0]}.cpp"} | headers
        assert load_operator(one.place) == one
    assert load_operator(root).op_type == "ScaleShift", "the folder's name means the namesake"
    for path in (f"op_kernel/{name}.cpp", "scaleShiftGrad"):
        assert load_operator(root / path).op_type == "ScaleShiftGrad"


def test_a_tiling_registered_for_the_device_s_own_processor_is_its_operator_s(
    tmp_path: Path,
) -> None:
    root = pair(tmp_path)
    sunk = root / "op_host" / "sunk.cpp"
    sunk.write_text(
        '#include "register/device_op_impl_registry.h"\n'
        "DEVICE_IMPL_OP_OPTILING(ScaleShiftGrad).Tiling(optiling::Sunk);\n"
    )
    assert "op_host/sunk.cpp" not in load_operator(root).host_sources
    assert "op_host/sunk.cpp" in load_operator(root / "scale_shift_grad").host_sources


@pytest.mark.long
def test_each_of_a_pair_is_judged_on_its_own_workload(tmp_path: Path) -> None:
    root = pair(tmp_path)
    for one in find_operators(tmp_path):
        workload = load_workload(one)
        assert find_workload(one.place, None, tmp_path) == workload.folder / "workload.yaml"
        trial = Evaluator(one, workload, BACKEND).evaluate(Candidate(), 0)
        assert trial.outcome is Outcome.OK, trial.refusal
    assert workload.folder == root / "scale_shift_grad"


def test_a_fault_of_one_of_a_pair_is_not_the_others(tmp_path: Path) -> None:
    root = pair(tmp_path)
    (root / "op_host" / "scale_shift_grad.cpp").write_text(
        renamed(OPERATOR.read(HOST), "scale_shift_grad") + "\nUnknownTiling nobody;\n"
    )
    one = load_operator(root)
    trial = Evaluator(one, load_workload(one), BACKEND).evaluate(Candidate(), 0)
    assert trial.outcome is Outcome.OK, trial.refusal


@pytest.mark.long
def test_a_header_of_both_is_judged_on_both(tmp_path: Path) -> None:
    root = pair(tmp_path, header=True)
    one = load_operator(root)
    assert one.shared_paths == {"op_kernel/step.h": "math/scale_shift/op_kernel/step.h"}
    golden = (root / "golden.py").read_text().replace("float32(1)", "float32(1.5)")
    (root / "golden.py").write_text(golden)
    evaluator = Evaluator(one, load_workload(one), BACKEND)
    candidate = Candidate(files={"op_kernel/step.h": "constexpr float SHIFT = 1.5f;\n"})
    subject = evaluator.subject(candidate)
    assert evaluator.evaluate(candidate, 0).outcome is Outcome.OK
    with pytest.raises(Exception, match="scale_shift_grad, which shares the changed source"):
        subject.standard.siblings.judged(candidate.files)


def test_a_folder_of_which_none_has_the_name_asks_to_name_one(tmp_path: Path) -> None:
    root = pair(tmp_path)
    moved = root.rename(root.parent / "scales")
    with pytest.raises(InputError, match=r"holds 2 operators \(scale_shift, scale_shift_grad\)"):
        load_operator(moved)
    with pytest.raises(InputError, match="no operator scale_up in .*; it holds scale_shift, "):
        load_operator(moved / "scale_up")


@pytest.mark.parametrize("chip_folder", ["arch35", "tiling/arch35", "a_chip"])
def test_the_definition_for_our_chip_goes_before_another_chips(
    tmp_path: Path, chip_folder: str
) -> None:
    root = tmp_path / "math" / "scale_shift"
    shutil.copytree(FOLDER, root)
    other = OPERATOR.read(HOST).replace('"ascend910b"', '"ascend950"')
    assert other != OPERATOR.read(HOST)
    place = root / "op_host" / chip_folder / "scale_shift.cpp"
    place.parent.mkdir(parents=True)
    place.write_text(other.replace("SetBlockDim(", "SetBlockDim(0 * "))
    kernel = root / "op_kernel" / chip_folder / "scale_shift.cpp"
    kernel.parent.mkdir(parents=True)
    kernel.write_text("#error other chip\n" + OPERATOR.read(KERNEL))
    operator = load_operator(root)
    assert for_chip(operator)
    assert (operator.definition_source, operator.kernel_entry) == (HOST, KERNEL)
    assert operator.host_sources == OPERATOR.host_sources
    trial = Evaluator(operator, load_workload(operator), BACKEND).evaluate(Candidate(), 0)
    assert trial.outcome is Outcome.OK, trial.refusal


def test_tilings_of_two_chips_for_one_definition_do_not_both_register(tmp_path: Path) -> None:
    root = tmp_path / "math" / "scale_shift"
    shutil.copytree(FOLDER, root)
    text = OPERATOR.read(HOST)
    tiling = text[: text.index("namespace ops")].replace("SetBlockDim(", "SetBlockDim(0 * ")
    function = OPERATOR.tiling_functions[0]
    place = root / "op_host" / "arch35" / "scale_shift_tiling.cpp"
    place.parent.mkdir()
    place.write_text(f"{tiling}\nIMPL_OP_OPTILING(ScaleShift).Tiling(optiling::{function});\n")
    assert load_operator(root).host_sources == OPERATOR.host_sources


def test_what_an_editor_leaves_in_hidden_folders_is_nobodys(tmp_path: Path) -> None:
    root = tmp_path / "math" / "scale_shift"
    shutil.copytree(FOLDER, root)
    hidden = root / "op_host" / ".checkpoints"
    hidden.mkdir()
    (hidden / "scale_shift.cpp").write_text(OPERATOR.read(HOST))
    assert places_in(root) == [root]
    assert load_operator(root).host_sources == OPERATOR.host_sources
