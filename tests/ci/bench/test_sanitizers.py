from pathlib import Path

from bot.commands.bench_sanitizers import tables
from ci.bench.sanitizers import (
    Mutant,
    SanitizerBench,
    SanitizerBenchSettings,
    dropped_statements,
    measure,
)
from ci.discovery import load_operator

KERNEL = """
__aicore__ inline void Step() {
    // SetFlag<HardEvent::MTE2_V>(0) in words is no statement
    AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(id);
    WaitFlag<HardEvent::MTE2_V>(id);
    AscendC::PipeBarrier<PIPE_V>();
    inQueue.EnQue(xLocal);
    LocalTensor<half> yLocal = inQueue.DeQue<half>();
    Adds(yLocal, xLocal, 1, 8);
    inQueue.FreeTensor(xLocal);
}
"""
SAMPLE = Path(__file__).parents[3] / "examples" / "sample_repository"


def test_each_ordering_statement_is_dropped_alone() -> None:
    found = list(dropped_statements(KERNEL))
    assert [words.split("(")[0].rpartition("::")[2] for _, words, _ in found] == [
        "MTE2_V>",
        "MTE2_V>",
        "PipeBarrier<PIPE_V>",
        "inQueue.EnQue",
        "inQueue.FreeTensor",
    ]
    for line, words, text in found:
        before, after = KERNEL.splitlines(), text.splitlines()
        changed = [i for i, (a, b) in enumerate(zip(before, after, strict=True), 1) if a != b]
        assert changed == [line]
        assert words.split("(")[0].split("::")[-1] not in after[line - 1]


def test_a_dropped_hand_over_of_a_real_kernel_is_found() -> None:
    operator = load_operator(SAMPLE / "src" / "math" / "affine_clamp")
    found = measure([operator], SanitizerBenchSettings(limit=1))
    (mutant,) = found.mutants
    assert mutant.verdict == "found" and mutant.outcome != "ok"


def test_the_share_leaves_out_what_is_put_back_and_lists_what_is_not_found() -> None:
    def mutant(verdict: str, line: int) -> Mutant:
        return Mutant.model_validate(
            {
                "operator": "add",
                "file": "op_kernel/add.cpp",
                "line": line,
                "dropped": "PipeBarrier<PIPE_V>()",
                "auto_sync": True,
                "verdict": verdict,
                "outcome": "race" if verdict == "found" else "ok",
            }
        )

    verdicts = ("found", "found", "found", "put back", "not found", "not built")
    made = SanitizerBench(mutants=tuple(mutant(v, n) for n, v in enumerate(verdicts)))
    assert (made.built, made.share) == (5, 0.75)
    page = tables(made)
    assert "75.0% are found" in page and "op_kernel/add.cpp:4" in page
    assert "| race | 3 |" in page
