"""Each transform on code as operators have it: what it changes, and what it leaves alone."""

from ci.proposer.motifs.match import apply_matches
from ci.proposer.motifs.transforms import TRANSFORMS
from ci.source.cpp_source import parse


def changed(name: str, text: str, **parameters: object) -> str:
    source = parse(text)
    return apply_matches(source, TRANSFORMS[name](source, parameters)) or text


def in_function(body: str) -> str:
    return f"__aicore__ inline void Compute(int32_t n)\n{{\n{body}}}\n"


def test_queue_depth_changes_constants_and_literal_counts() -> None:
    text = "constexpr int32_t BUFFER_NUM = 1;\nvoid I() { pipe.InitBuffer(q, 1, n * 4); }\n"
    new = changed("queue_depth", text, **{"from": 1, "to": 2})
    assert "BUFFER_NUM = 2" in new
    assert "InitBuffer(q, 2, n * 4)" in new


def test_queue_depth_leaves_buffers_without_a_count_alone() -> None:
    text = "void I() { pipe.InitBuffer(buf, 1 * n); }\n"
    assert changed("queue_depth", text, **{"from": 1, "to": 2}) == text


def test_scale_constant_takes_sizes_and_no_alignments() -> None:
    text = "constexpr uint32_t TILE_LENGTH = 512;\nconstexpr uint32_t BLOCK_SIZE = 32;\n"
    new = changed("scale_constant", text, numerator=2, denominator=1)
    assert "TILE_LENGTH = 1024" in new
    assert "BLOCK_SIZE = 32" in new


def test_remove_barrier_deletes_the_whole_line_of_the_pipe_asked_for() -> None:
    text = in_function(
        "    A(n);\n    AscendC::PipeBarrier<PIPE_V>();\n    PipeBarrier<PIPE_ALL>();\n"
    )
    assert changed("remove_barrier", text, pipe="PIPE_V") == in_function(
        "    A(n);\n    PipeBarrier<PIPE_ALL>();\n"
    )


def test_narrow_barrier_keeps_a_barrier_of_one_pipe() -> None:
    text = in_function("    AscendC::PipeBarrier<PIPE_ALL>();\n")
    new = changed("remove_barrier", text, pipe="PIPE_ALL", narrow="PIPE_V")
    assert "AscendC::PipeBarrier<PIPE_V>();" in new


def test_add_barrier_ends_loops_that_call_something() -> None:
    text = in_function("    for (int i = 0; i < n; i++) {\n        Step(i);\n    }\n")
    new = changed("add_barrier", text)
    assert "Step(i);\n        AscendC::PipeBarrier<PIPE_ALL>();" in new
    assert changed("add_barrier", new) == new


def test_flag_pairs_of_one_event_go_and_others_stay() -> None:
    pair = "    SetFlag<HardEvent::MTE2_V>(id);\n    WaitFlag<HardEvent::MTE2_V>(id);\n"
    other = "    SetFlag<HardEvent::V_MTE3>(id);\n    WaitFlag<HardEvent::MTE2_V>(id);\n"
    assert changed("remove_flag_pair", in_function(pair)) == in_function("")
    assert changed("remove_flag_pair", in_function(other)) == in_function(other)


def test_early_release_moves_a_free_behind_the_last_use() -> None:
    text = in_function(
        "    Adds(y, x, s, n);\n    Exp(y, y, n);\n    q.FreeTensor(x);\n",
    )
    new = changed("early_release", text, method="FreeTensor")
    assert new == in_function("    Adds(y, x, s, n);\n    q.FreeTensor(x);\n    Exp(y, y, n);\n")


def test_early_release_follows_names_made_from_the_tensor() -> None:
    text = in_function(
        "    auto half_x = x[n];\n    Exp(y, half_x, n);\n    q.FreeTensor(x);\n",
    )
    assert changed("early_release", text, method="FreeTensor") == text


def test_late_release_undoes_early_release() -> None:
    text = in_function("    Adds(y, x, s, n);\n    q.FreeTensor(x);\n    Exp(y, y, n);\n")
    new = changed("late_release", text, method="FreeTensor")
    assert new == in_function("    Adds(y, x, s, n);\n    Exp(y, y, n);\n    q.FreeTensor(x);\n")


def test_cache_hint_goes_once_to_each_global_tensor() -> None:
    text = in_function("    xGm.SetGlobalBuffer((__gm__ float*)x);\n")
    new = changed("cache_hint", text)
    assert "xGm.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);" in new
    assert changed("cache_hint", new) == new


def test_bank_offset_declares_and_initialises_a_shift() -> None:
    text = (
        "class K {\n    void Init() {\n        pipe.InitBuffer(a, n);\n"
        "        pipe.InitBuffer(b, n);\n    }\n    TBuf<TPosition::VECCALC> a;\n"
        "    TBuf<TPosition::VECCALC> b;\n};\n"
    )
    new = changed("bank_offset", text)
    assert "        pipe.InitBuffer(bankShift0, 256);\n        pipe.InitBuffer(b, n);" in new
    assert "    AscendC::TBuf<AscendC::TPosition::VECCALC> bankShift0;\n    TBuf" in new


def test_bank_offset_goes_through_a_pipe_pointer_too() -> None:
    text = (
        "class K {\n    void Init() {\n        pipe->InitBuffer(a, n);\n"
        "        pipe->InitBuffer(b, n);\n    }\n    TBuf<> a;\n    TBuf<> b;\n};\n"
    )
    assert "pipe->InitBuffer(bankShift0, 256);" in changed("bank_offset", text)


def test_an_invariant_call_moves_in_front_of_its_loop() -> None:
    text = in_function(
        "    for (int32_t i = 0; i < n; i++) {\n        Duplicate(ones, 1.0f, w);\n"
        "        Mul(y[i * w], x[i * w], ones, w);\n    }\n"
    )
    new = changed("hoist_invariant", text, calls="Duplicate")
    assert new == in_function(
        "    Duplicate(ones, 1.0f, w);\n    for (int32_t i = 0; i < n; i++) {\n"
        "        Mul(y[i * w], x[i * w], ones, w);\n    }\n"
    )


def test_a_call_whose_operand_changes_in_the_loop_stays() -> None:
    for body in (
        "        Duplicate(t, f[i], w);\n        Mul(y, x, t, w);\n",
        "        Duplicate(t, 0.0f, w);\n        Add(t, t, x, w);\n",
        "        Mul(y, x, t, w);\n        Duplicate(t, 0.0f, w);\n",
    ):
        text = in_function(f"    for (int32_t i = 0; i < n; i++) {{\n{body}    }}\n")
        assert changed("hoist_invariant", text, calls="Duplicate") == text


def test_sinking_undoes_hoisting() -> None:
    text = in_function(
        "    Duplicate(ones, 1.0f, w);\n    for (int32_t i = 0; i < n; i++) {\n"
        "        Mul(y[i * w], x[i * w], ones, w);\n    }\n"
    )
    new = changed("sink_into_loop", text, calls="Duplicate")
    assert "i++) {\n        Duplicate(ones, 1.0f, w);\n" in new
    assert changed("hoist_invariant", new, calls="Duplicate") == text


FILLING = """class K {
    void Init(uint32_t tile)
    {
        pipe.InitBuffer(oneBuf, tile * sizeof(float));
    }
    void Compute(int32_t n)
    {
        LocalTensor<float> ones = oneBuf.Get<float>();
        Duplicate(ones, static_cast<float>(1), n);
        Div(y, ones, x, n);
    }
};
"""


def test_a_constant_fill_moves_to_init_with_the_size_of_the_buffer() -> None:
    new = changed("hoist_to_init", FILLING)
    init, compute = new.split("void Compute")
    assert "AscendC::Duplicate(ones, static_cast<float>(1)" in init
    assert "static_cast<int32_t>((tile * sizeof(float)) / sizeof(float))" in init
    assert "Duplicate" not in compute


def test_a_buffer_that_is_written_again_is_not_filled_in_init() -> None:
    text = FILLING.replace("Div(y, ones, x, n)", "Add(ones, ones, x, n)")
    assert changed("hoist_to_init", text) == text


def test_a_fill_with_a_local_value_stays() -> None:
    text = FILLING.replace("static_cast<float>(1)", "scale").replace(
        "        Duplicate", "        float scale = Scale(n);\n        Duplicate"
    )
    assert changed("hoist_to_init", text) == text


def test_a_padded_copy_gets_a_plain_way_for_whole_blocks() -> None:
    text = in_function("    DataCopyPad(x, xGm[o], copy, pad);\n")
    new = changed("plain_copy", text)
    assert "if (copy.blockCount == 1 && copy.blockLen % 32 == 0) {" in new
    assert "DataCopyPad(x, xGm[o], copy, pad);" in new
    assert changed("plain_copy", new) == new


def test_a_loop_of_copies_that_continue_each_other_becomes_one() -> None:
    text = in_function(
        "    for (int32_t i = 0; i < rows; i++) {\n"
        "        DataCopy(x[i * w], xGm[base + i * w], w);\n    }\n"
    )
    assert changed("merge_copies", text) == in_function(
        "    AscendC::DataCopy(x, xGm[base], rows * w);\n".replace("AscendC::", "")
    )


def test_copies_with_gaps_are_not_merged() -> None:
    text = in_function(
        "    for (int32_t i = 0; i < rows; i++) {\n"
        "        DataCopy(x[i * w], xGm[i * s], w);\n    }\n"
    )
    assert changed("merge_copies", text) == text


def test_a_loop_over_rows_becomes_one_call() -> None:
    text = in_function(
        "    for (int32_t r = 0; r < rows; r++) {\n"
        "        Adds(y[r * w], x[r * w], bias, w);\n        Exp(y[r * w], y[r * w], w);\n    }\n"
    )
    assert changed("rows_to_one", text) == in_function(
        "    Adds(y, x, bias, rows * w);\n    Exp(y, y, rows * w);\n"
    )


def test_a_row_with_its_own_scalar_is_left_in_the_loop() -> None:
    text = in_function(
        "    for (int32_t r = 0; r < rows; r++) {\n"
        "        Adds(y[r * w], x[r * w], means.GetValue(r), w);\n    }\n"
    )
    assert changed("rows_to_one", text) == text


def test_small_inputs_are_spread_by_dropping_the_one_core_branch() -> None:
    text = in_function(
        "    if (total <= tile) {\n        coreNum = 1;\n"
        "    } else {\n        coreNum = c / 2;\n    }\n"
    )
    assert changed("spread_small_inputs", text) == in_function("    coreNum = c / 2;\n")


def test_a_guard_against_zero_cores_stays() -> None:
    text = in_function("    if (coreNum < 1) {\n        coreNum = 1;\n    }\n")
    assert changed("spread_small_inputs", text) == text


def test_tiles_are_rounded_down_to_lines_once() -> None:
    text = in_function("    uint32_t ubBlocks = ubSize / parts / BLOCK_SIZE;\n    Use(ubBlocks);\n")
    new = changed("align_tile", text)
    assert "ubBlocks -= ubBlocks % 16;" in new
    assert changed("align_tile", new) == new


def test_scratch_buffers_of_one_size_in_different_functions_are_shared() -> None:
    text = (
        "class K {\n    void Init() {\n        pipe.InitBuffer(a, n * 4);\n"
        "        pipe.InitBuffer(b, n * 4);\n    }\n"
        "    void One() { auto t = a.Get<float>(); Use(t); }\n"
        "    void Two() { auto t = b.Get<float>(); Use(t); }\n};\n"
    )
    nested = text.replace("Use(t); }\n    void Two", "Two(); Use(t); }\n    void Two")
    assert changed("share_buffer", nested) == nested
    new = changed("share_buffer", text)
    assert "InitBuffer(b" not in new
    assert new.count("a.Get<float>()") == 2


def test_a_reduction_goes_straight_into_the_element_it_is_copied_to() -> None:
    text = in_function(
        "    LocalTensor<float> m = buf.Get<float>();\n"
        "    for (uint32_t i = 0; i < n; i++) {\n        ReduceMax(m, x[i * w], work, w);\n"
        "        y.SetValue(i, m.GetValue(0));\n    }\n"
    )
    new = changed("reduce_to_element", text)
    assert "        ReduceMax(y[i], x[i * w], work, w);\n    }" in new
    used = text.replace("GetValue(0));\n", "GetValue(0));\n        Use(m);\n")
    assert changed("reduce_to_element", used) == used


HALF = """constexpr int32_t BUFFER_NUM = 1;
class K {
    void Init(GM_ADDR x, uint32_t tileLength)
    {
        this->tile = tileLength;
        pipe.InitBuffer(q, BUFFER_NUM, tileLength * sizeof(float));
    }
};
"""


def test_a_full_unified_buffer_is_shared_by_two_halves() -> None:
    new = changed("halve_and_double", HALF)
    assert "BUFFER_NUM = 2" in new
    assert "        tileLength /= 2;\n        this->tile = tileLength;" in new


def test_a_length_that_init_assigns_is_halved_there() -> None:
    text = HALF.replace("uint32_t tileLength", "Tiling t").replace(
        "this->tile = tileLength", "tileLength = t.length + 1"
    )
    assert "tileLength = (t.length + 1) / 2;" in changed("halve_and_double", text)
