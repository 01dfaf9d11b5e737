"""A scripted model for scale_shift: real edits of that operator, one or more a role."""

from __future__ import annotations

import json
from collections import defaultdict

from tests.ci.proposer.llm.server import Answer, Asked

ROLE_WORDS = {
    "synthesis": "Turn the host tiling of this operator",
    "mutation": "Propose one change of the host tiling",
    "rewind": "Remove exactly one optimization",
    "distillation": "Two versions of a kernel compute the same",
    "diagnosis": "Say what bounds this kernel",
    "rewriting": "Make this kernel faster",
}

SYNTHESIS = """RATIONALE: Tile length and block dim come from functions of their own.
<<<<<<< SEARCH op_host/scale_shift.cpp
constexpr uint32_t TILE_LENGTH = 1024;
=======
// EVOLVE-BLOCK-START partition
constexpr uint32_t TILE_LENGTH = 1024;
// EVOLVE-BLOCK-END
>>>>>>> REPLACE
<<<<<<< SEARCH op_host/scale_shift.cpp
static ge::graphStatus TilingFunc(gert::TilingContext *context)
{
=======
// EVOLVE-BLOCK-START partition block_dim
static uint32_t BlockDim(uint32_t length)
{
    return length < BLOCK_DIM ? 1 : BLOCK_DIM;
}
// EVOLVE-BLOCK-END

static ge::graphStatus TilingFunc(gert::TilingContext *context)
{
>>>>>>> REPLACE
<<<<<<< SEARCH op_host/scale_shift.cpp
    tiling.set_coreLength(length / BLOCK_DIM);
=======
    tiling.set_coreLength(length / BlockDim(length));
>>>>>>> REPLACE
<<<<<<< SEARCH op_host/scale_shift.cpp
    context->SetBlockDim(BLOCK_DIM);
=======
    context->SetBlockDim(BlockDim(length));
>>>>>>> REPLACE
"""

KNOB = """**RATIONALE:** Smaller tiles overlap better.
KNOB TILE_LENGTH = 512
"""

LOGIC = """RATIONALE: More cores share the copies.
<<<<<<< FUNCTION op_host/scale_shift.cpp BlockDim
static uint32_t BlockDim(uint32_t length)
{
    return length % (2 * BLOCK_DIM) == 0 ? 2 * BLOCK_DIM : BLOCK_DIM;
}
>>>>>>> END
"""

REWRITE = """RATIONALE: The next copy-in waits for the vector unit, not for the copy-out.
TUPLES: none
<<<<<<< SEARCH op_kernel/scale_shift.cpp
            SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
            WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
=======
            SetFlag<HardEvent::V_MTE2>(EVENT_ID0);
            WaitFlag<HardEvent::V_MTE2>(EVENT_ID0);
            SetFlag<HardEvent::MTE3_V>(EVENT_ID0);
            WaitFlag<HardEvent::MTE3_V>(EVENT_ID0);
>>>>>>> REPLACE
"""

REWIND = """TITLE: One copy instead of several small ones
DESCRIPTION: A large copy pays the start-up of the copy engine once.
CLASSES: small_copies
<<<<<<< SEARCH op_kernel/scale_shift.cpp
            DataCopy(in, xGm_[offset], tileLength_);
=======
            for (uint32_t part = 0; part < tileLength_; part += tileLength_ / 8) {
                DataCopy(in[part], xGm_[offset + part], tileLength_ / 8);
            }
>>>>>>> REPLACE
"""

DIAGNOSIS = json.dumps(
    {
        "bottleneck": "Copy-in, computing and copy-out take turns.",
        "classes": ["no_overlap"],
        "evidence": ["no pipe is busy for most of the time"],
    }
)

LESSON = json.dumps(
    {
        "title": "One large copy instead of several",
        "description": "Copy a tile at once: the copy engine's start-up is paid once.",
        "bottleneck": "Many small copies, whose start-up latency is paid again and again.",
        "classes": ["small_copies"],
    }
)

NOTHING = "NOTHING: no further idea."

GOOD: dict[str, list[str]] = {
    "synthesis": [SYNTHESIS],
    "mutation": [KNOB, LOGIC, NOTHING],
    "diagnosis": [DIAGNOSIS],
    "rewriting": [REWRITE, NOTHING],
    "rewind": [REWIND, NOTHING],
    "distillation": [LESSON],
}
"""Answers by role, in the order of the requests; the last one is given again and again."""


def role_of(asked: Asked) -> str:
    """The role that a request is for, by its words."""
    first = str(asked.body["messages"][1]["content"])
    return next(role for role, words in ROLE_WORDS.items() if words in first)


class Script:
    """Answers each role's requests one after the other."""

    def __init__(self, **roles: list[str | Answer]) -> None:
        self._answers: dict[str, list[str | Answer]] = {**GOOD, **roles}  # type: ignore[dict-item]
        self._asked: dict[str, int] = defaultdict(int)

    def __call__(self, asked: Asked) -> Answer:
        role = role_of(asked)
        answers = self._answers[role]
        found = answers[min(self._asked[role], len(answers) - 1)]
        self._asked[role] += 1
        return found if isinstance(found, Answer) else Answer(found)
