from __future__ import annotations

from pathlib import Path

import pytest

from ci.backend.sim import SimulatorBackend
from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import Subject
from ci.judge.gates import decisions
from ci.judge.gates.decisions import DecisionsGate
from ci.model.trial import Candidate, Outcome
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from ci.testing.gate import GateContract
from ci.testing.scale_shift import HOST, changed, line_of, with_statement
from lab.bench.corpus import Operators, candidate_of, read_corpus, workload_of

LONG = with_statement(
    "constexpr uint32_t SIDE = 96; if (coreLength_ > SIDE * SIDE * 4) { coreLength_ = 1024; }"
)
LENGTH = "uint32_t length = context->GetInputShape(0)->GetStorageShape().GetShapeSize();"
RANK = changed(
    LENGTH, f"{LENGTH} if (context->GetInputShape(0)->GetStorageShape().GetDimNum() == 6) "
    "{ length -= 4; }", HOST,
)  # fmt: skip


class TestDecisionsGate(GateContract):
    gate = DecisionsGate()

    @pytest.fixture
    def faulty(self, evaluator: Evaluator) -> Subject:
        return evaluator.subject(LONG)


def test_a_length_beyond_a_folded_constant_is_made_and_launched(evaluator: Evaluator) -> None:
    failure = DecisionsGate().check(evaluator.subject(LONG))
    assert failure and failure.outcome is Outcome.MEMORY_ERROR
    assert "the other way" in failure.refusal.sentence


def test_a_rank_that_the_host_asks_for_is_made_and_launched(evaluator: Evaluator) -> None:
    failure = DecisionsGate().check(evaluator.subject(RANK))
    assert failure and failure.outcome is Outcome.MEMORY_ERROR


def test_what_no_case_can_reach_is_named_as_unverified(evaluator: Evaluator) -> None:
    candidate = with_statement("if (coreLength_ % 1024 == 7) { coreLength_ = 0; }")
    subject = evaluator.subject(candidate)
    failure = DecisionsGate().check(subject)
    assert failure and failure.outcome is Outcome.REJECTED
    assert failure.refusal.place.line == line_of(candidate, "== 7")
    assert subject.work.decisions
    assert (subject.work.decisions.new, subject.work.decisions.both) == (2, 0)
    assert len(subject.work.decisions.undecided) == 2, "the remainder, and what it is held to"


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "statement",
    [
        "coreLength_ = coreLength_ * (1 - (coreLength_ >> 21));",
        "coreLength_ = coreLength_ - coreLength_ / 2000000 * 65536;",
        "coreLength_ -= (coreLength_ / 100000) * (GetBlockNum() / 45) * 8;",
        "coreLength_ -= (coreLength_ >> 17) & (GetBlockNum() / 45);",
        "constexpr uint32_t KEPT[2] = {1, 0}; constexpr uint32_t ONE = KEPT[0]; "
        "coreLength_ *= KEPT[(coreLength_ / 2000000) & ONE];",
    ],
)
def test_a_choice_made_by_arithmetic_is_a_branch(evaluator: Evaluator, statement: str) -> None:
    workload = evaluator.workload
    longer = workload.cases[0].changed("longer", lambda t: t.model_copy(update={"shape": (4096,)}))
    workload = workload.model_copy(update={"cases": (*workload.cases, longer)})
    other = Evaluator(evaluator.operator, workload, evaluator.backend)
    failure = DecisionsGate().check(other.subject(with_statement(statement)))
    assert failure and failure.refusal.gate == "decisions"


def test_arithmetic_whose_result_goes_with_its_operand_is_no_branch(evaluator: Evaluator) -> None:
    workload = evaluator.workload
    longer = workload.cases[0].changed("longer", lambda t: t.model_copy(update={"shape": (4096,)}))
    workload = workload.model_copy(update={"cases": (*workload.cases, longer)})
    subject = Evaluator(evaluator.operator, workload, evaluator.backend).subject(
        with_statement("coreLength_ = (coreLength_ + 7) / 8 * 8 - (coreLength_ & 0);")
    )
    assert DecisionsGate().check(subject) is None
    assert subject.work.decisions
    assert subject.work.decisions.new == 0


def test_a_choice_that_goes_both_ways_passes_and_is_counted(evaluator: Evaluator) -> None:
    subject = evaluator.subject(
        with_statement("tileLength_ = coreLength_ < 32768 ? tileLength_ : tileLength_;")
    )
    assert DecisionsGate().check(subject) is None
    assert subject.work.decisions
    assert (subject.work.decisions.new, subject.work.decisions.both) == (1, 1)


def test_old_lines_that_only_further_cases_reach_are_no_new_branches(
    evaluator: Evaluator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decisions, "MOST_COMPARED", 0)
    subject = evaluator.subject(with_statement("tileLength_ = tileLength_ + 0;"))
    assert DecisionsGate().check(subject) is None
    assert subject.work.decisions
    assert subject.work.decisions.new == 0


@pytest.mark.long
def test_a_side_that_only_a_refused_request_could_take_is_no_unverified_code() -> None:
    (entry,) = [one for one in read_corpus(None) if one.attack.id == "hm-last-hinge_loss"]
    operator = Operators(None).find(entry)
    workload = workload_of(operator)
    short = workload.cases[0].changed("8 elements", lambda t: t.model_copy(update={"shape": (8,)}))
    workload = workload.model_copy(update={"cases": (*workload.cases, short)})
    evaluator = Evaluator(operator, workload, SimulatorBackend("910B4"))
    subject = evaluator.subject(candidate_of(entry, operator))
    assert DecisionsGate().check(subject) is None
    assert subject.work.decisions
    assert subject.work.decisions.refused == 1, "a loop over no elements"


ROUNDS = """#include "kernel_operator.h"
using namespace AscendC;
class Twice {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t each)
    {
        rounds_ = 4;
        tile_ = each / rounds_;
        xs_.SetGlobalBuffer((__gm__ float*)x + each * GetBlockIdx(), each);
        ys_.SetGlobalBuffer((__gm__ float*)y + each * GetBlockIdx(), each);
        pipe_.InitBuffer(in_, 2, tile_ * sizeof(float));
        pipe_.InitBuffer(out_, 1, tile_ * sizeof(float));
    }
    __aicore__ inline void Process()
    {
        for (int32_t i = 0; i < rounds_; i++) {
            CopyIn(i);
            Compute(i);
        }
    }

private:
    __aicore__ inline void CopyIn(int32_t i)
    {
        LocalTensor<float> in = in_.AllocTensor<float>();
        DataCopy(in, xs_[i * tile_], tile_);
        in_.EnQue(in);
    }
    __aicore__ inline void Compute(int32_t i)
    {
        LocalTensor<float> in = in_.DeQue<float>();
        LocalTensor<float> out = out_.AllocTensor<float>();
        Muls(out, in, 2.0f, tile_);
        in_.FreeTensor(in);
        out_.EnQue(out);
        out = out_.DeQue<float>();
        DataCopy(ys_[i * tile_], out, tile_);
        out_.FreeTensor(out);
    }
    TPipe pipe_;
    TQue<TPosition::VECIN, 2> in_;
    TQue<TPosition::VECOUT, 1> out_;
    GlobalTensor<float> xs_, ys_;
    int32_t rounds_, tile_;
};
__global__ __aicore__ void twice(GM_ADDR x, GM_ADDR y, uint32_t each)
{
    Twice op;
    op.Init(x, y, each);
    op.Process();
}
"""
TWICE = """golden: golden.py:twice
launch: {kernel: twice.cpp, blocks: 2, outputs: {y: x}, values: {each: x.size // 2}}
cases: [{inputs: {x: {shape: [LENGTH], dtype: float32}}}]
"""
LOOP = "        for (int32_t i = 0; i < rounds_; i++) {\n            CopyIn(i);\n"
AHEAD = """        if (0 < rounds_) {
            CopyIn(0);
        }
        for (int32_t i = 0; i < rounds_; i++) {
            if (i + 1 < rounds_) {
                CopyIn(i + 1);
            }
"""


def launched(tmp_path: Path, kernel: str, length: int) -> Evaluator:
    """The judge of a kernel of the folder itself, which doubles so many elements."""
    folder = tmp_path / "twice"
    folder.mkdir()
    (folder / "twice.cpp").write_text(kernel)
    (folder / "workload.yaml").write_text(TWICE.replace("LENGTH", str(length)))
    (folder / "golden.py").write_text("def twice(x):\n    return 2 * x\n")
    operator = load_operator(folder)
    return Evaluator(operator, load_workload(operator), SimulatorBackend("910B4"))


@pytest.mark.long
def test_a_guard_of_a_loops_first_round_needs_no_case_for_its_other_way(tmp_path: Path) -> None:
    evaluator = launched(tmp_path, ROUNDS, 4096)
    source = "op_kernel/twice.cpp"
    ahead = ROUNDS.replace(LOOP, AHEAD)
    for text, expected in ((ahead, None), (ahead.replace("(0 <", "(1 <"), Outcome.REJECTED)):
        subject = evaluator.subject(Candidate(files={source: text}, stage="kernel"))
        failure = DecisionsGate().check(subject)
        assert (failure and failure.outcome) is expected, failure and failure.refusal


TILES = """#include "kernel_operator.h"
using namespace AscendC;
class Twice {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t each)
    {
        each_ = each;
        xs_.SetGlobalBuffer((__gm__ float*)x + each * GetBlockIdx(), each);
        ys_.SetGlobalBuffer((__gm__ float*)y + each * GetBlockIdx(), each);
        pipe_.InitBuffer(in_, 1, tile_ * sizeof(float));
        pipe_.InitBuffer(out_, 1, tile_ * sizeof(float));
    }
    __aicore__ inline void Process()
    {
        int32_t rounds = each_ / tile_;
        int32_t rest = each_ % tile_;
        rounds += rest > 0;
        for (int32_t i = 0; i < rounds; i++) {
            int32_t count = each_ - i * tile_ < tile_ ? rest : tile_;
            Turn(i, count);
        }
    }

private:
    __aicore__ inline void Turn(int32_t i, int32_t count)
    {
        DataCopyExtParams params{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
        LocalTensor<float> in = in_.AllocTensor<float>();
        DataCopyPad(in, xs_[i * tile_], params, DataCopyPadExtParams<float>{false, 0, 0, 0});
        in_.EnQue(in);
        in = in_.DeQue<float>();
        LocalTensor<float> out = out_.AllocTensor<float>();
        Muls(out, in, 2.0f, count);
        in_.FreeTensor(in);
        out_.EnQue(out);
        out = out_.DeQue<float>();
        DataCopyPad(ys_[i * tile_], out, params);
        out_.FreeTensor(out);
    }
    TPipe pipe_;
    TQue<TPosition::VECIN, 1> in_;
    TQue<TPosition::VECOUT, 1> out_;
    GlobalTensor<float> xs_, ys_;
    int32_t each_, tile_ = 7008;
};
__global__ __aicore__ void twice(GM_ADDR x, GM_ADDR y, uint32_t each)
{
    Twice op;
    op.Init(x, y, each);
    op.Process();
}
"""
COUNT = "int32_t count = each_ - i * tile_ < tile_ ? rest : tile_;"


@pytest.fixture
def tiles(tmp_path: Path) -> Evaluator:
    return launched(tmp_path, TILES, 128)


def counting(evaluator: Evaluator, count: str) -> Subject:
    text = TILES.replace(COUNT, count)
    assert text != TILES
    return evaluator.subject(Candidate(files={"op_kernel/twice.cpp": text}, stage="kernel"))


def test_a_tile_with_nothing_left_over_is_made_of_the_length_that_the_source_divides_by(
    tiles: Evaluator,
) -> None:
    subject = counting(
        tiles,
        "int32_t count = tile_;\n            if (i == rounds - 1 && rest > 0) { count = rest; }",
    )
    assert DecisionsGate().check(subject) is None
    assert subject.work.decisions
    assert (subject.work.decisions.new, subject.work.decisions.both) == (2, 2)


@pytest.mark.long
def test_a_branch_next_to_a_quotient_is_seen_in_a_kernel_of_another_folder(
    tiles: Evaluator,
) -> None:
    own = COUNT.replace("? rest", "? each_ % tile_")
    failure = DecisionsGate().check(counting(tiles, f"{own} if (i == 70000) {{ count = 0; }}"))
    assert failure and failure.refusal.gate == "decisions"
