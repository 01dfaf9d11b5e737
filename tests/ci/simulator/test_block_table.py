"""Instructions of basic blocks, counted in object code."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np

from ci.simulator.block_table import TABLE, block_lengths, write_block_table
from tests.ci.simulator.machine_harness import MachineHarness

LISTING = """
0000000000001100 <kernel>:
    1100:\tpush   %rbx
    1101:\tcall   1040 <__sanitizer_cov_trace_pc@plt>
    1106:\tmov    (%rdi),%rbx
    1109:\tlea    0x8(%rbx),%rdi
    110d:\tcall   1050 <__tsan_read4@plt>
    1112:\tadd    $0x1,%eax
    1115:\tnopw   0x0(%rax,%rax,1)
    1118:\tjne    1130
    111a:\tcall   1040 <__sanitizer_cov_trace_pc@plt>
    111f:\tcall   1060 <vadd@plt>
    1124:\tret
    1125:\tmov    %rax,%rbx
    1130:\tcall   1040 <__sanitizer_cov_trace_pc@plt>
    1135:\tpop    %rbx
    1136:\tjmp    1100
"""


def test_a_block_reaches_from_its_hook_to_the_next_one_or_where_control_leaves() -> None:
    assert block_lengths(LISTING.splitlines()) == {0x1106: 3, 0x111F: 1, 0x1135: 1}


def test_code_in_a_section_of_its_own_is_counted(tmp_path: Path) -> None:
    (tmp_path / "kernel.cpp").write_text(
        'extern "C" __attribute__((section(".elsewhere"))) int far_off(int x) { return 3 * x; }\n'
    )
    flags = ["-O1", "-fPIC", "-shared", "-fsanitize-coverage=trace-pc", "-o", "kernel.so"]
    subprocess.run(["g++", *flags, "kernel.cpp"], cwd=tmp_path, check=True)
    write_block_table(tmp_path / "kernel.so")
    assert np.fromfile(tmp_path / TABLE, "<u2").any()


def scalar(harness: MachineHarness, statements: str) -> float:
    body = """
    volatile uint64_t seed = get_block_num();
    uint64_t x = seed;
    for (int i = 0; i < 1000; i++) { STATEMENTS }
    seed = x;
"""
    return harness.ok(body, define={"STATEMENTS": statements}).busy("SCALAR")


def test_straight_line_code_costs_what_it_is_long(harness: MachineHarness) -> None:
    step = "x = (x ^ (x >> 7)) * 0x9E3779B97F4A7C15ull + i;"
    one, two, four = (scalar(harness, step * times) for times in (1, 2, 4))
    assert two - one > 200
    assert 1.5 < (four - two) / (two - one) < 2.5
