"""The table of calls holds what our headers declare, and says of each what its header does."""

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from ci.host.door.own import HEADERS, own_headers
from ci.model.errors import InputError
from ci.simulator.toolchain import Toolchain
from ci.source.cpp_source import Source, ancestors
from ci.system.compiler import compiler
from rules.api import API, load_api
from rules.architectures import load_architecture
from rules.load import load_motifs

_LINE_MARK = re.compile(r'# \d+ "([^"]*)"')


@cache
def declared() -> dict[str, list[list[str]]]:
    """The parameters of each form of each function that our headers declare, macros expanded."""
    text = f'{own_headers().prefix}#include "{HEADERS}/lib/matmul_intf.h"\n'
    flags = Toolchain(load_architecture("dav-c220")).kernel_flags("vector")
    done = subprocess.run(
        [compiler(), "-E", "-x", "c++", *flags,
         *own_headers().arguments(), "-"],
        input=text, capture_output=True, text=True, check=True,
    )  # fmt: skip
    ours, lines = False, []
    for line in done.stdout.splitlines():
        mark = _LINE_MARK.match(line)
        if mark:
            ours = mark[1].startswith(str(HEADERS))
        elif ours:
            lines.append(line)
    source = Source("\n".join(lines))
    found: dict[str, list[list[str]]] = {}
    for function in source.functions:
        method = any(
            a.type in ("class_specifier", "struct_specifier") for a in ancestors(function.node)
        )
        declarator = function.node.child_by_field_name("declarator")
        while declarator is not None and declarator.type != "function_declarator":
            declarator = declarator.child_by_field_name("declarator")
        parameters = declarator.child_by_field_name("parameters") if declarator else None
        if parameters is not None and not method:
            forms = found.setdefault(function.name, [])
            forms.append([source.code(p) for p in parameters.named_children])
    return found


def test_every_public_call_of_our_headers_is_in_the_table() -> None:
    public = {
        name for name in declared() if re.fullmatch(r"[A-Z]\w*", name) and not name.endswith("Impl")
    }
    assert len(public) > 200
    assert public - load_api().known == set()


def test_the_table_names_no_call_that_our_headers_do_not_have() -> None:
    api = load_api()
    others = {name for some in api.others for name in some}
    assert (api.calls.keys() | others) - declared().keys() == set()


@pytest.mark.parametrize("name", sorted(load_api().calls))
def test_the_table_has_a_call_as_our_headers_declare_it(name: str) -> None:
    said, forms = load_api().calls[name].arguments, declared()[name]
    for place, argument in enumerate(said):
        given = [form[place] for form in forms if len(form) > place]
        if " " in argument:  # a tensor, a list of some, or what a scalar result goes to
            assert any(re.search(r"Tensor|List|\w&\w", g) for g in given), (argument, given)
    if said[-1] == "count":
        counted = [f for f in forms if f and (len(f) == len(said) or "..." in f[-1])]
        scalars = [[p for p, a in zip(f, said, strict=False) if " " not in a] for f in counted]
        assert any(not any("Tensor" in p for p in some) for some in scalars)


def test_motifs_use_only_calls_of_the_table() -> None:
    rewrites = [r for m in load_motifs() for r in (*m.forward, *m.rewind)]
    texts = [t for r in rewrites for t in (*r.sequence, *r.replace) if t]
    named = {n for t in texts for n in re.findall(r"\b([A-Z]\w+)\(", t)}
    assert named
    assert named - load_api().known == set()


def test_what_a_call_writes_and_reads_is_told_by_its_place() -> None:
    api = load_api()
    assert api.written("Add", ["d", "a", "b", "n"]) == ["d"]
    assert api.read("Add", ["d", "a", "b", "n"]) == ["a", "b", "n"]
    assert api.written("Axpy", ["d", "a", "s", "n"]) == ["d"]
    assert "d" in api.read("Axpy", ["d", "a", "s", "n"])
    assert api.written("CumSum", ["d", "last", "a", "info"]) == ["d", "last"]
    assert api.read("Sin", ["d", "a", "scratch", "n"]) == ["a", "scratch", "n"]


def test_of_a_call_that_is_not_in_the_table_the_first_argument_is_written() -> None:
    assert load_api().written("OwnStep", ["a", "b"]) == ["a"]
    assert load_api().read("OwnStep", ["a", "b"]) == ["b"]
    assert load_api().written("OwnStep", []) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "[writes dst, reads src0",
            "[changes dst, reads src0",
            r"line \d+: families.binary.*'changes dst' is not",
        ),
        ("names: [Sort]", "names: [Sort, Add]", "Add is named twice"),
        ("pipes: [FIX]", "pipes: [FIXPIPE]", r"line \d+: families.cube_store.pipes"),
        (
            "elementwise: true",
            "element_wise: true",
            r"line \d+: families.binary.element_wise is not a known key",
        ),
    ],
)
def test_a_fault_is_named_with_its_place(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "api.yml"
    text = API.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=said) as caught:
        load_api(path)
    assert str(caught.value).startswith(str(path))
