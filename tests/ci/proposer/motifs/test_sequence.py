import pytest

from ci.proposer.motifs.match import apply_matches
from ci.proposer.motifs.sequence import find_sequences, number, parse_pattern
from ci.source.cpp_source import parse
from rules.load import Form, Where

AXPY = Form(
    sequence=("Muls($T, $A, $S, $N)", "Add($D, $D, $T, $N)"),
    replace=(None, "Axpy($D, $A, $S, $N)"),
    where=Where(dead=("$T",), differ=(("$D", "$T"),)),
)


def changed(rewrite: Form, body: str, *, using: bool = True) -> str:
    head = "using namespace AscendC;\n" if using else ""
    text = (
        f"{head}void F(LocalTensor<float> y, int n)\n{{\n    auto t = buf.Get<float>();\n{body}}}\n"
    )
    source = parse(text)
    new = apply_matches(source, find_sequences(source, rewrite)) or text
    return new.partition("Get<float>();\n")[2].removesuffix("}\n")


def test_a_sequence_is_rewritten_and_its_temporary_goes() -> None:
    body = "    Muls(t, x, 2.0f, n);\n    Add(y, y, t, n);\n"
    assert changed(AXPY, body) == "    Axpy(y, x, 2.0f, n);\n"


def test_the_namespace_is_written_where_the_file_needs_it() -> None:
    body = "    AscendC::Muls(t, x, 2.0f, n);\n    AscendC::Add(y, y, t, n);\n"
    assert changed(AXPY, body, using=False) == "    AscendC::Axpy(y, x, 2.0f, n);\n"


def test_unrelated_statements_and_barriers_may_stand_between() -> None:
    body = (
        "    Muls(t, x, 2.0f, n);\n    PipeBarrier<PIPE_V>();\n    Exp(z, w, n);\n"
        "    Add(y, y, t, n);\n"
    )
    assert "Axpy(y, x, 2.0f, n);" in changed(AXPY, body)


@pytest.mark.parametrize(
    "between",
    [
        "    Exp(x, w, n);\n",  # changes what is scaled
        "    Exp(t, t, n);\n",  # changes the temporary
        "    q.EnQue(t);\n",  # hands the temporary away
    ],
)
def test_a_statement_that_interferes_prevents_the_rewrite(between: str) -> None:
    body = f"    Muls(t, x, 2.0f, n);\n{between}    Add(y, y, t, n);\n"
    assert changed(AXPY, body) == body


def test_a_temporary_that_is_read_later_stays() -> None:
    body = "    Muls(t, x, 2.0f, n);\n    Add(y, y, t, n);\n    Exp(z, t, n);\n"
    assert changed(AXPY, body) == body


def test_a_temporary_that_is_overwritten_later_is_dead() -> None:
    body = "    Muls(t, x, 2.0f, n);\n    Add(y, y, t, n);\n    Exp(t, z, n);\n    Abs(z, t, n);\n"
    assert "Axpy" in changed(AXPY, body)


def test_a_temporary_that_the_next_turn_of_the_loop_reads_stays() -> None:
    body = (
        "    for (int i = 0; i < n; i++) {\n        Exp(z, t, n);\n        Muls(t, x, 2.0f, n);\n"
        "        Add(y, y, t, n);\n    }\n"
    )
    assert changed(AXPY, body) == body


def test_counts_must_agree() -> None:
    body = "    Muls(t, x, 2.0f, n);\n    Add(y, y, t, m);\n"
    assert changed(AXPY, body) == body


def test_a_number_in_a_pattern_matches_its_spellings() -> None:
    rewrite = Form(
        sequence=("Duplicate($T, 1, $M)", "Div($D, $T, $A, $N)"),
        replace=(None, "Reciprocal($D, $A, $N)"),
        where=Where(dead=("$T",)),
    )
    for one in ("1", "1.0f", "(float)1.0", "static_cast<float>(1)"):
        body = f"    Duplicate(t, {one}, n);\n    Div(y, t, x, n);\n"
        assert changed(rewrite, body) == "    Reciprocal(y, x, n);\n"
    body = "    Duplicate(t, 2.0f, n);\n    Div(y, t, x, n);\n"
    assert changed(rewrite, body) == body


def test_a_call_name_can_be_a_variable() -> None:
    rewrite = Form(
        sequence=("$F($T, $A, $N)", "Adds($Y, $T, 0, $N)"),
        replace=("$F($Y, $A, $N)", None),
        where=Where(dead=("$T",), vector=("$F",), differ=(("$T", "$Y"),)),
    )
    assert (
        changed(rewrite, "    Exp(t, x, n);\n    Adds(y, t, 0.0f, n);\n") == "    Exp(y, x, n);\n"
    )
    copied = "    DataCopy(t, x, n);\n    Adds(y, t, 0.0f, n);\n"
    assert changed(rewrite, copied) == copied


def test_several_statements_may_replace_one() -> None:
    rewrite = Form(
        sequence=("Axpy($D, $A, $S, $N)",), replace=("Muls($A, $A, $S, $N); Add($D, $D, $A, $N)",)
    )
    assert changed(rewrite, "    Axpy(y, x, s, n);\n") == (
        "    Muls(x, x, s, n);\n    Add(y, y, x, n);\n"
    )


def test_number_reads_literals_only() -> None:
    assert number("-1.5f") == -1.5
    assert number("(half)2") == 2
    assert number("n") is None
    assert number("x[0]") is None


def test_a_pattern_that_is_no_call_is_refused() -> None:
    with pytest.raises(ValueError, match="not a call pattern"):
        parse_pattern("x = y")


IN_PLACE = Form(
    sequence=("$F($T, $A, $N)", "DataCopy($Y, $T, $N)"),
    replace=("$F($Y, $A, $N)", None),
    where=Where(dead=("$T",), vector=("$F",)),
)


def test_a_function_that_may_not_write_over_its_source_is_not_made_to() -> None:
    body = "    {0}(t, y, n);\n    DataCopy(y, t, n);\n"
    assert changed(IN_PLACE, body.format("Exp")) == "    Exp(y, y, n);\n"
    assert changed(IN_PLACE, body.format("Sin")) == body.format("Sin")
    elsewhere = body.format("Sin").replace("Sin(t, y", "Sin(t, x")
    assert changed(IN_PLACE, elsewhere) == "    Sin(y, x, n);\n"


def test_a_call_that_writes_over_its_source_already_is_left_as_it_is() -> None:
    again = Form(sequence=("$F($D, $A, $N)",), replace=("$F($D, $A, $N); Relu($D, $D, $N)",))
    assert changed(again, "    Sin(y, y, n);\n") == "    Sin(y, y, n);\n    Relu(y, y, n);\n"
