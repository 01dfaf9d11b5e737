from __future__ import annotations

import pytest

from ci.census.reason import classify, failure
from ci.model.census import Stage
from ci.model.trial import Outcome, Place, Refusal

COMPILE_ERRORS = {
    "fatal error: lib/sort/topk.h: No such file or directory": (
        "missing header",
        "lib/sort/topk.h",
    ),
    "fatal error: lib/matmul_intf.h: No such file or directory": ("cube", "lib/matmul_intf.h"),
    "fatal error: hccl/hccl.h: No such file or directory": ("hccl", "hccl/hccl.h"),
    "'DropOut' was not declared in this scope": ("missing symbol", "DropOut"),
    "'AscendC::DropOut' has not been declared": ("missing symbol", "DropOut"),
    "'Where' is not a member of 'AscendC'": ("missing symbol", "Where"),
    "'TopkInfo' does not name a type": ("missing symbol", "TopkInfo"),
    "'Mmad' was not declared in this scope; did you mean 'Mad'?": ("cube", "Mmad"),
    "'matmul::Matmul' was not declared in this scope": ("cube", "Matmul"),
    "'GetHcclContext' was not declared in this scope": ("hccl", "GetHcclContext"),
    "'class AscendC::TPipe' has no member named 'Grow'": ("missing member", "Grow"),
    "no matching function for call to 'AscendC::Cast(int, int)'": ("missing call form of", "Cast"),
    "call of overloaded 'Max(int, long int)' is ambiguous": ("missing call form of", "Max"),
    "no matching function for call to 'kernel_entry_fill(uint8_t*&)'": (
        "kernel's template arguments",
        "",
    ),
    "stray '#' in program": ("does not compile", ""),
}


@pytest.mark.parametrize("text", COMPILE_ERRORS)
def test_a_compile_error_names_what_is_missing(text: str) -> None:
    evidence = Refusal(sentence=f"The kernel does not compile: {text}")
    found = classify(Stage.KERNEL_BUILDS, Outcome.COMPILE_ERROR, evidence)
    assert found == COMPILE_ERRORS[text]


def test_an_undefined_reference_is_a_missing_symbol() -> None:
    message = "The host tiling does not link: undefined reference to `ge::Foo::Bar(int)'"
    found = classify(Stage.HOST_BUILDS, Outcome.COMPILE_ERROR, Refusal(sentence=message))
    assert found == ("missing symbol", "Bar")


@pytest.mark.parametrize(
    ("stage", "outcome", "message", "expected"),
    [
        (Stage.RUNS, Outcome.RACE, "core 1 writes what core 2 reads", ("race", "")),
        (Stage.RUNS, Outcome.TIMEOUT, "The kernel's run was stopped after 9 s", ("timeout", "")),
        (
            Stage.RUNS,
            Outcome.LAUNCH_ERROR,
            "The kernel's run was killed by SIGSEGV.",
            ("kernel crashes", "SIGSEGV"),
        ),
        (
            Stage.TILING_RUNS,
            Outcome.LAUNCH_ERROR,
            "The host tiling was killed by SIGFPE.",
            ("tiling crashes", ""),
        ),
        (
            Stage.TILING_RUNS,
            Outcome.LAUNCH_ERROR,
            "The tiling failed (case 'x').",
            ("tiling refuses the case", ""),
        ),
        (
            Stage.RUNS,
            Outcome.REJECTED,
            "The built kernel asks for symbols that the machine does not offer: expf, memcmp.",
            ("foreign symbol", "expf"),
        ),
    ],
)
def test_what_happens_at_run_time_has_a_class(
    stage: Stage, outcome: Outcome, message: str, expected: tuple[str, str]
) -> None:
    assert classify(stage, outcome, Refusal(sentence=message)) == expected


def test_a_failure_keeps_message_and_place() -> None:
    evidence = Refusal(sentence="It  is\nwrong.", place=Place(file="op_kernel/a.cpp", line=7))
    found = failure(Stage.RUNS, Outcome.MEMORY_ERROR, evidence)
    assert (found.reason, found.message) == ("memory error", "It is wrong.")
    assert found.place == "op_kernel/a.cpp:7"
