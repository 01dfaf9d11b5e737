"""Whoever reviews a change learns which barriers, flags and queue calls it does without."""

import pytest

from bot.base.language import language
from bot.report.sentences import local
from ci.backend.sim import SimulatorBackend
from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import EvaluationSettings
from ci.judge.removed_sync import order_kept, removed_sync
from ci.testing.scale_shift import KERNEL, OPERATOR, WORKLOAD, changed

BODY = """void f() {
    queue.EnQue(x);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
    AscendC::PipeBarrier<PIPE_ALL>();
    pipe_barrier(PIPE_V);
    SyncAll();
}
"""


@pytest.mark.parametrize(
    ("old", "new", "gone"),
    [
        ("    queue.EnQue(x);\n", "", [("queue.EnQue(x)", 2)]),
        ("PipeBarrier<PIPE_ALL>", "PipeBarrier<PIPE_V>", [("PipeBarrier<PIPE_ALL>()", 4)]),
        ("PIPE_V)", "PIPE_MTE3)", [("pipe_barrier(PIPE_V)", 5)]),
        ("SyncAll();", "// SyncAll();", [("SyncAll()", 6)]),
        ("EVENT_ID0", "EVENT_ID1", []),
        ("queue.EnQue(x)", "out.EnQue<half>(y)", []),
        ("void f() {", "void g() {", []),
    ],
)
def test_what_orders_less_than_it_did_is_named_with_its_line(
    old: str, new: str, gone: list[tuple[str, int]]
) -> None:
    assert old in BODY
    found = removed_sync({"op_kernel/a.h": BODY}, {"op_kernel/a.h": BODY.replace(old, new)})
    assert [(r.call, r.line) for r in found] == gone


def test_what_moves_within_a_file_or_to_another_stays() -> None:
    head, *lines, end = BODY.splitlines(keepends=True)
    moved = "".join([head, *reversed(lines), end])
    assert removed_sync({"a": BODY}, {"a": moved}) == ()
    assert removed_sync({"a": BODY, "b": ""}, {"a": "", "b": BODY}) == ()
    assert len(removed_sync({"a": BODY, "b": BODY}, {"a": BODY, "b": ""})) == 5


def test_the_reason_tells_what_is_left_and_what_the_compiler_inserts() -> None:
    said = order_kept({"a": BODY + BODY}, 7, (3, 4))
    assert "7 launches" in said and "PipeBarrier<PIPE_ALL> (2), pipe_barrier(PIPE_V) (2)" in said
    assert "inserts 4 waits, 3 before" in said
    assert "each pipe's own order" in order_kept({"a": ""}, 1, None)


@pytest.mark.parametrize("waits", [None, (3, 4)])
@pytest.mark.parametrize("text", [BODY, ""])
def test_the_reason_is_in_the_language_of_the_report(
    text: str, waits: tuple[int, int] | None
) -> None:
    with language("zh"):
        said = local(order_kept({"a": text}, 7, waits))
    assert not {"race", "order", "kept", "automatic", "waits", "before"} & set(said.split())


@pytest.mark.long
def test_the_final_verification_reports_it() -> None:
    evaluator = Evaluator(
        OPERATOR,
        WORKLOAD,
        SimulatorBackend("910B4", launch_seconds=20),
        settings=EvaluationSettings(thorough_seeds=0, varied_cases=1),
    )
    text = OPERATOR.read(KERNEL)
    flags = text[text.index("            SetFlag<HardEvent::MTE3_MTE2>") :]
    flags = flags[: flags.index("        }\n")]
    candidate = changed(flags, "            PipeBarrier<PIPE_ALL>();\n")
    found = evaluator.confirm(evaluator.evaluate(candidate, 1))
    line = text[: text.index(flags)].count("\n") + 1
    assert [(r.file, r.line, r.call) for r in found.removed_sync] == [
        (KERNEL, line, "SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0)"),
        (KERNEL, line + 1, "WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0)"),
    ]
    assert "PipeBarrier<PIPE_ALL> (1)" in found.order
    assert "automatic synchronisation is off" in found.order
