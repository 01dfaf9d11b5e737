"""Instructions of basic blocks, counted in the code that runs; binutils is asked what is there."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ci.backend.sim import SimulatorBackend
from ci.judge.reference import References
from ci.simulator.toolchain import BASELINE_ISA, KERNEL_LINK, MACHINE, Toolchain
from ci.source.discovery import find_operators
from ci.source.workload_file import load_workload
from ci.system.cache import digest
from ci.system.compiler import compile_trusted
from rules.architectures import load_architecture
from rules.devices import load_device
from tests.ci.simulator.machine_harness import MachineHarness

HOOK = "__sanitizer_cov_trace_pc"
CHECK = ("-O1", "-fPIC", *BASELINE_ISA, "-fsanitize-coverage=trace-pc", "-fsanitize=thread")
LEAVES = ("jmp", "ret", "ud2")
FREE = ("nop", "endbr64", "push", "pop")
OPERATORS = Path(__file__).parents[2] / "operators"

Counted = Callable[[Path, list[int]], list[int]]


@pytest.fixture(scope="module")
def counted() -> Counted:
    """The machine's counts at return addresses of hooks."""
    toolchain = Toolchain(load_architecture("dav-c220"))
    source = Path(__file__).with_name("blocks_harness.cpp")
    units = [path for path in sorted(MACHINE.glob("*.cpp")) if path.name != "runner.cpp"]
    objects = [str(path) for path in toolchain.machine_objects(units)]
    key = digest([*toolchain.machine_flags, source.read_bytes(), *objects])

    def make(folder: Path) -> None:
        flags = [*toolchain.machine_flags, "-rdynamic", str(source), *objects]
        compile_trusted([*flags, "-ldl", "-lpthread", "-o", "harness"], folder)

    harness = toolchain.cache.get("blocks_harness", key, make) / "harness"

    def ask(kernel: Path, offsets: list[int]) -> list[int]:
        asked = " ".join(f"{offset:x}" for offset in offsets)
        done = subprocess.run([harness, kernel], input=asked, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return [int(word) for word in done.stdout.split()]

    return ask


def listed(kernel: Path) -> dict[int, int]:
    """The same from objdump's listing, by the rule in words: what follows a hook counts up to the
    next hook or to where control leaves, but calls, padding and kept registers; an access hook
    takes the move of its address away."""
    command = ["objdump", "-d", "-w", "--no-show-raw-insn", str(kernel)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    counts: dict[int, int] = {}
    at, opening = 0, False
    for address, text in _instructions(lines):
        if opening:
            at, opening = address, False
            counts[at] = 0
        name = text.split()[0]
        if name == "call":
            opening = HOOK in text
            if at and "__tsan_" in text:
                counts[at] = max(0, counts[at] - 1)
        elif at:
            counts[at] += name.rstrip("wlq") not in FREE
            at = 0 if name in LEAVES else at
    return {offset: max(1, count) for offset, count in counts.items()}


def _instructions(lines: list[str]) -> Iterator[tuple[int, str]]:
    for line in lines:
        address, found, text = line.partition(":\t")
        if found:
            prefixes = ("cs ", "data16 ", "notrack ", "bnd ")
            while text.startswith(prefixes):
                text = text.partition(" ")[2]
            yield int(address, 16), text


def built(folder: Path, text: str) -> Path:
    (folder / "kernel.cpp").write_text(text)
    subprocess.run(["g++", *CHECK, "kernel.cpp", *KERNEL_LINK], cwd=folder, check=True)
    return folder / "kernel.so"


def checked(counted: Counted, kernel: Path) -> int:
    want = listed(kernel)
    assert dict(zip(want, counted(kernel, [*want]), strict=True)) == want
    return len(want)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["fast_gelu", "softmax_rows", "matmul_relu_scale"])
def test_blocks_of_an_operator_are_as_long_as_binutils_says(counted: Counted, name: str) -> None:
    operator = next(o for o in find_operators(OPERATORS) if o.name == name)
    workload, backend = load_workload(operator, None), SimulatorBackend("910B4")
    build = backend.build(operator, {}, workload)
    references = References(operator, workload, backend)
    for case in workload.cases:
        right = references.of(case, workload.seeds[0])
        variant = build.variant(case, build.tile(case, right.inputs, right.outputs))
        for kernel in build.kernels(variant)[1:]:
            assert kernel is None or checked(counted, kernel) > 50


def test_code_in_a_section_of_its_own_is_counted(counted: Counted, tmp_path: Path) -> None:
    kernel = built(
        tmp_path,
        '__attribute__((section(".elsewhere"))) int far_off(int x) { return 3 * x; }\n'
        "int f(int x) { return far_off(x); }\n",
    )
    assert checked(counted, kernel) > 1


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


@pytest.mark.parametrize(
    "divide",
    ["x = 0x9E3779B97F4A7C15ull / (x | 3);", "y = 3.0f / y;", "y = __builtin_sqrtf(y + 1.0f);"],
)
def test_a_division_costs_what_it_costs_and_an_addition_does_not(
    harness: MachineHarness, divide: str
) -> None:
    def cost(step: str) -> float:
        body = """
    volatile uint64_t seed = get_block_num();
    uint64_t x = seed;
    float y = seed;
    for (int i = 0; i < 1000; i++) { STEP }
    seed = x + (uint64_t)y;
"""
        return harness.ok(body, define={"STEP": step}).busy("SCALAR") / 1000

    more = load_device("910B4").number("scalar.division")
    assert cost(divide) == pytest.approx(more, abs=3)
    assert cost("x += i; y += 3.0f;") < more / 5
