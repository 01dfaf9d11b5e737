"""What a rewrite leaves without a use goes with it."""

from ci.proposer.motifs.rewrite import of_all_forms
from ci.proposer.rules.tidying import tidied
from rules.load import load_motifs

SLOW = """class Clip {
    void Init()
    {
        pipe->InitBuffer(lowest, n * sizeof(T));
        pipe->InitBuffer(highest, n * sizeof(T));
    }
    void Compute()
    {
        AscendC::LocalTensor<T> x = inQueue.DeQue<T>();
        AscendC::LocalTensor<T> low = lowest.Get<T>();
        AscendC::LocalTensor<T> high = highest.Get<T>();
        AscendC::Duplicate(low, from, n);
        AscendC::Duplicate(high, to, n);
        AscendC::Max(x, x, low, n);
        AscendC::Min(x, x, high, n);
    }
    AscendC::TBuf<AscendC::QuePosition::VECCALC> lowest;
    AscendC::TBuf<AscendC::QuePosition::VECCALC> highest;
};
"""
FAST = """class Clip {
    void Init()
    {
    }
    void Compute()
    {
        AscendC::LocalTensor<T> x = inQueue.DeQue<T>();
        AscendC::Maxs(x, x, from, n);
        AscendC::Mins(x, x, to, n);
    }
};
"""


def scalar_operands(text: str) -> list[str]:
    motif = next(m for m in load_motifs() if m.id == "scalar-operand")
    return [one.text for one in of_all_forms(motif, motif.forward, {"clip.h": text})]


def test_filled_bounds_become_scalars_at_once_and_take_their_buffers_along() -> None:
    (text,) = scalar_operands(SLOW)
    assert tidied(SLOW, text) == FAST


def test_one_form_alone_is_not_all_forms_at_once() -> None:
    alone = SLOW.replace("        AscendC::Min(x, x, high, n);\n", "")
    assert scalar_operands(alone) == []


def test_what_something_else_uses_stays() -> None:
    (text,) = scalar_operands(SLOW)
    assert "InitBuffer(lowest" in tidied(SLOW, text, ["auto t = lowest.Get<T>();"])
    still = text.replace("inQueue.DeQue<T>();", "inQueue.DeQue<T>() + high;")
    assert "high = highest.Get<T>();" in tidied(SLOW, still)


def test_what_was_unused_before_is_not_ours_to_remove() -> None:
    unused = FAST.replace("{\n    }", "{\n        pipe->InitBuffer(spare, 32);\n    }")
    unused = unused.replace("};", "    AscendC::TBuf<AscendC::TPosition::VECCALC> spare;\n};")
    assert tidied(unused, unused) == unused
