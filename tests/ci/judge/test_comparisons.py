from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from ci.backend.sim import SimulatorBuild
from ci.judge.comparisons import Key, Watched, _differs, _reach
from ci.model.decision import Decision
from ci.model.workload import TensorCase, WorkloadCase
from ci.testing.scale_shift import KERNEL, OPERATOR

LINE = 5


@dataclass
class _Standard:
    operator = OPERATOR


def case(dtype: str) -> WorkloadCase:
    return WorkloadCase(name=dtype, inputs=(TensorCase(shape=(8,), dtype=dtype),))


class Programs(Watched):
    """A program for each dtype, whose line holds the dtype's number against a constant."""

    def __init__(self, name: str, number: dict[str, float]) -> None:
        super().__init__(cast("object", _Standard()), cast(SimulatorBuild, None))  # type: ignore[arg-type]
        self.name, self.number = name, number

    def launch(self, case: WorkloadCase) -> dict[Key, Decision]:
        self.in_full.add(case.name)
        held = (self.number[case.name], 2.0)
        one = Decision(
            KERNEL, LINE, f"{self.name} {case.name}", 7, 0,
            below=held if held[0] < held[1] else None,
            above=held if held[0] > held[1] else None,
            same=2.0 if held[0] == held[1] else None,
        )  # fmt: skip
        return self._add(case, [one])


def differ(half: float) -> bool:
    """Whether the half kernel's comparison differs, where float alone was launched before."""
    now, before = Programs("now", {"float16": half}), Programs("before", HELD)
    before.launch(case("float32"))
    (key,) = now.launch(case("float16"))
    now.launched.add("another")
    _reach(now, key, before, (KERNEL, LINE))
    return _differs(now, key, before, (KERNEL, LINE))


HELD = {"float32": 4.0, "float16": 1.0}


def test_a_line_is_compared_with_what_the_kernel_of_the_same_dtype_did_there() -> None:
    assert not differ(half=1.0)


def test_a_launch_of_the_same_case_is_not_made_again() -> None:
    now, before = Programs("now", HELD), Programs("before", HELD)
    before.launch(case("float16"))
    (key,) = now.launch(case("float16"))
    _reach(now, key, before, (KERNEL, LINE))
    assert [len(seen) for seen in before.by_case.values()] == [1]
