import subprocess
from pathlib import Path

import pytest

from ci.source.class_specializations import NOT_THERE, as_overloads

CLASS = """
#include <cstdio>
#include <type_traits>
constexpr int ROWS = 1, COLUMNS = 2, usual = ROWS;
namespace work {
template <class T> struct Work {
    template <int KIND = usual, class Unused = void>
    __attribute__((always_inline)) int run(int const& given);

    template <>  // the rows
    inline int run<ROWS>(int const& given) { return given + 1; }
    template <>
    int run<COLUMNS>(int const& given)
    {
        if (given < 0) { return 0; }
        return given + 2;
    }
    template <class U> struct Of { static constexpr int value = 3; };
    template <> struct Of<void> { static constexpr int value = 4; };
};
}  // namespace work
int main() {
    work::Work<int> w;
    std::printf("%d %d %d %d %d\\n", w.run(10), w.template run<COLUMNS>(10), w.run<ROWS>(20),
                work::Work<int>::Of<int>::value, work::Work<int>::Of<void>::value);
}
"""


def compiled(folder: Path, text: str, *flags: str) -> subprocess.CompletedProcess[str]:
    command = ["g++", "-std=c++17", "-fdiagnostics-color=never", *flags, "-xc++", "-", "-o", "main"]
    return subprocess.run(command, cwd=folder, input=text, capture_output=True, text=True)


def test_a_specialization_in_its_class_is_an_overload_that_means_the_same(tmp_path: Path) -> None:
    new = as_overloads(CLASS)
    assert new.count("template <>") == 0
    assert new.count("\n") == CLASS.count("\n"), "places in the source stay"
    done = compiled(tmp_path, new, "-fconcepts")
    assert done.returncode == 0, done.stderr
    said = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True)
    assert said.stdout.split() == ["11", "12", "21", "3", "4"]


def test_the_words_that_ask_for_it_are_those_of_the_compiler(tmp_path: Path) -> None:
    done = compiled(tmp_path, CLASS)
    if done.returncode == 0:
        pytest.skip("this compiler takes specializations in a class")
    assert NOT_THERE in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        # The argument is deduced: the other overload would be taken.
        "struct S { template <class T> int f(T x); template <> int f<int>(int x) { return x; } };",
        # At a namespace it is C++ of any age.
        "template <class T> int f(); namespace n { template <> int f<int>() { return 1; } }",
        "template <class T> struct A; template <> struct A<int> { int x; };",
        # What it specializes is another class's, or takes any number of arguments.
        "struct S { template <> int f<1>() { return 1; } };",
        "struct S { template <int... N> int f(); template <> int f<1, 2>() { return 1; } };",
        'const char* said = "struct S { template <int N> int f(); template <> int f<1>();";',
        "struct S { template < ",
    ],
)
def test_what_is_no_such_specialization_stays(text: str) -> None:
    assert as_overloads(text) == text
