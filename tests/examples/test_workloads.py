"""The shipped workloads: well formed, and their golden functions give what they promise.

The repositories themselves are no part of this project, so their operators do not run here.
"""

import io
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ci.model.dtypes import BY_NAME
from ci.model.launch import Array
from ci.model.workload import TensorCase, Workload, WorkloadCase
from ci.model.yaml_model import YamlFile
from ci.source import golden_child
from ci.source.golden import Golden
from ci.source.inputs import draw_inputs
from ci.source.workload_file import MOST_BYTES
from tests.places import EXAMPLES

FOLDER = EXAMPLES / "workloads"
FILES = sorted(FOLDER.glob("*/workload.yaml"))
TOLD = {"masked_select_v3"}
"""Operators whose kernel tells the shape of the output: the declared one is the largest."""
OPS_MATH = sorted(FOLDER.glob("ops-math/*/workload.yaml"))


def tensor(entry: Any) -> TensorCase | tuple[TensorCase, ...]:
    if isinstance(entry, list):
        return tuple(TensorCase(**one) for one in entry)
    return TensorCase(**entry)


def read(file: Path) -> Workload:
    """The workload as written, without the operator's definition that names and orders inputs."""
    top = YamlFile.open(file, most_bytes=MOST_BYTES).data
    cases = []
    for case in top["cases"]:
        given = case["inputs"].values() if isinstance(case["inputs"], dict) else case["inputs"]
        attrs = {
            k: tuple(v) if isinstance(v, list) else v for k, v in case.get("attrs", {}).items()
        }
        cases.append(
            WorkloadCase(
                name=case["name"],
                inputs=tuple(tensor(entry) for entry in given),
                outputs=tuple(tensor(entry) for entry in case.get("outputs", ())),
                attrs=attrs,
            )
        )
    return Workload(
        operator=top["operator"], golden=top["golden"], cases=tuple(cases), folder=file.parent
    )


def elements(declared: TensorCase) -> int:
    """Places of the array that holds a tensor: several elements of few bits share one."""
    bits = BY_NAME[declared.dtype].bits if declared.dtype else 8
    return int(np.prod(declared.shape)) * min(bits, 8) // 8


def shapes(outputs: list[Any]) -> list[Any]:
    return [
        [a.shape for a in one] if isinstance(one, list) else None if one is None else one.shape
        for one in outputs
    ]


class _Here:
    """A golden's process without the process, for files that are our own: hundreds of sandboxes
    would take a tenth of the whole suite."""

    alive = True

    def __init__(self, file: Path, name: str) -> None:
        self._golden = golden_child.Golden(file, name)
        self._say({"ready": True}, [])

    def tell(self, parts: Iterable[bytes | memoryview], deadline: float) -> None:
        stream = io.BytesIO(b"".join(parts))
        asked = json.loads(stream.read(*golden_child.LENGTH.unpack(stream.read(8))))
        arguments = golden_child.read(stream, asked["arguments"])
        arrays: list[Any] = []
        self._say(
            {"outputs": golden_child.told(self._golden.answer(asked, arguments), arrays)}, arrays
        )

    def hear(self, count: int, deadline: float) -> bytearray:
        return bytearray(self._said.read(count))

    def close(self) -> None:
        self._said.close()

    def _say(self, head: dict[str, Any], arrays: list[Any]) -> None:
        self._said = io.BytesIO(b"".join(golden_child.packed(head, arrays)))


class _OwnGolden(Golden):
    def _started(self) -> Any:
        return _Here(self._file, self._name)


@pytest.fixture
def as_it_was() -> Iterator[None]:
    """Leaves no module of a golden behind: another folder's may have the same name."""
    path, known = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - known:
        if str(EXAMPLES) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.mark.parametrize("file", [*FILES, *OPS_MATH], ids=lambda f: f.parent.name)
@pytest.mark.usefixtures("as_it_was")
def test_golden_gives_finite_outputs_of_the_declared_shapes(file: Path) -> None:
    workload = read(file)
    golden = _OwnGolden(workload)
    for case in workload.cases:
        told = file.parent.name in TOLD
        asked = case.model_copy(update={"outputs": ()}) if told else case
        outputs = golden.outputs(asked, draw_inputs(case, seed=1))
        assert outputs, case.name
        for declared, got in zip(case.outputs, shapes(outputs), strict=bool(case.outputs)):
            if isinstance(declared, tuple):
                assert [one.shape for one in declared] == got, case.name
            else:
                room = elements(declared)
                assert np.prod(got) <= room if told else np.prod(got) == room, case.name
        flat: list[Array] = []
        for one in outputs:
            flat += one if isinstance(one, list) else [] if one is None else [one]
        assert all(np.isfinite(a).all() for a in flat), case.name


def test_at_least_thirty_operators_have_a_workload() -> None:
    assert len(FILES) >= 30


def test_every_workload_is_named_after_its_folder() -> None:
    for file in [*FILES, *OPS_MATH]:
        named = YamlFile.open(file, most_bytes=MOST_BYTES).data["operator"]
        assert named.replace("_", "").lower() == file.parent.name.replace("_", "").lower()


def test_the_table_of_the_readme_lists_exactly_the_workloads_here() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    table = text.split("## What evaluates ok")[1].split("Among them")[0]
    rows = [line.split("|")[2] for line in table.splitlines() if line.startswith("| ")][1:]
    listed = [name.strip() for row in rows for name in row.split(",")]
    assert sorted(listed) == [file.parent.name for file in FILES]
    listed = text.split("These verify:")[1].split("\n\n")[1].rstrip(".").split(",")
    assert [name.strip() for name in listed] == [file.parent.name for file in OPS_MATH]
