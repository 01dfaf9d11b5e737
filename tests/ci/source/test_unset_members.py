"""Members that a constexpr constructor leaves to its body begin as zero, all others as before."""

import shutil
import subprocess
from pathlib import Path

import pytest

from ci.source.unset_members import NO_CONSTANT, with_members_set

COORD = """
template <int RANK>
struct Coord {
public:
    static const int SIZE = RANK;
    __forceinline__ [aicore] constexpr
    explicit Coord(int value = 0)
    {
        for (int i = 0; i < RANK; ++i) { values[i] = value; }
    }
    constexpr Coord(const Coord& other) : always(1)
    {
        for (int i = 0; i < RANK; ++i) { values[i] = other.values[i]; }
    }
    int at(int i) const { return values[i]; }
    WIDE_DEVICE
    explicit operator bool() const { return values[0]; }
    int values[RANK], given = 3, *place;
    int always;
    static constexpr int NUMBER = 3;
    unsigned bits : 3;
};
struct Plain { Plain() {} int x; };
struct Taken { int x; };
constexpr int first = Coord<2>(7).at(0);
"""


def test_members_without_a_value_get_one_and_lines_stay() -> None:
    made = with_members_set(COORD)
    assert "int values[RANK]{}, given = 3, *place{};" in made
    assert "int always{};" in made, "one of the constructors leaves it out"
    assert made.replace("{}", "") == COORD.replace("{}", "") and "int x;" in made
    assert made.count("\n") == COORD.count("\n")


def test_what_every_such_constructor_initializes_stays() -> None:
    text = "struct A { constexpr A() : b(1) {} explicit constexpr A(int) : b(2) {} B b; };"
    assert with_members_set(text) == text


@pytest.mark.parametrize("text", ["struct A { A() {} int x; };", "constexpr int A = 3;", ""])
def test_a_text_without_such_a_constructor_stays(text: str) -> None:
    assert with_members_set(text) == text


def test_what_the_compiler_refuses_as_a_constant_is_one(tmp_path: Path) -> None:
    head = "#define __forceinline__\n#define WIDE_DEVICE\n#define aicore maybe_unused\n"
    plain = COORD.replace("[aicore] constexpr", "constexpr").replace("int at", "constexpr int at")
    plain = plain.replace("    unsigned bits : 3;\n", "")

    def compiled(text: str) -> str:
        (tmp_path / "one.cpp").write_text(head + text)
        command = [shutil.which("g++") or "g++", "-std=c++17", "-fsyntax-only", "one.cpp"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        return done.stderr

    assert NO_CONSTANT in compiled(plain)
    assert "error" not in compiled(with_members_set(plain))
