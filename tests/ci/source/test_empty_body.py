"""Whether a kernel that wrote nothing has a body."""

import pytest

from ci.source.empty_body import body_is_empty

HEAD = 'extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y, GM_ADDR w, GM_ADDR t) {\n'

EMPTY = {
    "nothing": "",
    "a comment": "// TODO: op.Process();\n/* Add(a, b); */",
    "the tiling": "GET_TILING_DATA(tiling_data, t);",
    "marks": "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);\nREGISTER_TILING_DEFAULT(T);",
    "what is declared": "AscendC::TPipe pipe;\n(void)w;\nreturn;",
    "a branch of a key": "if (TILING_KEY_IS(1)) { }",
    "what is switched off": "#if 0\nop.Process();\n#endif",
    "a switch of the build": "#ifdef DEBUG\n#endif\nGET_TILING_DATA(d, t);",
}
BUSY = {
    "a call": "GET_TILING_DATA(d, t);\nKernelAdd op;\nop.Init(x, y);\nop.Process();",
    "a call in a branch": "if (TILING_KEY_IS(1)) { run<half>(x); }",
    "a store": "*(__gm__ float*)y = 1.0f;",
    "a loop": "for (int i = 0; i < 4; ++i) { y[i] = 0; }",
}


@pytest.mark.parametrize("body", EMPTY.values(), ids=EMPTY)
def test_a_body_that_only_takes_and_declares_is_empty(body: str) -> None:
    assert body_is_empty({"op_kernel/k.cpp": HEAD + body + "\n}\n"})


@pytest.mark.parametrize("body", BUSY.values(), ids=BUSY)
def test_a_body_that_does_something_is_not(body: str) -> None:
    assert not body_is_empty({"op_kernel/k.cpp": HEAD + body + "\n}\n"})


def test_marks_with_brackets_at_an_entrys_head_are_no_body() -> None:
    marked = HEAD.replace("__global__", "__global__ __mix__(1, 2)")
    assert body_is_empty({"op_kernel/k.cpp": marked + "}\n"})
    assert not body_is_empty({"op_kernel/k.cpp": marked + "Run(x, y);\n}\n"})


def test_a_macro_of_the_operator_may_be_all_of_its_work() -> None:
    kernel = HEAD + "RUN_ALL(half);\n}\n"
    header = "#define RUN_ALL(T) \\\n    Op<T> op; \\\n    op.Process()\n"
    assert not body_is_empty({"op_kernel/k.cpp": kernel, "op_kernel/k.h": header})


def test_what_declares_a_kernel_only_says_nothing_of_its_body() -> None:
    declared = HEAD.replace(" {\n", ";\n")
    assert not body_is_empty({"op_kernel/k.cpp": declared, "op_host/k.cpp": HEAD + "}"})
    assert body_is_empty({"op_kernel/k.cpp": declared + HEAD + "}"})
